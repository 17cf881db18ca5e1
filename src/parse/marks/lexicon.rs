//! The lexicon: all that may begin in the text between calls, and where plain text may stop being plain.
//!
//! Every literal starts with `<`, with `[`, or at a line's start. The search for these takes nearly all of a
//! stream's bytes, so it goes over many at once. What follows one of them is looked up once: the lexicon
//! answers what may begin there, of those kinds that count where the text is, and whether all bytes of a
//! literal have come. Recognisers whose kind it does not name are not asked.

use super::kinds::Kinds;
use super::prefixes::{Fit, Prefixes};
use crate::json::bytes::{BLOCK, Bracket, Either, HIGH, Kind, any_zero_in, differs, has_none, word};

/// The prefixes of all marks that may begin after a `<`, after a `[`, and at a line's start.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    pub(crate) tag: Prefixes,
    pub(crate) bracket: Prefixes,
    pub(crate) line: Prefixes,
}

/// Length of a run of plain text, and the delimiters that may begin after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Length of the plain text in bytes; in a longer input, a delimiter may begin at this offset.
    pub(crate) length: usize,
    /// `true` if the plain text ends at a line's start at which a delimiter may begin.
    pub(crate) line_start: bool,
    /// Delimiters that may begin after the plain text; none if `line_start` is set.
    pub(crate) fit: Fit,
}

impl Plain {
    /// Returns an empty run of plain text, at a line's start if `line_start`.
    pub(crate) fn none(line_start: bool) -> Self {
        Plain { length: 0, line_start, fit: Fit::NONE }
    }
}

impl Lexicon {
    /// Adds a marker that begins with `<` or `[`.
    pub(crate) fn add_mark(&mut self, mark: &str, kinds: Kinds) {
        self.after(mark.starts_with('[')).add_mark(mark, kinds);
    }

    /// Returns the prefix tree of the delimiters that begin with `[` if `is_square`, else of those that begin with `<`.
    pub(crate) fn after(&mut self, is_square: bool) -> &mut Prefixes {
        if is_square { &mut self.bracket } else { &mut self.tag }
    }

    /// Builds the prefix trees, after all literals were added.
    pub(crate) fn seal(&mut self) {
        self.tag.seal();
        self.bracket.seal();
        self.line.seal();
    }

    /// Measures the plain text at the start of `text`, up to the first offset at which a delimiter of `kinds` may
    /// begin, or may yet turn out to begin. `line_start`: `text` begins a line.
    pub(crate) fn plain(&self, text: &[u8], line_start: bool, kinds: Kinds) -> Plain {
        self.plain_by::<false>(text, line_start, kinds)
    }

    /// Measures plain text like [`plain`](Self::plain), but stops as soon as two bytes after a `[` or at a line's start
    /// fit, so that held text is reported in the same pieces however much of it has arrived.
    pub(crate) fn plain_by_leads(&self, text: &[u8], kinds: Kinds) -> Plain {
        self.plain_by::<true>(text, false, kinds)
    }

    #[inline(always)] // Twice.
    fn plain_by<const LEADS: bool>(&self, text: &[u8], line_start: bool, kinds: Kinds) -> Plain {
        let begins_line = |text: &[u8]| match LEADS {
            true => self.line_leads(&text[indent(text)..], kinds) != Kinds::NONE,
            false => self.may_begin_line(text, kinds),
        };
        if line_start && begins_line(text) {
            return Plain::none(line_start);
        }
        let mut from = 0;
        while from < text.len() {
            if text.len() - from > BLOCK {
                from = past_plain_blocks(text, from);
            }
            let rest = &text[from..];
            // All usual chunks are one block.
            let words = match rest.first_chunk::<BLOCK>() {
                Some(block) => [word(block, 0, Trigger::OTHER), word(block, 8, Trigger::OTHER)],
                None => [word(rest, 0, Trigger::OTHER), word(rest, rest.len().min(8), Trigger::OTHER)],
            };
            for (word_at, word) in [from, from + 8].into_iter().zip(words) {
                let mut bits = Trigger.bits(word);
                while bits != 0 {
                    let at = word_at + bits.trailing_zeros() as usize / 8;
                    bits &= bits - 1;
                    let [byte, after @ ..] = &text[at..] else { break };
                    // Told here, not by a function of its own: most text passes no further.
                    let fit = match *byte {
                        b'\n' if begins_line(after) => {
                            return Plain { length: at + 1, ..Plain::none(true) };
                        }
                        b'\n' => continue,
                        b'<' => self.tag.fit(after, kinds),
                        _ if LEADS => self.bracket.fit(&after[..after.len().min(2)], kinds),
                        _ => self.bracket.fit(after, kinds),
                    };
                    if fit.kinds != Kinds::NONE {
                        return Plain { length: at, line_start: false, fit };
                    }
                }
            }
            from += BLOCK;
        }
        Plain { length: text.len(), ..Plain::none(false) }
    }

