//! Data that the command must not lose: a conversation that two chats have open, one that cannot be read, one that is
//! old, and what a chat had when it was stopped.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, stops};

use crate::chat_screen::Window;
use crate::process::{Place, Run, TOOLGRAFT, demo_server, eventually};

const FOLDER: &str = ".local/state/toolgraft/sessions";

const SIZE: (u16, u16) = (100, 30);

fn chat(place: &Place, endpoint: &Endpoint, args: &[&str]) -> Run {
    let url = endpoint.url();
    let named = ["chat", "--base-url", &url, "--model", "small-model"];
    place.run_with(&[named.as_slice(), args].concat(), |command| command.env_remove("OPENAI_API_KEY").write_stdin(""))
}

fn database(place: &Place) -> Option<Connection> {
    let file = place.path(FOLDER).join("conversations.db");
    file.exists().then(|| Connection::open(file).unwrap())
}

/// The names of the conversations that are kept, the latest first.
fn kept(place: &Place) -> Vec<String> {
    let Some(database) = database(place) else { return Vec::new() };
    // A chat may be making it.
    let Ok(mut all) = database.prepare("SELECT id FROM conversations ORDER BY used DESC") else { return Vec::new() };
    all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A conversation as it is stored.
fn text(place: &Place, id: &str) -> String {
    let one = "SELECT saved FROM conversations WHERE id = ?1";
    database(place).unwrap().query_row(one, [id], |row| row.get(0)).unwrap()
}

fn age(place: &Place, id: &str, days: i64) {
    let nanoseconds = days * 86_400 * 1_000_000_000;
    let older = "UPDATE conversations SET used = used - ?1 WHERE id = ?2";
    assert_eq!(database(place).unwrap().execute(older, rusqlite::params![nanoseconds, id]).unwrap(), 1);
}

#[test]
fn a_second_chat_at_a_conversation_is_told_and_gets_a_copy() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [id] = kept(&place).try_into().unwrap();

    // The one at a terminal goes on with it, the one on a pipe comes later.
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "small-model", "--continue"];
    let window = Window::of(place, SIZE, Endpoint::start([]), &args);
    window.comes_to_a_prompt();
    let run = chat(&window.place, &endpoint, &["--continue", "Of the second"]).ok();
    assert!(run.err.contains(&format!("conversation {id} is open in another chat (process ")), "{run:?}");
    assert!(run.err.contains("continues with a copy of it, "), "{run:?}");
    window.types("Of the first\r");
    window.sees("Three.");
    window.comes_to_a_prompt();

    let all = kept(&window.place);
    assert_eq!(all.len(), 2, "{all:?}");
    let (own, copy): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| *one == id);
    let (own, copy) = (text(&window.place, &own[0]), text(&window.place, &copy[0]));
    assert!(own.contains("First question") && own.contains("Of the first") && !own.contains("Of the second"), "{own}");
    assert!(copy.contains("First question") && copy.contains("Of the second") && !copy.contains("Of the first"));

    // It is not taken away below a chat.
    let run = window.place.run(&["log", "remove", &id]);
    run.refuses(1, &format!("the conversation {id} is open in another chat (process "));
    let run = window.place.run(&["log", "clear", "--yes"]).ok();
    assert!(run.out.contains("1 conversation forgotten") && run.err.contains("1 conversation left"), "{run:?}");

    // After the first one has left nobody is at it.
    window.types("\u{4}");
    window.sees("continues it");
    window.waits("its end", |_| !window.place.path(&format!("{FOLDER}/{id}.lock")).exists());
    let run = chat(&window.place, &endpoint, &["--continue", "Later"]).ok();
    assert!(!run.err.contains("another chat"), "{run:?}");
    assert_eq!(kept(&window.place), [id]);
}

#[test]
fn a_chat_at_a_terminal_is_told_of_another_one_too() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "small-model", "--continue"];
    // Another folder with the same conversations.
    let other = Place::new();
    symlink(place.path(".local"), other.path(".local")).unwrap();
    let first = Window::of(place, SIZE, Endpoint::start([]), &args);
    first.comes_to_a_prompt();
    let second = Window::of(other, SIZE, Endpoint::start([]), &args);
    second.comes_to_a_prompt();
    let in_one_line = |window: &Window| window.shows().replace('\n', " ");
    let shown = in_one_line(&second);
    assert!(shown.contains("is open in another chat (process "), "{shown}");
    assert!(!in_one_line(&first).contains("another chat"), "{}", first.shows());
}

