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

/// An event of a turn. In JSON, the member `type` is the event's name.
///
/// Guarantees: rounds are numbered from 1, and each `RoundStarted` has its `RoundFinished`; `index` counts the calls of
/// a round's message from 0; `id` is unique in the conversation, and every event about a call that has ended has the
/// same one; every `CallRunning`, `ApprovalAsked` and `Display` is followed by an `Outcome` of its `id`; `Finished`
/// comes last. A suspended turn leaves an unanswered `ApprovalAsked` without an outcome; the turn that continues its
/// conversation asks again, before its first `RoundStarted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A request is sent to the model.
    RoundStarted {
        /// Number of the round in this turn, from 1.
        round: u32,
        /// Name of the requested model; `None` for the default model of the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The server is still loading the model, or the model reads the prompt. Occurs any number of times between
    /// `RoundStarted` and the model's message.
    Progress {
        /// Progress of loading the model or of reading the prompt.
        progress: Progress,
    },
    /// The turn decided, before the model wrote the round's message, whether the message must be a call: by the
    /// probability that it begins with one, or because the model named a tool or answered that it needs none
    /// ([`TurnConfig::way`](super::TurnConfig::way)).
    Decided {
        /// `true` if the model's message in this round must be a call.
        call: bool,
        /// Natural logarithm of the probability that the message begins with a call; `None` if the probability is 0 or
        /// was not measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        likely: Option<f64>,
    },
    /// A piece of the answer's text, which the user sees.
    Text {
        /// Next piece of the answer's text.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// Next piece of the reasoning's text.
        text: String,
    },
    /// All text and calls of this round so far belong to another region of the message. If that is the answer, the
    /// calls are reported again, each as a `CallEnded` or a `CallRejected` with its index.
    Reclassified {
        /// Region that the text and calls of this round so far belong to.
        to: Region,
    },
    /// The model has begun a call, and the tool's name is known.
    CallStarted {
        /// Index of the call in the model's message, from 0.
        index: u32,
        /// Name of the tool's server, if it is known already.
        server: Option<String>,
        /// Name of the tool, as the model wrote it.
        tool: String,
    },
    /// A further piece of a call's arguments as JSON text, as a preview.
    ArgsDelta {
        /// Index of the call in the model's message, from 0.
        index: u32,
        /// Next piece of the arguments' JSON text.
        text: String,
    },
    /// A call is complete, and the tool's schema accepts its arguments. The call has not run yet.
    CallEnded {
        /// Index of the call in the model's message, from 0.
        index: u32,
        /// Id of the call, unique in the conversation.
        id: String,
        /// The complete call.
        call: Box<Call>,
    },
    /// A call of the model was rejected and will not run.
    CallRejected {
        /// Index of the call in the model's message, from 0.
        index: u32,
        /// The rejected call with the reason.
        rejected: Box<Rejected>,
    },
    /// A call of a display-only tool: the user interface shows the call's arguments now, in addition to the text.
    /// Nothing runs.
    Display(DisplayCall),
    /// A call that was reported as a draft or an example is a call after all, and needs approval: a draft in the
    /// reasoning, a call after other text in a message that was [taken for reasoning](AgentEvent::Reclassified), or a
    /// call in the code fence that the message begins with.
    Promoted {
        /// Index of the call in the model's message, from 0.
        index: u32,
        /// Id of the call, unique in the conversation.
        id: String,
        /// Provenance of the call.
        #[serde(default = "promoted")]
        provenance: Provenance,
    },
    /// The model's message has ended.
    RoundFinished {
        /// Number of the round in this turn, from 1.
        round: u32,
        /// Reason why the message ended, as the endpoint reported it; `None` if the turn cancelled the message or it
        /// was cut off.
        finish: Option<FinishReason>,
        /// Token usage of the round as the endpoint reported it; otherwise, if
        /// [`TurnConfig::tokens`](super::TurnConfig::tokens) is set, an estimate, which is marked as one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model's message contains a mistake, and the next request tells the model about it.
    Correcting {
        /// Kind of the rejected call that is corrected; `None` if the mistake concerns the message as a whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<RejectedKind>,
        /// Description of the mistake.
        message: String,
    },
    /// A call needs approval, and the turn asks the caller for it.
    ApprovalAsked(ApprovalRequest),
    /// A call starts to run: its tool is called.
    CallRunning {
        /// Id of the call, unique in the conversation.
        id: String,
        /// Name of the tool's server; `None` if the tool has none.
        server: Option<String>,
        /// Name of the called tool.
        tool: String,
        /// Arguments of the call, after validation.
        arguments: Map<String, Value>,
    },
    /// A call is finished: its outcome is known.
    Outcome {
        /// Id of the call, unique in the conversation.
        id: String,
        /// Outcome of the call.
        outcome: Outcome,
    },
    /// A warning for the caller; the turn continues.
    Notice {
        /// The warning, with its kind and details.
        notice: CallerWarning,
    },
    /// The model's answer is JSON that matches the requested schema.
    Output {
        /// The answer as a JSON value.
        value: Value,
        /// Repairs that were needed to read the answer as JSON.
        repairs: Vec<Repair>,
    },
    /// The turn has ended. This is its last event.
    Finished(Box<Finished>),
}

/// A call of a display-only tool, with arguments that its schema accepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DisplayCall {
    /// Id of the call, unique in the conversation.
    pub id: String,
    /// Index of the call in the model's message, from 0.
    pub index: u32,
    /// Name of the tool's server; `None` if the tool has none.
    pub server: Option<String>,
    /// Name of the called tool.
    pub tool: String,
    /// Arguments of the call, after validation.
    pub arguments: Map<String, Value>,
}