    /// Returns those of `kinds` whose delimiters may begin at the `<` or `[` with which `text` begins; none for any
    /// other text.
    #[inline]
    pub(crate) fn mark(&self, text: &str, kinds: Kinds) -> Fit {
        match text.as_bytes() {
            [b'<', after @ ..] => self.tag.fit(after, kinds),
            [b'[', after @ ..] => self.bracket.fit(after, kinds),
            _ => Fit::NONE,
        }
    }

    /// Returns `true` if a known delimiter begins with the `<` at the start of `text` and the two bytes after it.
    pub(crate) fn leads_tag(&self, text: &str) -> bool {
        let lead = text.as_bytes().get(1..).map(|after| &after[..after.len().min(2)]);
        lead.is_some_and(|lead| self.tag.fit(lead, Kinds::ALL).kinds != Kinds::NONE)
    }

    /// Returns those of `kinds` that may begin a line with the first two bytes of `text`, not counting up to two line
    /// break characters before these.
    pub(crate) fn line_leads(&self, text: &[u8], kinds: Kinds) -> Kinds {
        let blank = text.iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line.fit(&text[..text.len().min(blank + 2)], kinds).kinds
    }

    /// Returns `true` if a delimiter of `kinds` may begin the line at the start of `text`, after its indent.
    #[inline]
    fn may_begin_line(&self, text: &[u8], kinds: Kinds) -> bool {
        match *text {
            // Nearly no line is indented.
            [b' ' | b'\t', ..] => self.may_begin_indented(text, kinds),
            _ => self.line.fit(text, kinds) != Fit::NONE,
        }
    }

    #[inline(never)]
    fn may_begin_indented(&self, text: &[u8], kinds: Kinds) -> bool {
        self.line.fit(&text[indent(text)..], kinds) != Fit::NONE
    }
}

