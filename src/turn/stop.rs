//! The reasons why a turn ends.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::model::ModelFailure;

/// The reason why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered.
    #[error("the model answered")]
    Answered,
    /// The output limit cut the answer off.
    #[error("the output limit cut the answer off")]
    OutputLimit,
    /// The model's answer was empty, and no further correction was permitted.
    #[error("the model gave an empty answer")]
    EmptyAnswer,
    /// The model refused to answer, in the endpoint's field for refusals.
    #[error("the model refused to answer: {}", .message.trim())]
    Refused {
        /// The text of the refusal.
        message: String,
    },
    /// The endpoint withheld the answer or the rest of it (`content_filter`).
    #[error("the endpoint's content filter withheld the answer")]
    Filtered,
    /// The model did not call a tool although the tool choice requires a call.
    #[error("the model did not make the call that was required")]
    CallMissing,
    /// The model repeated a passage again and again, so the turn cancelled the message. The text before the repetition
    /// is the answer.
    #[error("the model repeated itself, {times} times in a row, and was stopped")]
    Repetition {
        /// Number of consecutive occurrences of the passage.
        times: u32,
    },
    /// The model made only a call that was refused, because equal ones had returned the same result too often in a row
    /// ([`TurnConfig::max_same_results`](super::TurnConfig::max_same_results)).
    #[error("the model made the same call of {tool} again and again, with the same result")]
    SameCalls {
        /// Name of the called tool.
        tool: String,
    },
    /// The last permitted round ended with a call or a mistake.
    #[error("no answer within the limit of {rounds} {}", if *.rounds == 1 { "round" } else { "rounds" })]
    MaxRounds {
        /// Maximum number of rounds of the turn.
        rounds: u32,
    },
    /// The model's message still contained a mistake after the permitted number of consecutive corrections.
    #[error("the model's call was still wrong after {corrections} corrections: {message}")]
    CorrectionsUsedUp {
        /// Number of consecutive corrections that were sent to the model.
        corrections: u32,
        /// Description of the mistake in the model's last message.
        message: String,
    },
    /// The model's answer did not match the requested schema, even after corrections. The last answer is available as
    /// text.
    #[error("the answer still did not match the schema after {corrections} corrections: {message}")]
    OutputMismatch {
        /// Number of consecutive corrections that were sent to the model.
        corrections: u32,
        /// Description of the mismatch in the model's last answer.
        message: String,
    },
    /// The model gave no answer, or only a part of one, because of an error.
    #[error("the model failed: {}", .0.message)]
    ModelFailed(ModelFailure),
    /// A text for the model could not be rendered, because the program's prompt options or templates are faulty.
    #[error("the prompt cannot be written: {message}")]
    PromptFailed {
        /// Description of the problem.
        message: String,
        /// The underlying error, if there is one; `None` if the reason was deserialized.
        #[serde(skip)]
        source: Option<Cause>,
    },
    /// The answer was cut off because prompt and answer together fill the model's context.
    #[error(
        "the context of {context} tokens is full: the prompt takes {prompt}, and the answer was cut off after {answer}; \
         {}, list the tools in fewer tokens, or begin a new conversation",
        longer_context(.remedy)
    )]
    ContextFull {
        /// Size of the model's context, in tokens.
        context: usize,
        /// Number of tokens of the prompt, as the endpoint reports it.
        prompt: u64,
        /// Number of tokens of the answer that was cut off.
        answer: u64,
        /// Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The shortest possible request, without the history, does not fit the model's context.
    #[error(
        "the context of {context} tokens is too small: the request takes at least {request}, of which the system text \
         with its tools takes {system}, and {reply} are kept for the reply; {}, list the tools in fewer tokens, or allow \
         a shorter reply",
        longer_context(.remedy)
    )]
    ContextTooSmall {
        /// Size of the model's context, in tokens.
        context: usize,
        /// Number of tokens that are reserved for the model's reply.
        reply: usize,
        /// Number of tokens of the system text with the list of tools.
        system: usize,
        /// Number of tokens of the shortest possible request: system text, question and last results.
        request: usize,
        /// Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The endpoint reports that the prompt does not fit the model's context, and nothing more can be omitted from the
    /// prompt.
    #[error(
        "{}, and nothing more can be left out of it ({message}); or list the tools in fewer tokens, allow a shorter \
         reply, or ask in fewer words",
        too_long(.prompt, .context)
    )]
    ContextExceeded {
        /// Number of tokens of the prompt; `None` if the endpoint does not report it.
        prompt: Option<usize>,
        /// Size of the model's context, in tokens; `None` if the endpoint does not report it.
        context: Option<usize>,
        /// The endpoint's message, followed by an instruction for getting a longer context.
        message: String,
    },
    /// The caller cancelled the turn.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The caller suspended the turn: the conversation may contain calls that have not begun, and the next turn
    /// continues with them.
    #[error("the turn was suspended")]
    Suspended,
}

impl StopReason {
    /// Returns `true` if the model answered.
    pub fn is_answer(&self) -> bool {
        matches!(self, StopReason::Answered)
    }

    /// Returns the reason's `kind` in JSON if the reason is a failure of the turn; `None` if it is not.
    pub(crate) fn failure(&self) -> Option<String> {
        if matches!(self, StopReason::Answered | StopReason::OutputLimit | StopReason::Suspended) {
            return None;
        }
        serde_json::to_value(self).ok()?.get("kind")?.as_str().map(str::to_owned)
    }

    /// Returns the underlying error of a failed model or a failed prompt; `None` for any other reason.
    pub(super) fn cause(&self) -> Option<Cause> {
        match self {
            StopReason::ModelFailed(failure) => failure.source.as_deref().cloned().map(Cause::new),
            StopReason::PromptFailed { source, .. } => source.clone(),
            _ => None,
        }
    }
}

/// Returns the instruction for getting a longer context, in the terms of the server if the server is known.
pub(super) fn longer_context(remedy: &Option<String>) -> &str {
    remedy.as_deref().unwrap_or("give the model a longer context (llama.cpp: -c; Ollama: num_ctx)")
}

/// Returns the message that the prompt does not fit the context, with the numbers of tokens if both are known.
fn too_long(prompt: &Option<usize>, context: &Option<usize>) -> String {
    match (prompt, context) {
        // Prompt and reply share the context, so a prompt that fits alone may be refused.
        (Some(prompt), Some(context)) if prompt <= context => {
            format!("the prompt of {prompt} tokens and its reply do not fit the context of {context} tokens")
        }
        (Some(prompt), Some(context)) => {
            format!("the prompt of {prompt} tokens does not fit the context of {context} tokens")
        }
        _ => "the prompt does not fit the context".to_owned(),
    }
}
