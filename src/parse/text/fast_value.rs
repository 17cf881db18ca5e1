//! More of a value in an open call's arguments that is emitted as it comes: its text is its own preview, so that in JSON
//! the lexer alone reads it.

use crate::event::Event;
use crate::json::bytes::{Byte, Either, Kind, Places, any_zero};
use crate::json::{Special, escaped, short_escape};
use crate::parse::call::OpenValue;

/// State of a value in a call's arguments that is emitted as it arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FastValue {
    /// Offset of the value's next byte.
    pub(crate) at: u64,
    /// Offset up to which the value may reach: after it the call is over its limit.
    pub(crate) limit_offset: u64,
    /// Index of the call.
    pub(crate) index: u32,
    pub(crate) kind: ValueKind,
    pub(crate) reasoning_channel: bool,
}

/// Syntax in which an argument's value is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ValueKind {
    /// A verbatim text, which becomes a JSON string; a `<` may end it, and a line break before that is not part of it.
    Verbatim,
    /// JSON, and the beginning of the tag that may end the call in it, if one can.
    Json {
        closer: Option<CloserStart>,
        /// `true` if the last byte is inside a string and outside escapes.
        in_string: bool,
    },
}

/// First byte of a closing tag, and the second one if it is the same in all spellings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CloserStart {
    first: u8,
    second: Option<u8>,
}

impl ValueKind {
    /// Returns the syntax of a value that was read and emitted up to `at`; `None` if the next text must not be emitted
    /// as it is.
    pub(crate) fn of(value: OpenValue<'_>, at: u64) -> Option<Self> {
        match value {
            OpenValue::Json(json) if json.is_settled(at) => Some(ValueKind::json(&json.closer, json.in_string())),
            OpenValue::Verbatim { cursor, previewed } if *cursor == at && *previewed == at => Some(ValueKind::Verbatim),
            OpenValue::Json(_) | OpenValue::Verbatim { .. } => None,
        }
    }

    /// Creates the syntax of JSON in a call that `closer` ends; an empty closer ends none.
    pub(crate) fn json(closer: &str, in_string: bool) -> Self {
        let second = closer.as_bytes().get(1).copied().filter(u8::is_ascii);
        ValueKind::Json { closer: closer.bytes().next().map(|first| CloserStart { first, second }), in_string }
    }
}

impl CloserStart {
    /// Stand-in for the start of a closer where none can end the value.
    // A quotation mark, which ends the string anyway.
    const NONE: CloserStart = CloserStart { first: b'"', second: None };

    /// Returns `true` if the byte after the one at `at`, the closer's first, is known and is not the closer's second.
    fn begins_nothing(self, chunk: &[u8], at: usize) -> bool {
        chunk.get(at + 1).zip(self.second).is_some_and(|(next, second)| *next != second)
    }

    /// Returns `true` if a string that is open at the start of `chunk` is open at its end, and no closer begins in it.
    #[inline]
    fn string_holds(self, chunk: &[u8]) -> bool {
        let kind = Either(Special, Byte(self.first));
        if !any_zero(chunk, |b| kind.rest(b)) {
            return true;
        }
        let mut plain_from = 0;
        for at in Places::new(kind, chunk) {
            match chunk[at] {
                // The second byte of an escape.
                _ if at < plain_from => {}
                b'\\' if chunk.get(at + 1).is_some_and(|next| short_escape(*next).is_some()) => plain_from = at + 2,
                byte if byte == self.first && self.begins_nothing(chunk, at) => {}
                _ => return false,
            }
        }
        true
    }
}

impl FastValue {
    /// Returns `true` if all of `chunk` is more of the value and needs no decision.
    ///
    /// If the value is JSON and leaves a string, `lex_chunk` reads the chunk at the offset that it gets, and returns
    /// whether the chunk ends inside a string.
    #[inline]
    pub(crate) fn passes(&mut self, chunk: &str, lex_chunk: impl FnOnce(u64) -> Option<bool>) -> bool {
        if self.at + chunk.len() as u64 > self.limit_offset {
            return false;
        }
        let bytes = chunk.as_bytes();
        match &mut self.kind {
            ValueKind::Verbatim => !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") && !any_zero(bytes, |b| b ^ b'<'),
            ValueKind::Json { closer, in_string } => {
                if *in_string && closer.unwrap_or(CloserStart::NONE).string_holds(bytes) {
                    return true;
                }
                if let Some(closer) = closer
                    && !memchr::memchr_iter(closer.first, bytes).all(|at| closer.begins_nothing(bytes, at))
                {
                    return false;
                }
                let read = lex_chunk(self.at);
                *in_string = read.unwrap_or(*in_string);
                read.is_some()
            }
        }
    }

    /// Emits `chunk` as more of the value. Verbatim text is escaped for JSON in `scratch`.
    #[inline]
    pub(crate) fn emit(&mut self, chunk: &str, scratch: &mut String, sink: &mut impl FnMut(Event<'_>)) {
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        let text = match self.kind {
            ValueKind::Verbatim => escaped(chunk, scratch),
            ValueKind::Json { .. } => chunk,
        };
        sink(Event::ArgsDelta { index: self.index, text, span });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_holds_escapes_and_what_begins_no_closer() {
        let [element, none, any] = ["</", "", "<｜"].map(|closer| match ValueKind::json(closer, true) {
            ValueKind::Json { closer, .. } => closer.unwrap_or(CloserStart::NONE),
            ValueKind::Verbatim => unreachable!("it is JSON"),
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
            let held = [element, none, any].map(|closer| closer.string_holds(chunk.as_bytes()));
            assert_eq!(held, [in_element, without_closer, of_spellings], "{chunk:?}");
        }
    }

    #[test]
    fn other_json_is_asked_about_unless_something_may_begin_in_it() {
        let value = |kind| FastValue { at: 7, limit_offset: 100, index: 0, kind, reasoning_channel: false };
        for (chunk, in_string, answer, asked, passes) in [
            ("more", true, None, false, true),
            ("more\", \"b\": ", true, Some(false), true, true),
            ("1, \"b\": \"a < b", false, Some(true), true, true),
            ("1}", false, None, true, false),
            ("1}</argu", false, Some(false), false, false),
            ("1}\n<", false, Some(false), false, false),
            (&"x".repeat(94), true, None, false, false),
        ] {
            let mut value = value(ValueKind::json("</", in_string));
            let mut was_asked = None;
            let passed = value.passes(chunk, |at| {
                was_asked = Some(at);
                answer
            });
            assert_eq!((passed, was_asked), (passes, asked.then_some(7)), "{chunk}");
            let now_in_string = answer.filter(|_| asked).unwrap_or(in_string);
            assert!(matches!(value.kind, ValueKind::Json { in_string, .. } if in_string == now_in_string), "{chunk}");
        }
        for (chunk, passes) in [("plain, 字", true), ("a < b", false), ("a\n", false), ("a\r", false), ("a\nb", true)]
        {
            let passed = value(ValueKind::Verbatim).passes(chunk, |_| unreachable!("it is no JSON"));
            assert_eq!(passed, passes, "{chunk}");
        }
    }
}
