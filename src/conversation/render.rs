//! A history as the messages that a model without tool calling sees.

use super::media::{self, Media};
use super::trim::Trim;
use super::{Answered, Assistant, Conversation, Entry, User, answered};
use crate::dialect::SystemPlacement;
use crate::event::Rejected;
use crate::message::{Message, Reads, Role};
use crate::outcome::{Outcome, break_tokens, told_apart};

/// Everything that the model is told after one of its messages.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Replies<'a> {
    /// The message's calls, in its order.
    pub answered: Vec<Answered<'a>>,
    /// The message's rejected calls that the model is told about, in its order.
    pub rejected: Vec<&'a Rejected>,
    /// Further notes.
    pub notes: Vec<&'a str>,
    /// All calls of the messages before, since the person last spoke.
    pub earlier: Vec<Answered<'a>>,
    /// Messages of the model that follow this one.
    pub later: usize,
    /// What the model thought before the message, where it is to be told again.
    pub thought: Option<&'a str>,
    /// What the person said last.
    pub request: Option<&'a str>,
    /// Bytes of one result at most, to save space; `None` for the usual limit.
    pub result_bytes: Option<usize>,
    /// Nobody says whether the tools failed.
    pub without_status: bool,
    /// The messages of some of the earlier calls are not in the request.
    pub left_out: bool,
}

/// A piece of a history as a request shows it.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown<'a> {
    /// What the person said.
    User(&'a User),
    /// What the model said, and what it is told after it.
    Assistant(&'a Assistant, Replies<'a>),
}

/// How a conversation is laid out for a model without tool calling.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The system text; empty for none.
    pub system: String,
    /// Where it goes.
    pub placement: SystemPlacement,
    /// Messages between the system text and the history: examples. By default none.
    pub before: Vec<Message>,
    /// What of the history is left out; by default nothing.
    pub trim: Trim,
    /// What the model is told about that, in front of the history; empty for nothing.
    pub trim_note: String,
    /// What the model reads beside text of what tools gave; by default nothing.
    pub reads: Reads,
}

impl Layout {
    /// A layout with this system text at this place.
    pub fn new(system: impl Into<String>, placement: SystemPlacement) -> Self {
        let (before, trim, reads) = (Vec::new(), Trim::default(), Reads::default());
        Layout { system: system.into(), placement, before, trim, trim_note: String::new(), reads }
    }
}

impl Conversation {
    /// The messages that a model without tool calling sees.
    ///
    /// Each message of the model is its text with its calls as written, without
    /// the reasoning; `replies` writes the user message that follows it. Control tokens are
    /// broken in what the person said and in the model's text and arguments.
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
        let mut messages = Joined::begin(layout);
        let shown = self.shown(&layout.trim);
        let media = media::of(&results(&shown), layout.reads);
        for (shown, media) in shown.into_iter().zip(media) {
            match shown {
                Shown::User(said) => messages.say(said),
                Shown::Assistant(message, told) => {
                    messages.push(Role::Assistant, &message.written());
                    if !told.is_empty() {
                        messages.push(Role::User, &replies(&told)?);
                        messages.show(media);
                    }
                }
            }
        }
        Ok(messages.into_messages())
    }

    /// The pieces of the history that a request shows, in order.
    pub fn shown(&self, trim: &Trim) -> Vec<Shown<'_>> {
        let mut shown = Vec::new();
        let mut spoken = 0;
        let last = self.last_message().map(|(at, _)| at);
        for (at, entry) in self.entries.iter().enumerate() {
            if let Entry::User(_) = entry {
                spoken = at;
            }
            match entry {
                _ if trim.hides(at) => {}
                Entry::User(said) => shown.push(Shown::User(said)),
                Entry::Assistant(message) => {
                    let mut told = self.replies(spoken, at, message);
                    told.result_bytes = trim.limit(at, last == Some(at));
                    told.left_out = trim.rounds() > 0;
                    if trim.shortens(at) {
                        // The last results recall all calls.
                        told.earlier.clear();
                    }
                    shown.push(Shown::Assistant(message, told));
                }
                Entry::Outcome { .. } | Entry::Note { .. } => {}
            }
        }
        shown
    }

    /// What is told after the message at `at`; the person last spoke at `spoken`.
    fn replies<'a>(&'a self, spoken: usize, at: usize, message: &'a Assistant) -> Replies<'a> {
        let next = |entry: &Entry| matches!(entry, Entry::User(_) | Entry::Assistant(_));
        let after = &self.entries[at + 1..];
        let after = &after[..after.iter().position(next).unwrap_or(after.len())];
        let notes = after.iter().filter_map(|entry| match entry {
            Entry::Note { text } => Some(text.as_str()),
            _ => None,
        });
        let request = match &self.entries[spoken] {
            Entry::User(said) => Some(said.text.as_str()),
            _ => None,
        };
        let mut earlier = answered(&self.entries[spoken..=at + after.len()]);
        let own = earlier.iter().position(|a| self.entries[at].holds(a.id)).unwrap_or(earlier.len());
        let answered = earlier.split_off(own);
        Replies {
            answered,
            rejected: message.feedback().collect(),
            notes: notes.collect(),
            earlier,
            later: self.entries[at + 1..].iter().filter(|e| matches!(e, Entry::Assistant(_))).count(),
            thought: None,
            request,
            result_bytes: None,
            without_status: false,
            left_out: false,
        }
    }
}

/// The results in each piece of a history; none where they had to be shortened.
pub(super) fn results<'a>(shown: &[Shown<'a>]) -> Vec<Vec<&'a Outcome>> {
    let outcomes = |shown: &Shown<'a>| match shown {
        Shown::Assistant(_, told) if told.result_bytes.is_none() => told.answered.iter().map(|a| a.outcome).collect(),
        _ => Vec::new(),
    };
    shown.iter().map(outcomes).collect()
}

impl Replies<'_> {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty() && self.rejected.is_empty() && self.notes.is_empty()
    }
}

/// Messages in which neighbours of one role are one.
#[derive(Default)]
pub(super) struct Joined {
    messages: Vec<Message>,
}

impl Joined {
    /// The system text and what is said of the trim.
    pub(super) fn begin(layout: &Layout) -> Self {
        let mut messages = Joined::default();
        match layout.placement {
            SystemPlacement::System => messages.push(Role::System, &layout.system),
            SystemPlacement::User => messages.push(Role::User, &layout.system),
        }
        layout.before.iter().for_each(|message| messages.push(message.role, &message.content));
        messages.push(Role::User, &layout.trim_note);
        messages
    }

    /// Adds a message that may hold more than text; only text is joined.
    pub(super) fn add(&mut self, message: Message) {
        if message.calls.is_empty() && message.call_id.is_none() {
            self.push(message.role, &message.content);
        } else {
            self.messages.push(message);
        }
    }

    /// Adds what the person said.
    pub(super) fn say(&mut self, said: &User) {
        self.push(Role::User, &break_tokens(&told_apart(&said.text)));
        if said.images.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => last.images.extend_from_slice(&said.images),
            _ => self.messages.push(Message { images: said.images.clone(), ..Message::user("") }),
        }
    }

    /// Adds what tools gave beside text: to the message with their results, or to one of its own.
    pub(super) fn show(&mut self, media: Media) {
        if media.is_empty() {
            return;
        }
        if self.messages.last().is_none_or(|last| last.role != Role::User) {
            self.messages.push(Message::user(media.shown()));
        }
        if let Some(last) = self.messages.last_mut() {
            media.put_into(last);
        }
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    pub(super) fn push(&mut self, role: Role, content: &str) {
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
