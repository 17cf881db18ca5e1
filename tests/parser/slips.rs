//! Single damages of correct calls: a slip of a model in any dialect results in the call, a
//! rejection or a near call, and hardly ever in nothing. The call never runs with other arguments
//! than written.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgraft::dialect::{Shape, write_tool_call};
use toolgraft::event::{Assembled, RejectedKind};
use toolgraft::parse::Config;
use toolgraft::validate::Validator;
use toolgraft::{Catalog, Dialect, Parser, Tool};

/// A correct call, and its content.
struct Right {
    name: String,
    text: String,
    arguments: Map<String, Value>,
}

fn catalog() -> Catalog {
    let tool = |server: &str, name: &str, schema: Value| Tool::new(name).with_server(server).with_schema(schema);
    let text = json!({"type": "string"});
    Catalog::from_tools([
        tool(
            "weather",
            "get_forecast",
            json!({"type": "object", "required": ["city"],
            "properties": {"city": text, "days": {"type": "integer"}}}),
        ),
        tool(
            "files",
            "write_file",
            json!({"type": "object", "required": ["path", "content"],
            "properties": {"path": text, "content": text}}),
        ),
        tool("files", "list_files", json!({"type": "object", "properties": {"path": text}})),
    ])
}

/// Returns a call of each dialect, in our form and in its model's, with text around it.
fn right_calls(catalog: &Catalog) -> Vec<Right> {
    let calls = [
        ("get_forecast", json!({"city": "Oslo", "days": 2})),
        ("write_file", json!({"path": "notes.md", "content": "# Notes\nBe \"kind\"."})),
    ];
    let mut list = Vec::new();
    for dialect in Dialect::ALL.iter().copied() {
        for (name, arguments) in &calls {
            let tool = catalog.tools().find(|tool| tool.name == *name).unwrap();
            let arguments = arguments.as_object().unwrap();
            let text = write_tool_call(dialect, catalog, tool, arguments);
            let right = |around: &str, text: String| Right {
                name: format!("{dialect}{around} {name}"),
                text,
                arguments: arguments.clone(),
            };
            if let Shape::Named(named) = &dialect.spec().shape
                && let Some(group) = named.groups.first()
            {
                list.push(right(" in its group", format!("{}\n{text}\n{}", group.open, group.close)));
            }
            list.push(right("", text));
        }
    }
    list
}

/// Returns all results of a single slip in a text, with its kind and its offset.
fn damaged(text: &str) -> Vec<(&'static str, usize, String)> {
    let mut list = Vec::new();
    let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    for (i, pair) in bounds.windows(2).enumerate() {
        let (at, end) = (pair[0], pair[1]);
        let (before, c, after) = (&text[..at], &text[at..end], &text[end..]);
        list.push(("deleted", at, format!("{before}{after}")));
        list.push(("doubled", at, format!("{before}{c}{c}{after}")));
        list.push(("replaced", at, format!("{before}{}{after}", if c == "x" { "y" } else { "x" })));
        if let Some(next) = bounds.get(i + 2) {
            let d = &text[end..*next];
            if c != d {
                list.push(("swapped", at, format!("{before}{d}{c}{}", &text[*next..])));
            }
        }
    }
    for (at, end) in tokens(text) {
        list.push(("token deleted", at, format!("{}{}", &text[..at], &text[end..])));
        list.push(("token doubled", at, format!("{}{}", &text[..end], &text[at..])));
    }
    list
}

/// Returns the ranges of words, tags and other tokens.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match c {
            '<' => rest.find('>').map_or(1, |end| end + 1),
            '[' => rest.find(']').filter(|end| *end < 16).map_or(1, |end| end + 1),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        if length > 1 {
            list.push((at, at + length));
        }
        at += length;
    }
    list
}

/// The result for a damaged call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Became {
    Exact,
    Other,
    Told,
    Silent,
}

fn became(right: &Right, message: &Assembled) -> Became {
    let calls: Vec<_> = message.calls().collect();
    match calls.as_slice() {
        [] if message.rejected().next().is_some() => Became::Told,
        [] => Became::Silent,
        calls if calls.iter().all(|call| call.arguments == Value::Object(right.arguments.clone())) => Became::Exact,
        _ => Became::Other,
    }
}

/// Returns `true` if a value contains text of another parameter or of the syntax, because it was
/// read too far. A doubled delimiter is part of the value as written.
fn is_read_too_far(right: &Right, how: &str, arguments: &Value) -> bool {
    let Some(arguments) = arguments.as_object() else { return false };
    arguments.iter().any(|(key, value)| {
        let Some(text) = value.as_str() else { return false };
        let others = right.arguments.iter().filter(|(other, _)| *other != key);
        let holds_other = others.clone().any(|(other, value)| {
            text.contains(other.as_str()) || value.as_str().is_some_and(|value| text.contains(value))
        });
        // The value of a call with a doubled closing tag contains the second one, as it was
        // written.
        holds_other || (how != "token doubled" && text.contains("</"))
    })
}

/// Largest percentage of single damages that may leave no trace.
const MOST_SILENT: usize = 3;

#[test]
fn single_damages_are_hardly_ever_silent() {
    let catalog = Arc::new(catalog());
    let parser = Parser::new(Config::default().with_catalog(catalog.clone()));
    let validator = Validator::new(catalog.clone());
    let (mut counts, mut silent) = (BTreeMap::new(), Vec::new());
    for right in right_calls(&catalog) {
        for (how, at, text) in damaged(&right.text) {
            let mut message = parser.parse(&text);
            validator.check_all(&mut message);
            for call in message.calls() {
                assert!(!is_read_too_far(&right, how, &call.arguments), "{how} at {at}: {text:?} {call:?}");
            }
            let became = became(&right, &message);
            *counts.entry(became).or_insert(0_usize) += 1;
            if became == Became::Silent {
                silent.push(format!("{}, {how} at {at}: {text:?}", right.name));
            }
        }
    }
    let all: usize = counts.values().sum();
    assert!(all > 7_000, "{counts:?}");
    assert!(silent.len() * 100 <= all * MOST_SILENT, "{counts:?}\n{}", silent.join("\n"));
}

