//! An answer in Markdown on a terminal while it comes.
//!
//! The open block is shown as the model writes it, wrapped at the width. When it
//! ends, its rows are taken back and the rendered block takes their place. That needs all of
//! its rows within reach: what has scrolled out of the terminal, or what was written before the
//! terminal became narrower, stays as it was written. So nothing is shown twice or lost. Code
//! between fences has its form from the start, line by line, and may be as long as it likes.
//!
//! ```text
//! text ─▶ source of the open block ─▶ plain rows ──┐
//!             │ a line has ended                   ├─▶ terminal
//!             └▶ which blocks are whole? ─▶ rendered ┘
//! ```

use std::fmt::Write as _;

use super::markdown::{
    CODE_INDENT, Ends, MarkdownBlock, TableRow, blocks, code_label, code_rows, keeps_letters, render, without_colour,
};
use super::wrap::{Layout, OpenRow};

/// Size of a block in bytes beyond which it is not parsed again at each line once its rows cannot be replaced.
const LONG: usize = 64 * 1024;

/// The answer being received, as Markdown. Its methods return the output for the terminal.
#[derive(Default)]
pub(super) struct Page {
    columns: usize,
    /// Smallest number of terminal rows since the current block began.
    height: usize,
    /// Current number of terminal rows.
    height_now: usize,
    /// Source text of the current block.
    source: String,
    /// Number of bytes of `source` that are on the terminal, apart from line breaks at its end.
    shown: usize,
    /// Opening fence of the current code block; `None` outside one.
    fence: Option<String>,
    row: OpenRow,
    /// Number of rows of the current block above the one that is being written.
    rows: usize,
    /// Number of line breaks that are written only when text follows them.
    breaks: usize,
    /// Number of empty code lines that are written only when code follows them.
    empty_code: usize,
    /// `true` if a block precedes the current one; the next field is `true` if an empty row separates them.
    has_block: bool,
    parted: bool,
    /// `true` while the number of terminal rows of the current block is known.
    countable: bool,
    /// `true` if the current row is wider than the terminal after a resize.
    too_wide: bool,
    /// `true` if colours are off.
    is_uncoloured: bool,
}

impl Page {
    pub(super) fn new(columns: usize, height: usize, is_uncoloured: bool) -> Self {
        let columns = columns.saturating_sub(1);
        Page { columns, height, height_now: height, countable: true, is_uncoloured, ..Page::default() }
    }

    /// Returns `true` if the cursor is at the start of a line and the current block has no rows.
    pub(super) fn is_fresh(&self) -> bool {
        self.rows == 0 && self.row.is_empty()
    }

    /// Updates the size after the terminal was resized.
    pub(super) fn resize(&mut self, columns: usize, height: usize) {
        // In the last column some terminals wait with the line's end.
        let columns = columns.saturating_sub(1);
        if columns < self.columns && !self.is_fresh() {
            // Some terminals break the rows anew, some cut them off.
            self.countable = false;
            self.too_wide = self.row.width() > columns;
        }
        (self.columns, self.height_now) = (columns, height);
        self.height = self.height.min(height);
    }

