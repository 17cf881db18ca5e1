//! Images and sound that a tool gave.

use serde_json::{Value, json};

use super::Outcome;
use crate::message::{Audio, Image};

/// Kind of the interface events that carry a result's images, audio and blobs: `kind`
/// (`image`, `audio` or `resource`), `mimeType` and `uri` where they are named, and `data` in
/// base64. A model that reads images or hears gets those that it can read; beside them stands
/// a note in the text, which is all that other models read.
///
/// An MCP hub keeps them where it is told to
/// (`HubBuilder::keep_media`); a function adds them with [`Outcome::with_image`].
pub const MEDIA_EVENT: &str = "mcp_media";

/// Where a medium's data has, in base64, what a model is shown instead of `data`: a smaller
/// image, where that one is too large; `null` where it is shown nothing of it.
pub const MEDIUM_SHOWN: &str = "shown";

/// Bytes of one image or sound of a tool that a model is shown at most: Anthropic's interface
/// takes images of 5 MB (docs.anthropic.com/en/docs/build-with-claude/vision), others more.
pub const MODEL_MEDIUM_BYTES: usize = 5_000_000;

/// Bytes of all of them in one request at most; the newest come first.
pub(crate) const MODEL_MEDIA_BYTES: usize = 20_000_000;

/// Images and sounds of tools in one request at most; the newest come first.
pub(crate) const MODEL_MEDIA: usize = 16;

impl Outcome {
    /// Adds an image, for the interface and for a model that reads images. The text should
    /// hold a note of it.
    #[must_use]
    pub fn with_image(self, image: &Image) -> Self {
        self.with_event(MEDIA_EVENT, json!({"kind": "image", "mimeType": image.media_type(), "data": image.base64()}))
    }

    /// The images among what the tool gave that a model can be shown: PNG, JPEG, GIF or WebP
    /// of [`MODEL_MEDIUM_BYTES`] at most.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.media().filter_map(Image::from_base64).filter(|image| image.bytes() <= MODEL_MEDIUM_BYTES)
    }

    /// The sound among what the tool gave that a model can be given: WAV or MP3, as large.
    pub fn audio(&self) -> impl Iterator<Item = Audio> {
        self.media().filter_map(Audio::from_base64).filter(|audio| audio.bytes() <= MODEL_MEDIUM_BYTES)
    }

    fn media(&self) -> impl Iterator<Item = &str> {
        let media = self.events.iter().filter(|event| event.kind == MEDIA_EVENT);
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
