//! What a caller should know although it changes nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stop::longer_context;

/// Something that the caller should know although the turn goes on as before.
/// Its text for people ends with the remedy. Its JSON form has the variant
/// under `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallerWarning {
    /// The endpoint read far fewer tokens than were sent: it has cut the prompt.
    PromptCut {
        /// Tokens that were sent, by our count.
        sent: u64,
        /// Tokens that the endpoint reported.
        read: u64,
    },
    /// The endpoint refuses tools in the request; the prompt describes them from here on.
    ToolsRefused {
        /// What the endpoint said.
        message: String,
    },
    /// The endpoint failed at a request that carried the tools; the prompt describes them from here on.
    NativeFailed {
        /// What it said.
        message: String,
    },
    /// The endpoint refuses the structure that the answer was to have; the answer is held to
    /// less of it, or to nothing.
    ConstraintRefused {
        /// What the endpoint said.
        message: String,
    },
    /// What a tool gave is not what its server says that it gives (its output schema). The
    /// model reads it as it came.
    ResultMismatch {
        /// The tool's server, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The tool.
        tool: String,
        /// What was expected where.
        message: String,
    },
    /// The endpoint gives no probabilities of tokens, so whether to call is
    /// left to the model from here on.
    NoProbabilities,
    /// The endpoint holds to no structure, so whether to call is left to what the model writes
    /// ([free](crate::constrain::Way::Free)) from here on.
    NoStructure,
    /// The oldest part of the conversation was left out of the request, since it
    /// does not fit the context. The conversation itself is whole.
    HistoryLeftOut {
        /// Messages of the model that were left out with all that belongs to them.
        rounds: usize,
        /// Questions of the person that were left out.
        questions: usize,
        /// Results of this turn that were shortened to a line.
        results: usize,
        /// Tokens that the context has.
        context: usize,
        /// How the context gets longer, where it is known what serves the model.
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
                "the endpoint refuses the form of the answer that was demanded ({message}); it answers with less of it, \
                 and what is wrong is corrected; to demand none, turn the constraint off"
            ),
            CallerWarning::ResultMismatch { server, tool, message } => {
                let name: Vec<&str> = server.iter().chain([tool]).map(String::as_str).collect();
                write!(
                    f,
                    "the result of {} breaks the tool's own output schema ({message}); the model reads it as it came; tell \
                     whoever wrote the server",
                    name.join(".")
                )
            }
            CallerWarning::NoProbabilities => f.write_str(
                "the endpoint tells no probabilities of tokens (top_logprobs): the model decides by itself whether it calls",
            ),
            CallerWarning::NoStructure => {
                f.write_str("the endpoint holds answers to no structure: the way that is asked for becomes `free`")
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
