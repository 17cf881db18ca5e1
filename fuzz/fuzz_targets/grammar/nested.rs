//! A call that the text of another one holds, which is damaged around it: law 7.
//!
//! The outer call writes a file, the inner one removes one and stands in the file's text as it is,
//! with pieces of syntax before and behind it. Whatever becomes of the outer one, the inner never runs.

use serde_json::{Map, Value};
use toolgraft::event::Assembled;

use super::bytes::Bytes;
use super::call::{INNER, MeantCall};
use super::damage::FOREIGN;
use super::spellings::ALL;
use super::syntax::Syntax;

/// Stands where the file's text does, until that is put there.
const TEXT: &str = "@@";

/// What ends a turn or the reasoning: what stands behind it is not the call's any more.
const ENDS: &[&str] = &["<think>", "</think>", "<|im_end|>", "\nObservation:"];

#[derive(Debug)]
pub(crate) struct Nested(pub(crate) String);

impl Nested {
    /// `None` where a syntax cannot say such a call, or no opener is left that tells of it.
    pub(crate) fn write(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (outer, inner) = (bytes.pick(&ALL), bytes.pick(&ALL));
        let outer_text = written(outer, "write_to_file", &[("path", "a"), ("content", TEXT)], bytes)?;
        let inner_text = written(inner, INNER, &[("path", "/")], bytes)?;
        let (before, behind) = outer_text.split_once(TEXT)?;
        // Without a marker a call is known by what follows its name, up to the first argument.
        if behind.contains("path") || (outer.is_bare() && !before.contains("path")) {
            return None;
        }
        // Brackets alone are closed by any.
        let closes =
            behind.trim_end().ends_with('>') || behind.ends_with("[/TOOL_CALLS]") || behind.ends_with("REQUEST]");
        let mut text = format!("{before}x");
        match bytes.below(4) {
            // The file holds how its own call ends.
            0 if closes => text.push_str(behind),
            1 if closes => text.push_str(&format!("\n{behind}")),
            _ => (0..bytes.below(4)).for_each(|_| text.push_str(piece(bytes))),
        }
        text.push_str(&format!("\n{inner_text}\n"));
        for _ in 0..bytes.below(3) {
            let piece = piece(bytes);
            // Brackets that are open there are closed by those that would tell of the damage.
            text.push_str(if !closes && piece.contains(['{', '[', '(']) { "z" } else { piece });
        }
        Some(Nested(text + "y" + behind))
    }

    /// Whether the inner call does not run.
    pub(crate) fn check(&self, found: &Assembled) -> Result<(), String> {
        match found.calls().find(|call| call.tool == INNER) {
            Some(call) => Err(format!("a call in the text of another one runs: {call:?}")),
            None => Ok(()),
        }
    }
}

/// One call in a syntax.
fn written(syntax: &Syntax, tool: &'static str, arguments: &[(&str, &str)], bytes: &mut Bytes<'_>) -> Option<String> {
    let arguments: Map<String, Value> =
        arguments.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    (syntax.write)(syntax, &[MeantCall::of(syntax.dialect, tool, arguments)], bytes)
}

fn piece(bytes: &mut Bytes<'_>) -> &'static str {
    let piece = *bytes.pick(FOREIGN);
    if ENDS.contains(&piece) { "\n" } else { piece }
}
