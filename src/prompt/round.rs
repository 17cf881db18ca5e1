//! What the model is told about the calls of its last message.

use serde_json::{Map, Value};

use crate::event::Rejected;
use crate::outcome::{Outcome, Status};

/// The calls of one round and what became of them.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Round<'a> {
    /// What the model's last message asked for, in order.
    pub items: &'a [Item<'a>],
    /// Calls of earlier rounds, oldest first; empty in the first round.
    pub earlier: &'a [Earlier<'a>],
    /// What the person asked for, to be recalled behind the results; a long text
    /// is cut to its head and tail.
    pub request: Option<&'a str>,
    /// Messages of the model follow: then it is told what became of the calls, and nothing
    /// that is for now (the calls so far, the request, what to do), so that the text is the
    /// same in every later request.
    pub followed: bool,
    /// Nobody says whether the tools failed, so nothing is said of it either.
    pub without_status: bool,
    /// The messages of some earlier calls are not in the request, so that more of them are
    /// recalled.
    pub left_out: bool,
}

impl<'a> Round<'a> {
    /// A round of which the model is told this, the first of its turn.
    pub fn new(items: &'a [Item<'a>]) -> Self {
        Round { items, ..Round::default() }
    }

    /// Sets the calls of earlier rounds, oldest first.
    #[must_use]
    pub fn with_earlier(mut self, earlier: &'a [Earlier<'a>]) -> Self {
        self.earlier = earlier;
        self
    }

    /// Sets what the person asked for.
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

/// One thing to tell the model about its last message.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A call that was answered, whatever the answer.
    Answered {
        /// The call's identifier.
        id: &'a str,
        /// Server that was called.
        server: Option<&'a str>,
        /// Tool that was called.
        tool: &'a str,
        /// Arguments that it was called with.
        arguments: &'a Map<String, Value>,
        /// What became of it.
        outcome: &'a Outcome,
    },
    /// A call that was not run.
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
    /// How it ended.
    pub status: Status,
}

impl<'a> Earlier<'a> {
    /// A call of a tool without a server.
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
