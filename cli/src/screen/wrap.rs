//! Text in rows of a terminal: where a line may end, and how a row grows while its text comes.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr};

use unicode_linebreak::linebreaks;
use unicode_width::UnicodeWidthChar;

use super::boxes::{cut_at, width};
use crate::terminal::columns;

/// Minimum width in columns of the text beside the head of a list entry.
const LEAST_ROOM: usize = 24;

/// Splits a line into rows of at most `columns`; joined, they are the line. A row ends after a space, or at an
/// ideograph where the CJK rules allow it. A word is split only if it is wider than a row. Spaces at a row's end may
/// extend beyond the columns.
pub(crate) fn rows(line: &str, columns: usize) -> Vec<&str> {
    let columns = columns.max(2);
    let (mut rows, mut start, mut used, mut at) = (Vec::new(), 0, 0, 0);
    for end in ends(line) {
        let word = &line[at..end];
        // A word that begins its row is cut below, where it is wider than that.
        if used > 0 && used + width(word.trim_end_matches(' ')) > columns {
            rows.push(&line[start..at]);
            (start, used) = (at, 0);
        }
        for (offset, c) in word.char_indices() {
            let wide = c.width().unwrap_or(0);
            // Spaces hang over the edge, where nobody sees them.
            if used + wide > columns && c != ' ' {
                rows.push(&line[start..at + offset]);
                (start, used) = (at + offset, 0);
            }
            used += wide;
        }
        at = end;
    }
    rows.push(&line[start..]);
    rows
}

/// Returns a text for stderr: wrapped between words if that is a terminal, else unchanged.
pub(crate) fn wrapped(text: &str) -> String {
    if stderr().is_terminal() { in_rows(text) } else { text.to_owned() }
}

/// Wraps a text between words to the terminal's width; see [`hung`].
pub(crate) fn in_rows(text: &str) -> String {
    let columns = columns();
    text.split('\n').flat_map(|line| hung(line, columns)).collect::<Vec<_>>().join("\n")
}

/// Wraps a line; rows after the first are indented, so that untrusted text in the line never begins a row as a line of
/// the program does.
pub(crate) fn hung(line: &str, columns: usize) -> Vec<String> {
    /// Minimum indent of rows after the first.
    const INDENT: usize = 2;
    if width(line.trim_end()) <= columns {
        return vec![line.trim_end().to_owned()];
    }
    let own = line.len() - line.trim_start_matches(' ').len();
    let indent = own.max(INDENT).min(columns / 2);
    let cut = rows(line, columns - indent);
    let indents = std::iter::once(0).chain(std::iter::repeat(indent));
    cut.into_iter().zip(indents).map(|(row, indent)| format!("{:indent$}{}", "", row.trim_end())).collect()
}

/// Lays out a list entry: rows after the first are indented to the width of its head. If there is hardly room beside
/// the head, the entry is laid out as a line.
pub(crate) fn hanging(head: &str, text: &str, columns: usize) -> String {
    let indent = width(head);
    if columns < indent + LEAST_ROOM {
        return hung(&format!("{head}{text}"), columns).join("\n");
    }
    let rows = rows(text, columns - indent).into_iter().map(str::trim_end).collect::<Vec<_>>();
    format!("{head}{}", rows.join(&format!("\n{:indent$}", ""))).trim_end().to_owned()
}

/// Returns a row without an incomplete last word.
fn whole_words(row: &str) -> &str {
    let end = ends(row).take_while(|end| *end < row.len()).last().unwrap_or(0);
    if row.ends_with(' ') { row } else { &row[..end] }
}

/// Returns the visible part of a row, without the spaces that extend beyond its edge.
fn seen(row: &str, columns: usize) -> &str {
    let words = row.trim_end_matches(' ');
    let room = columns.saturating_sub(width(words));
    &row[..(words.len() + room).min(row.len())]
}

