//! The pictures of the READMEs, drawn from the real thing by `dist/pictures`, and that they
//! still show it.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use crate::chat_screen::Window;
use crate::devtools::Page;
use crate::inspect::Looking;
use crate::process::{Place, TOOLGRAFT};
use regex::Regex;
use rexpect::process::PtyProcess;
use rexpect::reader::Options as Reading;
use rexpect::session::spawn_with_options;
use serde_json::json;
use toolgraft::dialect::{Lang, Profile};
use toolgraft::prompt::Options as Prompt;
use toolgraft::tools::Decision;
use toolgraft::transcript::{self, Recorded, Recorder};
use toolgraft::{Agent, Dialect, Policy};
use toolgraft_mcp::Hub;
use toolgraft_mcp::ServerConfig;
use toolgraft_testkit::endpoint::{Reply, mcp_call};
use unicode_width::UnicodeWidthChar as _;

/// Columns of the terminal: the widest box fits.
const COLUMNS: usize = 100;

/// A character's cell and the margin, in the picture's units.
const CELL: (f64, f64) = (8.4, 17.0);
const MARGIN: f64 = 16.0;

/// Languages of the demo, and what the picture of each is called.
const LANGUAGES: [(Lang, &str); 2] = [(Lang::En, ""), (Lang::Zh, ".zh-CN")];

fn root() -> &'static Path {
    Path::new(crate::process::ROOT)
}

fn picture(name: &str) -> PathBuf {
    root().join("docs/pictures").join(name)
}

/// The command as one types it.
fn typed(lang: Lang) -> Vec<String> {
    let words = if lang == Lang::En { vec!["demo"] } else { vec!["demo", "--lang", "zh"] };
    words.into_iter().map(str::to_owned).collect()
}

/// The demo on a terminal, with these options.
fn demo_with(lang: Lang, options: &[&str], place: &Place) -> Command {
    let mut command = Command::new(TOOLGRAFT);
    command.args(typed(lang)).args(options).current_dir(place.dir.path());
    command.env("HOME", place.dir.path()).env("TERM", "xterm-256color").env("COLUMNS", COLUMNS.to_string());
    command.env_remove("NO_COLOR");
    command
}

/// Returns the output of the demo on a terminal, escapes included.
fn on_a_terminal(lang: Lang) -> String {
    let place = Place::new();
    let command = demo_with(lang, &["--fast"], &place);
    let reading = Reading::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(false);
    let written = spawn_with_options(command, reading).unwrap().exp_eof().unwrap();
    // The reader makes a character of each byte.
    let bytes = written.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

/// After how many seconds of the demo at its own speed each of so many rows is begun, the first the
/// command itself.
fn begun(lang: Lang, rows: usize) -> Vec<f64> {
    let place = Place::new();
    let mut session = PtyProcess::new(demo_with(lang, &[], &place)).unwrap();
    let mut terminal = session.get_file_handle().unwrap();
    let start = Instant::now();
    let (mut written, mut begun, mut piece) = (Vec::new(), vec![0.0], [0; 4096]);
    // The end of a terminal's output is an error of reading.
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        written.extend_from_slice(&piece[..length]);
        let shown = self::rows(&String::from_utf8_lossy(&written), COLUMNS).len() + 1;
        begun.resize(shown.max(begun.len()), start.elapsed().as_secs_f64());
    }
    session.set_kill_timeout(Some(1000));
    begun.resize(rows, start.elapsed().as_secs_f64());
    begun
}

/// The style of text on the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Style {
    bold: bool,
    dim: bool,
    colour: Option<u8>,
}

/// Text of one style, and where it stands.
struct Run {
    style: Style,
    text: String,
    column: usize,
    columns: usize,
    /// `true` if the characters take two columns each.
    wide: bool,
}

/// Renders output as a terminal of this width shows it: rows of runs.
fn rows(written: &str, columns: usize) -> Vec<Vec<Run>> {
    let escapes = Regex::new(r"\x1b\[([0-9;]*)m").unwrap();
    let (mut style, mut rows, mut at) = (Style::default(), vec![Vec::<Run>::new()], 0);
    let mut read = 0;
    let ends = escapes.captures_iter(written).map(|c| (c.get(0).unwrap().range(), c[1].to_owned()));
    for (escape, codes) in ends.chain([(written.len()..written.len(), String::new())]) {
        for c in written[read..escape.start].chars() {
            match c {
                '\r' => at = 0,
                '\n' => rows.push(Vec::new()),
                c => {
                    let width = c.width().unwrap_or_else(|| panic!("{c:?} on the terminal"));
                    if at + width > columns {
                        rows.push(Vec::new());
                        at = 0;
                    }
                    let row = rows.last_mut().unwrap();
                    match row.last_mut() {
                        Some(run) if run.style == style && run.wide == (width == 2) => {
                            run.text.push(c);
                            run.columns += width;
                        }
                        _ => row.push(Run { style, text: c.into(), column: at, columns: width, wide: width == 2 }),
                    }
                    at += width;
                }
            }
        }
        for code in codes.split(';') {
            match code {
                "" | "0" => style = Style::default(),
                "1" => style.bold = true,
                "2" => style.dim = true,
                code => style.colour = Some(code.parse().unwrap()),
            }
        }
        read = escape.end;
    }
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    rows
}

