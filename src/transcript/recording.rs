//! A recording in memory.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::DialectSet;
use crate::event::{Call, Rejected};
use crate::message::{
    Delta, DeltaKind, FinishReason, Message, NativeCall, ReasoningCalls, ReasoningMode, Usage, setters,
};
use crate::outcome::Outcome;
use crate::tools::{Catalog, Server};

/// Version of the recording format.
pub const VERSION: u64 = 1;

/// A recorded session with a model, in memory.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Recording {
    /// The setup of the session, such as its model and dialects.
    pub session: Session,
    /// Requests and their answers, in order.
    pub rounds: Vec<Round>,
    /// The line at which the recording was cut off; `None` for a complete one.
    pub cut: Option<CutPlace>,
    /// Notes about content that was skipped or replaced while the recording was read.
    pub notes: Vec<Note>,
}

impl Recording {
    /// Returns the last round of the recording; creates one if there is none.
    pub(super) fn last_round(&mut self) -> &mut Round {
        if self.rounds.is_empty() {
            self.rounds.push(Round::default());
        }
        let last = self.rounds.len() - 1;
        &mut self.rounds[last]
    }
}

/// The setup of a recorded session. `None` means that a field was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Session {
    /// A title of the session for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the model's profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Dialects that were parsed, in the form of the command line: `auto` or names joined by commas; empty if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectSet>,
    /// The rule that found the start of the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningMode>,
    /// The treatment of calls in the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_calls: Option<ReasoningCalls>,
}

setters!(
    Session,
    with_title => title: Option<String>, with_model => model: Option<String>,
    with_profile => profile: Option<String>, with_dialect => dialect: Option<DialectSet>,
    with_reasoning => reasoning: Option<ReasoningMode>,
    with_reasoning_calls => reasoning_calls: Option<ReasoningCalls>
);

/// One recorded request and its answer.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Round {
    /// The parameters of the request; `None` if they were not recorded.
    pub sent: Option<Sent>,
    /// The tools that are offered from this round on; `None` if they are those of the previous round.
    pub tools: Option<Vec<Server>>,
    /// Messages of the request that were not part of the previous request.
    pub messages: Vec<Message>,
    /// The text of the answer, in the pieces in which it was streamed.
    pub deltas: Vec<TimedDelta>,
    /// Native calls of the answer.
    pub native_calls: Vec<NativeCall>,
    /// The token usage that the endpoint reported.
    pub usage: Option<Usage>,
    /// The end of the answer; `None` if it was not recorded.
    pub finish: Option<Finish>,
    /// The calls and rejected calls that a parser found in the answer, in order.
    pub calls: Vec<RecordedCall>,
    /// The outcomes of the answer's calls.
    pub outcomes: Vec<RecordedOutcome>,
    /// Messages to the user besides the answer, or to the model besides the outcomes of calls.
    pub notices: Vec<RecordedNotice>,
}

setters!(
    Round,
    with_messages => messages: Vec<Message>, with_deltas => deltas: Vec<TimedDelta>,
    with_finish => finish: Option<Finish>
);

/// The parameters of a recorded request. A field that is `None` was not recorded, or not set in the request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sent {
    /// Time of the request in milliseconds since the recording began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// Name of the model, if it is not the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of messages of the previous request with which this one begins; `None` if it begins with all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Number of messages of the previous request that were removed after the first `kept` ones; those after them
    /// remain. `None` if all of them were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Stop strings, which end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// `true` if the request carried native tools, `false` if the prompt described them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
}

/// A piece of a recorded answer, with the time of its arrival.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimedDelta {
    /// The field of the stream that the piece is from.
    pub kind: DeltaKind,
    /// The text of the piece.
    pub text: String,
    /// Milliseconds from the request to the arrival of the piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

impl TimedDelta {
    /// Creates a piece of an answer without a recorded time.
    pub fn new(kind: DeltaKind, text: impl Into<String>) -> Self {
        TimedDelta { kind, text: text.into(), ms: None }
    }
}

setters!(TimedDelta, with_ms => ms: Option<u64>);

/// The end of a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finish {
    /// The reason of the end, in the endpoint's word.
    pub reason: FinishReason,
    /// Milliseconds from the request to the end of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

impl Finish {
    /// Creates an end of an answer without a recorded time.
    pub fn new(reason: FinishReason) -> Self {
        Finish { reason, ms: None }
    }
}

setters!(Finish, with_ms => ms: Option<u64>);

/// A call that a parser found in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedCall {
    /// Identifier of the call in the conversation, `None` if the call has no outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Index of the call in the answer, from 0.
    pub index: u32,
    /// The call, or its rejection.
    #[serde(flatten, with = "CallOrRejected")]
    pub result: Result<Call, Rejected>,
}

/// Serialised form of the result of a [`RecordedCall`]: a member `call` or `rejected`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Result<Call, Rejected>")]
enum CallOrRejected {
    #[serde(rename = "call")]
    Ok(Call),
    #[serde(rename = "rejected")]
    Err(Rejected),
}

impl RecordedCall {
    /// Creates a recorded call without an identifier; `index` is its index in the answer, from 0.
    pub fn new(index: u32, result: Result<Call, Rejected>) -> Self {
        RecordedCall { index, id: None, result }
    }
}

setters!(RecordedCall, with_id => id: Option<String>);

