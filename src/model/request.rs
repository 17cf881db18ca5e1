//! A request to a model.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::constrain::Constraint;
use crate::message::Message;
use crate::tools::ToolChoice;
use crate::wire::ToolDefinition;

/// A request to a model, independent of its API.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Request {
    /// The whole conversation, oldest message first.
    pub messages: Vec<Message>,
    /// Name of the model that answers, as the endpoint spells it; `None` for the client's own model.
    pub model: Option<String>,
    /// Sampling temperature; `None` for the endpoint's default.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the answer, reasoning included; `None` for the endpoint's default.
    pub max_tokens: Option<u32>,
    /// Strings that end the answer; the endpoint removes them from it. A parser of the answer must know them
    /// ([`parse::Config::stop`](crate::parse::Config::stop)).
    pub stop: Vec<String>,
    /// Native tools; empty if the prompt describes the tools, in which case no message has native calls either.
    pub tools: Vec<ToolDefinition>,
    /// The rule for calling one of the `tools`. A tool that it names has the name that it has in requests
    /// ([`wire_name`](crate::wire::wire_name)).
    pub tool_choice: ToolChoice,
    /// `true` if the caller will send the same request with the tools in the prompt when this one fails because of
    /// them. An endpoint whose own parser fails is then not tried a second time.
    pub by_prompt: bool,
    /// The constraint on the answer; for models that [support it](crate::Model::constrains).
    pub constraint: Option<Arc<Constraint>>,
    /// `true` if the answer should report the alternatives to each of its tokens
    /// ([`ModelEvent::Tokens`](crate::model::ModelEvent::Tokens)), where the endpoint provides them.
    pub alternatives: bool,
    /// Extra HTTP headers, for a model that is reached over HTTP. Their values appear in no error message and no
    /// recording.
    pub headers: Vec<(String, String)>,
}

impl Request {
    /// Creates a request with these messages and no parameters.
    pub fn new(messages: Vec<Message>) -> Self {
        Request { messages, ..Request::default() }
    }

    /// Returns `true` if any message has images or audio.
    pub(crate) fn has_images(&self) -> bool {
        self.messages.iter().any(|message| !message.images.is_empty() || !message.audio.is_empty())
    }

    /// Returns the answer if the constraint allows only this one, else `None`.
    pub fn only_answer(&self) -> Option<&str> {
        self.constraint.as_ref()?.only.as_deref()
    }

    /// Adds an HTTP header to the request.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// Adds the tools and the tool choice to the body of a chat request.
///
/// If the choice names a tool, only that tool is sent, with the choice `required`: LM Studio and llama.cpp accept a
/// keyword for the choice and refuse the object that names a tool.
pub fn insert_tools(body: &mut Map<String, Value>, tools: &[ToolDefinition], choice: &ToolChoice) {
    let named = |tool: &&ToolDefinition| match choice {
        ToolChoice::Named(name) => tool.name == *name,
        _ => true,
    };
    let tools: Vec<Value> = tools.iter().filter(named).map(ToolDefinition::function).collect();
    if tools.is_empty() {
        return;
    }
    body.insert("tools".to_owned(), tools.into());
    let choice = match choice {
        // This is the default of endpoints, and some refuse any choice.
        ToolChoice::Auto => return,
        ToolChoice::None => "none",
        ToolChoice::Required | ToolChoice::Named(_) => "required",
    };
    body.insert("tool_choice".to_owned(), choice.into());
}
