//! Grammars, the parser and our own writing of calls agree.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgraft::constrain::{Constraint, MAX_CALLS, Thinking};
use toolgraft::dialect::{DialectSet, write_tool_call};
use toolgraft::parse::{Config, parse};
use toolgraft::tools::{Resource, Server, ToolChoice};
use toolgraft::{Call, Catalog, Dialect, Tool};

use crate::gbnf::Grammar;
use crate::schemas::{object, real, tool};

/// The dialects that have a grammar: JSON calls between delimiters of their own, without a control
/// token.
const DIALECTS: [Dialect; 4] = [Dialect::UseMcpTool, Dialect::TypeMarker, Dialect::Hermes, Dialect::ToolRequest];

fn grammar(dialect: Dialect, catalog: &Catalog, thinking: Thinking, most: usize) -> Grammar {
    let calls = Constraint::calls(dialect, catalog, &ToolChoice::Required, thinking, most).unwrap();
    Grammar::read(&calls.grammar.unwrap())
}

/// Returns the calls of a text, and the reasons of rejections.
fn read(dialect: Dialect, catalog: &Arc<Catalog>, text: &str) -> (Vec<Call>, Vec<String>) {
    let mut config = Config::default();
    (config.dialects, config.catalog) = (DialectSet::from(dialect), Some(catalog.clone()));
    let parsed = parse(text, config);
    (parsed.calls().cloned().collect(), parsed.rejected().map(|rejected| rejected.message.clone()).collect())
}

fn catalog(tools: impl IntoIterator<Item = Tool>) -> Arc<Catalog> {
    Arc::new(Catalog::from_tools(tools.into_iter().map(|tool| tool.with_server("made up"))))
}

/// Checks that a text of the grammar is parsed completely as calls. A further member may be
/// repeated, which no grammar can exclude.
fn allowed_is_read(catalog: &Arc<Catalog>, mut choose: impl FnMut(usize) -> usize) {
    for dialect in DIALECTS {
        let grammar = grammar(dialect, catalog, Thinking::Marked, 3);
        let text = grammar.text(&mut choose);
        assert!(grammar.allows(&text), "{text}");
        let (calls, rejected) = read(dialect, catalog, &text);
        if rejected.iter().any(|message| message.contains("is given twice")) {
            continue;
        }
        assert!(!calls.is_empty() && rejected.is_empty(), "{dialect}: {rejected:?}\n{text}");
        let marks = match dialect {
            Dialect::UseMcpTool => "</use_mcp_tool>",
            Dialect::TypeMarker => "\"tool_name\":",
            _ => "\"arguments\":",
        };
        assert!(calls.len() <= text.matches(marks).count(), "{text}");
        let repaired = calls.iter().flat_map(|call| &call.repairs).filter(|r| !r.to_string().contains("server"));
        assert_eq!(repaired.count(), 0, "{calls:?}\n{text}");
    }
}

fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_a_grammar_allows_is_read_as_a_call(case in object(), seed in any::<u64>()) {
        allowed_is_read(&catalog([tool(&case), Tool::new("other")]), dice(seed));
    }

    #[test]
    fn every_call_in_the_canonical_spelling_is_allowed(case in object(), cut in 0..20_usize) {
        let tool = tool(&case);
        let catalog = catalog([tool.clone(), Tool::new("other")]);
        let tool = catalog.tools().next().unwrap();
        let arguments = case.value.as_object().unwrap();
        for dialect in DIALECTS {
            let grammar = grammar(dialect, &catalog, Thinking::Off, 2);
            let text = write_tool_call(dialect, &catalog, tool, arguments);
            prop_assert!(grammar.allows(&text), "{dialect}: {text}\n{}", tool.input_schema.as_ref().unwrap());
            // Without its end, or with more text, it is no call.
            let short: String = text.chars().take(text.chars().count() - 1 - cut).collect();
            prop_assert!(!grammar.allows(&short), "{short}");
            let longer = text + " ";
            prop_assert!(!grammar.allows(&longer));
        }
        // The schema for other endpoints accepts the same arguments.
        let calls = Constraint::calls(Dialect::Json, &catalog, &ToolChoice::Required, Thinking::Off, 1).unwrap();
        let call = json!({"name": "do_it", "arguments": arguments});
        let schema = calls.schema.unwrap();
        let checked = toolgraft::validate::OutputSchema::new(schema.clone()).unwrap();
        let verdict = checked.check(&call, &call.to_string());
        prop_assert!(verdict.is_ok(), "{call}\n{schema}\n{:?}", verdict.err());
    }
}

