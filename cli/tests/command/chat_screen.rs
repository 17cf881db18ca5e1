//! The screen of `toolgraft chat`: the built program in a terminal that has a size.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::process::{Place, TOOLGRAFT, answering_server, demo_server};
use rexpect::process::PtyProcess;
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, stops, thinks};

/// After this time something that should have come has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with the program in it.
pub(crate) struct Window {
    screen: Arc<Mutex<Screen>>,
    pty: File,
    _process: PtyProcess,
    pub(crate) endpoint: Endpoint,
    pub(crate) place: Place,
}

/// The contents of the terminal, and all that was ever written to it.
struct Screen {
    terminal: vt100::Parser,
    written: Vec<u8>,
}

fn size((columns, rows): (u16, u16)) -> (NonZero<u16>, NonZero<u16>) {
    (NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap())
}

impl Window {
    /// A conversation with the bundled server, up to its prompt.
    pub(crate) fn start(columns_and_rows: (u16, u16), replies: impl IntoIterator<Item = Reply>, args: &[&str]) -> Self {
        let endpoint = Endpoint::start(replies);
        let window = Window::open(columns_and_rows, endpoint, &json!({ "demo": demo_server() }), args);
        window.comes_to_a_prompt();
        window
    }

    pub(crate) fn open(columns_and_rows: (u16, u16), endpoint: Endpoint, servers: &Value, args: &[&str]) -> Self {
        Window::open_in(Place::new(), columns_and_rows, endpoint, servers, args)
    }

    /// As [`open`](Self::open), with the files that are there.
    pub(crate) fn open_in(
        place: Place,
        columns_and_rows: (u16, u16),
        endpoint: Endpoint,
        servers: &Value,
        args: &[&str],
    ) -> Self {
        place.servers(servers.clone());
        let url = endpoint.url();
        let chat = ["chat", "--base-url", &url, "--mcp-config", "mcp.json", "--set", "tools_mode=prompt"];
        Window::of(place, columns_and_rows, endpoint, &[&chat, ["--model", "small-model"].as_slice(), args].concat())
    }

    /// The program with these arguments in a folder.
    pub(crate) fn of(place: Place, columns_and_rows: (u16, u16), endpoint: Endpoint, args: &[&str]) -> Self {
        Window::of_terminal(&[("TERM", "xterm-256color")], (place, endpoint), columns_and_rows, args)
    }

    /// As [`of`](Self::of), with these environment variables.
    fn of_terminal(
        variables: &[(&str, &str)],
        (place, endpoint): (Place, Endpoint),
        columns_and_rows: (u16, u16),
        args: &[&str],
    ) -> Self {
        // It begins when the terminal has its size.
        let mut command = Command::new("sh");
        command.args(["-c", "read go; echo $$ >.pid; exec \"$0\" \"$@\"", TOOLGRAFT]).args(args);
        command.current_dir(place.dir.path()).env("HOME", place.dir.path());
        for name in [
            "KITTY_WINDOW_ID", "TERM_PROGRAM", "TMUX", "STY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "XDG_STATE_HOME",
            "NO_COLOR", "COLUMNS", "LINES",
        ] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
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
        let window = Window { screen, pty, _process: process, endpoint, place };
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

    /// The number of the program's process.
    pub(crate) fn pid(&self) -> u32 {
        std::fs::read_to_string(self.place.path(".pid")).unwrap().trim().parse().unwrap()
    }

    fn set_size(&self, (columns, rows): (u16, u16)) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.pty, size).unwrap();
    }

    fn now(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the terminal's cells, with their styles.
    pub(crate) fn cells(&self) -> vt100::Screen {
        self.now().terminal.screen().clone()
    }

    /// All that was ever written to the terminal.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.now().written).into_owned()
    }

    /// Returns the text on the terminal.
    pub(crate) fn shows(&self) -> String {
        let rows: Vec<String> =
            self.now().terminal.screen().rows(0, 999).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Waits for a text.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) -> String {
        self.waits(text, |shown| shown.contains(text))
    }

    #[track_caller]
    pub(crate) fn waits(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
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
    pub(crate) fn comes_to_a_prompt(&self) {
        self.waits("> ", |shown| shown.ends_with("\n>"));
    }

    pub(crate) fn types(&self, text: &str) {
        (&self.pty).write_all(text.as_bytes()).unwrap();
    }

    /// Asks; what stands there when the answer is over.
    #[track_caller]
    pub(crate) fn asks(&self, question: &str) -> String {
        let answers = || String::from_utf8_lossy(&self.now().written).matches(" call").count();
        let before = answers();
        self.types(&format!("{question}\r"));
        self.waits("the end of the answer", |shown| answers() > before && shown.ends_with("\n>"))
    }

    /// Returns the first cell of a word, with its style.
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
    let (_, after) = shown.rsplit_once(&format!("> {question}\n")).unwrap();
    after[..after.find("1 round, ").unwrap()].trim_end().to_owned()
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
    let window = Window::start((30, 40), [reply.clone()], &["--set", "reasoning_display=full"]);
    let shown = window.asks("Weather?");
    assert_eq!(
        answer(&shown, "Weather?"),
        "┆ Oslo is wet in this season,\n┆ as everybody knows.\n\
         It rains in Oslo today, and\ntomorrow the sun comes out.\n\n\
         武汉今天有雨，明天晴。气温十\n八度，风力三级。"
    );
}

