//! What goes to a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::constrain::Constraint;
use crate::message::Message;
use crate::outcome::Outcome;
use crate::tools::ToolChoice;
use crate::wire::ToolDefinition;

/// What goes to a model.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Request {
    /// The whole conversation, oldest message first.
    pub messages: Vec<Message>,
    /// Model that is to answer, as the endpoint names it; `None` for the client's own.
    pub model: Option<String>,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Most tokens of the answer, reasoning included; `None` leaves it to the endpoint.
    pub max_tokens: Option<u32>,
    /// Strings that end the answer where it writes them; the endpoint leaves them out. Whoever
    /// parses the answer declares them ([`parse::Config::stop`](crate::parse::Config::stop)).
    pub stop: Vec<String>,
    /// Tools for an endpoint that takes them; empty where the prompt describes
    /// them. Then no message holds calls either.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call; for requests with `tools`.
    /// A named tool goes by its name on the wire.
    pub tool_choice: ToolChoice,
    /// Whether the same is asked by prompt where the answer fails at the tools: then an endpoint whose
    /// own parser fails is not asked for them once more.
    pub by_prompt: bool,
    /// What the structure of the answer has to be, if it is held to one; for models that
    /// [look at it](crate::Model::constrains).
    pub constraint: Option<Arc<Constraint>>,
    /// Whether the answer is to tell what else could have stood in the place of each of its
    /// tokens ([`ModelEvent::Tokens`](crate::model::ModelEvent::Tokens)), where the endpoint does.
    pub alternatives: bool,
    /// Further headers, for a model that sends any. Their values are shown in no message
    /// and stand in no recording.
    pub headers: Vec<(String, String)>,
    /// Calls since the person last spoke and what became of them, in order. The
    /// messages tell them to the model in words; this is for models that are
    /// programs, such as [`Recorded`](super::Recorded).
    pub results: Vec<CallResult>,
}

impl Request {
    /// A request with these messages and no parameters.
    pub fn new(messages: Vec<Message>) -> Self {
        Request { messages, ..Request::default() }
    }

    /// Whether images or sound go with any of its messages.
    pub(crate) fn has_images(&self) -> bool {
        self.messages.iter().any(|message| !message.images.is_empty() || !message.audio.is_empty())
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// A call and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallResult {
    /// Identifier, unique in the conversation.
    pub id: String,
    /// Server.
    pub server: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments.
    pub arguments: Value,
    /// What became of the call.
    pub outcome: Outcome,
}
