//! `toolgraft replay --html`: what stands on the page, that nothing in a
//! recording gets out of its text, and that a real browser shows it.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::browser::browse;
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

fn root() -> &'static Path {
    Path::new(crate::process::ROOT)
}

fn replay(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgraft"));
    command.arg("replay").args(args).current_dir(folder).env("HOME", folder).stdin(Stdio::null());
    command.output().unwrap()
}

/// The page of one file with this content.
fn page_of(name: &str, content: &[u8], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let output = replay(folder.path(), &[&["--html", "-"], args, &[name]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn lines(lines: &[Value]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// The page's text as a reader sees it, without tags.
pub(crate) fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let tags = regex::Regex::new("<[^>]*>").unwrap();
    let text = tags.replace_all(body, "");
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    entities.iter().fold(text.into_owned(), |text, (entity, c)| text.replace(entity, c))
}

const CALL: &str = "<use_mcp_tool><server_name>demo</server_name><tool_name>weather_query</tool_name>\
    <arguments>{\"city\": \"武汉\"}</arguments></use_mcp_tool>";

/// A recording with everything that a page shows.
fn session() -> Vec<u8> {
    let call = json!({"server": "demo", "tool": "weather_query", "arguments": {"city": "武汉"},
        "raw_arguments": "{\"city\": \"武汉\"}", "dialect": "use_mcp_tool", "repairs": []});
    lines(&[
        json!({"type": "session", "toolgraft": 1, "title": "An umbrella for Wuhan?", "model": "deepseek-r1:14b", "dialect": "use_mcp_tool", "reasoning": "auto"}),
        json!({"type": "request", "at": 5}),
        json!({"type": "tools", "servers": [{"name": "demo", "tools": [{"name": "weather_query", "description": "Weather of a city."}]}]}),
        json!({"type": "message", "role": "system", "content": "You can call tools. Never guess."}),
        json!({"type": "message", "role": "user", "content": "Do I need an umbrella in Wuhan?"}),
        json!({"type": "delta", "kind": "reasoning", "text": "I should look at the weather.", "ms": 900}),
        json!({"type": "delta", "kind": "content", "text": "One moment.\n", "ms": 1100}),
        json!({"type": "delta", "kind": "content", "text": CALL, "ms": 1900}),
        json!({"type": "usage", "prompt_tokens": 1200, "completion_tokens": 34}),
        json!({"type": "finish", "reason": "stop", "ms": 1950}),
        json!({"type": "call", "id": "call_1", "index": 0, "call": call}),
        json!({"type": "outcome", "id": "call_1", "outcome": {"status": "result", "text": "rain, 14 °C", "took": 420.0,
            "structured": {"degrees": 14}}, "at": 2400}),
        json!({"type": "request", "at": 2410}),
        json!({"type": "message", "role": "assistant", "content": "One moment."}),
        json!({"type": "message", "role": "user", "content": "Result of call_1: rain, 14 °C"}),
        json!({"type": "delta", "kind": "content", "text": "Let me see the forecast too.\n", "ms": 700}),
        json!({"type": "delta", "kind": "content", "text": CALL.replace("weather_query", "wether_query"), "ms": 1400}),
        json!({"type": "finish", "reason": "stop", "ms": 1410}),
        json!({"type": "notice", "kind": "correction", "text": "There is no tool wether_query.", "at": 3825}),
        json!({"type": "request", "at": 3830}),
        json!({"type": "message", "role": "user", "content": "wether_query: no such tool"}),
        json!({"type": "delta", "kind": "reasoning", "text": "Enough.", "ms": 400}),
        json!({"type": "delta", "kind": "content", "text": "Yes, take an umbrella: it rains in Wuhan.", "ms": 1200}),
        json!({"type": "finish", "reason": "stop", "ms": 1210}),
    ])
}

#[test]
fn a_page_shows_prompt_reasoning_calls_results_rejections_and_the_answer() {
    let page = page_of("session.jsonl", &session(), &[]);
    let text = text_of(&page);
    for part in [
        "An umbrella for Wuhan?",
        "deepseek-r1:14b",
        "You can call tools. Never guess.",
        "Do I need an umbrella in Wuhan?",
        "I should look at the weather.",
        "{\"city\":\"武汉\"}",
        "rain, 14 °C",
        "\"degrees\":14",
        "wether_query",
        "unknown_tool",
        "There is no tool wether_query.",
        "Yes, take an umbrella: it rains in Wuhan.",
        "Result of call_1: rain, 14 °C",
        "Weather of a city.",
        "420 ms",
        "1,200 + 34",
    ] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    let open = page.matches("<details open").count();
    assert_eq!(open, 0, "prompt and reasoning are folded");
    assert!(page.contains("<details class=\"block think\">"), "{page}");
    // From the first request the whole lasts 5.025 s; the call ended at 2.395 s and took 420 ms.
    assert!(page.contains("left:39.30%;width:8.35%"), "{page}");
}

/// Something of an attacker's in every text that a recording has.
pub(crate) const EVIL: &str = "</pre></style></title><script>document.title='owned'</script><img src=x onerror=alert(1)>\
    <a href=\"javascript:alert(1)\">x</a>\"'--><svg/onload=alert(1)>&lt;{{ 7*7 }}{% raw %}\u{202e}\u{200b}\x1b[2J";

fn evil_session() -> Vec<u8> {
    let call = json!({"server": EVIL, "tool": EVIL, "arguments": {EVIL: EVIL}, "raw_arguments": EVIL, "dialect": "tool_tag", "repairs": [EVIL]});
    lines(&[
        json!({"type": "session", "toolgraft": 1, "title": EVIL, "model": EVIL, "profile": EVIL}),
        json!({"type": "request", "at": 1, "model": EVIL}),
        json!({"type": "tools", "servers": [{"name": EVIL, "tools": [{"name": EVIL, "description": EVIL, "inputSchema": {"title": EVIL}}]}]}),
        json!({"type": "message", "role": "system", "content": EVIL}),
        json!({"type": "message", "role": "user", "content": EVIL}),
        json!({"type": "delta", "kind": "reasoning", "text": EVIL, "ms": 1}),
        json!({"type": "delta", "kind": "content", "text": EVIL, "ms": 2}),
        json!({"type": "delta", "kind": "content", "text": CALL.replace("weather_query", EVIL), "ms": 3}),
        json!({"type": "native_call", "id": EVIL, "name": EVIL, "arguments": EVIL}),
        json!({"type": "finish", "reason": EVIL, "ms": 4}),
        json!({"type": "call", "id": EVIL, "index": 0, "call": call}),
        json!({"type": "outcome", "id": EVIL, "outcome": {"status": "tool_error", "text": EVIL, "structured": {EVIL: EVIL},
            "events": [{"kind": EVIL, "data": EVIL}]}}),
        json!({"type": "notice", "kind": EVIL, "text": EVIL}),
        json!({"type": EVIL}),
    ])
}

#[test]
fn nothing_of_a_recording_becomes_markup() {
    let page = page_of("evil.jsonl", &evil_session(), &["--explain"]);
    let tags = regex::Regex::new("<([a-zA-Z!/][^\\s>]*)").unwrap();
    let known = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "main", "article", "header", "h1", "h2", "h3",
        "p", "ul", "ol", "nav", "li", "span", "b", "i", "a", "div", "section", "details", "summary", "dl", "dt", "dd",
        "pre", "code", "footer",
    ];
    for tag in tags.captures_iter(&page) {
        assert!(known.contains(&tag[1].trim_start_matches('/')), "<{}", &tag[1]);
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(!page.contains(['\u{202e}', '\u{200b}', '\x1b']));
    assert!(page.contains("⟨U+202E⟩⟨U+200B⟩␛[2J"), "what is not seen is shown");
    assert!(!page.contains("49"), "a template in a recording is text");
    let links = regex::Regex::new("(?:href|src|action|style|on[a-z]+)=\"([^\"]*)\"").unwrap();
    for link in links.captures_iter(page.split_once("<body>").unwrap().1) {
        assert!(link[1].starts_with('#') || link[1].starts_with("left:"), "{}", &link[0]);
    }
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = page_of("session.jsonl", &session(), &[]);
    assert!(page.starts_with("<!doctype html>\n"));
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
    for word in ["http:", "https:", "url(", "@import", "<script", "<link", "<img"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn every_kind_of_input_gets_a_page() {
    for (name, part) in [
        ("api_conversation_history.json", "list_files"),
        ("deepseek-tool-call.chunks.jsonl", "San Francisco"),
        ("mistral-incremental-tool-call.chunks.jsonl", "Rounds"),
        ("pydantic_ai.jsonl", "Recording 5/5"),
        ("weather.recording.jsonl", "先看看你在哪里。"),
    ] {
        let content = fs::read(root().join("fixtures/streams").join(name)).unwrap();
        let text = text_of(&page_of(name, &content, &[]));
        assert!(text.contains(part), "{name}: {text}");
    }
    let text = text_of(&page_of("a.txt", format!("Hello\n{CALL}").as_bytes(), &[]));
    assert!(text.contains("Hello") && text.contains("lengths are bytes"), "{text}");
}

#[test]
fn the_page_of_a_chinese_conversation_has_english_headings() {
    let chinese = fs::read(root().join("fixtures/streams/weather.recording.jsonl")).unwrap();
    let page = page_of("a.jsonl", &chinese, &[]);
    assert!(page.contains("<html lang=\"en\">") && page.contains("<p class=\"label\">Answer</p>"), "{page}");
}

#[test]
fn a_prompt_before_the_question_is_folded_in_any_language() {
    let label = "System prompt + User";
    for (prompt, question) in [
        ("Here are the tools. ".repeat(120), "Do I need an umbrella?"),
        ("这里列出全部工具。".repeat(120), "需要带伞吗？"),
    ] {
        let message = json!({"type": "message", "role": "user", "content": format!("{prompt}\n\n{question}")});
        let all =
            lines(&[json!({"type": "session", "toolgraft": 1}), message, json!({"type": "finish", "reason": "stop"})]);
        let text = text_of(&page_of("a.jsonl", &all, &[]));
        let (before, after) = text.split_once(label).unwrap_or_else(|| panic!("{label} is missing in {text}"));
        assert!(!before.contains(question) && after.matches(question).count() == 2, "{text}");
    }
}

#[test]
fn a_question_is_shown_with_its_files_and_whole_however_long_they_are() {
    let place = crate::process::Place::new();
    place.write("notes.txt", "a word\n\n".repeat(600));
    let long = format!("{}\n\nWhy?", "It fails again. ".repeat(200));
    let endpoint = Endpoint::answer(|_, _| Reply::text("| a | b |\n|---|---|\n| 1 | 2 |"));
    let base = ["chat", "--base-url", &endpoint.url(), "--model", "m", "--mcp-config", "none.json"];
    place.write("none.json", "{\"mcpServers\": {}}");
    place.run(&[&base[..], &["--record", "r.jsonl", "-f", "notes.txt", "What is in it?"]].concat()).ok();
    for args in [&["replay", "--html", "-", "r.jsonl"][..], &["log", "export", "", "--as", "page"]] {
        let page = place.run(args).ok().out;
        assert!(page.contains("<b>User</b></p><div class=\"text\" dir=\"auto\">What is in it?</div>"), "{page}");
        assert!(
            page.contains("<summary dir=\"auto\">notes.txt · 4800 characters</summary>")
                && !page.contains("System prompt"),
            "{page}"
        );
        assert!(page.contains("<thead dir=\"auto\"><td dir=\"auto\">a</td>"), "{page}");
        assert!(page.contains("<summary>As the model wrote it</summary><pre dir=\"auto\">\n| a | b |"), "{page}");
    }
    place.run(&[&base[..], &[&long]].concat()).ok();
    let page = place.run(&["log", "export", "", "--as", "page"]).ok().out;
    assert!(
        page.contains("<b>User</b></p><div class=\"text\" dir=\"auto\">It fails again.")
            && !page.contains("System prompt"),
        "{page}"
    );
}

#[test]
fn a_hundred_rounds_with_long_results_are_shown_whole() {
    let mut all = vec![json!({"type": "session", "toolgraft": 1})];
    for round in 0..100 {
        all.push(json!({"type": "message", "role": "user", "content": format!("question {round}")}));
        all.push(json!({"type": "delta", "kind": "content", "text": CALL, "ms": 10}));
        all.push(json!({"type": "finish", "reason": "stop", "ms": 11}));
        let text = format!("begin {round} {} end {round}", "x".repeat(20_000));
        all.push(
            json!({"type": "outcome", "id": format!("call_{round}"), "outcome": {"status": "result", "text": text}}),
        );
    }
    let page = page_of("long.jsonl", &lines(&all), &[]);
    assert_eq!(page.matches("<section").count(), 100);
    assert_eq!(page.matches("Show the rest").count(), 100);
    let text = text_of(&page);
    for round in [0, 57, 99] {
        assert!(text.contains(&format!("begin {round} ")) && text.contains(&format!(" end {round}")), "round {round}");
    }
    assert!(page.matches('x').count() >= 100 * 20_000, "nothing is left out");
}

#[test]
fn pages_write_over_pages_only() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
    write("a.jsonl", &session());
    write("b.txt", b"Hello");
    for _ in 0..2 {
        let output = replay(folder.path(), &["--html", "a.html", "a.jsonl"]);
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && out.starts_with("a.html: 1 recording, 3 rounds, "), "{out}");
    }
    let both = replay(folder.path(), &["--html", "both.html", "a.jsonl", "b.txt"]);
    assert!(both.status.success());
    assert_eq!(fs::read_to_string(folder.path().join("both.html")).unwrap().matches("<article").count(), 2);

    write("c.jsonl", &session());
    write("c.html", b"mine");
    for args in [&["--html", "c.html", "a.jsonl"], &["--html", "b.txt", "a.jsonl"]] {
        let output = replay(folder.path(), args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(error.contains("exists already and is not a page of toolgraft"), "{error}");
    }
    assert_eq!(fs::read(folder.path().join("c.html")).unwrap(), b"mine");
    let output = replay(folder.path(), &["--html", "none/x.html", "a.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("none/x.html"));
}

/// A session of so many questions, each with a call that is denied, and an answer.
fn questions(count: usize) -> Vec<u8> {
    let mut all = vec![json!({"type": "session", "toolgraft": 1, "title": "Every morning"})];
    for n in 0..count {
        let at = n * 4000;
        let asked = format!("Question {n}: an umbrella?\nPlease.");
        let said = format!("{CALL}\nIt rains, says the tool.");
        let outcome = json!({"status": "denied", "text": "no", "took": 3.0});
        all.push(json!({"type": "request", "at": at}));
        all.push(json!({"type": "message", "role": "user", "content": asked}));
        all.push(json!({"type": "delta", "kind": "content", "text": "One ", "ms": 300}));
        all.push(json!({"type": "delta", "kind": "content", "text": "moment.\n", "ms": 400}));
        all.push(json!({"type": "delta", "kind": "content", "text": said, "ms": 900}));
        all.push(json!({"type": "finish", "reason": "stop", "ms": 950}));
        all.push(json!({"type": "outcome", "id": format!("call_{}", n + 1), "outcome": outcome, "at": at + 1000}));
        all.push(json!({"type": "request", "at": at + 1100}));
        all.push(json!({"type": "message", "role": "user", "content": "Result: no"}));
        all.push(json!({"type": "delta", "kind": "content", "text": "I do not ", "ms": 500}));
        all.push(json!({"type": "delta", "kind": "content", "text": "know.", "ms": 700}));
        all.push(json!({"type": "finish", "reason": "stop", "ms": 710}));
    }
    lines(&all)
}

#[test]
fn a_session_of_several_questions_has_contents_and_numbers_its_calls_through() {
    let page = page_of("a.jsonl", &questions(3), &[]);
    let (_, contents) = page.split_once("<nav class=\"contents\" aria-label=\"Contents of Every morning\">").unwrap();
    let contents = contents.split_once("</nav>").unwrap().0;
    for (link, heading, n) in [("#r1-1", "1–2", 0), ("#r1-3", "3–4", 1), ("#r1-5", "5–6", 2)] {
        assert!(contents.contains(&format!("<a href=\"{link}\">Rounds {heading}</a>")), "{contents}");
        let line = format!("Question {n}: an umbrella? · <span class=\"name\">demo.weather_query");
        assert!(contents.contains(&line), "{contents}");
    }
    assert!(page.contains("id=\"r1-5\""));
    let text = text_of(&page);
    for n in 1..=3 {
        assert!(text.contains(&format!("Call {n} ")) && text.contains(&format!("call {n} · 3 ms")), "{n}: {text}");
    }
    assert!(text.contains("Not run") && !text.contains("Call 4"), "{text}");
    assert!(!page_of("b.jsonl", &session(), &[]).contains("class=\"contents\""), "a short session needs none");
}

#[test]
fn what_stands_after_a_call_is_not_shown_as_an_answer() {
    let page = page_of("a.jsonl", &questions(1), &[]);
    let answers = regex::Regex::new("<div class=\"block answer\">(?s:.*?)</div>").unwrap();
    assert!(answers.find_iter(&page).all(|answer| !answer.as_str().contains("It rains, says the tool.")), "{page}");
    let (_, unread) = page.split_once("<div class=\"block unread\">").unwrap();
    assert!(unread.contains("After the call, not shown") && unread.contains("It rains, says the tool."), "{unread}");
    assert!(page.contains("class=\"k-unread\""), "nor on the timeline");
}

#[test]
fn an_answer_within_a_millisecond_has_a_timeline() {
    let page = page_of(
        "a.jsonl",
        &lines(&[
            json!({"type": "session", "toolgraft": 1}),
            json!({"type": "request", "at": 0}),
            json!({"type": "message", "role": "user", "content": "Hello."}),
            json!({"type": "delta", "kind": "content", "text": "Good day.", "ms": 0}),
            json!({"type": "finish", "reason": "stop", "ms": 1}),
        ]),
        &[],
    );
    assert!(text_of(&page).contains("Timeline"), "{page}");
}

#[test]
fn more_rows_than_forty_are_parted_and_each_part_has_its_own_scale() {
    let page = page_of("a.jsonl", &questions(30), &[]);
    let timeline = page.split_once("<div class=\"time\">").unwrap().1.split_once("<div class=\"legend\">").unwrap().0;
    assert_eq!(timeline.matches("<details>").count(), 5, "90 rows: {timeline}");
    assert!(timeline.contains("Rounds 1–13") && timeline.contains("–60<"), "{timeline}");
    // Half a second of two minutes would be 0.4 %: too little to see what it is made of.
    let widths = regex::Regex::new("k-call\" style=\"left:[0-9.]*%;width:([0-9.]*)%").unwrap();
    let widest = widths.captures_iter(timeline).map(|width| width[1].parse::<f64>().unwrap()).fold(0.0, f64::max);
    assert!(widest > 1.0, "{widest}");
    let short = page_of("b.jsonl", &questions(13), &[]);
    assert!(!short.contains("<details><summary><span class=\"row\">") && short.contains("class=\"row\""));
}

/// Pages by path over loopback, and what was asked for.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn start(pages: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let pages = Arc::new(pages);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (log, pages) = (log.clone(), pages.clone());
                std::thread::spawn(move || serve(socket, &pages, &log));
            }
        });
        Site { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut socket: TcpStream, pages: &[(&str, String)], log: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match socket.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let page = pages.iter().find(|(name, _)| *name == path).map(|(_, page)| page.as_str());
    log.lock().unwrap().push(path);
    let (status, body) = page.map_or(("404 Not Found", ""), |page| ("200 OK", page));
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(body.as_bytes()));
}

/// A page that shows another one in a frame as wide as a phone and writes down
/// how wide its content is.
fn frame(inner: &str) -> String {
    format!(
        "<!doctype html><title>?</title><iframe src=\"{inner}\" style=\"width:390px;height:3000px;border:0\" \
         onload=\"const d=this.contentDocument.documentElement;document.title='width '+d.scrollWidth+' of '+d.clientWidth\"></iframe>"
    )
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Keeps a screenshot under `target/screenshots`.
fn screenshot(browser: &Path, url: &str, name: &str, more: &[&str]) {
    let folder = root().join("target/screenshots");
    fs::create_dir_all(&folder).unwrap();
    let kept = folder.join(name);
    let taken = folder.join(format!(".{}-{}.png", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let option = format!("--screenshot={}", taken.display());
    browse(browser, &[more, &[&option, url]].concat());
    let bytes = fs::read(&taken).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{} bytes", bytes.len());
    fs::rename(taken, kept).unwrap();
}

#[test]
fn a_real_browser_shows_the_page_and_asks_for_nothing_else() {
    let Some(browser) = crate::browser::wanted("a_real_browser_shows_the_page_and_asks_for_nothing_else") else {
        return;
    };
    let pages = vec![
        ("/session", page_of("session.jsonl", &session(), &[])),
        ("/evil", page_of("evil.jsonl", &evil_session(), &[])),
        ("/phone-session", frame("/session")),
        ("/questions", page_of("questions.jsonl", &questions(30), &[])),
        ("/phone-questions", frame("/questions")),
        ("/explained", page_of("session.jsonl", &session(), &["--explain"])),
        ("/phone-evil", frame("/evil")),
    ];
    let site = Site::start(pages);

    let shown = browse(&browser, &["--dump-dom", &site.url("/session")]);
    for part in ["An umbrella for Wuhan?", "Yes, take an umbrella: it rains in Wuhan.", "unknown_tool", "</footer>"] {
        assert!(shown.contains(part), "{part:?} is missing in {shown}");
    }
    let shown = browse(&browser, &["--dump-dom", &site.url("/evil")]);
    assert!(!shown.contains("<title>owned") && !shown.contains("<script>") && !shown.contains("<img"), "{shown}");
    assert!(shown.contains("</footer>"), "the page is whole: {shown}");
    assert_eq!(site.asked(), ["/session", "/evil"], "a page asks for nothing");

    for path in ["/phone-session", "/phone-questions", "/phone-evil"] {
        let shown = browse(&browser, &["--dump-dom", "--virtual-time-budget=5000", &site.url(path)]);
        assert!(shown.contains("<title>width 390 of 390</title>"), "{path} scrolls sideways: {}", &shown[..200]);
    }

    let url = site.url("/session");
    screenshot(&browser, &url, "replay.png", &["--window-size=1000,1900"]);
    screenshot(&browser, &url, "replay-dark.png", &["--window-size=1000,1900", "--force-dark-mode"]);
    screenshot(&browser, &site.url("/phone-session"), "replay-phone.png", &["--window-size=500,2300"]);
    let url = site.url("/questions");
    screenshot(&browser, &url, "replay-questions.png", &["--window-size=1280,1900"]);
    screenshot(&browser, &url, "replay-questions-dark.png", &["--window-size=1280,1900", "--force-dark-mode"]);
    screenshot(&browser, &site.url("/phone-questions"), "replay-questions-phone.png", &["--window-size=500,2300"]);
    screenshot(&browser, &site.url("/explained"), "replay-explained.png", &["--window-size=1280,1900"]);
    screenshot(&browser, &site.url("/evil"), "replay-evil.png", &["--window-size=1000,1900"]);
}
