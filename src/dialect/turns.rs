//! Turns and results in plain text: the beginnings of another's lines, and of the lines of results.
//!
//! Tokens that a chat template has for them are in [`tokens`](super::tokens). These rows are for turns and results that
//! are written as text: the formats of completion models, of agents' prompts and of our own. In a row that begins with
//! `[`, `#` is a number and `@` a name in small letters.

use std::sync::LazyLock;

use serde::Deserialize;

use super::introductions::Introductions;
use super::table::{leaked, table};
use crate::json::window::{Match, No, Undecided, begins};

/// The positions at which a line counts as the beginning of a turn or a result that is not the model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineCounts {
    /// The line counts only after a call, since an answer may begin with the same words.
    AfterCall,
    /// The line counts after a call, and at the start of the message.
    AtTheStart,
    /// The line counts at the start of any line.
    Everywhere,
}

/// The beginning of a line that starts a turn or a result that the model does not write.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TurnLine {
    /// The text of the beginning; in a text that begins with `[`, `#` is a number and `@` a name in lower case.
    #[serde(deserialize_with = "leaked")]
    pub text: &'static str,
    /// The positions at which the line counts.
    pub counts: LineCounts,
    /// The model or program that writes the line, and its documentation.
    pub source: &'static str,
}

/// Beginnings of a turn that is not the model's, such as the user's.
///
/// A row counts after a call, at the start of the message, and after text and a blank line; a special token counts at
/// the start of each line.
pub static USER_LINES: LazyLock<Box<[TurnLine]>> = LazyLock::new(|| table!("user_lines"));

/// Texts before results of calls; those of the program's own prompts are in `Introductions`
/// (`dialect/introductions.rs`).
pub static RESULT_LINES: LazyLock<Box<[TurnLine]>> = LazyLock::new(|| table!("result_lines"));

/// Names of tags around results of calls, `<TAG>` or `<TAG ` with attributes, with their sources.
/// If no call is before it, a tag counts only at a line's start.
pub static RESULT_TAGS: LazyLock<Box<[(&'static str, &'static str)]>> = LazyLock::new(|| table!("result_tags"));

/// Matches the text of a row (`#` a number, `@` a name) at the start of `text`; undecided while `more` may complete it.
#[inline]
pub(crate) fn begins_line(row: &str, text: &str, more: bool) -> Match<()> {
    match (row.as_bytes(), text.as_bytes()) {
        // Nearly always the text after the bracket is another.
        ([b'[', in_row, ..], [_, in_text, ..]) if in_row != in_text && !matches!(in_row, b'#' | b'@') => Err(No),
        // Only rows in brackets hold a number or a name.
        ([b'[', ..], _) => begins_row(row, text, more),
        _ => begins(text, row, more),
    }
}

fn begins_row(row: &str, text: &str, more: bool) -> Match<()> {
    let Some(at) = row.bytes().position(|byte| matches!(byte, b'#' | b'@')) else {
        return begins(text, row, more);
    };
    begins(text, &row[..at], more)?;
    let is_number = row.as_bytes()[at] == b'#';
    let fits = |b: &u8| {
        if is_number { b.is_ascii_digit() } else { b.is_ascii_lowercase() || *b == b'_' || b.is_ascii_digit() }
    };
    let length = text.bytes().skip(at).take(MAX_NAME).take_while(fits).count();
    match &text[at + length..] {
        // More of the name may come.
        "" if more && length < MAX_NAME => Err(Undecided),
        rest if length > 0 => begins_row(&row[at + 1..], rest, more),
        _ => Err(No),
    }
}

/// Maximum length in bytes of a number or name in such a line.
const MAX_NAME: usize = 48;

/// Returns the beginnings of all results' lines and the positions at which each counts: the table's and the prompts'.
fn result_lines() -> impl Iterator<Item = (&'static str, LineCounts)> {
    let ours = Introductions::results()
        .map(|(text, alone)| (text, if alone { LineCounts::AtTheStart } else { LineCounts::AfterCall }));
    RESULT_LINES.iter().map(|row| (row.text, row.counts)).chain(ours)
}

/// The beginning of a line that the model does not write: its text, where it counts, and `true` if it is a user's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OthersLine {
    pub(crate) text: &'static str,
    pub(crate) counts: LineCounts,
    pub(crate) is_user: bool,
}

/// The beginnings of lines that the model does not write, sorted by their first byte.
pub(crate) struct OthersLines {
    pub(crate) all: Vec<OthersLine>,
    /// For each byte, and for 256, the number of lines whose first byte is smaller.
    before: [usize; 257],
}

/// All beginnings of lines that the model does not write.
pub(crate) static OTHERS_LINES: LazyLock<OthersLines> = LazyLock::new(|| {
    let users = USER_LINES.iter().map(|row| OthersLine { text: row.text, counts: row.counts, is_user: true });
    let results = result_lines().map(|(text, counts)| OthersLine { text, counts, is_user: false });
    let mut all: Vec<_> = users.chain(results).collect();
    let first = |line: &OthersLine| usize::from(line.text.as_bytes()[0]);
    all.sort_by_key(first);
    let before = std::array::from_fn(|byte| all.partition_point(|line| first(line) < byte));
    OthersLines { all, before }
});

impl OthersLines {
    /// Returns the lines whose first byte is that of `text`; all lines if `text` is empty.
    pub(crate) fn at(&self, text: &str) -> &[OthersLine] {
        let Some(first) = text.bytes().next().map(usize::from) else { return &self.all };
        &self.all[self.before[first]..self.before[first + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_lines_with_numbers_and_names() {
        for (row, text, found) in [
            ("[Round #] USER:", "[Round 12] USER: hi", Ok(())),
            ("[Round #] USER:", "[Round x] USER: hi", Err(No)),
            ("[Round #] USER:", "[Round ] USER:", Err(No)),
            ("[@ for '", "[use_mcp_tool for 'w'] Result:", Ok(())),
            ("[@ for '", "[link](for 'w')", Err(No)),
            ("[@] Result:", "[list_files] Result:", Ok(())),
            ("[Round #]", "(Round 1)", Err(No)),
            ("### User:", "### User: hi", Ok(())),
            ("### User:", "### Users", Err(No)),
        ] {
            assert_eq!(begins_line(row, text, false), found, "{row}: {text}");
            for (end, _) in text.char_indices() {
                let so_far = begins_line(row, &text[..end], true);
                assert!(so_far == Err(Undecided) || so_far == found, "{row}: {}", &text[..end]);
            }
        }
    }

    #[test]
    fn each_row_stands_once_and_has_a_source() {
        let rows: Vec<_> = USER_LINES.iter().chain(&*RESULT_LINES).collect();
        for (at, row) in rows.iter().enumerate() {
            assert!(!row.source.is_empty() && row.text.len() > 3, "{}", row.text);
            assert!(rows[..at].iter().all(|other| other.text != row.text), "{}", row.text);
        }
        assert!(RESULT_TAGS.iter().all(|(tag, source)| !tag.is_empty() && !source.is_empty()));
    }
}