/// Returns the number of spaces and tabs at the start of `text`.
fn indent(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips blocks of `BLOCK` bytes, from offset `from` on, that contain no `<`, `[` or line break; returns the offset
/// after them.
#[inline(never)]
fn past_plain_blocks(text: &[u8], from: usize) -> usize {
    let (blocks, _) = text[from..].as_chunks();
    let plain = blocks.iter().take_while(|block| !any_zero_in(block, |b| Trigger.rest(b))).count();
    from + plain * BLOCK
}

/// Returns `true` if `text` is not empty and contains no `<`, no `[` and no line break.
#[inline(always)] // With each chunk; the call alone would cost a quarter of it.
pub(crate) fn has_no_trigger(text: &str) -> bool {
    has_none(text.as_bytes(), Trigger)
}

/// Returns `true` if `text` is not empty, contains no `<`, no line break and no bracket, and its last two bytes show
/// that it does not end with a quoted text.
#[inline(always)] // With each chunk after calls.
pub(crate) fn has_no_trigger_or_bracket(text: &str) -> bool {
    // White space and quotation marks come before nearly all letters and signs.
    let ends_no_quote = |bytes: &[u8]| match bytes {
        [.., last] if *last > b'\'' => true,
        [.., before, b' '] => *before > b'\'',
        // Text in quotes does not end before a chunk that comes here.
        _ => bytes == b" ",
    };
    has_none(text.as_bytes(), Either(Trigger, Bracket)) && ends_no_quote(text.as_bytes())
}

/// Class of the bytes at which a delimiter may begin: `<`, `[` and the line break.
#[derive(Clone, Copy)]
struct Trigger;

impl Kind for Trigger {
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

    const KINDS: Kinds = Kinds::TOKEN;

    #[test]
    fn the_triggers_are_found_at_every_place_in_every_length() {
        let mut all = Lexicon::default();
        (0..=255).for_each(|byte| {
            all.tag.add(&[byte], KINDS);
            all.bracket.add(&[byte], KINDS);
            all.line.add(&[byte], KINDS);
        });
        all.seal();
        let none = Lexicon::default();
        let plain = |lexicon: &Lexicon, text: &[u8]| lexicon.plain(text, false, KINDS).length;
        for length in 0..70 {
            // Neighbours of the triggers' bytes.
            let mut text: Vec<u8> =
                (0..length).map(|at| [b'=', b'Z', b'\\', 0x0b, 0x8a, 0xbc, 0xff, 0, 0xdb][at % 9]).collect();
            assert_eq!(has_none(&text, Trigger), length > 0, "{length}");
            assert_eq!(plain(&all, &text), length);
            for at in (0..length).rev() {
                let before = text[at];
                text[at] = [b'<', b'[', b'\n'][at % 3];
                assert!(!has_none(&text, Trigger), "{at} of {length}");
                assert_eq!(plain(&all, &text), at + usize::from(at % 3 == 2), "{at} of {length}");
                // The last byte alone says nothing yet.
                let last = text.iter().rposition(|byte| matches!(byte, b'<' | b'['));
                let undecided = last.filter(|last| last + 1 == length).unwrap_or(length);
                assert_eq!(plain(&none, &text), undecided, "{at} of {length}");
                if at % 4 > 0 {
                    text[at] = before;
                }
            }
        }
    }

    #[test]
    fn plain_text_goes_up_to_where_something_may_begin() {
        let mut lexicon = Lexicon::default();
        lexicon.add_mark("<use>", KINDS);
        lexicon.add_mark("<off>", Kinds::CLOSER);
        lexicon.line.add_any_case("typ", KINDS);
        for line in ["\nUser:", "\r\nUser:", "\r\n\r", "\r\n\n"] {
            lexicon.line.add(line.as_bytes(), KINDS);
        }
        lexicon.seal();
        for (text, line_start, length, at_line) in [
            ("no sign", true, 7, false),
            ("a <b>, a[0] and <ui>", false, 20, false),
            ("a <use", false, 2, false),
            ("a <u", false, 2, false),
            ("a <use>", false, 2, false),
            ("a <off> <of", false, 11, false),
            ("a <user>, <usb>", false, 15, false),
            ("a <user> <us", false, 9, false),
            ("a <", false, 2, false),
            ("a [", false, 2, false),
            ("one\ntwo\n", false, 8, true),
            ("one\n\n  two\n ", true, 11, true),
            ("one\nTYPE", false, 4, true),
            ("one\n \ttype", false, 4, true),
            ("one\nT", false, 4, true),
            ("one\nTo", false, 6, false),
            ("one\n\nUp", false, 7, false),
            ("one\n\nUser", false, 4, true),
            ("one\n\nU", false, 4, true),
            ("one\r\n\r", false, 5, true),
            ("one\r\n\r\nUs", false, 5, true),
            ("one\r\nto", false, 7, false),
            ("", true, 0, true),
            ("", false, 0, false),
        ] {
            let plain = lexicon.plain(text.as_bytes(), line_start, KINDS);
            assert_eq!((plain.length, plain.line_start), (length, at_line), "{text:?}");
            assert_eq!(plain.fit.is_whole, text[length..].starts_with("<use>"), "{text:?}");
        }
        assert!(lexicon.leads_tag("<us3") && !lexicon.leads_tag("<a3"));
        for (line, kinds) in
            [("ty3", KINDS), ("\nUs3", KINDS), ("\r\nUs", KINDS), ("x", Kinds::NONE), ("\n\n", Kinds::NONE)]
        {
            assert_eq!(lexicon.line_leads(line.as_bytes(), KINDS), kinds, "{line:?}");
        }
        for (text, length) in [("one\nty, no type", 4), ("one\n  tyx", 4), ("one\n\nUsing", 4), ("one\ntoo", 7)] {
            assert_eq!(lexicon.plain_by_leads(text.as_bytes(), KINDS).length, length, "{text:?}");
        }
    }
}
