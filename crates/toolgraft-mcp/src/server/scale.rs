//! Images that are too large for a model, made smaller for it.
//!
//! A program and a person keep what the server gave. What endpoints take as it is goes out
//! as it is: a model that clicks on a screenshot counts its pixels.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits, RgbImage};
use serde_json::Value;
use toolgraft::Outcome;
use toolgraft::outcome::{MEDIA_EVENT, MEDIUM_SHOWN, MODEL_MEDIUM_BYTES};

/// Pixels of an edge that endpoints take: more than 8,000 is refused by Anthropic's interface
/// (docs.anthropic.com/en/docs/build-with-claude/vision).
const MAX_EDGE: u32 = 8_000;

/// Pixels of the longer edge of an image that was made smaller: above it Anthropic's interface
/// scales images itself (same page).
const EDGE: u32 = 1_568;

/// Bytes that decoding may take: a picture of 8,192 pixels square with four channels.
const MAX_DECODED: u64 = 256 << 20;

const QUALITY: u8 = 85;

/// Adds to each image that is too large a smaller one for the model, and says so in the text.
/// Blocking: decoding takes processor time.
pub(crate) fn scaled(mut outcome: Outcome) -> Outcome {
    for event in outcome.events.iter_mut().filter(|event| event.kind == MEDIA_EVENT) {
        let Some(bytes) = event.data.get("data").and_then(Value::as_str).and_then(decoded) else { continue };
        match smaller(&bytes) {
            Fit::AsItIs => {}
            Fit::Smaller { jpeg, from, to } => {
                event.data[MEDIUM_SHOWN] = STANDARD.encode(jpeg).into();
                let line = format!("\n[an image of {} by {} pixels is shown at {} by {}]", from.0, from.1, to.0, to.1);
                outcome.text.push_str(&line);
            }
            Fit::TooLarge => outcome.text.push_str("\n[an image is too large to be shown]"),
        }
    }
    outcome
}

/// Whether any image may be too large: what `scaled` would look at.
pub(crate) fn has_large(outcome: &Outcome) -> bool {
    // A plain one has many pixels in few bytes.
    let is_large = |data: &str| data.len() > 64 << 10 || decoded(data).is_some_and(|bytes| edge(&bytes) > MAX_EDGE);
    outcome
        .events
        .iter()
        .any(|e| e.kind == MEDIA_EVENT && e.data.get("data").and_then(Value::as_str).is_some_and(is_large))
}

fn decoded(data: &str) -> Option<Vec<u8>> {
    let compact: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(compact).ok()
}

enum Fit {
    AsItIs,
    Smaller { jpeg: Vec<u8>, from: (u32, u32), to: (u32, u32) },
    TooLarge,
}

/// A reader of a PNG or JPEG.
fn reader(bytes: &[u8]) -> Option<ImageReader<Cursor<&[u8]>>> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    matches!(reader.format(), Some(ImageFormat::Png | ImageFormat::Jpeg)).then_some(reader)
}

/// Pixels of the longer edge, as the image's head says; none where it cannot be read.
fn edge(bytes: &[u8]) -> u32 {
    let dimensions = reader(bytes).and_then(|reader| reader.into_dimensions().ok());
    dimensions.map_or(0, |(width, height)| width.max(height))
}

fn smaller(bytes: &[u8]) -> Fit {
    let is_heavy = bytes.len() > MODEL_MEDIUM_BYTES;
    let unread = if is_heavy { Fit::TooLarge } else { Fit::AsItIs };
    let Some(from) = reader(bytes).and_then(|reader| reader.into_dimensions().ok()) else { return unread };
    if !is_heavy && from.0.max(from.1) <= MAX_EDGE {
        return Fit::AsItIs;
    }
    let Some(mut reader) = reader(bytes) else { return unread };
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let Ok(image) = reader.decode() else { return Fit::TooLarge };
    let image = if from.0.max(from.1) > EDGE { image.resize(EDGE, EDGE, FilterType::Triangle) } else { image };
    let image = on_white(&image);
    let mut jpeg = Vec::new();
    match JpegEncoder::new_with_quality(&mut jpeg, QUALITY).encode_image(&image) {
        Ok(()) if jpeg.len() <= MODEL_MEDIUM_BYTES => Fit::Smaller { jpeg, from, to: image.dimensions() },
        _ => Fit::TooLarge,
    }
}