#[test]
fn what_grammars_of_real_tools_allow_is_read_as_calls() {
    for (n, tool) in real().into_iter().enumerate() {
        let catalog = catalog([tool]);
        for seed in 0..20 {
            allowed_is_read(&catalog, dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n as u64 * 20 + seed + 1)));
        }
    }
}

fn allows(grammar: &Grammar, texts: &[(&str, bool)]) {
    for (text, allowed) in texts {
        assert_eq!(grammar.allows(text), *allowed, "{text:?}");
    }
}

#[test]
fn reasoning_comes_first_where_the_model_reasons() {
    let catalog = catalog([Tool::new("now")]);
    let call = "TYPE: MCP\n{\"tool_name\": \"now\", \"parameters\": {}}";
    let grammar = |thinking| grammar(Dialect::TypeMarker, &catalog, thinking, 2);
    let marked = format!("<think>It is < </thin </think>\n\n{call}");
    let open = format!("so </ <</think>{call}");
    let unclosed = format!("<think>so {call}");
    allows(&grammar(Thinking::Off), &[(call, true), (&marked, false), (&open, false)]);
    allows(&grammar(Thinking::Marked), &[(call, true), (&marked, true), (&open, false), (&unclosed, false)]);
    allows(&grammar(Thinking::Open), &[(call, true), (&marked, true), (&open, true), (&unclosed, false)]);
}

#[test]
fn several_calls_stand_as_the_prompt_teaches_them() {
    let catalog = catalog([Tool::new("now")]);
    let (objects, element) = (
        "{\"tool_name\": \"now\", \"parameters\": {}}",
        "<use_mcp_tool>\n<server_name>made up</server_name>\n<tool_name>now</tool_name>\n<arguments>\n{}\n</arguments>\n</use_mcp_tool>",
    );
    let two = format!("TYPE: MCP\n{objects}\n{objects}");
    let three = format!("{two}\n{objects}");
    allows(&grammar(Dialect::TypeMarker, &catalog, Thinking::Off, 2), &[(&two, true), (&three, false)]);
    assert_eq!(read(Dialect::TypeMarker, &catalog, &three).0.len(), 3);
    let two = format!("{element}\n{element}");
    allows(&grammar(Dialect::UseMcpTool, &catalog, Thinking::Off, 1), &[(element, true), (&two, false)]);
    // The number of calls is always limited.
    let many = [element; MAX_CALLS + 1].join("\n");
    let most = grammar(Dialect::UseMcpTool, &catalog, Thinking::Off, 100);
    allows(&most, &[(&many[..many.len() - element.len() - 1], true), (&many, false)]);
}

#[test]
fn other_dialects_have_no_grammar() {
    let catalog = catalog([Tool::new("now")]);
    for dialect in Dialect::ALL.iter().filter(|dialect| !DIALECTS.contains(dialect)) {
        let calls = Constraint::calls(*dialect, &catalog, &ToolChoice::Required, Thinking::Off, 1).unwrap();
        assert!(calls.grammar.is_none() && calls.tags.is_none() && calls.schema.is_some(), "{dialect}");
    }
}

#[test]
fn more_values_than_a_grammar_can_hold_are_held_to_their_types() {
    for (count, is_listed) in [(2_000, true), (2_001, false)] {
        let mut values: Vec<Value> = (1..count).map(|n| format!("word {n}").into()).collect();
        values.push(0.into());
        let catalog =
            catalog([Tool::new("a").with_schema(json!({"properties": {"w": {"enum": values}}, "required": ["w"]}))]);
        let calls = Constraint::calls(Dialect::Json, &catalog, &ToolChoice::Required, Thinking::Off, 1).unwrap();
        let schema = calls.schema.unwrap();
        let held = toolgraft::validate::OutputSchema::new(schema.clone()).unwrap();
        let takes = |value: Value| {
            let call = json!({"name": "a", "arguments": {"w": value}});
            held.check(&call, &call.to_string()).is_ok()
        };
        assert!(takes(json!("word 7")) && takes(json!(0)) && !takes(json!(null)), "{count}: {schema:.300}");
        assert_eq!(takes(json!("none of them")), !is_listed, "{count}");
    }
}

