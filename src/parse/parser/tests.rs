//! The parser seen from outside, in small. The fixtures hold the rest.

mod stream;

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::event::{Provenance, RejectedKind};
use crate::message::{ReasoningCalls, ReasoningMode};
use crate::parse::{Limits, parse};
use crate::tools::{Catalog, Tool};

fn catalog() -> Arc<Catalog> {
    Arc::new(Catalog::from_tools([
        Tool::new("get_weather").with_server("weather").with_schema(json!({
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}
        })),
        Tool::new("write_to_file").with_server("files").with_schema(json!({
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}}
        })),
    ]))
}

fn known() -> Config {
    Config { catalog: Some(catalog()), ..Config::default() }
}

/// Returns the parsed text, after asserting that parsing it whole and at every two-way split agrees.
fn parsed(text: &str, config: Config) -> Assembled {
    let whole = parse(text, config.clone());
    let mut parser = Parser::new(config);
    let mut run = |pieces: &[&str]| {
        let mut collector = Collector::new();
        parser.reset();
        for piece in pieces {
            parser.push(piece, &mut |e| collector.push(e));
        }
        parser.finish(&FinishReason::Stop, &mut |e| collector.push(e));
        collector.finish()
    };
    for (i, _) in text.char_indices() {
        assert_eq!(run(&[&text[..i], &text[i..]]), whole, "split at {i} of {text:?}");
    }
    // Some chunks are plain text and some are not, at places that no split has.
    for size in [2, 3, 5, 16] {
        assert_eq!(run(&pieces(text, size)), whole, "{size} bytes at a time: {text:?}");
    }
    let chars: Vec<&str> = text.char_indices().map(|(i, c)| &text[i..i + c.len_utf8()]).collect();
    assert_eq!(run(&chars), whole, "by characters: {text:?}");
    whole
}

/// Splits the text into pieces of `size` bytes, each extended to the next character boundary.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn calls(message: &Assembled) -> Vec<(String, Value)> {
    message.calls().map(|c| (c.tool.clone(), c.arguments.clone())).collect()
}

fn kinds(message: &Assembled) -> Vec<RejectedKind> {
    message.rejected().map(|r| r.kind).collect()
}

fn repairs(message: &Assembled) -> Vec<String> {
    message.calls().flat_map(|c| &c.repairs).map(ToString::to_string).collect()
}

const MCP: &str = "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>t</tool_name>\n<arguments>\n{\"a\": [1, \"</arguments>\"]}\n</arguments>\n</use_mcp_tool>";

#[test]
fn an_element_call_is_found_between_text() {
    let message = parsed(&format!("Before <b> {MCP} after"), Config::default());
    assert_eq!(message.content, "Before <b>  after");
    assert_eq!(calls(&message), [("t".into(), json!({"a": [1, "</arguments>"]}))]);
    assert_eq!(message.entries[0].deltas, "{\"a\": [1, \"</arguments>\"]}");
    assert_eq!(message.entries[0].raw, MCP);
}

#[test]
fn missing_closing_tags_after_a_complete_call_are_a_repair() {
    for tail in ["", "</arguments>", "</arguments>\n", "</use_mcp_tool>"] {
        let text = format!("<use_mcp_tool><tool_name>t</tool_name><arguments>{{}}{tail}");
        assert_eq!(repairs(&parsed(&text, Config::default())), ["missing_close"], "{text}");
    }
    let message = parsed("<use_mcp_tool><tool_name>t</tool_name><arguments>{} and text", Config::default());
    assert_eq!((message.content.as_str(), message.calls().count()), (" and text", 1));
}

#[test]
fn a_cut_call_is_never_a_call() {
    for end in (1..MCP.len()).filter(|end| MCP.is_char_boundary(*end)) {
        let message = parsed(&MCP[..end], Config::default());
        let complete = end >= MCP.find("\n</arguments>\n</use").unwrap();
        assert_eq!(message.calls().count(), usize::from(complete), "{}", &MCP[..end]);
    }
}

