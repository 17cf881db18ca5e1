#![doc = include_str!("../README.md")]

mod scale;

use std::io::Cursor;

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use png::{BitDepth, Limits, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::scale::Scaler;

/// Default number of pixels up to which an image is decoded: enough for a page scanned at 500 dpi,
/// or a photograph. Decoding then takes 75 megabytes for the pixels of a JPEG, and 100 for those of
/// an interlaced PNG.
pub const MAX_PIXELS: u64 = 25_000_000;

/// Bytes per pixel: red, green, blue and opacity.
const CHANNELS: usize = 4;

/// An image with eight bits per channel, including opacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raster {
    width: u32,
    height: u32,
    /// Bytes of the pixels, row by row from the top, four bytes (RGBA) per pixel.
    pixels: Vec<u8>,
}

impl Raster {
    /// Creates an image from rows from the top, with four bytes (RGBA) per pixel. Returns `None` if
    /// an edge is 0 or if the number of bytes does not fit the edges.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let bytes = size(width, height)?;
        (bytes > 0 && pixels.len() as u64 == bytes).then_some(Raster { width, height, pixels })
    }

    /// Decodes a PNG or a JPEG. Returns `None` if it is neither, if it is damaged, or if its header has more than
    /// `max_pixels`.
    pub fn decode(bytes: &[u8], max_pixels: u64) -> Option<Self> {
        Raster::decode_to_fit(bytes, max_pixels, u32::MAX, u32::MAX)
    }

    /// Decodes as [`Raster::decode`] does and scales as [`Raster::fit`] does. Rows are scaled while they are decoded, so
    /// that the image in full size is not kept.
    pub fn decode_to_fit(bytes: &[u8], max_pixels: u64, width: u32, height: u32) -> Option<Self> {
        let from = dimensions(bytes)?;
        (u64::from(from.0) * u64::from(from.1) <= max_pixels).then_some(())?;
        let mut scaler = Scaler::new(from, (width, height));
        match Format::of(bytes)? {
            Format::Png => decode_png(bytes, max_pixels, &mut scaler)?,
            Format::Jpeg => decode_jpeg(bytes, &mut scaler)?,
        }
        scaler.finish()
    }

    /// Returns the width of the image: the number of pixels in a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height of the image: its number of rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the bytes of the image's pixels (RGBA), row by row from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Scales the image down, preserving proportions, until it is at most this wide and high. A
    /// smaller one is unchanged.
    #[must_use]
    pub fn fit(self, width: u32, height: u32) -> Self {
        if self.width <= width && self.height <= height {
            return self;
        }
        let mut scaler = Scaler::new((self.width, self.height), (width, height));
        let mut rows = self.pixels.chunks_exact(self.width as usize * CHANNELS);
        rows.try_for_each(|row| scaler.push(row, CHANNELS)).and_then(|()| scaler.finish()).unwrap_or(self)
    }

    /// Composes the image on a white background, so that it is fully opaque.
    #[must_use]
    pub fn on_white(mut self) -> Self {
        for pixel in self.pixels.chunks_exact_mut(CHANNELS) {
            let alpha = u32::from(pixel[3]);
            for channel in &mut pixel[..3] {
                let mixed = (u32::from(*channel) * alpha + 255 * (255 - alpha)) / 255;
                *channel = u8::try_from(mixed).unwrap_or(u8::MAX);
            }
            pixel[3] = u8::MAX;
        }
        self
    }

    /// Encodes the image as a PNG. Returns `None` if the image is too large for that format.
    pub fn to_png(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&self.pixels).ok()?;
        writer.finish().ok()?;
        Some(out)
    }

    /// Encodes the image as a JPEG of this quality, 1 to 100. JPEG has no transparency: see [`Raster::on_white`].
    /// Returns `None` if an edge has more than 65,535 pixels.
    pub fn to_jpeg(&self, quality: u8) -> Option<Vec<u8>> {
        let (width, height) = (u16::try_from(self.width).ok()?, u16::try_from(self.height).ok()?);
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, quality);
        // Full colour resolution keeps thin coloured letters legible.
        encoder.set_sampling_factor(SamplingFactor::F_1_1);
        encoder.encode(&self.pixels, width, height, ColorType::Rgba).ok()?;
        Some(out)
    }
}

