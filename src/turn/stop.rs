//! The reasons why a turn ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::model::ModelFailure;

/// The reason why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered.
    Answered,
    /// The output limit cut the answer off.
    OutputLimit,
    /// The model's answer was empty, even after it was told so.
    EmptyAnswer,
    /// The model refused to answer, in the endpoint's field for refusals.
    Refused {
        /// The text of the refusal.
        message: String,
    },
    /// The endpoint withheld the answer or the rest of it (`content_filter`).
    Filtered,
    /// The model did not make the required call.
    CallMissing,
    /// The model repeated a passage until it was stopped. The text before the repetition is the answer.
    Repetition {
        /// Number of consecutive occurrences of the passage.
        times: u32,
    },
    /// The model made only a call that was refused, because equal ones had returned the same result too often in a row
    /// ([`TurnConfig::max_same_results`](super::TurnConfig::max_same_results)).
    SameCalls {
        /// The tool.
        tool: String,
    },
    /// The last permitted round ended with a call or a mistake.
    MaxRounds {
        /// Number of permitted rounds.
        rounds: u32,
    },
    /// The model made the same kind of mistake repeatedly.
    CorrectionsUsedUp {
        /// Number of consecutive corrections that were sent.
        corrections: u32,
        /// The mistake in the last message.
        message: String,
    },
    /// The answer did not match the requested schema. The last answer is available as text.
    OutputMismatch {
        /// Number of consecutive corrections that were sent.
        corrections: u32,
        /// The mistake in the last answer.
        message: String,
    },
    /// The model failed.
    ModelFailed(ModelFailure),
    /// A text for the model could not be written: the program's prompt is wrong.
    PromptFailed {
        /// The problem.
        message: String,
        /// The underlying error, if there is one; `None` if the reason was deserialized.
        #[serde(skip)]
        source: Option<Cause>,
    },
    /// The answer was cut off because prompt and answer fill the context.
    ContextFull {
        /// Tokens of the context.
        context: usize,
        /// Tokens of the prompt, as the endpoint reports them.
        prompt: u64,
        /// Tokens of the answer.
        answer: u64,
        /// The way to get a longer context, if the server is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The necessary part of the request does not fit the context, even without the history.
    ContextTooSmall {
        /// Tokens of the context.
        context: usize,
        /// Tokens that are reserved for the reply.
        reply: usize,
        /// Tokens of the system text with its tools.
        system: usize,
        /// Tokens of the shortest request: system text, question, last results.
        request: usize,
        /// The way to get a longer context, if the server is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The endpoint reports that the prompt does not fit the model's context, and nothing more can be left out of it.
    ContextExceeded {
        /// Tokens of the prompt, if the endpoint reports them.
        prompt: Option<usize>,
        /// Tokens of the context, if the endpoint reports them.
        context: Option<usize>,
        /// The endpoint's message, and the way to get a longer context.
        message: String,
    },
    /// The turn was cancelled.
    Cancelled,
    /// The turn was suspended: the conversation may contain calls that have not begun, and the next turn continues with
    /// them.
    Suspended,
}

impl StopReason {
    /// Returns `true` if the model answered.
    pub fn is_answer(&self) -> bool {
        matches!(self, StopReason::Answered)
    }

    /// Returns the kind of failure, if it is one, as in the JSON form.
    pub(crate) fn failure(&self) -> Option<String> {
        if matches!(self, StopReason::Answered | StopReason::OutputLimit | StopReason::Suspended) {
            return None;
        }
        serde_json::to_value(self).ok()?.get("kind")?.as_str().map(str::to_owned)
    }

    /// Returns the underlying error, of the model or of the texts for it.
    pub(super) fn cause(&self) -> Option<Cause> {
        match self {
            StopReason::ModelFailed(failure) => failure.source.as_deref().cloned().map(Cause::new),
            StopReason::PromptFailed { source, .. } => source.clone(),
            _ => None,
        }
    }
}

/// Returns the way to get a longer context, in the terms of the server if it is known.
pub(super) fn longer_context(remedy: &Option<String>) -> &str {
    remedy.as_deref().unwrap_or("give the model a longer context (llama.cpp: -c; Ollama: num_ctx)")
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Answered => f.write_str("the model answered"),
            StopReason::OutputLimit => f.write_str("the output limit cut the answer off"),
            StopReason::EmptyAnswer => f.write_str("the model gave an empty answer"),
            StopReason::Refused { message } => write!(f, "the model refused to answer: {}", message.trim()),
            StopReason::Filtered => f.write_str("the endpoint's content filter withheld the answer"),
            StopReason::CallMissing => f.write_str("the model did not make the call that was required"),
            StopReason::Repetition { times } => {
                write!(f, "the model repeated itself, {times} times in a row, and was stopped")
            }
            StopReason::SameCalls { tool } => {
                write!(f, "the model made the same call of {tool} again and again, with the same result")
            }
            StopReason::MaxRounds { rounds } => {
                write!(f, "no answer within the limit of {rounds} {}", if *rounds == 1 { "round" } else { "rounds" })
            }
            StopReason::CorrectionsUsedUp { corrections, message } => {
                write!(f, "the model's call was still wrong after {corrections} corrections: {message}")
            }
            StopReason::OutputMismatch { corrections, message } => {
                write!(f, "the answer still did not match the schema after {corrections} corrections: {message}")
            }
            StopReason::ModelFailed(failure) => write!(f, "the model failed: {}", failure.message),
            StopReason::PromptFailed { message, .. } => write!(f, "the prompt cannot be written: {message}"),
            StopReason::ContextFull { context, prompt, answer, remedy } => write!(
                f,
                "the context of {context} tokens is full: the prompt takes {prompt}, and the answer was cut off after \
                 {answer}; {}, list the tools in fewer tokens, or begin a new conversation",
                longer_context(remedy)
            ),
            StopReason::ContextTooSmall { context, reply, system, request, remedy } => write!(
                f,
                "the context of {context} tokens is too small: the request takes at least {request}, of which the system \
                 text with its tools takes {system}, and {reply} are kept for the reply; {}, list the tools in fewer \
                 tokens, or allow a shorter reply",
                longer_context(remedy)
            ),
            StopReason::ContextExceeded { prompt, context, message } => {
                match (prompt, context) {
                    (Some(prompt), Some(context)) if prompt <= context => {
                        write!(
                            f,
                            "the prompt of {prompt} tokens and its reply do not fit the context of {context} tokens"
                        )
                    }
                    (Some(prompt), Some(context)) => {
                        write!(f, "the prompt of {prompt} tokens does not fit the context of {context} tokens")
                    }
                    _ => f.write_str("the prompt does not fit the context"),
                }?;
                write!(
                    f,
                    ", and nothing more can be left out of it ({message}); or list the tools in fewer tokens, \
                     allow a shorter reply, or ask in fewer words"
                )
            }
            StopReason::Cancelled => f.write_str("the turn was cancelled"),
            StopReason::Suspended => f.write_str("the turn was suspended"),
        }
    }
}
