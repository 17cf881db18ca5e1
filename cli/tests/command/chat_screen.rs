//! What a person sees of `toolgraft chat`: the built program in a terminal that has a size.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::endpoint::{End, Endpoint, Reply, says, stops, thinks};
use crate::process::{Place, TOOLGRAFT, demo_server};
use rexpect::process::PtyProcess;
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

/// After this time something that should have come has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with the program in it.
struct Window {
    screen: Arc<Mutex<Screen>>,
    pty: File,
    _process: PtyProcess,
    _endpoint: Endpoint,
    _place: Place,
}

/// What the terminal shows, and all that was ever written to it.
struct Screen {
    terminal: vt100::Parser,
    written: Vec<u8>,
}

fn size((columns, rows): (u16, u16)) -> (NonZero<u16>, NonZero<u16>) {
    (NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap())
}

impl Window {
    /// A conversation with the bundled server, up to its prompt.
    fn start(columns_and_rows: (u16, u16), replies: impl IntoIterator<Item = Reply>, args: &[&str]) -> Self {
        let endpoint = Endpoint::start(replies);
        let window = Window::open(columns_and_rows, endpoint, &json!({ "demo": demo_server() }), args);
        window.comes_to_a_prompt();
        window
    }

    fn open(columns_and_rows: (u16, u16), endpoint: Endpoint, servers: &Value, args: &[&str]) -> Self {
        let place = Place::new();
        place.servers(servers.clone());
        // It begins when the terminal has its size.
        let mut command = Command::new("sh");
        command.args(["-c", "read go; exec \"$0\" \"$@\"", TOOLGRAFT, "chat", "--base-url", &endpoint.url()]);
        command.args(["--mcp-config", "mcp.json", "--tools-mode", "prompt", "--model", "small-model"]).args(args);
        command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("TERM", "xterm-256color");
        for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "XDG_STATE_HOME", "NO_COLOR", "COLUMNS", "LINES"] {
            command.env_remove(name);
        }
        let process = PtyProcess::new(command).unwrap();
        let pty = process.get_file_handle().unwrap();
        let (rows, columns) = size(columns_and_rows);
        let screen = Screen { terminal: vt100::Parser::new(rows, columns, 0), written: Vec::new() };
        let screen = Arc::new(Mutex::new(screen));
        let (mut reader, shown) = (pty.try_clone().unwrap(), screen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                shown.terminal.process(&bytes[..read]);
                shown.written.extend(&bytes[..read]);
            }
        });
        let window = Window { screen, pty, _process: process, _endpoint: endpoint, _place: place };
        window.set_size(columns_and_rows);
        window.types("\n");
        window
    }

    /// The terminal gets another size; what stands on it stays, as far as there is room.
    fn resize(&self, columns_and_rows: (u16, u16)) {
        let (rows, columns) = size(columns_and_rows);
        self.now().terminal.screen_mut().set_size(rows, columns);
        self.set_size(columns_and_rows);
    }

    fn set_size(&self, (columns, rows): (u16, u16)) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.pty, size).unwrap();
    }

    fn now(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What stands on the terminal.
    fn shows(&self) -> String {
        let rows: Vec<String> =
            self.now().terminal.screen().rows(0, 999).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Waits for a text.
    #[track_caller]
    fn sees(&self, text: &str) -> String {
        self.waits(text, |shown| shown.contains(text))
    }

    #[track_caller]
    fn waits(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let shown = self.shows();
            if is_there(&shown) {
                return shown;
            }
            assert!(start.elapsed() < PATIENCE, "{what:?} did not come:\n{shown}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the prompt is the last that is shown.
    #[track_caller]
    fn comes_to_a_prompt(&self) {
        self.waits("> ", |shown| shown.ends_with("\n>"));
    }

    fn types(&self, text: &str) {
        (&self.pty).write_all(text.as_bytes()).unwrap();
    }

    /// Asks; what stands there when the answer is over.
    #[track_caller]
    fn asks(&self, question: &str) -> String {
        let answers = || String::from_utf8_lossy(&self.now().written).matches(" call").count();
        let before = answers();
        self.types(&format!("{question}\r"));
        self.waits("the end of the answer", |shown| answers() > before && shown.ends_with("\n>"))
    }

    /// How a word looks.
    #[track_caller]
    fn cell_of(&self, word: &str) -> vt100::Cell {
        let screen = self.now();
        let rows = screen.terminal.screen().rows(0, 999).enumerate();
        // Columns are counted in cells; before the word stands nothing wide.
        let (row, column) = rows.filter_map(|(row, text)| Some((row, text.find(word)?))).last().unwrap();
        screen.terminal.screen().cell(row as u16, column as u16).unwrap().clone()
    }
}

/// The lines between the question and what it cost.
fn answer(shown: &str, question: &str) -> String {
    let (_, behind) = shown.rsplit_once(&format!("> {question}\n")).unwrap();
    behind[..behind.find("1 round, ").unwrap()].trim_end().to_owned()
}

#[test]
fn words_are_wrapped_at_the_width_with_their_gutter_and_in_chinese() {
    let text =
        "It rains in Oslo today, and tomorrow the sun comes out.\n\n武汉今天有雨，明天晴。气温十八度，风力三级。";
    let thought = thinks("Oslo is wet in this season, as everybody knows.");
    let mut events: Vec<Value> = vec![thought];
    events.extend(text.split_inclusive(' ').map(says));
    events.push(stops("stop"));
    let reply = Reply::events(&events).done();
    for args in [&["--reasoning-display", "full"][..], &["--reasoning-display", "full", "--plain"]] {
        let window = Window::start((30, 40), [reply.clone()], args);
        let shown = window.asks("Weather?");
        assert_eq!(
            answer(&shown, "Weather?"),
            "┆ Oslo is wet in this season,\n┆ as everybody knows.\n\
             It rains in Oslo today, and\ntomorrow the sun comes out.\n\n\
             武汉今天有雨，明天晴。气温十\n八度，风力三级。"
        );
    }
}

const MARKDOWN: &str = "# Weather\n\nIt is **wet** in `Oslo`.\n\n- rain\n- wind\n\n| city | mm |\n|---|--:|\n| 武汉 | 7 |\n\n\
    ```sh\nls\n```\n\nSee [it](https://a.example) &#27;[2J";

#[test]
fn markdown_is_rendered_when_its_blocks_end_and_not_with_plain() {
    let window = Window::start((60, 60), [Reply::text(MARKDOWN).bytewise()], &[]);
    let shown = window.asks("Weather?");
    assert_eq!(
        answer(&shown, "Weather?"),
        "Weather\n\nIt is wet in Oslo.\n\n• rain\n• wind\n\ncity │ mm\n─────┼───\n武汉 │  7\n\n  sh\n  ls\n\n\
         See it (https://a.example) ␛[2J"
    );
    assert!(window.cell_of("wet").bold() && !window.cell_of("It is").bold());
    assert!(window.cell_of("it (https").underline());

    let window = Window::start((60, 60), [Reply::text(MARKDOWN)], &["--plain"]);
    let shown = window.asks("Weather?");
    assert_eq!(answer(&shown, "Weather?"), MARKDOWN);
}

#[test]
fn a_block_that_has_scrolled_away_stays_as_it_was_written() {
    let rows = |from: usize| (from..from + 12).map(|n| format!("| n{n} | x |\n")).collect::<String>();
    let text = format!("| head | b |\n|---|---|\n{}\nAfter **it**.", rows(10));
    let window = Window::start((40, 10), [Reply::text(&text)], &[]);
    let shown = window.asks("Numbers?");
    assert!(shown.contains("| n21 | x |\n\nAfter it.\n"), "{shown}");
    assert_eq!(shown.matches("n20").count(), 1);
}

#[test]
fn a_resize_within_an_answer_eats_nothing() {
    let half = Reply::events(&[says("It is **wet** in Oslo"), says(" and cold")]).end(End::Stall);
    let whole = Reply::text("One two three four five six seven eight nine.");
    let window = Window::start((40, 30), [half.clone(), half, whole], &[]);
    window.types("Weather?\r");
    window.sees("and cold");
    window.resize((70, 30));
    window.types("\x03");
    let shown = window.sees("the turn was cancelled");
    assert!(shown.contains("\nIt is wet in Oslo and cold\n"), "{shown}");
    window.comes_to_a_prompt();
    window.types("Again?\r");
    window.waits("the second", |shown| shown.matches("and cold").count() == 2);
    window.resize((30, 30));
    window.types("\x03");
    let shown = window.waits("both cancelled", |shown| shown.matches("cancelled").count() == 2);
    assert!(shown.contains("\nIt is **wet** in Oslo and cold\n"), "{shown}");
    window.comes_to_a_prompt();
    let shown = window.asks("More?");
    assert!(shown.contains("\nOne two three four five six\nseven eight nine.\n"), "{shown}");
}
