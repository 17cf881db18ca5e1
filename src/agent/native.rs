//! Calls from an endpoint's own field, as the text of the dialect that the prompt teaches.
//!
//! So they are read, checked, approved, remembered and corrected as every other call.

use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::dialect::{Dialect, write_call, write_tool_call};
use crate::message::{Delta, DeltaKind, NativeCall};

pub(super) fn delta(dialect: Dialect, catalog: &Catalog, call: &NativeCall) -> Delta {
    // Markers of some dialects count at the start of a line only.
    Delta { kind: DeltaKind::Content, text: format!("\n{}\n", written(dialect, catalog, call)) }
}

fn written(dialect: Dialect, catalog: &Catalog, call: &NativeCall) -> String {
    let write = |arguments: &Map<String, Value>| match catalog.find(None, &call.name) {
        Ok(found) => write_tool_call(dialect, catalog, found.tool, arguments),
        Err(_) => write_call(dialect, None, &call.name, arguments),
    };
    if call.arguments.trim().is_empty() {
        return write(&Map::new());
    }
    if let Ok(arguments) = serde_json::from_str(&call.arguments) {
        return write(&arguments);
    }
    // What is no JSON object is shown as it is: the parser says what is wrong
    // with it, and the model mends it. A dialect without JSON says what is missing.
    let empty = write(&Map::new());
    match empty.rfind("{}") {
        Some(at) => format!("{}{}{}", &empty[..at], call.arguments, &empty[at + 2..]),
        None => empty,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::assemble::Collector;
    use crate::dialect::DialectSet;
    use crate::message::FinishReason;
    use crate::parse::{Config, Parser};
    use crate::tool::Tool;

    fn read(dialect: Dialect, arguments: &str) -> Result<Value, String> {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let mut tool = Tool::new("get_weather").with_schema(schema);
        tool.server = Some("weather".to_owned());
        let catalog = std::sync::Arc::new(Catalog::from_tools([tool]));
        let call = NativeCall { name: "get_weather".into(), arguments: arguments.into(), ..NativeCall::default() };
        let text = delta(dialect, &catalog, &call).text;
        let dialects = DialectSet::NONE.with(dialect);
        let mut parser = Parser::new(Config { catalog: Some(catalog), dialects, ..Config::default() });
        let mut message = Collector::new();
        parser.push(&text, &mut |event| message.push(event));
        parser.finish(&FinishReason::ToolCalls, &mut |event| message.push(event));
        let message = message.finish();
        assert_eq!(message.content.trim(), "", "{text}");
        assert_eq!(message.entries.len(), 1, "{text}");
        match &message.entries[0].result {
            Ok(call) => Ok(Value::Object(call.arguments.as_object().unwrap().clone())),
            Err(rejected) => Err(rejected.message.clone()),
        }
    }

    #[test]
    fn a_native_call_is_read_back_in_every_dialect() {
        for dialect in Dialect::ALL {
            assert_eq!(
                read(*dialect, r#"{"city":"Oslo </tool> TYPE: MCP"}"#).unwrap()["city"],
                "Oslo </tool> TYPE: MCP",
                "{dialect:?}"
            );
            assert_eq!(read(*dialect, "").unwrap(), json!({}), "{dialect:?}");
        }
    }

    #[test]
    fn arguments_that_are_no_json_are_a_mistake_that_the_model_reads() {
        for dialect in [Dialect::UseMcpTool, Dialect::TypeMarker] {
            assert!(read(dialect, r#"{"city": Oslo!}"#).is_err(), "{dialect:?}");
        }
    }
}