/// Prose and code about the tools, without any intended call.
const NO_CALLS: &[&str] = &[
    "You can ask `get_forecast` for a city; it takes `city` and `days`.",
    "I called get_forecast with city=Oslo and days=2, and it will rain.",
    "The tool get_forecast(city, days) tells the weather, write_file(path, content) writes.",
    "get_forecast: city (a text), days (a number)",
    "Here is how a call looks:\n\n```json\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\"}\n```\nThat is all.",
    "A `<tool_call>` holds the name, such as get_forecast, and `</tool_call>` ends it.",
    "> <tol_call>{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>\n\nThat was wrong.",
    "def get_forecast(city, days):\n    return fetch(city=city, days=days)",
    "get_forecast(city=where, days=n + 1)",
    "{\"tool\": \"hammer\", \"city\": \"Oslo\"}",
    "<p>get_forecast</p>\n<p>city</p>",
    "The file holds `path` and `content`; list_files tells what there is.",
    "{\"name\": \"get_forecast\", \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}",
    "| tool | takes |\n|---|---|\n| get_forecast | city, days |\n| write_file | path, content |",
    "- get_forecast: city=Oslo\n- write_file: path=a, content=b",
    "get_forecast(city: string, days?: integer)\n  Tells the weather.\n  - city: its name",
    "Parameters of get_forecast:\n- city: the name of a city\n- days: how many days ahead",
    "Usage: get_forecast --city NAME [--days N]",
    "The log says \"get_forecast city=Oslo\"",
    "I called get_forecast with city=Oslo",
    "Summary:\n- get_forecast: city=Oslo\n- write_file: path=notes.md",
    "| tool | arguments |\n|---|---|\n| get_forecast | city=Oslo |",
    "For example: get_forecast city=Oslo",
    "get_forecast city=Oslo returned that it rains",
    "forecast = get_forecast(city=\"Oslo\")\nprint(forecast.days)",
];

#[test]
fn prose_and_code_about_tools_are_no_near_calls() {
    let catalog = Arc::new(catalog());
    let parser = Parser::new(Config::default().with_catalog(catalog));
    for text in NO_CALLS {
        let message = parser.parse(text);
        let near = message.rejected().find(|rejected| rejected.kind == RejectedKind::NearCall);
        assert_eq!(near, None, "{text}");
        assert_eq!(message.calls().count(), 0, "{text}");
    }
}

/// Calls in forms that no dialect has, and what is told of each.
const OTHER_FORMS: &[(&str, &str)] = &[
    ("@get_forecast(city=\"Oslo\")", "`@` before its name is no part of a call"),
    ("Let me look.\n\n/get_forecast city=Oslo", "`/` before its name is no part of a call"),
    ("<tool: get_forecast>\n{\"city\": \"Oslo\"}\n</tool>", "`<tool:` before its name is no part of a call"),
    ("★CALL★ get_forecast ★ARGS★ {\"city\": \"Oslo\"} ★END★", "`★CALL★` before its name is no part of a call"),
    ("{\"op\": \"call\", \"target\": \"get_forecast\", \"payload\": {\"city\": \"Oslo\"}}", "\"target\":` before"),
    ("<fn:get_forecast city=\"Oslo\"/>", "`<fn:` before its name is no part of a call"),
    ("#E1 = get_forecast[city: Oslo]", "`#E1 =` before its name is no part of a call"),
    ("get_forecast JSON: {\"city\": \"Oslo\"}", "`JSON` after its name is no part of a call"),
    ("get_forecast?city=Oslo", "`?` after its name is no part of a call"),
    ("tool: get_forecast\nargs:\n  city: Oslo", "its arguments are not a JSON object"),
    ("**Tool:** `get_forecast`\n**City:** Oslo", "no parameter `City`, but one that is called `city`"),
    ("```get_forecast\n{\"city\": \"Oslo\"}\n```", "nothing says that its arguments are a call's"),
    ("get_forecast(city: \"Oslo\")", "with literal values"),
    ("<call>\n<tool>get_forecast</tool>\n<city>Oslo</city>\n</call>", "`<tool>` before its name is no part of a call"),
    ("<tool: list_files>\n/srv\n</tool>", "its text is in no parameter"),
    ("{\"name\": \"get_forecast\", \"arguments\": {\"city\" \"Oslo\", \"days\": 3}}", "its JSON cannot be read from"),
    ("[get_forecast]\ncity = \"Oslo\"", "`[` before its name is no part of a call"),
    ("＜get_forecast＞\n＜city＞Oslo＜/city＞\n＜/get_forecast＞", "`＜` before its name is no part of a call"),
];

#[test]
fn forms_that_no_dialect_has_are_near_calls() {
    let parser = Parser::new(Config::default().with_catalog(Arc::new(catalog())));
    for (text, reason) in OTHER_FORMS {
        let message = parser.parse(text);
        let told: Vec<&str> = message.rejected().map(|rejected| rejected.message.as_str()).collect();
        assert!(message.calls().next().is_none(), "{text}");
        assert!(matches!(told.as_slice(), [told] if told.contains(reason)), "{text}: {told:?}");
    }
}
