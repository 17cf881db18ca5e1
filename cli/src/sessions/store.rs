//! The folder in which conversations are kept: a file of mode 0600 for each, in a folder of
//! mode 0700.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::base::Failure;
use crate::base::state;
use crate::sessions::saved::Saved;
use toolgraft::conversation::Entry;
use toolgraft_mcp::files::{self, Holder, Lock, Mode};

/// A day.
const DAY: Duration = Duration::from_secs(86_400);

/// The conversations of this user.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// A conversation whose file cannot be read.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) id: String,
    /// What is wrong, with the file's name.
    pub(crate) problem: String,
}

/// A conversation that was looked for.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kept: Kept,
    /// Later ones, which cannot be read.
    pub(crate) passed_over: Vec<Damaged>,
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

    /// Takes a conversation for this process, or says which one has it. Where the file system
    /// knows no locks, nobody is told of anybody.
    pub(crate) fn hold(&self, id: &str) -> Result<Option<Lock>, Holder> {
        Lock::take(&self.folder.join(format!("{id}.lock"))).map_or(Ok(None), |taken| taken.map(Some))
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

    /// All conversations, the latest first, and the files that cannot be read.
    pub(crate) fn all(&self) -> (Vec<Kept>, Vec<Damaged>) {
        let (mut kept, mut damaged) = (Vec::new(), Vec::new());
        for one in self.latest_first() {
            match one {
                Ok(one) => kept.push(one),
                Err(one) => damaged.push(one),
            }
        }
        (kept, damaged)
    }

    fn latest_first(&self) -> impl Iterator<Item = Result<Kept, Damaged>> {
        let mut files = self.files();
        files.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        files.into_iter().map(|(path, used)| read(&path, used))
    }

    /// The conversation with this name, as it is now.
    pub(crate) fn read(&self, id: &str) -> Option<Kept> {
        let path = self.file(id);
        let used = path.metadata().ok()?.modified().ok()?;
        read(&path, used).ok()
    }

    /// The conversation whose name begins so; the latest that can be read for an empty text.
    pub(crate) fn find(&self, begin: &str) -> Result<Found, Failure> {
        if begin.is_empty() {
            return self.latest();
        }
        match read(&self.file(&self.id_of(begin)?), SystemTime::now()) {
            Ok(kept) => Ok(Found { kept, passed_over: Vec::new() }),
            Err(damaged) => Err(Failure::usage(format!(
                "{damaged}; `toolgraft sessions` lists the others, `toolgraft sessions remove {}` forgets it",
                damaged.id
            ))),
        }
    }

    fn latest(&self) -> Result<Found, Failure> {
        let mut passed_over = Vec::new();
        for one in self.latest_first() {
            match one {
                Ok(kept) => return Ok(Found { kept, passed_over }),
                Err(damaged) => passed_over.push(damaged),
            }
        }
        Err(match passed_over.first() {
            None => Failure::usage("there is no conversation to go on with: none was kept"),
            Some(damaged) => Failure::usage(format!(
                "{damaged}, and there is no other conversation to go on with; `toolgraft sessions remove {}` forgets it",
                damaged.id
            )),
        })
    }

    /// The one name that begins so, whether the conversation can be read or not.
    pub(crate) fn id_of(&self, begin: &str) -> Result<String, Failure> {
        let list = "`toolgraft sessions` lists them";
        let files = self.files();
        let mut ids: Vec<String> = files.iter().map(|(path, _)| id(path)).filter(|id| id.starts_with(begin)).collect();
        match ids.len() {
            0 => Err(Failure::usage(format!("no conversation {begin:?} was kept; {list}"))),
            1 => Ok(ids.swap_remove(0)),
            n => Err(Failure::usage(format!("{n} conversations begin with {begin:?}; {list}"))),
        }
    }

    /// Forgets what was not written for so many days and no chat is at; their number.
    pub(crate) fn prune(&self, days: u32) -> usize {
        let Some(oldest) = SystemTime::now().checked_sub(DAY * days) else { return 0 };
        let old = self.files().into_iter().filter(|(_, used)| *used < oldest);
        // Whoever else prunes one of them now says so.
        old.filter(|(path, _)| self.hold(&id(path)).is_ok_and(|_lock| fs::remove_file(path).is_ok())).count()
    }

    /// Forgets all that no chat is at; their number, and that of the others.
    pub(crate) fn clear(&self) -> io::Result<(usize, usize)> {
        let (mut gone, mut open) = (0, 0);
        for (path, _) in self.files() {
            match self.hold(&id(&path)) {
                Err(_) => open += 1,
                Ok(_lock) => {
                    fs::remove_file(&path)?;
                    gone += 1;
                }
            }
        }
        Ok((gone, open))
    }
}

fn id(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path, used: SystemTime) -> Result<Kept, Damaged> {
    match Saved::read(path) {
        Ok(saved) => Ok(Kept { id: id(path), used, saved }),
        Err(failure) => Err(Damaged { id: id(path), problem: failure.message().to_owned() }),
    }
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The problem names the file.
        write!(f, "the conversation {} cannot be read: {}", self.id, self.problem)
    }
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
        assert_eq!(store.find("ab").unwrap().kept.title(), "two");
        assert!(store.find("a").is_err() && store.find("b").is_err());
        let (kept, damaged) = store.all();
        assert_eq!((kept.len(), damaged[0].id.as_str()), (2, "broken"));
        assert!(store.find("broken").is_err_and(|failure| failure.message().contains("broken.json")));
        assert!(store.remove("ab22").unwrap() && !store.remove("ab22").unwrap());
        assert_eq!(store.find("").unwrap().kept.title(), "one");
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
        let open = store.hold("old").unwrap();
        assert_eq!(store.prune(30), 0, "a chat is at it");
        drop(open);
        assert_eq!(store.prune(30), 1);
        assert_eq!(store.all().0.iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), ["new"]);
        let open = store.hold("new").unwrap();
        assert_eq!(store.clear().unwrap(), (0, 1));
        drop(open);
        assert_eq!(store.clear().unwrap(), (1, 0));
    }
}
