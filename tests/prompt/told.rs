//! Builds what a model is told about its calls.

use std::ops::Deref;

use serde_json::{Map, Value};
use toolgraft::conversation::{Answered, Replies};
use toolgraft::event::Rejected;
use toolgraft::outcome::Status;
use toolgraft::{Call, Dialect, Outcome};

/// One thing that a model is told about its last message.
#[derive(Clone, Copy)]
pub(crate) enum Item<'a> {
    Answered(Answered<'a>),
    Rejected(&'a Rejected),
    UnmetChoice,
}

/// Returns a call of a tool.
pub(crate) fn call(server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> Call {
    let mut call = Call::new(Dialect::UseMcpTool, tool, Value::Object(arguments.clone()));
    call.server = server.map(str::to_owned);
    call
}

/// A call of an earlier message with its outcome.
pub(crate) struct Earlier(Call, Outcome);

impl Earlier {
    pub(crate) fn new(call: Call, status: Status) -> Self {
        Earlier(call, Outcome::new(status, ""))
    }
}

/// All that is told after a message.
pub(crate) struct Round<'a>(Replies<'a>);

impl<'a> Round<'a> {
    pub(crate) fn new(items: &[Item<'a>]) -> Self {
        let mut replies = Replies::default();
        for item in items {
            match item {
                Item::Answered(answered) => replies.answered.push(*answered),
                Item::Rejected(rejected) => replies.rejected.push(rejected),
                Item::UnmetChoice => replies.unmet = true,
            }
        }
        Round(replies)
    }

    pub(crate) fn with_request(&self, request: impl Into<Option<&'a str>>) -> Self {
        let mut replies = self.0.clone();
        replies.request = request.into();
        Round(replies)
    }

    pub(crate) fn with_earlier(&self, earlier: &'a [Earlier]) -> Self {
        let mut replies = self.0.clone();
        replies.earlier = earlier.iter().map(|Earlier(call, outcome)| Answered::new("call_0", call, outcome)).collect();
        Round(replies)
    }

    /// A message of the model follows.
    pub(crate) fn followed(&self) -> Self {
        let mut replies = self.0.clone();
        replies.later = 1;
        Round(replies)
    }
}

impl<'a> Deref for Round<'a> {
    type Target = Replies<'a>;

    fn deref(&self) -> &Replies<'a> {
        &self.0
    }
}
