//! Where plain text may stop being plain.
//!
//! Every marker starts with `<`, with `[`, or at a line's start. The search for
//! these takes nearly all of a stream's bytes, so it goes over many at once, and
//! the two bytes behind each find tell apart what begins nothing.

use super::prefixes::{Owners, Prefixes};
use crate::json::bytes::{Bracket, Either, HIGH, Kind, any_zero_in, differs, word};
use crate::json::window::{Match, No, Undecided};

/// What may begin behind a `<`, behind a `[`, and at a line's start.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    tag: Leads,
    /// The same with all bytes of the marks.
    tags: Prefixes,
    pub(crate) bracket: Leads,
    pub(crate) line: Leads,
    /// Behind a blank line, which what begins there takes along, if anything does.
    pub(crate) behind_blank: Option<Leads>,
}

/// How far plain text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Bytes of it. If more follow, something may begin there.
    pub(crate) length: usize,
    /// Whether a line starts there.
    pub(crate) line_start: bool,
    /// Whether a mark begins there, by all of the bytes that are looked at.
    pub(crate) is_mark: bool,
}

impl Plain {
    /// None: a line starts here, or text goes on.
    pub(crate) fn none(line_start: bool) -> Self {
        Plain { length: 0, line_start, is_mark: false }
    }
}

impl Triggers {
    /// Adds a marker that begins with `<` or `[`.
    pub(crate) fn add_mark(&mut self, mark: &str) {
        if mark.starts_with('[') {
            return self.bracket.add_mark(mark);
        }
        self.tag.add_mark(mark);
        self.tags.add_mark(mark, 0);
    }

    /// Adds all marks that begin with a `<` and these two bytes.
    pub(crate) fn add_tags(&mut self, first: u8, second: u8) {
        self.tag.add(first, second);
        self.tags.add_lead(&[first, second]);
    }

    /// Adds all marks that begin with a `<` and the first three bytes of `tag`, or all that it
    /// has, in small letters or capitals.
    pub(crate) fn add_tags_any_case(&mut self, tag: &str) {
        let lead = &tag.as_bytes()[..tag.len().min(3)];
        for capitals in 0..1 << lead.len() {
            let case = |(at, byte): (usize, &u8)| match capitals >> at & 1 {
                0 => byte.to_ascii_lowercase(),
                _ => byte.to_ascii_uppercase(),
            };
            let lead: Vec<u8> = lead.iter().enumerate().map(case).collect();
            if let [first, second, ..] = *lead {
                self.tag.add(first, second);
            }
            self.tags.add_lead(&lead);
        }
    }

    /// All marks are added.
    pub(crate) fn seal(&mut self) {
        self.tags.seal();
    }

    /// Reads plain text, which begins at a line's start if `line_start`, up to
    /// where something may begin or too little is at hand to tell.
    pub(crate) fn plain(&self, text: &[u8], line_start: bool) -> Plain {
        if line_start && self.may_begin_line(text) {
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
                    let [byte, behind @ ..] = &text[at..] else { break };
                    if *byte == b'\n' {
                        if self.may_begin_line(behind) {
                            return Plain { length: at + 1, line_start: true, is_mark: false };
                        }
                        continue;
                    }
                    // Told here, not by a function of its own: most text passes no further.
                    let found = match *byte {
                        b'<' if !self.tag.fit(behind) => continue,
                        b'<' => self.tags.fit(behind),
                        _ if !self.bracket.fit(behind) => continue,
                        _ if behind.len() < 2 => Err(Undecided),
                        _ => Ok(0),
                    };
                    if found != Err(No) {
                        return Plain { length: at, line_start: false, is_mark: found.is_ok() };
                    }
                }
            }
            from += BLOCK;
        }
        Plain { length: text.len(), ..Plain::none(false) }
    }

    /// Whether the two bytes behind the `<` that `text` begins with are those of a mark.
    pub(crate) fn leads_tag(&self, text: &[u8]) -> bool {
        text.get(1..).is_some_and(|behind| self.tag.fit(behind))
    }

    /// Whether something may begin in `text`, which begins at a line's start.
    #[inline]
    pub(crate) fn may_begin_line(&self, text: &[u8]) -> bool {
        match *text {
            // Nearly no line is indented.
            [b' ' | b'\t', ..] => self.may_begin_indented(text),
            _ => self.may_begin(text),
        }
    }

    #[inline(never)]
    fn may_begin_indented(&self, text: &[u8]) -> bool {
        let indent = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        self.may_begin(&text[indent..])
    }

    /// The same behind a line's indent.
    #[inline]
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        self.line.fit(text) && self.may_begin_here(text)
    }

    /// The same where the first two bytes fit.
    #[inline(never)]
    fn may_begin_here(&self, text: &[u8]) -> bool {
        match (text, &self.behind_blank) {
            ([b'\n', behind @ ..], Some(leads)) => leads.fit(behind),
            // Of several the first begins.
            ([b'\r', b'\n', behind @ ..], Some(leads)) => matches!(behind, [b'\r' | b'\n', ..]) || leads.fit(behind),
            _ => true,
        }
    }
}

