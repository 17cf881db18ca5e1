//! A recording in memory.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::DialectSet;
use crate::event::{Call, Rejected};
use crate::message::{DeltaKind, FinishReason, Message, NativeCall, ReasoningCalls, ReasoningMode, Usage, setters};
use crate::outcome::Outcome;
use crate::tools::{Catalog, Server};

/// Version of the format that is written.
pub const VERSION: u64 = 1;

/// Versions of the format that are read.
pub const READABLE: &[u64] = &[1];

/// A session with a model, in memory.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Recording {
    /// What was set up.
    pub session: Session,
    /// Requests and answers, in order.
    pub rounds: Vec<Round>,
    /// Where the recording was cut off; `None` for a whole one.
    pub cut: Option<Cut>,
    /// What was skipped or replaced while reading.
    pub notes: Vec<Note>,
}

setters!(
    Recording,
    with_session => session: Session, with_rounds => rounds: Vec<Round>
);

impl Recording {
    /// The round that is written or answered last; a first one where there is none.
    pub(super) fn last_round(&mut self) -> &mut Round {
        if self.rounds.is_empty() {
            self.rounds.push(Round::default());
        }
        let last = self.rounds.len() - 1;
        &mut self.rounds[last]
    }
}

/// What was set up for a session. Absent fields were not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Session {
    /// What the recording shows, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of the profile that was in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Dialects that were read, as on the command line: `auto` or names joined by commas;
    /// empty where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<DialectSet>,
    /// Where reasoning starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningMode>,
    /// What became of calls in the reasoning.
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

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Round {
    /// How the request was sent; `None` where that was not recorded.
    pub sent: Option<Sent>,
    /// The tools on offer from here on; `None` where they are those of the round before.
    pub tools: Option<Vec<Server>>,
    /// Messages that were not part of the request before.
    pub messages: Vec<Message>,
    /// The answer, as it was streamed.
    pub deltas: Vec<TimedDelta>,
    /// Calls that the endpoint itself reported, beside the text.
    pub native_calls: Vec<NativeCall>,
    /// What it cost, as the endpoint counts.
    pub usage: Option<Usage>,
    /// How the answer ended; `None` where that was not recorded.
    pub finish: Option<Finish>,
    /// What was found in the answer, in order.
    pub calls: Vec<RecordedCall>,
    /// What became of the calls.
    pub outcomes: Vec<RecordedOutcome>,
    /// What the person was told beside the answer, or the model beside the outcomes.
    pub notices: Vec<RecordedNotice>,
}

setters!(
    Round,
    with_sent => sent: Option<Sent>, with_tools => tools: Option<Vec<Server>>,
    with_messages => messages: Vec<Message>, with_deltas => deltas: Vec<TimedDelta>,
    with_native_calls => native_calls: Vec<NativeCall>, with_usage => usage: Option<Usage>,
    with_finish => finish: Option<Finish>, with_calls => calls: Vec<RecordedCall>,
    with_outcomes => outcomes: Vec<RecordedOutcome>, with_notices => notices: Vec<RecordedNotice>
);

/// How a request was sent. Absent fields were not recorded, or left to the endpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sent {
    /// Milliseconds since the recording began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The model, where it is not the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many messages of the request before lead this one too; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// How many messages of the request before, behind the kept ones, are gone;
    /// those behind them stay. `None` where none of them stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Strings that were to end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether the tools went in a field of their own, and not in the prompt's text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
}

setters!(
    Sent,
    with_at => at: Option<u64>, with_model => model: Option<String>, with_kept => kept: Option<usize>,
    with_dropped => dropped: Option<usize>, with_temperature => temperature: Option<f64>,
    with_max_tokens => max_tokens: Option<u32>, with_stop => stop: Vec<String>;
    with_native => native: bool
);

/// A piece of an answer, and when it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimedDelta {
    /// Channel.
    pub kind: DeltaKind,
    /// Text.
    pub text: String,
    /// Milliseconds since the request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

impl TimedDelta {
    /// A piece of which the time was not recorded.
    pub fn new(kind: DeltaKind, text: impl Into<String>) -> Self {
        TimedDelta { kind, text: text.into(), ms: None }
    }
}

