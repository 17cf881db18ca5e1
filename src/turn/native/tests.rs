use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::dialect::DialectSet;
use crate::event::{Collector, Entry};
use crate::message::FinishReason;
use crate::parse::{self, Parser};
use crate::tools::{Resource, Server, Tool, ToolChoice};
use crate::turn::Setup;
use crate::turn::{ModelNote, TurnConfig, Wording, WordingError};
use crate::validate::Validator;

/// Wording without any texts, in a dialect.
struct In(Dialect);

impl Wording for In {
    fn system(&self, _: &ToolChoice) -> String {
        String::new()
    }

    fn replies(&self, _: &crate::conversation::Replies<'_>) -> Result<String, WordingError> {
        Ok(String::new())
    }

    fn note(&self, _: ModelNote<'_>) -> String {
        String::new()
    }

    fn dialect(&self) -> Dialect {
        self.0
    }
}

fn setup(dialect: Dialect) -> Setup {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = |name: &str| Tool::new(name).with_schema(schema.clone());
    let server = |name: &str, tools: &[&str]| Server {
        name: Some(name.into()),
        tools: tools.iter().map(|t| tool(t)).collect(),
        resources: vec![Resource { uri: format!("{name}://1"), ..Resource::default() }],
        ..Server::default()
    };
    let catalog = Catalog::new([server("weather", &["get_weather", "search"]), server("web", &["search"])]);
    Setup::new(TurnConfig::default(), Arc::new(Validator::new(Arc::new(catalog))), Arc::new(In(dialect)))
}

fn call(name: &str, arguments: &str) -> NativeCall {
    NativeCall { id: None, name: name.into(), arguments: arguments.into() }
}

/// Parses the text of the call with a parser of its dialect.
fn again(setup: &Setup, dialect: Dialect, text: &str) -> Result<Value, String> {
    let dialects = DialectSet::NONE.with(dialect);
    let config = parse::Config { catalog: Some(setup.catalog.clone()), dialects, ..parse::Config::default() };
    let entry = parsed(Parser::new(config), text).unwrap();
    entry.result.map(|call| call.arguments).map_err(|rejected| rejected.message)
}

fn parsed(mut parser: Parser, text: &str) -> Option<Entry> {
    let mut message = Collector::new();
    parser.push(text, &mut |event| message.push(event));
    parser.finish(&FinishReason::ToolCalls, &mut |event| message.push(event));
    message.finish().entries.into_iter().next()
}

#[test]
fn a_call_is_read_and_written_in_every_dialect() {
    for dialect in Dialect::ALL.iter().copied() {
        let setup = setup(dialect);
        for arguments in [r#"{"city":"Oslo </tool> TYPE: MCP </arguments>"}"#, "", "{}"] {
            let NativeRead { result, raw, .. } = setup.natives.read(call("weather__get_weather", arguments));
            let call = result.unwrap();
            assert_eq!((call.server.as_deref(), call.tool.as_str()), (Some("weather"), "get_weather"));
            assert_eq!((call.dialect, &call.repairs), (dialect, &Vec::new()));
            assert_eq!(again(&setup, dialect, &raw).unwrap(), call.arguments, "{dialect:?}: {raw}");
        }
    }
}

#[test]
fn a_name_is_taken_as_it_is_on_the_wire_alone_or_with_its_server() {
    let setup = setup(Dialect::UseMcpTool);
    for (name, server) in [
        ("web__search", Some("web")),
        ("weather__search", Some("weather")),
        ("get_weather", Some("weather")),
        ("weather.get_weather", Some("weather")),
        ("web/search", Some("web")),
    ] {
        let call = setup.natives.read(call(name, "{}")).result.unwrap();
        assert_eq!(call.server.as_deref(), server, "{name}");
    }
    let unknown = setup.natives.read(call("get_wether", "{}")).result.unwrap_err();
    assert_eq!((unknown.kind, unknown.nearest), (RejectedKind::UnknownTool, vec!["get_weather".to_owned()]));
    for name in ["", "  ", "</tool_name>"] {
        assert!(setup.natives.read(call(name, "{}")).result.is_err(), "{name:?}");
    }
}

