//! Why a turn ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::model::ModelFailure;

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered.
    Answered,
    /// The output limit cut the answer off.
    OutputLimit,
    /// The model said nothing, even when told so.
    EmptyAnswer,
    /// The model refused to answer, in a field that the endpoint has for that.
    Refused {
        /// Its words.
        message: String,
    },
    /// The endpoint withheld the answer, or its rest (`content_filter`).
    Filtered,
    /// The model did not make the call that was required.
    CallMissing,
    /// The model repeated a passage until it was stopped. What came before is the answer.
    Repetition {
        /// Times in a row that the passage stands there.
        times: u32,
    },
    /// The model made nothing but a call that was refused, since equal ones had returned the same
    /// result too often in a row ([`TurnConfig::max_same_results`](super::TurnConfig::max_same_results)).
    SameCalls {
        /// The tool.
        tool: String,
    },
    /// The last round allowed ended with a call or a mistake.
    MaxRounds {
        /// Rounds allowed.
        rounds: u32,
    },
    /// The model made the same kind of mistake again and again.
    CorrectionsUsedUp {
        /// Corrections in a row that were sent.
        corrections: u32,
        /// What was wrong with the last message.
        message: String,
    },
    /// The answer did not match the schema that was asked for. The last one is
    /// there as text.
    OutputMismatch {
        /// Corrections in a row that were sent.
        corrections: u32,
        /// What was wrong with the last answer.
        message: String,
    },
    /// The model failed.
    ModelFailed(ModelFailure),
    /// What had to be said to the model cannot be said: the program's prompt is wrong.
    PromptFailed {
        /// How.
        message: String,
        /// The error behind it, where there is one; none where this was read back.
        #[serde(skip)]
        source: Option<Cause>,
    },
    /// The answer was cut off since prompt and answer fill the context.
    ContextFull {
        /// Tokens that the context has.
        context: usize,
        /// Tokens of the prompt, as the endpoint counts.
        prompt: u64,
        /// Tokens of the answer.
        answer: u64,
        /// How the context gets longer, where it is known what serves the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// What must be sent does not fit the context, even without the history.
    ContextTooSmall {
        /// Tokens that the context has.
        context: usize,
        /// Tokens that are kept for the reply.
        reply: usize,
        /// Tokens of the system text with its tools.
        system: usize,
        /// Tokens of the shortest request: system text, question, last results.
        request: usize,
        /// How the context gets longer, where it is known what serves the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// The endpoint says that the prompt does not fit the model's context, and nothing
    /// more can be left out of it.
    ContextExceeded {
        /// Tokens of the prompt, as far as the endpoint says it.
        prompt: Option<usize>,
        /// Tokens that the context has, as far as the endpoint says it.
        context: Option<usize>,
        /// The endpoint's words, and how its context is made longer.
        message: String,
    },
    /// The turn was cancelled.
    Cancelled,
    /// The turn was suspended: the conversation may hold calls that have not begun,
    /// and the next turn goes on with them.
    Suspended,
}

impl StopReason {
    /// Whether the model answered.
    pub fn is_answer(&self) -> bool {
        matches!(self, StopReason::Answered)
    }

    /// The kind of failure that it is, if it is one; as in its JSON form.
    pub(crate) fn failure(&self) -> Option<String> {
        if matches!(self, StopReason::Answered | StopReason::OutputLimit | StopReason::Suspended) {
            return None;
        }
        serde_json::to_value(self).ok()?.get("kind")?.as_str().map(str::to_owned)
    }

    /// The error behind it, of the model or of the words that are sent.
    pub(super) fn cause(&self) -> Option<Cause> {
        match self {
            StopReason::ModelFailed(failure) => failure.source.as_deref().cloned().map(Cause::new),
            StopReason::PromptFailed { source, .. } => source.clone(),
            _ => None,
        }
    }
}

/// How a context gets longer, in the words of the server, or of those that there are.
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
