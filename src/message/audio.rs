//! Sound from a tool, for a model that reads audio.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::image::{decoded, size};

/// Audio for a model that reads it: WAV or MP3, the two formats that Chat Completions accept as `input_audio`
/// (platform.openai.com/docs/guides/audio). Cheap to clone.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Audio {
    format: AudioFormat,
    /// The file's bytes in base64.
    data: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum AudioFormat {
    Wav,
    Mp3,
}

impl AudioFormat {
    /// Returns the format of an audio file by its first bytes; `None` for any other file.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(AudioFormat::Wav),
            // An ID3 tag at the start, or the first frame of layer III.
            [b'I', b'D', b'3', ..] | [0xff, 0xfb | 0xfa | 0xf3 | 0xf2, ..] => Some(AudioFormat::Mp3),
            _ => None,
        }
    }
}

impl Audio {
    /// Creates audio from the bytes of a file; `None` for an unsupported format.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        Some(Audio { format: AudioFormat::of(bytes)?, data: STANDARD.encode(bytes).into() })
    }

    /// Creates audio from a file in base64; `None` for an unsupported format, and for text that is not base64.
    pub fn from_base64(data: &str) -> Option<Self> {
        let (data, bytes) = decoded(data)?;
        Some(Audio { format: AudioFormat::of(&bytes)?, data: data.into() })
    }

    /// Returns the format's name for `input_audio`: `wav` or `mp3`.
    pub fn format(&self) -> &'static str {
        match self.format {
            AudioFormat::Wav => "wav",
            AudioFormat::Mp3 => "mp3",
        }
    }

    /// Returns the file's bytes in base64, padded.
    pub fn base64(&self) -> &str {
        &self.data
    }

    /// Returns the number of bytes of the file, before base64.
    pub(crate) fn bytes(&self) -> usize {
        self.data.trim_end_matches('=').len() * 3 / 4
    }
}

impl fmt::Display for Audio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[audio {}, {}]", self.format(), size(self.bytes()))
    }
}

impl fmt::Debug for Audio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Audio").field(&format_args!("{self}")).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_is_known_by_its_first_bytes() {
        for (bytes, format) in
            [(&b"RIFF\x24\x00\x00\x00WAVEfmt "[..], "wav"), (b"ID3\x04", "mp3"), (b"\xff\xfb\x90", "mp3")]
        {
            let audio = Audio::new(bytes).unwrap();
            assert_eq!(audio.format(), format);
            assert_eq!(Audio::from_base64(audio.base64()), Some(audio));
        }
        assert_eq!(Audio::new(b"OggS"), None);
        assert_eq!(Audio::from_base64("no base64!"), None);
        assert_eq!(Audio::new(b"ID3\x04").unwrap().to_string(), "[audio mp3, 4 B]");
    }
}
