//! Renders a history as the messages that a model without tool calling reads.

use super::media;
use super::shape::{place, push};
use super::trim::Trim;
use super::{Answered, Assistant, Conversation, HistoryEntry, User, answered};
use crate::dialect::SystemPlacement;
use crate::event::Rejected;
use crate::message::{Message, Reads};
use crate::outcome::Outcome;

/// Feedback for the model after one of its messages: outcomes, rejections and notes.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Replies<'a> {
    /// Calls of the message with their outcomes, in its order.
    pub answered: Vec<Answered<'a>>,
    /// Rejected calls of the message that the model is told about, in its order.
    pub rejected: Vec<&'a Rejected>,
    /// `true` if the message made no call, or not the one named, although the tool choice requires one.
    pub unmet: bool,
    /// Notes of the program about the message.
    pub notes: Vec<&'a str>,
    /// Calls of earlier messages since the last message of the user, with their outcomes.
    pub earlier: Vec<Answered<'a>>,
    /// Number of messages of the model that follow this one.
    ///
    /// If there are any, only the outcomes of the calls are told, and nothing that applies only now (the calls so far,
    /// the request, what to do), so that the text is the same in every later request.
    pub later: usize,
    /// The model's reasoning before the message, if the request repeats it.
    pub thought: Option<&'a str>,
    /// The text of the user's last message.
    pub request: Option<&'a str>,
    /// Limit on the bytes of one result, to save space; `None` for the usual limit.
    pub result_bytes: Option<usize>,
    /// `true` if the prompt must not say whether a tool failed, because a client's results do not have that
    /// information.
    pub without_status: bool,
    /// `true` if some earlier calls belong to messages that are left out of the request.
    pub left_out: bool,
}

/// Message of a history as a request includes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown<'a> {
    /// A message of the user.
    User(&'a User),
    /// A message of the model, and the feedback that the model gets after it.
    Assistant(&'a Assistant, Replies<'a>),
}

/// The layout of a conversation for a model without tool calling.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The system text; empty for none.
    pub system: String,
    /// Role and position of the message with the system text.
    pub placement: SystemPlacement,
    /// Messages between the system text and the history, such as examples. By default none.
    pub before: Vec<Message>,
    /// The parts of the history that are left out; by default none.
    pub trim: Trim,
    /// The note that tells the model about left-out parts, before the history; empty for none.
    pub trim_note: String,
    /// The media of results that the model reads besides text; by default none.
    pub reads: Reads,
}

impl Layout {
    /// Creates a layout with this system text at this place.
    pub fn new(system: impl Into<String>, placement: SystemPlacement) -> Self {
        let (before, trim, reads) = (Vec::new(), Trim::default(), Reads::default());
        Layout { system: system.into(), placement, before, trim, trim_note: String::new(), reads }
    }

    /// Returns the messages before the history: examples and the note about left-out parts, without the system text.
    pub(super) fn before(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        self.before.iter().for_each(|message| push(&mut messages, message.clone()));
        push(&mut messages, Message::user(self.trim_note.as_str()));
        messages
    }

    /// Inserts the system text into the messages of a request.
    pub(super) fn place(&self, messages: &mut Vec<Message>) {
        place(messages, Some(Message::system(self.system.as_str())), self.placement);
    }
}

impl Conversation {
    /// Renders the messages that a model without tool calling reads.
    ///
    /// Each message of the model is its text with its calls as written, without the reasoning; `replies` writes the
    /// user message that follows it. Control tokens are broken in the user's text and in the model's text and
    /// arguments. Adjacent messages of one role become one message, since some endpoints require alternating roles;
    /// empty messages are left out.
    ///
    /// # Errors
    /// The errors that `replies` returns.
    pub fn render<E>(
        &self,
        layout: &Layout,
        mut replies: impl FnMut(&Replies<'_>) -> Result<String, E>,
    ) -> Result<Vec<Message>, E> {
        let mut messages = layout.before();
        let shown = self.shown(&layout.trim);
        let media = media::of(&results(&shown), layout.reads);
        for (shown, media) in shown.into_iter().zip(media) {
            match shown {
                Shown::User(said) => push(&mut messages, said.as_message()),
                Shown::Assistant(message, told) => {
                    push(&mut messages, Message::assistant(message.written()));
                    if !told.is_empty() {
                        push(&mut messages, Message::user(replies(&told)?));
                        media.go_with(&mut messages);
                    }
                }
            }
        }
        layout.place(&mut messages);
        Ok(messages)
    }

    /// Returns the pieces of the history that a request includes, in order.
    pub fn shown(&self, trim: &Trim) -> Vec<Shown<'_>> {
        let mut shown = Vec::new();
        let mut spoken = 0;
        let last = self.last_message().map(|(at, _)| at);
        for (at, entry) in self.entries.iter().enumerate() {
            if let HistoryEntry::User(_) = entry {
                spoken = at;
            }
            match entry {
                _ if trim.hides(at) => {}
                HistoryEntry::User(said) => shown.push(Shown::User(said)),
                HistoryEntry::Assistant(message) => {
                    let mut told = self.replies(spoken, at, message);
                    told.result_bytes = trim.limit(at, last == Some(at));
                    told.left_out = trim.rounds > 0;
                    if trim.shortens(at) {
                        // After the last message, all earlier calls are recalled.
                        told.earlier.clear();
                    }
                    shown.push(Shown::Assistant(message, told));
                }
                HistoryEntry::Outcome { .. } | HistoryEntry::Note { .. } => {}
            }
        }
        shown
    }

    /// Returns the feedback after the message at index `at`; `spoken` is the index of the user's last message before
    /// it.
    fn replies<'a>(&'a self, spoken: usize, at: usize, message: &'a Assistant) -> Replies<'a> {
        let next = |entry: &HistoryEntry| matches!(entry, HistoryEntry::User(_) | HistoryEntry::Assistant(_));
        let after = &self.entries[at + 1..];
        let after = &after[..after.iter().position(next).unwrap_or(after.len())];
        let notes = after.iter().filter_map(|entry| match entry {
            HistoryEntry::Note { text } => Some(text.as_str()),
            _ => None,
        });
        let request = match &self.entries[spoken] {
            HistoryEntry::User(said) => Some(said.text.as_str()),
            _ => None,
        };
        let mut earlier = answered(&self.entries[spoken..=at + after.len()]);
        // The calls of this message are the last among them.
        let own = earlier.iter().position(|a| self.entries[at].holds(a.id)).unwrap_or(earlier.len());
        let answered = earlier.split_off(own);
        Replies {
            answered,
            rejected: message.feedback().collect(),
            notes: notes.collect(),
            earlier,
            later: self.entries[at + 1..].iter().filter(|e| matches!(e, HistoryEntry::Assistant(_))).count(),
            request,
            ..Replies::default()
        }
    }
}

/// Returns for each message the results whose media a request may include; none where results are shortened.
pub(super) fn results<'a>(shown: &[Shown<'a>]) -> Vec<Vec<&'a Outcome>> {
    let outcomes = |shown: &Shown<'a>| match shown {
        Shown::Assistant(_, told) if told.result_bytes.is_none() => told.answered.iter().map(|a| a.outcome).collect(),
        _ => Vec::new(),
    };
    shown.iter().map(outcomes).collect()
}

impl Replies<'_> {
    /// Returns `true` if there are neither outcomes nor rejected calls nor notes.
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty() && self.rejected.is_empty() && self.notes.is_empty()
    }
}