#[test]
fn questions_and_errors_end_their_rows_between_words() {
    let city = "奥斯陆，挪威的首都，位于奥斯陆峡湾的北端，是该国最大的城市";
    let call = Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": city })));
    let window = Window::start((60, 40), [call, Reply::text("So be it.")], &[]);
    window.types("Weather?\r");
    let shown = window.sees("[y/a/n]");
    let question = shown.lines().last().unwrap();
    assert!(question.starts_with("Run demo.weather_query {\"city\":\"奥斯陆，") && question.ends_with("…? [y/a/n]"));
    window.types("n\r");
    window.sees("So be it.");

    let args = ["--resume", "a-conversation-of-yesterday.json"];
    let window = Window::open((40, 30), Endpoint::start([]), &json!({}), &args);
    let shown = window.sees("directory");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("error: cannot read a-conversation-of-yesterday.json: No such file or directory"),
        "{shown}"
    );
}

const MARKDOWN: &str = "# Weather\n\nIt is **wet** in `Oslo`.\n\n- rain\n- wind\n\n| city | mm |\n|---|--:|\n| 武汉 | 7 |\n\n\
    ```sh\nls\n```\n\nSee [it](https://a.example) &#27;[2J";

#[test]
fn markdown_is_rendered_when_its_blocks_end() {
    let window = Window::start((60, 60), [Reply::text(MARKDOWN).bytewise()], &[]);
    let shown = window.asks("Weather?");
    assert_eq!(
        answer(&shown, "Weather?"),
        "Weather\n\nIt is wet in Oslo.\n\n• rain\n• wind\n\ncity │ mm\n─────┼───\n武汉 │  7\n\n  sh\n  ls\n\n\
         See it (https://a.example) ␛[2J"
    );
    assert!(window.cell_of("wet").bold() && !window.cell_of("It is").bold());
    assert!(window.cell_of("it (https").underline() && window.cell_of("Oslo.").fgcolor() != vt100::Color::Default);
}

#[test]
fn without_colours_an_answer_keeps_its_structure() {
    let endpoint = Endpoint::start([Reply::text(MARKDOWN).bytewise()]);
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--mcp-config", "mcp.json", "--model", "small-model"];
    let variables = [("TERM", "xterm-256color"), ("NO_COLOR", "1")];
    let window = Window::of_terminal(&variables, (place, endpoint), (60, 60), &args);
    window.comes_to_a_prompt();
    let shown = window.asks("Weather?");
    assert!(answer(&shown, "Weather?").contains("• rain\n• wind\n\ncity │ mm\n"), "{shown}");
    assert!(window.cell_of("wet").bold() && window.cell_of("Oslo.").fgcolor() == vt100::Color::Default);
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

/// A server with these tools that starts when the file `start` is there, and whose calls report
/// progress, end when the file `go` is there, and return `$RESULT`.
pub(crate) fn slow_server(tools: &Value, result: &str) -> Value {
    let script = r#"echo 'Downloading it' >&2
        until [ -e start ]; do sleep 0.02; done
        while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\([0-9]*\).*/\1/p')
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
        *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}\n' "$id" "$TOOLS" ;;
        *'"tools/call"'*)
            printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":3,"total":8,"message":"digging"}}\n' "$token"
            until [ -e go ]; do sleep 0.02; done
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$RESULT" ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
        esac
        done"#;
    let result = json!({ "content": [{ "type": "text", "text": result }] });
    let env = json!({ "TOOLS": tools.to_string(), "RESULT": result.to_string() });
    json!({ "command": "sh", "args": ["-c", script], "env": env })
}