/// Rows as a picture that looks alike whatever font draws it: each run has its place and
/// its width. With times, a row is hidden for so many seconds, unless the person wants no motion;
/// whatever shows no motion shows all.
fn draw(rows: &[Vec<Run>], title: &str, times: Option<&[f64]>) -> String {
    let at = |column: usize| MARGIN + CELL.0 * column as f64;
    let (width, height) = (2.0 * MARGIN + CELL.0 * COLUMNS as f64, 2.0 * MARGIN + CELL.1 * rows.len() as f64);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }}
.b {{ font-weight: 700 }}
.d {{ fill: #8b949e }}
.c32 {{ fill: #56d364 }}
.c33 {{ fill: #e3b341 }}
.c36 {{ fill: #56d4dd }}
@media not (prefers-reduced-motion: reduce) {{ g {{ animation: wait 0s }} }}
@keyframes wait {{ from, to {{ opacity: 0 }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
"##
    );
    for (number, row) in rows.iter().enumerate() {
        let time = times.and_then(|times| times.get(number)).filter(|_| !row.is_empty());
        if let Some(time) = time {
            writeln!(svg, r#"<g style="animation-duration: {time:.1}s">"#).unwrap();
        }
        for run in row {
            let classes = [
                run.style.bold.then(|| "b".to_owned()),
                run.style.dim.then(|| "d".to_owned()),
                run.style.colour.map(|colour| format!("c{colour}")),
            ];
            let classes = classes.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let text = run.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let (x, y) = (at(run.column), MARGIN + CELL.1 * (number as f64 + 0.8));
            let length = CELL.0 * run.columns as f64;
            writeln!(
                svg,
                r#"<text x="{x:.1}" y="{y:.1}" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs" class="{classes}">{text}</text>"#
            )
            .unwrap();
        }
        if time.is_some() {
            svg.push_str("</g>\n");
        }
    }
    svg + "</svg>\n"
}

/// The picture of the demo in this language, as it is now; `moving` at the demo's own speed.
fn demo(lang: Lang, moving: bool) -> String {
    let command = format!("toolgraft {}", typed(lang).join(" "));
    let written = format!("$ {command}\r\n{}", on_a_terminal(lang));
    let rows = rows(&written, COLUMNS);
    let times = moving.then(|| begun(lang, rows.len()));
    draw(&rows, &command, times.as_deref())
}

/// The picture of a question before a tool runs, as it is now.
fn approval() -> String {
    let question = "Do I need an umbrella in Oslo today?";
    let call = mcp_call("demo", "weather_query", &json!({ "city": "Oslo" }));
    let replies = [Reply::text(&format!("<think>I need the weather of today.</think>{call}")), Reply::text("Yes.")];
    let columns = u16::try_from(COLUMNS).unwrap();
    let window = Window::start((columns, 40), replies, &[]);
    window.types(&format!("{question}\r"));
    window.sees("[y/a/n]");
    let screen = window.cells();
    let all: Vec<Vec<Run>> = (0..40).map(|row| cells(&screen, row, columns)).collect();
    let text = |row: &[Run]| row.iter().map(|run| run.text.as_str()).collect::<String>();
    let asked = all.iter().position(|row| text(row).contains(question)).unwrap();
    let end = all.iter().rposition(|row| !row.is_empty()).unwrap();
    draw(&all[asked..=end], "toolgraft chat", None)
}

/// A row of a terminal.
fn cells(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| cell.has_contents()) else { continue };
        let colour = match cell.fgcolor() {
            vt100::Color::Idx(colour) => Some(30 + colour),
            _ => None,
        };
        let style = Style { bold: cell.bold(), dim: cell.dim(), colour };
        let (at, width) = (usize::from(column), if cell.is_wide() { 2 } else { 1 });
        match runs.last_mut() {
            Some(run) if run.style == style && run.wide == cell.is_wide() && run.column + run.columns == at => {
                run.text.push_str(cell.contents());
                run.columns += width;
            }
            _ => runs.push(Run {
                style,
                text: cell.contents().to_owned(),
                column: at,
                columns: width,
                wide: cell.is_wide(),
            }),
        }
    }
    runs
}

/// The picture's words, with times made the same, and the boxes' sides as long.
fn words(svg: &str) -> String {
    let svg = Regex::new("(?s)<style>.*</style>").unwrap().replace(svg, "");
    let text = Regex::new("<[^>]*>").unwrap().replace_all(&svg, "").replace('─', "");
    Regex::new(r"\d+(\.\d+)? m?s\b").unwrap().replace_all(&text, "T").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_pictures_of_the_demo_show_what_it_prints() {
    for (lang, suffix) in LANGUAGES {
        let name = format!("demo{suffix}.svg");
        let drawn = fs::read_to_string(picture(&name)).unwrap();
        assert_eq!(words(&drawn), words(&demo(lang, false)), "{name}: `dist/pictures` draws it anew");
    }
}

#[test]
fn the_picture_of_a_question_shows_what_is_asked() {
    let drawn = fs::read_to_string(picture("approval.svg")).unwrap();
    assert_eq!(words(&drawn), words(&approval()), "`dist/pictures` draws it anew");
}

#[test]
fn a_picture_is_small_and_needs_nothing_from_elsewhere() {
    for name in ["demo.svg", "demo.zh-CN.svg", "approval.svg"] {
        let svg = fs::read_to_string(picture(name)).unwrap();
        for word in ["<script", "<image", "url(", "@import", "href"] {
            assert!(!svg.contains(word), "{name}: {word}");
        }
        assert!(svg.len() < 100 * 1024, "{name}: {} bytes", svg.len());
    }
    for name in ["replay.png", "inspect.png"] {
        let png = fs::read(picture(name)).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() < 300 * 1024, "{name}: {} bytes", png.len());
    }
}

#[test]
fn a_terminal_s_rows_have_its_colours_and_its_wide_characters() {
    let rows = rows("\x1b[2mab\x1b[0m武d\r\n\x1b[1;32mx\x1b[0m\r\n", 4);
    let shown =
        |row: &[Run]| row.iter().map(|r| (r.text.clone(), r.column, r.columns, r.style.dim)).collect::<Vec<_>>();
    assert_eq!(shown(&rows[0]), [("ab".to_owned(), 0, 2, true), ("武".to_owned(), 2, 2, false)]);
    assert_eq!(shown(&rows[1]), [("d".to_owned(), 0, 1, false)], "what does not fit goes on in the next row");
    assert!(rows[2][0].style == Style { bold: true, dim: false, colour: Some(32) } && rows.len() == 3);
}

/// A recording of the demo's turn, at the model's own speed.
async fn recording(to: &Path) {
    let demo = transcript::parse(include_str!("../../demo/en.jsonl")).unwrap();
    let profile = Profile::for_model(demo.session.model.as_deref().unwrap());
    let server = ServerConfig::stdio("demo", TOOLGRAFT, ["demo-server"]);
    let hub = Arc::new(Hub::builder().server(server).connect().await.unwrap());
    let model = Recorded::new(demo.rounds.iter().cloned()).with_speed(1.0);
    let prompt = Prompt::for_profile(profile).with_dialect(Dialect::TypeMarker);
    let policy = Policy::new(Decision::Deny).allow("demo/*");
    let agent = Agent::builder(model, hub.clone()).profile(profile).prompt(prompt).policy(policy).build();
    let recorder = Recorder::new(fs::File::create(to).unwrap(), &demo.session);
    let question = demo.rounds[0].messages.last().unwrap().content.clone();
    let finished = agent.run_recorded(question.as_str(), &recorder).unwrap().finish().await;
    assert!(finished.reason.is_answer() && finished.calls == 2, "{finished:?}");
    hub.shutdown().await;
}

#[tokio::test]
#[ignore = "writes docs/pictures"]
async fn draw_the_pictures() {
    let browser = crate::browser::find().expect("`make set-up` finds or installs one");
    fs::create_dir_all(picture("")).unwrap();
    for (lang, suffix) in LANGUAGES {
        fs::write(picture(&format!("demo{suffix}.svg")), demo(lang, true)).unwrap();
    }
    fs::write(picture("approval.svg"), approval()).unwrap();
    let looking = Looking::start_with(&[]);
    looking.ask_all().await;
    let mut page = Page::open(&browser);
    page.look(900, "light");
    page.go(&looking.url);
    page.go(&format!("{}/inspect/1", looking.url.split("/inspect").next().unwrap()));
    page.screenshot(&picture("inspect.png"));
    let place = Place::new();
    let session = place.dir.path().join("umbrella.jsonl");
    recording(&session).await;
    place.run(&["replay", "--html", "umbrella.html", "umbrella.jsonl"]).ok();
    let png = format!("--screenshot={}", picture("replay.png").display());
    let url = format!("file://{}", session.with_extension("html").display());
    crate::browser::browse(&browser, &[&png, "--window-size=900,932", "--force-device-scale-factor=1.5", &url]);
}
