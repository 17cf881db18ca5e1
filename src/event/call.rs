//! Calls as the parser found them, and calls that it rejected.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decode::{DecodeError, decode_arguments};
use crate::dialect::Dialect;
use crate::json::Repair;
use crate::message::keyword_enum;

/// A complete call of a tool or resource, not yet checked against a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Call {
    /// Server, as written or as resolved from the catalog.
    pub server: Option<String>,
    /// Tool; [`ACCESS_RESOURCE`](crate::tools::ACCESS_RESOURCE) for a resource.
    pub tool: String,
    /// Arguments: any JSON value until they are validated.
    pub arguments: Value,
    /// The arguments' text as the model wrote it.
    pub raw_arguments: String,
    /// Syntax that the call was written in.
    pub dialect: Dialect,
    /// Everything that had to be mended, in order.
    pub repairs: Vec<Repair>,
    /// The way in which the call was found.
    #[serde(default, skip_serializing_if = "Provenance::is_plain")]
    pub provenance: Provenance,
}

/// The way in which a call was found. It tells how certain it is that the call was meant: any but
/// [`Plain`](Provenance::Plain) needs approval, whatever a policy allows by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Provenance {
    /// It is where calls are expected.
    #[default]
    Plain,
    /// It was alone in the fence that the message begins with, and prose followed: taken as a
    /// last resort ([`FencedCalls`](crate::message::FencedCalls)).
    FencedFirst,
    /// No marker announces it, and prose is before it on other lines: many such calls are examples.
    AfterProse,
    /// No marker announces it, and prose follows it.
    BeforeProse,
    /// The line before it asks, speaks of an example or introduces another's words; or it neither announces the call nor
    /// is a finished sentence, and prose follows; text between it and an earlier call does not announce it; or the line
    /// after it speaks of it or asks.
    Hedged,
    /// It does not begin its line: prose is before it there.
    InALine,
    /// It is alone in a fence, and prose is before the fence.
    FencedAfterProse,
    /// It is inside an element of an unknown name, an edit, a block of YAML or a value outside any call, which may be
    /// what it is about: a file's content, a plan.
    InElement,
    /// A value of it was chosen from text without quotes, which may be prose.
    Mended,
    /// It is in a result or a file of the conversation, or in the instructions, descriptions and schemas of another
    /// server: its bytes, or its tool and arguments. Or it may change something, and its arguments contain a text of the program to the model.
    Echoed,
    /// It may change something, and names what a rejected call of a read-only tool named just before.
    InsteadOfRead,
    /// It was promoted out of the reasoning, or out of what may be reasoning.
    Promoted,
}

keyword_enum!(Provenance, "a way to find a call",
    "plain" => Provenance::Plain, "fenced_first" => Provenance::FencedFirst,
    "after_prose" => Provenance::AfterProse, "before_prose" => Provenance::BeforeProse,
    "hedged" => Provenance::Hedged, "in_a_line" => Provenance::InALine,
    "fenced_after_prose" => Provenance::FencedAfterProse,
    "in_element" => Provenance::InElement, "mended" => Provenance::Mended,
    "echoed" => Provenance::Echoed, "instead_of_read" => Provenance::InsteadOfRead,
    "promoted" => Provenance::Promoted);

impl Provenance {
    /// Returns `true` if the call does not need approval because of its provenance.
    pub fn is_plain(&self) -> bool {
        *self == Provenance::Plain
    }
}

impl Call {
    /// Creates a call of a tool, as if it had been written in this dialect without a mistake and without a server.
    pub fn new(dialect: Dialect, tool: impl Into<String>, arguments: Value) -> Self {
        let raw_arguments = arguments.to_string();
        Call {
            server: None,
            tool: tool.into(),
            arguments,
            raw_arguments,
            dialect,
            repairs: Vec::new(),
            provenance: Provenance::Plain,
        }
    }

