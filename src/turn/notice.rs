//! What a caller should know although it changes nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that the caller should know although the turn goes on as before.
/// Its text for people ends with the remedy. Its JSON form has the variant
/// under `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
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
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::PromptCut { sent, read } => write!(
                f,
                "the endpoint read {read} tokens of a prompt of about {sent}: it has cut the prompt, and the model may \
                 not know its tools or the question; give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, or \
                 a Modelfile with PARAMETER num_ctx; LM Studio: the context length when the model is loaded), or send \
                 less (--tool-budget, --context)"
            ),
            Notice::ToolsRefused { message } => write!(
                f,
                "the endpoint refuses tools in the request ({message}); the prompt describes them instead, which \
                 --tools-mode prompt does from the start"
            ),
            Notice::HistoryLeftOut { rounds, questions, results, context } => {
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
                    "the context of {context} tokens is full: {} were left out of the request, the oldest first; give \
                     the model a longer context (llama.cpp: -c; Ollama: num_ctx; then --context), list tools in fewer tokens (--tool-budget), or begin a new \
                     conversation",
                    parts.join(", ")
                )
            }
        }
    }
}
