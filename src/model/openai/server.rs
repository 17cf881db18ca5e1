//! The servers that run models: how they are recognised, and the names of their settings.

use reqwest::Url;
use serde::Deserialize;

use crate::message::keyword_enum;

/// A server that runs models, as its endpoint identifies it: a program, or a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerKind {
    /// llama.cpp's `llama-server`.
    LlamaCpp,
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// DeepSeek's service.
    DeepSeek,
    /// OpenAI's service.
    OpenAi,
}

impl ServerKind {
    /// Returns an instruction for giving the server's models a longer context, in words that follow "…, or".
    pub fn longer_context(self) -> &'static str {
        match self {
            ServerKind::LlamaCpp => "start llama-server with a longer context (-c)",
            ServerKind::Ollama => {
                "give the model a longer context (OLLAMA_CONTEXT_LENGTH, or a Modelfile with PARAMETER num_ctx)"
            }
            ServerKind::LmStudio => "load the model with a longer context (lms load MODEL --context-length N)",
            ServerKind::Vllm => "start vLLM with a longer context (--max-model-len)",
            ServerKind::Sglang => "start SGLang with a longer context (--context-length)",
            ServerKind::DeepSeek | ServerKind::OpenAi => "use a model with a longer context",
        }
    }

    /// Returns the service that runs at the host of a URL, `None` if it is unknown.
    pub(super) fn of_host(url: &Url) -> Option<Self> {
        let host = url.host_str()?;
        let is = |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        let known = [("openai.com", ServerKind::OpenAi), ("deepseek.com", ServerKind::DeepSeek)];
        known.into_iter().find(|(domain, _)| is(domain)).map(|(_, kind)| kind)
    }

    /// Returns the server program that a list of models names as their owner (`owned_by`), `None` if it is unknown.
    pub(super) fn of_owner(owner: &str) -> Option<Self> {
        match owner {
            "llamacpp" => Some(ServerKind::LlamaCpp),
            "vllm" => Some(ServerKind::Vllm),
            "sglang" => Some(ServerKind::Sglang),
            _ => None,
        }
    }
}

keyword_enum!(ServerKind, "a server",
    "llama.cpp" => ServerKind::LlamaCpp, "Ollama" => ServerKind::Ollama, "LM Studio" => ServerKind::LmStudio,
    "vLLM" => ServerKind::Vllm, "SGLang" => ServerKind::Sglang, "DeepSeek" => ServerKind::DeepSeek,
    "OpenAI" => ServerKind::OpenAi);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_known_by_their_host() {
        let kind = |text: &str| ServerKind::of_host(&Url::parse(text).unwrap());
        assert_eq!(kind("https://api.deepseek.com/v1/chat/completions"), Some(ServerKind::DeepSeek));
        assert_eq!(kind("https://api.openai.com/v1/chat/completions"), Some(ServerKind::OpenAi));
        assert_eq!(kind("https://notopenai.com/v1"), None);
        assert_eq!(kind("http://127.0.0.1:8080/v1"), None);
    }
}
