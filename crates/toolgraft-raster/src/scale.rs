//! Downscaling: each new pixel is the weighted mean of the old pixels around its position, with
//! more weight for nearer ones.

use crate::{CHANNELS, Raster};

/// Scales the image down, preserving proportions, until it fits into `width` and `height`; each
/// edge keeps at least one pixel.
pub(crate) fn down(image: &Raster, width: u32, height: u32) -> Raster {
    let ratio = (f64::from(width) / f64::from(image.width)).min(f64::from(height) / f64::from(image.height));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 1 and the old edge")]
    let edge = |old: u32| ((f64::from(old) * ratio).round() as u32).max(1);
    let (to_width, to_height) = (edge(image.width), edge(image.height));
    let narrow = along(&image.pixels, &Lines::rows(image.width, image.height), to_width);
    let pixels = along(&narrow, &Lines::columns(to_width, image.height), to_height);
    Raster { width: to_width, height: to_height, pixels }
}

/// The lines of an image that are scaled independently.
struct Lines {
    number: usize,
    /// Number of pixels in a line.
    length: u32,
    /// Number of pixels from the beginning of one line to that of the next.
    apart: usize,
    are_rows: bool,
}

impl Lines {
    fn rows(width: u32, height: u32) -> Self {
        Lines { number: height as usize, length: width, apart: width as usize, are_rows: true }
    }

    fn columns(width: u32, height: u32) -> Self {
        Lines { number: width as usize, length: height, apart: 1, are_rows: false }
    }
}

/// Scales each line to `length` pixels.
fn along(pixels: &[u8], lines: &Lines, length: u32) -> Vec<u8> {
    let windows: Vec<Window> = (0..length).map(|at| Window::of(at, lines.length, length)).collect();
    let mut out = vec![0; lines.number * length as usize * CHANNELS];
    // Distance in pixels between neighbours in a line, in the old image and in the new one.
    let (step, new_step) = if lines.are_rows { (1, 1) } else { (lines.number, lines.number) };
    let new_apart = if lines.are_rows { length as usize } else { lines.apart };
    for line in 0..lines.number {
        for (at, window) in windows.iter().enumerate() {
            let mut sums = [0; CHANNELS];
            for (offset, weight) in window.weights.iter().enumerate() {
                let from = (line * lines.apart + (window.first + offset) * step) * CHANNELS;
                for (sum, sample) in sums.iter_mut().zip(&pixels[from..from + CHANNELS]) {
                    *sum += u64::from(*sample) * weight;
                }
            }
            let to = (line * new_apart + at * new_step) * CHANNELS;
            for (sample, sum) in out[to..to + CHANNELS].iter_mut().zip(sums) {
                *sample = u8::try_from((sum + window.total / 2) / window.total).unwrap_or(u8::MAX);
            }
        }
    }
    out
}

/// The old pixels that contribute to a new one.
struct Window {
    first: usize,
    /// The weights of the first and the following pixels.
    weights: Vec<u64>,
    total: u64,
}

impl Window {
    /// Returns the window of the new pixel `at`: a triangle around its centre, twice as wide as the
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