pub(crate) fn dig() -> Value {
    json!([{ "name": "dig", "inputSchema": { "type": "object" }, "annotations": { "destructiveHint": true } }])
}

fn digs() -> Reply {
    Reply::text(&mcp_call("mine", "dig", &json!({})))
}

/// One that downloads first takes its time; what is typed meanwhile waits for it, or goes without it.
#[test]
fn a_question_can_be_typed_while_servers_start_and_waits_for_them_until_ctrl_c() {
    let servers = || json!({ "demo": demo_server(), "mine": slow_server(&dig(), "") });
    let endpoint = || Endpoint::start([Reply::text("It is gold."), Reply::text("It is still gold.")]);
    for waits in [true, false] {
        let window = Window::open((100, 30), endpoint(), &servers(), &[]);
        window.sees("still starting: mine; what you type waits for them");
        window.types("What is it?\r");
        window.sees("starting 1 server: mine · mine: Downloading it");
        assert!(window.endpoint.seen().iter().all(|seen| !seen.target().starts_with("POST")), "nothing was asked yet");
        match waits {
            true => drop(window.place.write("start", "")),
            false => window.types("\u{3}"),
        }
        window.sees("It is gold.");
        let asked = window.endpoint.seen().pop().unwrap().body.to_string();
        assert!(asked.contains("What is it?") && asked.contains("weather"), "{asked}");
        assert_eq!(asked.contains("dig"), waits, "{asked}");
        if waits {
            window.sees(", mine in ");
        } else {
            window.sees("continuing without mine");
            window.place.write("start", "");
            window.types("/mcp restart mine\r");
            window.sees("mine is ready");
            window.types("And now?\r");
            window.sees("It is still gold.");
            let asked = window.endpoint.seen().pop().unwrap().body.to_string();
            assert!(asked.contains("dig"), "one that comes later takes part: {asked}");
        }
    }
}

#[test]
fn which_servers_start_and_how_long_it_took_is_shown_at_once() {
    let servers = json!({ "demo": demo_server(), "mine": slow_server(&dig(), "") });
    let window = Window::open((80, 30), Endpoint::start([]), &servers, &[]);
    window.sees("starting 1 server: mine");
    std::fs::write(window.place.path("start"), "").unwrap();
    window.comes_to_a_prompt();
    let shown = window.sees("\nstarted demo in ");
    assert!(shown.contains(", mine in ") && !shown.contains("starting"), "{shown}");
}

#[test]
fn a_long_result_says_what_the_model_got_and_opens_in_full() {
    let place = Place::new();
    ["start", "go"].iter().for_each(|file| std::fs::write(place.path(file), "").unwrap());
    let long: String = (1..=200).map(|n| format!("nugget {n}\n")).collect();
    let servers = json!({ "mine": slow_server(&dig(), &long) });
    let endpoint = Endpoint::start([digs(), Reply::text("Gold.")]);
    let mut window = Window::open_in(place, (80, 400), endpoint, &servers, &["--yes"]);
    window.comes_to_a_prompt();
    let shown = window.asks("Dig.");
    assert!(shown.contains("#1 call mine.dig"), "{shown}");
    assert!(shown.contains("#1 result of mine.dig"), "{shown}");
    assert!(shown.contains("(2,091 characters, 200 lines; the model got all of it · /result 1 shows it)"), "{shown}");
    assert!(!shown.contains("nugget 200"));
    window.types("/result 1\r");
    window.sees("\nnugget 200\n");
    window.types("/result 2\r");
    window.sees("no result 2 in this conversation");
    window.comes_to_a_prompt();
    window.types("\x04");
    window.sees("kept as ");

    let place = std::mem::replace(&mut window.place, Place::new());
    let again = Window::open_in(place, (80, 400), Endpoint::start([]), &servers, &["--continue"]);
    again.comes_to_a_prompt();
    again.types("/result 1\r");
    again.sees("\nnugget 200\n");
}