#[test]
fn a_lock_that_a_killed_chat_left_after_holds_nobody_up() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [id] = kept(&place).try_into().unwrap();
    place.write(&format!("{FOLDER}/{id}.lock"), "1");
    let run = chat(&place, &endpoint, &["--continue", "And then?"]).ok();
    assert!(!run.err.contains("another chat"), "{run:?}");
    assert_eq!(kept(&place), [id]);
}

#[test]
fn a_conversation_that_goes_on_says_what_was_said_last() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("It rains."));
    let place = Place::new();
    chat(&place, &endpoint, &["How is it?"]).ok();
    let window = Window::open_in(place, SIZE, endpoint, &serde_json::json!({}), &["--continue"]);
    window.sees("you: How is it?");
    window.sees("the model: It rains.");
    window.comes_to_a_prompt();
    // An ID after a space is not a question.
    let [id] = kept(&window.place).try_into().unwrap();
    chat(&window.place, &window.endpoint, &["--continue", &id]).refuses(2, &format!("--continue={id}"));
}

#[test]
fn a_damaged_conversation_is_named_with_what_is_taken_instead() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [first] = kept(&place).try_into().unwrap();
    age(&place, &first, 1);
    chat(&place, &endpoint, &["Another question"]).ok();
    let [id, _] = kept(&place).try_into().unwrap();
    // What was written of the later one is cut in the middle.
    let half = &text(&place, &first)[..80];
    let cut = "UPDATE conversations SET saved = ?1 WHERE id = ?2";
    assert_eq!(database(&place).unwrap().execute(cut, rusqlite::params![half, id]).unwrap(), 1);

    let run = chat(&place, &endpoint, &["--continue", "And then?"]).ok();
    assert!(run.err.contains(&format!("warning: the conversation {id} cannot be read: ")), "{run:?}");
    assert!(run.err.contains(&format!("continuing {first}")), "{run:?}");
    assert!(text(&place, &first).contains("And then?"));
    assert_eq!(text(&place, &id), half, "it stays as it is");

    let named = chat(&place, &endpoint, &[&format!("--continue={id}"), "Hi"]);
    named.refuses(2, &format!("toolgraft log remove {id}"));
    let file = place.write("half.json", half);
    chat(&place, &endpoint, &["--resume", file.to_str().unwrap(), "Hi"]).refuses(2, "not a saved conversation");
    place.run(&["log", "remove", &first]).refuses(2, "), for good? There is no terminal to ask on: add --yes");
    let run = place.run(&["log", "remove", &first, &first[..6], "--yes"]).quiet();
    assert_eq!(run.out, "1 conversation forgotten\n");
    let run = chat(&place, &endpoint, &["--continue", "Hi"]);
    run.refuses(2, "there is no other conversation to continue");
    place.run(&["log", "remove", &id, "--yes"]).quiet();
    assert!(kept(&place).is_empty());
}

#[test]
fn what_is_kept_stays_however_old_it_is() {
    let place = Place::new();
    let endpoint = Endpoint::answer(|_, _| Reply::text("One."));
    chat(&place, &endpoint, &["First question"]).ok();
    let [first] = kept(&place).try_into().unwrap();
    age(&place, &first, 3_000);
    chat(&place, &endpoint, &["Another question"]).ok();
    assert!(kept(&place).len() == 2 && kept(&place).contains(&first));
}

/// After this time something that should have happened has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A chat whose output goes where `out` says.
fn start(place: &Place, endpoint: &Endpoint, out: Stdio, args: &[&str]) -> Child {
    let mut command = Command::new(TOOLGRAFT);
    command.args(["chat", "--base-url", &endpoint.url(), "--model", "m", "--set", "tools_mode=prompt"]).args(args);
    command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("NO_PROXY", "127.0.0.1");
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn ended(mut process: Child, what: &str) -> Output {
    let start = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            process.kill().unwrap();
            panic!("{what}: it goes on");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    process.wait_with_output().unwrap()
}

/// A text that comes in these pieces and then no further.
fn stalling(pieces: &'static [&'static str]) -> Endpoint {
    Endpoint::answer(|_, _| Reply::events(&pieces.iter().map(|piece| says(piece)).collect::<Vec<_>>()).end(End::Stall))
}

