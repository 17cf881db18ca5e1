//! Images, audio and blobs of a result as files.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::base::{Failure, output};
use crate::terminal::grouped;
use toolgraft::Outcome;
use toolgraft_files as files;
use toolgraft_mcp::MEDIA_EVENT;

/// Base64 decoder that accepts data with or without padding, since servers differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fails if the file exists and is not empty, so that nothing is overwritten. Devices and pipes are accepted.
pub(crate) fn check_new(what: &str, file: &Path) -> Result<(), Failure> {
    match file.metadata().is_ok_and(|found| found.is_file() && found.len() > 0) {
        true => Err(is_there(what, file)),
        false => Ok(()),
    }
}

fn is_there(what: &str, file: &Path) -> Failure {
    let remedy = "exists already and is not overwritten: give another name, or delete it";
    Failure::usage(format!("{what}: {} {remedy}", file.display()))
}

/// Fails if a result cannot be written to this path: it exists, or its directory does not.
pub(crate) fn check_place(what: &str, file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    // The parent of a bare file name is empty: it means this folder.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match () {
        () if file.is_dir() => Err(Failure::usage(format!("{what}: {shown} is a directory: name a file in it"))),
        () if file.exists() => Err(is_there(what, file)),
        () if folder.is_some_and(|folder| !folder.is_dir()) => {
            Err(Failure::usage(format!("{what}: the folder of {shown} does not exist: create it first")))
        }
        () => Ok(()),
    }
}

/// Writes the media of an outcome to files, or its text if it has none, and removes the media from its events. Returns
/// the paths; the second of several files is `NAME-2`, and so on.
pub(crate) fn write(outcome: &mut Outcome, file: &Path) -> Result<Vec<PathBuf>, Failure> {
    let media = of(outcome)?;
    outcome.events.retain(|event| event.kind != MEDIA_EVENT);
    if media.is_empty() {
        new_file(file, outcome.text.as_bytes())?;
        output::note(&format!("the text is in {}", file.display()));
        return Ok(vec![file.to_owned()]);
    }
    let mut files = Vec::new();
    for (n, (kind, bytes)) in media.into_iter().enumerate() {
        let path = if n == 0 { file.to_owned() } else { numbered(file, n + 1) };
        new_file(&path, &bytes)?;
        output::note(&format!("{kind}, {} bytes, is in {}", grouped(bytes.len() as u64), path.display()));
        files.push(path);
    }
    Ok(files)
}

/// Returns the decoded media of an outcome, each as its MIME type (or else its kind) and its bytes.
pub(crate) fn of(outcome: &Outcome) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let media = outcome.events.iter().filter(|event| event.kind == MEDIA_EVENT);
    let decoded = media.map(|event| {
        let field = |name: &str| event.data.get(name).and_then(Value::as_str);
        let kind = field("mimeType").or(field("kind")).unwrap_or("data").to_owned();
        // Some servers break the digits into lines, as MIME does.
        let digits: String = field("data").unwrap_or_default().split_whitespace().collect();
        let bytes = BASE64.decode(digits);
        match bytes {
            Ok(bytes) => Ok((kind, bytes)),
            Err(e) => Err(Failure::job(format!("the server's {kind} is not valid base64 ({e}): nothing was written"))),
        }
    });
    decoded.collect()
}

fn new_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    files::create(path, bytes).map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

/// Returns a file name with a number before its extension, such as `shot-2.png`.
fn numbered(file: &Path, n: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    file.with_file_name(format!("{stem}-{n}{extension}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_medium_gets_a_file_and_none_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shot.png");
        let medium = |data: &str| json!({ "kind": "image", "mimeType": "image/png", "data": data });
        let outcome =
            || Outcome::result("two").with_event(MEDIA_EVENT, medium("QUJD")).with_event(MEDIA_EVENT, medium("RA"));
        let mut first = outcome();
        let files = write(&mut first, &file).unwrap();
        assert_eq!(files, [file.clone(), folder.path().join("shot-2.png")]);
        assert_eq!(
            (std::fs::read(&files[0]).unwrap(), std::fs::read(&files[1]).unwrap()),
            (b"ABC".to_vec(), b"D".to_vec())
        );
        assert!(first.events.is_empty());
        assert!(check_place("--output", &file).is_err() && write(&mut outcome(), &file).is_err());
        let text = folder.path().join("text");
        write(&mut Outcome::result("plain"), &text).unwrap();
        assert_eq!(std::fs::read_to_string(text).unwrap(), "plain");
    }
}
