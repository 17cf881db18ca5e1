//! The folder in which conversations are kept: a file of mode 0600 for each, in a folder of
//! mode 0700.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::saved::Saved;
use crate::{Failure, state};
use toolgraft::conversation::Entry;
use toolgraft::files::{self, Mode};

/// A day.
const DAY: Duration = Duration::from_secs(86_400);

/// The conversations of this user.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// A conversation that was kept.
#[derive(Debug)]
pub(crate) struct Kept {
    /// What it is called on the command line.
    pub(crate) id: String,
    /// When it was written last.
    pub(crate) used: SystemTime,
    pub(crate) saved: Saved,
}

impl Store {
    /// The store; `None` where there is no home.
    pub(crate) fn open() -> Option<Self> {
        Some(Store { folder: state::file("sessions")? })
    }

    /// A name that no conversation has.
    pub(crate) fn fresh_id(&self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut seed = format!("{} {}", now.as_nanos(), std::process::id());
        loop {
            let id: String = Sha256::digest(&seed).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            if !self.file(&id).exists() {
                return id;
            }
            seed.push('+');
        }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Keeps a conversation, in place of what was kept under its name.
    pub(crate) fn write(&self, id: &str, saved: &Saved) -> io::Result<()> {
        files::replace(&self.file(id), (serde_json::to_string(saved)? + "\n").as_bytes(), Mode::Private)
    }

    /// Forgets a conversation; whether there was one.
    pub(crate) fn remove(&self, id: &str) -> io::Result<bool> {
        match fs::remove_file(self.file(id)) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The files, with when each was written last.
    fn files(&self) -> Vec<(PathBuf, SystemTime)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| {
            let used = entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
            let path = entry.path();
            path.extension().is_some_and(|e| e == "json").then_some((path, used))
        });
        files.collect()
    }

    /// All conversations, the latest first. A file that cannot be read is left out.
    pub(crate) fn all(&self) -> Vec<Kept> {
        let mut files = self.files();
        files.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        files.into_iter().filter_map(|(path, used)| read(&path, used)).collect()
    }

    /// The conversation whose name begins so; the latest for an empty text.
    pub(crate) fn find(&self, begin: &str) -> Result<Kept, Failure> {
        let list = "`toolgraft sessions` lists them";
        let mut all = self.all();
        if begin.is_empty() {
            return match all.is_empty() {
                true => Err(Failure::usage("there is no conversation to go on with: none was kept")),
                false => Ok(all.swap_remove(0)),
            };
        }
        all.retain(|kept| kept.id.starts_with(begin));
        match all.len() {
            0 => Err(Failure::usage(format!("no conversation {begin:?} was kept; {list}"))),
            1 => Ok(all.swap_remove(0)),
            n => Err(Failure::usage(format!("{n} conversations begin with {begin:?}; {list}"))),
        }
    }

    /// Forgets what was not written for so many days.
    pub(crate) fn prune(&self, days: u32) {
        let Some(oldest) = SystemTime::now().checked_sub(DAY * days) else { return };
        for (path, used) in self.files() {
            if used < oldest {
                // Whoever else prunes it now has done it.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Forgets all; their number.
    pub(crate) fn clear(&self) -> io::Result<usize> {
        let files = self.files();
        files.iter().try_for_each(|(path, _)| fs::remove_file(path)).map(|()| files.len())
    }
}

fn read(path: &Path, used: SystemTime) -> Option<Kept> {
    let saved = Saved::read(path).ok()?;
    Some(Kept { id: path.file_stem()?.to_str()?.to_owned(), used, saved })
}

impl Kept {
    /// The first question, in one line.
    pub(crate) fn title(&self) -> String {
        let entries = self.saved.conversation.entries();
        let asked = entries.iter().find_map(|entry| match entry {
            Entry::User(said) => Some(said.shown()),
            _ => None,
        });
        asked.as_deref().unwrap_or("(nothing was asked)").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All that person and model have said.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.saved.conversation.entries().iter().filter_map(|entry| match entry {
            Entry::User(said) => Some(said.shown().into_owned()),
            Entry::Assistant(message) => Some(message.content()),
            _ => None,
        })
    }

    /// Questions that were asked.
    pub(crate) fn questions(&self) -> usize {
        self.saved.conversation.entries().iter().filter(|entry| matches!(entry, Entry::User(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::Conversation;

    fn store(folder: &Path) -> Store {
        Store { folder: folder.join("sessions") }
    }

    fn saved(text: &str) -> Saved {
        Saved::new("m", &Conversation::from_user(text))
    }

    #[test]
    fn what_is_kept_is_found_by_the_beginning_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        assert!(store.find("").is_err());
        store.write("aa11", &saved("one")).unwrap();
        store.write("ab22", &saved("two")).unwrap();
        fs::write(folder.path().join("sessions/broken.json"), "{").unwrap();
        assert_eq!(store.find("ab").unwrap().title(), "two");
        assert!(store.find("a").is_err() && store.find("b").is_err());
        assert_eq!(store.all().len(), 2);
        assert!(store.remove("ab22").unwrap() && !store.remove("ab22").unwrap());
        assert_eq!(store.find("").unwrap().title(), "one");
        assert_ne!(store.fresh_id(), store.fresh_id());
    }

    #[test]
    fn only_what_is_old_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        for (id, age) in [("old", 31), ("new", 29)] {
            store.write(id, &saved(id)).unwrap();
            let file = fs::File::options().write(true).open(store.file(id)).unwrap();
            file.set_modified(SystemTime::now() - DAY * age).unwrap();
        }
        store.prune(30);
        assert_eq!(store.all().iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), ["new"]);
        assert_eq!(store.clear().unwrap(), 1);
    }
}