/// Reads so much of a pipe as this text is long.
fn reads(out: &mut impl Read, text: &str) -> String {
    let mut bytes = vec![0; text.len()];
    out.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn text_goes_to_a_pipe_as_it_comes_and_a_signal_leaves_what_there_was() {
    for (signal, said) in [("INT", "error:"), ("TERM", "stopped by SIGTERM"), ("HUP", "stopped by SIGHUP")] {
        let place = Place::new();
        let endpoint = stalling(&["\n\nHalf", " an ans"]);
        let mut process = start(&place, &endpoint, Stdio::piped(), &["Say it"]);
        let mut out = process.stdout.take().unwrap();
        assert_eq!(reads(&mut out, "Half an ans"), "Half an ans");
        kill(signal, process.id());
        let output = ended(process, signal);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        crate::signals::has_ended_by(signal, &output);
        assert_eq!(rest, "\n", "{signal}: {err}");
        assert!(err.contains(said), "{signal}: {err}");
        let [id] = kept(&place).try_into().unwrap();
        let kept = text(&place, &id);
        assert!(kept.contains("Say it") && kept.contains("Half an ans"), "{signal}: {kept}");
        // And it can be gone on with.
        let later = Endpoint::start([Reply::text("Done.")]);
        assert_eq!(chat(&place, &later, &["--continue", "Go on"]).ok().out, "Done.\n");
        assert!(later.seen()[0].messages().contains("Half an ans"));
    }
}

#[test]
fn a_question_is_kept_though_the_program_is_killed_before_its_answer() {
    let place = Place::new();
    let endpoint = stalling(&["Half", " an ans"]);
    let mut process = start(&place, &endpoint, Stdio::piped(), &["Say it"]);
    let mut out = process.stdout.take().unwrap();
    assert_eq!(reads(&mut out, "Half"), "Half");
    kill("KILL", process.id());
    ended(process, "KILL");
    let [id] = kept(&place).try_into().unwrap();
    assert!(text(&place, &id).contains("Say it"));
    let later = Endpoint::start([Reply::text("Done.")]);
    assert_eq!(chat(&place, &later, &["--continue", "Go on"]).ok().out, "Done.\n");
    let told = later.seen()[0].messages();
    assert!(told.contains("Say it") && told.contains("Go on"), "{told}");
}

#[test]
fn text_goes_to_a_file_as_it_comes_and_saved_is_what_there_was() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let endpoint = stalling(&["Half", " an ans"]);
    let out = File::create(place.path("out.txt")).unwrap();
    let args = ["--mcp-config", "mcp.json", "Say it"];
    let process = start(&place, &endpoint, out.into(), &args);
    // With tools first words wait a moment for a call.
    eventually("the text", || fs::read_to_string(place.path("out.txt")).unwrap() == "Half an ans");
    kill("TERM", process.id());
    let output = ended(process, "TERM");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let [id] = kept(&place).try_into().unwrap();
    let saved = text(&place, &id);
    assert!(saved.contains("Say it") && saved.contains("Half an ans"), "{saved}");
}

#[test]
fn a_signal_at_a_terminal_leaves_what_there_was_too() {
    for signal in ["TERM", "HUP"] {
        let window = Window::open_in(Place::new(), SIZE, stalling(&["Half", " an ans"]), &json!({}), &[]);
        window.comes_to_a_prompt();
        window.types("Say it\r");
        window.sees("Half an ans");
        kill(signal, window.pid());
        eventually("the conversation", || {
            let all = kept(&window.place);
            all.first().is_some_and(|id| text(&window.place, id).contains("Half an ans"))
        });
        window.sees(&format!("stopped by SIG{signal}"));
    }
}

#[test]
fn of_chats_that_end_at_once_all_are_kept() {
    let place = Place::new();
    let endpoint = stalling(&["Half", " an ans"]);
    let questions: Vec<String> = (0..6).map(|n| format!("Question {n}")).collect();
    let mut chats: Vec<Child> =
        questions.iter().map(|question| start(&place, &endpoint, Stdio::piped(), &[question])).collect();
    let outs: Vec<_> = chats.iter_mut().map(|chat| chat.stdout.take().unwrap()).collect();
    let outs: Vec<_> = outs.into_iter().map(|mut out| (reads(&mut out, "Half an ans"), out)).collect();
    chats.iter().for_each(|chat| kill("TERM", chat.id()));
    for (chat, question) in chats.into_iter().zip(&questions) {
        let output = ended(chat, question);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("stopped by SIGTERM") && !err.contains("warning"), "{err}");
    }
    drop(outs);
    let said: Vec<String> = kept(&place).iter().map(|id| text(&place, id)).collect();
    assert_eq!(said.len(), 6);
    for question in &questions {
        let with = said.iter().filter(|text| text.contains(question.as_str()) && text.contains("Half an ans"));
        assert_eq!(with.count(), 1, "{question}");
    }
}

