//! Marks around reasoning, by family.
//!
//! `<think>` and `<thinking>`, in any case, count wherever they are, and either closes
//! either. The others count in pairs, where a message or a line begins.

use std::sync::LazyLock;

use serde::Deserialize;

use super::table::table;

/// Names of the tags around reasoning. The tags do not nest, and the closing tag of either name closes both.
pub const THINK_TAGS: [&str; 2] = ["think", "thinking"];

/// A pair of delimiters around the reasoning of some models; an opener is closed only by its own closer.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ReasoningMark {
    /// The opening delimiter: begins with `<`, `[` or `◁`, or is a phrase with which a message begins.
    pub open: &'static str,
    /// A word that may follow the opener, alone on its line or in the block, and counts as part of it.
    #[serde(default, borrow)]
    pub label: Option<&'static str>,
    /// The closing delimiter.
    pub close: &'static str,
    /// The models that write the delimiters, and their documentation; short names as in
    /// `docs/appendix/families.md`.
    pub source: &'static str,
}

impl ReasoningMark {
    /// Returns the tag's name if the opener is a tag. A tag with the name of a tool or parameter does not count as one.
    pub fn tag(&self) -> Option<&'static str> {
        let name = self.open.strip_prefix('<')?.strip_suffix('>')?;
        name.bytes().all(|b| b.is_ascii_lowercase()).then_some(name)
    }

    /// Returns `true` if the opening delimiter is a phrase rather than a tag or a symbol.
    pub(crate) fn is_phrase(&self) -> bool {
        self.open.starts_with(|c: char| c.is_ascii_alphabetic())
    }

    /// Returns `true` if a delimiter is found by its first byte (`<` or `[`), as markers of calls are.
    pub(crate) fn is_marker(text: &str) -> bool {
        text.is_ascii() && text.starts_with(['<', '['])
    }
}

/// All pairs of reasoning delimiters; no opener is a prefix of another. Harmony has channels
/// instead (`parse/marks/channel.rs`).
pub static REASONING_MARKS: LazyLock<Box<[ReasoningMark]>> = LazyLock::new(|| table!("reasoning_marks"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_begins_another() {
        for mark in REASONING_MARKS.iter() {
            for other in REASONING_MARKS.iter().filter(|other| *other != mark) {
                assert!(!other.open.starts_with(mark.open) && !other.close.starts_with(mark.close), "{}", mark.open);
            }
        }
        let tags: Vec<_> = REASONING_MARKS.iter().filter_map(ReasoningMark::tag).collect();
        assert_eq!(tags, ["thought", "reasoning", "thoughts", "reflection", "scratchpad"]);
    }
}
