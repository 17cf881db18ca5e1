//! The texts of a turn for the model.

use std::sync::Arc;

use crate::cause::Cause;
use crate::conversation::{Answered, Replies};
use crate::dialect::Dialect;
use crate::outcome::{Outcome, RESULT_BYTES, TextPart, TextPlaces};
use crate::prompt::{Example, OfferedTools};
use crate::tools::{Catalog, FOUND, Said, ToolChoice};
use crate::validate::OutputSchema;

/// Variants of the last line of a message with results or corrections, which says what the model must write next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closing {
    /// Last line of a message with results, if the model may call or answer.
    pub either: &'static str,
    /// Last line of a message with results, if the model must make the next call.
    pub call: String,
    /// Last line of a message with results, if the model must answer.
    pub answer: String,
}

/// Source of a turn's texts for the model. The turn decides which message is sent; a wording expresses it in the
/// model's dialect and language.
///
/// There are two: one for a history in text, in which the prompt describes the tools, and one for requests that carry
/// them, from [`native`](Wording::native).
pub trait Wording: Send + Sync {
    /// Returns the system text, with the call syntax and the tools.
    fn system(&self, choice: &ToolChoice) -> String;

    /// Returns the system text without its examples, and the examples as separate messages between the system text and
    /// the history. `None` if the text contains everything.
    fn system_apart(&self, _choice: &ToolChoice) -> Option<(String, Vec<Example>)> {
        None
    }

    /// Returns the replies to one of the model's messages: results, corrections, notes. In a request that carries tools
    /// each result is a message of its own, so `replies` then contains one call.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError>;

    /// Returns the text of a note of the program to the model, for the history or for an outcome.
    fn note(&self, note: ModelNote<'_>) -> String;

    /// Returns the variants of the last line of replies, for a turn that knows what the model must write next; `None`
    /// if the line stays as it is. `unused` lists the objects that the request names and no call has used; `missing` is
    /// the identifier that the answer has to ask for.
    fn closing(&self, _unused: &[String], _missing: Option<&str>) -> Option<Closing> {
        None
    }

    /// Returns system text and user message of a request outside the conversation: the program's own system text, and
    /// the user's request with the calls made, without tools and examples, which a small model copies. `changes` is
    /// `true` if a call changed something. `None` if the answer must be requested in the conversation.
    fn alone(
        &self,
        _request: &str,
        _made: &[Answered<'_>],
        _changes: bool,
        _expected: Expected<'_>,
    ) -> Option<(Option<String>, String)> {
        None
    }

    /// Returns the instruction for an answer that must match a schema; it follows the system text.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn output(&self, schema: &OutputSchema) -> Result<String, WordingError> {
        Ok(format!("Your final answer is one JSON value that this JSON Schema accepts: {}", schema.schema()))
    }

    /// Returns the outcome of the built-in tool that describes the tools of this name: by default their JSON forms, or
    /// an error if there are none. A prompt of templates answers an unknown name with the three likeliest tools.
    fn describe(&self, catalog: &Catalog, name: &str) -> Outcome {
        match catalog.named(name) {
            Ok(tools) => Outcome::result(serde_json::json!(tools).to_string()),
            Err(error) => Outcome::error(error.to_string()),
        }
    }

    /// Returns the outcome of the built-in tool that finds tools by a query: by default their JSON forms.
    fn find(&self, catalog: &Catalog, query: &str) -> Outcome {
        let found = catalog.likeliest(query, FOUND);
        Outcome::result(serde_json::json!(found).to_string())
    }

    /// Returns the outcome of the built-in tool that reads on in a long result with this text: by default the wanted
    /// part alone, or a line for each occurrence of the text that is searched for.
    fn read(&self, text: &str, wanted: Wanted<'_>) -> Outcome {
        match wanted {
            Wanted::From(from) => Outcome::result(TextPart::new(text, from, RESULT_BYTES).text),
            Wanted::Find(find) => Outcome::result(TextPlaces::new(text, find, RESULT_BYTES).lines()),
        }
    }

    /// Returns the maximum number of bytes of a result that a message shows; by default unlimited.
    fn shown_of_results(&self) -> usize {
        usize::MAX
    }

    /// Returns the wording for the conversation `said` so far, if that conversation decides which tools are listed;
    /// `None` if this wording is for every conversation.
    fn meant(&self, _said: &[Said<&str>]) -> Option<Arc<dyn Wording>> {
        None
    }

    /// Returns the tools that a request with native tools carries; `None` for all tools of the catalog, unchanged.
    fn offered(&self) -> Option<Arc<OfferedTools>> {
        None
    }

    /// Returns the dialect that the wording teaches; a history in text shows native calls in it.
    fn dialect(&self) -> Dialect {
        Dialect::UseMcpTool
    }

    /// Returns the wording for requests that carry the tools. With `None`, such requests have no system text, and
    /// results are not changed.
    fn native(&self) -> Option<Arc<dyn Wording>> {
        None
    }
}

/// The message that the model is asked for in place of the next step: an answer, a report of a change, or a text for a
/// call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected<'a> {
    /// Answer to the user; `missing` is the identifier that it has to ask for.
    Answer {
        /// Name of the identifier that the answer has to ask for; `None` if there is none.
        missing: Option<&'a str>,
    },
    /// A sentence that says what was done: the last call changed something, and the request asks for no answer.
    Done,
    /// Text that becomes an argument of a call.
    Text {
        /// The subject of the text: the path of a file, or the tool and its parameter.
        of: &'a str,
    },
}

