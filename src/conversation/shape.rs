//! Brings messages into an order of roles that every chat template accepts.
//!
//! Of 124 public templates 26 refuse a second system message, two user messages in a row, or an answer that comes
//! first, and 16 drop such a message silently. All of them accept the output of [`shape`] completely: one system
//! message, then user and assistant in turn, the user first, no message empty. The messages may be those of a
//! conversation or those that a client sent, in the API's JSON ([`Spoken`]).

use crate::dialect::SystemPlacement;
use crate::message::{Message, Role};

/// Text of the user message that is inserted before a message of the model that comes first.
pub const BEGINS: &str = "Begin.";

/// Message of a conversation, whose role can be changed and which can be joined with the next message.
pub trait Spoken: Sized {
    /// Creates a message with this role and text.
    fn said(role: Role, text: String) -> Self;

    /// Returns the role of the message as the APIs write it, such as `user`.
    fn role(&self) -> &str;

    /// Returns `true` if the message has no content, makes no call and answers none.
    fn is_empty(&self) -> bool;

    /// Returns `true` if the message makes calls.
    fn makes_calls(&self) -> bool;

    /// Returns the message with another role.
    #[must_use]
    fn said_by(self, role: Role) -> Self;

    /// Joins the message with the next one: returns `next` with the content of this message before its own.
    #[must_use]
    fn join(self, next: Self) -> Self;
}

fn is_system<M: Spoken>(message: &M) -> bool {
    message.role() == Role::System.as_str()
}

fn asks<M: Spoken>(message: &M) -> bool {
    message.role() == Role::User.as_str()
}

/// Brings messages into the order that every template accepts. The system text `own` is appended to the system messages
/// that come first; later system messages become user messages in their place.
pub fn shape<M: Spoken>(messages: Vec<M>, own: Option<String>, placement: SystemPlacement) -> Vec<M> {
    let begins = messages.iter().take_while(|message| is_system(*message)).count();
    let mut messages = messages.into_iter();
    let system = messages.by_ref().take(begins).map(|message| message.said_by(Role::System)).reduce(M::join);
    let mut system = system.filter(|system| !system.is_empty());
    let mut shaped = Vec::new();
    for message in messages {
        push(&mut shaped, if is_system(&message) { message.said_by(Role::User) } else { message });
    }
    if !shaped.iter().any(asks)
        && let Some(said) = system.take()
    {
        // A template requires a user message, and there is none besides the system text.
        shaped.insert(0, said.said_by(Role::User));
    } else if !shaped.first().is_some_and(asks) {
        shaped.insert(0, M::said(Role::User, BEGINS.to_owned()));
    }
    let own = own.filter(|own| !own.is_empty()).map(|own| M::said(Role::System, own));
    place(&mut shaped, system.into_iter().chain(own).reduce(M::join), placement);
    shaped
}

/// Appends a message unless it is empty. It is joined to the last message if that has the same role and makes no calls;
/// results are never joined.
pub fn push<M: Spoken>(messages: &mut Vec<M>, message: M) {
    if message.is_empty() {
        return;
    }
    let is_result = message.role() == Role::Tool.as_str();
    let last = messages.pop_if(|last| last.role() == message.role() && !last.makes_calls() && !is_result);
    messages.push(match last {
        Some(last) => last.join(message),
        None => message,
    });
}

/// Inserts the system text as the first message, or joins it with the first user message if the model has no system
/// role.
pub fn place<M: Spoken>(messages: &mut Vec<M>, system: Option<M>, placement: SystemPlacement) {
    let Some(mut system) = system.filter(|system| !system.is_empty()) else { return };
    if placement == SystemPlacement::User {
        system = system.said_by(Role::User);
        if messages.first().is_some_and(asks) {
            system = system.join(messages.remove(0));
        }
    }
    messages.insert(0, system);
}

/// Moves the system text that comes first into the first user message, for a model without a system role.
pub fn system_to_user<M: Spoken>(messages: &mut Vec<M>) {
    if messages.first().is_some_and(is_system) {
        let system = messages.remove(0);
        place(messages, Some(system), SystemPlacement::User);
    }
}

impl Spoken for Message {
    fn said(role: Role, text: String) -> Self {
        Message::new(role, text)
    }

    fn role(&self) -> &str {
        self.role.as_str()
    }

    fn is_empty(&self) -> bool {
        let says_nothing = self.content.is_empty() && self.images.is_empty() && self.audio.is_empty();
        says_nothing && self.calls.is_empty() && self.call_id.is_none()
    }

    fn makes_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    fn said_by(self, role: Role) -> Self {
        Message { role, ..self }
    }

    fn join(mut self, mut next: Self) -> Self {
        if !self.content.is_empty() && !next.content.is_empty() {
            self.content.push_str("\n\n");
        }
        self.content.push_str(&next.content);
        self.images.append(&mut next.images);
        self.audio.append(&mut next.audio);
        Message { content: self.content, images: self.images, audio: self.audio, ..next }
    }
}