#[test]
fn arguments_are_mended_and_the_repair_is_named() {
    let with = |arguments: &str| {
        format!("<use_mcp_tool><tool_name>t</tool_name><arguments>{arguments}</arguments></use_mcp_tool>.")
    };
    for (arguments, repair) in [
        ("```json\n{\"a\": \"x\"}\n```", "fence"),
        ("<![CDATA[{\"a\": \"x\"}]]>", "cdata"),
        ("{&quot;a&quot;: &quot;x&quot;}", "entities"),
        ("{\"a\": \"x\",}", "syntax"),
    ] {
        let message = parsed(&with(arguments), Config::default());
        assert_eq!(calls(&message), [("t".into(), json!({"a": "x"}))], "{arguments}");
        assert_eq!(repairs(&message), [repair], "{arguments}");
        assert_eq!(message.content, ".");
    }
    let message = parsed(&with("{\"a\": \"x\ny\"}"), Config::default());
    assert_eq!(message.calls().next().unwrap().arguments, json!({"a": "x\ny"}));
    assert_eq!(calls(&parsed(&with(""), Config::default())), [("t".into(), json!({}))]);
}

#[test]
fn a_string_that_never_ends_does_not_take_the_next_line() {
    let text =
        "<use_mcp_tool><tool_name>t</tool_name><arguments>{\"a\": \"x}</arguments></use_mcp_tool> so\nNext line.";
    let message = parsed(text, Config::default());
    assert_eq!(kinds(&message), [RejectedKind::Malformed]);
    assert_eq!(message.content, " so\nNext line.");
}

#[test]
fn a_tool_tag_value_keeps_its_tags_and_ends_with_its_tool() {
    let text = "<write_to_file>\n<path>a.md</path><!-- here -->\n<content>\n<content>x</content> </path>\n&amp;\n</content>\n</write_to_file>!";
    let message = parsed(text, known());
    let arguments = json!({"path": "a.md", "content": "<content>x</content> </path>\n&amp;"});
    assert_eq!(calls(&message), [("write_to_file".into(), arguments.clone())]);
    assert_eq!(message.content, "!");
    assert_eq!(serde_json::from_str::<Value>(&message.entries[0].deltas).unwrap(), arguments);
    assert_eq!(parsed(text, Config::default()).content, text);
}

#[test]
fn typed_and_wrapped_values_are_read() {
    let text = "<get_weather><days> 3 </days><city><![CDATA[<Oslo>]]></city></get_weather>";
    let message = parsed(text, known());
    assert_eq!(calls(&message), [("get_weather".into(), json!({"days": 3, "city": "<Oslo>"}))]);
    assert_eq!(repairs(&message), ["cdata"]);
}

#[test]
fn an_unbalanced_value_owns_the_rest() {
    let text = "<write_to_file><path>x</path><content>a</write_to_file> <get_weather><city>y</city></get_weather>";
    let message = parsed(text, known());
    assert_eq!(kinds(&message), [RejectedKind::Truncated]);
    assert_eq!((message.content.as_str(), message.calls().count()), ("", 0));
}

#[test]
fn marked_json_comes_bare_fenced_in_arrays_and_several() {
    let one = "{\"tool_name\": \"a\", \"parameters\": {\"x\": 1}}";
    let two = "{\"parameters\": {}, \"server_name\": \"s\", \"tool_name\": \"b\"}";
    for body in [
        format!("TYPE: MCP\n{one}\n{two}"),
        format!("**TYPE：MCP**\n\n[{one}, {two}]"),
        format!("type: mcp\n```json\n{one}\n{two}\n```\n"),
        format!("TYPE: MCP\n'''\n{one}\n{two}\n'''"),
        format!("TYPE: MCP {one}\nTYPE: MCP\n{two}"),
        format!("TYPE: MCP\n[\n{one},\n{two}\n"),
    ] {
        let message = parsed(&body, Config::default());
        assert_eq!(calls(&message), [("a".into(), json!({"x": 1})), ("b".into(), json!({}))], "{body}");
        assert_eq!(message.content.trim(), "", "{body}");
        assert_eq!(message.entries[0].deltas, "{\"x\": 1}");
    }
    let message = parsed("TYPE: ANSWER\nIt is 5.\nTYPE: of thing\nTYPE: MCP is a line", Config::default());
    assert_eq!(message.content, "It is 5.\nTYPE: of thing\nTYPE: MCP is a line");
}

