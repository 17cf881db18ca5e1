//! Files that go with a question (`-f FILE`, `/file FILE`).

use std::path::{Path, PathBuf};

use crate::base::{Failure, input};
use crate::screen::visible::word;
use toolgraft::conversation::User;
use toolgraft::message::{Image, ImageError};
use toolgraft::outcome::named_files;

/// The files and images that are sent with a question.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    /// Names and contents of text files.
    texts: Vec<(String, String)>,
    images: Vec<Image>,
    /// Names of all files, in the order in which they were given.
    names: Vec<String>,
}

impl Attached {
    /// Reads the files. `flag` is the option or command that names them, for errors.
    pub(super) fn read(files: &[PathBuf], flag: &str) -> Result<Self, Failure> {
        let mut attached = Attached::default();
        for file in files {
            let mut one = Attached::default();
            one.take(&input::shown(file), input::read_bytes(file)?, flag)?;
            attached.extend(one);
        }
        Ok(attached)
    }

    /// Adds further files. A file that is named again is sent once, with its current content.
    pub(crate) fn extend(&mut self, more: Attached) {
        self.texts.retain(|(name, _)| !more.names.contains(name));
        self.images.retain(|image| !more.images.contains(image));
        self.names.retain(|name| !more.names.contains(name));
        self.texts.extend(more.texts);
        self.images.extend(more.images);
        self.names.extend(more.names);
    }

    /// Returns the names of the files on one line; `None` if there are none.
    pub(super) fn names(&self) -> Option<String> {
        let names: Vec<String> = self.names.iter().map(|name| word(name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Adds a file with this name and content, as an image or as text; an error if it is neither. `flag` is the option
    /// that names it.
    pub(crate) fn take(&mut self, name: &str, bytes: Vec<u8>, flag: &str) -> Result<(), Failure> {
        self.names.push(name.to_owned());
        match Image::new(&bytes) {
            Ok(image) => {
                let last = Path::new(name).file_name().map(|last| last.to_string_lossy().into_owned());
                self.images.push(image.with_name(last.unwrap_or_else(|| name.to_owned())));
                return Ok(());
            }
            // It is no image, and may be a text.
            Err(ImageError::Unknown) => {}
            Err(error) => return Err(Failure::usage(format!("{flag} {name}: {error}"))),
        }
        // A PDF may begin as a text does.
        let other = if bytes.starts_with(b"%PDF-") { Some("a PDF") } else { None };
        if let Some(what) = other.or_else(|| input::is_binary(&bytes).then_some("a binary file")) {
            return Err(Failure::usage(format!(
                "{flag} {name}: the file is {what}, and only texts and images (PNG, JPEG, GIF, WebP) can be sent: \
                 extract its text, or convert it, first"
            )));
        }
        self.texts.push((name.to_owned(), input::decode(bytes, name)?));
        Ok(())
    }

    /// Returns the question with the files and images added. Each text file is in a frame that its content cannot end;
    /// one that the question already contains is not repeated.
    pub(super) fn with(self, question: User) -> User {
        let mut question = self.texts.iter().fold(question, |question, (name, text)| {
            let is_there = named_files(&question.text).any(|(n, t)| n.as_deref() == Some(name) && t == text);
            if is_there { question } else { question.with_file(name, text) }
        });
        question.images.extend(self.images);
        question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_named_again_goes_once_as_it_is_now() {
        let named = |name: &str, text: &str| {
            let mut one = Attached::default();
            one.take(name, text.as_bytes().to_vec(), "-f").unwrap();
            one
        };
        let mut all = named("a", "old");
        [named("b", "other"), named("a", "new")].into_iter().for_each(|one| all.extend(one));
        assert_eq!(all.names().as_deref(), Some("b, a"));
        let asked = all.with(User::new("Look.")).text;
        assert!(asked.contains("new") && asked.contains("other") && !asked.contains("old"), "{asked}");
    }

    #[test]
    fn a_file_stands_in_its_frame_byte_for_byte() {
        use toolgraft::outcome::foreign_in_frames;

        let texts = ["a\n```\n</file aaaaaa>\r\n", "", "x"];
        let named = texts.map(|text| ("a\n\">b".to_owned(), text.to_owned()));
        let asked = Attached { texts: named.into(), ..Attached::default() }.with(User::new("Look."));
        assert_eq!(foreign_in_frames("file", &asked.text).collect::<Vec<_>>(), texts);
        assert!(asked.text.starts_with("Look.\n\n<file name=\"a\\n\\\">b\" end=\""), "{}", asked.text);
    }
}
