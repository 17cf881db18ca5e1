//! Conversations as the store gives them out.

use std::fmt;
use std::time::SystemTime;

use crate::base::digest::sha256;
use crate::sessions::saved::Saved;
use toolgraft::message::Usage;

/// A conversation that cannot be read.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) id: String,
    /// The problem, with the store's name.
    pub(super) problem: String,
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
    /// The conversation's name on the command line.
    pub(crate) id: String,
    /// The time at which it was written last.
    pub(crate) used: SystemTime,
    pub(crate) saved: Saved,
}

/// A conversation in a list.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The conversation's name on the command line.
    pub(crate) id: String,
    /// The time at which it was written last.
    pub(crate) used: SystemTime,
    /// Model that was talked to last.
    pub(crate) model: Option<String>,
    /// Questions that were asked.
    pub(crate) questions: usize,
    /// The first question, in one line.
    pub(crate) title: String,
    /// Usage of the conversation's turns.
    pub(crate) usage: Option<Usage>,
    /// Bytes that it takes in the store.
    pub(crate) bytes: u64,
    /// In a search: a line with a word that the title lacks, and the word.
    pub(crate) hit: Option<(String, String)>,
}

/// Returns a name that nothing `is_taken` by: eight digits of a hash.
pub(super) fn fresh_id(is_taken: impl Fn(&str) -> bool) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut seed = format!("{} {}", now.as_nanos(), std::process::id());
    loop {
        let id = sha256(seed.as_bytes())[..8].to_owned();
        if !is_taken(&id) {
            return id;
        }
        seed.push('+');
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the conversation {} cannot be read: {}", self.id, self.problem)
    }
}
