//! The history: its entries, and the order in which they may follow each other.

use serde::{Deserialize, Serialize};

use super::message::{Assistant, HistoryCall, User};
use crate::event::Call;
use crate::outcome::{Outcome, Status};

/// History of a conversation. Its JSON form holds its version and its entries; deserializing one checks the same rules
/// as the methods of [`Conversation`].
///
/// A version above [`CONVERSATION_VERSION`](super::CONVERSATION_VERSION) is refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    pub(super) entries: Vec<HistoryEntry>,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HistoryEntry {
    /// A message of the user.
    User(User),
    /// A message of the model.
    Assistant(Assistant),
    /// The outcome of a call in the model's last message.
    Outcome {
        /// Id of the call.
        id: String,
        /// Outcome of the call.
        outcome: Outcome,
    },
    /// A note of the program to the model about the model's last message.
    Note {
        /// Text of the note, in the prompt's language.
        text: String,
    },
}

/// A call with its outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// The call's id.
    pub id: &'a str,
    /// The call.
    pub call: &'a Call,
    /// The call's outcome.
    pub outcome: &'a Outcome,
}

impl<'a> Answered<'a> {
    /// Creates a pair of the call with this id and its outcome.
    pub fn new(id: &'a str, call: &'a Call, outcome: &'a Outcome) -> Self {
        Answered { id, call, outcome }
    }
}

/// Error for a change that would break the order of a history: a mistake of the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// Calls of the last message have no outcome yet.
    #[error("calls {} have no outcome yet: answer them first", ids.join(", "))]
    Pending {
        /// Ids of these calls.
        ids: Vec<String>,
    },
    /// An outcome was given for an id that no pending call has.
    #[error("no call {id:?} waits for an outcome")]
    NotPending {
        /// Id of the call that was answered.
        id: String,
    },
    /// A new call has the id of another call.
    #[error("the call id {id:?} is already taken: every call needs its own")]
    DuplicateId {
        /// Id that both calls have.
        id: String,
    },
    /// A message of the model was appended where the history has nothing to answer.
    #[error("there is nothing to answer: expected a user message, an outcome or feedback before the model's message")]
    NothingToAnswer,
    /// A note was appended without a message of the model before it.
    #[error("a note follows a message of the model, and there is none")]
    NothingToNote,
}

impl Conversation {
    /// Creates an empty history.
    pub fn new() -> Self {
        Conversation::default()
    }

    /// Creates a history that begins with a message of the user.
    pub fn from_user(said: impl Into<User>) -> Self {
        Conversation { entries: vec![HistoryEntry::User(said.into())] }
    }

    /// Returns the entries of the history, oldest first.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    /// Appends a message of the user.
    ///
    /// # Errors
    /// [`Pending`](ConversationError::Pending) while calls wait for their outcomes.
    pub fn push_user(&mut self, said: impl Into<User>) -> Result<(), ConversationError> {
        self.no_pending()?;
        self.entries.push(HistoryEntry::User(said.into()));
        Ok(())
    }

    /// Appends a message of the model. Its calls are then pending.
    ///
    /// # Errors
    /// A call is pending, an id is taken, or the history has nothing for the model to answer.
    pub fn push_assistant(&mut self, message: Assistant) -> Result<(), ConversationError> {
        self.no_pending()?;
        if !self.awaits_model() {
            return Err(ConversationError::NothingToAnswer);
        }
        let ids: Vec<&str> = message.calls().map(|c| c.id.as_str()).collect();
        for (n, id) in ids.iter().enumerate() {
            if ids[..n].contains(id) || self.has_id(id) {
                return Err(ConversationError::DuplicateId { id: (*id).to_owned() });
            }
        }
        self.entries.push(HistoryEntry::Assistant(message));
        Ok(())
    }

    /// Appends the outcome of a pending call.
    ///
    /// # Errors
    /// [`NotPending`](ConversationError::NotPending) for an unknown call and for one that has an outcome already.
    pub fn answer(&mut self, id: &str, outcome: Outcome) -> Result<(), ConversationError> {
        if !self.pending().any(|call| call.id == id) {
            return Err(ConversationError::NotPending { id: id.to_owned() });
        }
        self.entries.push(HistoryEntry::Outcome { id: id.to_owned(), outcome });
        Ok(())
    }

    /// Appends a note of the program to the model about its last message.
    ///
    /// # Errors
    /// [`NothingToNote`](ConversationError::NothingToNote) before any message of the model.
    pub fn push_note(&mut self, text: impl Into<String>) -> Result<(), ConversationError> {
        if self.last_message().is_none() {
            return Err(ConversationError::NothingToNote);
        }
        self.entries.push(HistoryEntry::Note { text: text.into() });
        Ok(())
    }

    /// Returns the calls of the last message that have no outcome yet, in the message's order.
    pub fn pending(&self) -> impl Iterator<Item = &HistoryCall> {
        let last = self.last_message();
        let after = last.map_or(&[][..], |(at, _)| &self.entries[at + 1..]);
        let is_pending = move |call: &&HistoryCall| !after.iter().any(|entry| entry.outcome_of(&call.id).is_some());
        last.into_iter().flat_map(|(_, message)| message.calls()).filter(is_pending)
    }

