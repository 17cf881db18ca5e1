//! The way that nearly all of a stream takes: handed on as it comes.
//!
//! Between calls that is plain text, while nothing is held and all that such
//! text would change was changed by text before it. In a call it is a value
//! whose text is its own preview. A chunk in which nothing may begin or end is
//! then one event and needs nothing else, in JSON the lexer alone. The scanner
//! sees it neither before nor after; it is told where the text stands as soon as
//! something else comes.

use super::bytes::{HIGH, Kind, Places, any_zero, differs};
use super::json::{Special, escaped, is_short_escape};
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
    /// A text that is taken as it stands, to be a JSON string; a `<` may end it, and a line
    /// break before that is not its.
    Verbatim,
    /// JSON, and what begins the tag that may end the call in it, if one can.
    Json {
        lead: Option<Lead>,
        /// It stands inside a string and outside escapes.
        in_string: bool,
    },
}

/// A tag's first byte, and the second, if it is the same in all spellings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lead {
    first: u8,
    second: Option<u8>,
}

impl CalmKind {
    /// JSON in a call that `closer` ends, if anything does.
    pub(super) fn json(closer: Option<&str>, in_string: bool) -> Self {
        let lead = |bytes: &[u8]| {
            let second = bytes.get(1).copied().filter(u8::is_ascii);
            bytes.first().map(|first| Lead { first: *first, second })
        };
        CalmKind::Json { lead: closer.and_then(|closer| lead(closer.as_bytes())), in_string }
    }
}

impl Lead {
    /// What nothing begins with.
    const NONE: Lead = Lead { first: b'"', second: None };

    /// Whether another byte stands behind the first one at `at`.
    fn begins_nothing(self, chunk: &[u8], at: usize) -> bool {
        chunk.get(at + 1).zip(self.second).is_some_and(|(next, second)| *next != second)
    }

    /// Whether a string that goes on in `chunk` goes on behind it, and nothing begins in it.
    #[inline]
    fn string_holds(self, chunk: &[u8]) -> bool {
        let kind = InString(self.first);
        if !any_zero(chunk, |b| kind.rest(b)) {
            return true;
        }
        let mut plain_from = 0;
        for at in Places::new(kind, chunk) {
            match chunk[at] {
                // The second byte of an escape.
                _ if at < plain_from => {}
                b'\\' if chunk.get(at + 1).is_some_and(|next| is_short_escape(*next)) => plain_from = at + 2,
                byte if byte == self.first && self.begins_nothing(chunk, at) => {}
                _ => return false,
            }
        }
        true
    }
}

/// What is not plain inside a JSON string in a call that a tag with this first byte ends.
#[derive(Clone, Copy)]
struct InString(u8);

impl Kind for InString {
    const OTHER: u8 = Special::OTHER;

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        Special.rest(byte).min(byte ^ self.0)
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        Special.bits(word) | !differs(word, self.0) & HIGH
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
        let plain = signs.plain(chunk.as_bytes(), self.line_start);
        if plain.length < chunk.len() {
            return Err(plain);
        }
        self.line_start = plain.line_start;
        self.hand_on(chunk, sink);
        Ok(())
    }

    /// Whether there is text in `chunk` and nothing can begin there, nor a line end: so it is
    /// with nearly every chunk.
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
    /// Whether all of `chunk` is more of the value and needs no decision. Where it is JSON
    /// and leaves a string, `read_on` reads it at the offset that it gets, if so, and says
    /// whether it ends inside a string.
    #[inline]
    pub(super) fn passes(&mut self, chunk: &str, read_on: impl FnOnce(u64) -> Option<bool>) -> bool {
        if self.at + chunk.len() as u64 > self.limit_at {
            return false;
        }
        let bytes = chunk.as_bytes();
        match &mut self.kind {
            CalmKind::Verbatim => !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") && !any_zero(bytes, |b| b ^ b'<'),
            CalmKind::Json { lead, in_string } => {
                if *in_string && lead.unwrap_or(Lead::NONE).string_holds(bytes) {
                    return true;
                }
                if let Some(lead) = lead
                    && !memchr::memchr_iter(lead.first, bytes).all(|at| lead.begins_nothing(bytes, at))
                {
                    return false;
                }
                let read = read_on(self.at);
                *in_string = read.unwrap_or(*in_string);
                read.is_some()
            }
        }
    }

    /// Hands on more of the value. What JSON cannot hold as it is, is escaped in `scratch`.
    #[inline]
    pub(super) fn hand_on(&mut self, chunk: &str, scratch: &mut String, sink: &mut impl FnMut(Event<'_>)) {
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        let text = match self.kind {
            CalmKind::Verbatim => escaped(chunk, scratch),
            CalmKind::Json { .. } => chunk,
        };
        sink(Event::ArgsDelta { index: self.index, text, span });
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
        let [element, none, any] = [Some("</"), None, Some("<｜")].map(|closer| match CalmKind::json(closer, true) {
            CalmKind::Json { lead, .. } => lead.unwrap_or(Lead::NONE),
            CalmKind::Verbatim => unreachable!("it is JSON"),
        });
        for (chunk, in_element, without_closer, of_spellings) in [
            ("plain, 字", true, true, true),
            ("a longer text that is more than a block", true, true, true),
            (r#"a \"b\" \\ \n and a longer text"#, true, true, true),
            ("a < b", true, true, false),
            ("a <", false, true, false),
            ("a < b and </c> are more than a block", false, true, false),
            (r"a \", false, false, false),
            (r"\\\", false, false, false),
            ("a </", false, true, false),
            (r"\\</", false, true, false),
            (r"\u0041", false, false, false),
            (r"\x", false, false, false),
            ("a\"", false, false, false),
            ("a\\\"\"", false, false, false),
            ("a\n", false, false, false),
        ] {
            let held = [element, none, any].map(|lead| lead.string_holds(chunk.as_bytes()));
            assert_eq!(held, [in_element, without_closer, of_spellings], "{chunk:?}");
        }
    }

    #[test]
    fn other_json_is_asked_about_unless_something_may_begin_in_it() {
        let value = |kind| CalmValue { at: 7, limit_at: 100, index: 0, kind, reasoning_channel: false };
        for (chunk, in_string, answer, asked, passes) in [
            ("more", true, None, false, true),
            ("more\", \"b\": ", true, Some(false), true, true),
            ("1, \"b\": \"a < b", false, Some(true), true, true),
            ("1}", false, None, true, false),
            ("1}</argu", false, Some(false), false, false),
            ("1}\n<", false, Some(false), false, false),
            (&"x".repeat(94), true, None, false, false),
        ] {
            let mut value = value(CalmKind::json(Some("</"), in_string));
            let mut was_asked = None;
            let passed = value.passes(chunk, |at| {
                was_asked = Some(at);
                answer
            });
            assert_eq!((passed, was_asked), (passes, asked.then_some(7)), "{chunk}");
            let now_in_string = answer.filter(|_| asked).unwrap_or(in_string);
            assert!(matches!(value.kind, CalmKind::Json { in_string, .. } if in_string == now_in_string), "{chunk}");
        }
        for (chunk, passes) in [("plain, 字", true), ("a < b", false), ("a\n", false), ("a\r", false), ("a\nb", true)]
        {
            let passed = value(CalmKind::Verbatim).passes(chunk, |_| unreachable!("it is no JSON"));
            assert_eq!(passed, passes, "{chunk}");
        }
    }
}
