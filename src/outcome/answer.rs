//! The outcome of a call: its status and its text.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::keyword_enum;

/// The status of a finished call: its result, or the reason why it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The tool returned a result.
    Result,
    /// The tool or its server failed; the outcome's text gives the reason.
    ToolError,
    /// The call did not run, because the policy, the user or a rule of the turn refused it; the outcome's text says
    /// which.
    Denied,
    /// The tool did not answer within the time limit.
    TimedOut,
    /// The turn was cancelled before the call was finished.
    Cancelled,
    /// The tool is display-only: the call's arguments were shown to the user, and nothing ran.
    Displayed,
}

keyword_enum!(Status, "a status",
    "result" => Status::Result,
    "tool_error" => Status::ToolError,
    "denied" => Status::Denied,
    "timed_out" => Status::TimedOut,
    "cancelled" => Status::Cancelled,
    "displayed" => Status::Displayed);

/// The outcome of a call. A tool's failure is an outcome as well, not an `Err`. Every call has exactly one outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outcome {
    /// Status of the finished call.
    pub status: Status,
    /// The tool's whole answer as text, or the reason why there is none. Control tokens in it are not escaped yet.
    pub text: String,
    /// Structured result of the tool (`structuredContent` in MCP); `None` if it returned none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Events from the tool for the caller's user interface, in addition to the text. No model sees them, except images
    /// and sound ([`MEDIA_EVENT`](super::MEDIA_EVENT)). They are stored with the outcome, so that a stored conversation
    /// can be shown again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<InterfaceEvent>,
    /// Time from the start of the call to its outcome; milliseconds in the serialized form.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "millis")]
    #[cfg_attr(feature = "typed", schemars(with = "Option<f64>"))]
    pub took: Option<Duration>,
}

/// An event for the caller's user interface that came with an [`Outcome`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InterfaceEvent {
    /// Kind of the event: a name that tool and user interface agree on.
    pub kind: String,
    /// Content of the event, which is untrusted if the tool is untrusted.
    #[serde(default)]
    pub data: Value,
}

impl Outcome {
    /// Creates an outcome with a status and a text.
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Outcome { status, text: text.into(), structured: None, events: Vec::new(), took: None }
    }

    /// Creates the outcome of a tool that answered with this text.
    pub fn result(text: impl Into<String>) -> Self {
        Outcome::new(Status::Result, text)
    }

    /// Creates the outcome of a tool that failed with this text.
    pub fn error(text: impl Into<String>) -> Self {
        Outcome::new(Status::ToolError, text)
    }

    /// Returns the tool's text, or its structured content as JSON if the text is blank.
    pub fn said(&self) -> Cow<'_, str> {
        match &self.structured {
            Some(structured) if self.text.trim().is_empty() => Cow::Owned(structured.to_string()),
            _ => Cow::Borrowed(&self.text),
        }
    }

    /// Sets the structured result.
    #[must_use]
    pub fn with_structured(mut self, structured: impl Into<Value>) -> Self {
        self.structured = Some(structured.into());
        self
    }

    /// Adds an event for the caller's user interface.
    #[must_use]
    pub fn with_event(mut self, kind: impl Into<String>, data: impl Into<Value>) -> Self {
        self.events.push(InterfaceEvent { kind: kind.into(), data: data.into() });
        self
    }

    /// Returns `true` if the status is [`Status::Result`]: the tool answered.
    pub fn is_result(&self) -> bool {
        self.status == Status::Result
    }
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's `with` passes a reference to the field")]
    pub(super) fn serialize<S: Serializer>(took: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        took.map(|t| t.as_secs_f64() * 1000.0).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let millis = Option::<f64>::deserialize(deserializer)?;
        millis.map(|m| Duration::try_from_secs_f64(m / 1000.0).map_err(serde::de::Error::custom)).transpose()
    }
}