/// Returns the width and height of a PNG or JPEG, as its header has them; `None` if it is neither, or its header is
/// damaged.
pub fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    match Format::of(bytes)? {
        Format::Png => Some(png::Decoder::new(Cursor::new(bytes)).read_header_info().ok()?.size()),
        Format::Jpeg => {
            let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), jpeg_options());
            decoder.decode_headers().ok()?;
            let (width, height) = decoder.dimensions()?;
            Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?))
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Png,
    Jpeg,
}

impl Format {
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some(Format::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
            _ => None,
        }
    }
}

/// Returns the number of bytes that the pixels of an image take; `None` if it exceeds 64 bits.
fn size(width: u32, height: u32) -> Option<u64> {
    (u64::from(width) * u64::from(height)).checked_mul(CHANNELS as u64)
}

fn decode_png(bytes: &[u8], max_pixels: u64, scaler: &mut Scaler) -> Option<()> {
    let limit = usize::try_from(max_pixels).unwrap_or(usize::MAX).saturating_mul(CHANNELS);
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: limit });
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().ok()?;
    let channels = reader.output_color_type().0.samples();
    if !reader.info().interlaced {
        while let Some(row) = reader.next_row().ok()? {
            scaler.push(row.data(), channels)?;
        }
        return Some(());
    }
    // The rows of an interlaced image are stored in seven passes, so the whole image is decoded
    // first.
    let mut samples = vec![0; reader.output_buffer_size().filter(|needed| *needed <= limit)?];
    let frame = reader.next_frame(&mut samples).ok()?;
    samples.chunks_exact(frame.line_size).try_for_each(|row| scaler.push(row, channels))
}

fn decode_jpeg(bytes: &[u8], scaler: &mut Scaler) -> Option<()> {
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), jpeg_options());
    decoder.decode_headers().ok()?;
    let (width, _) = decoder.dimensions()?;
    // All other colour spaces are converted to RGB.
    let space = match decoder.input_colorspace()? {
        same @ (ColorSpace::RGBA | ColorSpace::Luma | ColorSpace::LumaA) => same,
        _ => ColorSpace::RGB,
    };
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), jpeg_options().jpeg_set_out_colorspace(space));
    let channels = space.num_components();
    let samples = decoder.decode().ok()?;
    samples.chunks_exact(width.checked_mul(channels)?).try_for_each(|row| scaler.push(row, channels))
}

