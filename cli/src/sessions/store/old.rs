//! Conversations as they were kept before there was a database: a file of JSON for each.
//!
//! A file is removed only after the database has what it holds. One that cannot be read stays
//! where it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::kept::Damaged;
use crate::sessions::saved::Saved;
use toolgraft_mcp::files::{Holder, Lock};

/// A file that can be read.
pub(super) struct Old {
    pub(super) id: String,
    /// When it was written last.
    pub(super) used: SystemTime,
    pub(super) saved: Saved,
    path: PathBuf,
}

/// A file that is in the database.
pub(super) struct Taken {
    id: String,
    used: SystemTime,
    path: PathBuf,
}

/// The place of an old file.
pub(super) fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// Reads the files one after another, as the result is asked for.
pub(super) fn read(folder: &Path) -> impl Iterator<Item = Result<Old, Damaged>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let used = entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
        let path = entry.path();
        let id = path.file_stem()?.to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "json") {
            return None;
        }
        match Saved::read(&path) {
            Ok(saved) => Some(Ok(Old { id, used, saved, path })),
            // Another program has taken it over meanwhile.
            Err(_) if !path.exists() => None,
            Err(failure) => Some(Err(Damaged { id, used, problem: failure.message().to_owned() })),
        }
    })
}

/// Removes the file of that name; whether there was one.
pub(super) fn remove(folder: &Path, id: &str) -> io::Result<bool> {
    match fs::remove_file(path(folder, id)) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

impl Old {
    /// Marks it as one that the database has.
    pub(super) fn taken(self) -> Taken {
        Taken { id: self.id, used: self.used, path: self.path }
    }
}

impl Taken {
    /// Removes the file, unless an older toolgraft is at it or has written it meanwhile: then it
    /// is taken over again the next time.
    pub(super) fn remove(self, hold: impl Fn(&str) -> Result<Option<Lock>, Holder>) {
        let Ok(_lock) = hold(&self.id) else { return };
        if self.path.metadata().and_then(|file| file.modified()).is_ok_and(|now| now == self.used) {
            // What stays is the same as what the database has.
            let _ = fs::remove_file(&self.path);
        }
    }
}