#[test]
fn a_named_tool_is_the_only_one_and_a_tag_dialect_has_json_alone() {
    let catalog = catalog([Tool::new("now"), Tool::new("later")]);
    let named = ToolChoice::Named("later".into());
    let calls = |dialect| Constraint::calls(dialect, &catalog, &named, Thinking::Off, 1).unwrap();
    let grammar = calls(Dialect::TypeMarker).grammar.unwrap();
    assert!(grammar.contains("later") && !grammar.contains("now"), "{grammar}");
    let tag = calls(Dialect::ToolTag);
    assert_eq!((tag.grammar, tag.tags), (None, None));
    let name = tag.schema.unwrap()["properties"]["name"].clone();
    assert_eq!(name, json!({"const": "later"}));
    let nobody = ToolChoice::Named("never".into());
    assert_eq!(Constraint::calls(Dialect::TypeMarker, &catalog, &nobody, Thinking::Off, 1), None);
}

#[test]
fn a_resource_may_be_read() {
    let mut server = Server::new("files");
    server.resources.push(Resource::new("file:///a"));
    let catalog = Arc::new(Catalog::new([server]));
    for (dialect, text) in [
        (
            Dialect::UseMcpTool,
            "<access_mcp_resource>\n<server_name>files</server_name>\n<uri>file:///a?b=1</uri>\n</access_mcp_resource>",
        ),
        (
            Dialect::TypeMarker,
            "TYPE: MCP\n{\"server_name\": \"files\", \"tool_name\": \"access_mcp_resource\", \"parameters\": {\"uri\": \"file:///a\"}}",
        ),
        (
            Dialect::Hermes,
            "<tool_call>\n{\"server_name\": \"files\", \"name\": \"access_mcp_resource\", \"arguments\": {\"uri\": \"file:///a\"}}\n</tool_call>",
        ),
    ] {
        allows(&grammar(dialect, &catalog, Thinking::Off, 1), &[(text, true)]);
        assert_eq!(read(dialect, &catalog, text).0[0].tool, "access_mcp_resource");
    }
}

#[test]
fn what_cannot_be_followed_is_any_value_and_circles_end() {
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/tree"},
            "circle": {"$ref": "#/$defs/a"},
            "outside": {"$ref": "https://example.com/x"},
            "odd": {"type": "date"},
        },
        "$defs": {
            "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}},
            "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "integer"}]},
            "b": {"oneOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]},
        },
    });
    let catalog = catalog([Tool::new("grow").with_schema(schema)]);
    let grammar = grammar(Dialect::TypeMarker, &catalog, Thinking::Off, 1);
    let call = |parameters: Value| {
        let parameters = parameters.as_object().cloned().unwrap_or_default();
        toolgraft::dialect::write_call(Dialect::TypeMarker, None, "grow", &parameters)
    };
    allows(
        &grammar,
        &[
            (&call(json!({"tree": {"left": {"right": {}}}})), true),
            (&call(json!({"tree": {"left": 1}})), false),
            (&call(json!({"circle": [1], "outside": null, "odd": {"a": 1}})), true),
            (&call(json!({"odd": 1, "tree": {}})), false),
        ],
    );
}

/// Each level refers to the next one ten times: expanded, that would be a million parts.
#[test]
fn a_small_schema_that_unfolds_to_millions_gives_a_small_grammar() {
    let level = |n: usize| {
        let parts: Vec<Value> =
            (0..10).map(|m| json!({"properties": {format!("p{m}"): {"$ref": format!("#/$defs/{}", n + 1)}}})).collect();
        json!({"anyOf": parts})
    };
    let mut defs: serde_json::Map<String, Value> = (0..7).map(|n| (n.to_string(), level(n))).collect();
    defs.insert("7".to_owned(), json!({"type": "integer"}));
    let deep = (0..200).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"in": inner}}));
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/0"}, "b": deep}, "$defs": defs});
    let catalog = catalog([Tool::new("grow").with_schema(schema)]);
    let calls = Constraint::calls(Dialect::UseMcpTool, &catalog, &ToolChoice::Required, Thinking::Off, 1).unwrap();
    assert!(calls.grammar.unwrap().len() < 100_000);
    assert!(calls.schema.unwrap().to_string().len() < 100_000);
}