/// A server with the tool `dig`, which leaves the file `started` and never ends.
fn digging() -> Value {
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
        *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"dig","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
        *'"tools/call"'*) touch started ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
        esac
        done"#;
    json!({ "command": "sh", "args": ["-c", script] })
}

#[test]
fn a_signal_while_a_tool_runs_leaves_the_call() {
    let place = Place::new();
    place.servers(json!({ "s": digging() }));
    let endpoint = Endpoint::start([Reply::text(&format!("I dig.\n{}", mcp_call("s", "dig", &json!({}))))]);
    let args = ["--mcp-config", "mcp.json", "--yes", "Dig"];
    let process = start(&place, &endpoint, Stdio::piped(), &args);
    eventually("the call", || place.path("started").exists());
    kill("TERM", process.id());
    let output = ended(process, "TERM");
    let [id] = kept(&place).try_into().unwrap();
    let kept = text(&place, &id);
    assert!(kept.contains("I dig.") && kept.contains("cancelled"), "{kept}: {output:?}");
}

#[test]
fn a_chat_ends_when_nobody_reads() {
    // While the model says nothing, and with each event as JSON.
    for args in [["Say it"].as_slice(), &["--json", "Say it"]] {
        let place = Place::new();
        let mut endpoint = stalling(&["Half", " an ans"]);
        let mut process = start(&place, &endpoint, Stdio::piped(), args);
        let mut out = process.stdout.take().unwrap();
        let mut read = Vec::new();
        while !read.ends_with(b" an ans") {
            read.extend(reads(&mut out, "x").bytes());
        }
        drop(out);
        let output = ended(process, "nobody reads");
        endpoint.gone_blocking();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.signal() == Some(13) && !err.contains("error"),
            "by SIGPIPE, quietly: {args:?} {output:?}"
        );
        let [id] = kept(&place).try_into().unwrap();
        assert!(text(&place, &id).contains("Half an ans"), "{args:?}");
    }
    // While a tool runs, before a word went out.
    let place = Place::new();
    place.servers(json!({ "s": digging() }));
    let endpoint = Endpoint::start([Reply::text(&mcp_call("s", "dig", &json!({}))), Reply::text("Deep.")]);
    let mut process = start(&place, &endpoint, Stdio::piped(), &["--mcp-config", "mcp.json", "--yes", "Dig"]);
    eventually("the call", || place.path("started").exists());
    drop(process.stdout.take());
    ended(process, "nobody reads while a tool runs");
    assert_eq!(endpoint.requests(), 1, "the model is not told of it");
}

#[test]
fn first_words_before_a_call_are_no_answer_and_longer_ones_go_out() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let call = mcp_call("demo", "weather_query", &json!({ "city": "Oslo" }));
    let long = "A long way to say that something is looked up. ".repeat(6);
    for (words, out) in [("Let me look.", "Fog.\n".to_owned()), (&long, format!("{}\nFog.\n", long.trim()))] {
        let endpoint = Endpoint::start([Reply::text(&format!("{words}\n{call}")), Reply::text("Fog.")]);
        let run =
            chat(&place, &endpoint, &["--set", "tools_mode=prompt", "--mcp-config", "mcp.json", "--yes", "Rain?"]);
        assert_eq!(run.ok().out, out);
    }
}

