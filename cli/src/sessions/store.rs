//! The store of conversations: a database of mode 0600 in a folder of mode 0700, where the locks
//! of those that a chat is at lie too.
//!
//! Each method opens the database for itself: a chat that is open for days holds nothing up.

mod database;
mod kept;

use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::base::{Failure, state};
use crate::sessions::saved::Saved;
use database::Database;
use kept::{Damaged, Found, fresh_id};
use toolgraft_files::{Holder, Lock};

pub(crate) use kept::{Kept, Listed};

/// The store of this user's conversations.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// Returns this user's store of conversations, without opening its database.
    ///
    /// # Errors
    /// There is no home directory.
    pub(crate) fn open() -> Result<Self, Failure> {
        let folder = state::file("sessions");
        let folder = folder.ok_or_else(|| Failure::usage("there is no home directory: no conversation is saved"))?;
        Ok(Store { folder })
    }

    /// Returns an id that no conversation has.
    pub(crate) fn fresh_id(&self) -> String {
        // Where nothing can be read, nothing can be written over either.
        let opened = self.opened().ok();
        fresh_id(|id| opened.as_ref().is_some_and(|opened| opened.get(id).is_ok_and(|found| found.is_some())))
    }

    /// Saves a conversation, in place of an earlier version with this id.
    pub(crate) fn write(&self, id: &str, saved: &Saved) -> io::Result<()> {
        Database::open(&self.file())?.put(id, SystemTime::now(), saved)
    }

    /// Locks a conversation for this process; an error with the process that holds the lock. Returns `None` on a file
    /// system without locks.
    pub(crate) fn hold(&self, id: &str) -> Result<Option<Lock>, Holder> {
        Lock::take(&self.folder.join(format!("{id}.lock"))).map_or(Ok(None), |taken| taken.map(Some))
    }

    /// Deletes a conversation; returns `true` if there was one.
    pub(crate) fn remove(&self, id: &str) -> io::Result<bool> {
        Ok(!self.opened()?.remove(&[id.to_owned()], |_| true)?.is_empty())
    }

    /// Deletes a conversation, with an error message for a failed command.
    pub(crate) fn forget(&self, id: &str) -> Result<(), Failure> {
        self.remove(id).map(drop).map_err(cannot_remove)
    }

    /// Returns the conversations that contain all of these words, the latest first.
    pub(crate) fn list(&self, words: &[String]) -> io::Result<Vec<Listed>> {
        self.opened()?.list(words)
    }

    /// Returns the saved conversation with this id; `None` if there is none or it cannot be read.
    pub(crate) fn read(&self, id: &str) -> Option<Kept> {
        self.opened().ok()?.kept(id).ok()??.ok()
    }

    /// Returns the conversation whose id begins with this text; for an empty text, the latest that can be read.
    pub(crate) fn find(&self, begin: &str) -> Result<Found, Failure> {
        let opened = self.opened().map_err(Failure::job)?;
        if begin.is_empty() {
            return opened.latest();
        }
        match opened.kept(&opened.id_of(begin)?).map_err(Failure::job)? {
            Some(Ok(kept)) => Ok(Found { kept, passed_over: Vec::new() }),
            Some(Err(damaged)) => Err(Failure::usage(format!(
                "{damaged}; `toolgraft log` lists the others, `toolgraft log remove {}` forgets it",
                damaged.id
            ))),
            None => Err(Failure::usage(format!("no conversation {begin:?} was kept; {LISTS_THEM}"))),
        }
    }

    /// Returns the only id that begins with this text, whether the conversation can be read or not.
    pub(crate) fn id_of(&self, begin: &str) -> Result<String, Failure> {
        self.opened().map_err(Failure::job)?.id_of(begin)
    }

    /// Deletes all conversations that no chat has open; returns the number of deleted ones and of the others.
    pub(crate) fn clear(&self) -> Result<(usize, usize), Failure> {
        let mut opened = self.opened().map_err(cannot_remove)?;
        let ids: Vec<String> = opened.ids().map_err(cannot_remove)?.into_iter().map(|(id, _)| id).collect();
        let gone = opened.remove(&ids, |id| self.hold(id).is_ok()).map_err(cannot_remove)?.len();
        opened.shrink();
        Ok((gone, ids.len() - gone))
    }

    fn file(&self) -> PathBuf {
        self.folder.join("conversations.db")
    }

    fn opened(&self) -> io::Result<Database> {
        Database::read(&self.file())
    }
}

fn cannot_remove(error: io::Error) -> Failure {
    Failure::job(format!("cannot remove a conversation: {error}"))
}

const LISTS_THEM: &str = "`toolgraft log` lists them";

impl Database {
    /// Returns the conversation with this id: `None` if there is none, an inner error if it cannot be parsed.
    fn kept(&self, id: &str) -> io::Result<Option<Result<Kept, Damaged>>> {
        Ok(self.get(id)?.map(|(used, text)| {
            let damaged = |failure: Failure| Damaged { id: id.to_owned(), problem: failure.message().to_owned() };
            let saved = Saved::parse(&text, "the store").map_err(damaged)?;
            Ok(Kept { id: id.to_owned(), used, saved })
        }))
    }

    fn id_of(&self, begin: &str) -> Result<String, Failure> {
        let ids = self.ids().map_err(Failure::job)?;
        let mut ids: Vec<String> = ids.into_iter().map(|(id, _)| id).filter(|id| id.starts_with(begin)).collect();
        match ids.len() {
            0 => Err(Failure::usage(format!("no conversation {begin:?} was kept; {LISTS_THEM}"))),
            1 => Ok(ids.swap_remove(0)),
            n => Err(Failure::usage(format!("{n} conversations begin with {begin:?}; {LISTS_THEM}"))),
        }
    }

    fn latest(&self) -> Result<Found, Failure> {
        let mut ids = self.ids().map_err(Failure::job)?;
        ids.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        let mut passed_over = Vec::new();
        for (id, _) in ids {
            match self.kept(&id).map_err(Failure::job)? {
                Some(Ok(kept)) => return Ok(Found { kept, passed_over }),
                Some(Err(damaged)) => passed_over.push(damaged),
                // Forgotten meanwhile.
                None => {}
            }
        }
        Err(match passed_over.first() {
            None => Failure::usage("there is no conversation to continue: none was saved"),
            Some(damaged) => Failure::usage(format!(
                "{damaged}, and there is no other conversation to continue; `toolgraft log remove {}` forgets it",
                damaged.id
            )),
        })
    }
}

#[cfg(test)]
mod tests;
