//! The parser's laws for generated streams: random pieces of syntax, well-formed calls in prose,
//! their truncations, and long inputs that provoke slow parsing.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgraft::dialect::{DialectSet, write_call};
use toolgraft::message::{FencedCalls, FinishReason, ReasoningCalls, ReasoningMode};
use toolgraft::parse::{Config, Limits};
use toolgraft::{Catalog, Dialect, Tool};
use toolgraft_testkit::laws::{self, Input};

/// Number of cases, a sample: the fuzz targets do the long runs.
const CASES: u32 = 400;

/// Size of the inputs that provoke slow parsing, in bytes; `make instructions HOW=repetitions` has
/// larger ones.
const SLOW: usize = 1 << 16;

/// Pieces that are syntax, and some that are not.
const SOUP: &[&str] = &[
    "<use_mcp_tool>",
    "</use_mcp_tool>",
    "<server_name>",
    "s</server_name>",
    "<tool_name>",
    "f</tool_name>",
    "<arguments>",
    "</arguments>",
    "<access_mcp_resource>",
    "</access_mcp_resource>",
    "<uri>",
    "a b</uri>",
    "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>",
    "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>{\"a\": 1}</arguments></use_mcp_tool>",
    "<write_file>",
    "</write_file>",
    "<path>",
    "</path>",
    "<text>",
    "</text>",
    "<days>",
    "</days>",
    "<write_file><path>a</path><text>b</text></write_file>",
    "<f>",
    "</f>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "\nTYPE: MCP\n",
    "\n**TYPE：MCP**\n",
    "\ntype: answer\n",
    "<tool_call>",
    "</tool_call>\n",
    "<function=f>",
    "<function=write_file>",
    "</function>",
    "<parameter=a>",
    "<parameter=text>",
    "</parameter>",
    "<function=write_file><parameter=path>a</parameter><parameter=text>",
    "<function=f>{\"a\": 1}</function>",
    "<function_calls>\n",
    "</function_calls>",
    "<invoke name=\"f\">",
    "<parameter name='days'>",
    "</invoke>",
    "<｜DSML｜invoke name=\"f\">",
    "<｜｜DSML｜｜invoke name=\"f\">",
    "<invoke name=\"f\"/>",
    "<tool_call name=\"f\">{\"a\": ",
    "<tools>",
    "<function>f</function>",
    "<f>{\"a\": ",
    "[TOOL_CALL]{tool => \"f\", args => {--a \"",
    "\"}}[/TOOL_CALL]",
    "\nAction: read\nAction Input: x\n",
    "[TOOL_CALLS]f[ARGS]{\"a\": \"",
    "[TOOL_CALLS]f{}",
    "\nAction: f\n",
    "Action Input: ",
    "\nAction: write_file\nAction Input: {\"path\": \"",
    "\nObservation: ",
    "[ARGS]",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool_call_begin|>",
    "function",
    "<｜tool▁sep｜>",
    "f",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": \"",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>",
    "</arg_value>",
    "<|tool_call>call:f{a:<|\"|>",
    "<|tool_call>call:write_file{path: ",
    "<|\"|>",
    "<tool_call|>",
    "<|channel>thought",
    "<channel|>",
    "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"",
    "TYPE",
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>[",
    "]</tool_calls>",
    "[TOOL_CALLS]",
    "[/TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "[END_TOOL_REQUEST]",
    "<|python_tag|>",
    "<|im_end|>",
    "<|im_start|>assistant\n",
    "<|start_header_id|>user",
    "<|end_header_id|>",
    "<s>",
    "</s>",
    "};{",
    "{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
    "{\"arguments\": {\"a\": 1}, \"name\": \"f\"",
    "{\"tool_name\": \"f\", \"parameters\": {\"a\": [1]}}",
    "{\"tool_name\": \"f\", \"parameters\": ",
    "{\"parameters\": {\"a\": \"",
    "{\"a\": ",
    "{",
    "}",
    "[",
    "]",
    "\nf(a=1)\n",
    "\nwrite_file(path='a', text=\"",
    "[f(a=[1, {'k': None}]), ",
    "s.f(",
    "f(\"x\")",
    "['f(a=1)', ",
    "天气(城市='",
    "```json\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n```\n",
    "{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
    "{\"arguments\": {}, \"name\": \"",
    "{\"tool_calls\": [",
    "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}",
    ";",
    "\"\"\"",
    "=",
    ")",
    "(",
    ")]",
    ",",
    ":",
    "\"",
    "\\",
    "\"k\"",
    "1.5e3",
    "true",
    "<think>",
    "<thought>",
    "</thought>",
    "[THINK]",
    "[/THINK]",
    "</think>",
    "<thinking>",
    "</thinking>",
    "\n```json\n",
    "\n```\n",
    "\n~~~\n",
    "\n'''\n",
    "```",
    "`",
    "'",
    "“",
    "&quot;",
    "&lt;",
    "<",
    "</",
    ">",
    "\n",
    "\r\n",
    " ",
    "                                                                                ",
    "\t",
    "word",
    "天气",
    "é",
    "🙂",
    "\u{0}",
];

fn tools() -> Arc<Catalog> {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let catalog = Catalog::from_tools([
        Tool::new("f").with_server("s").with_schema(object(json!({"a": {}}))),
        Tool::new("write_file").with_schema(object(
            json!({"path": {"type": "string"}, "text": {"type": "string"}, "days": {"type": "integer"}}),
        )),
        Tool::new("天气").with_schema(object(json!({"城市": {"type": "string"}}))),
    ]);
    Arc::new(catalog)
}

fn config() -> impl Strategy<Value = Config> {
    let dialects = prop_oneof![
        4 => Just(DialectSet::AUTO),
        1 => Just(DialectSet::from(Dialect::UseMcpTool)),
        1 => Just(DialectSet::from(Dialect::ToolTag)),
        1 => Just(DialectSet::from(Dialect::TypeMarker)),
        1 => Just(DialectSet::from(Dialect::FunctionTag).with(Dialect::DeepSeek)),
        1 => Just(DialectSet::from(Dialect::Python)),
        1 => Just(DialectSet::from(Dialect::Json)),
    ];
    let reasoning = prop_oneof![
        3 => Just(ReasoningMode::Auto),
        1 => Just(ReasoningMode::Open),
        1 => Just(ReasoningMode::Off),
    ];
    let policy =
        prop_oneof![Just(ReasoningCalls::Ignore), Just(ReasoningCalls::LastResort), Just(ReasoningCalls::Allow),];
    let limits = prop_oneof![
        3 => Just(Limits::default()),
        1 => (0_usize..300, 1_usize..4, 0_usize..4)
            .prop_map(|(call_bytes, depth, calls)| Limits::default().with_call_bytes(call_bytes).with_depth(depth).with_calls(calls)),
    ];
    let fenced = prop_oneof![Just(FencedCalls::Ignore), Just(FencedCalls::LastResort)];
    let stop = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(prop::sample::select(STOPS).prop_map(str::to_owned), 1..3)];
    (dialects, any::<bool>(), reasoning, policy, any::<bool>(), limits, fenced, stop).prop_map(
        |(dialects, known, reasoning, reasoning_calls, marks, limits, fenced_calls, stop)| {
            let marks = if marks { vec!["<thought>".to_owned(), "[THINK]".to_owned()] } else { Vec::new() };
            Config::default()
                .with_dialects(dialects)
                .with_catalog(known.then(tools))
                .with_reasoning(reasoning)
                .with_reasoning_calls(reasoning_calls)
                .with_reasoning_marks(marks)
                .with_fenced_calls(fenced_calls)
                .with_stop(stop)
                .with_limits(limits)
        },
    )
}

