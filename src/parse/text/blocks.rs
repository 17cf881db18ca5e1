//! Blocks that quote what is in them, from their opener to their closer or the end.

use crate::dialect::{BlockForm, QUOTING_BLOCKS, QuotingBlock};
use crate::event::QuotedIn;
use crate::json::window::{Match, No, Undecided, begins, first_of};
use crate::parse::marks::fence::{begins_any_case, tag_with_attributes};

/// An open block, which quotes its content.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenBlock {
    /// A block from the table of quoting blocks.
    Listed(&'static QuotingBlock),
    /// A heredoc, which a line closes that consists of this word.
    Heredoc { word: [u8; MAX_WORD], length: usize },
}

/// Maximum number of `<` signs that begin a heredoc or a here-string.
const MAX_SIGNS: usize = 3;

/// Maximum length in bytes of the word that closes a heredoc.
const MAX_WORD: usize = 16;

/// The result of the search for a block's closer.
pub(super) enum Ends {
    No,
    /// The closer ends at this offset.
    At(usize),
    /// The closer, or its line, may begin at this offset.
    Perhaps(usize),
}

impl OpenBlock {
    /// Returns the kind of quotation of a call in the block: in a comment, or in another block.
    pub(super) fn quoted_in(&self) -> QuotedIn {
        match self {
            OpenBlock::Listed(row) if row.is_comment => QuotedIn::Comment,
            _ => QuotedIn::Block,
        }
    }

    /// Matches the opener of a block at the start of `text`, at a `<` or a `[`; returns the block, and the opener's
    /// length. `begins_line`: nothing is before it on its line. `is_name`: a tool or a parameter has this name.
    pub(super) fn opened_by_mark(
        text: &str,
        begins_line: impl FnOnce() -> bool,
        is_name: impl Fn(&str) -> bool,
        more: bool,
    ) -> Match<(OpenBlock, usize)> {
        if text.starts_with("<<") {
            return heredoc(text, more);
        }
        let opened = |row: &'static QuotingBlock| match row.form {
            BlockForm::Anywhere => begins(text, row.open, more).map(|()| (row, row.open.len())),
            BlockForm::Tag(bracket) if text.starts_with(bracket) && !is_name(row.open) => {
                tag_with_attributes(text, bracket, row.open, more).map(|length| (row, length))
            }
            _ => Err(No),
        };
        let (row, length) = first_of(QUOTING_BLOCKS.iter().map(opened))?;
        if matches!(row.form, BlockForm::Tag(_)) && !begins_line() {
            ends_line(&text[length..], more)?;
        }
        Ok((OpenBlock::Listed(row), length))
    }

    /// Matches the opener of a block at the start of `text`, a line; returns the block, and the opener's length.
    pub(super) fn opened_by_line(text: &str, more: bool) -> Match<(OpenBlock, usize)> {
        let opened = |row: &'static QuotingBlock| match row.form {
            BlockForm::FromALine | BlockForm::Lines => {
                begins_any_case(text, row.open, more).map(|()| (OpenBlock::Listed(row), row.open.len()))
            }
            BlockForm::Anywhere | BlockForm::Tag(_) => Err(No),
        };
        first_of(QUOTING_BLOCKS.iter().map(opened))
    }

    /// Matches the block's closer at the start of `text`, at a `<` or a `[`; returns its length.
    pub(super) fn closed_by_mark(&self, text: &str, more: bool) -> Match<usize> {
        let OpenBlock::Listed(QuotingBlock { close, form, .. }) = self else { return Err(No) };
        match form {
            BlockForm::Tag(bracket) => close_tag(text, *bracket, close, more),
            BlockForm::Anywhere | BlockForm::FromALine => begins(text, close, more).map(|()| close.len()),
            BlockForm::Lines => Err(No),
        }
    }

    /// Matches the block's closer at the start of `text`, a line after its indent; returns the closer's length.
    pub(super) fn closed_by_line(&self, text: &str, more: bool) -> Match<usize> {
        match self {
            OpenBlock::Listed(QuotingBlock { close, form: BlockForm::Lines, .. }) => {
                begins_any_case(text, close, more).map(|()| close.len())
            }
            OpenBlock::Heredoc { word, length } => {
                let word = std::str::from_utf8(&word[..*length]).unwrap_or_default();
                begins(text, word, more)?;
                ends_line(&text[*length..], more).map(|()| *length)
            }
            OpenBlock::Listed(_) => Err(No),
        }
    }

    /// Searches `text`, in which no other delimiter begins, for the block's closer.
    pub(super) fn ends_in(&self, text: &str, more: bool) -> Ends {
        let first = match self {
            OpenBlock::Listed(QuotingBlock { form: BlockForm::Tag(bracket), .. }) => *bracket as u8,
            OpenBlock::Heredoc { .. } | OpenBlock::Listed(QuotingBlock { form: BlockForm::Lines, .. }) => b'\n',
            OpenBlock::Listed(row) => row.close.as_bytes()[0],
        };
        for at in memchr::memchr_iter(first, text.as_bytes()) {
            let found = match first {
                b'\n' => {
                    let line = &text[at + 1..];
                    let inner = line.trim_start_matches([' ', '\t']);
                    // A line's start decides about it.
                    match self.closed_by_line(inner, more) {
                        Err(No) if inner.is_empty() && more => return Ends::Perhaps(at + 1),
                        Err(No) => continue,
                        _ => return Ends::Perhaps(at + 1),
                    }
                }
                _ => self.closed_by_mark(&text[at..], more),
            };
            match found {
                Ok(length) => return Ends::At(at + length),
                Err(Undecided) => return Ends::Perhaps(at),
                Err(No) => {}
            }
        }
        Ends::No
    }
}

