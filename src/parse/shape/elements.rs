//! Arguments as elements, with a token before each of their tags.
//!
//! ```text
//! T<city>OsloT</city>T<days>T<item>1T</item>T</days>  ──▶  {"city": "Oslo", "days": ["1"]}
//! ```
//!
//! A value without a tag in it is text as it is, elements are an object, and `<item>` elements an array.

use memchr::memmem;
use serde_json::{Map, Value};

use crate::json::read;
use crate::json::window::Window;
use crate::parse::call::{CallOut, ObjectSyntax};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::shape::tool_tag::opening;

/// The name of an array's elements.
const ITEM: &str = "item";

/// Such arguments, up to what ends their call.
#[derive(Debug)]
pub(crate) struct Elements {
    token: &'static str,
    /// The end of the call.
    close: &'static str,
    max_depth: usize,
    /// The parameters that take no text.
    typed: Vec<String>,
}

impl Elements {
    pub(crate) fn new(token: &'static str, close: &'static str, max_depth: usize, typed: Vec<String>) -> Self {
        Elements { token, close, max_depth, typed }
    }

    /// The elements that `text` is, with white space between them.
    fn members<'t>(&self, text: &'t str, depth: usize) -> Result<Vec<(&'t str, Value)>, Fault> {
        if depth > self.max_depth {
            return Err(Fault::too_deep(self.max_depth));
        }
        let (mut members, mut rest) = (Vec::new(), text.trim_start());
        while !rest.is_empty() {
            let (name, inner) = opening(rest, self.token).map_err(Fault::malformed)?;
            let (value, behind) = self.divided(name, inner)?;
            members.push((name, self.value(value, depth)?));
            rest = behind.trim_start();
        }
        Ok(members)
    }

    /// Divides `text` at the tag that closes the element of this name.
    fn divided<'t>(&self, name: &str, text: &'t str) -> Result<(&'t str, &'t str), Fault> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let mut nested = 0_usize;
        for at in memmem::find_iter(text.as_bytes(), self.token) {
            let tag = &text[at + self.token.len()..];
            match tag.strip_prefix(&close) {
                Some(behind) if nested == 0 => return Ok((&text[..at], behind)),
                Some(_) => nested -= 1,
                None => nested += usize::from(tag.starts_with(&open)),
            }
        }
        Err(Fault::malformed(format!("</{name}> is missing")))
    }

    fn value(&self, text: &str, depth: usize) -> Result<Value, Fault> {
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
            return Err(Fault::malformed(format!("<{name}> is given twice")));
        }
    }
    Ok(object)
}

impl ObjectSyntax for Elements {
    fn next(
        &mut self,
        _: u64,
        cursor: &mut u64,
        window: &Window<'_>,
        _: &mut CallOut<'_, '_>,
    ) -> Result<Option<u64>, Fault> {
        let text = window.from(*cursor);
        let found = memmem::find(text.as_bytes(), self.close.as_bytes());
        // The closing tag may be cut.
        let seen = found.unwrap_or(text.floor_char_boundary(text.len().saturating_sub(self.close.len() - 1)));
        *cursor += seen as u64;
        Ok(found.map(|_| *cursor))
    }

    fn missing(&self) -> &'static str {
        ""
    }

    fn read(&self, text: &str, call: &mut UnresolvedCall) {
        text.trim().clone_into(&mut call.raw_arguments);
        match self.members(text, 1).and_then(object) {
            Ok(mut arguments) => {
                for name in &self.typed {
                    if let Some(value) = arguments.get_mut(name)
                        && let Some(Ok(found)) = value.as_str().map(|text| read(text.trim()))
                    {
                        *value = found.value;
                        call.repairs.extend(found.repairs);
                    }
                }
                call.arguments = Value::Object(arguments);
            }
            Err(fault) => call.fault = Some(fault),
        }
    }
}