/// Returns the byte offsets at which a line may be broken, including its end. Of the breaks that the Unicode rules
/// allow, those after hyphens and slashes are excluded, since they would split paths and options.
fn ends(line: &str) -> impl Iterator<Item = usize> + '_ {
    let is_wide = |c: char| c.width() == Some(2);
    linebreaks(line).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (line[..*at].chars().next_back(), line[*at..].chars().next());
        // The rules would also part `--dry-run` and `src/main.rs`.
        after.is_none() || before.is_some_and(|c| c == ' ' || is_wide(c)) || after.is_some_and(is_wide)
    })
}

/// The row of the terminal to which text is being written.
#[derive(Debug, Default)]
pub(super) struct OpenRow {
    /// The text of the current row.
    text: String,
    /// Number of bytes of the row's text that are on the terminal.
    shown: usize,
}

/// The layout of rows on a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) columns: usize,
    /// The prefix of each row.
    pub(super) gutter: &'a str,
    /// `true` if written text of a row may be erased and rewritten; else a word is delayed until it is complete.
    pub(super) moves: bool,
    /// `true` if words are split at the end of a full row.
    pub(super) cuts: bool,
}

impl Layout<'_> {
    fn rows<'t>(&self, line: &'t str) -> Vec<&'t str> {
        let columns = self.columns.saturating_sub(width(self.gutter));
        if self.cuts { cut(line, columns) } else { rows(line, columns) }
    }

    fn seen<'t>(&self, row: &'t str) -> &'t str {
        seen(row, self.columns.saturating_sub(width(self.gutter)))
    }
}

/// Splits a line into rows that are each filled to `columns`, without regard to words.
pub(super) fn cut(line: &str, columns: usize) -> Vec<&str> {
    cut_at(line, columns, |_, _| None)
}

impl OpenRow {
    /// Returns `true` if the current row has no text.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the width of the row's text in columns.
    pub(super) fn width(&self) -> usize {
        width(&self.text)
    }

    /// Adds text without line breaks to the row, and returns the number of new rows that were begun.
    pub(super) fn push(&mut self, out: &mut String, text: &str, layout: Layout<'_>) -> usize {
        let line = match self.text.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(std::mem::take(&mut self.text) + text),
        };
        let rows = layout.rows(&line);
        let (last, before) = (rows.len() - 1, std::mem::take(&mut self.shown));
        for (n, row) in rows.iter().enumerate() {
            // The last word may go on, and may then belong to the next row.
            let is_whole = layout.moves || layout.cuts || n < last;
            let seen = layout.seen(if is_whole { row } else { whole_words(row) });
            let stands = if n == 0 { before } else { 0 };
            if n > 0 {
                out.push('\n');
            }
            self.shown = seen.len();
            match seen.get(stands..) {
                Some("") => {}
                Some(new) if stands > 0 => out.push_str(new),
                Some(new) => out.extend([layout.gutter, new]),
                // The word that the row ended with goes to the next one.
                None if layout.moves => out.extend(["\r\x1b[K", layout.gutter, seen]),
                None => self.shown = stands,
            }
        }
        self.text = rows[last].to_owned();
        last
    }

    /// Writes the delayed text of the row and ends the row.
    pub(super) fn end(&mut self, out: &mut String, layout: Layout<'_>) {
        let row = std::mem::take(self);
        match layout.seen(&row.text).get(row.shown..).unwrap_or_default() {
            "" => {}
            held if row.shown > 0 => out.push_str(held),
            held => out.extend([layout.gutter, held]),
        }
    }
}