/// Matches the end of a line at the start of `text`, after white space alone.
fn ends_line(text: &str, more: bool) -> Match<()> {
    match text.trim_start_matches([' ', '\t', '\r']) {
        "" if more => Err(Undecided),
        rest if rest.is_empty() || rest.starts_with('\n') => Ok(()),
        _ => Err(No),
    }
}

fn close_tag(text: &str, bracket: char, name: &str, more: bool) -> Match<usize> {
    let close = if bracket == '<' { ">" } else { "]" };
    let mut lead = [0; 4];
    let lead = bracket.encode_utf8(&mut lead);
    let mut at = 0;
    for part in [&*lead, "/", name, close] {
        begins_any_case(&text[at..], part, more)?;
        at += part.len();
    }
    Ok(at)
}

/// Matches a heredoc at the start of `text`, `<<EOF` or `<<-'EOF'`, whose word is in capitals or quotes.
///
/// Returns the length up to the word's end.
fn heredoc(text: &str, more: bool) -> Match<(OpenBlock, usize)> {
    let undecided = |is_open: bool| if is_open && more { Err(Undecided) } else { Err(No) };
    let signs = text.bytes().take(MAX_SIGNS + 1).take_while(|byte| *byte == b'<').count();
    if signs > MAX_SIGNS {
        return Err(No);
    }
    let rest = &text[signs..];
    let dash = rest.bytes().take(1).filter(|byte| matches!(byte, b'-' | b'~')).count();
    let space = rest[dash..].bytes().take_while(|byte| *byte == b' ').count();
    let inner = &rest[dash + space..];
    if space > 1 {
        return Err(No);
    }
    let quote = inner.bytes().take(1).filter(|byte| matches!(byte, b'\'' | b'"')).count();
    let name = &inner[quote..];
    let length =
        name.bytes().take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9')).count();
    let after = &name[length..];
    // A number, or a name of one letter, may be what bits are shifted by: `x<<2` (`prose/angle_brackets`).
    if length > MAX_WORD || (length < 2 && !after.is_empty()) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(No);
    }
    // A redirection or a pipe may follow on the line, but no further sign, which shifts bits.
    let closes = match quote {
        0 => true,
        _ => after.as_bytes().first() == inner.as_bytes().first(),
    };
    match after[usize::from(quote > 0 && closes)..].chars().next() {
        None if closes || after.is_empty() => return undecided(true),
        Some(' ' | '\n' | '\r' | ')' | '|' | ';' | '>' | '&') if closes => {}
        _ => return Err(No),
    }
    let mut word = [0; MAX_WORD];
    word[..length].copy_from_slice(&name.as_bytes()[..length]);
    let rest = &after[quote..];
    match rest.find('\n').map_or((rest, false), |end| (&rest[..end], true)) {
        (line, _) if line.contains("<<") => Err(No),
        (_, true) => Ok((OpenBlock::Heredoc { word, length }, signs + dash + space + 2 * quote + length)),
        (_, false) => undecided(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens(text: &str, begins_line: bool) -> Option<usize> {
        let opened = |text: &str, more| OpenBlock::opened_by_mark(text, || begins_line, |name| name == "known", more);
        let all = match opened(text, false) {
            Ok((_, length)) => Some(length),
            _ => None,
        };
        for end in 1..text.len() {
            match opened(&text[..end], true) {
                Ok((_, length)) => assert_eq!(Some(length), all, "{}", &text[..end]),
                Err(No) => assert_eq!(all, None, "{}", &text[..end]),
                Err(Undecided) => {}
            }
        }
        all
    }

    #[test]
    fn openers_are_found_at_every_cut() {
        for (text, begins_line, length) in [
            ("<!-- a", false, Some(4)),
            ("<![CDATA[x", false, Some(9)),
            ("<blockquote>a", true, Some(12)),
            ("<BlockQuote cite=\"x\">a", true, Some(21)),
            ("<blockquote>a", false, None),
            ("<blockquote>  \nx", false, Some(12)),
            ("<blockquotes>", true, None),
            ("[quote=me]\n", true, Some(10)),
            ("[code]a", true, Some(6)),
            ("[codes]", true, None),
            ("<<EOF\n", false, Some(5)),
            ("<< 'EOF' > f\n", false, Some(8)),
            ("<<-\"END\"\n", false, Some(8)),
            ("<< MAX << 2\n", false, None),
            ("<< endl;\n", false, None),
            ("<<\n", false, None),
        ] {
            assert_eq!(opens(text, begins_line), length, "{text}");
        }
    }
}