/// Behind the blocks at `from` in which no trigger is.
#[inline(never)]
fn past_plain_blocks(text: &[u8], from: usize) -> usize {
    let (blocks, _) = text[from..].as_chunks();
    let plain = blocks.iter().take_while(|block| !any_zero_in(block, |b| Trigger.rest(b))).count();
    from + plain * BLOCK
}

/// Marks by the `<` or `[` that is their first byte.
#[derive(Debug, Default)]
pub(crate) struct MarkSet {
    tag: Prefixes,
    bracket: Prefixes,
}

impl MarkSet {
    /// Adds a mark of these owners.
    pub(crate) fn add_mark(&mut self, mark: &str, owners: Owners) {
        if mark.starts_with('[') { &mut self.bracket } else { &mut self.tag }.add_mark(mark, owners);
    }

    /// All marks are added.
    pub(crate) fn seal(&mut self) {
        self.tag.seal();
        self.bracket.seal();
    }

    /// Whether `text` begins with one of the marks, and whose marks it begins with.
    #[inline]
    pub(crate) fn fit(&self, text: &str) -> Match<Owners> {
        match text.as_bytes() {
            [] => Err(Undecided),
            [b'<', behind @ ..] => self.tag.fit(behind),
            [b'[', behind @ ..] => self.bracket.fit(behind),
            _ => Err(No),
        }
    }
}

/// The first two bytes of words.
#[derive(Debug)]
pub(crate) struct Leads {
    /// By the first byte, the place of its second bytes; 0 where no word begins with it.
    firsts: [u16; 256],
    /// One bit for each second byte, none in the first set.
    seconds: Vec<[u64; 4]>,
}

impl Default for Leads {
    fn default() -> Self {
        Leads { firsts: [0; 256], seconds: vec![[0; 4]] }
    }
}

impl Leads {
    /// Adds a mark that begins with a byte of its own, which is not looked at.
    pub(crate) fn add_mark(&mut self, mark: &str) {
        if let [_, second, third, ..] = *mark.as_bytes() {
            self.add(second, third);
        }
    }

    /// Adds a word that begins with these two bytes.
    pub(crate) fn add(&mut self, first: u8, second: u8) {
        let set = &mut self.firsts[usize::from(first)];
        if *set == 0 {
            *set = self.seconds.len() as u16;
            self.seconds.push([0; 4]);
        }
        self.seconds[usize::from(*set)][usize::from(second >> 6)] |= 1 << (second & 63);
    }

    /// Adds a line of another's turn ([`TurnLine`](crate::dialect::TurnLine)).
    pub(crate) fn add_line(&mut self, line: &str) {
        match *line.as_bytes() {
            [first, b'@', ..] => (b'a'..=b'z').for_each(|second| self.add(first, second)),
            [first, second, ..] => self.add(first, second),
            _ => {}
        }
    }

    /// Adds a word, in small letters, as it stands and in capitals.
    pub(crate) fn add_any_case(&mut self, first: u8, second: u8) {
        in_any_case(first, second).into_iter().for_each(|[first, second]| self.add(first, second));
    }

    /// Whether `text` may begin with one of the words.
    #[inline]
    pub(crate) fn fit(&self, text: &[u8]) -> bool {
        match *text {
            [] => true,
            [first] => self.firsts[usize::from(first)] != 0,
            [first, second, ..] => {
                let seconds = self.seconds.get(usize::from(self.firsts[usize::from(first)]));
                seconds.is_some_and(|bits| bits[usize::from(second >> 6)] >> (second & 63) & 1 != 0)
            }
        }
    }
}