#[test]
fn a_question_says_what_the_tool_does_and_its_progress_is_shown_while_it_runs() {
    let servers = json!({ "mine": slow_server(&dig(), "gold") });
    let place = Place::new();
    std::fs::write(place.path("start"), "").unwrap();
    let endpoint = Endpoint::start([digs(), Reply::text("Found."), Reply::text("Second.")]);
    let window = Window::open_in(place, (100, 40), endpoint, &servers, &["--allow", "mine.*"]);
    window.comes_to_a_prompt();
    // A bare name does not let it run.
    window.types("/allow dig\r");
    window.sees("/allow dig: the tool calls itself destructive: write mine.dig");
    window.types("Dig.\r");
    window.sees("The tool calls itself destructive, and it is allowed by a pattern only, not by its full name.");
    window.sees("Run mine.dig {}? [y/a/n]");
    window.types("y\r");
    window.sees("running mine.dig: 3 of 8, digging");
    // Typed ahead: it is the next question.
    window.types("And then?\r");
    std::fs::write(window.place.path("go"), "").unwrap();
    window.sees("Found.");
    window.sees("> And then?");
    window.sees("Second.");
    assert_eq!(window.endpoint.seen().last().unwrap().question(), "And then?");
}

#[test]
fn before_a_file_is_written_or_edited_its_changes_are_shown() {
    let text = json!({"type": "string"});
    let tool = |name: &str, texts: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            texts.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
        json!({"name": name, "inputSchema": {"type": "object", "properties": properties, "required": texts}})
    };
    let tools = [tool("write_file", &["path", "content"]), tool("edit_file", &["path", "old_string", "new_string"])];
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let files = answering_server(&json!({"tools/list": {"tools": tools}, "tools/call": done}));
    let place = Place::new();
    place.write("notes.txt", "apples\npears\nplums\n");
    let write = json!({"path": "notes.txt", "content": "apples\nfigs\nplums\n"});
    let edit = json!({"path": "other.txt", "old_string": "one\ntwo", "new_string": "one\n2"});
    let replies = [("write_file", &write), ("edit_file", &edit)].map(|(tool, with)| mcp_call("files", tool, with));
    let replies = replies.iter().map(|call| Reply::text(call)).chain([Reply::text("Changed.")]);
    let servers = json!({ "files": files });
    let window = Window::open_in(place, (100, 60), Endpoint::start(replies), &servers, &[]);
    window.comes_to_a_prompt();
    window.types("Figs for pears.\r");
    let shown = window.sees("Run files.write_file");
    let diff = ["content:", "· apples", "- pears", "+ figs", "· plums"];
    let rows: Vec<&str> = shown.lines().map(|row| row.trim_matches(['│', ' '])).collect();
    assert!(rows.windows(diff.len()).any(|rows| rows == diff), "{shown}");
    window.types("y\r");
    let shown = window.sees("Run files.edit_file");
    let diff = ["old_string → new_string:", "· one", "- two", "+ 2"];
    let rows: Vec<&str> = shown.lines().map(|row| row.trim_matches(['│', ' '])).collect();
    assert!(rows.windows(diff.len()).any(|rows| rows == diff), "{shown}");
    window.types("y\r");
    window.sees("Changed.");
}

#[test]
fn all_lines_that_are_typed_ahead_are_asked_one_after_the_other() {
    let replies = [Reply::text("One.").delay(Duration::from_millis(300)), Reply::text("Two."), Reply::text("Three.")];
    let window = Window::start((100, 40), replies, &[]);
    window.types("First?\r");
    window.sees("waiting for the model");
    window.types("Second?\rThird?\rNot yet");
    window.sees("Three.");
    window.waits("what was not sent", |shown| shown.ends_with("\n> Not yet"));
    let seen = window.endpoint.seen();
    let asked: Vec<String> = seen.iter().filter(|r| r.body.get("messages").is_some()).map(|r| r.question()).collect();
    assert_eq!(asked, ["First?", "Second?", "Third?"]);
}

