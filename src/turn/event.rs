//! What a turn tells its caller: owned, serialisable events.

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

/// What happens in a turn, in order. Its JSON form has the variant under `type`.
///
/// Guarantees: rounds are numbered from 1 and each `RoundStarted` has its
/// `RoundFinished`; `index` counts the calls of a round's message from 0, `id`
/// is unique in the conversation, and a call that has ended has the same in every event about it; every `CallRunning`, `ApprovalAsked` and
/// `Display` is followed by an `Outcome` of its `id`; `Finished` comes last. A
/// turn that was suspended leaves its open question without an outcome, and the
/// turn that goes on with its conversation asks again, before the first `RoundStarted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A request goes to the model.
    RoundStarted {
        /// Round of this turn, from 1.
        round: u32,
        /// Model that was asked for by name; `None` for the client's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Something happened before the model's message began. Comes between
    /// `RoundStarted` and the message, any number of times.
    Progress {
        /// What.
        progress: Progress,
    },
    /// Whether the round's message is to be a call is decided before it is written: by how likely
    /// it begins with one, or since the model named a tool, or that it wants none
    /// ([`TurnConfig::way`](super::TurnConfig::way)).
    Decided {
        /// Whether it is to be a call.
        call: bool,
        /// Natural logarithm of the probability that the message begins with a call, where it was
        /// measured and is not 0.
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
    /// All text and calls of this round so far belong to `to` after all. Calls that
    /// belong to the content are told again, each as a `CallEnded` or a `CallRejected`
    /// of its index.
    Reclassified {
        /// Where they belong.
        to: Region,
    },
    /// The model begins a call.
    CallStarted {
        /// Which call of this message.
        index: u32,
        /// Server, as far as it is known here.
        server: Option<String>,
        /// Tool, as written.
        tool: String,
    },
    /// More of the arguments' JSON text, as a preview.
    ArgsDelta {
        /// Which call.
        index: u32,
        /// The text.
        text: String,
    },
    /// A call is complete and its arguments are accepted; it has not run.
    CallEnded {
        /// Which call.
        index: u32,
        /// The call's id.
        id: String,
        /// The call.
        call: Box<Call>,
    },
    /// A call will not run.
    CallRejected {
        /// Which call.
        index: u32,
        /// The call and the reason.
        rejected: Box<Rejected>,
    },
    /// A call of a display-only tool: the interface shows its arguments now,
    /// beside the text. Nothing runs.
    Display(DisplayCall),
    /// A draft of the reasoning is a call after all; it needs approval. So does one behind
    /// other text in what was [taken for reasoning](AgentEvent::Reclassified), and one in the
    /// fence that the message begins with.
    Promoted {
        /// Which call.
        index: u32,
        /// The call's id.
        id: String,
        /// How it was found.
        #[serde(default = "promoted")]
        provenance: Provenance,
    },
    /// The model's message is over.
    RoundFinished {
        /// Round of this turn.
        round: u32,
        /// How the message ended; `None` where the turn cancelled it or it broke off.
        finish: Option<FinishReason>,
        /// What it cost, as the endpoint says; by our own count, marked as an
        /// estimate, where it does not and [`TurnConfig::tokens`](super::TurnConfig::tokens) is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model will be told what was wrong with its message.
    Correcting {
        /// What a call was rejected for; `None` where the message as a whole was wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<RejectedKind>,
        /// What was wrong.
        message: String,
    },
    /// Somebody must say whether a call may run.
    ApprovalAsked(ApprovalRequest),
    /// A call runs now.
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
    /// A call is over.
    Outcome {
        /// The call's id.
        id: String,
        /// What became of it.
        outcome: Outcome,
    },
    /// Something that the caller should know although the turn goes on as before.
    Notice {
        /// What.
        notice: CallerWarning,
    },
    /// The answer matches the schema that was asked for.
    Output {
        /// The value.
        value: Value,
        /// What was taken off, mended or coerced to read it.
        repairs: Vec<Repair>,
    },
    /// The turn is over.
    Finished(Box<Finished>),
}

/// A call of a display-only tool, with arguments that its schema accepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DisplayCall {
    /// The call's id.
    pub id: String,
    /// Which call of its message.
    pub index: u32,
    /// Server.
    pub server: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments.
    pub arguments: Map<String, Value>,
}

impl DisplayCall {
    /// The arguments as a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] where the type does not fit what the tool's schema accepts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// A call that somebody must approve.
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
    /// Why it is asked.
    pub reason: AskReason,
    /// What is different since the tool was approved, with [`AskReason::Changed`].
    /// Quotes the server, which is not to be trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

impl ApprovalRequest {
    /// A question about a call of a tool without a server.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: Map<String, Value>,
        reason: AskReason,
    ) -> Self {
        ApprovalRequest { id: id.into(), server: None, tool: tool.into(), arguments, reason, changes: Vec::new() }
    }

    /// The arguments as a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] where the type does not fit what the tool's schema accepts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// Why a call is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskReason {
    /// The tool runs for the first time.
    FirstUse,
    /// The tool was approved, or the policy allowed it, and the server has changed it since.
    Changed,
    /// The policy asks each time, or the model itself wants the call approved.
    Policy,
    /// Words of a server were read before that may be anybody's
    /// ([`TurnConfig::untrusted`](crate::turn::TurnConfig::untrusted)): they may be what leads
    /// the model.
    Untrusted,
    /// The call was only drafted in the reasoning.
    Promoted,
    /// It stood in a code fence with prose behind it, which may have been an example.
    FencedFirst,
    /// No marker announced it and prose stood before it: it may be a spoken example.
    BehindProse,
    /// No marker announced it and prose came behind it.
    BeforeProse,
    /// It did not begin its line.
    InALine,
    /// It stood alone in a code fence behind prose.
    FencedBehindProse,
    /// It is inside an element of an unknown name.
    InElement,
    /// A value of it was chosen from text without quotes.
    Mended,
    /// It stands in a result or a file of the conversation, or its arguments hold a text of the
    /// program to the model.
    Echoed,
    /// It may change what a rejected call, just before, only wanted to read.
    InsteadOfRead,
    /// It may destroy something, and names a path, an id or an address that neither the person nor a
    /// result spoke of.
    Ungrounded,
    /// It may change something, and an equal call came just before it, or it begins a cycle of two
    /// or three calls for the third time, whose results were the same. The policy may allow it.
    Repeated,
    /// The answer should have begun with the model's reasoning and no reasoning tag came,
    /// so nothing says whether the call is meant or only drafted.
    NoReasoningTag,
}

/// What a promotion is where nothing else is said.
fn promoted() -> Provenance {
    Provenance::Promoted
}

impl AskReason {
    /// Why a call that was found so is asked about, whatever the policy allows.
    pub(crate) fn of(provenance: Provenance) -> Self {
        match provenance {
            Provenance::Plain => AskReason::Policy,
            Provenance::FencedFirst => AskReason::FencedFirst,
            Provenance::BehindProse => AskReason::BehindProse,
            Provenance::BeforeProse => AskReason::BeforeProse,
            Provenance::InALine => AskReason::InALine,
            Provenance::FencedBehindProse => AskReason::FencedBehindProse,
            Provenance::InElement => AskReason::InElement,
            Provenance::Mended => AskReason::Mended,
            Provenance::Echoed => AskReason::Echoed,
            Provenance::InsteadOfRead => AskReason::InsteadOfRead,
            Provenance::Promoted => AskReason::Promoted,
        }
    }

    /// Whether a yes holds for later calls of the tool too.
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
    /// It may not.
    Denied {
        /// What the model is told about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl From<bool> for Approval {
    fn from(approved: bool) -> Self {
        if approved { Approval::Approved } else { Approval::Denied { reason: None } }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finished {
    /// Why it ended.
    pub reason: StopReason,
    /// What the model's last message says to the user.
    pub answer: String,
    /// The answer's value, where it had to match a schema and does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// What was taken off, mended or coerced to read `output`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Requests that were sent.
    pub rounds: u32,
    /// Calls that ran.
    pub calls: u32,
    /// Sum over the rounds; an estimate if a part of it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The conversation, in which every call is answered; unless the turn was suspended.
    pub conversation: Conversation,
}

impl Finished {
    /// A turn that ended so, without an answer, with the conversation as it is now.
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

    /// The output as a type of the program.
    ///
    /// # Errors
    /// [`OutputError`] where there is none, or the type does not fit what the schema accepts.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        let value = self
            .output
            .clone()
            .ok_or_else(|| OutputError::Missing { reason: self.reason.clone(), source: self.reason.cause() })?;
        Ok(decode(|| "the contents of the output".to_owned(), &value)?)
    }
}

/// Why a turn has no output of the wanted type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The turn gave none, or no schema was asked for.
    #[error("the turn gave no output: {reason}")]
    Missing {
        /// How the turn ended.
        reason: StopReason,
        /// The error that ended it, where one did.
        source: Option<Cause>,
    },
    /// The schema accepts what the type does not.
    #[error(transparent)]
    Unfit(#[from] DecodeError),
}
