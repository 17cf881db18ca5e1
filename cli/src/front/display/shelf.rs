//! Pictures that the terminal cannot draw: files, for a while, in this user's folder for state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::base::{digest::sha256, state};
use toolgraft::message::Image;
use toolgraft_files::{self as files, Mode};

/// Maximum number of saved picture files; the next constant is the maximum of their total size in bytes.
const FILES: usize = 100;
const BYTES: u64 = 100 << 20;

/// The directory of picture files that the terminal could not display.
pub(crate) struct Shelf(PathBuf);

impl Shelf {
    /// Returns this user's directory of pictures; `None` if there is no home directory.
    pub(crate) fn of_user() -> Option<Self> {
        state::file("pictures").map(Shelf)
    }

    /// Writes a picture to a file and deletes old pictures beyond the limits. Returns the file's path and size in
    /// bytes.
    pub(super) fn put(&self, picture: &Image) -> io::Result<(PathBuf, usize)> {
        let bytes = STANDARD.decode(picture.base64()).map_err(io::Error::other)?;
        let kind = picture.media_type().rsplit('/').next().unwrap_or_default();
        // The same picture is the same file.
        let file = self.0.join(format!("{}.{kind}", &sha256(&bytes)[..16]));
        files::replace(&file, &bytes, Mode::Private)?;
        self.tidy(&file);
        Ok((file, bytes.len()))
    }

    /// Deletes the oldest files beyond the limits, but never the file `newest`. A file that cannot be examined is left.
    fn tidy(&self, newest: &Path) {
        let found = fs::read_dir(&self.0).into_iter().flatten().flatten().filter_map(|entry| {
            let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(at, _, path)| (path != newest, std::cmp::Reverse(*at)));
        let mut sum = 0;
        for (n, (_, bytes, path)) in found.iter().enumerate() {
            sum += bytes;
            // The picture that was just written stays, however large it is: its path is on the screen.
            if n > 0 && (n >= FILES || sum > BYTES) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_newest_pictures_stay_and_the_same_one_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf(folder.path().join("pictures"));
        let picture = |n: usize| Image::new(format!("GIF89a{n}").as_bytes()).unwrap();
        let (first, bytes) = shelf.put(&picture(0)).unwrap();
        assert_eq!((shelf.put(&picture(0)).unwrap(), bytes), ((first.clone(), 7), 7));
        assert_eq!((fs::read(&first).unwrap(), first.extension().unwrap()), (b"GIF89a0".to_vec(), "gif".as_ref()));
        let earlier = |file: &Path, age| {
            fs::File::options().write(true).open(file).unwrap().set_modified(SystemTime::now() - age).unwrap();
        };
        let (old, _) = shelf.put(&picture(1)).unwrap();
        earlier(&old, Duration::from_secs(120));
        earlier(&first, Duration::from_secs(60));
        for n in 2..2 + FILES - 1 {
            assert!(shelf.put(&picture(n)).is_ok());
        }
        assert!(first.exists() && !old.exists());
        shelf.put(&picture(1)).unwrap();
        assert!(!first.exists() && fs::read_dir(&shelf.0).unwrap().count() == FILES);
    }
}
