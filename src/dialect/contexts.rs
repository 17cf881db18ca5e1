//! Blocks that hold text as it is, beside Markdown's fences: a call in one is shown, not made.
//!
//! `docs/parser.md` says where each counts. A tag with the name of a known tool or parameter opens
//! none.

use std::sync::LazyLock;

use serde::Deserialize;

use super::table::{leaked, table};
use super::{REASONING_MARKS, ReasoningMark};

/// The syntax of the delimiters of a quoting block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockForm {
    /// A block from the opener to the closer, either of which may be anywhere in a line.
    Anywhere,
    /// A block from a tag at the start or the end of its line to its closing tag, which may be anywhere. The field is
    /// the bracket of the tag: `<` in HTML, `[` in the markup of forums.
    Tag(char),
    /// A block from a line that begins with the opener, in upper or lower case, to the closer anywhere in a line.
    FromALine,
    /// A block from a line that begins with the opener to a line that begins with the closer, in upper or lower case.
    Lines,
}

/// A block whose content is quoted: a call in it is an example and does not run.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct QuotingBlock {
    /// The opening delimiter; for [`BlockForm::Tag`] the name of the tag.
    #[serde(deserialize_with = "leaked")]
    pub open: &'static str,
    /// The closing delimiter; for [`BlockForm::Tag`] the name of the tag.
    #[serde(deserialize_with = "leaked")]
    pub close: &'static str,
    /// The syntax of the delimiters.
    pub form: BlockForm,
    /// `true` if the block is a comment.
    #[serde(default)]
    pub is_comment: bool,
    /// The format that defines the block, and its documentation.
    pub source: &'static str,
}

/// Names of HTML elements that have no closing tag, or whose closing tag may be omitted (html.spec.whatwg.org, 13.1.2).
const HTML_UNCLOSED: &[&str] = &[
    "body", "br", "dd", "dt", "head", "hr", "html", "img", "input", "li", "link", "meta", "option", "p", "source",
    "tbody", "td", "tfoot", "th", "thead", "tr",
];

/// Names of tags that models write around calls of any syntax, around their answer or their reasoning (prompts of
/// agents).
const AROUND_CALLS: &[&str] = &[
    "action", "actions", "answer", "call", "calls", "function", "function_call", "function_calls", "functions",
    "output", "response", "think", "thinking", "tool", "tool_call", "tool_calls", "tools",
];

/// Returns `true` if an element of this name does not show that a call inside it is an example.
pub(crate) fn names_no_element(name: &str) -> bool {
    let mut known = HTML_UNCLOSED.iter().chain(AROUND_CALLS);
    let is_mark =
        |mark: &ReasoningMark| mark.open.strip_prefix('<').and_then(|open| open.strip_suffix('>')) == Some(name);
    name.contains("//") || known.any(|known| known.eq_ignore_ascii_case(name)) || REASONING_MARKS.iter().any(is_mark)
}

/// All quoting blocks. Heredocs, whose closer is a word of their own, are read in `parse/text/blocks.rs`, and
/// triple quotes in `parse/text/context/lines.rs`; `<pre>` and `<code>` are handled as fences.
pub static QUOTING_BLOCKS: LazyLock<Box<[QuotingBlock]>> = LazyLock::new(|| table!("quoting_blocks"));

/// Beginnings of a comment's line: a call right after one is part of the comment.
pub(crate) const COMMENT_SIGNS: &[&str] = &["//", "#", "--", ";", ";;", "%", "REM", "rem"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_begins_another_and_each_has_a_source() {
        for block in QUOTING_BLOCKS.iter() {
            assert!(!block.source.is_empty() && block.open.is_ascii() && block.close.is_ascii(), "{}", block.open);
            if matches!(block.form, BlockForm::Tag(_)) {
                continue;
            }
            let others = QUOTING_BLOCKS.iter().filter(|other| *other != block);
            assert!(others.clone().all(|other| !other.open.starts_with(block.open)), "{}", block.open);
        }
    }
}
