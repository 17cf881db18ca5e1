//! The way that nearly all of a stream takes: handed on as it comes.
//!
//! Between calls that is plain text, while nothing is held and all that such
//! text would change was changed by text before it. In a call it is a string
//! whose text is its own preview. A chunk in which nothing may begin or end is
//! then one event and needs nothing else. The scanner sees it neither before nor
//! after; it is told where the text stands as soon as something else comes.

use super::signs::{Plain, Signs, is_signless};
use crate::event::{Event, Region};

/// What the text is while nothing happens in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Calm {
    /// Text between calls.
    Text(CalmText),
    /// A string in the open call's arguments.
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

/// Where a string in a call's arguments stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmValue {
    /// Offset of the text that comes next.
    pub(super) at: u64,
    /// What matters only behind this offset: the call is past its limit there.
    pub(super) limit_at: u64,
    /// Index of the call.
    pub(super) index: u32,
    pub(super) string: CalmString,
    pub(super) reasoning_channel: bool,
}

/// What may stand in a string that is its own preview, beside bytes that mean nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmString {
    /// The byte that may begin the call's end.
    pub(super) closer: u8,
    /// The byte behind that one, if every closer has it there.
    pub(super) second: Option<u8>,
    /// JSON's escapes of one character; they say nothing of what comes next.
    pub(super) escapes: bool,
}

impl CalmString {
    /// The rules of a JSON string in a call that `closer` ends, if anything does.
    pub(super) fn json(closer: Option<&str>) -> Self {
        let bytes = closer.map_or(&b"\""[..], str::as_bytes);
        let second = bytes.get(1).copied().filter(u8::is_ascii);
        CalmString { closer: bytes.first().copied().unwrap_or(b'"'), second, escapes: true }
    }

    /// Whether the string neither ends in `chunk` nor needs a decision there.
    fn holds(self, chunk: &[u8]) -> bool {
        let mut at = 0;
        while let Some(found) = self.stop(&chunk[at..]) {
            at += found;
            let Some(next) = chunk.get(at + 1) else { return false };
            match chunk[at] {
                b'\\' if self.escapes && br#""\/bfnrt"#.contains(next) => at += 2,
                byte if byte == self.closer && self.second.is_some_and(|second| second != *next) => at += 1,
                _ => return false,
            }
        }
        true
    }

    /// The first byte that may mean something.
    #[inline]
    fn stop(self, bytes: &[u8]) -> Option<usize> {
        let stops =
            |b: u8| u8::from(b == b'"') | u8::from(b == b'\\') | u8::from(b < b' ') | u8::from(b == self.closer);
        let (blocks, rest) = bytes.as_chunks::<16>();
        for (i, block) in blocks.iter().enumerate() {
            let found = u128::from_le_bytes(block.map(stops));
            if found != 0 {
                return Some(i * 16 + found.trailing_zeros() as usize / 8);
            }
        }
        let found = rest.iter().position(|b| stops(*b) != 0)?;
        Some(bytes.len() - rest.len() + found)
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
    #[inline]
    pub(super) fn pass(&mut self, chunk: &str, signs: &Signs, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Plain> {
        // Nearly every chunk has no sign; the rest takes a closer look.
        if self.line_start || !is_signless(chunk.as_bytes()) {
            let plain = signs.plain(chunk.as_bytes(), self.line_start);
            if plain.length < chunk.len() {
                return Err(plain);
            }
            self.line_start = plain.line_start;
        }
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        self.before.read(chunk);
        match self.region {
            Region::Content => sink(Event::Text { text: chunk, span }),
            Region::Reasoning => sink(Event::Reasoning { text: chunk, syntax: None, span }),
        }
        Ok(())
    }
}

impl CalmValue {
    /// Hands on a chunk in which the string neither ends nor needs a decision;
    /// `false` for any other.
    #[inline]
    pub(super) fn pass(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) -> bool {
        let span = self.at..self.at + chunk.len() as u64;
        if span.end > self.limit_at || !self.string.holds(chunk.as_bytes()) {
            return false;
        }
        self.at = span.end;
        sink(Event::ArgsDelta { index: self.index, text: chunk, span });
        true
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
    fn a_string_holds_escapes_and_what_begins_no_closer() {
        let element = CalmString::json(Some("</"));
        let none = CalmString::json(None);
        let text = CalmString { closer: b'<', second: None, escapes: false };
        for (chunk, in_element, without_closer, in_text) in [
            ("plain, 字", true, true, true),
            (r#"a \"b\" \\ \n"#, true, true, false),
            ("a < b", true, true, false),
            ("a <", false, true, false),
            (r"a \", false, false, false),
            ("a </", false, true, false),
            (r"\\</", false, true, false),
            (r"\u0041", false, false, false),
            (r"\x", false, false, false),
            ("a\"", false, false, false),
            ("a\\\"\"", false, false, false),
            ("a\n", false, false, false),
        ] {
            let held = [element, none, text].map(|string| string.holds(chunk.as_bytes()));
            assert_eq!(held, [in_element, without_closer, in_text], "{chunk:?}");
        }
    }
}
