//! The way that nearly all of a stream takes: handed on as it comes.
//!
//! Between calls that is plain text, while nothing is held and all that such
//! text would change was changed by text before it. In a call it is a value
//! whose text is its own preview. A chunk in which nothing may begin or end is
//! then one event and needs nothing else, in JSON the lexer alone. The scanner
//! sees it neither before nor after; it is told where the text stands as soon as
//! something else comes.

use super::bytes::any_zero;
use super::signs::{Plain, Signs, is_signless};
use crate::event::{Event, Region};

/// What the text is while nothing happens in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Calm {
    /// Text between calls.
    Text(CalmText),
    /// A value in the open call's arguments, or all of them.
    Value(CalmValue),
}

/// Where plain text stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmText {
    /// Offset of the text that comes next.
    pub(super) at: u64,
    /// Whether the next byte begins a line.
    pub(super) line_start: bool,
    /// The character before it.
    pub(super) before: LastChar,
    pub(super) region: Region,
    /// Whether the text comes from a separate reasoning field.
    pub(super) reasoning_channel: bool,
}

/// Where a value in a call's arguments stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmValue {
    /// Offset of the text that comes next.
    pub(super) at: u64,
    /// What matters only behind this offset: the call is past its limit there.
    pub(super) limit_at: u64,
    /// Index of the call.
    pub(super) index: u32,
    pub(super) kind: CalmKind,
    pub(super) reasoning_channel: bool,
}

/// What the value is written in.
#[derive(Debug, Clone, Copy)]
pub(super) enum CalmKind {
    /// A text that is taken as it stands and is the same as a JSON string; a `<` may end it.
    Verbatim,
    /// JSON, and what begins the tag that may end the call in it, if one can.
    Json(Option<Lead>),
}

/// A tag's first byte, and the second, if it is the same in all spellings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lead {
    first: u8,
    second: Option<u8>,
}

impl CalmKind {
    /// JSON in a call that `closer` ends, if anything does.
    pub(super) fn json(closer: Option<&str>) -> Self {
        let lead = |bytes: &[u8]| {
            let second = bytes.get(1).copied().filter(u8::is_ascii);
            bytes.first().map(|first| Lead { first: *first, second })
        };
        CalmKind::Json(closer.and_then(|closer| lead(closer.as_bytes())))
    }

    /// Whether nothing ends in `chunk`, nor may begin there what ends it; of JSON the lexer
    /// must say so too.
    #[inline]
    fn holds(self, chunk: &[u8]) -> bool {
        match self {
            CalmKind::Verbatim => !any_zero(chunk, |b| (b ^ b'"').min(b ^ b'\\').min(b ^ b'<').min(b & !0x1f)),
            CalmKind::Json(None) => true,
            CalmKind::Json(Some(lead)) => !any_zero(chunk, |b| b ^ lead.first) || lead.begins_nowhere(chunk),
        }
    }
}

impl Lead {
    /// Whether another byte stands behind each first byte.
    fn begins_nowhere(self, chunk: &[u8]) -> bool {
        let differs = |at: usize| chunk.get(at + 1).zip(self.second).is_some_and(|(next, second)| *next != second);
        memchr::memchr_iter(self.first, chunk).all(differs)
    }
}

/// The last character of a text: its last four bytes, which are decoded when it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastChar(u32);

impl LastChar {
    /// Bytes that no text has.
    const NONE: u32 = u32::MAX;

    pub(super) fn new(last: Option<char>) -> Self {
        let mut before = LastChar(Self::NONE);
        if let Some(last) = last {
            before.read(last.encode_utf8(&mut [0; 4]));
        }
        before
    }

    /// Goes on behind `text`.
    #[inline]
    fn read(&mut self, text: &str) {
        match text.as_bytes().last_chunk() {
            Some(last) => self.0 = u32::from_be_bytes(*last),
            None => text.bytes().for_each(|byte| self.0 = self.0 << 8 | u32::from(byte)),
        }
    }

    pub(super) fn get(self) -> Option<char> {
        let begins = |byte: &u8| !(0x80..0xc0).contains(byte);
        let bytes = self.0.to_be_bytes();
        let start = bytes.iter().rposition(begins)?;
        std::str::from_utf8(&bytes[start..]).ok()?.chars().next()
    }
}

impl Calm {
    pub(super) fn at(&self) -> u64 {
        match self {
            Calm::Text(text) => text.at,
            Calm::Value(value) => value.at,
        }
    }
}

impl CalmText {
    /// Hands on a chunk in which nothing may begin. Of any other, yields how far it is plain.
    pub(super) fn pass(&mut self, chunk: &str, signs: &Signs, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Plain> {
        let plain = signs.plain(chunk.as_bytes(), self.line_start);
        if plain.length < chunk.len() {
            return Err(plain);
        }
        self.line_start = plain.line_start;
        self.hand_on(chunk, sink);
        Ok(())
    }

    /// Whether nothing can begin in `chunk`, nor a line end: so it is with nearly every chunk.
    #[inline(always)] // See `is_signless`.
    pub(super) fn is_plain(&self, chunk: &str) -> bool {
        !self.line_start && is_signless(chunk.as_bytes())
    }

    /// Hands on plain text.
    #[inline]
    pub(super) fn hand_on(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        self.before.read(chunk);
        match self.region {
            Region::Content => sink(Event::Text { text: chunk, span }),
            Region::Reasoning => sink(Event::Reasoning { text: chunk, syntax: None, span }),
        }
    }
}

impl CalmValue {
    /// Whether the value neither ends in `chunk` nor needs a decision there; see
    /// [`CalmKind::holds`].
    #[inline]
    pub(super) fn holds(&self, chunk: &str) -> bool {
        self.at + chunk.len() as u64 <= self.limit_at && self.kind.holds(chunk.as_bytes())
    }

    /// Hands on more of the value.
    #[inline]
    pub(super) fn hand_on(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        sink(Event::ArgsDelta { index: self.index, text: chunk, span });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_character_is_known_however_a_text_is_cut() {
        let text = "a–é漢🦀b";
        for cut in text.char_indices().map(|(at, _)| at) {
            let mut before = LastChar::new(text[..cut].chars().next_back());
            assert_eq!(before.get(), text[..cut].chars().next_back());
            for (at, c) in text[cut..].char_indices() {
                before.read(&text[cut + at..][..c.len_utf8()]);
                assert_eq!(before.get(), Some(c), "{cut}");
            }
            before.read(text);
            assert_eq!(before.get(), Some('b'));
        }
    }

    #[test]
    fn a_value_holds_what_begins_no_closer() {
        let [element, none, any] = [Some("</"), None, Some("<｜")].map(CalmKind::json);
        for (chunk, in_element, without_closer, of_spellings, verbatim) in [
            ("plain, 字", true, true, true, true),
            ("a longer text that is more than a block", true, true, true, true),
            (r#"a \"b\" \\ \n"#, true, true, true, false),
            ("a < b", true, true, false, false),
            ("a <", false, true, false, false),
            ("a < b and </c> are more than a block", false, true, false, false),
            ("a </", false, true, false, false),
            (r"\\</", false, true, false, false),
            (r"\u0041", true, true, true, false),
            ("a\"", true, true, true, false),
            ("a\n", true, true, true, false),
        ] {
            let held = [element, none, any, CalmKind::Verbatim].map(|kind| kind.holds(chunk.as_bytes()));
            assert_eq!(held, [in_element, without_closer, of_spellings, verbatim], "{chunk:?}");
        }
    }
}