impl DisplayCall {
    /// Decodes the call's arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] if the type does not accept what the tool's schema accepts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// A call that needs approval before it runs, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Id of the call, unique in the conversation.
    pub id: String,
    /// Name of the tool's server; `None` if the tool has none.
    pub server: Option<String>,
    /// Name of the called tool.
    pub tool: String,
    /// Arguments of the call, after validation.
    pub arguments: Map<String, Value>,
    /// Reason why the call needs approval.
    pub reason: AskReason,
    /// Changes of the tool's definition since it was approved; empty unless the reason is [`AskReason::Changed`]. They
    /// quote text of the server, which is untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl ApprovalRequest {
    /// Creates a request for approval of a call of a tool without a server.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: Map<String, Value>,
        reason: AskReason,
    ) -> Self {
        ApprovalRequest { id: id.into(), server: None, tool: tool.into(), arguments, reason, changes: Vec::new() }
    }

    /// Decodes the call's arguments into a type of the program.
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
    /// The policy requires approval of a tool's first use, and the tool was not approved yet.
    FirstUse,
    /// The server has changed the tool's definition since the tool was approved or the policy allowed it.
    Changed,
    /// The policy requires approval of each such call, or the model requests approval in the call's arguments.
    Policy,
    /// Text of an untrusted server ([`TurnConfig::untrusted`](crate::turn::TurnConfig::untrusted)) is in the
    /// conversation or the prompt, and may have led the model to the call.
    Untrusted,
    /// The call was only a draft in the reasoning, or in text that may be reasoning.
    Promoted,
    /// The call was in the code fence that the message begins with, followed by prose, so it may be an example.
    FencedFirst,
    /// The call had no delimiter and followed prose, so it may be an example in the text.
    AfterProse,
    /// The call had no delimiter and was followed by prose, so it may be an example in the text.
    BeforeProse,
    /// The line before or after the call makes it doubtful that the call was meant, for example because that line asks
    /// a question or introduces an example.
    Hedged,
    /// The call did not begin its line: other text precedes it there, so it may be an example in the text.
    InALine,
    /// The call was alone in a code fence after prose, so it may be an example.
    FencedAfterProse,
    /// The call is inside an element with an unknown name, a file edit or a block of YAML, so it may be part of a
    /// file's content or of a plan.
    InElement,
    /// A value of the call was recovered from text without quotation marks.
    Mended,
    /// The call may be a copy: it occurs in a result or a file of the conversation or in another server's descriptions,
    /// or its arguments contain a text that the program wrote for the model.
    Echoed,
    /// The call may change something that a rejected call just before it only tried to read.
    InsteadOfRead,
    /// The call may destroy something, and names a path, an identifier or an address that neither the user nor a result
    /// mentioned.
    Ungrounded,
    /// The call may change something, and it equals the call just before it, or begins a cycle of two or three calls
    /// for the third time, after equal results. The reason applies even if the policy allows the tool.
    Repeated,
    /// The model's message should have begun with reasoning, but it has no think tag, so the call may be only a draft.
    NoReasoningTag,
}

/// Returns the provenance for a stored `Promoted` event without the member `provenance`.
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

    /// Returns `true` if an approval that was asked for this reason also applies to later calls of the tool.
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
        /// Reason for the denial, which is sent to the model; `None` for none.
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
    /// Reason why the turn ended.
    pub reason: StopReason,
    /// Text of the model's last message for the user; may be empty.
    pub answer: String,
    /// The answer as a JSON value, if a schema was requested and the answer matches it; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Repairs that were needed to read `output` as JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Number of rounds of the turn, each a request to the model and its message.
    pub rounds: u32,
    /// Number of tool calls that ran in the turn.
    pub calls: u32,
    /// Token usage, summed over the rounds of the turn; marked as an estimate if a part of it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The conversation, with the messages of this turn. Every call in it has an outcome, unless the turn was
    /// suspended.
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

    /// Decodes the structured output of the turn into a type of the program.
    ///
    /// # Errors
    /// [`OutputError`] if the turn has no output, or if the type does not accept what the schema accepts.
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
        /// Error that ended the turn, if an error did.
        source: Option<Cause>,
    },
    /// The type of the program does not accept an output that the schema accepts.
    #[error(transparent)]
    Unfit(#[from] DecodeError),
}