#[test]
fn an_answer_that_fails_its_schema_is_not_on_standard_output() {
    let place = Place::new();
    place.write(
        "schema.json",
        r#"{"type": "object", "required": ["days"], "properties": {"days": {"type": "integer"}}}"#,
    );
    let wrong = || Reply::text("It takes three days.");
    let cut = || Reply::events(&[says("{\"days\": "), stops("length")]).done();
    for reply in [wrong as fn() -> Reply, cut] {
        let endpoint = Endpoint::answer(move |_, _| reply());
        let run = chat(&place, &endpoint, &["--schema", "schema.json", "How long?"]);
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{run:?}");
    }
    let endpoint = stalling(&["{\"days\": "]);
    let process = start(&place, &endpoint, Stdio::piped(), &["--schema", "schema.json", "How long?"]);
    eventually("the request", || endpoint.requests() == 1);
    kill("INT", process.id());
    let output = ended(process, "INT");
    assert!(output.stdout.is_empty(), "{output:?}");
    let endpoint = Endpoint::start([Reply::text("{\"days\": 3}")]);
    assert_eq!(chat(&place, &endpoint, &["--schema", "schema.json", "How long?"]).ok().out, "{\"days\":3}\n");
}

/// Calls that cannot be read, each with a rest after the place where its brackets or its own closer end it.
const BROKEN: [&str; 8] = [
    "TYPE: MCP\n```json\n{\"server_name\":\"demo\",\"tool_name\":\"weather_query\",\"arguments\":\"city\":\"Oslo\"}}\n```",
    "<tool_call>\n{\"name\": \"weather_query\", \"arguments\": {\"city\": }}\n</tool_call>\n}\n</arguments>\n</use_mcp_tool>",
    "<use_mcp_tool>\n<server_name>demo</server_name>\n<tool_name>weather_query</tool_name>\n<arguments>\n{\"city\": Oslo\"}}\n</arguments>\n</use_mcp_tool>\n}\n```",
    "<tool_call>\n{\"name\": \"weather_query\", \"arguments\": {\"city\": \"Oslo\"]}}\n</tool_call>\n\"}]\n</tool_call>",
    "<tool_call>\n{\"name\": \"weather_query\", \"arguments\": {\"city\": \"Os\nlo\n</tool_call>\n} and words\"}}\n</tool_call>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather_query:0<|tool_call_argument_begin|>{\"city\": \"Os\nlo\n<|tool_call_end|>\n} and words\"}<|tool_call_end|><|tool_calls_section_end|>",
    "[TOOL_CALLS][{\"name\": \"weather_query\", \"arguments\": {\"city\": \"Os\nlo\"}]\n} and words\"}}]",
    "TYPE: MCP\n```json\n{\"server_name\":\"demo\",\"tool_name\":\"weather_query\",\"arguments\":{\"city\":\"Os\nlo\n```\n} and words\"}}\n```",
];

#[test]
fn the_rest_of_a_broken_call_is_never_an_answer() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let tools = ["--set", "tools_mode=prompt", "--mcp-config", "mcp.json", "--yes"];
    for broken in BROKEN {
        for profile in [["--profile", "deepseek-r1"].as_slice(), &[]] {
            for (words, out) in [("", ""), ("Let me look.\n", "Let me look.\n")] {
                let said = format!("{words}{broken}");
                let endpoint = Endpoint::answer(move |_, _| Reply::text(&said));
                let run = chat(&place, &endpoint, &[&tools, profile, &["Rain?"]].concat());
                assert_eq!((run.code, run.out.as_str()), (Some(1), out), "{profile:?} {broken}: {}", run.err);
                assert!(run.err.contains("still wrong after 2 corrections"), "{}", run.err);
            }
        }
    }
}

#[test]
fn the_rest_of_a_broken_call_is_not_shown_at_a_terminal_either() {
    for broken in BROKEN {
        for profile in [["--profile", "deepseek-r1", "--set", "max_rounds=1"].as_slice(), &["--set", "max_rounds=1"]] {
            // While that model writes, its words are shown as its reasoning, which they are until it ends.
            if profile.len() > 2 && broken.contains("words") {
                continue;
            }
            let endpoint = Endpoint::start([Reply::text(&format!("Let me look.\n{broken}"))]);
            let window = Window::open_in(Place::new(), (120, 60), endpoint, &json!({ "demo": demo_server() }), profile);
            window.comes_to_a_prompt();
            window.types("Rain?\r");
            window.sees("no answer within the limit of 1 round");
            let shown = window.shows();
            // What stands in the box of the call begins with the box's edge.
            let rest = |row: &str| ["}", "\"}", "```", "</"].iter().any(|sign| row.starts_with(sign));
            assert!(shown.contains("Let me look.") && !shown.lines().any(rest), "{profile:?} {broken}:\n{shown}");
        }
    }
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap().success());
}
