//! What a turn says to the model: what, and in which words.

use std::sync::Arc;

use crate::cause::Cause;
use crate::conversation::{Answered, Replies};
use crate::dialect::Dialect;
use crate::outcome::{Outcome, Part, Places, RESULT_BYTES};
use crate::prompt::{Example, OfferedTools};
use crate::tools::{Catalog, FOUND, Said, ToolChoice};
use crate::validate::OutputSchema;

/// The last line of replies, by what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closing {
    /// As replies end.
    pub either: &'static str,
    /// Where the next call is asked for.
    pub call: String,
    /// Where the answer is.
    pub answer: &'static str,
}

/// The words of a turn. The turn decides what is said, a wording says it in the
/// model's dialect and language.
///
/// There are two: one for a history in text, in which the prompt describes the
/// tools, and, from [`native`](Wording::native), one for requests that carry them.
pub trait Wording: Send + Sync {
    /// The system text: how to call, which tools there are.
    fn system(&self, choice: &ToolChoice) -> String;

    /// The system text without its examples, and these: messages of their own between the
    /// system text and the history. `None` where all stands in the text.
    fn system_apart(&self, _choice: &ToolChoice) -> Option<(String, Vec<Example>)> {
        None
    }

    /// What the model is told after one of its messages: results, corrections,
    /// notes. In a request that carries tools each result is a message of its
    /// own, so that the replies hold one call.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError>;

    /// A note of the program; it becomes a note of the history or the text of an outcome.
    fn note(&self, note: ModelNote<'_>) -> String;

    /// What the last line of replies becomes where the turn knows what comes next; `None` where it stays.
    /// `unused` is what the request names and no call has used.
    fn closing(&self, _unused: &[String]) -> Option<Closing> {
        None
    }

    /// A request for the answer alone: the program's own system text, and what was asked and done in one message, without
    /// tools and examples, which a small model copies. `changes` says that something was done about it, and not only
    /// looked up. `None` where the answer is asked for in the conversation.
    fn answer_alone(&self, _request: &str, _made: &[Answered<'_>], _changes: bool) -> Option<(Option<String>, String)> {
        None
    }

    /// The form of an answer that has to match a schema; stands behind the system text.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn output(&self, schema: &OutputSchema) -> Result<String, WordingError> {
        Ok(format!("Your final answer is one JSON value that this JSON Schema accepts: {}", schema.schema()))
    }

    /// What a call of the built-in tool is answered with that asks about the
    /// tools of this name; without words of its own, their JSON forms. A prompt of templates
    /// answers words that are near no name with the three likeliest tools.
    fn describe(&self, catalog: &Catalog, name: &str) -> Outcome {
        match catalog.named(name) {
            Ok(tools) => Outcome::result(serde_json::json!(tools).to_string()),
            Err(error) => Outcome::error(error.to_string()),
        }
    }

    /// What a call of the built-in tool is answered with that looks for tools; without words of
    /// its own, their JSON forms.
    fn find(&self, catalog: &Catalog, query: &str) -> Outcome {
        let found = catalog.likeliest(query, FOUND);
        Outcome::result(serde_json::json!(found).to_string())
    }

    /// What a call of the built-in tool is answered with that reads on in a result, which has this
    /// text; without words of its own, with the part alone, or with a line for each place.
    fn read(&self, text: &str, wanted: Wanted<'_>) -> Outcome {
        match wanted {
            Wanted::From(from) => Outcome::result(Part::new(text, from, RESULT_BYTES).text),
            Wanted::Find(find) => Outcome::result(Places::new(text, find, RESULT_BYTES).lines()),
        }
    }

    /// Bytes of a result that a message shows; default all.
    fn shown_of_results(&self) -> usize {
        usize::MAX
    }

    /// The words for a conversation in which this was said, where not all tools are listed and it
    /// decides which; `None` where these words are for every conversation.
    fn meant(&self, _said: &[Said<'_>]) -> Option<Arc<dyn Wording>> {
        None
    }

    /// The tools of a request that carries them; `None` for all of the catalog, as they are.
    fn offered(&self) -> Option<Arc<OfferedTools>> {
        None
    }

    /// Call syntax that the words teach; native calls stand in it in a history in text.
    fn dialect(&self) -> Dialect {
        Dialect::UseMcpTool
    }

    /// The words for requests that carry the tools. Without any there is no system
    /// text, and results are told as they are.
    fn native(&self) -> Option<Arc<dyn Wording>> {
        None
    }
}

/// What a model wants of a long result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted<'a> {
    /// What stands from this byte on.
    From(usize),
    /// The places of this text.
    Find(&'a str),
}

/// What a turn has to say cannot be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WordingError {
    /// Why, and what may help.
    pub message: String,
    /// The error behind it, where there is one.
    pub source: Option<Cause>,
}

impl WordingError {
    /// An error in words.
    pub fn new(message: impl Into<String>) -> Self {
        WordingError { message: message.into(), source: None }
    }

    /// An error that reads as `error` does.
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
    /// A call of some tool was required.
    CallRequired,
    /// A call of this tool was required.
    ToolRequired(&'a str),
    /// No calls may be made.
    CallsOff,
    /// Only this tool may be called.
    OnlyTool(&'a str),
    /// Only so many calls of one message run.
    TooManyCalls(usize),
    /// The policy does not allow the call.
    NotAllowed,
    /// Nobody was there to accept what the tool has become since the policy allowed it.
    Changed,
    /// Nobody was there to approve a call that stands behind other text in an answer that
    /// should have begun with reasoning, and has no tag of it.
    MayBeDraft,
    /// Nobody was there to approve a call that may be an example: behind prose without a marker,
    /// or in a code fence with prose behind it.
    MayBeExample,
    /// Nobody was there to approve a call with a value that was chosen from text without quotes.
    Mended,
    /// Nobody was there to approve a call that stands in a result or a file, or that has a text of
    /// the program in its arguments.
    Echoed,
    /// Nobody was there to approve a call that may change what a rejected call only wanted to read.
    InsteadOfRead,
    /// Nobody was there to approve a call that may destroy something that nobody spoke of.
    Ungrounded,
    /// The user declined the call.
    Declined,
    /// The turn was cancelled before the call was over.
    Cancelled,
    /// The turn was cancelled before the call began.
    NotBegun,
    /// No round was left to read the result in.
    NoRoundLeft,
    /// There is no such result to read on in; the ids of those that there are.
    NoSuchResult(&'a str),
    /// The call of this tool gave the same result as the equal one before it.
    SameResult(&'a str),
    /// The call did not run: equal ones returned the same result so many times in a row, and only
    /// read-only calls ran since.
    NotRunAgain(u32),
    /// The call did not run: one of this tool before it in its message did not succeed. Empty where
    /// the tool's name could not be read.
    NotRunAfter(&'a str),
    /// The message was ended since it made an equal call more than so many times.
    EqualCalls(usize),
    /// No call runs any more: the model is to answer.
    LastRound,
    /// The message begins with a result that no tool gave.
    ForgedResult,
    /// The message says that the model acts, or has acted, and makes no call.
    ActWithoutCall,
    /// The call's arguments were shown to the user.
    Displayed,
    /// The final answer has to match the schema.
    OutputDue,
    /// The answer does not match the schema; what is wrong, and where.
    OutputMismatch(&'a str),
    /// The oldest part of the conversation is not in the request.
    LeftOut,
}

/// The words of another wording, for requests that carry the tools: results as they are.
pub(super) struct Plain(pub(super) Arc<dyn Wording>);

impl Wording for Plain {
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
