//! How a call ended, and what it said.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::keyword_enum;

/// How a call ended. Every call has exactly one outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The tool answered.
    Result,
    /// The tool or its server failed; the text says how.
    ToolError,
    /// It did not run: the policy or the user said no, or a rule of the turn did; the text says which.
    Denied,
    /// No answer in time.
    TimedOut,
    /// The turn was cancelled.
    Cancelled,
    /// The call's arguments were shown to the user; nothing ran.
    Displayed,
}

keyword_enum!(Status, "a status",
    "result" => Status::Result,
    "tool_error" => Status::ToolError,
    "denied" => Status::Denied,
    "timed_out" => Status::TimedOut,
    "cancelled" => Status::Cancelled,
    "displayed" => Status::Displayed);

/// What became of a call. A tool's failure is an outcome, not an `Err`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Everything the tool said, as text, whole and not neutralised.
    pub text: String,
    /// MCP's `structuredContent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What the tool tells the caller's interface beside the text. No model sees
    /// it, but for images and sound ([`MEDIA_EVENT`](super::MEDIA_EVENT)); it is kept with the outcome, so that a stored conversation can be shown again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<InterfaceEvent>,
    /// Time from the call's start to here, in the serialised form in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "millis")]
    #[cfg_attr(feature = "typed", schemars(with = "Option<f64>"))]
    pub took: Option<Duration>,
}

/// Something for the caller's interface that came with an [`Outcome`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InterfaceEvent {
    /// What it is, in the words of tool and interface.
    pub kind: String,
    /// Its content. Untrusted where the tool is.
    #[serde(default)]
    pub data: Value,
}

impl Outcome {
    /// An outcome with a status and a text.
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Outcome { status, text: text.into(), structured: None, events: Vec::new(), took: None }
    }

    /// The tool answered with this text.
    pub fn result(text: impl Into<String>) -> Self {
        Outcome::new(Status::Result, text)
    }

    /// The tool failed and said so.
    pub fn error(text: impl Into<String>) -> Self {
        Outcome::new(Status::ToolError, text)
    }

    /// What the tool said; its structured content where it said nothing else.
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

    /// Adds something for the caller's interface.
    #[must_use]
    pub fn with_event(mut self, kind: impl Into<String>, data: impl Into<Value>) -> Self {
        self.events.push(InterfaceEvent { kind: kind.into(), data: data.into() });
        self
    }

    /// Whether the tool answered.
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
