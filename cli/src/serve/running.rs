//! The servers (`toolgraft serve`) of this user that run on this machine, for commands that
//! ask them.
//!
//! Each keeps a file as long as it runs, for its owner alone: where it serves, where it can be
//! asked, and the key to that.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::state;
use toolgraft_mcp::files::{self, Mode};

/// A server that runs, or ran until it was killed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) process: u32,
    /// Where its clients find it.
    pub(crate) url: String,
    /// Where it can be asked.
    pub(crate) control: String,
    /// What lets a program in there.
    pub(crate) key: String,
}

/// As long as this is held, others find the server.
pub(super) struct Announced(PathBuf);

impl Drop for Announced {
    fn drop(&mut self) {
        // One that stays behind answers nobody, and is taken away then.
        let _ = fs::remove_file(&self.0);
    }
}

/// `None` where there is no home directory.
fn folder() -> Option<PathBuf> {
    state::file("serving")
}

impl Running {
    /// Lets others find this server.
    pub(super) fn announce(&self) -> io::Result<Announced> {
        let folder = folder().ok_or_else(|| io::Error::other("there is no home directory"))?;
        let file = folder.join(self.file());
        files::replace(&file, &serde_json::to_vec(self)?, Mode::Private)?;
        Ok(Announced(file))
    }

    /// Those that have a file, the oldest process number first.
    pub(crate) fn all() -> Vec<Self> {
        let found = folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let read = |file: fs::DirEntry| serde_json::from_slice(&fs::read(file.path()).ok()?).ok();
        let mut all: Vec<Running> = found.filter_map(read).collect();
        all.sort_by_key(|running| running.process);
        all
    }

    /// Takes the file of a server away that does not run any more.
    pub(crate) fn forget(&self) {
        if let Some(folder) = folder() {
            let _ = fs::remove_file(folder.join(self.file()));
        }
    }

    fn file(&self) -> String {
        format!("{}.json", self.process)
    }
}
