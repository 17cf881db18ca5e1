//! Warnings for the caller that do not change the turn.

use serde::{Deserialize, Serialize};

use super::stop::longer_context;

/// A warning for the caller; the turn continues as before. Its text for people ends with the remedy. The JSON form has
/// the variant under `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallerWarning {
    /// The endpoint read far fewer tokens than were sent, so it has cut the prompt.
    #[error(
        "the endpoint read {read} tokens of a prompt of about {sent}: it has cut the prompt, and the model may not know \
         its tools or the question; give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, or a Modelfile with \
         PARAMETER num_ctx; LM Studio: the context length when the model is loaded), or send less: tools in fewer \
         tokens, a shorter conversation"
    )]
    PromptCut {
        /// Tokens that were sent, by our own count.
        sent: u64,
        /// Tokens that the endpoint reported.
        read: u64,
    },
    /// The endpoint refuses tools in the request; from here on the prompt describes them.
    #[error("the endpoint refuses tools in the request ({message}); the prompt describes them instead")]
    ToolsRefused {
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint failed on a request that carried the tools; from here on the prompt describes them.
    #[error("the endpoint fails at native tool calls ({message}); the prompt describes the tools instead")]
    NativeFailed {
        /// The endpoint's message.
        message: String,
    },
    /// The endpoint refuses the structure for the answer; the answer is constrained less, or not at all.
    #[error(
        "the endpoint refuses the constraint on the answer ({message}); a weaker one is used, and wrong answers are \
         corrected; to use none, turn the constraint off"
    )]
    ConstraintRefused {
        /// The endpoint's message.
        message: String,
    },
    /// A result does not match its tool's output schema. The model reads it unchanged.
    #[error(
        "the result of {} does not match the tool's output schema ({message}); the model reads it unchanged; report this \
         to the server's author",
        name(.server.as_ref(), .tool)
    )]
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
    #[error(
        "the endpoint reports no probabilities of tokens (top_logprobs): the model decides by itself whether it calls"
    )]
    NoProbabilities,
    /// The endpoint does not constrain answers; from here on the model decides by what it writes whether to call
    /// ([free](crate::constrain::Way::Free)).
    #[error("the endpoint does not constrain answers: the requested strategy becomes `free`")]
    NoStructure,
    /// The oldest part of the conversation was left out of the request, because it does not fit the context. The
    /// conversation itself is complete.
    #[error(
        "the context of {context} tokens is full: {} were left out of the request, the oldest first; {}, list tools in \
         fewer tokens, or begin a new conversation",
        left_out(*.rounds, *.questions, *.results),
        longer_context(.remedy)
    )]
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

fn name(server: Option<&String>, tool: &String) -> String {
    server.into_iter().chain([tool]).map(String::as_str).collect::<Vec<_>>().join(".")
}

/// Returns the parts of a conversation that were left out, with their numbers.
fn left_out(rounds: usize, questions: usize, results: usize) -> String {
    let parts = [
        (rounds, "message of the model", "messages of the model"),
        (questions, "question", "questions"),
        (results, "result", "results"),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
    let parts = parts.map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }));
    parts.collect::<Vec<_>>().join(", ")
}
