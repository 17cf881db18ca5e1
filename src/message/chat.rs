//! Messages of a request, and the calls in them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::audio::Audio;
use super::image::{self, Image};
use super::{keyword_enum, setters};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The program, for instructions.
    System,
    /// The user; also the results of tools, if the request carries no tools.
    User,
    /// The model.
    Assistant,
    /// A tool: the result of a native call. Only in requests that carry tools.
    Tool,
}

keyword_enum!(Role, "a role",
    "system" => Role::System, "user" => Role::User, "assistant" => Role::Assistant, "tool" => Role::Tool);

/// One message of a request.
///
/// A model without tool calling sees plain text, and `calls`, `call_id` and
/// `reasoning` are empty. In a request that carries tools the model's messages
/// hold their calls, and a message of the role `tool` answers each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The text of the message.
    pub content: String,
    /// Images that go with the text, for a model that reads images; in a user message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Audio that goes with the text, for a model that reads audio; in a user message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audio: Vec<Audio>,
    /// Calls that an assistant message makes, each with an id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<NativeCall>,
    /// Identifier of the call whose result a tool message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The model's reasoning before its calls, for endpoints that require it in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl Message {
    /// Creates a message of plain text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        let (images, audio, calls) = (Vec::new(), Vec::new(), Vec::new());
        Message { role, content: content.into(), images, audio, calls, call_id: None, reasoning: None }
    }

    /// Creates a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// Creates a user message.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// Creates a tool message, which is the result of the call `id`.
    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Message { call_id: Some(id.into()), ..Message::new(Role::Tool, content) }
    }

    /// Adds an image to a user message.
    #[must_use]
    pub fn with_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Returns the message as text for display: its text, then a line for each image.
    pub fn shown(&self) -> Cow<'_, str> {
        image::shown(&self.content, &self.images)
    }
}

/// A call that the endpoint reported in a field of its own (`tool_calls`, `tool_use`) instead of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
pub struct NativeCall {
    /// Identifier that the endpoint gave the call; `None` if it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the called tool, as the endpoint reported it.
    pub name: String,
    /// JSON text of the call's arguments, which may be invalid.
    pub arguments: String,
}

impl NativeCall {
    /// Creates a call as an endpoint reported it, without an identifier. Its `arguments` need not be valid JSON.
    pub fn reported(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        NativeCall { id: None, name: name.into(), arguments: arguments.into() }
    }
}

setters!(Message; with_calls => calls: Vec<NativeCall>);
setters!(NativeCall, with_id => id: Option<String>);