    /// Sets the server's name.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Deserialises the arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] names the field that does not fit.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// Returns the call of a verdict; of a rejected call, `None` if it was not complete.
pub(crate) fn call_of(verdict: &Result<Call, Rejected>) -> Option<&Call> {
    match verdict {
        Ok(call) => Some(call),
        Err(rejected) => rejected.call.as_deref(),
    }
}

/// A call that must not run, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Rejected {
    /// Reason.
    pub kind: RejectedKind,
    /// The call's whole text, at most [`Limits::call_bytes`](crate::parse::Limits::call_bytes).
    pub raw: String,
    /// The fault and its place, for people and for the model.
    pub message: String,
    /// Server, as far as it was known.
    pub server: Option<String>,
    /// Tool, as far as it was known.
    pub tool: Option<String>,
    /// Names of tools that the model may have meant (`unknown_tool` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Syntax that the call was written in.
    pub dialect: Dialect,
    /// The call itself where it was complete: a draft, an example, or one with
    /// arguments that its schema refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<Call>>,
    /// The construct that quotes it (`quoted` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_in: Option<QuotedIn>,
    /// `true` if its text stays in its place, visible to the reader: an `invented` call after a
    /// line or a result in the text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_text: bool,
}

/// Why a call was rejected, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectedKind {
    /// It is in the reasoning.
    InReasoning,
    /// It is after the end of the model's own message: in a user's turn or after a
    /// result that the model wrote itself.
    Invented,
    /// It is quoted, so it is an example: in a code fence with other text, in a code span,
    /// between quotation marks, … ([`Rejected::quoted_in`] says which).
    Quoted,
    /// It is after a call that cannot be read, before what closes that one, or before a closer
    /// that closes nothing: it may be a part of that call's text.
    AfterDamage,
    /// It passed a limit on size, depth or number.
    Limit,
    /// The stream ended before the call did.
    Truncated,
    /// It cannot be read.
    Malformed,
    /// No such tool.
    UnknownTool,
    /// The tool's schema refuses the arguments.
    InvalidArguments,
    /// Text that is meant as a call of a known tool and fits no syntax of calls: a marker, a bracket
    /// or a name in it is missing or misspelt. Known at the message's end; its text stays in
    /// its place.
    NearCall,
}

keyword_enum!(RejectedKind, "a kind of rejection",
    "in_reasoning" => RejectedKind::InReasoning,
    "invented" => RejectedKind::Invented,
    "quoted" => RejectedKind::Quoted,
    "after_damage" => RejectedKind::AfterDamage,
    "limit" => RejectedKind::Limit,
    "truncated" => RejectedKind::Truncated,
    "malformed" => RejectedKind::Malformed,
    "unknown_tool" => RejectedKind::UnknownTool,
    "invalid_arguments" => RejectedKind::InvalidArguments,
    "near_call" => RejectedKind::NearCall);

/// A construct that quotes a call; `docs/parser.md` has the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotedIn {
    /// A code fence with other text in or after it.
    Fence,
    /// A code span: backticks on its line, or `<code>`.
    CodeSpan,
    /// Quotation marks.
    Quotation,
    /// A line that begins with `>`.
    BlockQuote,
    /// A line that is indented as code is.
    IndentedCode,
    /// A comment: `<!-- -->`, `/* */`, or a line after the sign of one, such as `//`.
    Comment,
    /// A block that holds text as it is: `<blockquote>`, CDATA, a heredoc, triple quotes, …
    Block,
    /// A sign before it says that it is not meant: a backslash, `~~`, or that of a diff's line.
    Sign,
    /// It follows a line with which the prompt introduces an example.
    OwnWords,
}

impl QuotedIn {
    /// Returns the error message for a call that is quoted in this construct.
    pub(crate) fn message(self) -> &'static str {
        match self {
            QuotedIn::Fence => {
                "the call is in a code fence with other text in or after it, so it is an example; write a call \
                 outside fences"
            }
            QuotedIn::CodeSpan => "the call is in a code span, so it is an example; write a call outside backticks",
            QuotedIn::Quotation => {
                "the call is between quotation marks, so it is an example; write a call outside them"
            }
            QuotedIn::BlockQuote => "the call is in a block quote, so it is an example; its line begins with `>`",
            QuotedIn::IndentedCode => "the call is in indented code, so it is an example; begin the line with the call",
            QuotedIn::Comment => "the call is in a comment, so it is an example",
            QuotedIn::Block => {
                "the call is in a block that quotes its content, so it is an example; write a call outside it"
            }
            QuotedIn::Sign => "a character before the call says that it is not meant; begin the line with the call",
            QuotedIn::OwnWords => "the call follows the words that introduce an example in the prompt, so it is one",
        }
    }
}