/// The part of a long result that a model asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted<'a> {
    /// Text of the result from this byte offset on.
    From(usize),
    /// Occurrences of this text in the result.
    Find(&'a str),
}

/// Error of a wording that cannot write a text for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WordingError {
    /// The problem and possible remedies.
    pub message: String,
    /// The underlying error, if there is one.
    pub source: Option<Cause>,
}

impl WordingError {
    /// Creates an error from a message.
    pub fn new(message: impl Into<String>) -> Self {
        WordingError { message: message.into(), source: None }
    }

    /// Creates an error from another one, with the same message.
    pub fn caused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = Cause::new(error);
        WordingError { message: source.to_string(), source: Some(source) }
    }
}

/// A note of the program to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelNote<'a> {
    /// The answer was empty.
    EmptyAnswer,
    /// The answer was empty, and no tool may be called.
    EmptyText,
    /// A call of some tool was required.
    CallRequired,
    /// A call of this tool was required.
    ToolRequired(&'a str),
    /// No calls may be made.
    CallsOff,
    /// Only this tool may be called.
    OnlyTool(&'a str),
    /// Further calls of the message did not run, because only this many calls of one message run.
    TooManyCalls(usize),
    /// The policy does not allow the call.
    NotAllowed,
    /// The tool has changed since the policy allowed it, and there was no approver.
    Changed,
    /// There was no approver for a call after other text, in an answer that should have begun with reasoning and has no
    /// think tag.
    MayBeDraft,
    /// There was no approver for a call that may be an example: after prose without a marker, or in a code fence
    /// followed by prose.
    MayBeExample,
    /// There was no approver for a call with a value that was recovered from text without quotation marks.
    Mended,
    /// There was no approver for a call that occurs in a result, a file or the description of another server, or
    /// that has a text of the program in its arguments.
    Echoed,
    /// There was no approver for a call that may change what a rejected call only tried to read.
    InsteadOfRead,
    /// There was no approver for a call that may destroy something that was not mentioned.
    Ungrounded,
    /// The user declined the call.
    Declined,
    /// The turn was cancelled before the call ended.
    Cancelled,
    /// The turn was cancelled before the call began.
    NotBegun,
    /// No round was left in which the result could be read.
    NoRoundLeft,
    /// The model asked to read on in a long result that does not exist; contains the ids of those that exist.
    NoSuchResult(&'a str),
    /// The call of this tool gave the same result as the previous equal one.
    SameResult(&'a str),
    /// The call did not run: equal ones returned the same result this many times in a row, and only read-only calls ran
    /// since.
    NotRunAgain(u32),
    /// The call did not run: a call of this tool before it in its message did not succeed. Empty if the tool's name
    /// could not be read.
    NotRunAfter(&'a str),
    /// The message was ended because it made an equal call more than this many times.
    EqualCalls(usize),
    /// No further call runs: the model must answer.
    LastRound,
    /// The message begins with a result that no tool gave.
    ForgedResult,
    /// The message says that the model acts, or has acted, and makes no call.
    ActWithoutCall,
    /// The call's arguments were shown to the user.
    Displayed,
    /// The final answer must match the schema.
    OutputDue,
    /// The answer does not match the schema; contains the problem and its place.
    OutputMismatch(&'a str),
    /// The oldest part of the conversation is not in the request.
    LeftOut,
}

/// Wording for requests that carry the tools, based on another wording; it has no system text and leaves results as
/// they are.
pub(super) struct NativeWording(pub(super) Arc<dyn Wording>);

impl Wording for NativeWording {
    fn system(&self, _: &ToolChoice) -> String {
        String::new()
    }

    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError> {
        let answered = replies.answered.iter().map(|answered| answered.outcome.text.clone());
        let rejected = replies.rejected.iter().map(|rejected| rejected.message.clone());
        Ok(answered.chain(rejected).collect::<Vec<_>>().join("\n\n"))
    }

    fn note(&self, note: ModelNote<'_>) -> String {
        self.0.note(note)
    }

    fn output(&self, schema: &OutputSchema) -> Result<String, WordingError> {
        self.0.output(schema)
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }
}
