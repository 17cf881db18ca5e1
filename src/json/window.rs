//! The part of the stream that is at hand: the chunk, or what was held plus the chunk.

use std::ops::Range;

/// A piece of the stream and its offset. All offsets are in the whole stream.
///
/// Passed by reference: copying a window that was just written costs more than all that is
/// read of it.
pub(crate) struct Window<'w> {
    pub(crate) text: &'w str,
    /// Offset of the first byte of `text`.
    pub(crate) base: u64,
    /// `true` if more text may follow.
    pub(crate) more: bool,
}

impl<'w> Window<'w> {
    /// Returns the stream offset after the last byte of the window.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.text.len() as u64
    }

    /// Returns the window cut before offset `at`, at a character boundary, as one that more text may follow.
    pub(crate) fn until(&self, at: u64) -> Window<'w> {
        if at >= self.end() {
            return Window { ..*self };
        }
        Window { text: &self.text[..self.text.floor_char_boundary(self.index(at))], more: true, ..*self }
    }

    /// Returns the text of the window from offset `at` on.
    pub(crate) fn from(&self, at: u64) -> &'w str {
        &self.text[self.index(at)..]
    }

    /// Moves `cursor` past white space; returns the text from there.
    pub(crate) fn past_space(&self, cursor: &mut u64) -> &'w str {
        let rest = self.from(*cursor);
        let space = leading_space(rest);
        *cursor += space as u64;
        &rest[space..]
    }

    /// Moves `cursor` to the next `byte` and returns the text from it; if there is none, to the end, and returns
    /// `None`.
    pub(crate) fn to_byte(&self, byte: u8, cursor: &mut u64) -> Option<&'w str> {
        let rest = self.from(*cursor);
        let found = memchr::memchr(byte, rest.as_bytes());
        *cursor += found.unwrap_or(rest.len()) as u64;
        found.map(|at| &rest[at..])
    }

    /// Returns the text of a range of offsets, clamped to the window.
    pub(crate) fn slice(&self, range: Range<u64>) -> &'w str {
        let start = self.index(range.start);
        &self.text[start..self.index(range.end).max(start)]
    }

    /// Returns the character before offset `at`, if it is in the window.
    pub(crate) fn before(&self, at: u64) -> Option<char> {
        self.text[..self.index(at)].chars().next_back()
    }

    /// Returns at most `limit` bytes from offset `at`, cut at a character boundary, and `true`
    /// if text that has not arrived could still change a decision about them.
    pub(crate) fn candidate(&self, at: u64, limit: usize) -> (&'w str, bool) {
        let rest = self.from(at);
        if rest.len() < limit {
            return (rest, self.more);
        }
        (&rest[..rest.floor_char_boundary(limit)], false)
    }

    fn index(&self, at: u64) -> usize {
        (at.saturating_sub(self.base) as usize).min(self.text.len())
    }
}

/// Result of matching text that may still grow: the match, or the reason why there is none. `?` returns
/// from the function unless there is a match.
pub(crate) type Match<T> = Result<T, Miss>;

/// The reason why nothing was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)] // As wide as most finds, so that an answer stays in two registers.
pub(crate) enum Miss {
    No,
    /// The text is a prefix of a match, and more may follow.
    Undecided,
}

pub(crate) use Miss::{No, Undecided};

/// Operations that combine the results of several matches.
pub(crate) trait Answer<T>: Sized {
    /// Returns the match, or `None` if there is none; an error only while the result is undecided.
    fn decided(self) -> Match<Option<T>>;

    /// Returns the first of two results that is a match; undecided if there is none and at least one is undecided.
    fn either(self, other: Self) -> Self;

    /// Returns this result, or that of `other` if there is no match. An undecided result is returned as it is.
    fn else_try(self, other: impl FnOnce() -> Self) -> Self;
}

impl<T> Answer<T> for Match<T> {
    #[inline]
    fn decided(self) -> Match<Option<T>> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(No) => Ok(None),
            Err(Undecided) => Err(Undecided),
        }
    }

    #[inline]
    fn either(self, other: Self) -> Self {
        match (self, other) {
            (found @ Ok(_), _) | (_, found @ Ok(_)) => found,
            (Err(No), Err(No)) => Err(No),
            _ => Err(Undecided),
        }
    }

    #[inline]
    fn else_try(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Err(No)) { other() } else { self }
    }
}

/// Returns the first match among any number of results, combined as by [`Answer::either`]; later ones are not
/// evaluated.
#[inline]
pub(crate) fn first_of<T>(answers: impl IntoIterator<Item = Match<T>>) -> Match<T> {
    let mut miss = No;
    for answer in answers {
        match answer {
            Ok(_) => return answer,
            Err(Undecided) => miss = Undecided,
            Err(No) => {}
        }
    }
    Err(miss)
}

/// Returns the first result that is a match or undecided; `No` if there is none.
#[inline]
pub(crate) fn first_said<T>(answers: impl IntoIterator<Item = Match<T>>) -> Match<T> {
    answers.into_iter().find(|answer| !matches!(answer, Err(No))).unwrap_or(Err(No))
}

/// Returns the last character of a text whose first bytes may be a cut character; `None` if the text is empty.
pub(crate) fn last_char(text: &[u8]) -> Option<char> {
    // Nearly always it is a letter or a sign of ASCII.
    if let Some(byte) = text.last().filter(|byte| byte.is_ascii()) {
        return Some(char::from(*byte));
    }
    let start = text.iter().rposition(|byte| !(0x80..0xc0).contains(byte))?;
    std::str::from_utf8(&text[start..]).ok()?.chars().next()
}