/// Why a call must not run, without the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reason {
    /// The kind of the fault.
    pub kind: RejectedKind,
    /// The same in words, with the place.
    pub message: String,
    /// Known names that are near an unknown one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// The construct that quotes it (`quoted` only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_in: Option<QuotedIn>,
    /// The way in which the call was found. It counts once nothing else rejects the call.
    #[serde(default, skip_serializing_if = "Provenance::is_plain")]
    pub provenance: Provenance,
}

impl Rejected {
    /// Returns the reason why the call must not run, without the call.
    pub fn reason(&self) -> Reason {
        let Rejected { kind, message, nearest, quoted_in, call, .. } = self;
        let provenance = call.as_ref().map_or(Provenance::Plain, |call| call.provenance);
        Reason { kind: *kind, message: message.clone(), nearest: nearest.clone(), quoted_in: *quoted_in, provenance }
    }

    /// Replaces the reason of the rejection, and with it the call's provenance.
    pub fn set_reason(&mut self, reason: Reason) {
        let Reason { kind, message, nearest, quoted_in, provenance } = reason;
        (self.kind, self.message, self.nearest, self.quoted_in) = (kind, message, nearest, quoted_in);
        // Only an `invented` call leaves its text in its place.
        self.in_text &= kind == RejectedKind::Invented;
        self.call.iter_mut().for_each(|call| call.provenance = provenance);
    }

    /// Returns `true` if the call was first reported as one that may run, and then rejected because of a closer after
    /// it.
    #[cfg(feature = "agent")]
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.message == RejectedKind::WITHDRAWN
    }

    /// Returns `true` if the call's text stays in the message's text.
    pub fn stays_in_text(&self) -> bool {
        matches!(self.kind, RejectedKind::Quoted | RejectedKind::InReasoning) || self.in_text
    }

    /// Creates a rejected call with its whole text and an error message, without a parsed call.
    pub fn new(kind: RejectedKind, dialect: Dialect, raw: impl Into<String>, message: impl Into<String>) -> Self {
        Rejected {
            kind,
            raw: raw.into(),
            message: message.into(),
            server: None,
            tool: None,
            nearest: Vec::new(),
            dialect,
            call: None,
            quoted_in: None,
            in_text: false,
        }
    }

    /// Sets the parsed call, if it was complete, and with it the server and the tool.
    #[must_use]
    pub fn with_call(mut self, call: Call) -> Self {
        self.server.clone_from(&call.server);
        self.tool = Some(call.tool.clone());
        self.call = Some(Box::new(call));
        self
    }

    /// Creates the rejection of a complete call; `raw` is the call's text.
    pub(crate) fn of(call: Call, kind: RejectedKind, raw: impl Into<String>, message: impl Into<String>) -> Self {
        Rejected::new(kind, call.dialect, raw, message).with_call(call)
    }

    /// Creates the rejection of a draft, that is of a call inside the reasoning.
    pub fn draft(call: Call, raw: impl Into<String>) -> Self {
        Rejected::of(call, RejectedKind::InReasoning, raw, RejectedKind::in_reasoning_message())
    }
}

impl RejectedKind {
    /// Returns the error message that every `in_reasoning` rejection has.
    pub fn in_reasoning_message() -> &'static str {
        "the call is in the reasoning; only calls in the answer are run"
    }

    /// The error message of an `after_damage` rejection of a call that follows one that cannot be read.
    pub(crate) const AFTER_DAMAGE: &str = "the call comes after one that cannot be read, before the end of that \
        one, so it may be a part of its text and was not run";

    /// The error message of an `after_damage` rejection of a call before a closer that closes nothing.
    pub(crate) const WITHDRAWN: &str = "after the call, what closes an earlier one comes once more and closes \
        nothing: a value may have ended too early, and what follows may be a part of it, so none of these calls was \
        run";
}
