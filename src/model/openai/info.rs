//! What an endpoint says of a model.

use super::server::ServerKind;
use crate::dialect::Dialect;
use crate::message::Reads;

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
    /// Whether it reads images. llama.cpp says it in `/props` (`modalities.vision`), Ollama in
    /// `capabilities` (`vision`), OpenRouter in `architecture.input_modalities`, LM Studio in `type` (`vlm`).
    pub images: Option<bool>,
    /// Whether it hears: `modalities.audio`, and `audio` among the others' words.
    pub audio: Option<bool>,
    /// Parameters. llama.cpp says `meta.n_params`, Ollama `details.parameter_size`.
    pub parameters: Option<u64>,
    /// What serves the model, where it shows itself.
    pub server: Option<ServerKind>,
    /// The version of that, as it says it; llama.cpp in `/props` (`build_info`), Ollama at
    /// `/api/version`, vLLM at `/version`, SGLang at `/get_server_info`.
    pub version: Option<String>,
    /// The call syntax that its chat template writes ([`Dialect::of_template`]). llama.cpp shows the
    /// template in `/props`.
    pub dialect: Option<Dialect>,
}

impl ModelInfo {
    /// What the model is known to read beside text.
    pub fn reads(&self) -> Reads {
        Reads::default().with_images(self.images == Some(true)).with_audio(self.audio == Some(true))
    }

    /// What is said here, and what `other` says beside it.
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
