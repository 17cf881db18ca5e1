//! The content of a call in Python's syntax: its tool, and its arguments by name.

use serde_json::{Map, Value};

use super::ahead::unknown_name;
use super::literal;
use super::reader::{Arguments, Reader};
use crate::event::Repair;
use crate::json::window::Window;
use crate::parse::call::{CalledTool, Step};
use crate::parse::emit::not_a_call::Reason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::marks::names::unescaped;
use crate::parse::shape::fit::fits;
use crate::parse::tables::Tables;
use crate::tools::Tool;

/// The calls that the text of a string holds, and where each ends in it. `any`: of any tool,
/// else the first is of a known one. Of more than `most` none is read.
pub(super) fn calls_in(
    source: &str,
    mut any: bool,
    most: usize,
    tables: &Tables,
) -> Result<Vec<(usize, UnresolvedCall)>, Reason> {
    let decoded = literal::string(source, false).ok_or(Reason::NoLiteral)?;
    let text = decoded.trim();
    let (mut at, mut calls) = (0, Vec::new());
    loop {
        if calls.len() == most {
            return Err(Reason::Limit);
        }
        let (length, call) = first_call(&text[at..], any, tables)?;
        at += length;
        calls.push((at, call));
        let rest = text[at..].trim_start();
        let rest = rest.strip_prefix([',', ';']).unwrap_or(rest).trim_start();
        if rest.is_empty() {
            break;
        }
        any = true;
        at = text.len() - rest.len();
    }
    // Where one ends is only known where nothing was decoded.
    if calls.len() > 1 && decoded != source {
        return Err(Reason::NoLiteral);
    }
    let before = decoded.len() - decoded.trim_start().len();
    calls.iter_mut().for_each(|(end, _)| *end += before);
    Ok(calls)
}

/// The call that `text` begins with, and its length.
fn first_call(text: &str, any: bool, tables: &Tables) -> Result<(usize, UnresolvedCall), Reason> {
    let length = match tables.names.called(text, false) {
        Ok(length) => length,
        _ => match unknown_name(text, false) {
            Ok(length) if any => length,
            _ => return Err(Reason::UnknownTool),
        },
    };
    let (name, start) = (&text[..length], length + 1);
    let mut reader = Reader::new(start as u64, tables.config.limits.depth, false);
    match reader.next(&Window { text, base: 0, more: false }, false) {
        Step::End(end) => {
            let end = end as usize;
            Ok((end, call_of(name, reader.arguments, &text[start..end - 1], tables)?))
        }
        Step::Text(_, Reason::Limit) => Err(Reason::Limit),
        _ => Err(Reason::NoLiteral),
    }
}

/// Makes a call of what was read. A value without a keyword is the tool's only parameter;
/// where it has others, nobody can say which is meant.
pub(super) fn call_of(
    written: &str,
    arguments: Arguments,
    raw: &str,
    tables: &Tables,
) -> Result<UnresolvedCall, Reason> {
    let Arguments { mut named, positional, mut repairs, escaped } = arguments;
    let name = unescaped(written);
    let method = tables.names.method(&name);
    repairs.extend(method.map(|_| Repair::NameMatched(name.clone().into_owned())));
    let (server, tool_name) = split_name(&name, tables);
    if !positional.is_empty() {
        let [value] = <[Value; 1]>::try_from(positional).map_err(|_| Reason::NoKeyword)?;
        let tool = tables.tool(server.as_deref(), &tool_name).ok_or(Reason::NoKeyword)?;
        if !named.is_empty() {
            return Err(Reason::NoKeyword);
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
            _ => return Err(Reason::NoKeyword),
        };
    }
    if escaped || name != written {
        // Two of them may be one that was meant, or an escaped one.
        if raw.contains("\\\\") {
            return Err(Reason::NoLiteral);
        }
        named.values_mut().for_each(take_escapes_off);
        repairs.push(Repair::MarkdownEscapes);
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

/// Returns `true` if one dictionary in place of the arguments holds them: `f({"a": 1})`. Not where the
/// tool's only parameter may be an object itself.
fn are_keywords(keywords: &Map<String, Value>, tool: &Tool) -> bool {
    let mut parameters = tool.parameters();
    let only = parameters.next().filter(|_| parameters.next().is_none());
    let may_be_object = |schema: &Value| match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => true,
    };
    !only.is_some_and(|only| may_be_object(only.schema)) && fits(tool, keywords)
}

/// Takes off the backslashes that Markdown wants before a `_`, in all texts of a value.
fn take_escapes_off(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("\\_") => *text = text.replace("\\_", "_"),
        Value::Array(items) => items.iter_mut().for_each(take_escapes_off),
        Value::Object(members) => members.values_mut().for_each(take_escapes_off),
        _ => {}
    }
}

/// Server and tool that a name stands for, escapes taken off.
pub(super) fn split_name(name: &str, tables: &Tables) -> (Option<String>, String) {
    tables.split_name(tables.names.method(name).unwrap_or(name))
}

/// Server and tool that a name stands for as it is written, with its escapes.
pub(super) fn called(name: &str, tables: &Tables) -> CalledTool {
    let (server, tool) = split_name(&unescaped(name), tables);
    (server, Some(tool))
}