#[test]
fn arrows_typed_ahead_of_a_question_leave_no_letters_at_the_prompt() {
    let servers = json!({ "mine": slow_server(&dig(), "gold") });
    let place = Place::new();
    ["start", "go"].iter().for_each(|file| std::fs::write(place.path(file), "").unwrap());
    let endpoint = Endpoint::start([digs().delay(Duration::from_millis(300)), Reply::text("Found.")]);
    let window = Window::open_in(place, (100, 40), endpoint, &servers, &[]);
    window.comes_to_a_prompt();
    window.types("Dig.\r");
    window.sees("waiting for the model");
    window.types("\x1b[A\x1bOBgo \x1b[1;5Cdeeper\x1b[D");
    window.sees("Run mine.dig {}? [y/a/n]");
    window.types("y\r");
    window.sees("Found.");
    let shown = window.sees("> go");
    assert!(
        window.waits("what was typed", |shown| shown.ends_with("\n> go deeper")).ends_with("> go deeper"),
        "{shown}"
    );
}

#[test]
fn several_calls_of_a_message_have_the_numbers_of_their_results() {
    let call = |city: &str| mcp_call("demo", "weather_query", &json!({ "city": city }));
    let both = format!("{}\n{}", call("Oslo"), call("Rome"));
    let window = Window::start((100, 80), [Reply::text(&both), Reply::text("Both."), Reply::text(&call("Bonn"))], &[]);
    window.types("Weather?\r");
    window.sees("[y/a/n]");
    window.types("n\r");
    window.waits("the second question", |shown| shown.matches("[y/a/n]").count() == 2);
    window.types("y\r");
    let shown = window.sees("Both.");
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    let (first, second) = (at("#1 call demo.weather_query"), at("#2 call demo.weather_query"));
    assert!(first < at("Oslo") && at("Oslo") < second && second < at("Rome"), "{shown}");
    at("#1 not run: demo.weather_query");
    at("#2 result of demo.weather_query");
    window.comes_to_a_prompt();
    window.types("And in Bonn?\r");
    window.sees("#3 call demo.weather_query");
}

#[test]
fn lines_that_are_pasted_are_one_question() {
    let window = Window::start((60, 30), [Reply::text("Read.")], &[]);
    window.types("\x1b[200~line one\nline two\x1b[201~");
    window.sees("line two");
    window.types("\r");
    window.sees("Read.");
    assert_eq!(window.endpoint.seen()[0].question(), "line one\nline two");
}

#[test]
fn a_file_goes_with_a_later_question() {
    let place = Place::new();
    place.write("my notes.md", "Oslo is wet.\n");
    place.write("plan.pdf", "%PDF-1.7");
    let endpoint = Endpoint::start(["One.", "Two.", "Three."].map(Reply::text));
    let window = Window::open_in(place, (100, 60), endpoint, &json!({}), &[]);
    window.comes_to_a_prompt();
    window.asks("First?");
    for (line, answer) in [
        ("/file", "no file is attached to the next question"),
        ("/file plan.pdf", "/file plan.pdf: the file is a PDF, and only texts and images"),
        ("/file -", "/file takes names of files"),
        // Tab completes the name.
        ("/file my\t", "with the next question: my notes.md"),
        ("/undo", "taken back: my notes.md"),
        ("/file 'my notes.md'", "> /file 'my notes.md'\nwith the next question: my notes.md"),
    ] {
        window.types(&format!("{line}\r"));
        window.sees(answer);
        window.comes_to_a_prompt();
    }
    window.asks("What do my notes say?");
    window.asks("And now?");
    let seen = window.endpoint.seen();
    let asked: Vec<String> = seen.iter().filter(|r| r.body.get("messages").is_some()).map(|r| r.question()).collect();
    let [first, with_file, last] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((first.as_str(), last.as_str()), ("First?", "And now?"));
    let frame = with_file.strip_prefix("What do my notes say?\n\n<file name=\"my notes.md\" end=\"");
    assert!(frame.is_some_and(|frame| frame.contains("\nOslo is wet.\n\n</file ")), "{with_file}");
}

