//! Averages blocks of pixels while an image's rows are decoded.

use crate::{CHANNELS, Raster};

/// Smallest factor between the sampled and the requested size, so that the blocks do not show after
/// the final scaling.
const SPARE: u32 = 2;

/// Builds an image from rows, with one pixel for each block of `step` by `step`.
pub(crate) struct Sampler {
    /// Width and height of the image that is pushed.
    from: (u32, u32),
    step: u32,
    /// The sums of the current row of blocks.
    sums: Vec<[u64; CHANNELS]>,
    /// Number of rows in these sums.
    summed: u32,
    /// Rows that were pushed.
    pushed: u32,
    pixels: Vec<u8>,
}

impl Sampler {
    /// Creates a sampler for an image of the size `from` that will be scaled down to fit `into`.
    pub(crate) fn new(from: (u32, u32), into: (u32, u32)) -> Self {
        let times = |from: u32, into: u32| from / into.max(1).saturating_mul(SPARE);
        let step = times(from.0, into.0).max(times(from.1, into.1)).clamp(1, from.0.min(from.1).max(1));
        let sums = vec![[0; CHANNELS]; from.0.div_ceil(step) as usize];
        Sampler { from, step, sums, summed: 0, pushed: 0, pixels: Vec::new() }
    }

    /// Adds a row of samples of one to four channels. Returns `None` if it does not fit the image.
    pub(crate) fn push(&mut self, row: &[u8], channels: usize) -> Option<()> {
        (row.len() == self.from.0 as usize * channels && self.pushed < self.from.1).then_some(())?;
        for (sum, block) in self.sums.iter_mut().zip(row.chunks(self.step as usize * channels)) {
            for pixel in block.chunks_exact(channels) {
                sum.iter_mut().zip(rgba(pixel)?).for_each(|(sum, sample)| *sum += u64::from(sample));
            }
        }
        (self.pushed, self.summed) = (self.pushed + 1, self.summed + 1);
        if self.summed == self.step || self.pushed == self.from.1 {
            self.flush();
        }
        Some(())
    }

    /// Writes the averages of the current blocks as a row of pixels.
    fn flush(&mut self) {
        let mut left = self.from.0;
        for sum in &mut self.sums {
            // The last block of a row may be narrower.
            let columns = self.step.min(left);
            left -= columns;
            let count = u64::from(columns) * u64::from(self.summed);
            self.pixels.extend(sum.map(|sum| u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX)));
            *sum = [0; CHANNELS];
        }
        self.summed = 0;
    }

    /// Returns the image. `None` if rows are missing.
    pub(crate) fn finish(self) -> Option<Raster> {
        Raster::new(self.from.0.div_ceil(self.step), self.from.1.div_ceil(self.step), self.pixels)
    }
}

/// Spreads a pixel of one to four channels to red, green, blue and opacity.
fn rgba(pixel: &[u8]) -> Option<[u8; CHANNELS]> {
    const SOLID: u8 = u8::MAX;
    match *pixel {
        [grey] => Some([grey, grey, grey, SOLID]),
        [grey, opacity] => Some([grey, grey, grey, opacity]),
        [red, green, blue] => Some([red, green, blue, SOLID]),
        [red, green, blue, opacity] => Some([red, green, blue, opacity]),
        _ => None,
    }
}
