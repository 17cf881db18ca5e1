//! Where plain text may stop being plain.
//!
//! Every marker starts with `<`, with `[`, or at a line's start. The search for
//! these takes nearly all of a stream's bytes, so it goes over many at once, and
//! the two bytes behind each find tell apart what begins nothing.

use super::bytes::{HIGH, Kind, Places, any_zero_in, differs};

/// What may begin behind a `<`, behind a `[`, and at a line's start.
#[derive(Debug, Default)]
pub(super) struct Signs {
    tag: Leads,
    pub(super) bracket: Leads,
    pub(super) line: Leads,
}

/// How far plain text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plain {
    /// Bytes of it. If more follow, something may begin there.
    pub(super) length: usize,
    /// Whether a line starts there.
    pub(super) line_start: bool,
}

impl Signs {
    /// Adds a marker that begins with `<` or `[`.
    pub(super) fn add_mark(&mut self, mark: &str) {
        if let [first, second, third, ..] = *mark.as_bytes() {
            let leads = if first == b'[' { &mut self.bracket } else { &mut self.tag };
            leads.add(second, third);
        }
    }

    /// Reads plain text, which begins at a line's start if `line_start`, up to
    /// where something may begin or too little is at hand to tell.
    pub(super) fn plain(&self, text: &[u8], line_start: bool) -> Plain {
        if line_start && self.may_begin_line(text) {
            return Plain { length: 0, line_start };
        }
        for length in Places::new(Sign, text) {
            let behind = &text[length + 1..];
            match text[length] {
                b'\n' if self.may_begin_line(behind) => return Plain { length: length + 1, line_start: true },
                b'<' if self.tag.fit(behind) => return Plain { length, line_start: false },
                b'[' if self.bracket.fit(behind) => return Plain { length, line_start: false },
                _ => {}
            }
        }
        Plain { length: text.len(), line_start: false }
    }

    /// Whether something may begin in `text`, which begins at a line's start.
    #[inline]
    fn may_begin_line(&self, text: &[u8]) -> bool {
        // Nearly no line is indented.
        let indent = match text {
            [b' ' | b'\t', ..] => text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count(),
            _ => 0,
        };
        self.line.fit(&text[indent..])
    }
}

/// The first two bytes of words.
#[derive(Debug)]
pub(super) struct Leads {
    /// By the first byte, one bit for each second byte.
    seconds: Box<[[u64; 4]; 256]>,
}

impl Default for Leads {
    fn default() -> Self {
        Leads { seconds: Box::new([[0; 4]; 256]) }
    }
}

impl Leads {
    /// Adds a word that begins with these two bytes.
    pub(super) fn add(&mut self, first: u8, second: u8) {
        self.seconds[usize::from(first)][usize::from(second >> 6)] |= 1 << (second & 63);
    }

    /// Adds a word, in small letters, as it stands and in capitals.
    pub(super) fn add_any_case(&mut self, first: u8, second: u8) {
        for first in [first, first.to_ascii_uppercase()] {
            for second in [second, second.to_ascii_uppercase()] {
                self.add(first, second);
            }
        }
    }

    /// Whether `text` may begin with one of the words.
    #[inline]
    pub(super) fn fit(&self, text: &[u8]) -> bool {
        match *text {
            [] => true,
            [first] => self.seconds[usize::from(first)] != [0; 4],
            [first, second, ..] => self.seconds[usize::from(first)][usize::from(second >> 6)] >> (second & 63) & 1 != 0,
        }
    }
}

const BLOCK: usize = 16;

/// Whether there are bytes, and no `<`, no `[` and no line break among them.
#[inline(always)] // With each chunk; the call alone would cost a quarter of it.
pub(super) fn is_signless(bytes: &[u8]) -> bool {
    // A block, or two that overlap, else two words that do: all usual lengths without a loop.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<BLOCK>(), bytes.last_chunk::<BLOCK>()) {
        let is_plain = |block: &[u8; BLOCK]| !any_zero_in(block, |b| Sign.rest(b));
        let between = || bytes.as_chunks().0.iter().skip(1).all(is_plain);
        return is_plain(first) && (bytes.len() == BLOCK || is_plain(last) && (bytes.len() <= 2 * BLOCK || between()));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return Sign.bits(u64::from_le_bytes(*first)) | Sign.bits(u64::from_le_bytes(*last)) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return Sign.bits(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32) == 0;
    }
    !bytes.is_empty() && !bytes.iter().any(|b| Sign.rest(*b) == 0)
}

/// A `<`, a `[`, or a line break.
#[derive(Clone, Copy)]
struct Sign;

impl Kind for Sign {
    const OTHER: u8 = 0;

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        (byte ^ b'<').min(byte ^ b'[').min(byte ^ b'\n')
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        !(differs(word, b'<') & differs(word, b'[') & differs(word, b'\n')) & HIGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signs_are_found_at_every_place_in_every_length() {
        for length in 0..70 {
            // Neighbours of the signs' bytes.
            let mut text: Vec<u8> =
                (0..length).map(|at| [b'=', b'Z', b'\\', 0x0b, 0x8a, 0xbc, 0xff, 0, 0xdb][at % 9]).collect();
            assert_eq!(is_signless(&text), length > 0, "{length}");
            assert_eq!(Places::new(Sign, &text).next(), None, "{length}");
            let mut expected = Vec::new();
            for at in (0..length).rev() {
                let before = text[at];
                text[at] = [b'<', b'[', b'\n'][at % 3];
                assert!(!is_signless(&text), "{at} of {length}");
                expected.insert(0, at);
                assert_eq!(Places::new(Sign, &text).collect::<Vec<_>>(), expected, "{at} of {length}");
                if at % 4 > 0 {
                    text[at] = before;
                    expected.remove(0);
                }
            }
        }
    }

    #[test]
    fn plain_text_goes_up_to_where_something_may_begin() {
        let mut signs = Signs::default();
        signs.add_mark("<us>");
        signs.line.add_any_case(b't', b'y');
        for (text, line_start, length, at_line) in [
            ("no sign", true, 7, false),
            ("a <b>, a[0] and <ui>", false, 20, false),
            ("a <use", false, 2, false),
            ("a <u", false, 2, false),
            ("a <", false, 2, false),
            ("a [", false, 2, false),
            ("one\ntwo\n", false, 8, true),
            ("one\n\n  two\n ", true, 11, true),
            ("one\nTYPE", false, 4, true),
            ("one\n \ttype", false, 4, true),
            ("one\nT", false, 4, true),
            ("one\nTo", false, 6, false),
            ("", true, 0, true),
            ("", false, 0, false),
        ] {
            assert_eq!(signs.plain(text.as_bytes(), line_start), Plain { length, line_start: at_line }, "{text:?}");
        }
    }
}
