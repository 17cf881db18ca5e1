//! The list of an endpoint's models.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::error::silence;
use super::error::{body_words, is_page, remedy, shown};
use super::read::Source;
use super::{Inner, MAX_EVENT};
use crate::model::ModelError;

/// Longest silence of an endpoint that is asked for its models.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(15);

/// A model as its endpoint lists it. What an endpoint does not say is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The name to ask for.
    pub id: String,
    /// Most tokens of prompt and answer together. vLLM says `max_model_len`,
    /// OpenRouter `context_length`, llama.cpp `meta.n_ctx`.
    pub context: Option<u64>,
    /// Whether requests may carry tools. OpenRouter lists `tools` among a
    /// model's `supported_parameters`, LM Studio and Mistral say it in `capabilities`.
    pub tools: Option<bool>,
}

impl Inner {
    pub(super) async fn list_models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let url = shown(&self.models);
        let bad = |message: String| ModelError::BadAnswer { url: url.clone(), message };
        let limit = self.idle.min(LIST_TIMEOUT);
        let sent = tokio::time::timeout(limit, self.send(self.http.get(self.models.clone()))).await;
        let response = sent.map_err(|_| bad(silence(limit)))?.map_err(|e| self.not_sent(&self.models, &e))?;
        let status = response.status();
        let body = Source::new(response, limit).collect(MAX_EVENT).await?;
        let text = String::from_utf8_lossy(&body);
        if !status.is_success() {
            let help = match status {
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
                    "the endpoint lists no models: name one, and check that the base URL is right (most end in /v1)"
                }
                _ => remedy(status, !self.secrets.is_empty()),
            };
            let words = self.hide(body_words(&text));
            let message = [words.as_str(), help].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(": ");
            return Err(ModelError::Refused { url, status: status.as_u16(), message });
        }
        let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| {
            let what = if is_page(&text) { "a web page" } else { "something else" };
            bad(format!("{what} came instead of a list of models: check the base URL"))
        })?;
        let list = json.get("data").or(json.get("models")).unwrap_or(&json).as_array();
        let no_list = || match super::error::message(&json) {
            Some(words) => bad(self.hide(words)),
            None => bad("the answer holds no list of models: name one, and check the base URL".to_owned()),
        };
        Ok(list.ok_or_else(no_list)?.iter().filter_map(info).collect())
    }
}

/// A model of the list; nothing for an item without a name.
fn info(item: &Value) -> Option<ModelInfo> {
    let id = item.as_str().or_else(|| ["id", "name"].iter().find_map(|key| item.get(key)?.as_str()))?;
    let places = ["/max_model_len", "/context_length", "/meta/n_ctx"];
    let context = places.iter().find_map(|place| item.pointer(place)?.as_u64());
    Some(ModelInfo { id: id.to_owned(), context, tools: tools(item) })
}

fn tools(item: &Value) -> Option<bool> {
    if let Some(parameters) = item.get("supported_parameters").and_then(Value::as_array) {
        return Some(parameters.iter().any(|p| p == "tools"));
    }
    match item.get("capabilities")? {
        // LM Studio says `tool_use`, Ollama `tools`. Others list capabilities
        // of quite another kind, so a name that is missing says nothing.
        Value::Array(names) => names.iter().any(|n| n == "tool_use" || n == "tools").then_some(true),
        Value::Object(flags) => flags.get("function_calling")?.as_bool(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_endpoints_say_of_their_models_is_read() {
        for (item, context, tools) in [
            (json!({"id": "m", "object": "model", "owned_by": "library"}), None, None),
            (json!({"id": "m", "owned_by": "vllm", "max_model_len": 32768}), Some(32768), None),
            (
                json!({"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072, "n_ctx": 4096}}),
                Some(4096),
                None,
            ),
            (json!({"id": "m", "context_length": 8192, "supported_parameters": ["tools"]}), Some(8192), Some(true)),
            (json!({"id": "m", "supported_parameters": ["temperature"]}), None, Some(false)),
            (json!({"id": "m", "capabilities": ["tool_use"]}), None, Some(true)),
            (json!({"id": "m", "capabilities": ["completion"]}), None, None),
            (json!({"id": "m", "capabilities": {"function_calling": false}}), None, Some(false)),
            (json!("m"), None, None),
            (json!({"name": "m"}), None, None),
        ] {
            assert_eq!(info(&item), Some(ModelInfo { id: "m".into(), context, tools }), "{item}");
        }
        assert_eq!(info(&json!({"object": "model"})), None);
    }
}