/// Stop sequences that may cut off a call's closing tag.
const STOPS: &[&str] = &["</use_mcp_tool>", "</tool_call>", "</function>", "</", "</f>", "</g>"];

fn soup(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SOUP), 0..most).prop_map(|pieces| pieces.concat())
}

fn cuts() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let once = prop::collection::btree_set(0_usize..600, 0..12).prop_map(|set| set.into_iter().collect());
    prop::collection::vec(once, 3)
}

fn reason() -> impl Strategy<Value = FinishReason> {
    prop_oneof![Just(FinishReason::Stop), Just(FinishReason::Length)]
}

/// An expected call, its text, and the number of bytes after which it is complete.
#[derive(Debug, Clone)]
struct Written {
    tool: String,
    arguments: Value,
    text: String,
    complete_at: usize,
}

/// Values that are difficult for a careless scanner.
fn text_value() -> impl Strategy<Value = String> {
    let pieces = [
        "a", " ", "天", "\n", "\\", "\"", "{", "}", "]", ",", "<", "</b>", "</think>", "<think>", "`", "\n```\n",
        "'''", "&amp;", "TYPE: MCP\n", "</arguments>", "</use_mcp_tool>", "\t", "🙂",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..8).prop_map(|p| p.concat())
}

fn json_call() -> impl Strategy<Value = (String, Value)> {
    let value = prop_oneof![
        3 => text_value().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => prop::collection::vec(text_value(), 0..3).prop_map(Value::from),
        1 => Just(json!({"x": {"y": [null, 1.5]}})),
    ];
    let object = prop::collection::vec(("[a-z]{1,4}", value), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    (prop::sample::select(vec!["f", "天气", "write_file"]), object).prop_map(|(tool, object)| (tool.to_owned(), object))
}

fn written() -> impl Strategy<Value = Written> {
    let element = json_call().prop_map(|(tool, arguments)| {
        let head = format!(
            "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>{tool}</tool_name>\n<arguments>{arguments}"
        );
        let complete_at = head.len();
        Written { text: format!("{head}</arguments>\n</use_mcp_tool>"), tool, arguments, complete_at }
    });
    let marked = json_call().prop_map(|(tool, arguments)| {
        let text = format!("TYPE: MCP\n{}", json!({"tool_name": tool, "parameters": arguments}));
        Written { complete_at: text.len(), text, tool, arguments }
    });
    // A closing tag of the tool itself would end the value; the fixtures cover that.
    let tag = (text_value(), text_value()).prop_map(|(path, body)| {
        let text = format!("<write_file>\n<path>\n{path}\n</path>\n<text>\n{body}\n</text>\n</write_file>");
        let arguments = json!({"path": path, "text": body});
        Written { complete_at: text.len(), text, tool: "write_file".to_owned(), arguments }
    });
    let function = json_call().prop_map(|(tool, arguments)| {
        let head = format!("<function={tool}>{arguments}");
        Written { complete_at: head.len(), text: format!("{head}</function>"), tool, arguments }
    });
    let deepseek = json_call().prop_map(|(tool, arguments)| {
        let head = format!("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{tool}\n```json\n{arguments}");
        Written { complete_at: head.len(), text: format!("{head}\n```<｜tool▁call▁end｜>"), tool, arguments }
    });
    let parameters = (text_value(), text_value()).prop_map(|(path, body)| {
        let text = format!(
            "<function=write_file>\n<parameter=path>\n{path}\n</parameter>\n<parameter=text>\n{body}\n</parameter>\n</function>"
        );
        let arguments = json!({"path": path, "text": body});
        Written { complete_at: text.len(), text, tool: "write_file".to_owned(), arguments }
    });
    let python = json_call().prop_map(|(tool, arguments)| {
        let text = write_call(Dialect::Python, None, &tool, arguments.as_object().expect("an object"));
        Written { complete_at: text.len(), text, tool, arguments }
    });
    prop_oneof![element, marked, tag, function, deepseek, parameters, python]
}

/// Prose without markers; some of it looks like the beginning of one.
fn prose() -> impl Strategy<Value = String> {
    let words = [
        "Well, ", "好的。", "a < b ", "\n", "<b>bold</b> ", "Type of ", "so </b> ", "{x} ", "(1) ", "<use_it> ", "** ",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..6).prop_map(|p| p.concat())
}

/// Calls in prose, with the offset at which each is complete, and the prose.
fn message() -> impl Strategy<Value = (String, Vec<(usize, Written)>, String)> {
    (prop::collection::vec((prose(), written()), 1..4), prose()).prop_map(|(parts, last)| {
        let (mut text, mut content, mut calls) = (String::new(), String::new(), Vec::new());
        for (prose, call) in parts {
            for joined in [&mut text, &mut content] {
                joined.push_str(&prose);
                joined.push_str(".\n");
            }
            let complete_at = text.len() + call.complete_at;
            text.push_str(&call.text);
            // Another bracket immediately after a marked object would be another object.
            text.push_str(" then ");
            content.push_str(" then ");
            calls.push((complete_at, call));
        }
        for joined in [&mut text, &mut content] {
            joined.push_str("\nEnd ");
            joined.push_str(&last);
        }
        (text, calls, content)
    })
}

fn known(reasoning: ReasoningMode) -> Config {
    // In any prose, the calls name tools of known servers.
    let tools = ["f", "天气"].map(|name| Tool::new(name).with_server("s"));
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}});
    let write = Tool::new("write_file").with_server("s").with_schema(schema);
    let catalog = Catalog::from_tools(tools.into_iter().chain([write]));
    Config::default().with_catalog(Arc::new(catalog)).with_reasoning(reasoning)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_law_holds_over_marker_soup(
        text in soup(40), field in soup(6), config in config(), cuts in cuts(), reason in reason(),
        with_field in prop::bool::weighted(0.2),
    ) {
        let reasoning_field = if with_field { field } else { String::new() };
        let input = Input { reasoning_field, text, reason, config };
        laws::check(&input, &cuts).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn an_open_stream_without_a_think_tag_is_the_answer_that_it_is_in_auto(text in soup(40), config in config()) {
        let text = text.replace("think", "thunk").replace("THINK", "THUNK").replace("thought", "though");
        let text = text.replace("<|channel>", "<|chanel>");
        let input = Input { text, config, ..Input::default() };
        laws::is_answer_in_open(&input).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn well_formed_calls_in_prose_are_all_found_and_nothing_else(
        (text, calls, content) in message(), cuts in cuts(),
    ) {
        let input = Input { text, config: known(ReasoningMode::Off), ..Input::default() };
        let found = laws::check(&input, &cuts).map_err(TestCaseError::fail)?;
        let wanted: Vec<_> = calls.iter().map(|(_, c)| (&c.tool, &c.arguments)).collect();
        let got: Vec<_> = found.calls().map(|c| (&c.tool, &c.arguments)).collect();
        prop_assert_eq!(got, wanted);
        prop_assert_eq!(found.rejected().count(), 0);
        prop_assert_eq!(found.calls().flat_map(|c| &c.repairs).count(), 0);
        prop_assert_eq!(found.content, content);
    }

    #[test]
    fn a_truncated_call_is_never_a_call(
        (text, calls, _) in message(), at in any::<prop::sample::Index>(), reason in reason(), cuts in cuts(),
    ) {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let end = ends[at.index(ends.len())];
        let input = Input { text: text[..end].to_owned(), reason, config: known(ReasoningMode::Off), ..Input::default() };
        let found = laws::check(&input, &cuts).map_err(TestCaseError::fail)?;
        let wanted: Vec<_> = calls.iter().filter(|(at, _)| *at <= end).map(|(_, c)| (&c.tool, &c.arguments)).collect();
        let got: Vec<_> = found.calls().map(|c| (&c.tool, &c.arguments)).collect();
        prop_assert_eq!(got, wanted);
    }

    #[test]
    fn calls_in_the_reasoning_are_drafts_and_the_same_calls_after_it_are_calls((text, calls, content) in message()) {
        // In a tool_tag value the closing tag would end the reasoning.
        prop_assume!(!text.contains("think>"));
        let input = Input { text: format!("<think>{text}</think>{text}"), config: known(ReasoningMode::Auto), ..Input::default() };
        let found = laws::check(&input, &[]).map_err(TestCaseError::fail)?;
        prop_assert_eq!(found.calls().count(), calls.len());
        prop_assert_eq!(found.rejected().count(), calls.len());
        prop_assert_eq!(found.content, content);
        prop_assert_eq!(found.reasoning, text);
    }
}

/// A megabyte each (an eighth without optimisation), as a whole and in tiny pieces: anything that
/// is not linear would not finish.
#[test]
fn long_inputs_made_to_be_slow_are_parsed() {
    let head = "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>";
    let whole_arguments = &format!("{head}{{}}");
    let fenced = &format!("{head}```\n{{}}");
    let value = "<write_file><path>p</path><text>";
    let shapes: &[(&str, &str)] = &[
        ("", "<"),
        ("", "<use_mcp_tool>"),
        ("", "<write_file"),
        ("", "<use_mcp_tool><server_name>"),
        ("", "<write_file><path>"),
        ("", "`"),
        ("", "```\n"),
        ("", "```\n<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name></use_mcp_tool>\n```\n"),
        ("", "TYPE: MCP\n"),
        ("", "**"),
        ("", "TYPE: MCP\n{"),
        ("TYPE: MCP\n", "{\"tool_name\": "),
        ("TYPE: MCP\n", "["),
        ("TYPE: MCP\n[", "{\"tool_name\": \"f\"},"),
        ("", " "),
        ("", "\n"),
        ("", "<use_mcp_tool> "),
        ("<think>", "</thin"),
        ("", "</think>"),
        ("", "<think>"),
        (value, "</text><!--"),
        (value, "</text><!-- -->"),
        (value, "</text> "),
        (value, "</text><path>"),
        (value, "<text>"),
        (value, "<write_file>"),
        ("<write_file><path>p</path><text>", " "),
        ("<write_file><!--", "--"),
        (head, "{"),
        (head, "{\"a\":"),
        (head, "\"\n"),
        (head, "{\"a\": \"\n</arguments>"),
        (head, "\\"),
        (head, " "),
        (head, "```\n"),
        (head, "<![CDATA["),
        (head, "&quot;"),
        (head, "[1,"),
        ("<use_mcp_tool>", "<server_name>"),
        ("<use_mcp_tool><server_name>", " "),
        (head, "`"),
        (head, "```a"),
        (whole_arguments, "`"),
        (whole_arguments, " "),
        (fenced, "`"),
        (fenced, "```a"),
        ("TYPE: MCP\n```\n{bad\n", "`"),
        ("TYPE: MCP\n```\n{bad\n```", " "),
        ("TYPE: MCP\n{bad\n", "*"),
        ("TYPE: MCP\n{bad\nTYPE", " "),
        ("", "```\nTYPE: MCP\n{\"tool_name\":\"f\"}\n```\n"),
        ("", "<use_mcp_tool></use_mcp_tool></think>"),
        ("", "Action: f\n"),
        ("", "Action: f\nAction Input: {}\n"),
        ("Action: f\nAction Input: ", "{\"a\":"),
        ("Action: f\nAction Input: {\"a\": \"\n", "Action"),
        ("", "<tool_call>"),
        ("", "<tool_call>\n<function=f></function>\n</tool_call>\n"),
        ("", "<function=f>"),
        ("", "<function="),
        ("<function=", "f"),
        ("<function=f>{\"a\": \"", "</function>"),
        ("<function=f>{\"a\": \"\n", "</function"),
        ("<function=f>{}", " "),
        ("<function=f><parameter=a>", "<parameter="),
        ("<function=f><parameter=a>", "</parameter>"),
        ("<function=f><parameter=a>", "</parameter><parameter=a>"),
        ("<function=f><parameter=a>", "</parameter><parameter=b"),
        ("<function=f>", "<parameter=a>1</parameter>"),
        ("", "<invoke name=\""),
        ("<invoke name=\"f\"><parameter name=\"a\">", "<invoke name='f' "),
        ("", "<｜tool▁calls▁begin｜>"),
        ("", "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}"),
        ("<｜tool▁call▁begin｜>f<｜tool▁sep｜>", "<｜tool▁"),
        ("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"", "<｜tool▁call▁end｜>"),
        ("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{bad\n", "<"),
        ("", "{\"name\": \"f\", \"arguments\": {}}"),
        ("", "{\"name\": \"f\", \"arguments\": {}};"),
        ("{\"name\": \"f\", \"arguments\": {}}", " "),
        ("{\"name\": \"f\", \"arguments\": {\"a\": \"", "\\\""),
        ("{\"name\": \"f\", \"arguments\": {'a': \"", "{"),
        ("```\n{\"name\": \"f\", \"arguments\": {}}\n", "``"),
        ("", "```\n{\"name\": \"f\", \"arguments\": {}}\n```\n"),
        ("[", "{\"name\": \"f\", \"arguments\": {}},"),
        ("", "f("),
        ("", "f(\n"),
        ("", "[f("),
        ("[", "f(),"),
        ("[f(", "["),
        ("[f(a=", "'"),
        ("[f(a='", "\\"),
        ("[f(a='", "[f(a='"),
        ("f(a=\"\"\"", "\"\""),
        ("f(a=", "1"),
        ("f(", "a"),
        ("f(a=1,", " "),
        ("f(a=1)", " "),
        ("", "[f(), a"),
        ("[\"f(", "\\\""),
        ("[f(a='x'", "'x'"),
    ];
    let config = Config::default().with_catalog(tools());
    let mut broken = Vec::new();
    for (head, piece) in shapes {
        let text = format!("{head}{}", piece.repeat(SLOW / piece.len()));
        let cuts: Vec<usize> = (0..text.len()).step_by(7).collect();
        let input = Input { text, config: config.clone(), ..Input::default() };
        for cuts in [&cuts[..], &[]] {
            if let Err(law) = laws::run(&mut laws::parser(&config), &input, cuts) {
                broken.push(format!("{head:?} then {piece:?}: {law}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
