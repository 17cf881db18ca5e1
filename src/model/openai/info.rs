//! The properties of a model that its endpoint reports.

use super::server::ServerKind;
use crate::dialect::Dialect;
use crate::message::Reads;

/// A model as its endpoint lists it. Properties that the endpoint does not report are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The model's name in requests.
    pub id: String,
    /// Maximum number of tokens of prompt and answer together. vLLM reports `max_model_len`, OpenRouter
    /// `context_length`, llama.cpp `meta.n_ctx`; a local server reports the loaded context at paths of its own
    /// ([`OpenAi::model_info`](crate::OpenAi::model_info)).
    pub context: Option<u64>,
    /// `true` if requests may carry native tools. OpenRouter lists `tools` among a model's `supported_parameters`; LM
    /// Studio and Mistral report it in `capabilities`.
    pub tools: Option<bool>,
    /// `true` if the model reads images. llama.cpp reports it in `/props` (`modalities.vision`), Ollama in
    /// `capabilities` (`vision`), OpenRouter in `architecture.input_modalities`, LM Studio in `type` (`vlm`).
    pub images: Option<bool>,
    /// `true` if the model reads audio. llama.cpp reports it in `modalities.audio`, other servers as `audio` in their
    /// lists.
    pub audio: Option<bool>,
    /// Number of parameters. llama.cpp reports `meta.n_params`, Ollama `details.parameter_size`.
    pub parameters: Option<u64>,
    /// The server that runs the model, if it can be recognised.
    pub server: Option<ServerKind>,
    /// The server's version: llama.cpp reports it in `/props` (`build_info`), Ollama at `/api/version`, vLLM at
    /// `/version`, SGLang at `/get_server_info`.
    pub version: Option<String>,
    /// The model's native dialect, found in its chat template ([`Dialect::of_template`]). llama.cpp returns the
    /// template in `/props`.
    pub dialect: Option<Dialect>,
}

impl ModelInfo {
    /// Returns the kinds of input that the model is known to read besides text.
    pub fn reads(&self) -> Reads {
        Reads::default().with_images(self.images == Some(true)).with_audio(self.audio == Some(true))
    }

    /// Returns these properties, with those that are `None` filled from `other`.
    pub(super) fn or(self, other: ModelInfo) -> ModelInfo {
        ModelInfo {
            id: self.id,
            context: self.context.or(other.context),
            tools: self.tools.or(other.tools),
            images: self.images.or(other.images),
            audio: self.audio.or(other.audio),
            parameters: self.parameters.or(other.parameters),
            server: self.server.or(other.server),
            version: self.version.or(other.version),
            dialect: self.dialect.or(other.dialect),
        }
    }
}