    /// Returns `true` if the last message made calls and the only news for the model is that they were shown to the
    /// user: then the message was an answer.
    pub fn only_displayed(&self) -> bool {
        let Some((at, message)) = self.last_message() else { return false };
        let displayed = |call: &HistoryCall| {
            let mut outcomes = self.entries[at..].iter().filter_map(|entry| entry.outcome_of(&call.id));
            outcomes.any(|outcome| outcome.status == Status::Displayed)
        };
        // Feedback about a rejected call needs an answer of the model, so then the message was not one.
        message.calls().next().is_some() && message.calls().all(displayed) && message.feedback().next().is_none()
    }

    /// Returns `true` if the model has to write the next message: the last entry needs an answer, and no call is
    /// pending.
    pub fn awaits_model(&self) -> bool {
        let told = match self.entries.last() {
            None => false,
            Some(HistoryEntry::User(_) | HistoryEntry::Note { .. }) => true,
            Some(HistoryEntry::Outcome { .. }) => !self.only_displayed(),
            Some(HistoryEntry::Assistant(message)) => message.feedback().next().is_some(),
        };
        told && self.pending().next().is_none()
    }

    /// Returns an id that no call has: `call_1`, `call_2` and so on. The first `skip` free ids are passed over, for
    /// several calls of one message.
    pub fn fresh_id(&self, skip: usize) -> String {
        let used = self.messages().map(|m| m.calls().count()).sum::<usize>();
        let mut free = (used + 1..).map(|n| format!("call_{n}")).filter(|id| !self.has_id(id));
        free.nth(skip).expect("the numbers do not end")
    }

    /// Returns the model's messages, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Assistant> {
        self.entries.iter().filter_map(HistoryEntry::message)
    }

    /// Returns all calls that have an outcome since the last message of the user, oldest message first, in each
    /// message's order.
    pub fn answered(&self) -> Vec<Answered<'_>> {
        let start = self.entries.iter().rposition(|e| matches!(e, HistoryEntry::User(_))).unwrap_or(0);
        answered(&self.entries[start..])
    }

    pub(super) fn last_message(&self) -> Option<(usize, &Assistant)> {
        self.entries.iter().enumerate().rev().find_map(|(at, entry)| Some((at, entry.message()?)))
    }

    /// Returns `true` if a call of the history has this id.
    pub fn has_id(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.holds(id))
    }

    fn no_pending(&self) -> Result<(), ConversationError> {
        let ids: Vec<String> = self.pending().map(|call| call.id.clone()).collect();
        if ids.is_empty() { Ok(()) } else { Err(ConversationError::Pending { ids }) }
    }
}

/// Returns the calls among `entries` whose outcomes are among these entries too, with the outcomes.
pub(super) fn answered(entries: &[HistoryEntry]) -> Vec<Answered<'_>> {
    let outcome = |id: &str| entries.iter().find_map(|entry| entry.outcome_of(id));
    let calls = entries.iter().flat_map(HistoryEntry::calls);
    calls.filter_map(|c| Some(Answered { id: &c.id, call: &c.call, outcome: outcome(&c.id)? })).collect()
}

impl TryFrom<Vec<HistoryEntry>> for Conversation {
    type Error = ConversationError;

    fn try_from(entries: Vec<HistoryEntry>) -> Result<Self, ConversationError> {
        let mut conversation = Conversation::new();
        for entry in entries {
            match entry {
                HistoryEntry::User(said) => conversation.push_user(said)?,
                HistoryEntry::Assistant(message) => conversation.push_assistant(message)?,
                HistoryEntry::Outcome { id, outcome } => conversation.answer(&id, outcome)?,
                HistoryEntry::Note { text } => conversation.push_note(text)?,
            }
        }
        Ok(conversation)
    }
}

impl From<&str> for Conversation {
    fn from(text: &str) -> Self {
        Conversation::from_user(text)
    }
}

impl From<String> for Conversation {
    fn from(text: String) -> Self {
        Conversation::from_user(text)
    }
}

impl From<User> for Conversation {
    fn from(said: User) -> Self {
        Conversation::from_user(said)
    }
}

impl From<Conversation> for Vec<HistoryEntry> {
    fn from(conversation: Conversation) -> Self {
        conversation.entries
    }
}

impl HistoryEntry {
    fn message(&self) -> Option<&Assistant> {
        match self {
            HistoryEntry::Assistant(message) => Some(message),
            _ => None,
        }
    }

    fn outcome_of(&self, call: &str) -> Option<&Outcome> {
        match self {
            HistoryEntry::Outcome { id, outcome } if id == call => Some(outcome),
            _ => None,
        }
    }

    fn calls(&self) -> impl Iterator<Item = &HistoryCall> {
        self.message().into_iter().flat_map(Assistant::calls)
    }

    pub(super) fn has_images(&self) -> bool {
        matches!(self, HistoryEntry::User(said) if !said.images.is_empty())
    }

    pub(super) fn holds(&self, id: &str) -> bool {
        self.calls().any(|call| call.id == id)
    }
}
