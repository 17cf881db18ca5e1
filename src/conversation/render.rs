//! A history as the messages that a model without tool calling sees.

use super::{Answered, Assistant, Conversation, Entry, answered};
use crate::call::Rejected;
use crate::message::{Message, Role};
use crate::profile::SystemPlacement;

/// Everything that the model is told after one of its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Replies<'a> {
    /// The message's calls, in its order.
    pub answered: Vec<Answered<'a>>,
    /// The message's rejected calls that the model is told about, in its order.
    pub rejected: Vec<&'a Rejected>,
    /// Further notes.
    pub notes: Vec<&'a str>,
    /// All calls of the messages before, since the person last spoke.
    pub earlier: Vec<Answered<'a>>,
}

/// How a conversation is laid out for a model without tool calling.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The system text; empty for none.
    pub system: String,
    /// Where it goes.
    pub placement: SystemPlacement,
}

impl Layout {
    /// A layout with this system text at this place.
    pub fn new(system: impl Into<String>, placement: SystemPlacement) -> Self {
        Layout { system: system.into(), placement }
    }
}

impl Conversation {
    /// The messages that a model without tool calling sees.
    ///
    /// Each message of the model is its text with its calls as written, without
    /// the reasoning; `replies` writes the user message that follows it.
    /// Neighbours of one role become one message, since some endpoints want
    /// roles to alternate; empty messages are left out.
    ///
    /// # Errors
    /// Those of `replies`.
    pub fn render<E>(
        &self,
        layout: &Layout,
        mut replies: impl FnMut(&Replies<'_>) -> Result<String, E>,
    ) -> Result<Vec<Message>, E> {
        let mut messages = Joined::default();
        let mut spoken = 0;
        match layout.placement {
            SystemPlacement::System => messages.push(Role::System, &layout.system),
            SystemPlacement::User => messages.push(Role::User, &layout.system),
        }
        for (at, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::User { text } => {
                    spoken = at;
                    messages.push(Role::User, text);
                }
                Entry::Assistant(message) => {
                    messages.push(Role::Assistant, &message.written());
                    let told = self.replies(spoken, at, message);
                    if !told.is_empty() {
                        messages.push(Role::User, &replies(&told)?);
                    }
                }
                Entry::Outcome { .. } | Entry::Note { .. } => {}
            }
        }
        Ok(messages.messages)
    }

    /// What is told after the message at `at`; the person last spoke at `spoken`.
    fn replies<'a>(&'a self, spoken: usize, at: usize, message: &'a Assistant) -> Replies<'a> {
        let next = |entry: &Entry| matches!(entry, Entry::User { .. } | Entry::Assistant(_));
        let after = &self.entries[at + 1..];
        let after = &after[..after.iter().position(next).unwrap_or(after.len())];
        let notes = after.iter().filter_map(|entry| match entry {
            Entry::Note { text } => Some(text.as_str()),
            _ => None,
        });
        let mut earlier = answered(&self.entries[spoken..=at + after.len()]);
        let own = earlier.iter().position(|a| self.entries[at].holds(a.id)).unwrap_or(earlier.len());
        let answered = earlier.split_off(own);
        Replies { answered, rejected: message.feedback().collect(), notes: notes.collect(), earlier }
    }
}

impl Replies<'_> {
    fn is_empty(&self) -> bool {
        self.answered.is_empty() && self.rejected.is_empty() && self.notes.is_empty()
    }
}

/// Messages in which neighbours of one role are one.
#[derive(Default)]
struct Joined {
    messages: Vec<Message>,
}

impl Joined {
    fn push(&mut self, role: Role, content: &str) {
        if content.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == role => {
                last.content.push_str("\n\n");
                last.content.push_str(content);
            }
            _ => self.messages.push(Message::new(role, content)),
        }
    }
}