/// Returns lenient options of the JPEG decoder: the edges are limited by `Raster::decode`, and a damaged end is
/// accepted.
fn jpeg_options() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 1 << 20;

    /// Returns an image with a red left half and a blue right half.
    fn halves(width: u32, height: u32) -> Raster {
        let row = (0..width).flat_map(|x| if x < width / 2 { [255, 0, 0, 255] } else { [0, 0, 255, 255] });
        let row: Vec<u8> = row.collect();
        Raster::new(width, height, row.repeat(height as usize)).unwrap()
    }

    fn png(width: u32, height: u32, color: png::ColorType, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(color);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        out
    }

    /// Returns a PNG file with these chunks.
    fn chunked(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in chunks {
            let body = [&kind[..], data].concat();
            let mut sum = u32::MAX;
            for byte in &body {
                sum =
                    (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()));
            }
            out.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            out.extend(body);
            out.extend((!sum).to_be_bytes());
        }
        out
    }

    #[test]
    fn a_png_is_decoded_to_what_was_encoded() {
        let image = halves(6, 3);
        let bytes = image.to_png().unwrap();
        assert_eq!(dimensions(&bytes), Some((6, 3)));
        assert_eq!(Raster::decode(&bytes, MAX), Some(image));
    }

    #[test]
    fn every_kind_of_png_is_decoded_to_four_channels() {
        for (color, data, pixel) in [
            (png::ColorType::Grayscale, &[7][..], [7, 7, 7, 255]),
            (png::ColorType::GrayscaleAlpha, &[7, 9], [7, 7, 7, 9]),
            (png::ColorType::Rgb, &[1, 2, 3], [1, 2, 3, 255]),
            (png::ColorType::Rgba, &[1, 2, 3, 4], [1, 2, 3, 4]),
        ] {
            assert_eq!(Raster::decode(&png(1, 1, color, data), MAX).unwrap().pixels(), pixel, "{color:?}");
        }
    }

    #[test]
    fn a_jpeg_is_decoded_to_almost_what_was_encoded() {
        let image = halves(32, 16);
        let bytes = image.to_jpeg(90).unwrap();
        assert_eq!(dimensions(&bytes), Some((32, 16)));
        let read = Raster::decode(&bytes, MAX).unwrap();
        let furthest = read.pixels().iter().zip(image.pixels()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(furthest < Some(16), "{furthest:?}");
    }

    #[test]
    fn what_is_damaged_or_too_large_or_of_another_kind_is_not_decoded() {
        let bytes = halves(100, 100).to_png().unwrap();
        assert!(Raster::decode(&bytes, 10_000).is_some() && Raster::decode(&bytes, 9_999).is_none());
        for bytes in [&bytes[..bytes.len() / 2], b"\x89PNG\r\n\x1a\nrest", b"\xff\xd8\xff\xe0", b"GIF89a", b""] {
            assert_eq!(Raster::decode(bytes, MAX), None);
        }
        assert_eq!((Raster::new(0, 1, Vec::new()), Raster::new(1, 1, vec![0; 3])), (None, None));
    }

    /// Checks for each format that scaling during decoding gives the same image as scaling the whole.
    #[test]
    fn a_sampled_image_is_the_one_that_is_scaled_as_a_whole() {
        let image = halves(1_203, 301);
        let (png, jpeg) = (image.to_png().unwrap(), image.to_jpeg(100).unwrap());
        let small = image.fit(100, 100);
        for bytes in [png, jpeg] {
            let sampled = Raster::decode_to_fit(&bytes, MAX, 100, 100).unwrap();
            assert_eq!((sampled.width(), sampled.height()), (100, 25));
            let furthest = sampled.pixels().iter().zip(small.pixels()).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(furthest < Some(40), "{furthest:?}");
        }
    }

    #[test]
    fn an_interlaced_png_is_decoded() {
        // Adam7, 2 by 2 pixels of grey: 10, 20, 30, 40. The first pass has the first pixel, the sixth the second, the
        // last one the second row.
        let rows = [0_u8, 10, 0, 20, 0, 30, 40];
        let mut stored = vec![0x78, 0x01, 1, 7, 0, !7, 0xff];
        stored.extend(rows);
        let (low, high) =
            rows.iter().map(|byte| u32::from(*byte)).fold((1, 0), |(a, b), byte| (a + byte, b + a + byte));
        stored.extend(((high << 16) | low).to_be_bytes());
        let image =
            chunked(&[(b"IHDR", vec![0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 1]), (b"IDAT", stored), (b"IEND", vec![])]);
        let read = Raster::decode(&image, MAX).unwrap();
        assert_eq!(read.pixels().chunks(4).map(|pixel| pixel[0]).collect::<Vec<_>>(), [10, 20, 30, 40]);
    }

    #[test]
    fn an_image_that_fits_is_not_copied() {
        let image = halves(6, 3);
        let pixels = image.pixels().as_ptr();
        assert_eq!(image.fit(6, 3).pixels().as_ptr(), pixels);
    }

    #[test]
    fn transparency_is_replaced_by_white() {
        let image = Raster::new(3, 1, vec![0, 0, 0, 0, 10, 20, 30, 255, 0, 0, 0, 128]).unwrap();
        assert_eq!(image.on_white().pixels(), [255, 255, 255, 255, 10, 20, 30, 255, 127, 127, 127, 255]);
    }
}
