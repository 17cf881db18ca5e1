//! The part of the stream that is at hand: the chunk, or what was held plus the chunk.

use std::ops::Range;

/// A piece of the stream with its place in it. Positions are offsets in the whole stream.
///
/// Handed on by reference: a copy of what was just written costs more than all that is
/// read of it.
pub(crate) struct Window<'w> {
    pub(crate) text: &'w str,
    /// Offset of the first byte of `text`.
    pub(crate) base: u64,
    /// Whether more may follow.
    pub(crate) more: bool,
}

impl<'w> Window<'w> {
    /// Offset behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.text.len() as u64
    }

    /// What stands before `at`, cut at a character: more may follow it.
    pub(crate) fn until(&self, at: u64) -> Window<'w> {
        if at >= self.end() {
            return Window { ..*self };
        }
        Window { text: &self.text[..floor_boundary(self.text, self.index(at))], more: true, ..*self }
    }

    /// Everything from `at`.
    pub(crate) fn from(&self, at: u64) -> &'w str {
        &self.text[self.index(at)..]
    }

    /// The bytes of a range, clamped to what is at hand.
    pub(crate) fn slice(&self, range: Range<u64>) -> &'w str {
        let start = self.index(range.start);
        &self.text[start..self.index(range.end).max(start)]
    }

    /// The character before `at`, if it is at hand.
    pub(crate) fn before(&self, at: u64) -> Option<char> {
        self.text[..self.index(at)].chars().next_back()
    }

    /// At most `limit` bytes from `at` to decide about, cut at a character, and
    /// whether more bytes could still change the decision.
    pub(crate) fn candidate(&self, at: u64, limit: usize) -> (&'w str, bool) {
        let rest = self.from(at);
        if rest.len() < limit {
            return (rest, self.more);
        }
        (&rest[..floor_boundary(rest, limit)], false)
    }

    fn index(&self, at: u64) -> usize {
        (at.saturating_sub(self.base) as usize).min(self.text.len())
    }
}

/// Answer to "does this begin with …?" when the text may still grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match<T> {
    No,
    /// What is there fits so far.
    Undecided,
    Yes(T),
}

impl<T> Match<T> {
    /// The same answer, with what was found made into something else.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> Match<U> {
        match self {
            Match::No => Match::No,
            Match::Undecided => Match::Undecided,
            Match::Yes(found) => Match::Yes(with(found)),
        }
    }

    /// The first of two answers that was found; undecided if either is.
    pub(crate) fn or(self, other: Match<T>) -> Match<T> {
        match (self, other) {
            (found @ Match::Yes(_), _) | (_, found @ Match::Yes(_)) => found,
            (Match::No, Match::No) => Match::No,
            _ => Match::Undecided,
        }
    }

    /// The same of any number of answers; none is asked for behind one that was found.
    pub(crate) fn any(answers: impl IntoIterator<Item = Match<T>>) -> Match<T> {
        let mut undecided = false;
        for answer in answers {
            match answer {
                Match::Yes(_) => return answer,
                Match::Undecided => undecided = true,
                Match::No => {}
            }
        }
        if undecided { Match::Undecided } else { Match::No }
    }

    /// This answer, or another where it is no. While it is undecided, so is all.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Match<T>) -> Match<T> {
        if matches!(self, Match::No) { other() } else { self }
    }
}

/// Whether `text` begins with `word`.
#[inline]
pub(crate) fn begins(text: &str, word: &str, more: bool) -> Match<()> {
    // Nearly always the first two bytes are others.
    match (text.as_bytes(), word.as_bytes()) {
        ([a, b, ..], [c, d, ..]) if (a, b) != (c, d) => Match::No,
        _ => begins_word(text, word, more),
    }
}

fn begins_word(text: &str, word: &str, more: bool) -> Match<()> {
    let there = text.len().min(word.len());
    match text.as_bytes()[..there] == word.as_bytes()[..there] {
        true if there == word.len() => Match::Yes(()),
        true if more => Match::Undecided,
        _ => Match::No,
    }
}

/// Whether `text` begins with `</tag>` (`close`) or `<tag>`; yields its length.
#[inline]
pub(crate) fn begins_tag(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    // Nearly every tag is another one, which the first bytes tell.
    if let [first, second, ..] = *text.as_bytes() {
        let name = text.as_bytes().get(1 + usize::from(close)).zip(tag.as_bytes().first());
        if first != b'<' || (second == b'/') != close || name.is_some_and(|(found, wanted)| found != wanted) {
            return Match::No;
        }
    }
    begins_this_tag(text, tag, close, more)
}