#[test]
fn a_resource_is_read_from_the_server_that_is_named() {
    for dialect in [Dialect::UseMcpTool, Dialect::TypeMarker] {
        let setup = setup(dialect);
        let arguments = r#"{"server_name": "web", "uri": "web://1"}"#;
        let read = setup.natives.read(call(ACCESS_RESOURCE, arguments));
        let call = read.result.unwrap();
        assert_eq!((call.server.as_deref(), call.tool.as_str()), (Some("web"), ACCESS_RESOURCE));
        assert_eq!(call.arguments, json!({"uri": "web://1"}));
        assert_eq!(again(&setup, dialect, &read.raw).unwrap(), call.arguments);
    }
}

#[test]
fn broken_arguments_are_mended_as_elsewhere_or_a_mistake_that_the_model_reads() {
    for dialect in [Dialect::UseMcpTool, Dialect::TypeMarker, Dialect::ToolTag] {
        let setup = setup(dialect);
        let mended = setup.natives.read(call("get_weather", r#"{"city": "Oslo",}"#)).result.unwrap();
        assert_eq!(mended.arguments, json!({"city": "Oslo"}));
        assert!(!mended.repairs.is_empty());

        for arguments in [r#"{"city": "Oslo" ! }"#, r#"{"city": Oslo! }} {"#, r#"{"city": "Oslo"}{"city": "Bergen"}"#] {
            let NativeRead { result, raw, .. } = setup.natives.read(call("get_weather", arguments));
            let rejected = result.expect_err(arguments);
            assert_eq!((rejected.kind, &rejected.raw, rejected.dialect), (RejectedKind::Malformed, &raw, dialect));
            assert!(raw.contains(arguments), "nothing of it is lost: {raw}");
        }

        let cut = setup.natives.read(call("get_weather", r#"{"city": "Os"#)).result.unwrap_err();
        assert_eq!(cut.kind, RejectedKind::Truncated, "{}", cut.message);
    }
}

#[test]
fn arguments_past_a_limit_are_refused_as_those_of_a_call_in_text() {
    let limits = Limits { call_bytes: 40, depth: 2, ..Limits::default() };
    let setup = setup(Dialect::UseMcpTool);
    let natives = Natives::new(Dialect::UseMcpTool, limits, &setup.catalog);
    let kind = |arguments: &str| natives.read(call("get_weather", arguments)).result.err().map(|r| r.kind);
    assert_eq!(kind(r#"{"city": ["[[[{{{ \"["]}"#), None, "brackets in strings nest nothing");
    assert_eq!(kind(r#"{"city": [["x"]]}"#), Some(RejectedKind::Limit));
    assert_eq!(kind(&format!("{{\"city\": \"{}\"}}", "x".repeat(28))), None);
    assert_eq!(kind(&format!("{{\"city\": \"{}\"}}", "x".repeat(29))), Some(RejectedKind::Limit));
}

#[test]
fn a_call_of_an_element_is_the_call_that_stands_in_its_arguments() {
    let setup = setup(Dialect::UseMcpTool);
    let read = |arguments: &str| setup.natives.read(call("use_mcp_tool", arguments));
    let inner = r#"{"server_name": "weather", "tool_name": "get_weather", "arguments": {"city": "Oslo"}}"#;
    let found = read(inner).result.unwrap();
    assert_eq!((found.server.as_deref(), found.tool.as_str()), (Some("weather"), "get_weather"));
    assert_eq!(found.arguments, json!({"city": "Oslo"}));
    assert_eq!(found.repairs, [Repair::NameMatched("use_mcp_tool".into())]);
    let found = read(r#"{"tool_name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}"#).result.unwrap();
    assert_eq!(found.arguments, json!({"city": "Oslo"}));
    let rejected = read(r#"{"tool_name": "get_wether", "arguments": {}}"#).result.unwrap_err();
    assert_eq!((rejected.kind, rejected.tool.as_deref()), (RejectedKind::UnknownTool, Some("get_wether")));
    let other = read(r#"{"city": "Oslo"}"#).result.unwrap_err();
    assert_eq!((other.kind, other.tool.as_deref()), (RejectedKind::UnknownTool, Some("use_mcp_tool")));
}