/// Two small letters as they are and in capitals.
fn in_any_case(first: u8, second: u8) -> [[u8; 2]; 4] {
    let (capital, second_capital) = (first.to_ascii_uppercase(), second.to_ascii_uppercase());
    [[first, second], [first, second_capital], [capital, second], [capital, second_capital]]
}

const BLOCK: usize = 16;

/// Whether there are bytes, and no `<`, no `[` and no line break among them.
#[inline(always)] // With each chunk; the call alone would cost a quarter of it.
pub(crate) fn has_no_trigger(bytes: &[u8]) -> bool {
    has_none(bytes, Trigger)
}

/// The same, with no bracket and no quotation mark among them.
#[inline(always)] // With each chunk behind calls.
pub(crate) fn has_no_trigger_or_bracket(bytes: &[u8]) -> bool {
    has_none(bytes, Either(Trigger, Bracket))
}

/// Whether there are bytes, and none of this kind among them.
#[inline(always)]
fn has_none(bytes: &[u8], kind: impl Kind) -> bool {
    // A block, or two that overlap, else two words that do: all usual lengths without a loop.
    let is_plain = |block: &[u8; BLOCK]| !any_zero_in(block, |b| kind.rest(b));
    if let Ok(block) = bytes.try_into() {
        return is_plain(block);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<BLOCK>(), bytes.last_chunk::<BLOCK>()) {
        let between = || bytes.as_chunks().0.iter().skip(1).all(is_plain);
        return is_plain(first) && is_plain(last) && (bytes.len() <= 2 * BLOCK || between());
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return kind.bits(u64::from_le_bytes(*first)) | kind.bits(u64::from_le_bytes(*last)) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return kind.bits(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32) == 0;
    }
    !bytes.is_empty() && !bytes.iter().any(|b| kind.rest(*b) == 0)
}

/// A `<`, a `[`, or a line break.
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

    #[test]
    fn the_triggers_are_found_at_every_place_in_every_length() {
        let any = || {
            let mut leads = Leads::default();
            (0..=255).for_each(|first| (0..=255).for_each(|second| leads.add(first, second)));
            leads
        };
        let mut tags = Prefixes::default();
        (0..=255).for_each(|first| tags.add_lead(&[first]));
        tags.seal();
        let all = Triggers { tag: any(), tags, bracket: any(), line: any(), behind_blank: None };
        let none = Triggers::default();
        let plain = |triggers: &Triggers, text: &[u8]| triggers.plain(text, false).length;
        for length in 0..70 {
            // Neighbours of the triggers' bytes.
            let mut text: Vec<u8> =
                (0..length).map(|at| [b'=', b'Z', b'\\', 0x0b, 0x8a, 0xbc, 0xff, 0, 0xdb][at % 9]).collect();
            assert_eq!(has_no_trigger(&text), length > 0, "{length}");
            assert_eq!(plain(&all, &text), length);
            for at in (0..length).rev() {
                let before = text[at];
                text[at] = [b'<', b'[', b'\n'][at % 3];
                assert!(!has_no_trigger(&text), "{at} of {length}");
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
        let mut triggers = Triggers::default();
        triggers.add_mark("<use>");
        triggers.seal();
        triggers.line.add_any_case(b't', b'y');
        triggers.line.add(b'\n', b'U');
        triggers.line.add(b'\r', b'\n');
        let mut user = Leads::default();
        user.add(b'U', b's');
        triggers.behind_blank = Some(user);
        for (text, line_start, length, at_line) in [
            ("no sign", true, 7, false),
            ("a <b>, a[0] and <ui>", false, 20, false),
            ("a <use", false, 2, false),
            ("a <u", false, 2, false),
            ("a <use>", false, 2, false),
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
            let plain = triggers.plain(text.as_bytes(), line_start);
            assert_eq!((plain.length, plain.line_start), (length, at_line), "{text:?}");
            assert_eq!(plain.is_mark, text[length..].starts_with("<use>"), "{text:?}");
        }
    }
}
