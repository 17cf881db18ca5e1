//! Many bytes at once, in safe code: what a compiler makes a few instructions of.

/// Number of bytes that [`any_zero`] compares at once.
pub(crate) const BLOCK: usize = 16;

/// Word (`u64`) in which the highest bit of each byte is set.
pub(crate) const HIGH: u64 = of(0x80);

/// Returns a word (`u64`) whose eight bytes are all `byte`.
pub(crate) const fn of(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the highest bit of each byte of `word` that differs from `byte`; the other bits are unspecified.
#[inline]
pub(crate) fn differs(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ of(byte);
    // No byte carries into the next one.
    ((zero_where_equal & !HIGH) + !HIGH) | zero_where_equal
}

/// Returns the eight bytes of `text` from offset `at`, the first one lowest; bytes past the end of `text` are `filler`.
#[inline]
pub(crate) fn word(text: &[u8], at: usize, filler: u8) -> u64 {
    let rest = &text[at..];
    if let Some(word) = rest.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let there = 8 * rest.len() as u32;
    let word = if let Some(last) = text.last_chunk() {
        // Nothing, if all are missing.
        u64::from_le_bytes(*last).checked_shr(64 - there).unwrap_or(0)
    } else if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        // Four to seven bytes: two halves, which are alike where they overlap.
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (there - 32)
    } else {
        rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    word | of(filler) << there
}

/// A class of bytes that a search looks for, such as brackets.
pub(crate) trait Kind: Copy {
    /// A byte that is not of the kind.
    const OTHER: u8;

    /// Returns zero if the byte is of the kind, else any other number.
    fn rest(self, byte: u8) -> u8;

    /// Returns a word in which the highest bit is set of each byte that is of the kind in `word`, and no other bit.
    fn bits(self, word: u64) -> u64;
}

/// The kind that consists of one byte value.
#[derive(Clone, Copy)]
pub(crate) struct Byte(pub(crate) u8);

impl Kind for Byte {
    const OTHER: u8 = 0;

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        byte ^ self.0
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        !differs(word, self.0) & HIGH
    }
}

/// Iterator over the offsets in a text at which a byte of the given kind is.
pub(crate) struct Places<'t, K> {
    kind: K,
    text: &'t [u8],
    /// Number of leading bytes of the text that were searched.
    read: usize,
    /// Offset in the text of the word (eight bytes) to which `bits` belongs.
    word_at: usize,
    /// Matches in the current word that were not yet yielded; see [`Kind::bits`].
    bits: u64,
}

impl<'t, K: Kind> Places<'t, K> {
    #[inline]
    pub(crate) fn new(kind: K, text: &'t [u8]) -> Self {
        Places { kind, text, read: 0, word_at: 0, bits: 0 }
    }
}

impl<K: Kind> Iterator for Places<'_, K> {
    type Item = usize;

    #[inline(always)] // So that its fields stay in registers.
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            let rest = &self.text[self.read..];
            if rest.is_empty() {
                return None;
            }
            // Two words are as quick as a block and a word, and most blocks alone have something.
            if rest.len() > 16 && rest.first_chunk().is_some_and(|block| !any_zero_in(block, |b| self.kind.rest(b))) {
                self.read += 16;
                continue;
            }
            self.bits = self.kind.bits(word(self.text, self.read, K::OTHER));
            self.word_at = self.read;
            self.read = self.text.len().min(self.read + 8);
        }
        let at = self.word_at + self.bits.trailing_zeros() as usize / 8;
        // The lowest bit is reported: clear it.
        self.bits &= self.bits - 1;
        Some(at)
    }
}

/// The kind of the brackets `{}[]()`.
#[derive(Clone, Copy)]
pub(crate) struct Bracket;

impl Kind for Bracket {
    const OTHER: u8 = 0;

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        // `{` and `[`, `}` and `]` differ in one bit, and so do `{` and `}` once one is taken off.
        let square_or_curly = (byte | 0x20).wrapping_sub(b'{') & !2;
        square_or_curly.min((byte & !1) ^ b'(')
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        !b"{}[]()".iter().fold(HIGH, |all, byte| all & differs(word, *byte)) & HIGH
    }
}

