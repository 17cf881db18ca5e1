//! `raw` of a rejected call is the text of the call.

use std::sync::Arc;

use serde_json::json;
use toolgraft::event::RejectedKind;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};
use toolgraft_testkit::laws;

fn rejected(call: &str) -> Vec<(RejectedKind, String)> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let catalog = Arc::new(Catalog::from_tools([Tool::new("f").with_schema(schema)]));
    let config = Config::default().with_catalog(catalog);
    let found = laws::read(&format!("Before. {call}\n\nAfter."), &config);
    let rejected = found.entries.into_iter().filter_map(|entry| entry.result.err());
    rejected.map(|rejected| (rejected.kind, rejected.raw)).collect()
}

#[test]
fn a_call_in_tags_of_its_own_is_there_whole() {
    for (kind, call) in [
        (RejectedKind::UnknownTool, "<use_mcp_tool><tool_name>g</tool_name><arguments>{}</arguments></use_mcp_tool>"),
        (RejectedKind::Malformed, "<use_mcp_tool><tool_name>f</tool_name><arguments>{]</arguments></use_mcp_tool>"),
        (RejectedKind::UnknownTool, "[TOOL_CALLS]g{\"a\": 1}"),
        (RejectedKind::UnknownTool, "<function=g>{}</function>"),
        (RejectedKind::UnknownTool, "<invoke name=\"g\"><parameter name=\"a\">1</parameter></invoke>"),
    ] {
        assert_eq!(rejected(call), [(kind, call.to_owned())]);
    }
}

/// The tags may enclose several objects and end after the call: they are markers of their own, so
/// that every byte is in one event.
#[test]
fn of_an_object_in_shared_tags_the_object_is_there() {
    for (before, object, after) in [
        ("<tool_call>", "{\"name\": \"g\", \"arguments\": {}}", "</tool_call>"),
        ("[TOOL_REQUEST]", "{\"name\": \"g\", \"arguments\": {}}", "[END_TOOL_REQUEST]"),
        ("[TOOL_CALLS][", "{\"name\": \"g\", \"arguments\": {}}", "]"),
    ] {
        let call = format!("{before}{object}{after}");
        assert_eq!(rejected(&call), [(RejectedKind::UnknownTool, object.to_owned())], "{call}");
    }
}
