//! Images and sound in the results of tools.

use serde_json::{Value, json};

use super::Outcome;
use crate::message::{Audio, Image};

/// Kind of the interface events that carry a result's images, audio and blobs. The data of such an event has `kind`
/// (`image`, `audio` or `resource`), `mimeType` and `uri` if they are known, and `data` in base64. A model that reads
/// images or audio gets those that it can read; the result's text has a note for each, which is all that other models
/// read.
///
/// An MCP hub keeps media where it is configured to (`HubBuilder::keep_media`); a function adds them with
/// [`Outcome::with_image`].
pub const MEDIA_EVENT: &str = "mcp_media";

/// Key in a medium's data of the base64 that a model is shown instead of `data`: a smaller image, where the original is
/// too large; `null` if the model is not shown the medium.
pub const MEDIUM_SHOWN: &str = "shown";

/// Limit on the bytes of one image or sound of a tool that a model is shown: Anthropic's API takes images of 5 MB
/// (docs.anthropic.com/en/docs/build-with-claude/vision), others more.
pub const MODEL_MEDIUM_BYTES: usize = 5_000_000;

/// Limit on the bytes of all tools' media in one request; the newest come first.
pub(crate) const MODEL_MEDIA_BYTES: usize = 20_000_000;

/// Limit on the number of tools' media in one request; the newest come first.
pub const MODEL_MEDIA: usize = 16;

impl Outcome {
    /// Adds an image, for the user interface and for a model that reads images. The text should contain a note about
    /// it.
    #[must_use]
    pub fn with_image(self, image: &Image) -> Self {
        self.with_event(MEDIA_EVENT, json!({"kind": "image", "mimeType": image.media_type(), "data": image.base64()}))
    }

    /// Returns the result's images that a model can be shown: PNG, JPEG, GIF or WebP of at most [`MODEL_MEDIUM_BYTES`].
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.media().filter_map(Image::from_base64).filter(|image| image.bytes() <= MODEL_MEDIUM_BYTES)
    }

    /// Returns the result's sounds that a model can be given: WAV or MP3 of at most [`MODEL_MEDIUM_BYTES`].
    pub fn audio(&self) -> impl Iterator<Item = Audio> {
        self.media().filter_map(Audio::from_base64).filter(|audio| audio.bytes() <= MODEL_MEDIUM_BYTES)
    }

    fn media(&self) -> impl Iterator<Item = &str> {
        let media = self.events.iter().filter(|event| event.kind == MEDIA_EVENT);
        // `null` under this key hides the medium, so `data` does not replace it.
        media.filter_map(|event| event.data.get(MEDIUM_SHOWN).or(event.data.get("data")).and_then(Value::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_can_be_shown_is_known_by_its_bytes() {
        let image = Image::new(b"\x89PNG\r\n\x1a\nrest").unwrap();
        let medium = |kind: &str, data: &str| json!({"kind": kind, "data": data});
        let outcome = Outcome::result("see")
            .with_image(&image)
            // A resource may be an image, and what calls itself one may be none.
            .with_event(MEDIA_EVENT, medium("resource", image.base64()))
            .with_event(MEDIA_EVENT, medium("image", "PHN2Zz4="))
            .with_event(MEDIA_EVENT, medium("audio", Audio::new(b"ID3\x04").unwrap().base64()))
            .with_event("other", medium("image", image.base64()));
        assert_eq!(outcome.images().collect::<Vec<_>>(), [image.clone(), image]);
        assert_eq!(outcome.audio().count(), 1);
    }

    #[test]
    fn one_that_is_too_large_for_a_model_is_not_shown() {
        let of = |bytes: usize| {
            let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
            png.resize(bytes, 0);
            Outcome::result("").with_image(&Image::new(&png).unwrap()).images().count()
        };
        assert_eq!((of(MODEL_MEDIUM_BYTES), of(MODEL_MEDIUM_BYTES + 1)), (1, 0));
        let small = Image::new(b"\x89PNG\r\n\x1a\nrest").unwrap();
        let mut hidden = Outcome::result("").with_image(&small);
        hidden.events[0].data[MEDIUM_SHOWN] = Value::Null;
        assert_eq!(hidden.images().count(), 0, "whoever made it known that it is not");
    }
}
