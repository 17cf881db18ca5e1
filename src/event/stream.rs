//! The parser's events, borrowed and owned.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::call::{Call, Provenance, Reason, Rejected};

/// Range of bytes of the stream that an event covers, as offsets from the stream's start.
pub type Span = Range<u64>;

/// A piece of a model's output, in stream order. Borrows its text from the chunk or the parser.
///
/// Guarantees: the spans cover the input without gaps or overlaps; every `CallStart` is followed by exactly one
/// `CallEnd` of the same index; a `CallEnd` without a `CallStart` is a rejected call whose name was never known;
/// indices count up from 0 in order of `CallEnd`; no event of another call is between a call's events.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Text of the answer, which the user sees.
    Text {
        /// The text, verbatim.
        text: &'a str,
        /// The bytes of the stream that the text occupies.
        span: Span,
    },
    /// Text of the reasoning.
    Reasoning {
        /// The text, verbatim.
        text: &'a str,
        /// Kind of syntax around a draft, `None` for other text: it is part of the reasoning, but not of the answer if
        /// the stream turns out to be one.
        syntax: Option<MarkerKind>,
        /// The bytes of the stream that the text occupies.
        span: Span,
    },
    /// A call has begun and its tool's name is known.
    CallStart {
        /// Index of the call in this message, from 0.
        index: u32,
        /// Server's name, if it is known at this point; that of `CallEnd` is authoritative.
        server: Option<&'a str>,
        /// Tool's name, as the model wrote it.
        tool: &'a str,
        /// Bytes of the stream from the call's start to the end of its name.
        span: Span,
    },
    /// A preview of the arguments' JSON text: all deltas of a call, joined,
    /// are always a prefix of some valid JSON text.
    ArgsDelta {
        /// Index of the call.
        index: u32,
        /// Further JSON text of the arguments.
        text: &'a str,
        /// Bytes of the stream since the call's last event.
        span: Span,
    },
    /// A call has ended. Authoritative: replaces all that earlier events reported of the call.
    CallEnd {
        /// Index of the call.
        index: u32,
        /// The call, or its rejection.
        result: Box<Result<Call, Rejected>>,
        /// The call's whole text, from its opening delimiter to its end, at most
        /// [`Limits::call_bytes`](crate::parse::Limits::call_bytes). In dialects whose calls are JSON objects, only the
        /// object: the text around it is a marker.
        raw: &'a str,
        /// `true` if the final arguments do not continue the joined deltas.
        restated: bool,
        /// Bytes of the stream since the call's last event.
        span: Span,
    },
    /// Syntax that is neither text nor part of a call, such as a fence, a think tag or a special token.
    Marker {
        /// The kind of syntax.
        kind: MarkerKind,
        /// The text of the syntax, verbatim.
        text: &'a str,
        /// The bytes of the stream that the syntax occupies.
        span: Span,
    },
    /// A new verdict on calls that were reported earlier, because of the text after them: a new provenance, or the
    /// reason why they must not run. Its span is empty.
    ///
    /// Calls of the fence that the message begins with ([`Provenance::FencedFirst`]) are calls only if the arguments
    /// of all of them are accepted ([`Validator::admits`] says so).
    ///
    /// [`Validator::admits`]: crate::validate::Validator::admits
    Revised {
        /// Indices of the calls.
        calls: Range<u32>,
        /// The provenance of the calls, or the reason why they must not run.
        result: Result<Provenance, Reason>,
        /// Empty range at the offset of the decision.
        span: Span,
    },
    /// Text that was reported earlier moves to another part of the message, with the markers and calls in it. Its span
    /// is empty. If the verdict on calls in it changes, [`Revised`](Event::Revised) comes right before this event, or
    /// right after it if the text moves to the answer.
    Moved {
        /// The bytes of the stream that are moved.
        spans: &'a [Span],
        /// The part of the message that the text moves to.
        to: Destination,
        /// Empty range at the offset of the decision.
        span: Span,
    },
}

/// The part of a message to which text that was reported earlier is [moved](Event::Moved).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Destination {
    /// The text moves to the answer: it was reported as reasoning, and the stream ended without a closing think tag.
    Content,
    /// The text moves to the reasoning, because a closing think tag without an opening one followed. Its calls stay
    /// calls.
    Reasoning,
    /// The text moves to the reasoning, because a closing think tag without an opening one followed. Its calls become
    /// drafts, and the syntax around them becomes text of the reasoning.
    Drafts,
    /// The text leaves answer and reasoning: it becomes syntax around calls, provided that a call between the moved
    /// pieces may run.
    Syntax,
}

impl Destination {
    /// Returns the region that the moved text belongs to; `None` for the syntax around calls.
    pub fn region(self) -> Option<Region> {
        match self {
            Destination::Content => Some(Region::Content),
            Destination::Reasoning | Destination::Drafts => Some(Region::Reasoning),
            Destination::Syntax => None,
        }
    }
}

