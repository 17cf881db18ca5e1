//! Calls as the parser found them, and calls that it rejected.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decode::{DecodeError, decode_arguments};
use crate::dialect::Dialect;
use crate::json::Repair;
use crate::message::keyword_enum;

/// A complete call of a tool, or a read of a resource. The parser does not check the arguments against the tool's
/// schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Call {
    /// Name of the tool's server, as the model wrote it or as resolved from the catalog; `None` if neither gives one.
    pub server: Option<String>,
    /// Name of the called tool; [`ACCESS_RESOURCE`](crate::tools::ACCESS_RESOURCE) for the read of a resource.
    pub tool: String,
    /// Arguments of the call: any JSON value before validation, an object after it.
    pub arguments: Value,
    /// Text of the call's arguments as the model wrote it.
    pub raw_arguments: String,
    /// Dialect (call syntax) in which the model wrote the call.
    pub dialect: Dialect,
    /// Repairs that made the call readable or valid, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// Provenance of the call: how it was found, and so how certain it is that the model meant it.
    #[serde(default, skip_serializing_if = "Provenance::is_plain")]
    pub provenance: Provenance,
}

/// The position and form in which a call was found, and so how certain it is that the model meant the call. A call with
/// any provenance but [`Plain`](Provenance::Plain) needs approval, even if the policy allows its tool by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Provenance {
    /// The call is where calls are expected, so it needs no approval because of its provenance.
    #[default]
    Plain,
    /// The call is in the code fence that the message begins with, and prose follows the fence. It counts as a call
    /// only because the message has no other ([`FencedCalls`](crate::message::FencedCalls)).
    FencedFirst,
    /// The call has no delimiter (dialects `json` and `python`), and prose precedes it on other lines: many such calls
    /// are examples.
    AfterProse,
    /// The call has no delimiter (dialects `json` and `python`), and prose follows it.
    BeforeProse,
    /// The text around the call puts it in doubt: the line before it asks a question, speaks of an example or
    /// introduces another's words; that line neither announces the call nor is a finished sentence, and prose follows
    /// the call; text between an earlier call and this one does not announce it; or the line after it asks a question
    /// or speaks of the call.
    Hedged,
    /// The call does not begin its line: prose precedes it on the same line.
    InALine,
    /// The call is alone in a code fence, and prose precedes the fence.
    FencedAfterProse,
    /// The call is inside an element with an unknown name, the delimiters of a file edit, an indented block of YAML or
    /// the element of a parameter's value outside any call, so it may be part of a file's content or of a plan.
    InElement,
    /// A value of the call was recovered from text without quotation marks, which may be prose.
    Mended,
    /// The call is a copy: its text, or its tool with its arguments, occurs in a result or a file of the conversation,
    /// or in the instructions, descriptions or schemas of another server. Or it may change something, and its arguments
    /// contain a text that the program wrote for the model.
    Echoed,
    /// The call may change something, and a text in its arguments occurs in a rejected call of a read-only tool just
    /// before it.
    InsteadOfRead,
    /// The call was promoted: it was in the reasoning of a message without any other content, or in text that may be
    /// reasoning.
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
    /// Returns `true` for `Plain`, the only provenance that does not require approval of the call.
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

    /// Sets the name of the call's server.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Deserialises the arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] if the type does not accept the arguments; it names the field.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// Returns the parsed call of a verdict: the valid call, or the rejected call if that was complete, else `None`.
pub(crate) fn call_of(verdict: &Result<Call, Rejected>) -> Option<&Call> {
    match verdict {
        Ok(call) => Some(call),
        Err(rejected) => rejected.call.as_deref(),
    }
}