/// JPEG has no transparency: what is seen through is white.
fn on_white(image: &DynamicImage) -> RgbImage {
    let mut out = RgbImage::new(image.width(), image.height());
    for (to, from) in out.pixels_mut().zip(image.to_rgba8().pixels()) {
        let [red, green, blue, alpha] = from.0;
        let mixed = |channel: u8| {
            let (channel, alpha) = (u32::from(channel), u32::from(alpha));
            u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        to.0 = [mixed(red), mixed(green), mixed(blue)];
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgraft::message::Image;

    use super::*;

    /// A picture that cannot be packed, as a PNG of about three bytes a pixel.
    fn noise(width: u32, height: u32) -> Vec<u8> {
        let mut state = 1_u32;
        let picture = RgbImage::from_fn(width, height, |_, _| {
            image::Rgb([(); 3].map(|()| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u8::try_from(state >> 24).unwrap_or_default()
            }))
        });
        let mut out = Vec::new();
        picture.write_to(&mut Cursor::new(&mut out), ImageFormat::Png).unwrap();
        out
    }

    fn given(bytes: &[u8]) -> Outcome {
        Outcome::result("see").with_event(MEDIA_EVENT, json!({"kind": "image", "data": STANDARD.encode(bytes)}))
    }

    #[test]
    fn one_of_many_bytes_is_shown_smaller_and_kept_as_it_was() {
        let png = noise(2_000, 1_000);
        assert!(png.len() > MODEL_MEDIUM_BYTES);
        let outcome = given(&png);
        assert!(has_large(&outcome) && outcome.images().next().is_none());
        let outcome = scaled(outcome);
        assert_eq!(outcome.text, "see\n[an image of 2000 by 1000 pixels is shown at 1568 by 784]");
        assert_eq!(outcome.events[0].data["data"], STANDARD.encode(&png));
        let shown: Vec<Image> = outcome.images().collect();
        assert_eq!((shown.len(), shown[0].media_type()), (1, "image/jpeg"));
        assert!(shown[0].base64().len() <= MODEL_MEDIUM_BYTES / 3 * 4);
    }

    #[test]
    fn one_of_many_pixels_is_shown_smaller() {
        let picture = RgbImage::new(8_001, 3);
        let mut png = Vec::new();
        picture.write_to(&mut Cursor::new(&mut png), ImageFormat::Png).unwrap();
        assert!(png.len() < 1_000 && has_large(&given(&png)));
        let outcome = scaled(given(&png));
        assert_eq!(outcome.text, "see\n[an image of 8001 by 3 pixels is shown at 1568 by 1]");
    }

    #[test]
    fn what_endpoints_take_and_what_cannot_be_read_stay() {
        let small = given(&noise(40, 20));
        assert!(!has_large(&small));
        assert_eq!(scaled(small.clone()), small);
        let mut broken = b"\x89PNG\r\n\x1a\n".to_vec();
        broken.resize(MODEL_MEDIUM_BYTES + 1, 0);
        let outcome = scaled(given(&broken));
        assert_eq!(outcome.text, "see\n[an image is too large to be shown]");
        assert!(outcome.images().next().is_none());
    }

    #[test]
    fn what_is_seen_through_is_white() {
        let clear = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(1, 1, image::Rgba([0, 0, 0, 0])));
        assert_eq!(on_white(&clear).get_pixel(0, 0).0, [255; 3]);
    }
}