setters!(TimedDelta, with_ms => ms: Option<u64>);

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finish {
    /// Reason, in the endpoint's word.
    pub reason: FinishReason,
    /// Milliseconds since the request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

impl Finish {
    /// An end of which the time was not recorded.
    pub fn new(reason: FinishReason) -> Self {
        Finish { reason, ms: None }
    }
}

setters!(Finish, with_ms => ms: Option<u64>);

/// What a parser found in an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedCall {
    /// Index in the answer, from 0.
    pub index: u32,
    /// Identifier in the conversation, where the call was answered.
    pub id: Option<String>,
    /// The call, or why it must not run.
    pub result: Result<Call, Rejected>,
}

impl RecordedCall {
    /// What was found in an answer at this place, from 0.
    pub fn new(index: u32, result: Result<Call, Rejected>) -> Self {
        RecordedCall { index, id: None, result }
    }
}

setters!(RecordedCall, with_id => id: Option<String>);

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedOutcome {
    /// Identifier of the call.
    pub id: String,
    /// The outcome.
    pub outcome: Outcome,
    /// When it was known, in milliseconds since the recording began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl RecordedOutcome {
    /// The outcome of the call with this identifier.
    pub fn new(id: impl Into<String>, outcome: Outcome) -> Self {
        RecordedOutcome { id: id.into(), outcome, at: None }
    }
}

setters!(RecordedOutcome, with_at => at: Option<u64>);

/// Something that was said beside the answer and the outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedNotice {
    /// What it is about, in a word such as `correction`, `error` or `stopped`.
    pub kind: String,
    /// The words.
    pub text: String,
    /// When, in milliseconds since the recording began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl RecordedNotice {
    /// Words of a kind.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        RecordedNotice { kind: kind.into(), text: text.into(), at: None }
    }
}

setters!(RecordedNotice, with_at => at: Option<u64>);

/// Where a recording was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// Line, from 1: the broken one, or the last.
    pub line: usize,
    /// What is missing.
    pub reason: CutReason,
}

/// What is missing at a [`Cut`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutReason {
    /// The last line breaks off.
    IncompleteLine,
    /// The last answer has no `finish` line.
    NoFinish,
    /// No answer follows the last message, or there is no round at all.
    NoAnswer,
}

/// Something that was skipped or replaced while reading.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Line, from 1; 0 for the whole.
    pub line: usize,
    /// What and how.
    pub text: String,
}

impl Recording {
    /// The tools on offer in a round, from 0; `None` where none were recorded.
    pub fn catalog(&self, round: usize) -> Option<Catalog> {
        let until = self.rounds.len().min(round.saturating_add(1));
        let tools = self.rounds[..until].iter().rev().find_map(|r| r.tools.as_ref())?;
        Some(Catalog::new(tools.iter().cloned()))
    }

    /// The messages of a round's request, from 0: those of the rounds before that
    /// stayed in it, then its own.
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

    /// A round, from 0, as people read it: without a message that was there before and of
    /// which only the end is gone, as what was said for the moment is.
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
    /// The text of one channel, joined.
    pub fn text(&self, kind: DeltaKind) -> String {
        self.deltas.iter().filter(|d| d.kind == kind).map(|d| d.text.as_str()).collect()
    }

    /// A piece of the answer of which the time is not known; none where it says nothing.
    pub(super) fn say(&mut self, kind: DeltaKind, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.deltas.push(TimedDelta::new(kind, text));
        }
    }

    /// Why the recording breaks off where this is its last round; nothing where the answer has ended.
    pub(super) fn cut_reason(&self) -> Option<CutReason> {
        let reason = if self.answered() { CutReason::NoFinish } else { CutReason::NoAnswer };
        Some(reason).filter(|_| self.finish.is_none())
    }

    /// Whether anything of an answer is there.
    pub(super) fn answered(&self) -> bool {
        self.finish.is_some() || self.usage.is_some() || !self.deltas.is_empty() || !self.native_calls.is_empty()
    }
}

impl fmt::Display for Cut {
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
