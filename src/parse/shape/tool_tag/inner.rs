//! Arguments as tags inside another syntax: `<arguments><city>Oslo</city></arguments>`.

use serde_json::{Map, Value};

use super::tags::Callee;
use crate::json::read;
use crate::json::window::leading_space;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::tables::{Tables, TagTool};

/// Reads `text`, tags and white space alone, into the call's arguments. A tag that is no
/// parameter's, or a value that holds a tag of its own parameter, makes the call malformed.
pub(crate) fn read_tags(text: &str, call: &mut UnresolvedCall, tables: &Tables) {
    let name = call.tool.clone().unwrap_or_default();
    let tool = Callee::named(tables, call.server.as_deref(), &name).tool(tables);
    call.raw_arguments = text.trim().to_owned();
    match members(text, tool, tables.catalog().is_some()) {
        Ok(arguments) => call.arguments = Value::Object(arguments),
        Err(message) => drop(call.fault.get_or_insert(Fault::malformed(message))),
    }
}

fn members(text: &str, tool: &TagTool, is_listed: bool) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, inner) = opening(rest, "")?;
        let known = tool.parameters.iter().find(|parameter| parameter.name == name);
        if is_listed && known.is_none() {
            return Err(format!("<{name}> is in the arguments and is not a parameter"));
        }
        if arguments.contains_key(name) {
            return Err(format!("the parameter `{name}` is given twice"));
        }
        let close = format!("</{name}>");
        let Some(end) = inner.find(&close) else { return Err(format!("</{name}> is missing")) };
        let value = &inner[..end];
        if value.contains(&format!("<{name}>")) {
            return Err(format!("<{name}> is inside its own value"));
        }
        let behind = &inner[end + close.len()..];
        let is_text = known.is_none_or(|parameter| parameter.is_text);
        let value = if is_text {
            Value::from(laid_out(value))
        } else {
            read(value.trim()).map_or_else(|_| Value::from(value.trim()), |found| found.value)
        };
        arguments.insert(name.to_owned(), value);
        rest = &behind[leading_space(behind)..];
    }
    Ok(arguments)
}

/// Returns the name of the tag that `text` begins with after a `token`, and what follows the tag.
pub(crate) fn opening<'t>(text: &'t str, token: &str) -> Result<(&'t str, &'t str), String> {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let tag = text.strip_prefix(token).and_then(|tag| tag.strip_prefix('<')?.split_once('>'));
    tag.filter(|(name, _)| !name.is_empty() && name.chars().all(in_name)).ok_or_else(|| {
        let found: String = text.chars().take(20).collect();
        format!("expected a parameter's tag in the arguments, found {found:?}")
    })
}

/// A text that is on lines of its own, without the line breaks around it.
fn laid_out(value: &str) -> &str {
    let inner = match value.strip_prefix("\r\n") {
        Some(value) => value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')),
        None => value.strip_prefix('\n').and_then(|value| value.strip_suffix('\n')),
    };
    inner.unwrap_or(value)
}