/// A call that must not run, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Rejected {
    /// Kind of the reason why the call must not run.
    pub kind: RejectedKind,
    /// Text of the call as the model wrote it, cut off after [`Limits::call_bytes`](crate::parse::Limits::call_bytes)
    /// bytes.
    pub raw: String,
    /// Error message that names the fault and its position, for the user and for the model.
    pub message: String,
    /// Name of the tool's server; `None` if it is unknown.
    pub server: Option<String>,
    /// Name of the called tool; `None` if it could not be read.
    pub tool: Option<String>,
    /// Names of tools that the model may have meant; empty unless the kind is `unknown_tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Dialect (call syntax) in which the model wrote the call.
    pub dialect: Dialect,
    /// The parsed call if it was complete, such as a draft, an example or a call with arguments that the tool's schema
    /// refuses; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<Call>>,
    /// Construct that quotes the call, such as a code span, if the parser rejected the call as `quoted`; `None`
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_in: Option<QuotedIn>,
    /// `true` if the text of an `invented` call stays in the message's text, where the user sees it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_text: bool,
}

/// The kind of the reason why a call was rejected. If several apply, the first in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectedKind {
    /// The call is a draft: it is inside the model's reasoning.
    InReasoning,
    /// The call is after the end of the model's own message: in a user's turn that the model wrote, or after a tool
    /// result that the model wrote itself.
    Invented,
    /// The call is an example: a construct such as a code fence with other text, a code span or quotation marks quotes
    /// it ([`Rejected::quoted_in`]). Also a doubtful call in a turn that has nobody to approve it.
    Quoted,
    /// The call may be part of the text of an earlier call: an earlier call is malformed and its closing tag has not
    /// come yet, or a closing tag that closes nothing follows this call.
    AfterDamage,
    /// The call exceeds a limit on its size or its nesting depth, or on the number of calls in a message.
    Limit,
    /// The stream ended before the call was complete.
    Truncated,
    /// The call's text is malformed: it cannot be parsed, even with repairs.
    Malformed,
    /// The call names a tool that the catalog does not have.
    UnknownTool,
    /// The tool's schema does not accept the call's arguments.
    InvalidArguments,
    /// Text that is meant as a call of a known tool and fits no call syntax: a delimiter, a bracket or a name in it is
    /// missing or misspelt. It is reported at the end of the message, and stays in the message's text.
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

/// A construct that quotes a call, so that the call is only an example; `docs/parser.md` has the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotedIn {
    /// A code fence that contains other text than calls, or has other text after it.
    Fence,
    /// A code span: backticks on the call's line, or a tag `<code>` or `<pre>` before the call.
    CodeSpan,
    /// Quotation marks around the call, or right before it.
    Quotation,
    /// A block quote of Markdown: the call's line begins with `>`.
    BlockQuote,
    /// Indented code of Markdown: the call's line is indented by at least four columns and follows a blank line.
    IndentedCode,
    /// A comment around the call: `<!-- -->`, `/* */`, or a line that begins with a comment sign such as `//`.
    Comment,
    /// A block of verbatim text around the call, such as `<blockquote>`, CDATA, a heredoc or triple quotes.
    Block,
    /// A sign that the call is not meant: a backslash before it, `~~` (strikethrough) around it, or the `-` or `+` of a
    /// diff before it.
    Sign,
    /// A line before the call that introduces an example or forbids to run it, in the prompt's words or other common
    /// ones.
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

/// The reason why a call must not run, without the call itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reason {
    /// Kind of the reason why the call must not run.
    pub kind: RejectedKind,
    /// Error message that names the fault and its position, for the user and for the model.
    pub message: String,
    /// Names of tools that the model may have meant; empty unless the kind is `unknown_tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Construct that quotes the call, such as a code span, if the parser rejected the call as `quoted`; `None`
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_in: Option<QuotedIn>,
    /// Provenance of the rejected call, which applies if a later event revises the rejection.
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

    /// Returns `true` if the call was first reported as one that may run, and then rejected because of a closing tag
    /// after it.
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

    /// The error message of an `after_damage` rejection of a call that is followed by a closing tag that closes
    /// nothing.
    pub(crate) const WITHDRAWN: &str = "after the call, what closes an earlier one comes once more and closes \
        nothing: a value may have ended too early, and what follows may be a part of it, so none of these calls was \
        run";
}
