//! Files that go with a question (`-f FILE`).

use std::path::PathBuf;

use crate::{Failure, input};

/// How files of pictures begin, and what they are called.
const PICTURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "an image or a sound"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "an archive or an office document"),
];

/// The files' texts, each between fences below its name; none where there are no files.
pub(super) fn texts(files: &[PathBuf]) -> Result<Option<String>, Failure> {
    let texts = files.iter().map(|file| {
        let bytes = input::read_bytes(file)?;
        let name = input::shown(file);
        if let Some((_, what)) = PICTURES.iter().find(|(begin, _)| bytes.starts_with(begin)) {
            return Err(Failure::usage(format!(
                "-f {name}: it is {what}, and only text can be sent: extract its text first"
            )));
        }
        let text = input::decode(bytes, &name)?;
        let fence = fence(&text);
        Ok(format!("{name}:\n{fence}\n{}\n{fence}", text.trim_end()))
    });
    let texts = texts.collect::<Result<Vec<String>, Failure>>()?;
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}

/// A fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// A question with what goes with it.
pub(super) fn with(attached: Option<String>, question: &str) -> String {
    match attached {
        Some(attached) => format!("{question}\n\n{attached}"),
        None => question.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!([fence("x"), fence("a ``` b"), fence("````x`")], ["```", "````", "`````"]);
    }
}
