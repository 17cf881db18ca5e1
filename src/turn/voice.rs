//! What a turn says to the model.

use crate::catalog::Catalog;
use crate::conversation::{Replies, Reply};
use crate::dialect::Dialect;
use crate::outcome::Outcome;
use crate::tool::ToolChoice;
use crate::validate::OutputSchema;

/// The words of a turn. The turn decides what is said, a voice says it in the
/// model's dialect and language.
pub trait Voice: Send + Sync {
    /// The system text: how to call, which tools there are.
    fn system(&self, choice: &ToolChoice) -> String;

    /// The user message after a message of the model: results, corrections, notes.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn replies(&self, replies: &Replies<'_>) -> Result<String, VoiceError>;

    /// A remark of the program; it becomes a note or the text of an outcome.
    fn remark(&self, remark: Remark<'_>) -> String;

    /// The form of an answer that has to match a schema; stands behind the system text.
    ///
    /// # Errors
    /// A template that the program brought fails.
    fn output(&self, schema: &OutputSchema) -> Result<String, VoiceError> {
        Ok(format!("Your final answer is one JSON value that this JSON Schema accepts: {}", schema.schema()))
    }

    /// What a call of the built-in tool is answered with that asks about the
    /// tools of this name; without words of its own, their JSON forms.
    fn describe(&self, catalog: &Catalog, name: &str) -> Outcome {
        match catalog.named(name) {
            Ok(tools) => Outcome::result(serde_json::json!(tools).to_string()),
            Err(error) => Outcome::error(error.to_string()),
        }
    }

    /// The system text of a request that carries tools.
    fn native_system(&self, choice: &ToolChoice) -> String {
        let _ = choice;
        String::new()
    }

    /// What the model reads about one of its calls, in a request that carries tools.
    ///
    /// # Errors
    /// As for [`replies`](Voice::replies).
    fn native_reply(&self, reply: Reply<'_>) -> Result<String, VoiceError> {
        Ok(match reply {
            Reply::Answered { answered, .. } => answered.outcome.text.clone(),
            Reply::Rejected(rejected) => rejected.message.clone(),
        })
    }

    /// A remark in a request that carries tools: without the prompt's syntax.
    fn native_remark(&self, remark: Remark<'_>) -> String {
        self.remark(remark)
    }

    /// Call syntax that the words teach; native calls stand in it in a history in text.
    fn dialect(&self) -> Dialect {
        Dialect::UseMcpTool
    }
}

/// What a turn has to say cannot be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VoiceError(pub String);

/// A remark of the program to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark<'a> {
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
    /// Nobody was there to approve a call that stands behind other text in an answer that
    /// should have begun with reasoning, and has no tag of it.
    MayBeDraft,
    /// The user declined the call.
    Declined,
    /// The turn was cancelled before the call was over.
    Cancelled,
    /// No round was left to read the result in.
    NoRoundLeft,
    /// The call's arguments were shown to the user.
    Displayed,
    /// The final answer has to match the schema.
    OutputDue,
    /// The answer does not match the schema; what is wrong, and where.
    OutputMismatch(&'a str),
    /// The oldest part of the conversation is not in the request.
    LeftOut,
}