#[test]
fn an_unclosed_object_does_not_take_the_next_block() {
    let text = "TYPE: MCP\n{\"tool_name\": \"a\", \"parameters\": {\"x\": 1}\n\nTYPE: MCP\n{\"tool_name\": \"b\"}\n";
    let message = parsed(text, Config::default());
    // The text after it may be its text: no bracket closed it.
    assert_eq!(kinds(&message), [RejectedKind::Malformed, RejectedKind::AfterDamage]);
    assert_eq!(calls(&message), []);
}

#[test]
fn reasoning_is_kept_apart_and_its_calls_are_drafts() {
    let text = format!("<think>I could\n'''\n{MCP}\n'''\nor not</think>\n\nHello");
    let message = parsed(&text, Config::default());
    assert_eq!(message.content, "\n\nHello");
    assert_eq!(message.reasoning, format!("I could\n'''\n{MCP}\n'''\nor not"));
    assert_eq!(kinds(&message), [RejectedKind::InReasoning]);
    let allow = Config { reasoning_calls: ReasoningCalls::Allow, ..Config::default() };
    assert_eq!(parsed(&format!("<think>a {MCP} b</think>c"), allow).calls().count(), 1);
}

#[test]
fn an_orphan_close_turns_everything_before_it_into_reasoning() {
    let message = parsed(&format!("hm TYPE: x {MCP} so</think>Yes"), Config::default());
    assert_eq!((message.reasoning.as_str(), message.content.as_str()), (&*format!("hm TYPE: x {MCP} so"), "Yes"));
    assert_eq!(kinds(&message), [RejectedKind::InReasoning]);
}

#[test]
fn the_last_draft_is_promoted_only_as_a_last_resort() {
    let config = Config { reasoning_calls: ReasoningCalls::LastResort, ..Config::default() };
    let promoted = |text: &str| {
        parsed(text, config.clone()).entries.iter().map(|e| e.provenance() == Provenance::Promoted).collect::<Vec<_>>()
    };
    assert_eq!(promoted(&format!("<think>{MCP} or {MCP}\n{MCP}</think>\n")), [false, true, true]);
    assert_eq!(promoted(&format!("<think>{MCP}</think>Done.")), [false]);
    assert_eq!(promoted(&format!("<think>{MCP}</think>{MCP}")), [false, false]);
}

#[test]
fn a_stream_that_never_left_the_reasoning_was_an_answer() {
    let config = Config { reasoning: ReasoningMode::Open, ..Config::default() };
    let message = parsed(&format!("Sure. {MCP}"), config.clone());
    assert!(message.answer_in_reasoning && message.entries[0].provenance() == Provenance::Promoted);
    assert_eq!((message.content.as_str(), message.reasoning.as_str()), ("Sure. ", ""));
    let message = parsed(&format!("hm {MCP}</think>So {MCP}"), config);
    assert_eq!(message.calls().count(), 1);
    assert_eq!(message.content, "So ");
}

#[test]
fn a_call_alone_in_its_fence_is_a_call_and_with_prose_after_it_an_example() {
    for fence in ["```xml", "~~~", "'''"] {
        let close = &fence[..3];
        let alone = format!("Now:\n{fence}\n{MCP}\n{close}\n");
        assert_eq!(parsed(&alone, Config::default()).calls().count(), 1, "{alone}");
        assert_eq!(parsed(&alone, Config::default()).content, "Now:\n");
        assert_eq!(parsed(&format!("{alone}\n{alone}"), Config::default()).calls().count(), 1);
        let twice = format!("{fence}\n{MCP}\n{close}\n\n{fence}\n{MCP}\n{MCP}\n{close}");
        assert_eq!(parsed(&twice, Config::default()).calls().count(), 3);
        let quoted = format!("{alone}That is how.");
        let message = parsed(&quoted, Config::default());
        assert_eq!((kinds(&message), message.content), (vec![RejectedKind::Quoted], quoted));
        let open = format!("{fence}\n{MCP}\n");
        assert_eq!(parsed(&open, Config::default()).calls().count(), 1);
    }
}

