//! The events that a turn reports to its caller: owned and serializable.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::stop::StopReason;
use super::warning::CallerWarning;

use crate::cause::Cause;
use crate::conversation::Conversation;
use crate::event::{Call, DecodeError, Provenance, Region, Rejected, RejectedKind, Repair, decode, decode_arguments};
use crate::message::{FinishReason, Usage};
use crate::model::Progress;
use crate::outcome::Outcome;

/// The events of a turn, in order. The JSON form has the variant under `type`.
///
/// Guarantees: rounds are numbered from 1, and each `RoundStarted` has its `RoundFinished`; `index` counts the calls of
/// a round's message from 0; `id` is unique in the conversation, and every event about a call that has ended has the
/// same one; every `CallRunning`, `ApprovalAsked` and `Display` is followed by an `Outcome` of its `id`; `Finished`
/// comes last. A suspended turn leaves its open question without an outcome, and the turn that continues its
/// conversation asks again, before the first `RoundStarted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A request is sent to the model.
    RoundStarted {
        /// Round of this turn, from 1.
        round: u32,
        /// Name of the requested model; `None` for the client's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Progress before the model's message began. Occurs between `RoundStarted` and the message, any number of times.
    Progress {
        /// The progress.
        progress: Progress,
    },
    /// The turn decided, before the round's message was written, whether it must be a call: by the probability that it
    /// begins with one, or because the model named a tool or said that it needs none
    /// ([`TurnConfig::way`](super::TurnConfig::way)).
    Decided {
        /// `true` if the message must be a call.
        call: bool,
        /// Natural logarithm of the probability that the message begins with a call, if it was measured and is not 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        likely: Option<f64>,
    },
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// Text of the reasoning.
    Reasoning {
        /// The text.
        text: String,
    },
    /// All text and calls of this round so far belong to `to`. Calls that belong to the content are reported again,
    /// each as a `CallEnded` or a `CallRejected` with its index.
    Reclassified {
        /// The region that they belong to.
        to: Region,
    },
    /// The model has begun a call.
    CallStarted {
        /// Index of the call in this message.
        index: u32,
        /// The server, as far as it is known now.
        server: Option<String>,
        /// The tool's name, as written.
        tool: String,
    },
    /// More of the arguments' JSON text, as a preview.
    ArgsDelta {
        /// Index of the call.
        index: u32,
        /// The text.
        text: String,
    },
    /// A call is complete and its arguments are accepted; it has not run.
    CallEnded {
        /// Index of the call.
        index: u32,
        /// The call's id.
        id: String,
        /// The call.
        call: Box<Call>,
    },
    /// A call will not run.
    CallRejected {
        /// Index of the call.
        index: u32,
        /// The call and the reason.
        rejected: Box<Rejected>,
    },
    /// A call of a display-only tool: the user interface shows its arguments now, in addition to the text. Nothing
    /// runs.
    Display(DisplayCall),
    /// A draft in the reasoning is a call and needs approval. So is a call after other text in a message that was
    /// [taken for reasoning](AgentEvent::Reclassified), and a call in the code fence that the message begins with.
    Promoted {
        /// Index of the call.
        index: u32,
        /// The call's id.
        id: String,
        /// The provenance of the call.
        #[serde(default = "promoted")]
        provenance: Provenance,
    },
    /// The model's message has ended.
    RoundFinished {
        /// Round of this turn.
        round: u32,
        /// The reason why the message ended; `None` if the turn cancelled it or it was cut off.
        finish: Option<FinishReason>,
        /// The usage as the endpoint reported it; otherwise, if [`TurnConfig::tokens`](super::TurnConfig::tokens) is
        /// set, an estimate, which is marked as one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model will be told about a mistake in its message.
    Correcting {
        /// The kind of a rejected call; `None` if the message as a whole was wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<RejectedKind>,
        /// The mistake.
        message: String,
    },
    /// A call needs approval.
    ApprovalAsked(ApprovalRequest),
    /// A call starts to run.
    CallRunning {
        /// The call's id.
        id: String,
        /// Server.
        server: Option<String>,
        /// Tool.
        tool: String,
        /// Arguments.
        arguments: Map<String, Value>,
    },
    /// A call has its outcome.
    Outcome {
        /// The call's id.
        id: String,
        /// The outcome.
        outcome: Outcome,
    },
    /// A warning for the caller; the turn continues.
    Notice {
        /// The warning.
        notice: CallerWarning,
    },
    /// The answer matches the requested schema.
    Output {
        /// The value.
        value: Value,
        /// The repairs that were needed to read it.
        repairs: Vec<Repair>,
    },
    /// The turn has ended.
    Finished(Box<Finished>),
}

/// A call of a display-only tool, with arguments that its schema accepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DisplayCall {
    /// The call's id.
    pub id: String,
    /// Index of the call in its message.
    pub index: u32,
    /// Server.
    pub server: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments.
    pub arguments: Map<String, Value>,
}

