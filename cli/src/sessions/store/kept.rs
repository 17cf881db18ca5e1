//! Conversations as the store gives them out.

use std::fmt;
use std::time::SystemTime;

use crate::base::digest::sha256;
use crate::sessions::saved::Saved;
use toolgraft::message::Usage;

/// A saved conversation that cannot be read.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) id: String,
    /// Description of the problem, with the store's name.
    pub(super) problem: String,
}

/// The result of a search for one conversation.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kept: Kept,
    /// Conversations that are later than the found one, but cannot be read.
    pub(crate) passed_over: Vec<Damaged>,
}

/// A conversation read from the store.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Id of the conversation, as used on the command line.
    pub(crate) id: String,
    /// Time at which the conversation was last written.
    pub(crate) used: SystemTime,
    pub(crate) saved: Saved,
}

/// A conversation as listed, without its messages.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Id of the conversation, as used on the command line.
    pub(crate) id: String,
    /// Time at which the conversation was last written.
    pub(crate) used: SystemTime,
    /// Id of the model that was used last.
    pub(crate) model: Option<String>,
    /// Number of questions that the user asked.
    pub(crate) questions: usize,
    /// Title of the conversation, or else its first question, in one line.
    pub(crate) title: String,
    /// Sum of the tokens of the conversation's turns.
    pub(crate) usage: Option<Usage>,
    /// Size of the conversation in the store, in bytes.
    pub(crate) bytes: u64,
    /// In a search, a line that contains a searched word missing in the title, and that word.
    pub(crate) hit: Option<(String, String)>,
}

/// Returns a new conversation id, eight hexadecimal digits of a hash, for which `is_taken` returns `false`.
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