fn begins_this_tag(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    let lead = if close { &b"</"[..] } else { b"<" };
    // Each byte by itself: for two of them, comparing slices costs more.
    if !text.bytes().zip(lead).all(|(found, wanted)| found == *wanted) {
        return Match::No;
    }
    let name = text.as_bytes().get(lead.len()..).unwrap_or_default();
    let named = name.len().min(tag.len());
    if name[..named] != tag.as_bytes()[..named] {
        return Match::No;
    }
    match name.get(tag.len()) {
        Some(b'>') => Match::Yes(lead.len() + tag.len() + 1),
        None if more => Match::Undecided,
        _ => Match::No,
    }
}

/// The same in whatever case the name is, which is in small letters here, and with spaces behind it
/// or not.
pub(crate) fn begins_tag_any_case(text: &str, tag: &str, close: bool, more: bool) -> Match<usize> {
    let lead = if close { &b"</"[..] } else { b"<" };
    let text = text.as_bytes();
    let wanted = lead.iter().chain(tag.as_bytes());
    if !text.iter().zip(wanted).all(|(found, wanted)| found.eq_ignore_ascii_case(wanted)) {
        return Match::No;
    }
    let behind = text.get(lead.len() + tag.len()..).unwrap_or_default();
    let space = behind.iter().take(MAX_TAG_SPACE).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match behind.get(space) {
        Some(b'>') => Match::Yes(lead.len() + tag.len() + space + 1),
        None if more => Match::Undecided,
        _ => Match::No,
    }
}

/// Most spaces behind the name of such a tag.
const MAX_TAG_SPACE: usize = 8;

/// The last character boundary at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The first character boundary at or after `at`.
pub(crate) fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len())
}

/// Number of leading bytes that are white space.
pub(crate) fn leading_space(text: &str) -> usize {
    text.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_undecided_only_while_more_may_come() {
        assert_eq!(begins_tag("<thi", "think", false, true), Match::Undecided);
        assert_eq!(begins_tag("<thi", "think", false, false), Match::No);
        assert_eq!(begins_tag("</think>x", "think", true, true), Match::Yes(8));
        assert_eq!(begins_tag("<thinker>", "think", false, true), Match::No);
        for (text, close) in [("<a_tag>", false), ("</a_tag>", true)] {
            for end in 0..text.len() {
                assert_eq!(begins_tag(&text[..end], "a_tag", close, true), Match::Undecided, "{}", &text[..end]);
                assert_eq!(begins_tag(&text[..end], "a_tag", close, false), Match::No, "{}", &text[..end]);
                let other = format!("{}~", &text[..end]);
                assert_eq!(begins_tag(&other, "a_tag", close, true), Match::No, "{other}");
            }
            assert_eq!(begins_tag(text, "a_tag", close, false), Match::Yes(text.len()));
            assert_eq!(begins_tag(text, "a_tag", !close, false), Match::No);
        }
    }

    #[test]
    fn what_was_found_counts_before_what_is_undecided() {
        let (no, undecided) = (Match::<u8>::No, Match::Undecided);
        assert_eq!(undecided.or(Match::Yes(1)), Match::Yes(1));
        assert_eq!(Match::Yes(1).or(Match::Yes(2)), Match::Yes(1));
        assert_eq!((no.or(undecided), undecided.or(no), no.or(no)), (undecided, undecided, no));
        assert_eq!(Match::any([no, undecided, Match::Yes(1), Match::Yes(2)]), Match::Yes(1));
        assert_eq!((Match::any([undecided, no]), Match::any([no]), Match::<u8>::any([])), (undecided, no, no));
        // Where an answer that is undecided counts before another that was found.
        assert_eq!(undecided.or_else(|| Match::Yes(1)), undecided);
    }

    #[test]
    fn a_candidate_is_cut_at_its_limit_and_then_decided() {
        let window = Window { text: "abcé", base: 10, more: true };
        assert_eq!(window.candidate(10, 4), ("abc", false));
        assert_eq!(window.candidate(12, 64), ("cé", true));
        assert_eq!(window.slice(0..11), "a");
    }
}
