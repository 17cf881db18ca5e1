//! Files that go with a question (`-f FILE`).

use std::path::{Path, PathBuf};

use crate::{Failure, input};
use toolgraft::conversation::User;
use toolgraft::message::{Image, ImageError};

/// How files begin of which neither the text nor an image can be sent, and what they are called.
const OTHERS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a damaged PNG image"),
    (b"RIFF", "a sound or a film"),
    (b"BM", "a BMP image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "an archive or an office document"),
];

/// What goes with a question.
#[derive(Debug, Default)]
pub(super) struct Attached {
    /// The texts of files, each between fences below its name.
    texts: Vec<String>,
    images: Vec<Image>,
}

impl Attached {
    /// Reads the files.
    pub(super) fn read(files: &[PathBuf]) -> Result<Self, Failure> {
        let mut attached = Attached::default();
        files.iter().try_for_each(|file| attached.add(file))?;
        Ok(attached)
    }

    fn add(&mut self, file: &Path) -> Result<(), Failure> {
        let bytes = input::read_bytes(file)?;
        let name = input::shown(file);
        match Image::new(&bytes) {
            Ok(image) => {
                let name = file.file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
                self.images.push(image.with_name(name));
                return Ok(());
            }
            Err(ImageError::Unknown) => {}
            Err(error) => return Err(Failure::usage(format!("-f {name}: {error}"))),
        }
        // A text may begin with the letters of a short mark.
        let is_text = std::str::from_utf8(&bytes).is_ok();
        let other = OTHERS.iter().find(|(begin, _)| bytes.starts_with(begin));
        if let Some((_, what)) = other.filter(|(begin, _)| !is_text || begin.starts_with(b"%PDF")) {
            return Err(Failure::usage(format!(
                "-f {name}: it is {what}, and only texts and images (PNG, JPEG, GIF, WebP) can be sent: extract its \
                 text, or convert it, first"
            )));
        }
        let text = input::decode(bytes, &name)?;
        let fence = fence(&text);
        self.texts.push(format!("{name}:\n{fence}\n{}\n{fence}", text.trim_end()));
        Ok(())
    }

    /// The question with all of it.
    pub(super) fn with(self, mut question: User) -> User {
        for text in self.texts {
            question.text.push_str("\n\n");
            question.text.push_str(&text);
        }
        question.images.extend(self.images);
        question
    }
}

/// A fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!([fence("x"), fence("a ``` b"), fence("````x`")], ["```", "````", "`````"]);
    }
}
