//! Arguments whose texts lost their quotes to those around the call:
//! `['f(city=New York, days=3)']`.
//!
//! Read only where the schema takes a text and the value looks like one: words, with a
//! letter among them, and no mark that an expression, a placeholder or a name has.

use serde_json::Value;

use super::callee::split_name;
use super::reader::{Arguments, Reader};
use crate::event::Repair;
use crate::json::window::Window;
use crate::parse::call::Step;
use crate::parse::marks::names::unescaped;
use crate::parse::tables::Tables;
use crate::tools::Tool;
use crate::tools::schema::Walk;

/// Reads what stands in the parentheses of a call of the tool `name`.
pub(super) fn arguments(name: &str, inner: &str, tables: &Tables) -> Option<Arguments> {
    let (server, name) = split_name(&unescaped(name), tables);
    let tool = tables.tool(server.as_deref(), &name)?;
    let mut read = Arguments::default();
    let keywords: Vec<(usize, usize, &str)> = keywords(inner).collect();
    if keywords.first().is_none_or(|(start, _, _)| !inner[..*start].trim().is_empty()) {
        return None;
    }
    for (i, (_, value, keyword)) in keywords.iter().enumerate() {
        let text = match keywords.get(i + 1) {
            Some((next, _, _)) => inner[*value..*next].trim_end().strip_suffix(',')?,
            None => &inner[*value..],
        };
        let found = value_of(keyword, text.trim(), tool, tables, &mut read.repairs)?;
        if read.named.insert((*keyword).to_owned(), found).is_some() {
            return None;
        }
    }
    Some(read)
}

/// The keywords in `inner`, each with where it begins and where its value does.
fn keywords(inner: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    memchr::memchr_iter(b'=', inner.as_bytes()).filter_map(move |at| {
        let before = inner[..at].trim_end();
        let start = before
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(0, |last| last + before[last..].chars().next().map_or(1, char::len_utf8));
        let behind = inner[..start].trim_end();
        let begins = behind.is_empty() || behind.ends_with(',');
        (start < before.len() && begins).then_some((start, at + 1, &before[start..]))
    })
}

fn value_of(keyword: &str, text: &str, tool: &Tool, tables: &Tables, repairs: &mut Vec<Repair>) -> Option<Value> {
    if let Some(value) = literal(text, tables, repairs) {
        return Some(value);
    }
    let parameter = tool.parameters().find(|parameter| parameter.name == keyword)?;
    let wants_text = tool.input_schema.as_ref().is_none_or(|root| Walk::new(root).accepts_text(parameter.schema));
    if !wants_text || text == keyword || !is_words(text) {
        return None;
    }
    Repair::UnquotedValues.note(repairs);
    Some(Value::String(text.to_owned()))
}

/// The one literal that `text` is.
fn literal(text: &str, tables: &Tables, repairs: &mut Vec<Repair>) -> Option<Value> {
    let closed = format!("{text})");
    let mut reader = Reader::new(0, tables.config.limits.depth);
    let window = Window { text: &closed, base: 0, more: false };
    if !matches!(reader.next(&window, false), Step::End(end) if end == closed.len() as u64) {
        return None;
    }
    let read = reader.into_arguments();
    let [value] = <[Value; 1]>::try_from(read.positional).ok()?;
    if !read.named.is_empty() || text.ends_with(',') {
        return None;
    }
    repairs.extend(read.repairs);
    Some(value)
}

/// Whether `text` is words as they stand in a sentence.
fn is_words(text: &str) -> bool {
    let in_word =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '\'' | '’' | '.' | ',' | ':' | '/' | '&' | '@');
    let operator = |word: &str| matches!(word, "-" | "/" | "&" | "@");
    text.starts_with(char::is_alphanumeric)
        && text.contains(char::is_alphabetic)
        && text.chars().all(in_word)
        && !text.contains("..")
        && !text.split(' ').any(operator)
}
