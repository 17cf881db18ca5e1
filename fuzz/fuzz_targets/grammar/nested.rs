//! A call inside the text of another, damaged call: law 7.
//!
//! The outer call writes a file, the inner one deletes one and is part of the file's text, with
//! pieces of syntax before and after it. Whatever happens to the outer call, the inner one never
//! runs.

use serde_json::{Map, Value};
use toolgraft::event::Assembled;

use super::bytes::Bytes;
use super::call::{INNER, MeantCall};
use super::damage::FOREIGN;
use super::spellings::ALL;
use super::syntax::Syntax;

/// Placeholder for the file's text.
const TEXT: &str = "@@";

/// Text that ends a turn or the reasoning: the rest no longer belongs to the call.
const ENDS: &[&str] = &["<think>", "</think>", "<|im_end|>", "\nObservation:"];

#[derive(Debug)]
pub(crate) struct Nested(pub(crate) String);

impl Nested {
    /// Returns `None` if a syntax cannot express such a call, or if no opening delimiter remains
    /// that shows it.
    pub(crate) fn write(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (outer, inner) = (bytes.pick(&ALL), bytes.pick(&ALL));
        let outer_text = written(outer, "write_to_file", &[("path", "a"), ("content", TEXT)], bytes)?;
        let inner_text = written(inner, INNER, &[("path", "/")], bytes)?;
        let (before, after) = outer_text.split_once(TEXT)?;
        // Without a marker a call is recognised by the text after its name, up to the first
        // argument.
        if after.contains("path") || (outer.is_bare() && !before.contains("path")) {
            return None;
        }
        // A bracket alone is closed by any other.
        let closes = after.trim_end().ends_with('>') || after.ends_with("[/TOOL_CALLS]") || after.ends_with("REQUEST]");
        let mut text = format!("{before}x");
        match bytes.below(4) {
            // The file contains the end of its own call.
            0 if closes => text.push_str(after),
            1 if closes => text.push_str(&format!("\n{after}")),
            _ => (0..bytes.below(4)).for_each(|_| text.push_str(piece(bytes))),
        }
        text.push_str(&format!("\n{inner_text}\n"));
        for _ in 0..bytes.below(3) {
            let piece = piece(bytes);
            // A bracket that is opened there would be closed by those that show the damage.
            text.push_str(if !closes && piece.contains(['{', '[', '(']) { "z" } else { piece });
        }
        Some(Nested(text + "y" + after))
    }

    /// Checks that the inner call does not run.
    pub(crate) fn check(&self, found: &Assembled) -> Result<(), String> {
        match found.calls().find(|call| call.tool == INNER) {
            Some(call) => Err(format!("a call in the text of another one runs: {call:?}")),
            None => Ok(()),
        }
    }
}

/// Writes one call in a syntax.
fn written(syntax: &Syntax, tool: &'static str, arguments: &[(&str, &str)], bytes: &mut Bytes<'_>) -> Option<String> {
    let arguments: Map<String, Value> =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    (syntax.write)(syntax, &[MeantCall::of(syntax.dialect, tool, arguments)], bytes)
}

fn piece(bytes: &mut Bytes<'_>) -> &'static str {
    let piece = *bytes.pick(FOREIGN);
    if ENDS.contains(&piece) { "\n" } else { piece }
}