/// The part of a message that text belongs to: the answer or the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// The answer, which the user sees.
    #[default]
    Content,
    /// The reasoning of the model.
    Reasoning,
}

/// The kind of a piece of syntax that is neither text nor part of a call ([`Event::Marker`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MarkerKind {
    /// A think tag or another delimiter that opens the reasoning, such as `<think>`.
    ThinkOpen,
    /// A think tag or another delimiter that closes the reasoning, such as `</think>`.
    ThinkClose,
    /// The opening or closing line of a code fence around a call.
    Fence,
    /// A line `TYPE: MCP`, which announces a call.
    CallLine,
    /// A line `TYPE: ANSWER`, which announces the answer to the user.
    AnswerLine,
    /// Brackets, commas and tags around or between calls, and the whole text of a call past the limit on calls.
    Wrapper,
    /// A special token of the model's chat template that leaked into the text and does not end the model's turn.
    Token,
    /// A special token that ends the model's turn or begins another's, and the text of another's turn after it. Empty
    /// where a line of the user or a tool result in the text begins another's turn.
    Turn,
}

impl MarkerKind {
    /// Returns `true` if the marker is syntax of calls or answers; `false` for think tags and special tokens.
    pub fn is_call_syntax(self) -> bool {
        !matches!(self, MarkerKind::ThinkOpen | MarkerKind::ThinkClose | MarkerKind::Token | MarkerKind::Turn)
    }
}

impl Event<'_> {
    /// Returns the bytes of the stream that the event covers.
    pub fn span(&self) -> Span {
        match self {
            Event::Text { span, .. }
            | Event::Reasoning { span, .. }
            | Event::CallStart { span, .. }
            | Event::ArgsDelta { span, .. }
            | Event::CallEnd { span, .. }
            | Event::Marker { span, .. }
            | Event::Revised { span, .. }
            | Event::Moved { span, .. } => span.clone(),
        }
    }

    /// Returns the event with its text copied, so that it borrows nothing.
    pub fn into_owned(self) -> OwnedEvent {
        match self {
            Event::Text { text, span } => OwnedEvent::Text { text: text.to_owned(), span },
            Event::Reasoning { text, syntax, span } => OwnedEvent::Reasoning { text: text.to_owned(), syntax, span },
            Event::CallStart { index, server, tool, span } => {
                OwnedEvent::CallStart { index, server: server.map(str::to_owned), tool: tool.to_owned(), span }
            }
            Event::ArgsDelta { index, text, span } => OwnedEvent::ArgsDelta { index, text: text.to_owned(), span },
            Event::CallEnd { index, result, raw, restated, span } => {
                let (call, rejected) = match *result {
                    Ok(call) => (Some(Box::new(call)), None),
                    Err(rejected) => (None, Some(Box::new(rejected))),
                };
                OwnedEvent::CallEnd { index, call, rejected, raw: raw.to_owned(), restated, span }
            }
            Event::Marker { kind, text, span } => OwnedEvent::Marker { kind, text: text.to_owned(), span },
            Event::Revised { calls, result, span } => {
                let provenance = result.as_ref().ok().copied();
                OwnedEvent::Revised { calls, provenance, reason: result.err().map(Box::new), span }
            }
            Event::Moved { spans, to, span } => OwnedEvent::Moved { spans: spans.to_owned(), to, span },
        }
    }
}

/// An event of the parser that owns its text ([`Event`] borrows it). In JSON, the member `type` is the event's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of `Event`")]
#[non_exhaustive]
pub enum OwnedEvent {
    /// Text of the answer, which the user sees; the fields are those of [`Event::Text`].
    Text { text: String, span: Span },
    /// Text of the reasoning; the fields are those of [`Event::Reasoning`].
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        syntax: Option<MarkerKind>,
        span: Span,
    },
    /// A call has begun and its tool's name is known; the fields are those of [`Event::CallStart`].
    CallStart { index: u32, server: Option<String>, tool: String, span: Span },
    /// A preview of a call's arguments as JSON text; the fields are those of [`Event::ArgsDelta`].
    ArgsDelta { index: u32, text: String, span: Span },
    /// A call has ended: exactly one of `call` and `rejected` is set. The other fields are those of [`Event::CallEnd`].
    CallEnd {
        index: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<Call>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Box<Rejected>>,
        raw: String,
        restated: bool,
        span: Span,
    },
    /// Syntax that is neither text nor part of a call; the fields are those of [`Event::Marker`].
    Marker { kind: MarkerKind, text: String, span: Span },
    /// A new verdict on calls that were reported earlier: exactly one of `provenance` and `reason` is set. The other
    /// fields are those of [`Event::Revised`].
    Revised {
        calls: Range<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provenance: Option<Provenance>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Box<Reason>>,
        span: Span,
    },
    /// Text that was reported earlier moves to another part of the message; the fields are those of [`Event::Moved`].
    Moved { spans: Vec<Span>, to: Destination, span: Span },
}