/// The union of two kinds of bytes; [`OTHER`](Kind::OTHER) of the first must be in neither.
#[derive(Clone, Copy)]
pub(crate) struct Either<A, B>(pub(crate) A, pub(crate) B);

impl<A: Kind, B: Kind> Kind for Either<A, B> {
    const OTHER: u8 = A::OTHER;

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        self.0.rest(byte).min(self.1.rest(byte))
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        self.0.bits(word) | self.1.bits(word)
    }
}

/// Returns `true` if `bytes` is not empty and none of its bytes is of this kind.
#[inline(always)]
pub(crate) fn has_none(bytes: &[u8], kind: impl Kind) -> bool {
    // A block, or two that overlap, else one of two words that do: all usual lengths without a loop.
    let is_plain = |block: &[u8; BLOCK]| !any_zero_in(block, |b| kind.rest(b));
    let block_of = |first: u64, last: u64| (u128::from(first) | u128::from(last) << 64).to_le_bytes();
    if let Ok(block) = bytes.try_into() {
        return is_plain(block);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<BLOCK>(), bytes.last_chunk::<BLOCK>()) {
        let between = || bytes.as_chunks().0.iter().skip(1).all(is_plain);
        return is_plain(first) && is_plain(last) && (bytes.len() <= 2 * BLOCK || between());
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return is_plain(&block_of(u64::from_le_bytes(*first), u64::from_le_bytes(*last)));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let word = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return is_plain(&block_of(word, word));
    }
    !bytes.is_empty() && !bytes.iter().any(|b| kind.rest(*b) == 0)
}

/// Returns `true` if the function `rest` returns zero for at least one of the bytes.
///
/// Sixteen bytes are compared at once, which the compiler vectorises as long as `rest` compares each only once.
#[inline]
pub(crate) fn any_zero(bytes: &[u8], rest: impl Fn(u8) -> u8 + Copy) -> bool {
    let (blocks, few) = bytes.as_chunks();
    blocks.iter().any(|block| any_zero_in(block, rest)) || few.iter().any(|b| rest(*b) == 0)
}

/// Returns `true` if the function `rest` returns zero for at least one byte of the block; see [`any_zero`].
#[inline(always)] // A call would cost more than it does.
pub(crate) fn any_zero_in(block: &[u8; BLOCK], rest: impl Fn(u8) -> u8) -> bool {
    block.iter().fold(false, |found, b| found | (rest(*b) == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_differs_is_seen_wherever_it_stands_and_beside_any_other() {
        for byte in [0, 1, 0x1f, b'<', 0x7f, 0x80, 0xff] {
            for other in 0..=255 {
                for at in 0..8 {
                    let mut bytes = [other; 8];
                    bytes[at] = byte;
                    let same = !differs(u64::from_le_bytes(bytes), byte) & HIGH;
                    let expected = if other == byte { HIGH } else { 0x80 << (8 * at) };
                    assert_eq!(same, expected, "{byte} at {at} among {other}");
                }
            }
        }
    }

    #[test]
    fn brackets_are_told_from_all_other_bytes() {
        for byte in 0..=255 {
            let is_one = b"{}[]()".contains(&byte);
            assert_eq!(Bracket.rest(byte) == 0, is_one, "{byte}");
            assert_eq!(Bracket.bits(of(byte)), if is_one { HIGH } else { 0 }, "{byte}");
        }
    }

    #[test]
    fn a_word_is_what_follows_and_a_filler() {
        let text = b"abcdefghijklmnopqrs";
        for length in 0..=text.len() {
            for at in 0..=length {
                let mut expected = *b"........";
                let there = (length - at).min(8);
                expected[..there].copy_from_slice(&text[at..at + there]);
                assert_eq!(word(&text[..length], at, b'.').to_le_bytes(), expected, "{at} of {length}");
            }
        }
    }

    #[test]
    fn nothing_is_found_at_every_place_in_every_length() {
        for length in 0..40 {
            let mut bytes = vec![7; length];
            assert!(!any_zero(&bytes, |b| b ^ 9), "{length}");
            for at in 0..length {
                bytes[at] = 9;
                assert!(any_zero(&bytes, |b| b ^ 9), "{at} of {length}");
                bytes[at] = 7;
            }
        }
    }
}
