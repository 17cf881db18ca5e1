//! Warnings for the caller that do not change the turn.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stop::longer_context;

/// A warning for the caller; the turn continues as before. Its text for people ends with the remedy. The JSON form has
/// the variant under `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallerWarning {
    /// The endpoint read far fewer tokens than were sent, so it has cut the prompt.
    PromptCut {
        /// Tokens that were sent, by our own count.
        sent: u64,
        /// Tokens that the endpoint reported.
        read: u64,
    },
    /// The endpoint refuses tools in the request; from here on the prompt describes them.
    ToolsRefused {
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint failed on a request that carried the tools; from here on the prompt describes them.
    NativeFailed {
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint refuses the structure for the answer; the answer is constrained less, or not at all.
    ConstraintRefused {
        /// The endpoint's message.
        message: String,
    },
    /// A result does not match its tool's output schema. The model reads it unchanged.
    ResultMismatch {
        /// The tool's server, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool.
        tool: String,
        /// The expected values and their places.
        message: String,
    },
    /// The endpoint gives no probabilities of tokens; from here on the model decides whether to call.
    NoProbabilities,
    /// The endpoint does not constrain answers; from here on the model decides by what it writes whether to call
    /// ([free](crate::constrain::Way::Free)).
    NoStructure,
    /// The oldest part of the conversation was left out of the request, because it does not fit the context. The
    /// conversation itself is complete.
    HistoryLeftOut {
        /// Number of the model's messages that were left out, with their outcomes and notes.
        rounds: usize,
        /// Number of the user's questions that were left out.
        questions: usize,
        /// Number of this turn's results that were shortened to a line.
        results: usize,
        /// Tokens of the context.
        context: usize,
        /// The way to get a longer context, if the server is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl fmt::Display for CallerWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallerWarning::PromptCut { sent, read } => write!(
                f,
                "the endpoint read {read} tokens of a prompt of about {sent}: it has cut the prompt, and the model may \
                 not know its tools or the question; give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, or \
                 a Modelfile with PARAMETER num_ctx; LM Studio: the context length when the model is loaded), or send \
                 less: tools in fewer tokens, a shorter conversation"
            ),
            CallerWarning::ToolsRefused { message } => {
                write!(f, "the endpoint refuses tools in the request ({message}); the prompt describes them instead")
            }
            CallerWarning::NativeFailed { message } => {
                write!(f, "the endpoint fails at native tool calls ({message}); the prompt describes the tools instead")
            }
            CallerWarning::ConstraintRefused { message } => write!(
                f,
                "the endpoint refuses the constraint on the answer ({message}); a weaker one is used, and wrong \
                 answers are corrected; to use none, turn the constraint off"
            ),
            CallerWarning::ResultMismatch { server, tool, message } => {
                let name: Vec<&str> = server.iter().chain([tool]).map(String::as_str).collect();
                write!(
                    f,
                    "the result of {} does not match the tool's output schema ({message}); the model reads it \
                     unchanged; report this to the server's author",
                    name.join(".")
                )
            }
            CallerWarning::NoProbabilities => f.write_str(
                "the endpoint reports no probabilities of tokens (top_logprobs): the model decides by itself whether \
                 it calls",
            ),
            CallerWarning::NoStructure => {
                f.write_str("the endpoint does not constrain answers: the requested strategy becomes `free`")
            }
            CallerWarning::HistoryLeftOut { rounds, questions, results, context, remedy } => {
                let parts = [
                    (*rounds, "message of the model", "messages of the model"),
                    (*questions, "question", "questions"),
                    (*results, "result", "results"),
                ];
                let parts: Vec<String> = parts
                    .into_iter()
                    .filter(|(number, ..)| *number > 0)
                    .map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }))
                    .collect();
                write!(
                    f,
                    "the context of {context} tokens is full: {} were left out of the request, the oldest first; {}, list \
                     tools in fewer tokens, or begin a new conversation",
                    parts.join(", "),
                    longer_context(remedy)
                )
            }
        }
    }
}
