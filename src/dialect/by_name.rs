//! Calls whose name is that of a dialect's element, with the call itself in the arguments.
//!
//! A model that was taught `<use_mcp_tool>` and calls natively, or writes JSON, may name the
//! element as the tool: `{"name": "use_mcp_tool", "arguments": {"tool_name": …}}`.

use serde_json::{Map, Value};

use super::{Block, Child, ChildRole, Dialect, Shape};
use crate::tools::Catalog;

/// The call that the arguments of a call named after an element contain.
#[derive(Debug, PartialEq)]
pub(crate) struct ByName {
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// Returns the call inside the arguments of a call named `name`, if `name` is the name of a dialect's element and not
/// of a known tool. `None` also if the arguments have a key that is not a child of the element.
pub(crate) fn named_by_element(name: &str, arguments: &Value, catalog: Option<&Catalog>) -> Option<ByName> {
    let block = element(name)?;
    if catalog.is_some_and(|catalog| catalog.knows(name)) {
        return None;
    }
    let object = arguments.as_object()?;
    let child = |key: &str| block.children.iter().find(|child| child.tag == key);
    let text = |role| object.iter().find(|(key, _)| child(key).is_some_and(|c| c.role == role)).map(|(_, value)| value);
    if object.keys().any(|key| child(key).is_none()) {
        return None;
    }
    let server = match text(ChildRole::Server) {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
        Some(_) => return None,
    };
    let (tool, arguments) = match &block.tool {
        Some(tool) => (tool.clone(), without_server(object, &block.children)),
        None => {
            let tool = text(ChildRole::Tool)?.as_str()?.trim();
            let arguments = text(ChildRole::Arguments).cloned().unwrap_or_else(|| Value::Object(Map::new()));
            (Some(tool).filter(|tool| !tool.is_empty())?.to_owned(), arguments)
        }
    };
    Some(ByName { server, tool, arguments })
}

/// Returns the arguments of an element that denotes one tool: all members except the server's name.
fn without_server(object: &Map<String, Value>, children: &[Child]) -> Value {
    let is_server = |key: &String| children.iter().any(|child| child.tag == *key && child.role == ChildRole::Server);
    object.iter().filter(|(key, _)| !is_server(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The dialects whose calls are elements. Searching all dialects would load the files of those that are not in use.
const OF_ELEMENTS: [Dialect; 1] = [Dialect::UseMcpTool];

fn element(name: &str) -> Option<&'static Block> {
    let blocks = OF_ELEMENTS.iter().flat_map(|dialect| match &dialect.spec().shape {
        Shape::Element(blocks) => blocks.as_slice(),
        _ => &[],
    });
    blocks.into_iter().find(|block| block.tag == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::Tool;

    #[test]
    fn all_dialects_of_elements_are_asked() {
        let has_elements = |dialect: &&Dialect| matches!(dialect.spec().shape, Shape::Element(_));
        assert!(Dialect::ALL.iter().filter(has_elements).eq(&OF_ELEMENTS));
    }

    #[test]
    fn the_call_in_an_elements_arguments_is_taken_out_if_nothing_else_stands_there() {
        let inner = |arguments: Value| named_by_element("use_mcp_tool", &arguments, None);
        let call = json!({"server_name": "w", "tool_name": "get", "arguments": {"city": "Oslo"}});
        let expected = ByName { server: Some("w".into()), tool: "get".into(), arguments: json!({"city": "Oslo"}) };
        assert_eq!(inner(call.clone()), Some(expected));
        assert_eq!(inner(json!({"tool_name": "now"})).map(|call| call.arguments), Some(json!({})));
        for other in [json!({}), json!({"tool_name": ""}), json!({"tool_name": "get", "city": "Oslo"}), json!("get")] {
            assert_eq!(inner(other.clone()), None, "{other}");
        }
        let own = Catalog::from_tools([Tool::new("use_mcp_tool")]);
        assert_eq!(named_by_element("use_mcp_tool", &call, Some(&own)), None, "a tool of that name is itself");
        let resource = named_by_element("access_mcp_resource", &json!({"server_name": "f", "uri": "a:b"}), None);
        let resource = resource.map(|call| (call.server, call.arguments));
        assert_eq!(resource, Some((Some("f".into()), json!({"uri": "a:b"}))));
    }
}