/// Matches `word` at the start of `text`; undecided while `more` text may complete it.
#[inline]
pub(crate) fn begins(text: &str, word: &str, more: bool) -> Match<()> {
    // Nearly always the first two bytes are others.
    match (text.as_bytes(), word.as_bytes()) {
        ([a, b, ..], [c, d, ..]) if (a, b) != (c, d) => Err(No),
        _ => begins_word(text, word, more),
    }
}

fn begins_word(text: &str, word: &str, more: bool) -> Match<()> {
    let there = text.len().min(word.len());
    match text.as_bytes()[..there] == word.as_bytes()[..there] {
        true if there == word.len() => Ok(()),
        true if more => Err(Undecided),
        _ => Err(No),
    }
}

/// Matches `</tag>` (if `close`) or `<tag>` at the start of `text`; returns its length in bytes.
#[inline]
pub(crate) fn begins_tag(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    // Nearly every tag is another one, which the first bytes tell.
    if let [first, second, ..] = *text.as_bytes() {
        let name = text.as_bytes().get(1 + usize::from(close)).zip(tag.as_bytes().first());
        if first != b'<' || (second == b'/') != close || name.is_some_and(|(found, wanted)| found != wanted) {
            return Err(No);
        }
    }
    begins_this_tag(text, tag, close, more)
}

fn begins_this_tag(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    let lead = if close { &b"</"[..] } else { b"<" };
    // Each byte by itself: for two of them, comparing slices costs more.
    if !text.bytes().zip(lead).all(|(found, wanted)| found == *wanted) {
        return Err(No);
    }
    let name = text.as_bytes().get(lead.len()..).unwrap_or_default();
    let named = name.len().min(tag.len());
    if name[..named] != tag.as_bytes()[..named] {
        return Err(No);
    }
    match name.get(tag.len()) {
        Some(b'>') => Ok(lead.len() + tag.len() + 1),
        None if more => Err(Undecided),
        _ => Err(No),
    }
}

/// Matches a tag as [`begins_tag`] does, in any case and with spaces or tabs after its name. `tag` is in lower case.
pub(crate) fn begins_tag_any_case(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    let lead = if close { &b"</"[..] } else { b"<" };
    let text = text.as_bytes();
    let wanted = lead.iter().chain(tag.as_bytes());
    if !text.iter().zip(wanted).all(|(found, wanted)| found.eq_ignore_ascii_case(wanted)) {
        return Err(No);
    }
    let after = text.get(lead.len() + tag.len()..).unwrap_or_default();
    let space = after.iter().take(MAX_TAG_SPACE).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match after.get(space) {
        Some(b'>') => Ok(lead.len() + tag.len() + space + 1),
        None if more => Err(Undecided),
        _ => Err(No),
    }
}

/// Maximum number of spaces and tabs between the name of a tag and `>`.
const MAX_TAG_SPACE: usize = 8;

/// Returns the number of leading bytes that are white space.
pub(crate) fn leading_space(text: &str) -> usize {
    text.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_undecided_only_while_more_may_come() {
        assert_eq!(begins_tag("<thi", "think", false, true), Err(Undecided));
        assert_eq!(begins_tag("<thi", "think", false, false), Err(No));
        assert_eq!(begins_tag("</think>x", "think", true, true), Ok(8));
        assert_eq!(begins_tag("<thinker>", "think", false, true), Err(No));
        for (text, close) in [("<a_tag>", false), ("</a_tag>", true)] {
            for end in 0..text.len() {
                assert_eq!(begins_tag(&text[..end], "a_tag", close, true), Err(Undecided), "{}", &text[..end]);
                assert_eq!(begins_tag(&text[..end], "a_tag", close, false), Err(No), "{}", &text[..end]);
                let other = format!("{}~", &text[..end]);
                assert_eq!(begins_tag(&other, "a_tag", close, true), Err(No), "{other}");
            }
            assert_eq!(begins_tag(text, "a_tag", close, false), Ok(text.len()));
            assert_eq!(begins_tag(text, "a_tag", !close, false), Err(No));
        }
    }

    #[test]
    fn what_was_found_counts_before_what_is_undecided() {
        let (no, undecided) = (Match::<u8>::Err(No), Err(Undecided));
        assert_eq!(undecided.either(Ok(1)), Ok(1));
        assert_eq!(Ok(1).either(Ok(2)), Ok(1));
        assert_eq!((no.either(undecided), undecided.either(no), no.either(no)), (undecided, undecided, no));
        assert_eq!(first_of([no, undecided, Ok(1), Ok(2)]), Ok(1));
        assert_eq!((first_of([undecided, no]), first_of([no]), first_of::<u8>([])), (undecided, no, no));
        // Where an answer that is undecided counts before another that was found.
        assert_eq!(undecided.else_try(|| Ok(1)), undecided);
    }

    #[test]
    fn a_candidate_is_cut_at_its_limit_and_then_decided() {
        let window = Window { text: "abcé", base: 10, more: true };
        assert_eq!(window.candidate(10, 4), ("abc", false));
        assert_eq!(window.candidate(12, 64), ("cé", true));
        assert_eq!(window.slice(0..11), "a");
    }
}
