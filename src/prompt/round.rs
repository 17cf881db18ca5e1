//! The calls of the model's last message, for the results message.

use serde_json::{Map, Value};

use crate::event::Rejected;
use crate::outcome::{Outcome, Status};

/// The calls of one round and their outcomes.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Round<'a> {
    /// The items of the model's last message, in order.
    pub items: &'a [Item<'a>],
    /// Calls of earlier rounds, oldest first; empty in the first round.
    pub earlier: &'a [Earlier<'a>],
    /// The user's request, to be recalled after the results; a long text is cut to its head and tail.
    pub request: Option<&'a str>,
    /// Messages of the model follow. Then only the outcomes of the calls are told, and nothing that applies only now
    /// (the calls so far, the request, what to do), so that the text is the same in every later request.
    pub followed: bool,
    /// It is not known which calls failed, so the text does not mention a status.
    pub without_status: bool,
    /// The messages of some earlier calls are not in the request, so more of those calls are recalled.
    pub left_out: bool,
}

impl<'a> Round<'a> {
    /// Creates a round with these items, the first of its turn.
    pub fn new(items: &'a [Item<'a>]) -> Self {
        Round { items, ..Round::default() }
    }

    /// Sets the calls of earlier rounds, oldest first.
    #[must_use]
    pub fn with_earlier(mut self, earlier: &'a [Earlier<'a>]) -> Self {
        self.earlier = earlier;
        self
    }

    /// Sets the user's request.
    #[must_use]
    pub fn with_request(mut self, request: impl Into<Option<&'a str>>) -> Self {
        self.request = request.into();
        self
    }

    /// Sets whether messages of the model follow.
    #[must_use]
    pub fn with_followed(mut self, followed: bool) -> Self {
        self.followed = followed;
        self
    }
}

/// An item of the model's last message about which the model is told.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A call that has an outcome.
    Answered {
        /// The call's identifier.
        id: &'a str,
        /// Server that was called.
        server: Option<&'a str>,
        /// Tool that was called.
        tool: &'a str,
        /// Arguments that it was called with.
        arguments: &'a Map<String, Value>,
        /// The call's outcome.
        outcome: &'a Outcome,
    },
    /// A call that was rejected.
    Rejected(&'a Rejected),
    /// The message made no call (or not the one named) although
    /// [`Required`](crate::tools::ToolChoice::Required) or
    /// [`Named`](crate::tools::ToolChoice::Named) asked for it.
    UnmetChoice,
}

/// A call of an earlier round.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Earlier<'a> {
    /// Server that was called.
    pub server: Option<&'a str>,
    /// Tool that was called.
    pub tool: &'a str,
    /// Arguments that it was called with.
    pub arguments: &'a Map<String, Value>,
    /// The status of its outcome.
    pub status: Status,
}

impl<'a> Earlier<'a> {
    /// Creates an earlier call of a tool without a server.
    pub fn new(tool: &'a str, arguments: &'a Map<String, Value>, status: Status) -> Self {
        Earlier { server: None, tool, arguments, status }
    }

    /// Sets the server.
    #[must_use]
    pub fn with_server(mut self, server: &'a str) -> Self {
        self.server = Some(server);
        self
    }
}