#[test]
fn quotes_gates_and_mentions_are_text() {
    for text in [
        "Use `<use_mcp_tool><tool_name>x</tool_name></use_mcp_tool>` for it.",
        "Write <use_mcp_tool> and then",
        "The \"</think>\" tag and `<think>` too",
        "```\n<think>\n```\n",
        "a < b && c > d\n<div>x</div>",
        "\"<use_mcp_tool><tool_name>x</tool_name></use_mcp_tool>",
    ] {
        let message = parsed(text, known());
        let quoted = kinds(&message).iter().all(|kind| *kind == RejectedKind::Quoted);
        assert_eq!((message.content.as_str(), message.calls().count(), quoted), (text, 0, true));
    }
}

#[test]
fn names_are_resolved_or_refused_with_the_nearest() {
    let call = |server: &str, tool: &str| {
        let text = format!("<use_mcp_tool>{server}<tool_name>{tool}</tool_name></use_mcp_tool>");
        parsed(&text, known()).entries.remove(0).result
    };
    let found = call("<server_name>wether</server_name>", "get_weather").unwrap();
    assert_eq!((found.server.as_deref(), found.repairs.len()), (Some("weather"), 1));
    assert_eq!(call("", "get_weather").unwrap().repairs.len(), 1);
    let refused = call("", "get_wether").unwrap_err();
    assert_eq!((refused.kind, refused.nearest), (RejectedKind::UnknownTool, vec!["get_weather".to_owned()]));
}

#[test]
fn a_separate_reasoning_field_comes_first() {
    let mut collector = Collector::new();
    let mut parser = Parser::new(Config { reasoning: ReasoningMode::Open, ..Config::default() });
    parser.push_reasoning(&format!("hm {MCP} <use"), &mut |e| collector.push(e));
    parser.push(&format!("Hi {MCP}"), &mut |e| collector.push(e));
    parser.finish(&FinishReason::Stop, &mut |e| collector.push(e));
    let message = collector.finish();
    assert_eq!((message.content.as_str(), message.reasoning.clone()), ("Hi ", format!("hm {MCP} <use")));
    assert_eq!((message.calls().count(), kinds(&message)), (1, vec![RejectedKind::InReasoning]));
}

#[test]
fn limits_hold_at_the_limit_and_one_past_it() {
    let with = |limits: Limits, text: &str| parsed(text, Config { limits, ..Config::default() });
    let bytes = |call_bytes| Limits { call_bytes, ..Limits::default() };
    assert_eq!(with(bytes(MCP.len()), MCP).calls().count(), 1);
    let message = with(bytes(MCP.len() - 1), &format!("{MCP} and {MCP}"));
    assert_eq!(kinds(&message), [RejectedKind::Limit; 2]);
    assert_eq!(message.content, " and ");
    assert_eq!(message.entries[0].raw.len(), MCP.len() - 1);
    let message = with(bytes(70), &format!("{MCP} and"));
    assert_eq!((kinds(&message), message.content.as_str()), (vec![RejectedKind::Limit], " and"));
    let depth = |depth| Limits { depth, ..Limits::default() };
    assert_eq!(with(depth(2), MCP).calls().count(), 1);
    assert_eq!(kinds(&with(depth(1), MCP)), [RejectedKind::Limit]);
    let nested = |depth: usize| format!("[write_to_file(content={}1{})]", "[".repeat(depth), "]".repeat(depth));
    let python = |text: &str| parsed(text, Config { limits: depth(usize::MAX), ..known() });
    assert_eq!(python(&nested(100)).calls().count(), 1);
    assert_eq!(python(&nested(200)).calls().count(), 0, "no limit is above that of JSON");
    let calls = |calls| Limits { calls, ..Limits::default() };
    assert_eq!(kinds(&with(calls(1), &format!("{MCP}{MCP}"))), [RejectedKind::Limit]);
}
