//! The program's own statements about calls are in a frame of their own: they cannot be mistaken
//! for a result or a file, which small models would copy.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgraft::conversation::Answered;
use toolgraft::dialect::{Lang, PromptStyle};
use toolgraft::event::{Provenance, QuotedIn, Rejected, RejectedKind};
use toolgraft::outcome::{STATUS, Status};
use toolgraft::prompt::{Options, Prompt};
use toolgraft::tools::Server;
use toolgraft::validate::Validator;
use toolgraft::{Call, Catalog, Dialect, Outcome, Tool};
use toolgraft_testkit::english::first_words;

use crate::told::{Earlier, Item, Round, call};

/// Placeholder for a statement about a call.
const SAID: &str = "SAID-OF-THE-CALL";

/// Returns the text outside of the program's frames.
fn outside(text: &str) -> String {
    let tag = format!("<{STATUS}");
    let mut parts = text.split(&tag);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |outside, part| {
        let (_, after) = part.split_once(&format!("</{STATUS}")).unwrap_or_else(|| panic!("it does not end: {text}"));
        outside + after.split_once('>').unwrap().1
    })
}

/// Words that only occur in the program's statements about calls.
const WORDS: [&str; 18] = [
    SAID, "run", "failed", "stopped", "timed out", "denied", "cancelled", "last message", "Shown", "left out",
    "没有执行", "失败", "中止", "超时", "拒绝", "上一条消息", "展示", "省略",
];

#[track_caller]
fn is_framed(text: &str) {
    let outside = outside(text);
    let found = WORDS.iter().find(|word| outside.contains(**word));
    assert!(found.is_none(), "{found:?} stands outside the frame:\n{text}");
    assert!(text.contains(SAID), "{text}");
}

fn rejected_calls() -> Vec<Rejected> {
    let kinds = [
        "in_reasoning", "invented", "quoted", "after_damage", "limit", "truncated", "malformed", "unknown_tool",
        "invalid_arguments", "near_call",
    ];
    let kinds = kinds.map(|kind| kind.parse::<RejectedKind>().unwrap());
    let raw = "<echo>{\"text\": 1}</echo>";
    let mut all: Vec<Rejected> = kinds.map(|kind| Rejected::new(kind, Dialect::UseMcpTool, raw, SAID)).into();
    for rejected in &mut all {
        rejected.tool = Some("echo".to_owned());
        rejected.quoted_in = (rejected.kind == RejectedKind::Quoted).then_some(QuotedIn::Fence);
    }
    for provenance in ["in_a_line", "echoed", "instead_of_read"] {
        let mut call = Call::new(Dialect::UseMcpTool, "echo", json!({}));
        call.provenance = provenance.parse::<Provenance>().unwrap();
        all.push(Rejected::new(RejectedKind::Quoted, Dialect::UseMcpTool, raw, SAID).with_call(call));
    }
    all
}

#[test]
fn what_became_of_calls_is_said_in_the_programs_frame() {
    let echo = Tool::new("echo").with_schema(json!({"properties": {"text": {"type": "string"}}}));
    let catalog = Catalog::new([Server::new("demo").with_tools([echo])]);
    let statuses = [Status::Denied, Status::TimedOut, Status::Cancelled];
    let outcomes = statuses.map(|status| Outcome::new(status, SAID));
    let (failed, shown) = (Outcome::error(SAID), Outcome::new(Status::Displayed, ""));
    let rejected = rejected_calls();
    let call = call(Some("demo"), "echo", &Map::new());
    let answered = |outcome| Item::Answered(Answered::new("call_1", &call, outcome));
    let said: Vec<Item<'_>> = outcomes.iter().map(answered).chain(rejected.iter().map(Item::Rejected)).collect();
    let earlier = [Earlier::new(call.clone(), Status::Denied)];
    for (lang, style) in Lang::ALL.iter().flat_map(|lang| [(*lang, PromptStyle::Full), (*lang, PromptStyle::Compact)]) {
        let prompt = Prompt::new(Options::default().with_lang(lang).with_style(style)).unwrap();
        for items in said.iter().map(std::slice::from_ref).chain([&said[..]]) {
            let round = Round::new(items);
            for round in [round.with_earlier(&[]), round.with_earlier(&earlier), round.followed()] {
                is_framed(&prompt.results(&catalog, &round).unwrap());
            }
        }
        for item in &said {
            is_framed(&prompt.native_results(&catalog, &Round::new(&[*item])).unwrap());
        }
        // A tool's own message about its failure is not framed.
        let item = answered(&failed);
        for text in [
            prompt.results(&catalog, &Round::new(&[item])).unwrap(),
            prompt.native_results(&catalog, &Round::new(&[item])).unwrap(),
        ] {
            assert!(outside(&text).contains(SAID), "{text}");
        }
        for item in [Item::UnmetChoice, answered(&shown)] {
            let text = prompt.results(&catalog, &Round::new(&[item])).unwrap();
            let outside = outside(&text);
            assert!(text.contains(STATUS) && !WORDS.iter().any(|word| outside.contains(word)), "{text}");
        }
    }
}