#[test]
fn a_file_that_waits_is_named_before_the_first_question() {
    let place = Place::new();
    place.write("a.md", "A.");
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    let window = Window::open_in(place, (100, 60), endpoint, &json!({}), &["-f", "a.md"]);
    window.sees("with the next question: a.md\n/help lists the commands");
    window.comes_to_a_prompt();
    window.asks("First?");
    window.types("/file a.md\r");
    window.waits("the second file", |shown| shown.matches("with the next question").count() == 2);
    window.comes_to_a_prompt();
    // It is the same question once more, and the file still waits.
    window.asks("/retry");
    window.types("/file\r");
    window.waits("the file still", |shown| shown.matches("with the next question").count() == 3);
    let seen = window.endpoint.seen();
    let asked: Vec<String> = seen.iter().filter(|r| r.body.get("messages").is_some()).map(|r| r.question()).collect();
    let [once, again] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(once.starts_with("First?\n\n<file name=\"a.md\" end=\"") && once.contains("\nA.\n</file "), "{once}");
    assert_eq!(once, again);
}

#[test]
fn escape_takes_no_letter_with_it_and_alt_still_edits() {
    let replies = [Reply::text("One.").delay(Duration::from_millis(400)), Reply::text("Two."), Reply::text("Three.")];
    let window = Window::start((100, 60), replies, &[]);
    window.types("\x1b");
    // The editor takes a letter that it reads right after Escape for Alt with that letter. It may
    // read late on a busy machine, and nothing shows when it has.
    std::thread::sleep(Duration::from_secs(3));
    window.types("did it rain?\r");
    window.sees("waiting for the model");
    // Typed ahead, where no time tells Escape and a letter from Alt and that letter.
    window.types("\x1bdoes it snow?\r");
    window.sees("Two.");
    window.comes_to_a_prompt();
    // Alt-b goes a word back.
    window.types("is it \x1bbreally windy?\r");
    window.sees("Three.");
    let seen = window.endpoint.seen();
    let asked: Vec<String> = seen.iter().filter(|r| r.body.get("messages").is_some()).map(|r| r.question()).collect();
    assert_eq!(asked, ["did it rain?", "does it snow?", "is really windy?it"]);
}

#[test]
fn lists_of_tools_and_commands_keep_their_columns() {
    let words = "Digs in the ground, as deep as it is told to, and sings a song";
    let deep = json!({ "type": "object", "properties": { "how_deep_it_is_to_be": {}, "for_how_many_hours": {} } });
    let tools = json!([
        { "name": "dig", "description": words, "inputSchema": { "type": "object" } },
        { "name": "dig_on", "description": words, "inputSchema": deep },
    ]);
    let place = Place::new();
    std::fs::write(place.path("start"), "").unwrap();
    let servers = json!({ "mine": slow_server(&tools, "") });
    let window = Window::open_in(place, (60, 80), Endpoint::start([]), &servers, &[]);
    window.comes_to_a_prompt();
    window.types("/tools\r");
    window.sees("    dig()  Digs in the ground, as deep as it is told to, and\n           sings a song\n");
    window.sees(
        "    dig_on(how_deep_it_is_to_be?, for_how_many_hours?)\n        Digs in the ground, as deep as it is told to, and\n        sings a song\n",
    );
    window.types("/help\r");
    window.sees(
        "/file [FILE …]                   files with the next\n                                   question; alone,",
    );
}

#[test]
fn a_prompt_of_a_slow_server_is_waited_for_with_a_line_and_ctrl_c_ends_the_waiting_alone() {
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
        *'"prompts/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"prompts":[{"name":"sing"}]}}\n' "$id" ;;
        *'"prompts/get"'*) ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
        esac
        done"#;
    let servers = json!({ "mine": { "command": "sh", "args": ["-c", script] } });
    let window = Window::open((80, 30), Endpoint::start([Reply::text("Well.")]), &servers, &[]);
    window.comes_to_a_prompt();
    window.types("/mine:sing\r");
    window.sees("filling in mine.sing");
    window.types("\x03");
    window.comes_to_a_prompt();
    assert!(window.asks("Are you there?").contains("Well."));
}

