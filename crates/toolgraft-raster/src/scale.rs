//! Downscaling while the rows of an image arrive, so that the image in full size is not kept: each new pixel is the
//! weighted mean of the old pixels around its position, with more weight for nearer ones.

use std::collections::VecDeque;

use crate::{CHANNELS, Raster};

/// Builds a smaller image from the rows of a larger one.
pub(crate) struct Scaler {
    /// Width and height of the original image, whose rows are pushed.
    from: (u32, u32),
    /// Width and height of the scaled image.
    to: (u32, u32),
    columns: Vec<Window>,
    /// Windows of the new image's rows that are not finished.
    rows: VecDeque<Window>,
    /// The last rows that were pushed, scaled to the new width.
    narrow: VecDeque<Vec<[u8; CHANNELS]>>,
    /// Number of rows that were pushed.
    pushed: usize,
    pixels: Vec<u8>,
}

impl Scaler {
    /// Creates a scaler for an image of the size `from` that must fit `into`. It preserves the proportions, and each
    /// edge keeps at least one pixel.
    pub(crate) fn new(from: (u32, u32), into: (u32, u32)) -> Self {
        let ratio = (f64::from(into.0) / f64::from(from.0)).min(f64::from(into.1) / f64::from(from.1)).min(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 1 and the old edge")]
        let edge = |old: u32| ((f64::from(old) * ratio).round() as u32).max(1);
        let to = (edge(from.0), edge(from.1));
        let columns = (0..to.0).map(|at| Window::of(at, from.0, to.0)).collect();
        let rows = (0..to.1).map(|at| Window::of(at, from.1, to.1)).collect();
        Scaler { from, to, columns, rows, narrow: VecDeque::new(), pushed: 0, pixels: Vec::new() }
    }

    /// Adds a row of the original image, with samples of one to four channels. Returns `None` if it does not fit the
    /// image.
    pub(crate) fn push(&mut self, row: &[u8], channels: usize) -> Option<()> {
        let fits = (1..=CHANNELS).contains(&channels) && row.len() == self.from.0 as usize * channels;
        (fits && self.pushed < self.from.1 as usize).then_some(())?;
        let pixel = |at: usize| rgba(&row[at * channels..][..channels]);
        self.narrow.push_back(self.columns.iter().map(|window| window.mean(pixel)).collect());
        self.pushed += 1;
        while let Some(window) = self.rows.pop_front_if(|window| window.first + window.weights.len() <= self.pushed) {
            let dropped = self.pushed - self.narrow.len();
            for at in 0..self.columns.len() {
                self.pixels.extend(window.mean(|row| self.narrow[row - dropped][at]));
            }
            let next = self.rows.front().map_or(self.pushed, |next| next.first);
            self.narrow.drain(..next.saturating_sub(dropped).min(self.narrow.len()));
        }
        Some(())
    }

    /// Returns the scaled image; `None` if rows are missing.
    pub(crate) fn finish(self) -> Option<Raster> {
        Raster::new(self.to.0, self.to.1, self.pixels)
    }
}

/// Converts a pixel of one to four channels to red, green, blue and opacity.
fn rgba(pixel: &[u8]) -> [u8; CHANNELS] {
    const SOLID: u8 = u8::MAX;
    match *pixel {
        [grey] => [grey, grey, grey, SOLID],
        [grey, opacity] => [grey, grey, grey, opacity],
        [red, green, blue] => [red, green, blue, SOLID],
        [red, green, blue, opacity] => [red, green, blue, opacity],
        _ => [0; CHANNELS],
    }
}

/// The original pixels of a row or column that contribute to a new pixel, with their weights.
struct Window {
    first: usize,
    /// Weights of the original pixels, from the pixel `first` on.
    weights: Vec<u64>,
    total: u64,
}

impl Window {
    /// Returns the window of the new pixel `at`: its weights are a triangle around its centre, twice as wide as the
    /// area that it covers.
    fn of(at: u32, from: u32, to: u32) -> Self {
        // In units of half of `1 / to`, so that all numbers are integers: an old pixel is 2 * to
        // wide, a new one 2 * from.
        let (from, to, at) = (u64::from(from), u64::from(to), u64::from(at));
        let reach = 2 * from.max(to);
        let centre = (2 * at + 1) * from;
        let middle = |old: u64| (2 * old + 1) * to;
        let first = centre.saturating_sub(reach) / (2 * to);
        let last = ((centre + reach) / (2 * to)).min(from - 1);
        let weights: Vec<u64> = (first..=last).map(|old| reach.saturating_sub(middle(old).abs_diff(centre))).collect();
        let total = weights.iter().sum::<u64>().max(1);
        Window { first: usize::try_from(first).unwrap_or(usize::MAX), weights, total }
    }

    /// Returns the weighted mean of the original pixels in the window.
    fn mean(&self, pixel: impl Fn(usize) -> [u8; CHANNELS]) -> [u8; CHANNELS] {
        let mut sums = [self.total / 2; CHANNELS];
        for (offset, weight) in self.weights.iter().enumerate() {
            sums.iter_mut()
                .zip(pixel(self.first + offset))
                .for_each(|(sum, sample)| *sum += u64::from(sample) * weight);
        }
        sums.map(|sum| u8::try_from(sum / self.total).unwrap_or(u8::MAX))
    }
}

#[cfg(test)]
mod tests {
    use crate::Raster;

    fn grey(width: u32, height: u32, value: impl Fn(u32, u32) -> u8) -> Raster {
        let at = |n: u32| value(n % width, n / width);
        Raster::new(width, height, (0..width * height).flat_map(|n| [at(n), at(n), at(n), 255]).collect()).unwrap()
    }

    #[test]
    fn proportions_are_kept_and_no_edge_vanishes() {
        for (from, into, to) in [
            ((1280, 320), (640, 480), (640, 160)),
            ((320, 1280), (640, 480), (120, 480)),
            ((2001, 3), (1000, 1000), (1000, 1)),
            ((5, 4), (5, 4), (5, 4)),
        ] {
            let image = grey(from.0, from.1, |_, _| 100).fit(into.0, into.1);
            assert_eq!((image.width(), image.height()), to);
            assert!(image.pixels().chunks(4).all(|pixel| pixel == [100, 100, 100, 255]), "an even colour stays");
        }
    }

    #[test]
    fn a_new_pixel_is_the_mean_of_those_around_it() {
        let columns = grey(8, 8, |x, _| if x < 4 { 0 } else { 240 }).fit(4, 4);
        let row: Vec<u8> = columns.pixels().chunks(4).take(4).map(|pixel| pixel[0]).collect();
        assert_eq!(row, [0, 30, 210, 240]);
        let rows = grey(8, 8, |_, y| if y < 4 { 0 } else { 240 }).fit(4, 4);
        let column: Vec<u8> = rows.pixels().chunks(16).map(|row| row[0]).collect();
        assert_eq!(column, [0, 30, 210, 240]);
    }

    #[test]
    fn fine_stripes_become_grey() {
        let image = grey(300, 300, |x, _| if x % 2 == 0 { 0 } else { 254 }).fit(30, 30);
        assert!(image.pixels().chunks(4).all(|pixel| (120..=134).contains(&pixel[0])), "{:?}", image.pixels());
    }
}
