//! The cuts of streams.

/// Pseudo-random offsets, determined by a seed.
pub(crate) struct Cuts(u32);

impl Cuts {
    pub(crate) fn new(seed: u8) -> Self {
        Cuts(u32::from(seed) << 8 | 1)
    }

    /// Returns further offsets in a stream of `length` bytes, in order, each at most `widest` bytes
    /// after the previous one.
    pub(crate) fn of(&mut self, length: usize, widest: usize) -> Vec<usize> {
        let (mut at, mut cuts) = (0, Vec::new());
        while at < length {
            // Marsaglia's 32-bit xorshift.
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            at += 1 + self.0 as usize % widest;
            cuts.push(at);
        }
        cuts
    }
}