#[test]
fn denied_cancelled_and_failed_calls_look_different() {
    let call = |city: &str| Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": city })));
    let slow = json!({ "demo": { "command": TOOLGRAFT, "args": ["demo-server", "--delay", "600"] } });
    let endpoint = Endpoint::start([call("Oslo"), Reply::text("So be it."), call("Rome")]);
    let window = Window::open((100, 60), endpoint, &slow, &[]);
    window.comes_to_a_prompt();
    window.types("Weather?\r");
    window.sees("[y/a/n]");
    window.types("n\r");
    window.sees("#1 not run: demo.weather_query");
    window.sees("So be it.");
    window.comes_to_a_prompt();
    window.types("And in Rome?\r");
    window.waits("the second question", |shown| shown.matches("[y/a/n]").count() == 2);
    window.types("y\r");
    window.sees("running demo.weather_query");
    window.types("\x03");
    window.sees("#2 cancelled: demo.weather_query");
    let (denied, cancelled) = (window.cell_of("#1 not run"), window.cell_of("#2 cancelled"));
    assert!(cancelled.dim() && !denied.dim() && denied.fgcolor() != cancelled.fgcolor());
}

#[test]
fn tools_of_one_server_hide_the_resources_of_the_others() {
    let servers = json!({ "demo": demo_server(), "mine": slow_server(&dig(), "") });
    for (glob, listed) in [("mine.*", false), ("demo.*", true)] {
        let place = Place::new();
        std::fs::write(place.path("start"), "").unwrap();
        let endpoint = Endpoint::start([Reply::text("Yes.")]);
        let window = Window::open_in(place, (100, 60), endpoint, &servers, &["--tools", glob]);
        window.comes_to_a_prompt();
        window.asks("Anything?");
        assert_eq!(window.endpoint.seen()[0].messages().contains("demo://"), listed, "{glob}");
    }
}

#[test]
fn questions_that_take_much_are_warned_of_before_they_go_out() {
    let place = Place::new();
    place.write("long.txt", "All that there is to say of digging. ".repeat(2000));
    let endpoint = Endpoint::start([Reply::text("I see.")]);
    let window = Window::open_in(place, (100, 60), endpoint, &json!({}), &["-f", "long.txt"]);
    window.comes_to_a_prompt();
    assert!(window.endpoint.seen().is_empty());
    let shown = window.asks("Well?");
    assert!(shown.contains("warning: this takes about 18,0"), "{shown}");
}

#[test]
fn calls_are_a_line_each_that_opens_and_what_is_asked_about_stands_in_a_box() {
    let call = || Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": "Oslo" })));
    let endpoint = Endpoint::start([call(), Reply::text("It rains."), call(), Reply::text("Still.")]);
    let servers = json!({ "demo": demo_server() });
    let flags = ["--set", "call_display=line", "--allow", "demo.weather_query"];
    let window = Window::open_in(Place::new(), (80, 60), endpoint, &servers, &flags);
    window.comes_to_a_prompt();
    let shown = window.asks("Weather?");
    assert!(shown.contains("\n#1 call demo.weather_query  {\"city\":\"Oslo\"}\n"), "{shown}");
    let result = shown.lines().find(|line| line.starts_with("#1 result of demo.weather_query, ")).unwrap();
    assert!(result.contains("Oslo") && result.chars().count() < 80, "{result}");
    assert!(!shown.contains('╭'), "{shown}");
    window.types("/call 1\r");
    window.sees("╭─ #1 call demo.weather_query ");
    window.types("/result 1\r");
    window.sees("made-up figures of a");
    window.types("/set call_display box\r");
    window.sees("for this folder");
    window.comes_to_a_prompt();
    let shown = window.asks("And now?");
    assert!(shown.contains("╭─ #2 call demo.weather_query "), "{shown}");
}