    /// Adds text that contains no control characters; returns the output for the terminal.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            self.source.push_str(piece);
            let line_ends = piece.ends_with('\n');
            if self.source.trim().is_empty() && self.fence.is_none() {
                if line_ends {
                    self.source.clear();
                    self.parted = true;
                }
                continue;
            }
            self.show(&mut out);
            match self.fence {
                Some(_) if line_ends => self.code_line(&mut out),
                None if line_ends || self.begins_block(piece) => self.settle(&mut out),
                _ => {}
            }
        }
        out
    }

    /// Ends the answer: the current block is rendered as it is. Returns the output for the terminal.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        if self.fence.is_some() {
            if !self.source.is_empty() {
                self.code_line(&mut out);
            }
        } else if !self.source.trim().is_empty() {
            let whole = self.source.len();
            self.close(&mut out, whole);
        }
        // `new` takes the free column off again.
        *self = Page::new(self.columns + 1, self.height_now, self.is_uncoloured);
        out
    }

    /// Returns `true` if this piece completes enough of the line after an empty line to tell which kind of block
    /// begins.
    fn begins_block(&self, piece: &str) -> bool {
        let (before, line) = self.source.rsplit_once('\n').unwrap_or_default();
        let says = |line: &str| line.trim_start().contains(|c: char| c == ' ' || !c.is_ascii());
        before.ends_with('\n') && says(line) && !says(&line[..line.len().saturating_sub(piece.len())])
    }

    fn layout(&self) -> Layout<'static> {
        let in_code = self.fence.is_some();
        Layout { columns: self.columns, gutter: if in_code { CODE_INDENT } else { "" }, moves: true, cuts: in_code }
    }

    /// Writes the part of the source that is not on the terminal yet, without rendering it.
    fn show(&mut self, out: &mut String) {
        let text = self.source[self.shown..].to_owned();
        for line in text.split_inclusive('\n') {
            let words = line.trim_end_matches('\n');
            let begins = self.breaks > 0 || self.is_fresh();
            if words.trim().is_empty() && begins {
                // Spaces at a line's start wait for the text after them.
                if words.len() == line.len() {
                    return;
                }
            } else {
                if begins {
                    self.begin_row(out);
                }
                if std::mem::take(&mut self.too_wide) {
                    out.push('\n');
                    self.row = OpenRow::default();
                }
                self.rows += self.row.push(out, words, self.layout());
            }
            self.shown += line.len();
            self.breaks += usize::from(words.len() < line.len());
        }
    }

    fn begin_row(&mut self, out: &mut String) {
        if self.is_fresh() {
            if std::mem::take(&mut self.parted) && self.has_block {
                out.push('\n');
            }
            self.breaks = self.empty_code;
        }
        // Code keeps all of its empty lines; text shows several as one.
        let breaks = std::mem::take(&mut self.breaks).min(if self.fence.is_some() { usize::MAX } else { 2 });
        out.extend(std::iter::repeat_n('\n', breaks));
        self.rows += breaks;
        (self.row, self.too_wide) = (OpenRow::default(), false);
    }

    /// Renders the blocks of the source that are complete.
    fn settle(&mut self, out: &mut String) {
        // Where nothing can be taken back only the block's end is of interest.
        if !self.is_reachable() && self.source.len() > LONG && !self.source.ends_with("\n\n") {
            return;
        }
        let blocks = blocks(&self.source);
        let Some(MarkdownBlock { start, ends }) = blocks.last().copied() else { return };
        let line_ended = self.source.ends_with('\n');
        let is_whole = line_ended
            && match ends {
                Ends::Line => true,
                Ends::EmptyLine => self.source.ends_with("\n\n"),
                Ends::NextBlock | Ends::Fence => false,
            };
        let end = if is_whole { self.source.len() } else { start };
        if end > 0 {
            self.close(out, end);
        }
        if line_ended && ends == Ends::Fence {
            self.open_fence(out);
        }
    }

    /// Enters a code block if the source consists of its opening line only: replaces that line by the language.
    fn open_fence(&mut self, out: &mut String) {
        let line = self.source.trim().to_owned();
        let Some(mark) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else { return };
        let language = line.trim_start_matches(mark);
        if self.source.matches('\n').count() > 1 || !self.is_reachable() {
            return;
        }
        self.take_back(out);
        if let Some(label) = code_label(language) {
            self.write_row(out, &label);
            self.has_block = true;
        }
        self.fence = Some(line[..line.len() - language.len()].to_owned());
        self.forget();
    }

    /// Renders the complete line of code in the source, or ends the code block if it is the closing fence.
    fn code_line(&mut self, out: &mut String) {
        let fence = self.fence.clone().unwrap_or_default();
        let line = self.source.trim_end_matches('\n').to_owned();
        let mark = line.trim();
        // As CommonMark has it: at least as long as the opening fence, and nothing but its character.
        let closes = mark.starts_with(&fence) && mark.chars().all(|c| fence.starts_with(c));
        if line.trim().is_empty() {
            self.empty_code += 1;
            return self.forget();
        }
        let empty = std::mem::take(&mut self.empty_code);
        if self.is_reachable() {
            self.take_back(out);
        } else {
            self.end_rows(out);
        }
        if closes {
            self.fence = None;
        } else if self.is_reachable() {
            out.extend(std::iter::repeat_n('\n', empty));
            code_rows(&line, self.columns).iter().for_each(|row| self.write_row(out, row));
        }
        self.has_block = true;
        self.forget();
    }

    /// Replaces the source up to byte offset `end` by its rendered form, if possible, and continues with the rest.
    fn close(&mut self, out: &mut String, end: usize) {
        let rest = self.source.split_off(end);
        let rows = render(&self.source, self.columns);
        let ends_empty = self.source.trim_end_matches(' ').ends_with("\n\n");
        if self.is_reachable() && keeps_letters(&self.source, &rows) {
            self.take_back(out);
            rows.iter().for_each(|row| self.write_row(out, row));
        } else if rest.trim().is_empty() {
            self.end_rows(out);
        } else {
            // The rest is on the terminal already; showing it on a second page counts its rows.
            let mut there = Page::new(self.columns + 1, self.height_now, self.is_uncoloured);
            there.source.clone_from(&rest);
            there.show(&mut String::new());
            (self.row, self.rows, self.breaks) = (there.row, there.rows, there.breaks);
            (self.shown, self.has_block, self.parted) = (rest.len(), true, false);
            self.source = rest;
            return;
        }
        self.has_block = true;
        self.forget();
        self.parted = ends_empty;
        self.source = rest;
        if self.source.trim().is_empty() {
            self.parted |= self.source.contains('\n');
            self.source.clear();
        } else {
            self.show(out);
        }
    }

    /// Returns `true` if all rows of the current block are still on the screen and counted, so that they can be
    /// replaced.
    fn is_reachable(&self) -> bool {
        self.countable && self.rows < self.height
    }

    /// Erases the rows of the current block and moves the cursor to their start.
    fn take_back(&mut self, out: &mut String) {
        if self.is_fresh() {
            return;
        }
        out.push('\r');
        if self.rows > 0 {
            let _ = write!(out, "\x1b[{}A", self.rows);
        }
        out.push_str("\x1b[J");
        (self.rows, self.row) = (0, OpenRow::default());
    }

    /// Ends the current row and leaves the rows unrendered.
    fn end_rows(&mut self, out: &mut String) {
        self.row.end(out, self.layout());
        out.push('\n');
    }

    /// Clears the current block.
    fn forget(&mut self) {
        self.source.clear();
        (self.shown, self.rows, self.breaks, self.row) = (0, 0, 0, OpenRow::default());
        (self.countable, self.too_wide, self.height) = (true, false, self.height_now);
    }

    fn write_row(&self, out: &mut String, row: &TableRow) {
        for (style, text) in row {
            let style = if self.is_uncoloured { without_colour(*style) } else { *style };
            let _ = write!(out, "{style}{text}{style:#}");
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::wrap::shown;

    const ANSWERS: [&str; 9] = [
        "It **rains** in Oslo.",
        "# Weather\n\nIt is *wet* and cold in Oslo today, and so it stays.\n\n## Tomorrow\nSun.\n",
        "Here:\n\n- rain and more rain, all day long\n  - inner\n- wind\n\n1. one\n2. two\n\nDone, and **well**.",
        "```rust\nfn main() {\n\n    println!(\"a long line of code that is longer than a row\");\n}\n\n```\nand `so` on",
        "| a | b |\n|---|---|\n| one | two |\n| 武汉 | 晴 |\n\nafter the table",
        "> quoted words of somebody\n> in two lines\n\n---\n\n武汉今天有雨，明天晴。气温十八度。\n\n* star\n\n  more of it\n* last",
        "\n\nText\n====\n\n\n\nMore\n\n~~~\nunclosed\n\ncode",
        "- a\n\nText behind a list, in one long line of words that is wrapped\n\n    indented code\n\nend\n",
        "a [link](https://y.example) &amp; ~~gone~~\n\n[x]: https://x.example\n\n<div>\nhtml\n</div>\n",
    ];

    fn written(answer: &str, size: usize, columns: usize, height: usize) -> String {
        let mut page = Page::new(columns, height, false);
        let characters: Vec<char> = answer.chars().collect();
        let mut out: String =
            characters.chunks(size).map(|chunk| page.push(&chunk.iter().collect::<String>())).collect();
        out.push_str(&page.finish());
        out
    }

    fn letters(text: &str) -> Vec<char> {
        let mut letters: Vec<char> = text.replace("&amp;", "").chars().filter(|c| c.is_alphabetic()).collect();
        letters.sort_unstable();
        letters
    }

    #[test]
    fn however_it_comes_an_answer_ends_as_its_blocks_rendered() {
        for (answer, columns) in ANSWERS.iter().flat_map(|answer| [20, 33, 80].map(|columns| (answer, columns))) {
            let mut rendered = String::new();
            render(answer, columns - 1).iter().for_each(|row| Page::default().write_row(&mut rendered, row));
            let expected = shown(&rendered, columns);
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(shown(&written(answer, size, columns, 50), columns), expected, "{answer:?} by {size}");
            }
        }
    }

    #[test]
    fn what_has_scrolled_away_stays_and_nothing_is_lost_or_doubled() {
        for (answer, height) in ANSWERS.iter().flat_map(|answer| (0..9).map(move |height| (answer, height))) {
            let all = shown(&written(answer, 1, 24, height), 24).concat();
            assert_eq!(letters(&all), letters(answer), "{answer:?} in {height} rows");
        }
    }

    #[test]
    fn a_terminal_that_becomes_wider_or_narrower_eats_nothing() {
        for (answer, columns) in ANSWERS.iter().flat_map(|answer| [18, 60].map(|columns| (answer, columns))) {
            for at in 0..answer.chars().count() {
                let mut page = Page::new(30, 50, false);
                let before: String = answer.chars().take(at).collect();
                let mut out = page.push(&before);
                page.resize(columns, 50);
                out.push_str(&page.push(&answer[before.len()..]));
                out.push_str(&page.finish());
                let all = shown(&out, columns.max(30)).concat();
                assert_eq!(letters(&all), letters(answer), "{answer:?} at {at}");
            }
        }
    }
}
