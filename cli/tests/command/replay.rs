//! `toolgraft replay` as a process: every kind of file, every option, and files
//! that are wrong.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests; skipped tests say so")]

use std::fs;
use std::path::Path;

use crate::process::Run;
use serde_json::json;

const CALL: &str = "<use_mcp_tool>\n<server_name>demo</server_name>\n<tool_name>weather_query</tool_name>\n\
    <arguments>{\"city\": \"武汉\"}</arguments>\n</use_mcp_tool>";

fn replay_in(dir: &Path, args: &[&str], input: &[u8]) -> Run {
    Run::of(crate::process::command_in(dir, &[&["replay"], args].concat()).write_stdin(input))
}

fn root() -> &'static Path {
    Path::new(crate::process::ROOT)
}

fn replay(args: &[&str]) -> Run {
    replay_in(root(), args, b"")
}

fn stream(name: &str) -> String {
    format!("fixtures/streams/{name}")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        Folder(dir)
    }

    fn replay(&self, args: &[&str]) -> Run {
        replay_in(self.0.path(), args, b"")
    }
}

#[test]
fn a_recording_is_shown_as_the_user_would_have_seen_it() {
    let run = replay(&[&stream("weather.recording.jsonl")]).ok();
    insta::assert_snapshot!(run.out, @r#"
    == fixtures/streams/weather.recording.jsonl | recording, 3 rounds | deepseek-r1:14b | the weather at the user's place
    -- round 1: profile deepseek-r1, dialect use_mcp_tool, reasoning open, calls in it last_resort, 2 tools
    user: 我这里要带伞吗？
    [reasoning]
    I need the place first. `<use_mcp_tool>` is the way:
    <use_mcp_tool>
    <server_name>demo</server_name>
    <tool_name>location_query</tool_name>
    <arguments>{}</arguments>
    </use_mcp_tool>
    [draft, not run: demo.location_query (in_reasoning): the call is in the reasoning; only calls in the answer are run]
    [answer]
    先看看你在哪里。
    +-- call 1: demo.location_query (use_mcp_tool)
    | {}
    +--
    [finish: stop; 3 deltas, 342 bytes, 640 ms]
    call 1: demo.location_query: result in 3 ms (recorded)
      武汉
    -- round 2: profile deepseek-r1, dialect use_mcp_tool, reasoning open, calls in it last_resort, 2 tools
    user: location_query: 武汉
    [reasoning]
    Now the weather.
    +-- call 2: demo.weather_query (use_mcp_tool)
    | {"city":"武汉"}
    +--
    [finish: stop; 1 delta, 168 bytes, 360 ms]
    call 2: demo.weather_query: result in 5 ms (recorded)
      rain, 14 °C
    -- round 3: profile deepseek-r1, dialect use_mcp_tool, reasoning open, calls in it last_resort, 2 tools
    user: weather_query: rain, 14 °C
    [reasoning]
    It rains.
    [answer]
    要带伞：武汉在下雨，14 °C。
    [finish: stop; 1 delta, 59 bytes, 300 ms]
    == 1 file, 1 recording, 3 rounds, 2 calls, not run: 1 in_reasoning
    "#);
    assert_eq!(run.err, "");
}

#[test]
fn a_pipe_gets_neither_colours_nor_drawn_boxes() {
    let run = replay(&[&stream("weather.recording.jsonl")]).ok();
    assert!(!run.out.contains(['\x1b', '│', '╭']), "{}", run.out);
}

#[test]
fn native_calls_and_reasoning_fields_are_shown() {
    let run = replay(&[&stream("deepseek-tool-call.chunks.jsonl")]).ok();
    assert!(run.out.contains("| chunks, 1 round | deepseek-reasoner"), "{}", run.out);
    assert!(run.out.contains("[reasoning]\nThe user is asking"), "{}", run.out);
    assert!(run.out.contains("+-- native call 1: weather\n| {\"location\":\"San Francisco\"}\n+--\n"), "{}", run.out);
    assert!(run.out.contains("[finish: tool_calls;"), "{}", run.out);
}

#[test]
fn clines_history_shows_calls_in_the_text_and_native_ones_with_their_results() {
    let run = replay(&[&stream("api_conversation_history.json")]).ok();
    assert!(run.out.contains("| cline, 3 rounds | qwen3-coder:30b"), "{}", run.out);
    assert!(run.out.contains("+-- call 1: weather.get_weather (use_mcp_tool)\n| {\"city\":\"Graz\"}\n"), "{}", run.out);
    assert!(run.out.contains("+-- native call 2: list_files\n"), "{}", run.out);
    assert!(run.out.contains("call 2: list_files: result (recorded)\n  a.md\n  b.md\n"), "{}", run.out);
}

#[test]
fn standard_input_may_be_plain_text_or_server_sent_events() {
    let run = replay_in(root(), &["-"], format!("Hello\n{CALL}").as_bytes()).ok();
    assert!(run.out.contains("== standard input | text, 1 round"), "{}", run.out);
    assert!(run.out.contains("call 1: demo.weather_query"), "{}", run.out);
    let sse = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n";
    let run = replay_in(root(), &["-"], sse.as_bytes()).ok();
    assert!(run.out.contains("| chunks, 1 round") && run.out.contains("[answer]\nHi\n"), "{}", run.out);
}

#[test]
fn json_lines_tile_the_stream_and_end_with_a_summary() {
    let run = replay(&["--json", &stream("weather.recording.jsonl")]).ok();
    let lines = run.lines();
    let file = stream("weather.recording.jsonl");
    assert!(lines[..lines.len() - 1].iter().all(|line| line["file"] == file && line["recording"] == 1));
    assert_eq!(lines[0]["type"], "recording");
    assert_eq!(lines[0]["model"], "deepseek-r1:14b");
    let finish = run.of_type("finish");
    for round in 1..=3u64 {
        let mut end = 0;
        let spans = lines.iter().filter(|line| line["round"] == round && line["span"].is_object());
        for line in spans {
            assert_eq!(line["span"]["start"], end, "{line}");
            end = line["span"]["end"].as_u64().unwrap();
        }
        assert_eq!(finish[usize::try_from(round).unwrap() - 1]["bytes"], end);
    }
    let summary = lines.last().unwrap();
    let expected = json!({
        "type": "summary", "files": 1, "unreadable": 0, "recordings": 1, "cut_off": 0, "rounds": 3, "calls": 2,
        "native_calls": 0, "rejected": { "in_reasoning": 1 },
    });
    assert_eq!(*summary, expected);
    assert_eq!(run.of_type("result")[1]["calls"][0]["arguments"], json!({ "city": "武汉" }));
}

#[test]
fn explain_names_place_rule_and_remedy() {
    let text = "Use `<use_mcp_tool>`.\n武汉: <use_mcp_tool> it is.\n";
    let folder = Folder::new(&[("a.txt", text.as_bytes())]);
    let run = folder.replay(&["--explain", "a.txt"]).ok();
    let (_, list) = run.out.split_once("flushed as text:\n").unwrap();
    insta::assert_snapshot!(list, @"
      byte 5 (1:6), in the answer: <use_mcp_tool>
        rule: quote: it follows ` directly, so it is quoted
        remedy: none needed for a mention; a call must not follow a quotation mark or backtick
      byte 30 (2:9), in the answer: <use_mcp_tool>
        rule: gate: the opener is followed by “it is.”
        remedy: none needed for a mention; a call must continue with <server_name>, <tool_name>, <arguments> or \
        </use_mcp_tool>
    == 1 file, 1 recording, 1 round, 0 calls, none rejected
    ");
    let run = folder.replay(&["--explain", "--json", "a.txt"]).ok();
    let given = run.of_type("given_back");
    assert_eq!(given.len(), 2);
    assert_eq!(
        (&given[1]["offset"], &given[1]["rule"], &given[1]["region"]),
        (&json!(30), &json!("gate"), &json!("content"))
    );
    assert_eq!(run.lines().last().unwrap()["given_back"], 2);
}

#[test]
fn tools_make_their_tags_calls_and_their_schemas_are_enforced() {
    let tools = json!([{ "name": "read_file", "inputSchema": {
        "type": "object", "properties": { "path": { "type": "string" }, "lines": { "type": "integer" } }, "required": ["path"] } }]);
    let text =
        "<read_file>\n<path>a</path>\n<lines>3</lines>\n</read_file>\n<read_file>\n<lines>3</lines>\n</read_file>";
    let folder = Folder::new(&[("a.txt", text.as_bytes()), ("tools.json", tools.to_string().as_bytes())]);
    let run = folder.replay(&["a.txt"]).ok();
    assert!(run.out.contains("0 calls, none rejected"), "{}", run.out);
    let run = folder.replay(&["--json", "--tool-file", "tools.json", "a.txt"]).ok();
    let result = &run.of_type("result")[0];
    assert_eq!(result["calls"][0]["arguments"], json!({ "path": "a", "lines": 3 }));
    assert_eq!(result["rejected"][0]["kind"], "invalid_arguments");
    let ends = run.of_type("call_end");
    assert_eq!(ends[1]["rejected"]["kind"], "invalid_arguments");
    assert!(ends[1].get("call").is_none());
}

#[test]
fn the_command_line_wins_over_the_recording() {
    let file = stream("weather.recording.jsonl");
    let round = |args: &[&str]| replay(&[&["--json", &file], args].concat()).ok().of_type("round")[0].clone();
    let recorded = round(&[]);
    assert_eq!((&recorded["dialect"], &recorded["reasoning"]), (&json!("use_mcp_tool"), &json!("open")));
    let flags = round(&["--dialect", "type_marker,tool_tag", "--set", "reasoning=off", "--reasoning-calls", "allow"]);
    assert_eq!(flags["dialect"], "tool_tag,type_marker");
    assert_eq!((&flags["reasoning"], &flags["reasoning_calls"]), (&json!("off"), &json!("allow")));
    let model = round(&["--profile", "MiroThinker-v1.5"]);
    assert_eq!((&model["profile"], &model["reasoning"]), (&json!("mirothinker"), &json!("auto")));
    assert_eq!(round(&["--profile", "qwen3"])["profile"], "qwen3");
}

#[test]
fn a_promoted_call_is_shown_once_at_its_place() {
    let folder = Folder::new(&[("a.txt", format!("<think>\nHm.\n{CALL}\nSo be it.\n</think>\n").as_bytes())]);
    let run = folder.replay(&["--reasoning-calls", "last_resort", "a.txt"]).ok();
    let before = "Hm.\n+-- call 1: demo.weather_query (use_mcp_tool, promoted from the reasoning";
    let [from, to] = [before, "So be it."].map(|text| run.out.find(text));
    assert!(from.is_some() && from < to, "{}", run.out);
    assert_eq!(run.out.matches("weather_query").count(), 1, "{}", run.out);
    let run = folder.replay(&["a.txt"]).ok();
    assert!(run.out.contains("0 calls, not run: 1 in_reasoning"), "{}", run.out);
}

#[test]
fn a_think_tag_without_opener_makes_all_before_it_reasoning() {
    let folder = Folder::new(&[("a.txt", format!("Hm.\n{CALL}\n</think>\nSunny.\n").as_bytes())]);
    let run = folder.replay(&["a.txt"]).ok();
    assert!(run.out.contains("[reasoning]\nHm.\n<use_mcp_tool>"), "{}", run.out);
    assert!(run.out.contains("[answer]\nSunny.\n"), "{}", run.out);
    assert!(!run.out.contains("+-- call"), "{}", run.out);
}

#[test]
fn check_compares_with_the_recorded_calls() {
    let record = |city: &str| {
        let arguments = json!({ "city": city });
        let lines = [
            json!({ "type": "session", "toolgraft": 1 }),
            json!({ "type": "delta", "kind": "content", "text": CALL }),
            json!({ "type": "finish", "reason": "stop" }),
            json!({ "type": "call", "index": 0, "call": { "server": "demo", "tool": "weather_query",
                "arguments": arguments, "raw_arguments": "", "dialect": "use_mcp_tool", "repairs": [] } }),
        ];
        lines.iter().map(|line| format!("{line}\n")).collect::<String>()
    };
    let folder = Folder::new(&[
        ("good.jsonl", record("武汉").as_bytes()),
        ("bad.jsonl", record("Graz").as_bytes()),
        ("none.txt", b"Hello"),
    ]);
    let run = folder.replay(&["--check", "good.jsonl", "bad.jsonl"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("good.jsonl: as expected (the recorded calls)"), "{}", run.out);
    let difference = "bad.jsonl: not as expected (the recorded calls)\n  round 1, call 1:\n    \
        expected {\"server\":\"demo\",\"tool\":\"weather_query\",\"arguments\":{\"city\":\"Graz\"}}\n    \
        found    {\"server\":\"demo\",\"tool\":\"weather_query\",\"arguments\":{\"city\":\"武汉\"}}\n";
    assert!(run.out.contains(difference), "{}", run.out);
    let run = folder.replay(&["--check", "--json", "bad.jsonl"]);
    assert_eq!((run.code, &run.of_type("check")[0]["ok"]), (Some(1), &json!(false)));
    assert_eq!(run.lines().last().unwrap()["different"], 1);
    let run = folder.replay(&["--check", "none.txt"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("none.txt: nothing to check against: it has no `call` lines"), "{}", run.err);
}

#[test]
fn recorded_calls_are_compared_as_they_were_checked_and_run() {
    let schema = json!({ "type": "object", "properties": { "days": { "type": "integer" } }, "required": ["days"] });
    let text = "TYPE: MCP\n{\"tool_name\": \"forecast\", \"parameters\": {\"days\": \"3\"}}";
    let lines = [
        json!({ "type": "session", "toolgraft": 1, "dialect": "type_marker" }),
        json!({ "type": "tools", "servers": [{ "name": "demo", "tools": [{ "name": "forecast", "inputSchema": schema }] }] }),
        json!({ "type": "delta", "kind": "content", "text": text }),
        json!({ "type": "finish", "reason": "stop" }),
        json!({ "type": "call", "index": 0, "call": { "server": "demo", "tool": "forecast", "arguments": { "days": 3 },
            "raw_arguments": "{\"days\": \"3\"}", "dialect": "type_marker", "repairs": ["coerced:/days"] } }),
    ];
    let recording = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let folder = Folder::new(&[("coerced.jsonl", recording.as_bytes())]);
    let run = folder.replay(&["--check", "coerced.jsonl"]).ok();
    assert!(run.out.contains("calls in it ignore, 1 tool\n"), "{}", run.out);
}

#[test]
fn the_documented_recording_holds_the_calls_that_it_says() {
    let page = fs::read_to_string(root().join("docs/replay.md")).unwrap();
    let (_, example) = page.split_once("```jsonl\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    Folder::new(&[("doc.jsonl", example.as_bytes())]).replay(&["--check", "doc.jsonl"]).ok();
}

#[test]
fn standard_input_is_named_as_such() {
    let folder = Folder::new(&[]);
    let fails = |input: &[u8], error: &str| {
        let run = replay_in(folder.0.path(), &["-"], input);
        assert_eq!((run.code, run.err.as_str()), (Some(2), error));
    };
    fails(b"", "error: standard input is empty\n");
    fails(b"a\xff", "error: standard input:1:2: byte 0xff is not valid UTF-8: convert the file to UTF-8 first\n");
}

#[test]
fn a_recording_that_is_cut_off_is_replayed_up_to_the_cut_and_says_so() {
    let whole = fs::read(root().join(stream("weather.recording.jsonl"))).unwrap();
    let text = String::from_utf8(whole).unwrap();
    // In the middle of a character of the third answer.
    let at = text.find("要带伞：").unwrap() + 1;
    let folder = Folder::new(&[("cut.jsonl", &text.as_bytes()[..at])]);
    let run = folder.replay(&["cut.jsonl"]).ok();
    assert!(run.out.contains("call 2: demo.weather_query"), "{}", run.out);
    assert!(
        run.out.contains("[the recording is cut off in line 14: it breaks off; this was all of it]"),
        "{}",
        run.out
    );
    assert!(run.out.contains("1 recording, 1 cut off,"), "{}", run.out);
    let run = folder.replay(&["--json", "cut.jsonl"]).ok();
    assert_eq!(run.of_type("cut")[0]["line"], 14);
}

#[test]
fn an_open_call_at_the_cut_is_truncated() {
    let lines = [
        json!({ "type": "session", "toolgraft": 1 }),
        json!({ "type": "delta", "kind": "content", "text": &CALL[..60] }),
    ];
    let recording = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let folder = Folder::new(&[("cut.jsonl", recording.as_bytes())]);
    let run = folder.replay(&["--json", "cut.jsonl"]).ok();
    assert_eq!(run.of_type("result")[0]["rejected"][0]["kind"], "truncated");
}

#[test]
fn an_unknown_version_is_refused_by_name() {
    let folder = Folder::new(&[("new.jsonl", b"{\"type\":\"session\",\"toolgraft\":7}\n")]);
    let run = folder.replay(&["new.jsonl"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert_eq!(
        run.err,
        "error: new.jsonl: line 1: recordings of version 7 cannot be read here; readable: version 1; use the version \
         of toolgraft that wrote it, or a newer one\n"
    );
}

#[test]
fn each_bad_file_says_what_and_where_and_how_to_mend_it() {
    let folder = Folder::new(&[
        ("empty.txt", b""),
        ("utf8.txt", b"a\nb\xff"),
        ("other.json", b"{\"a\": 1}"),
        ("broken.jsonl", b"{\"choices\": []}\n{\"choices\" []}\n"),
        ("line.jsonl", b"{\"type\":\"session\",\"toolgraft\":1}\n{\"type\":\"finish\",\"reason\":7}\n"),
    ]);
    for (file, error) in [
        ("missing.txt", "cannot read missing.txt:"),
        (".", ". is a directory: name a file in it"),
        ("empty.txt", "empty.txt is empty"),
        ("utf8.txt", "utf8.txt:2:2: byte 0xff is not valid UTF-8: convert the file to UTF-8 first"),
        ("other.json", "if it is a model's text, add `--format text`"),
        ("broken.jsonl", "broken.jsonl:2:12: expected `:`: fix the JSON there"),
        ("line.jsonl", "line.jsonl:2:27: invalid type: integer `7`, expected a"),
    ] {
        let run = folder.replay(&[file]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{file}");
        assert!(run.err.starts_with("error: ") && run.err.contains(error), "{file}: {}", run.err);
    }
    let run = folder.replay(&["--format", "text", "other.json"]).ok();
    assert!(run.out.contains("[answer]\n{\"a\": 1}\n"), "{}", run.out);
}

#[test]
fn after_a_bad_file_the_others_go_on_and_the_exit_code_tells() {
    let folder = Folder::new(&[("a.txt", b"One."), ("b.txt", b""), ("c.txt", b"Three.")]);
    let run = folder.replay(&["a.txt", "b.txt", "c.txt"]);
    assert_eq!(run.code, Some(2));
    assert!(run.out.contains("One.") && run.out.contains("Three."), "{}", run.out);
    assert_eq!(run.err, "error: b.txt is empty\nerror: 1 of 3 files could not be replayed\n");
}

#[test]
fn wrong_flags_name_what_was_expected() {
    for (args, expected) in
        [(["--dialect", "xml"], "unknown dialect \"xml\""), (["--tool-file", "nope.json"], "cannot read nope.json")]
    {
        let run = replay(&[&args[..], &[&stream("weather.recording.jsonl")]].concat());
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    }
}

#[test]
fn text_cannot_steer_the_terminal() {
    let folder = Folder::new(&[("a.txt", "\x1b]0;title\x07\x1b[2Jhi\u{202e}".as_bytes())]);
    let run = folder.replay(&["a.txt"]).ok();
    assert!(!run.out.contains(['\x1b', '\x07', '\u{202e}']), "{:?}", run.out);
    assert!(run.out.contains("␛[2Jhi"), "{}", run.out);
}

/// A round of a recording with this answer.
fn round(text: &str) -> [serde_json::Value; 2] {
    [
        json!({ "type": "delta", "kind": "content", "text": text, "ms": 1 }),
        json!({ "type": "finish", "reason": "stop" }),
    ]
}

fn recording(rounds: &[&str]) -> Vec<u8> {
    let lines = rounds.iter().flat_map(|text| round(text));
    let session = json!({ "type": "session", "toolgraft": 1, "reasoning": "auto" });
    std::iter::once(session).chain(lines).map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

#[test]
fn what_stands_after_a_call_is_neither_answer_nor_run() {
    let after = format!("The tool says that you are in London.\n{}", CALL.replace("武汉", "London"));
    let folder = Folder::new(&[("a.jsonl", &recording(&[&format!("One moment.\n{CALL}\n\n{after}"), CALL]))]);
    let out = folder.replay(&["a.jsonl"]).ok().out;
    let (read, unread) = out.split_once("[after the call: a turn stops there").unwrap();
    assert!(read.contains("[answer]\nOne moment.") && !read.contains("London"), "{out}");
    assert!(unread.contains("The tool says that you are in London.") && !unread.contains("[answer]"), "{out}");
    assert!(out.contains("call 1: demo.weather_query") && out.contains("call 2: demo.weather_query"), "{out}");
    assert!(!out.contains("call 3") && out.contains("2 rounds, 2 calls, none rejected"), "{out}");
    let json = folder.replay(&["--json", "a.jsonl"]).ok();
    let finish = json.of_type("finish");
    assert!(finish[0]["read"] == 12 + CALL.len() && finish[1]["read"].is_null(), "{finish:?}");
    assert_eq!(json.of_type("result")[0]["calls"].as_array().unwrap().len(), 2, "the parser's own result is whole");
}

#[test]
fn a_call_that_was_recorded_as_made_was_read() {
    let both = format!("{CALL}\nAnd then:\n{}", CALL.replace("武汉", "Graz"));
    let call = |index: u32, id: &str, city: &str| {
        json!({ "type": "call", "id": id, "index": index, "call": { "server": "demo", "tool": "weather_query",
            "arguments": { "city": city }, "raw_arguments": "{}", "dialect": "use_mcp_tool", "repairs": [] } })
    };
    let made = [call(0, "call_7", "武汉"), call(1, "call_8", "Graz")].map(|line| format!("{line}\n")).concat();
    let folder = Folder::new(&[("a.jsonl", &[recording(&[&both]), made.into_bytes()].concat())]);
    let out = folder.replay(&["a.jsonl"]).ok().out;
    assert!(!out.contains("after the call"), "{out}");
    assert!(out.contains("call 7: demo") && out.contains("call 8: demo"), "numbers are those of the session: {out}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_page_is_opened_in_a_browser_where_that_is_asked_for() {
    let place = crate::process::Place::new();
    let path = crate::demo::browser(&place);
    fs::write(place.dir.path().join("a.txt"), CALL).unwrap();
    let run = place.run_with(&["replay", "--open", "a.txt"], |c| c.env("PATH", &path).env("DISPLAY", ":9")).quiet();
    assert!(run.out.starts_with("a.html: 1 recording, 1 round, "), "{}", run.out);
    assert_eq!(
        crate::demo::opened(&place),
        fs::canonicalize(place.dir.path().join("a.html")).unwrap().to_str().unwrap()
    );
    fs::write(place.dir.path().join("b.txt"), CALL).unwrap();
    place.run(&["replay", "--open", "a.txt", "b.txt"]).refuses(2, "name one for all files with --html PAGE");
    place.run(&["replay", "--open", "--html", "-", "a.txt"]).refuses(2, "--open needs a file");
}