/// A PNG of one dot, in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn a_picture_is_drawn_where_the_terminal_can_and_else_it_is_in_a_file_or_it_is_said_how_it_is_saved() {
    let tool = json!({ "name": "shot", "inputSchema": { "type": "object" } });
    let content = json!([{ "type": "image", "mimeType": "image/png", "data": PNG }]);
    let server = answering_server(&json!({ "tools/list": { "tools": [tool] }, "tools/call": { "content": content } }));
    let kitty = "\x1b_Ga=T,f=100,q=2,m=0;iVBOR";
    let file = ".local/state/toolgraft/pictures/6b7fa434f92a8b80.png";
    for (terminal, more, begin) in
        [("xterm-kitty", &[][..], kitty), ("xterm", &[], ""), ("xterm", &["--no-session"], "")]
    {
        let place = Place::new();
        place.servers(json!({ "s": server }));
        let endpoint = Endpoint::start([Reply::text(&mcp_call("s", "shot", &json!({}))), Reply::text("A dot.")]);
        let url = endpoint.url();
        let args = ["chat", "--base-url", &url, "--mcp-config", "mcp.json", "--model", "m", "--yes"];
        let args = [&args[..], more].concat();
        let window = Window::of_terminal(&[("TERM", terminal)], (place, endpoint), (80, 40), &args);
        window.comes_to_a_prompt();
        let shown = window.asks("Look.");
        assert!(shown.contains("A dot."), "{shown}");
        let is_kept = more.is_empty();
        assert_eq!(shown.contains("/result 1 FILE saves the picture"), !is_kept, "{terminal}: {shown}");
        let is_filed = begin.is_empty() && is_kept;
        let filed = std::fs::read(window.place.path(file)).is_ok_and(|bytes| bytes.len() == 70);
        let is_told = shown.contains("image/png, 70 bytes, is") && shown.contains(file);
        assert_eq!((filed, is_told), (is_filed, is_filed), "{terminal}: {shown}");
        assert!(window.written().contains(begin), "{terminal}: {:?}", window.written());
    }
}

/// The smallest image there is, in base64.
const DOT: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";

#[test]
fn a_picture_of_a_tool_goes_to_a_model_that_sees_and_a_person_saves_it() {
    let tool = json!({ "name": "shot", "inputSchema": { "type": "object" } });
    let content = json!([{ "type": "image", "mimeType": "image/gif", "data": DOT }]);
    let server = answering_server(&json!({ "tools/list": { "tools": [tool] }, "tools/call": { "content": content } }));
    let says = json!({"modalities": {"vision": true, "audio": false}, "chat_template": "x"});
    let replies = || [Reply::text(&mcp_call("s", "shot", &json!({}))), Reply::text("A dot.")];
    for (args, is_shown) in [(&["--yes"][..], true), (&["--yes", "--set", "images=never"], false)] {
        let endpoint = Endpoint::setup().serves("/props", says.clone()).start(replies());
        let window = Window::open((80, 60), endpoint, &json!({ "s": server }), args);
        window.comes_to_a_prompt();
        let shown = window.asks("Look.");
        assert!(shown.contains("[image image/gif, 43 bytes]"), "{shown}");
        let told = window.endpoint.seen()[1].body["messages"].as_array().unwrap().last().unwrap().clone();
        let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{DOT}")}});
        let is_sent = told["content"].as_array().is_some_and(|parts| parts.contains(&image));
        assert_eq!(is_sent, is_shown, "{told:#}");
        window.types("/result 1 dot.gif\r");
        window.sees("image/gif, 43 bytes, is in dot.gif");
        let saved = std::fs::read(window.place.path("dot.gif")).unwrap();
        assert!(saved.starts_with(b"GIF89a") && saved.len() == 43, "{saved:?}");
        window.comes_to_a_prompt();
        window.types("/result 1 dot.gif\r");
        window.sees("exists already and is not overwritten");
        window.comes_to_a_prompt();
        window.types("/mcp restart s\r");
        window.sees("s is ready");
        window.comes_to_a_prompt();
        window.types("/mcp restart t\r");
        window.sees("no server \"t\"; there are: s");
    }
}