/// Returns the messages of all rejected calls in the fixtures.
fn of_fixtures() -> BTreeSet<String> {
    fn add(value: &Value, messages: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| add(item, messages)),
            Value::Object(members) => {
                if let (Some(_), Some(message)) = (members.get("kind"), members.get("message").and_then(Value::as_str))
                {
                    messages.insert(message.to_owned());
                }
                members.values().for_each(|member| add(member, messages));
            }
            _ => {}
        }
    }
    let mut messages = BTreeSet::new();
    let path = format!("{}/fixtures/conformance.jsonl", env!("CARGO_MANIFEST_DIR"));
    for line in std::fs::read_to_string(path).unwrap().lines() {
        add(&serde_json::from_str(line).unwrap(), &mut messages);
    }
    messages
}

/// Returns the validator's messages about arguments that a schema refuses, one of each kind.
fn of_schemas() -> BTreeSet<String> {
    let number = json!({"type": "number"});
    let circle = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}});
    let of_x = |x: Value| json!({"type": "object", "properties": {"x": x}, "required": ["x"]});
    let cases = [
        (json!({"type": "object"}), json!(5)),
        (of_x(number.clone()), json!({})),
        (of_x(number.clone()), json!({"X1": 1})),
        (of_x(json!({"type": ["integer", "null"]})), json!({"x": "soon; or: later"})),
        (of_x(json!({"type": "integer"})), json!({"x": {"a": 1, "b": []}})),
        (of_x(json!({"type": "integer"})), json!({"x": [true, false]})),
        (of_x(json!({"enum": ["a", "b"]})), json!({"x": true})),
        (of_x(json!({"const": 7})), json!({"x": {}})),
        (of_x(json!({"enum": []})), json!({"x": 1})),
        (of_x(json!(false)), json!({"x": 1})),
        (of_x(json!({"minimum": 5})), json!({"x": 1})),
        (of_x(json!({"maximum": 0})), json!({"x": 1})),
        (of_x(json!({"exclusiveMinimum": 5})), json!({"x": 1})),
        (of_x(json!({"exclusiveMaximum": 0})), json!({"x": 1})),
        (of_x(json!({"multipleOf": 2})), json!({"x": 3})),
        (of_x(json!({"minLength": 3})), json!({"x": "a"})),
        (of_x(json!({"maxLength": 1})), json!({"x": "abc"})),
        (of_x(json!({"pattern": "^[A-Z]+$"})), json!({"x": "abc"})),
        (of_x(json!({"minItems": 3})), json!({"x": [1]})),
        (of_x(json!({"maxItems": 1})), json!({"x": [1, 2]})),
        (of_x(json!({"uniqueItems": true})), json!({"x": [1, 1]})),
        (of_x(json!({"contains": {"type": "string"}})), json!({"x": [1]})),
        (of_x(json!({"minProperties": 3})), json!({"x": {"a": 1}})),
        (of_x(json!({"maxProperties": 0})), json!({"x": {"a": 1}})),
        (of_x(json!({"not": {"type": "integer"}})), json!({"x": 1})),
        (of_x(json!({"oneOf": [number, {"type": "integer"}]})), json!({"x": 1})),
        (of_x(json!({"anyOf": [number, {"type": "null"}]})), json!({"x": "a b c"})),
        (
            of_x(json!({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]})),
            json!({"x": {}}),
        ),
        (of_x(json!({"propertyNames": {"maxLength": 1}})), json!({"x": {"abc": 1}})),
        (json!({"type": "object", "additionalProperties": false}), json!({"a": 1, "b": 2})),
        (
            json!({"type": "object", "properties": {"city": number}, "additionalProperties": false}),
            json!({"citi": 1, "other": 2, "city": "here and there"}),
        ),
        (of_x(json!({"type": "integer"})), json!({"x": "12345678901234567890123"})),
        (circle, json!({"x": 1})),
    ];
    let refused = cases.into_iter().filter_map(|(schema, arguments)| {
        let catalog = Arc::new(Catalog::from_tools([Tool::new("t").with_schema(schema)]));
        let call = Call::new(Dialect::UseMcpTool, "t", arguments);
        Some(Validator::new(catalog).check(call, "").err()?.message)
    });
    refused.collect()
}

