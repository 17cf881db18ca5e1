//! `toolgraft extract` as a process: format, order, streaming, chunks, and
//! input that is wrong.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::process::{Run, TOOLGRAFT};
use assert_cmd::Command;
use serde_json::{Value, json};

const DOC: &str = include_str!("../../../docs/extract.md");
const CALL: &str = "<use_mcp_tool><tool_name>now</tool_name><arguments>{\"zone\": \"UTC\"}</arguments></use_mcp_tool>";

fn extract(args: &[&str], input: impl Into<Vec<u8>>) -> Run {
    Run::of(Command::new(TOOLGRAFT).arg("extract").args(args).write_stdin(input))
}

/// The answer to one record.
fn one(args: &[&str], record: &Value) -> Value {
    let run = extract(args, record.to_string()).quiet();
    let mut lines = run.lines();
    assert_eq!(lines.len(), 1, "{}", run.out);
    lines.remove(0)
}

fn errors(run: &Run) -> Vec<String> {
    run.lines().iter().filter_map(|line| Some(line.get("error")?.as_str().unwrap().to_owned())).collect()
}

fn start(args: &[&str]) -> Child {
    let mut command = std::process::Command::new(TOOLGRAFT);
    command.arg("extract").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn forecast() -> Value {
    json!([{"server": "w", "name": "forecast", "description": "Weather.", "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    }}])
}

/// Every text under `fixtures/parse`.
fn fixture_texts() -> Vec<String> {
    fn walk(folder: &Path, texts: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, texts);
            } else if path.extension().is_some_and(|e| e == "txt") {
                let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
                texts.push((path, text));
            }
        }
    }
    let mut texts = Vec::new();
    walk(&Path::new(crate::process::ROOT).join("fixtures/parse"), &mut texts);
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn the_documented_examples_are_what_the_program_does() {
    let mut checked = 0;
    for example in DOC.split("```sh\ntoolgraft extract").skip(1) {
        let mut parts = example.split("```");
        let args: Vec<&str> = parts.next().unwrap().split_whitespace().collect();
        let input = parts.nth(1).unwrap().strip_prefix("jsonl\n").unwrap();
        let expected = parts.nth(1).unwrap().strip_prefix("jsonl\n").unwrap();
        let run = extract(&args, input);
        assert_eq!(run.out, expected, "{args:?}");
        let code = if expected.contains("\"error\"") { 1 } else { 0 };
        assert_eq!(run.code, Some(code), "{}", run.err);
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn every_option_is_documented() {
    let help = extract(&["--help-all"], "").quiet().out;
    for word in help.split_whitespace().filter(|w| w.starts_with("--")) {
        assert!(word.starts_with("--help") || word == "--version" || DOC.contains(&format!("`{word}")), "{word}");
    }
}

#[test]
fn the_fields_of_a_line_are_those_of_the_contract_in_order() {
    let run = extract(&[], json!({"id": [1, {"a": null}], "text": CALL}).to_string()).quiet();
    assert_eq!(
        run.out,
        "{\"id\":[1,{\"a\":null}],\"content\":\"\",\"reasoning\":\"\",\"calls\":[{\"server\":null,\"tool\":\"now\",\
         \"arguments\":{\"zone\":\"UTC\"},\"dialect\":\"use_mcp_tool\",\"provenance\":\"plain\",\"repairs\":[]}],\"rejected\":[]}\n"
    );
}

#[test]
fn an_id_of_any_kind_comes_back_as_it_was_written() {
    for id in ["null", "1.50", "123456789012345678901234567890", "\"\\u00e9\"", "{\"b\":1,\"a\":[]}", "false"] {
        let run = extract(&[], format!("{{\"text\": \"\", \"id\": {id}}}")).quiet();
        assert!(run.out.starts_with(&format!("{{\"id\":{id},")), "{}", run.out);
    }
    assert_eq!(one(&[], &json!({"text": ""}))["id"], Value::Null);
}

#[test]
fn each_dialect_is_read_and_can_be_chosen() {
    let texts = [
        (
            "use_mcp_tool",
            "<use_mcp_tool><server_name>w</server_name><tool_name>forecast</tool_name><arguments>{\"city\": \"Ulm\"}</arguments></use_mcp_tool>",
        ),
        ("tool_tag", "<forecast><city>Ulm</city></forecast>"),
        (
            "type_marker",
            "TYPE: MCP\n{\"server_name\": \"w\", \"tool_name\": \"forecast\", \"parameters\": {\"city\": \"Ulm\"}}",
        ),
    ];
    for (dialect, text) in texts {
        let record = json!({"text": text, "tools": forecast()});
        for chosen in ["auto", dialect, "use_mcp_tool,tool_tag,type_marker"] {
            let answer = one(&["--dialect", chosen], &record);
            let call = &answer["calls"][0];
            assert_eq!(call["dialect"], dialect);
            assert_eq!((&call["server"], &call["arguments"]), (&json!("w"), &json!({"city": "Ulm"})));
            assert_eq!((&answer["content"], &answer["rejected"]), (&json!(""), &json!([])));
        }
        let other = if dialect == "tool_tag" { "type_marker" } else { "tool_tag" };
        let answer = one(&["--dialect", other], &record);
        assert_eq!((&answer["content"], &answer["calls"]), (&json!(text), &json!([])), "{other}");
    }
}

#[test]
fn a_resource_access_is_a_call_with_a_uri() {
    let text = "<access_mcp_resource><server_name>files</server_name><uri>file:///a b.txt</uri></access_mcp_resource>";
    let call = one(&[], &json!({"text": text}))["calls"][0].clone();
    assert_eq!(call["tool"], "access_mcp_resource");
    assert_eq!((&call["server"], &call["arguments"]), (&json!("files"), &json!({"uri": "file:///a b.txt"})));
    let call = one(&[], &json!({"text": text, "tools": forecast()}))["calls"][0].clone();
    assert_eq!(call["arguments"], json!({"uri": "file:///a b.txt"}));
}

#[test]
fn without_tools_any_name_is_accepted_and_arguments_must_be_an_object() {
    let text = |arguments: &str| format!("TYPE: MCP\n{{\"tool_name\": \"anything\", \"parameters\": {arguments}}}");
    for tools in [Value::Null, json!([])] {
        let answer = one(&[], &json!({"text": text("{\"n\": \"5\"}"), "tools": tools}));
        assert_eq!(answer["calls"][0]["arguments"], json!({"n": "5"}));
        let answer = one(&[], &json!({"text": text("[1]"), "tools": tools}));
        assert_eq!(answer["calls"], json!([]));
        assert_eq!(answer["rejected"][0]["kind"], "invalid_arguments");
        assert_eq!(
            answer["rejected"][0]["message"],
            "expected a JSON object with the arguments, found array of 1 item"
        );
    }
}

#[test]
fn with_tools_names_and_arguments_are_checked() {
    let call = |tool: &str, arguments: &str| {
        let text = format!(
            "Well: <use_mcp_tool><tool_name>{tool}</tool_name><arguments>{arguments}</arguments></use_mcp_tool>"
        );
        one(&[], &json!({"text": text, "tools": forecast()}))
    };
    let fine = call("forecast", "{\"city\": \"Ulm\", \"days\": \"3\"}");
    assert_eq!(fine["calls"][0]["arguments"], json!({"city": "Ulm", "days": 3}));
    assert_eq!(fine["calls"][0]["repairs"], json!(["server_resolved", "coerced:/days"]));
    let unknown = call("forecasts", "{}");
    assert_eq!(unknown["rejected"][0]["kind"], "unknown_tool");
    assert!(unknown["rejected"][0]["message"].as_str().unwrap().contains("forecast"));
    let invalid = call("forecast", "{\"days\": 3.5}");
    let rejected = &invalid["rejected"][0];
    assert_eq!((&rejected["kind"], &invalid["content"]), (&json!("invalid_arguments"), &json!("Well: ")));
    assert!(rejected["raw"].as_str().unwrap().starts_with("<use_mcp_tool>"));
    let message = rejected["message"].as_str().unwrap();
    assert!(message.contains("/days: expected integer, found number 3.5"), "{message}");
    assert!(message.contains("missing required property \"city\" (string)"), "{message}");
    assert!(message.contains(". A correct call: <use_mcp_tool>"), "{message}");
}

#[test]
fn the_correct_call_of_a_message_is_one_in_the_same_dialect() {
    let texts = [
        ("use_mcp_tool", "<use_mcp_tool><tool_name>forecast</tool_name><arguments>{}</arguments></use_mcp_tool>"),
        ("tool_tag", "<forecast><days>3</days></forecast>"),
        ("type_marker", "TYPE: MCP\n{\"tool_name\": \"forecast\", \"parameters\": {}}"),
    ];
    for (dialect, text) in texts {
        let answer = one(&[], &json!({"text": text, "tools": forecast()}));
        let message = answer["rejected"][0]["message"].as_str().unwrap();
        let (_, correct) = message.split_once(" A correct call: ").unwrap();
        let answer = one(&[], &json!({"text": correct, "tools": forecast()}));
        assert_eq!((&answer["calls"][0]["dialect"], &answer["rejected"]), (&json!(dialect), &json!([])), "{correct}");
    }
}

#[test]
fn a_separate_reasoning_field_comes_first() {
    let record = json!({"reasoning": format!("I draft {CALL}"), "text": "Done."});
    let answer = one(&[], &record);
    assert_eq!((&answer["content"], &answer["calls"]), (&json!("Done."), &json!([])));
    assert_eq!(answer["reasoning"], format!("I draft {CALL}"));
    assert_eq!(answer["rejected"][0]["kind"], "in_reasoning");
    assert_eq!(one(&["--reasoning-calls", "allow"], &record)["calls"][0]["tool"], "now");
    // After a reasoning field, `open` has nothing left to open.
    assert_eq!(one(&["--set", "reasoning=open"], &record)["content"], "Done.");
    assert_eq!(one(&["--set", "reasoning=open"], &json!({"text": "a</think>b"}))["content"], "b");
    assert_eq!(one(&["--set", "reasoning=off"], &json!({"text": "<think>a</think>b"}))["content"], "<think>a</think>b");
}

#[test]
fn the_finish_reason_decides_about_last_resort() {
    let record = |reason: Value| json!({"reasoning": format!("I draft {CALL}"), "text": "", "finish_reason": reason});
    let calls =
        |reason: Value| one(&["--reasoning-calls", "last_resort"], &record(reason))["calls"].as_array().unwrap().len();
    assert_eq!(calls(json!("stop")), 1);
    assert_eq!(calls(Value::Null), 1);
    assert_eq!(calls(json!("length")), 0);
    assert_eq!(calls(json!("content_filter")), 0);
}

#[test]
fn the_order_is_kept_over_thousands_of_uneven_lines() {
    let mut input = String::new();
    for n in 0..5000 {
        let text = if n % 97 == 0 { format!("{}{CALL}", "x".repeat(n * 5)) } else { format!("{n} {CALL}") };
        writeln!(input, "{}", json!({"id": n, "text": text})).unwrap();
    }
    let one_job = extract(&["--threads", "1"], input.clone()).quiet();
    let ids: Vec<u64> = one_job.lines().iter().map(|line| line["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..5000).collect::<Vec<_>>());
    assert!(one_job.lines().iter().all(|line| line["calls"].as_array().unwrap().len() == 1));
    for jobs in ["2", "8"] {
        assert!(extract(&["--threads", jobs], input.clone()).quiet().out == one_job.out, "{jobs} jobs");
    }
}

#[test]
fn every_chunk_mode_gives_the_same_output() {
    let mut input = String::new();
    for (n, text) in fixture_texts().iter().enumerate() {
        for tools in [Value::Null, forecast()] {
            writeln!(input, "{}", json!({"id": n, "text": text, "reasoning": "<think>héé", "tools": tools})).unwrap();
        }
    }
    assert!(input.lines().count() > 100);
    for reasoning in ["auto", "open"] {
        let whole = extract(&["--set", &format!("reasoning={reasoning}")], input.clone()).quiet().out;
        for chunk in ["1", "2", "7", "random:1", "random:2"] {
            let chunked =
                extract(&["--set", &format!("reasoning={reasoning}"), "--chunk", chunk], input.clone()).quiet().out;
            assert!(chunked == whole, "--chunk {chunk} reasoning {reasoning}");
        }
    }
}

#[test]
fn a_line_is_answered_before_the_next_one_is_written() {
    let mut child = start(&[]);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for n in 0..20 {
        writeln!(input, "{}", json!({"id": n, "text": CALL})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["id"], &answer["calls"][0]["tool"]), (&json!(n), &json!("now")));
    }
    drop(input);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_output_ends_quietly_though_input_goes_on() {
    let mut child = start(&[]);
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let line = format!("{}\n", json!({"text": "x".repeat(1000)}));
    // Its end of the pipe goes away with it.
    while input.write_all(line.as_bytes()).is_ok() {}
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!(messages, "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn bad_lines_are_answered_with_their_number_and_the_rest_goes_on() {
    let input = [
        "{\"id\": 1, \"text\": \"fine\"}",
        "not json",
        "",
        "{\"id\": 2, \"text\": \"cut",
        "[1]",
        "\"text\"",
        "{\"id\": 3}",
        "{\"text\": 5}",
        "{\"text\": \"a\", \"text\": \"b\"}",
        "{\"text\": \"a\", \"reasoning\": 1}",
        "{\"text\": \"a\", \"finish_reason\": 1}",
        "{\"text\": \"a\", \"tools\": {}}",
        "{\"text\": \"a\", \"tools\": [{\"title\": \"no name\"}]}",
        "{\"text\": \"a\"} {\"text\": \"b\"}",
        "{\"text\": \"\\ud800\"}",
        "{\"id\": 4, \"text\": \"fine\", \"unknown\": {\"deep\": [1]}}",
    ]
    .join("\n");
    let run = extract(&[], input);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("13 of 15 lines of standard input are not valid records"), "{}", run.err);
    let errors = errors(&run);
    let expected = [
        "line 2: expected a JSON object, found text that is not JSON",
        "line 4: EOF while parsing a string (column 22)",
        "line 5: expected a JSON object, found an array",
        "line 6: expected a JSON object, found a string",
        "line 7: missing field `text` (column 9)",
        "line 8: invalid type: integer `5`, expected a string (column 10)",
        "line 9: duplicate field `text` (column 20)",
        "line 10: invalid type: integer `1`, expected a string (column 28)",
        "line 11: invalid type: integer `1`, expected a string (column 32)",
        "line 12: `tools`: invalid type: map, expected a sequence",
        "line 13: `tools`: missing field `name` (column 21)",
        "line 14: trailing characters (column 15)",
        "line 15: unexpected end of hex escape (column 17)",
    ];
    assert_eq!(errors, expected);
    let lines = run.lines();
    assert_eq!((&lines[0]["id"], &lines[14]["id"]), (&json!(1), &json!(4)));
    assert!(lines[1..14].iter().all(|line| line["id"].is_null() && line.as_object().unwrap().len() == 2));
}

#[test]
fn invalid_utf_8_is_named_with_its_column() {
    let run = extract(&[], b"{\"text\": \"a\xff\"}\n{\"id\": 1, \"text\": \"b\"}\n".to_vec());
    assert_eq!(run.code, Some(1));
    assert_eq!(errors(&run), ["line 1: byte 0xff at column 12 is not valid UTF-8"]);
    assert_eq!(run.lines()[1]["content"], "b");
}

#[test]
fn line_breaks_of_windows_and_a_byte_order_mark_do_no_harm() {
    let run = extract(&[], "\u{feff}{\"id\": 1, \"text\": \"a\"}\r\n\r\n{\"id\": 2, \"text\": \"b\"}\r\n").quiet();
    assert_eq!(run.lines().iter().map(|line| line["content"].clone()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_file_is_read_and_a_dash_is_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.jsonl");
    fs::write(&file, "{\"text\": \"from the file\"}").unwrap();
    let from_file = extract(&[file.to_str().unwrap()], "").quiet();
    assert_eq!(from_file.lines()[0]["content"], "from the file");
    assert_eq!(extract(&["-"], "{\"text\": \"piped\"}").quiet().lines()[0]["content"], "piped");
    fs::write(&file, "oops").unwrap();
    let wrong = extract(&[file.to_str().unwrap()], "");
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains(&format!("1 of 1 lines of {}", file.display())), "{}", wrong.err);
}

#[test]
fn empty_standard_input_yields_nothing() {
    for input in ["", "\n", " \r\n\n"] {
        assert_eq!(extract(&[], input).quiet().out, "");
    }
}

#[test]
fn wrong_files_and_options_are_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("empty"), "").unwrap();
    let (folder_path, empty, missing) = (path(""), path("empty"), path("missing"));
    for (args, words) in [
        (vec![folder_path.as_str()], vec!["is a directory", "name a file in it"]),
        (vec![&empty], vec!["empty", "expected one JSON object a line"]),
        (vec![&missing], vec!["cannot read", "missing"]),
        (vec!["--chunk", "0"], vec!["--chunk", "random:SEED"]),
        (vec!["--chunk", "random:x"], vec!["--chunk", "random:SEED"]),
        (vec!["--dialect", "xml"], vec!["\"xml\"", "use_mcp_tool, tool_tag, type_marker"]),
        (vec!["--set", "reasoning=on"], vec!["`auto`, `open`, `off`"]),
        (vec!["--reasoning-calls", "run"], vec!["ignore, last_resort, allow"]),
        (vec!["--threads", "0"], vec!["--threads"]),
    ] {
        let run = extract(&args, "");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}");
        for word in words {
            assert!(run.err.contains(word), "{args:?}: {}", run.err);
        }
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_reported_once() {
    let tools = json!([{"name": "get", "inputSchema": {"properties": {"x": {"$ref": "https://example.com/x.json"}}}}]);
    let text = "TYPE: MCP\n{\"tool_name\": \"get\", \"parameters\": {\"x\": \"5\"}}";
    let record = json!({"text": text, "tools": tools}).to_string();
    let run = extract(&[], format!("{record}\n").repeat(500));
    assert_eq!(run.code, Some(0));
    assert_eq!(run.err.matches("the schema of get cannot be used").count(), 1, "{}", run.err);
    assert!(run.lines().iter().all(|line| line["calls"][0]["arguments"] == json!({"x": "5"})));
}

#[test]
fn tools_of_one_record_do_not_reach_another() {
    let mut input = String::new();
    for n in 0..100 {
        let tool = format!("tool_{}", n % 20);
        let text = format!("<{tool}><n>{n}</n></{tool}><tool_x></tool_x>");
        let schema = json!({"properties": {"n": {"type": if n % 2 == 0 { "integer" } else { "string" }}}});
        writeln!(input, "{}", json!({"text": text, "tools": [{"name": tool, "inputSchema": schema}]})).unwrap();
        writeln!(input, "{}", json!({"text": text})).unwrap();
    }
    let lines = extract(&[], input).quiet().lines();
    for (n, pair) in lines.chunks(2).enumerate() {
        let value = if n % 2 == 0 { json!(n) } else { json!(n.to_string()) };
        assert_eq!(pair[0]["calls"][0]["arguments"], json!({"n": value}));
        assert_eq!(pair[0]["content"], "<tool_x></tool_x>");
        assert_eq!(pair[1]["calls"], json!([]));
    }
}

#[test]
fn long_records_pass() {
    let long = "word ".repeat(1 << 20);
    let input = format!("{}\n{}\n", json!({"id": 1, "text": long}), json!({"id": 2, "text": CALL}));
    let lines = extract(&[], input).quiet().lines();
    assert_eq!(lines[0]["content"].as_str().unwrap().len(), long.len());
    assert_eq!(lines[1]["calls"][0]["tool"], "now");
}

#[test]
fn what_follows_the_limit_on_calls_is_text() {
    let answer = one(&[], &json!({"id": 1, "text": CALL.repeat(100)}));
    assert_eq!(answer["calls"].as_array().unwrap().len(), 64);
    let message = "a message holds at most 64 calls; this is call 65";
    assert_eq!(answer["rejected"], json!([{"kind": "limit", "raw": CALL, "message": message}]));
    assert_eq!(answer["content"], CALL.repeat(35));
}
