//! The content of a call in Python's syntax: its tool, and its arguments by name.

use serde_json::{Map, Value};

use super::reader::Arguments;
use crate::event::Repair;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::shape::fit::fits;
use crate::parse::tables::Tables;
use crate::tools::Tool;

/// Makes a call of a tool's name and arguments. A single value without a keyword belongs to the tool's only parameter;
/// if that is not certain, the error is `NoKeyword`.
pub(super) fn call_of(
    name: &str,
    arguments: Arguments,
    raw: &str,
    tables: &Tables,
) -> Result<UnresolvedCall, NotACallReason> {
    let Arguments { mut named, positional, mut repairs } = arguments;
    repairs.extend(tables.names.method(name).map(|_| Repair::NameMatched(name.to_owned())));
    let (server, tool_name) = split_name(name, tables);
    if !positional.is_empty() {
        let [value] = <[Value; 1]>::try_from(positional).map_err(|_| NotACallReason::NoKeyword)?;
        let tool = tables.tool(server.as_deref(), &tool_name).ok_or(NotACallReason::NoKeyword)?;
        // Beside keywords nobody knows which parameter a value without one is.
        if !named.is_empty() {
            return Err(NotACallReason::NoKeyword);
        }
        let mut parameters = tool.parameters();
        named = match (value, parameters.next(), parameters.next()) {
            (Value::Object(keywords), ..) if are_keywords(&keywords, tool) => {
                repairs.push(Repair::FlatArguments);
                keywords
            }
            (value, Some(only), None) => {
                repairs.push(Repair::Other(format!("positional:{}", only.name)));
                Map::from_iter([(only.name.to_owned(), value)])
            }
            _ => return Err(NotACallReason::NoKeyword),
        };
    }
    Ok(UnresolvedCall {
        server,
        tool: Some(tool_name),
        arguments: Value::Object(named),
        raw_arguments: raw.to_owned(),
        repairs,
        ..UnresolvedCall::default()
    })
}

/// Returns `true` if `keywords`, a dictionary as the only argument, contains the arguments by name: `f({"a": 1})`; not
/// if the tool's only parameter may be an object itself.
fn are_keywords(keywords: &Map<String, Value>, tool: &Tool) -> bool {
    let mut parameters = tool.parameters();
    let only = parameters.next().filter(|_| parameters.next().is_none());
    let may_be_object = |schema: &Value| match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        // A schema without a type accepts an object.
        _ => true,
    };
    !only.is_some_and(|only| may_be_object(only.schema)) && fits(tool, keywords)
}

/// Returns the server and the tool that `name` refers to, without the suffix `.call`.
pub(super) fn split_name(name: &str, tables: &Tables) -> (Option<String>, String) {
    tables.split_name(tables.names.method(name).unwrap_or(name))
}