/// The recorded outcome of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedOutcome {
    /// Identifier of the call.
    pub id: String,
    /// The outcome of the call.
    pub outcome: Outcome,
    /// Time of the outcome in milliseconds since the recording began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl RecordedOutcome {
    /// Creates the outcome of the call with this identifier.
    pub fn new(id: impl Into<String>, outcome: Outcome) -> Self {
        RecordedOutcome { id: id.into(), outcome, at: None }
    }
}

/// A recorded message besides the answer and the outcomes: to the user, or to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedNotice {
    /// The kind of the message, a word such as `correction`, `error` or `stopped`.
    pub kind: String,
    /// The text of the message.
    pub text: String,
    /// Time of the message in milliseconds since the recording began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl RecordedNotice {
    /// Creates a recorded message of this kind, without a time.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        RecordedNotice { kind: kind.into(), text: text.into(), at: None }
    }
}

/// The line at which a recording was cut off, and the part that is missing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutPlace {
    /// Number of the line, from 1: the incomplete line, or the last one.
    pub line: usize,
    /// The part of the recording that is missing there.
    pub reason: CutReason,
}

/// The part that is missing at the end of a recording that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutReason {
    /// The last line of the recording is incomplete.
    IncompleteLine,
    /// The last answer has no `finish` line.
    NoFinish,
    /// No answer follows the last message, or there is no round at all.
    NoAnswer,
}

/// A note about content that was skipped or replaced while a recording was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Number of the line, from 1; 0 if the note is about the whole recording.
    pub line: usize,
    /// Description of the content and of what was done with it.
    pub text: String,
}

impl Recording {
    /// Returns the tools that are offered in a round; `None` if none were recorded. Rounds count from 0.
    pub fn catalog(&self, round: usize) -> Option<Catalog> {
        let until = self.rounds.len().min(round.saturating_add(1));
        let tools = self.rounds[..until].iter().rev().find_map(|r| r.tools.as_ref())?;
        Some(Catalog::new(tools.iter().cloned()))
    }

    /// Returns the messages of a round's request: those of earlier rounds that remained, then the round's own. Rounds
    /// count from 0.
    pub fn request(&self, round: usize) -> Vec<&Message> {
        let mut messages: Vec<&Message> = Vec::new();
        for round in self.rounds.iter().take(round.saturating_add(1)) {
            if let Some(kept) = round.sent.as_ref().and_then(|sent| sent.kept) {
                let kept = kept.min(messages.len());
                let dropped = round.sent.as_ref().and_then(|sent| sent.dropped).unwrap_or(usize::MAX);
                messages.drain(kept..kept.saturating_add(dropped).min(messages.len()));
            }
            messages.extend(&round.messages);
        }
        messages
    }

    /// Returns a round for display, by its index from 0. A message that was in the previous request too, with only its
    /// end removed (such as a temporary reminder), is omitted.
    pub fn shown(&self, round: usize) -> Cow<'_, Round> {
        let own = &self.rounds[round];
        let kept = own.sent.as_ref().filter(|sent| sent.dropped.is_none()).and_then(|sent| sent.kept);
        let (Some(kept), Some(before), Some(first)) = (kept, round.checked_sub(1), own.messages.first()) else {
            return Cow::Borrowed(own);
        };
        let before = self.request(before);
        let is_shortened = |old: &&Message| old.role == first.role && old.content.starts_with(&first.content);
        match before.get(kept..) {
            Some([old]) if is_shortened(old) => {
                let mut shown = own.clone();
                shown.messages.remove(0);
                if let Some(sent) = &mut shown.sent {
                    sent.kept = None;
                }
                Cow::Owned(shown)
            }
            _ => Cow::Borrowed(own),
        }
    }
}

impl Round {
    /// Creates a round with this answer, which has no times and ended normally.
    pub fn new(deltas: impl IntoIterator<Item = Delta>) -> Self {
        let deltas = deltas.into_iter().map(|Delta { kind, text }| TimedDelta { kind, text, ms: None }).collect();
        Round { deltas, finish: Some(Finish::new(FinishReason::Stop)), ..Round::default() }
    }

    /// Creates a round whose answer is one piece of content.
    pub fn text(text: impl Into<String>) -> Self {
        Round::new([Delta::content(text)])
    }

    /// Returns the joined text of the answer that came in one field of the stream.
    pub fn said(&self, kind: DeltaKind) -> String {
        self.deltas.iter().filter(|d| d.kind == kind).map(|d| d.text.as_str()).collect()
    }

    /// Adds a piece of the answer without a time, unless its text is empty.
    pub(super) fn say(&mut self, kind: DeltaKind, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.deltas.push(TimedDelta::new(kind, text));
        }
    }

    /// Returns the part that is missing if this is the last round of the recording; `None` if its answer has ended.
    pub(super) fn cut_reason(&self) -> Option<CutReason> {
        let reason = if self.answered() { CutReason::NoFinish } else { CutReason::NoAnswer };
        Some(reason).filter(|_| self.finish.is_none())
    }

    /// Returns `true` if the round has an answer, or a part of one.
    pub(super) fn answered(&self) -> bool {
        self.finish.is_some() || self.usage.is_some() || !self.deltas.is_empty() || !self.native_calls.is_empty()
    }
}

impl fmt::Display for CutPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            CutReason::IncompleteLine => "it breaks off",
            CutReason::NoFinish => "the answer has no `finish` line",
            CutReason::NoAnswer => "no answer follows",
        };
        write!(f, "cut off in line {}: {what}", self.line)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}
