//! Where a Python string ends.

use crate::parse::body::think_close;
use crate::parse::window::{Match, Window};

/// An open string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoted {
    /// Where its text begins.
    pub(super) start: u64,
    quote: u8,
    triple: bool,
    /// A backslash is a backslash.
    pub(super) raw: bool,
}

/// Where a string's text ends.
pub(super) enum TextEnd {
    /// Here, before the closing quotes.
    At(u64),
    /// More of it is needed.
    Wait,
    /// It cannot go on.
    Fault,
}

impl Quoted {
    /// The string whose opening quotes, one or three, `text` begins with;
    /// `None` while more may make three of them.
    pub(super) fn open(text: &str, at: u64, raw: bool, more: bool) -> Option<Self> {
        let quote = text.bytes().next()?;
        let run = text.bytes().take(3).take_while(|byte| *byte == quote).count();
        if run == text.len() && run < 3 && more {
            return None;
        }
        let triple = run == 3;
        Some(Quoted { start: at + if triple { 3 } else { 1 }, quote, triple, raw })
    }

    /// Reads on from `cursor`, which stands in the text, and moves it: behind the
    /// closing quotes, to a fault, or to where more is needed.
    pub(super) fn end(self, cursor: &mut u64, think_ends: bool, window: &Window<'_>) -> TextEnd {
        let text = window.from(*cursor);
        let bytes = text.as_bytes();
        let base = *cursor;
        // A line break ends a string of one line, what ends the reasoning one of several.
        let stop = match self.triple {
            false => b'\n',
            true if think_ends => b'<',
            true => self.quote,
        };
        let quotes = if self.triple { 3 } else { 1 };
        let mut from = 0;
        while let Some(i) = memchr::memchr3(self.quote, b'\\', stop, &bytes[from..]).map(|i| i + from) {
            *cursor = base + i as u64;
            match bytes[i] {
                b'\\' if i + 1 == bytes.len() => return TextEnd::Wait,
                b'\\' => from = i + 2,
                b'\n' => return TextEnd::Fault,
                b'<' => match think_close(&text[i..], window.more) {
                    Match::Yes(_) => return TextEnd::Fault,
                    Match::Undecided => return TextEnd::Wait,
                    Match::No => from = i + 1,
                },
                _ => {
                    let run = bytes[i..].iter().take(quotes).take_while(|byte| **byte == self.quote).count();
                    if run == quotes {
                        *cursor += quotes as u64;
                        return TextEnd::At(base + i as u64);
                    }
                    if i + run == bytes.len() {
                        return TextEnd::Wait;
                    }
                    from = i + run;
                }
            }
        }
        *cursor = window.end();
        TextEnd::Wait
    }
}
