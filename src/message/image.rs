//! Images that go with a message of the user.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Maximum size in bytes of one image. Endpoints accept 5 to 50 MB.
pub const MAX_IMAGE_BYTES: usize = 20_000_000;

/// An image that goes to a model that reads images: PNG, JPEG, GIF or WebP. Cheap to clone.
///
/// Its `Display` form replaces it wherever only text is shown: `[image cat.png, 12 KB]`.
///
/// ```
/// use toolgraft::message::Image;
///
/// let image = Image::new(b"GIF89a\x01\x00\x01\x00")?.with_name("dot.gif");
/// assert_eq!(image.to_string(), "[image dot.gif, 10 B]");
/// assert!(image.data_url().starts_with("data:image/gif;base64,R0lGODlh"));
/// # Ok::<(), toolgraft::message::ImageError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct Image {
    /// Name of the image, such as a file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Media type of the image.
    media_type: ImageType,
    /// Bytes of the image file in base64.
    data: Arc<str>,
}

/// The media type of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
enum ImageType {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/webp")]
    WebP,
}

/// The reason why bytes are not an [`Image`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The first bytes are those of no supported format.
    #[error("unsupported image format: expected PNG, JPEG, GIF or WebP")]
    Unknown,
    /// The image has more bytes than [`MAX_IMAGE_BYTES`].
    #[error("the image has {}, and at most {} can be sent: make it smaller", size(*.bytes), size(MAX_IMAGE_BYTES))]
    TooLarge {
        /// The number of bytes of the image.
        bytes: usize,
    },
}

impl ImageType {
    /// Returns the media type of an image file by its first bytes; `None` for any other file.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(ImageType::Png),
            [0xff, 0xd8, 0xff, ..] => Some(ImageType::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageType::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(ImageType::WebP),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            ImageType::Png => "image/png",
            ImageType::Jpeg => "image/jpeg",
            ImageType::Gif => "image/gif",
            ImageType::WebP => "image/webp",
        }
    }
}

impl Image {
    /// Creates an image from the bytes of a file; the first bytes give its type.
    ///
    /// # Errors
    /// The bytes are in an unsupported format, or there are more than [`MAX_IMAGE_BYTES`].
    pub fn new(bytes: &[u8]) -> Result<Self, ImageError> {
        let media_type = ImageType::of(bytes).ok_or(ImageError::Unknown)?;
        if bytes.len() > MAX_IMAGE_BYTES {
            return Err(ImageError::TooLarge { bytes: bytes.len() });
        }
        Ok(Image { name: None, media_type, data: STANDARD.encode(bytes).into() })
    }

    /// Creates an image from a file in base64; `None` for an unsupported format, more than [`MAX_IMAGE_BYTES`], and
    /// text that is not base64.
    pub fn from_base64(data: &str) -> Option<Self> {
        let (data, bytes) = decoded(data)?;
        let media_type = ImageType::of(&bytes).filter(|_| bytes.len() <= MAX_IMAGE_BYTES)?;
        Some(Image { name: None, media_type, data: data.into() })
    }

    /// Sets the image's name, which is shown to the user and not sent to a model.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns the image's name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the media type, such as `image/png`.
    pub fn media_type(&self) -> &'static str {
        self.media_type.as_str()
    }

    /// Returns the image's bytes in base64, padded.
    pub fn base64(&self) -> &str {
        &self.data
    }

    /// Returns the whole image as a `data:` URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type(), self.data)
    }

    /// Returns the number of bytes of the image, before base64.
    pub(crate) fn bytes(&self) -> usize {
        self.data.trim_end_matches('=').len() * 3 / 4
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or(self.media_type());
        // A file's name may hold control characters, and a terminal would obey them.
        let name: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        write!(f, "[image {name}, {}]", size(self.bytes()))
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Image").field(&format_args!("{self}")).finish()
    }
}

/// Returns base64 text without white space and padded, as endpoints require it, and the decoded bytes; `None` if the
/// text is not base64.
pub(super) fn decoded(data: &str) -> Option<(Cow<'_, str>, Vec<u8>)> {
    let mut data = Cow::Borrowed(data);
    if data.contains(|c: char| c.is_ascii_whitespace()) {
        data.to_mut().retain(|c| !c.is_ascii_whitespace());
    }
    let missing = (4 - data.len() % 4) % 4;
    if missing > 0 {
        data.to_mut().push_str(&"==="[..missing]);
    }
    let bytes = STANDARD.decode(data.as_bytes()).ok()?;
    Some((data, bytes))
}

/// Returns a text followed by a line for each image.
pub(crate) fn shown<'a>(text: &'a str, images: &[Image]) -> Cow<'a, str> {
    if images.is_empty() {
        return text.into();
    }
    let lines = (!text.is_empty()).then(|| text.to_owned()).into_iter().chain(images.iter().map(Image::to_string));
    lines.collect::<Vec<_>>().join("\n").into()
}

/// Formats a number of bytes: `512 B`, `12 KB`, `3.4 MB`.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        for (bytes, media_type) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], "image/png"),
            (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
            (b"GIF87a", "image/gif"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        ] {
            assert_eq!(Image::new(bytes).unwrap().media_type(), media_type);
        }
        for other in [&b""[..], b"\x89PNG", b"RIFF\x24\x00\x00\x00WAVE", b"%PDF-1.7", b"GIF88a", b"<svg>"] {
            assert_eq!(Image::new(other), Err(ImageError::Unknown), "{other:?}");
        }
    }

    #[test]
    fn one_that_is_too_large_is_refused_with_the_limit() {
        let mut bytes = b"\xff\xd8\xff".to_vec();
        bytes.resize(MAX_IMAGE_BYTES, 0);
        assert!(Image::new(&bytes).is_ok());
        bytes.push(0);
        let error = Image::new(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "the image has 20.0 MB, and at most 20.0 MB can be sent: make it smaller");
    }

    #[test]
    fn base64_of_a_server_is_taken_as_it_is() {
        let image = Image::new(b"GIF89a1234").unwrap();
        let bare = image.base64().trim_end_matches('=');
        for written in [image.base64().to_owned(), bare.to_owned(), format!("{}\n{}", &bare[..4], &bare[4..])] {
            assert_eq!(Image::from_base64(&written), Some(image.clone()), "{written}");
        }
        for other in ["", "R0lGOD!h", "PHN2Zz4="] {
            assert_eq!(Image::from_base64(other), None, "{other}");
        }
    }

    #[test]
    fn its_size_is_that_of_its_bytes() {
        for extra in 0..4 {
            let bytes = [&b"GIF89a"[..], &vec![7; extra]].concat();
            assert_eq!(Image::new(&bytes).unwrap().bytes(), bytes.len());
        }
    }

    #[test]
    fn where_only_text_is_shown_its_name_and_its_size_stand_for_it() {
        let image = Image::new(b"GIF89a").unwrap();
        assert_eq!(image.to_string(), "[image image/gif, 6 B]");
        let named = image.with_name("a\u{1b}[2J.gif");
        assert_eq!(named.to_string(), "[image a\u{fffd}[2J.gif, 6 B]");
        assert_eq!(format!("{named:?}"), format!("Image({named})"));
        assert_eq!(shown("Look", std::slice::from_ref(&named)), format!("Look\n{named}"));
        assert_eq!(shown("", std::slice::from_ref(&named)), named.to_string());
        assert_eq!([size(999), size(12_345), size(3_456_789)], ["999 B", "12 KB", "3.4 MB"]);
    }
}
