//! Where plain text may stop being plain.
//!
//! Every marker starts with `<`, with `[`, or at a line's start. The search for
//! these takes nearly all of a stream's bytes, so it goes over many at once, and
//! the two bytes behind each find tell apart what begins nothing.

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

    /// Whether a marker may begin with `text`, which begins with `<` or `[`.
    pub(super) fn may_begin(&self, text: &str) -> bool {
        match text.as_bytes() {
            [b'<', rest @ ..] => self.tag.fit(rest),
            [b'[', rest @ ..] => self.bracket.fit(rest),
            _ => false,
        }
    }

    /// Reads plain text, which begins at a line's start if `line_start`, up to
    /// where something may begin or too little is at hand to tell.
    #[inline]
    pub(super) fn plain(&self, text: &[u8], mut line_start: bool) -> Plain {
        let mut length = 0;
        loop {
            if line_start {
                let rest = &text[length..];
                let indent = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                if rest.is_empty() || self.line.fit(&rest[indent..]) {
                    return Plain { length, line_start };
                }
                length += indent;
            }
            line_start = false;
            let Some(found) = next_sign(&text[length..]) else { return Plain { length: text.len(), line_start } };
            length += found;
            match text[length] {
                b'\n' => line_start = true,
                b'<' if self.tag.fit(&text[length + 1..]) => return Plain { length, line_start },
                b'[' if self.bracket.fit(&text[length + 1..]) => return Plain { length, line_start },
                _ => {}
            }
            length += 1;
        }
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

/// Whether there is no `<`, no `[` and no line break.
#[inline]
pub(super) fn is_signless(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<BLOCK>() else { return next_sign_of_few(bytes).is_none() };
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    // The last block once more with what is left.
    !blocks.iter().any(has_sign) && (rest.is_empty() || !has_sign(last))
}

/// The first `<`, `[` or line break.
#[inline]
fn next_sign(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < BLOCK {
        return next_sign_of_few(bytes);
    }
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        if let Some(at) = sign_in(block) {
            return Some(i * BLOCK + at);
        }
    }
    // The last block once more with what is left: nothing was found in it.
    let last = bytes.last_chunk::<BLOCK>().filter(|_| !rest.is_empty())?;
    sign_in(last).map(|at| bytes.len() - BLOCK + at)
}

/// The same in less than a block, as two words that overlap.
#[inline]
fn next_sign_of_few(bytes: &[u8]) -> Option<usize> {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return sign_in_word(u64::from_le_bytes(*first))
            .or_else(|| sign_in_word(u64::from_le_bytes(*last)).map(|at| bytes.len() - 8 + at));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let word = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return sign_in_word(word).map(|at| if at < 4 { at } else { bytes.len() + at - 8 });
    }
    bytes.iter().position(|b| matches!(b, b'<' | b'[' | b'\n'))
}

/// One comparison of all bytes at once, as long as its outcome has no other use.
#[inline]
fn has_sign(block: &[u8; BLOCK]) -> bool {
    let found = block.map(|b| u8::from(b == b'<') | u8::from(b == b'[') | u8::from(b == b'\n'));
    u128::from_le_bytes(found) != 0
}

/// The first sign of a block; there is none nearly always.
#[inline]
fn sign_in(block: &[u8; BLOCK]) -> Option<usize> {
    if !has_sign(block) {
        return None;
    }
    let ([first, second], _) = block.as_chunks::<8>() else { return None };
    sign_in_word(u64::from_le_bytes(*first)).or_else(|| sign_in_word(u64::from_le_bytes(*second)).map(|at| at + 8))
}

/// Eight bytes in one word, the first one lowest.
#[inline]
fn sign_in_word(word: u64) -> Option<usize> {
    let found = equal(word, b'<') | equal(word, b'[') | equal(word, b'\n');
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// Sets the highest bit of each byte of `word` that is `byte`. Above the first
/// such byte others may be set, too.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let zero_where_equal = word ^ (LOW * u64::from(byte));
    zero_where_equal.wrapping_sub(LOW) & !zero_where_equal & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_is_found_at_every_place_in_every_length() {
        for length in 0..70 {
            let mut text = vec![b'x'; length];
            assert_eq!(next_sign(&text), None, "{length}");
            for at in (0..length).rev() {
                // Neighbours of the signs' bytes, and a sign behind the first one.
                text[at] = [b'<', b'[', b'\n'][at % 3];
                assert_eq!(next_sign(&text), Some(at), "{at} of {length}");
                text[at] = [b'=', b'Z', b'\\', 0x0b, 0x8a, 0xbc, 0xff, 0][at % 8];
                assert_eq!(next_sign(&text), (at + 1 < length).then_some(at + 1), "{at} of {length}");
                text[at] = b'<';
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