impl DisplayCall {
    /// Decodes the arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] if the type does not accept what the tool's schema accepts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// A call that needs approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call's id.
    pub id: String,
    /// Server.
    pub server: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments.
    pub arguments: Map<String, Value>,
    /// The reason why it needs approval.
    pub reason: AskReason,
    /// The changes since the tool was approved, with [`AskReason::Changed`]. They quote the server, which is untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl ApprovalRequest {
    /// Creates a request about a call of a tool without a server.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: Map<String, Value>,
        reason: AskReason,
    ) -> Self {
        ApprovalRequest { id: id.into(), server: None, tool: tool.into(), arguments, reason, changes: Vec::new() }
    }

    /// Decodes the arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] if the type does not accept what the tool's schema accepts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// The reason why a call needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskReason {
    /// The tool runs for the first time.
    FirstUse,
    /// The tool was approved, or the policy allowed it, and the server has changed it since.
    Changed,
    /// The policy requires approval each time, or the model itself requests it.
    Policy,
    /// Text of an untrusted server is in the conversation
    /// ([`TurnConfig::untrusted`](crate::turn::TurnConfig::untrusted)) and may have led the model to the call.
    Untrusted,
    /// The call was only drafted in the reasoning.
    Promoted,
    /// The call was in a code fence followed by prose, so it may have been an example.
    FencedFirst,
    /// The call had no marker and followed prose, so it may have been an example in the text.
    AfterProse,
    /// The call had no marker and was followed by prose.
    BeforeProse,
    /// The line before the call or after it puts it in doubt: a question, an example, another's words.
    Hedged,
    /// The call did not begin its line.
    InALine,
    /// The call was alone in a code fence after prose.
    FencedAfterProse,
    /// The call is inside an element with an unknown name.
    InElement,
    /// A value of the call was recovered from text without quotation marks.
    Mended,
    /// The call occurs in a result or a file of the conversation or in what another server says about itself, or its
    /// arguments contain a text of the program to the model.
    Echoed,
    /// The call may change what a rejected call just before it only tried to read.
    InsteadOfRead,
    /// The call may destroy something, and names a path, an identifier or an address that neither the user nor a result
    /// mentioned.
    Ungrounded,
    /// The call may change something, and it equals the call just before it, or begins a cycle of two or three calls
    /// for the third time, after equal results. The policy may allow it.
    Repeated,
    /// The answer should have begun with the model's reasoning, but no think tag came, so it is uncertain whether the
    /// call is only a draft.
    NoReasoningTag,
}

/// The provenance of a promotion in events that do not have one.
fn promoted() -> Provenance {
    Provenance::Promoted
}

impl AskReason {
    /// Returns the reason why a call with this provenance needs approval, whatever the policy allows.
    pub(crate) fn of(provenance: Provenance) -> Self {
        match provenance {
            Provenance::Plain => AskReason::Policy,
            Provenance::FencedFirst => AskReason::FencedFirst,
            Provenance::AfterProse => AskReason::AfterProse,
            Provenance::BeforeProse => AskReason::BeforeProse,
            Provenance::Hedged => AskReason::Hedged,
            Provenance::InALine => AskReason::InALine,
            Provenance::FencedAfterProse => AskReason::FencedAfterProse,
            Provenance::InElement => AskReason::InElement,
            Provenance::Mended => AskReason::Mended,
            Provenance::Echoed => AskReason::Echoed,
            Provenance::InsteadOfRead => AskReason::InsteadOfRead,
            Provenance::Promoted => AskReason::Promoted,
        }
    }

    /// Returns `true` if an approval also applies to later calls of the tool.
    pub(crate) fn grants(self) -> bool {
        matches!(self, AskReason::FirstUse | AskReason::Changed)
    }
}

/// An answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "answer", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Approval {
    /// The call may run.
    Approved,
    /// The call must not run.
    Denied {
        /// The reason that the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl From<bool> for Approval {
    fn from(approved: bool) -> Self {
        if approved { Approval::Approved } else { Approval::Denied { reason: None } }
    }
}

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finished {
    /// The reason why the turn ended.
    pub reason: StopReason,
    /// The text of the model's last message for the user.
    pub answer: String,
    /// The answer's value, if it had to match a schema and does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The repairs that were needed to read `output`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Number of requests.
    pub rounds: u32,
    /// Number of calls that ran.
    pub calls: u32,
    /// Sum over the rounds; an estimate if a part of it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The conversation. Every call in it has an outcome, unless the turn was suspended.
    pub conversation: Conversation,
}

impl Finished {
    /// Creates the result of a turn that ended for this reason without an answer.
    pub fn new(reason: StopReason, conversation: Conversation) -> Self {
        Finished {
            reason,
            answer: String::new(),
            output: None,
            repairs: Vec::new(),
            rounds: 0,
            calls: 0,
            usage: None,
            conversation,
        }
    }

    /// Decodes the output into a type of the program.
    ///
    /// # Errors
    /// [`OutputError`] if there is no output, or if the type does not accept what the schema accepts.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        let value = self
            .output
            .clone()
            .ok_or_else(|| OutputError::Missing { reason: self.reason.clone(), source: self.reason.cause() })?;
        Ok(decode(|| "the contents of the output".to_owned(), &value)?)
    }
}

/// The reason why a turn has no output of the wanted type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The turn gave no output, or no schema was set.
    #[error("the turn gave no output: {reason}")]
    Missing {
        /// The reason why the turn ended.
        reason: StopReason,
        /// The error that ended it, if there was one.
        source: Option<Cause>,
    },
    /// The type does not accept what the schema accepts.
    #[error(transparent)]
    Unfit(#[from] DecodeError),
}
