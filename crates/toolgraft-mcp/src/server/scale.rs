//! Scales images down that are too large for a model.
//!
//! The program and the user keep the original. An image that endpoints accept is not changed: a
//! model that clicks on a screenshot counts its pixels.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use toolgraft::Outcome;
use toolgraft::outcome::{MEDIA_EVENT, MEDIUM_SHOWN, MODEL_MEDIA, MODEL_MEDIUM_BYTES};
use toolgraft_raster::{Raster, dimensions};

/// Maximum length in pixels of an image's edge that endpoints accept: Anthropic's API refuses more than 8,000
/// (docs.anthropic.com/en/docs/build-with-claude/vision).
const MAX_EDGE: u32 = 8_000;

/// Maximum length in pixels of the longer edge of an image that was scaled down: Anthropic's API itself scales images
/// above it (docs.anthropic.com/en/docs/build-with-claude/vision).
const EDGE: u32 = 1_568;

/// Quality of the JPEG of a scaled image: above 85 a file grows quickly and hardly looks better (Google's PageSpeed,
/// "Optimize Images").
const QUALITY: u8 = 85;

/// Adds a smaller version for the model to each image of an outcome that is too large, and a line about it to the text.
/// Only the last [`MODEL_MEDIA`] images, which a request has room for, are decoded, and of these only images of at most
/// `max_pixels` pixels. Blocking: decoding takes processor time.
pub(crate) fn scaled(mut outcome: Outcome, max_pixels: u64) -> Outcome {
    let media = outcome.events.iter().filter(|event| event.kind == MEDIA_EVENT).count();
    for (at, event) in outcome.events.iter_mut().filter(|event| event.kind == MEDIA_EVENT).enumerate() {
        let max_pixels = if at + MODEL_MEDIA < media { 0 } else { max_pixels };
        let Some(bytes) = event.data.get("data").and_then(Value::as_str).and_then(decoded) else { continue };
        let (size, is_heavy) = (dimensions(&bytes), bytes.len() > MODEL_MEDIUM_BYTES);
        if !is_heavy && edge(size) <= MAX_EDGE {
            continue;
        }
        let named = size.map(|(width, height)| format!(" of {width} by {height} pixels")).unwrap_or_default();
        let (shown, how) = match smaller(&bytes, max_pixels) {
            Some((jpeg, (width, height))) => (STANDARD.encode(jpeg).into(), format!("shown at {width} by {height}")),
            None => (Value::Null, "too large to be shown".to_owned()),
        };
        event.data[MEDIUM_SHOWN] = shown;
        outcome.text.push_str(&format!("\n[an image{named} is {how}]"));
    }
    outcome
}

/// Returns `true` if an image of the outcome may be too large for a model, so that [`scaled`] is worth its time.
pub(crate) fn has_large(outcome: &Outcome) -> bool {
    // An image of one colour has many pixels in few bytes, so small data is decoded as far as its
    // header.
    let is_large =
        |data: &str| data.len() > 64 << 10 || decoded(data).is_some_and(|bytes| edge(dimensions(&bytes)) > MAX_EDGE);
    outcome
        .events
        .iter()
        .any(|e| e.kind == MEDIA_EVENT && e.data.get("data").and_then(Value::as_str).is_some_and(is_large))
}

fn decoded(data: &str) -> Option<Vec<u8>> {
    let compact: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(compact).ok()
}

/// Returns the longer edge of an image's size in pixels; 0 if the size is unknown.
fn edge(size: Option<(u32, u32)>) -> u32 {
    size.map_or(0, |(width, height)| width.max(height))
}

/// Returns an image scaled down to a JPEG, and its size in pixels; `None` if it cannot be made, or is still too large.
fn smaller(bytes: &[u8], max_pixels: u64) -> Option<(Vec<u8>, (u32, u32))> {
    // JPEG has no transparency.
    let image = Raster::decode_to_fit(bytes, max_pixels, EDGE, EDGE)?.on_white();
    let jpeg = image.to_jpeg(QUALITY).filter(|jpeg| jpeg.len() <= MODEL_MEDIUM_BYTES)?;
    Some((jpeg, (image.width(), image.height())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgraft::message::Image;
    use toolgraft_raster::MAX_PIXELS;

    use super::*;

    /// Returns an incompressible picture, as a PNG of about four bytes per pixel.
    fn noise(width: u32, height: u32) -> Vec<u8> {
        let mut state = 1_u32;
        let random = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u8::try_from(state >> 24).unwrap_or_default()
        };
        Raster::new(width, height, (0..width * height * 4).map(random).collect()).unwrap().to_png().unwrap()
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
        let outcome = scaled(outcome, MAX_PIXELS);
        assert_eq!(outcome.text, "see\n[an image of 2000 by 1000 pixels is shown at 1568 by 784]");
        assert_eq!(outcome.events[0].data["data"], STANDARD.encode(&png));
        let shown: Vec<Image> = outcome.images().collect();
        assert_eq!((shown.len(), shown[0].media_type()), (1, "image/jpeg"));
        assert!(shown[0].base64().len() <= MODEL_MEDIUM_BYTES / 3 * 4);
    }

    #[test]
    fn one_of_many_pixels_is_shown_smaller() {
        let png = Raster::new(8_001, 3, vec![255; 8_001 * 3 * 4]).unwrap().to_png().unwrap();
        assert!(png.len() < 1_000 && has_large(&given(&png)));
        let outcome = scaled(given(&png), MAX_PIXELS);
        assert_eq!(outcome.text, "see\n[an image of 8001 by 3 pixels is shown at 1568 by 1]");
    }

    /// Checks an image of few kilobytes: it may contain any number of pixels.
    #[test]
    fn one_of_more_pixels_than_are_decoded_is_not_shown() {
        let png = Raster::new(8_001, 20, vec![255; 8_001 * 20 * 4]).unwrap().to_png().unwrap();
        assert!(png.len() < 4_000);
        let outcome = scaled(given(&png), 8_001 * 20 - 1);
        assert_eq!(outcome.text, "see\n[an image of 8001 by 20 pixels is too large to be shown]");
        assert_eq!(outcome.images().count(), 0);
        assert_eq!(scaled(given(&png), 8_001 * 20).images().count(), 1);
    }

    /// Checks a result with many images: one of some megabytes may contain hundreds of them.
    #[test]
    fn no_more_are_decoded_than_a_request_has_room_for() {
        let png = Raster::new(8_001, 3, vec![255; 8_001 * 3 * 4]).unwrap().to_png().unwrap();
        let event = given(&png).events.remove(0);
        let many = (0..MODEL_MEDIA + 3)
            .fold(Outcome::result("see"), |outcome, _| outcome.with_event(MEDIA_EVENT, event.data.clone()));
        let outcome = scaled(many, MAX_PIXELS);
        assert_eq!(outcome.text.matches("is too large to be shown").count(), 3);
        assert_eq!(outcome.images().count(), MODEL_MEDIA);
    }

    #[test]
    fn what_endpoints_take_and_what_cannot_be_read_stay() {
        let small = given(&noise(40, 20));
        assert!(!has_large(&small));
        assert_eq!(scaled(small.clone(), MAX_PIXELS), small);
        let mut broken = b"\x89PNG\r\n\x1a\n".to_vec();
        broken.resize(MODEL_MEDIUM_BYTES + 1, 0);
        let outcome = scaled(given(&broken), MAX_PIXELS);
        assert_eq!(outcome.text, "see\n[an image is too large to be shown]");
        assert!(outcome.images().next().is_none());
    }
}