/// Returns the lines of a terminal of this width after it has processed the output.
#[cfg(test)]
pub(super) fn shown(out: &str, columns: usize) -> Vec<String> {
    let size = |n: usize| u16::try_from(n).ok().and_then(std::num::NonZero::new).unwrap();
    let mut terminal = vt100::Parser::new(size(100), size(columns), 0);
    terminal.process(out.replace('\n', "\r\n").as_bytes());
    terminal.screen().contents().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 6] = [
        "It rains in Oslo today, and tomorrow the sun comes out.",
        "武汉今天有雨，明天晴。（气温）十八度、风力三级。",
        "Paths such as cli/src/screen/wrap.rs and --reasoning-display stay whole: 天气 weather 天气.",
        "a  b   c    d     e      f",
        "pneumonoultramicroscopicsilicovolcanoconiosis is long",
        "",
    ];

    #[test]
    fn a_row_ends_between_words_and_no_full_stop_of_chinese_begins_one() {
        assert_eq!(rows(TEXTS[0], 12), ["It rains in ", "Oslo today, ", "and tomorrow ", "the sun ", "comes out."]);
        assert_eq!(rows(TEXTS[1], 8), ["武汉今天", "有雨，明", "天晴。", "（气温）", "十八度、", "风力三", "级。"]);
        assert!(rows(TEXTS[2], 30).iter().any(|row| row.contains("cli/src/screen/wrap.rs")));
        assert_eq!(rows(TEXTS[4], 20), ["pneumonoultramicrosc", "opicsilicovolcanocon", "iosis is long"]);
    }

    #[test]
    fn rows_are_the_line_and_fit() {
        for (text, columns) in TEXTS.iter().flat_map(|text| (2..40).map(move |columns| (*text, columns))) {
            assert_eq!(rows(text, columns).concat(), text);
            assert_eq!(cut(text, columns).concat(), text);
            assert!(
                rows(text, columns).iter().all(|row| width(row.trim_end_matches(' ')) <= columns),
                "{text} {columns}"
            );
        }
    }

    #[test]
    fn no_word_of_a_line_begins_a_row_as_a_line_does() {
        assert_eq!(hung("warning: a name, error: all is lost", 18), ["warning: a name,", "  error: all is", "  lost"]);
        assert_eq!(hung("    that goes on with another", 17), ["    that goes", "    on with", "    another"]);
        assert_eq!(hung("it fits, just so", 16), ["it fits, just so"]);
        for (text, columns) in TEXTS.iter().flat_map(|text| (4..40).map(move |columns| (*text, columns))) {
            let rows = hung(text, columns);
            assert!(rows.iter().all(|row| width(row) <= columns), "{text} {columns}");
            assert!(rows.iter().skip(1).all(|row| row.starts_with("  ")), "{text} {columns}");
        }
    }

    #[test]
    fn an_entry_of_a_list_goes_on_below_its_first_row() {
        let text = "files with the next question";
        assert_eq!(hanging("  /file  ", text, 33), "  /file  files with the next\n         question");
        assert_eq!(hanging("  /file  ", text, 100), format!("  /file  {text}"));
        // There is hardly room beside the head.
        assert_eq!(hanging("  /file  ", text, 30), "  /file  files with the next\n  question");
    }

    #[test]
    fn a_row_grows_to_what_it_would_be_at_once_however_its_text_comes() {
        for (text, columns, moves) in
            TEXTS.iter().flat_map(|text| [9, 14, 30].map(|c| [(*text, c, true), (*text, c, false)])).flatten()
        {
            let layout = Layout { columns, gutter: "┆ ", moves, cuts: false };
            let expected: Vec<_> = rows(text, columns - 2).iter().map(|row| format!("┆ {}", row.trim_end())).collect();
            let mut out = String::new();
            let mut row = OpenRow::default();
            for c in text.chars() {
                row.push(&mut out, c.encode_utf8(&mut [0; 4]), layout);
            }
            row.end(&mut out, layout);
            assert_eq!(
                shown(&out, columns + 1),
                if text.is_empty() { Vec::new() } else { expected },
                "{text} {columns} {moves}"
            );
            assert!(moves || !out.contains('\r'), "nothing is taken back");
        }
    }
}