/// Messages of the turn, the agent and the catalog about calls.
const OTHERS: [&str; 16] = [
    "the call is inside a tag of an unknown name, so it may be an example; put a call that is meant alone, at the \
     start of a line",
    "a value of the call is text without quotation marks; write the call again with its arguments as a JSON object",
    "other text is before the call on its line, so it may be an example; put a call that is meant alone, at the \
     start of a line",
    "the call is in a code fence after other text, so it may be an example; put a call that is meant alone, at the \
     start of a line",
    "the call is in a code fence with other text after it, so it may be an example; put a call that is meant alone, \
     at the start of a line",
    "other text follows the call, so it may be an example; put a call that is meant alone, at the start of a line",
    "the call, or a text in it, is a copy from an earlier result, a file, the description of another server or a \
     message of the system; make a call of your own, or answer",
    "the call may change what your rejected call only wanted to read; write the call that reads again, corrected, or answer",
    "the output limit was hit before the call was complete: the output ended inside the call",
    "a message may hold at most 64 calls",
    "a call may have 10 bytes; its arguments alone have 12",
    "its arguments end too early",
    "no answer within 30 seconds",
    "not run",
    "no tool \"serch\"; nearest: search",
    "the call is an example of the prompt, and nobody asked for it",
];

/// The library's messages about a call that failed or that its toolbox could not run.
const FAILED: [&str; 9] = [
    "the tool \"echo\" failed inside: 坏了",
    "the tool \"echo\" is no longer there",
    "there is no tool \"echo\"",
    "no server \"x\" with resources",
    "a resource needs its server: name it",
    "the arguments of echo do not fit the program's type at `stops[1]`: 坏了",
    "the arguments of echo do not fit the program's type: 坏了",
    "the result cannot be written as JSON: 坏了",
    "no answer within 30 seconds",
];

const STATUSES: [Status; 6] =
    [Status::Result, Status::ToolError, Status::Denied, Status::TimedOut, Status::Cancelled, Status::Displayed];

fn answered<'a>(outcome: &'a Outcome, call: &'a Call) -> Item<'a> {
    Item::Answered(Answered::new("call_1", call, outcome))
}

/// Returns the texts for a model about an item, as text and natively, that contain English words.
fn english(prompt: &Prompt, catalog: &Catalog, item: Item<'_>) -> Vec<String> {
    let earlier = STATUSES.map(|status| Earlier::new(call(None, "echo", &Map::new()), status));
    let round = Round::new(&[item]);
    let told = [
        prompt.results(catalog, &round).unwrap(),
        prompt.results(catalog, &round.with_earlier(&earlier)).unwrap(),
        prompt.native_results(catalog, &round).unwrap(),
    ];
    told.iter().filter_map(|told| Some(format!("{:?} in {told}", first_words(told)?))).collect()
}

#[test]
fn in_a_chinese_prompt_no_english_sentence_is_said_of_a_call() {
    let catalog = Catalog::from_tools([Tool::new("echo")]);
    let messages: BTreeSet<String> =
        of_fixtures().into_iter().chain(of_schemas()).chain(OTHERS.map(str::to_owned)).collect();
    assert!(messages.len() > 120, "{}", messages.len());
    let echo = call(None, "echo", &Map::new());
    let mut wrong = Vec::new();
    for style in [PromptStyle::Full, PromptStyle::Compact] {
        let prompt = Prompt::new(Options::default().with_lang(Lang::Zh).with_style(style)).unwrap();
        for message in &messages {
            let mut rejected = Rejected::new(RejectedKind::InvalidArguments, Dialect::UseMcpTool, "", message.as_str());
            rejected.tool = Some("echo".to_owned());
            let outcome = Outcome::new(Status::TimedOut, message.as_str());
            for item in [Item::Rejected(&rejected), answered(&outcome, &echo)] {
                wrong.extend(english(&prompt, &catalog, item));
            }
        }
        for rejected in rejected_calls() {
            wrong.extend(english(&prompt, &catalog, Item::Rejected(&rejected)));
        }
        for (status, message) in STATUSES.iter().flat_map(|status| FAILED.map(|message| (*status, message))) {
            // A tool's own text is in a result, and after a failure.
            let is_the_tools = status == Status::Result || status == Status::ToolError && message.contains("seconds");
            let outcome = Outcome::new(status, if is_the_tools { "好" } else { message });
            wrong.extend(english(&prompt, &catalog, answered(&outcome, &echo)));
        }
        wrong.extend(english(&prompt, &catalog, Item::UnmetChoice));
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n---\n"));
}
