//! Arguments in braces as Ruby or a command line has them, and the brace around the whole call.
//!
//! ```text
//! [TOOL_CALL]{tool => "f", args => {--path "a", limit => 3}}[/TOOL_CALL]
//!             ╰────── head ───────╯╰──────── object ──────╯
//! ```
//!
//! Nothing is handed on before the end. Braces are counted outside of strings in double quotes.

use serde_json::{Map, Value};

use crate::event::Repair;
use crate::json::window::{Window, leading_space};
use crate::json::{outside, read};
use crate::parse::call::{CallOut, ObjectSyntax};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};

/// Arguments of arrows or flags that are being read.
#[derive(Debug, Default)]
pub(crate) struct Arrows {
    depth: usize,
    in_string: bool,
    /// The byte before was a backslash in a string.
    escaped: bool,
    /// The arguments' own brace is closed; the one around all is due.
    is_closed: bool,
}

impl ObjectSyntax for Arrows {
    fn next(
        &mut self,
        _: u64,
        cursor: &mut u64,
        window: &Window<'_>,
        out: &mut CallOut<'_, '_>,
    ) -> Result<Option<u64>, Fault> {
        let text = window.from(*cursor);
        let end = if self.is_closed { Some(0) } else { self.close(text, out.max_depth())? };
        let Some(end) = end else {
            *cursor = window.end();
            return Ok(None);
        };
        self.is_closed = true;
        let space = leading_space(&text[end..]);
        *cursor += (end + space) as u64;
        match text.as_bytes().get(end + space) {
            None => Ok(None),
            Some(b'}') => {
                *cursor += 1;
                Ok(Some(*cursor))
            }
            Some(_) => Err(Fault::malformed("`}` is missing after the arguments")),
        }
    }

    fn missing(&self) -> &'static str {
        match self {
            Arrows { in_string: true, .. } => "\"}}",
            Arrows { is_closed: true, .. } | Arrows { depth: 0, .. } => "}",
            _ => "}}",
        }
    }

    fn read(&self, text: &str, call: &mut UnresolvedCall) {
        // The brace around all follows the arguments' own.
        let text = text.strip_suffix('}').unwrap_or(text).trim();
        text.clone_into(&mut call.raw_arguments);
        match members(text) {
            Ok((arguments, repairs)) => {
                call.arguments = Value::Object(arguments);
                call.repairs.splice(0..0, repairs);
            }
            Err(message) => call.fault = Some(Fault::malformed(message)),
        }
    }
}

impl Arrows {
    /// Returns the offset after the arguments' own closing bracket in `text`, if it is there.
    fn close(&mut self, text: &str, max_depth: usize) -> Result<Option<usize>, Fault> {
        for (i, byte) in text.bytes().enumerate() {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Ok(Some(i + 1));
                    }
                }
                _ => {}
            }
            if self.depth > max_depth {
                return Err(Fault::too_deep(max_depth));
            }
        }
        Ok(None)
    }
}

/// The members of an object in braces: `--key value`, `key => value` or `"key": value`, parted by
/// white space or commas.
fn members(text: &str) -> Result<(Map<String, Value>, Vec<Repair>), String> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let mut rest = inner.ok_or("the arguments have no braces")?;
    let (mut arguments, mut repairs) = (Map::new(), Vec::new());
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return Ok((arguments, repairs));
        }
        let (key, behind) = key(rest)?;
        let end = value_end(behind).ok_or_else(|| format!("the value of `{key}` cannot be read"))?;
        let written = &behind[..end];
        let value = if written.starts_with(['"', '{', '[']) {
            let found = read(written).map_err(|error| format!("the value of `{key}`: {error}"))?;
            repairs.extend(found.repairs);
            found.value
        } else {
            serde_json::from_str(written).map_err(|_| format!("the value of `{key}` has no quotes"))?
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(format!("the parameter `{key}` is given twice"));
        }
        rest = &behind[end..];
        if !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || c == ',') {
            return Err(format!("unexpected text right after the value of `{key}`"));
        }
    }
}

/// Splits a key off the start of `text`; returns it and the text after its sign.
fn key(text: &str) -> Result<(&str, &str), String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (quote, flag) = (text.starts_with('"'), text.strip_prefix("--"));
    let name = flag.or_else(|| text.strip_prefix('"')).unwrap_or(text);
    let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
    let (name, behind) = name.split_at(end);
    let behind = if quote { behind.strip_prefix('"').unwrap_or("") } else { behind }.trim_start();
    let sign = ["=>", ":", "="].iter().find_map(|sign| behind.strip_prefix(sign));
    match sign.or_else(|| flag.map(|_| behind)) {
        Some(behind) if !name.is_empty() => Ok((name, behind.trim_start())),
        _ => Err(format!("expected a parameter, found {:?}", text.chars().take(20).collect::<String>())),
    }
}

/// Returns the end of the value that `text` begins with: a string, an object, a list, or a word.
fn value_end(text: &str) -> Option<usize> {
    let (mut depth, mut bytes) = (0_usize, outside(text));
    for (i, byte) in bytes.by_ref() {
        match byte {
            b'"' => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(i).filter(|end| *end > 0),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(i).filter(|end| *end > 0),
            _ => continue,
        }
        if depth == 0 && matches!(byte, b'}' | b']' | b'"') {
            return Some(i + 1);
        }
    }
    (depth == 0 && !bytes.is_in_string() && !text.is_empty()).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::members;

    #[test]
    fn flags_arrows_and_json_are_members() {
        for (text, expected) in [
            ("{}", json!({})),
            (r#"{ --path "a b" --all true }"#, json!({"path": "a b", "all": true})),
            (r#"{--pattern: "**/*.ts", --n: 3}"#, json!({"pattern": "**/*.ts", "n": 3})),
            (r#"{query => "t\"}", k => [1, {"a": "]"}]}"#, json!({"query": "t\"}", "k": [1, {"a": "]"}]})),
            (r#"{"query": "t", "k": null}"#, json!({"query": "t", "k": null})),
        ] {
            assert_eq!(members(text).map(|(members, _)| json!(members)), Ok(expected), "{text}");
        }
        for text in
            [r"{--all}", r#"{--a "x" y}"#, r#"{"a" "b"}"#, r#"{--a "x"--b "y"}"#, "{--a x}", "{--a 1 --a 2}", "a"]
        {
            assert!(members(text).is_err(), "{text}");
        }
    }
}
