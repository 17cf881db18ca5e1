//! What an endpoint says of a model.

use super::server::ServerKind;

/// A model as its endpoint lists it. What an endpoint does not say is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The name to ask for.
    pub id: String,
    /// Most tokens of prompt and answer together. vLLM says `max_model_len`,
    /// OpenRouter `context_length`, llama.cpp `meta.n_ctx`; a local server says at paths of
    /// its own what it has loaded ([`OpenAi::model_info`](crate::OpenAi::model_info)).
    pub context: Option<u64>,
    /// Whether requests may carry tools. OpenRouter lists `tools` among a
    /// model's `supported_parameters`, LM Studio and Mistral say it in `capabilities`.
    pub tools: Option<bool>,
    /// Parameters. llama.cpp says `meta.n_params`, Ollama `details.parameter_size`.
    pub parameters: Option<u64>,
    /// What serves the model, where it shows itself.
    pub server: Option<ServerKind>,
}

impl ModelInfo {
    /// What is said here, and what `other` says beside it.
    pub(super) fn or(self, other: ModelInfo) -> ModelInfo {
        ModelInfo {
            id: self.id,
            context: self.context.or(other.context),
            tools: self.tools.or(other.tools),
            parameters: self.parameters.or(other.parameters),
            server: self.server.or(other.server),
        }
    }
}
