//! Warnings for the caller that do not change the turn.

use serde::{Deserialize, Serialize};

use super::stop::longer_context;

/// A warning for the caller; the turn continues as before. Its display text is a message for the user, with a remedy if
/// one is known. In JSON, the member `kind` is the warning's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallerWarning {
    /// The endpoint reported far fewer prompt tokens than were sent, so it has truncated the prompt.
    #[error(
        "the endpoint read {read} tokens of a prompt of about {sent}: it has cut the prompt, and the model may not know \
         its tools or the question; give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, or a Modelfile with \
         PARAMETER num_ctx; LM Studio: the context length when the model is loaded), or send less: tools in fewer \
         tokens, a shorter conversation"
    )]
    PromptCut {
        /// Number of prompt tokens that were sent, by this program's own count.
        sent: u64,
        /// Number of prompt tokens that the endpoint reported.
        read: u64,
    },
    /// The endpoint refused a request with native tools; from now on, the prompt describes the tools instead.
    #[error("the endpoint refuses tools in the request ({message}); the prompt describes them instead")]
    ToolsRefused {
        /// Error message of the endpoint.
        message: String,
    },
    /// The endpoint failed on a request with native tools; from now on, the prompt describes the tools instead.
    #[error("the endpoint fails at native tool calls ({message}); the prompt describes the tools instead")]
    NativeFailed {
        /// Error message of the endpoint.
        message: String,
    },
    /// The endpoint refused the constraint on the answer's structure; the answer is constrained less, or not at all.
    #[error(
        "the endpoint refuses the constraint on the answer ({message}); a weaker one is used, and wrong answers are \
         corrected; to use none, turn the constraint off"
    )]
    ConstraintRefused {
        /// Error message of the endpoint.
        message: String,
    },
    /// A tool's result does not match the tool's output schema. The model reads the result unchanged.
    #[error(
        "the result of {} does not match the tool's output schema ({message}); the model reads it unchanged; report this \
         to the server's author",
        name(.server.as_ref(), .tool)
    )]
    ResultMismatch {
        /// Name of the tool's server; `None` if the tool has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// Name of the called tool.
        tool: String,
        /// Description of the mismatch: the expected values with their places in the result.
        message: String,
    },
    /// The endpoint reports no token probabilities; from now on, the model decides by itself whether to call a tool.
    #[error(
        "the endpoint reports no probabilities of tokens (top_logprobs): the model decides by itself whether it calls"
    )]
    NoProbabilities,
    /// The endpoint does not apply constraints to answers; from now on, each message that the model writes freely is
    /// either a call or an answer (the strategy [`free`](crate::constrain::Way::Free)).
    #[error("the endpoint does not constrain answers: the requested strategy becomes `free`")]
    NoStructure,
    /// The oldest part of the conversation was omitted from the request, because it does not fit the model's context.
    /// The conversation itself is complete.
    #[error(
        "the context of {context} tokens is full: {} were left out of the request, the oldest first; {}, list tools in \
         fewer tokens, or begin a new conversation",
        left_out(*.rounds, *.questions, *.results),
        longer_context(.remedy)
    )]
    HistoryLeftOut {
        /// Number of the model's messages that were omitted, together with their outcomes and notes.
        rounds: usize,
        /// Number of the user's questions that were omitted.
        questions: usize,
        /// Number of tool results of this turn that were shortened to one line.
        results: usize,
        /// Size of the model's context, in tokens.
        context: usize,
        /// Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

fn name(server: Option<&String>, tool: &String) -> String {
    server.into_iter().chain([tool]).map(String::as_str).collect::<Vec<_>>().join(".")
}

/// Returns a text that lists the omitted parts of a conversation with their numbers: messages, questions and results.
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
