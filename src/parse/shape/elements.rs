//! Arguments as elements: inside another syntax, or with a token before each of their tags.
//!
//! ```text
//! <city>Oslo</city><days>2</days>                     ──▶  {"city": "Oslo", "days": 2}
//! T<city>OsloT</city>T<days>T<item>1T</item>T</days>  ──▶  {"city": "Oslo", "days": ["1"]}
//! ```
//!
//! A value is text. With a token, elements in it are an object, and `<item>` elements an array.

use memchr::memmem;
use serde_json::{Map, Value};

use super::tool_tag::Callee;
use crate::json::read;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::tables::Tables;

/// Name of the elements that are the items of an array.
const ITEM: &str = "item";

/// Reads `text`, elements with `token` before each tag, into the call's arguments.
pub(super) fn read_elements(token: &str, text: &str, call: &mut UnresolvedCall, tables: &Tables) {
    text.trim().clone_into(&mut call.raw_arguments);
    let tool = Callee::named(tables, call.server.as_deref(), call.tool.as_deref().unwrap_or_default()).tool(tables);
    let elements = Elements { token, max_depth: tables.config.limits.depth };
    // Without a token the tag of something else may be text of the value before it.
    let names_matter = token.is_empty() && tables.catalog().is_some();
    let is_other = |name: &&String| names_matter && tool.parameters.iter().all(|known| known.name != **name);
    let arguments = elements.members(text, 1).and_then(object);
    let arguments = arguments.and_then(|arguments| match arguments.keys().find(is_other) {
        Some(name) => Err(Fault::malformed(format!("<{name}> is in the arguments and is not a parameter"))),
        None => Ok(arguments),
    });
    let mut arguments = match arguments {
        Ok(arguments) => arguments,
        Err(fault) => {
            call.fault.get_or_insert(fault);
            return;
        }
    };
    for known in tool.parameters.iter().filter(|known| !known.is_text) {
        if let Some(value) = arguments.get_mut(&known.name)
            && let Some(Ok(found)) = value.as_str().map(|text| read(text.trim()))
        {
            *value = found.value;
            call.repairs.extend(found.repairs);
        }
    }
    call.arguments = Value::Object(arguments);
}

struct Elements<'t> {
    token: &'t str,
    max_depth: usize,
}

impl Elements<'_> {
    /// Returns the names and values of the elements of which `text` consists, with white space between them.
    fn members<'e>(&self, text: &'e str, depth: usize) -> Result<Vec<(&'e str, Value)>, Fault> {
        if depth > self.max_depth {
            return Err(Fault::too_deep(self.max_depth));
        }
        let (mut members, mut rest) = (Vec::new(), text.trim_start());
        while !rest.is_empty() {
            let (name, inner) = self.opening(rest)?;
            let (value, after) = self.divided(name, inner)?;
            members.push((name, self.value(value, depth)?));
            rest = after.trim_start();
        }
        Ok(members)
    }

    /// Returns the name of the tag that `text` begins with, and the text after the tag.
    fn opening<'e>(&self, text: &'e str) -> Result<(&'e str, &'e str), Fault> {
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let tag = text.strip_prefix(self.token).and_then(|tag| tag.strip_prefix('<')?.split_once('>'));
        tag.filter(|(name, _)| !name.is_empty() && name.chars().all(in_name)).ok_or_else(|| {
            let found: String = text.chars().take(20).collect();
            Fault::malformed(format!("expected a parameter's tag in the arguments, found {found:?}"))
        })
    }

    /// Divides `text` at the closing tag of the element `name`; returns the text before and after that tag.
    fn divided<'e>(&self, name: &str, text: &'e str) -> Result<(&'e str, &'e str), Fault> {
        let tag = |slash: &str| format!("{}<{slash}{name}>", self.token);
        let (open, close, lead) = (tag(""), tag("/"), format!("{}<", self.token));
        let mut nested = 0_usize;
        for at in memmem::find_iter(text.as_bytes(), &lead) {
            match text[at..].strip_prefix(&*close) {
                Some(after) if nested == 0 => return Ok((&text[..at], after)),
                Some(_) => nested -= 1,
                None if !text[at..].starts_with(&*open) => {}
                // The tag may be text of the value, and then the next closing tag is the value's own.
                None if self.token.is_empty() => {
                    return Err(Fault::malformed(format!("<{name}> is inside its own value")));
                }
                None => nested += 1,
            }
        }
        Err(Fault::malformed(format!("</{name}> is missing")))
    }

    fn value(&self, text: &str, depth: usize) -> Result<Value, Fault> {
        if self.token.is_empty() {
            return Ok(Value::from(laid_out(text)));
        }
        if !text.trim_start().strip_prefix(self.token).is_some_and(|tag| tag.starts_with('<')) {
            return Ok(Value::from(text));
        }
        let members = self.members(text, depth + 1)?;
        if members.iter().all(|(name, _)| *name == ITEM) {
            return Ok(members.into_iter().map(|(_, value)| value).collect());
        }
        object(members).map(Value::Object)
    }
}

fn object(members: Vec<(&str, Value)>) -> Result<Map<String, Value>, Fault> {
    let mut object = Map::new();
    for (name, value) in members {
        if object.insert(name.to_owned(), value).is_some() {
            return Err(Fault::malformed(format!("the parameter `{name}` is given twice")));
        }
    }
    Ok(object)
}

/// Returns a value without the line breaks at its start and end, if it has both; else unchanged.
fn laid_out(value: &str) -> &str {
    let inner = match value.strip_prefix("\r\n") {
        Some(value) => value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')),
        None => value.strip_prefix('\n').and_then(|value| value.strip_suffix('\n')),
    };
    inner.unwrap_or(value)
}
