//! Why a turn ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered.
    Answered,
    /// The output limit cut the answer off.
    OutputLimit,
    /// The model said nothing, even when told so.
    EmptyAnswer,
    /// The model did not make the call that was required.
    CallMissing,
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
    ModelFailed {
        /// How.
        message: String,
    },
    /// What had to be said to the model cannot be said: the program's prompt is wrong.
    PromptFailed {
        /// How.
        message: String,
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
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Answered => f.write_str("the model answered"),
            StopReason::OutputLimit => f.write_str("the output limit cut the answer off"),
            StopReason::EmptyAnswer => f.write_str("the model gave an empty answer"),
            StopReason::CallMissing => f.write_str("the model did not make the call that was required"),
            StopReason::MaxRounds { rounds } => {
                write!(f, "no answer within the limit of {rounds} rounds")
            }
            StopReason::CorrectionsUsedUp { corrections, message } => {
                write!(f, "the model's call was still wrong after {corrections} corrections: {message}")
            }
            StopReason::OutputMismatch { corrections, message } => {
                write!(f, "the answer still did not match the schema after {corrections} corrections: {message}")
            }
            StopReason::ModelFailed { message } => write!(f, "the model failed: {message}"),
            StopReason::PromptFailed { message } => write!(f, "the prompt cannot be written: {message}"),
            StopReason::ContextTooSmall { context, reply, system, request } => write!(
                f,
                "the context of {context} tokens is too small: the request takes at least {request}, of which the system \
                 text with its tools takes {system}, and {reply} are kept for the reply; give the model a longer context \
                 (llama.cpp: -c; Ollama: num_ctx; then --context), list the tools in fewer tokens (--tool-budget), or allow a shorter reply (--max-tokens)"
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
                    ", and nothing more can be left out of it ({message}); or list the tools in fewer tokens \
                     (--tool-budget), allow a shorter reply (--max-tokens), or ask in fewer words"
                )
            }
            StopReason::Cancelled => f.write_str("the turn was cancelled"),
            StopReason::Suspended => f.write_str("the turn was suspended"),
        }
    }
}
