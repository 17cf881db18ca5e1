//! Requests the list of an endpoint's models.

use std::time::Duration;

use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::error::silence;
use super::error::{body_words, is_page, remedy};
use super::info::ModelInfo;
use super::open::{is_plain, redirect_target};
use super::read::Source;
use super::server::ServerKind;
use super::{EndpointInner, with_path};
use crate::cause::Cause;
use crate::model::ModelError;
use crate::model::decode::MAX_EVENT;
use crate::model::words::message;
use crate::secrets::shown_url;

/// Maximum time to wait for the endpoint's list of models without receiving data.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(15);

impl EndpointInner {
    /// Requests the list of models from the endpoint, and remembers it.
    pub(super) async fn list_models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let models = self.list_models_at(&self.models).await;
        match &models {
            Ok(models) => self.learned().listed = Some(models.clone()),
            // The endpoint has no list. After other errors it may have one later: it loads a model, or is busy.
            Err(ModelError::Refused { status: 400..=405 | 501, .. } | ModelError::BadAnswer { .. }) => {
                self.learned().listed.get_or_insert_default();
            }
            Err(_) => {}
        }
        models
    }

    /// Returns the remembered list of models, and requests it if there is none yet.
    pub(super) async fn listed(&self) -> Vec<ModelInfo> {
        let known = self.learned().listed.clone();
        match known {
            Some(models) => models,
            None => self.list_models().await.unwrap_or_default(),
        }
    }

    /// Corrects the URL of requests if the base URL lacks `/v1`, the most common mistake in one, and models are listed
    /// there. Returns the corrected base URL, with its secrets; `None` if it is not wrong or was corrected before.
    pub(super) async fn add_v1(&self) -> Option<Url> {
        let path = self.models.path().strip_suffix("/models")?;
        if path.ends_with("/v1") || self.learned().chat.is_some() {
            return None;
        }
        let mut url = self.models.clone();
        url.set_path(&format!("{path}/v1/models"));
        self.list_models_at(&url).await.ok().filter(|models| !models.is_empty())?;
        url.set_path(&format!("{path}/v1"));
        self.learned().chat = Some(with_path(&url, "chat/completions"));
        Some(url)
    }

    async fn list_models_at(&self, at: &Url) -> Result<Vec<ModelInfo>, ModelError> {
        let url = shown_url(at.as_str());
        let bad = |message: String| ModelError::bad_answer(url.clone(), message);
        let limit = self.idle.min(LIST_TIMEOUT);
        let sent = tokio::time::timeout(limit, self.send(self.http.get(at.clone()))).await;
        let response = match sent {
            Err(_) => return Err(bad(silence(limit))),
            Ok(Err(error)) => {
                let is_plain = is_plain(at, &error).await;
                return Err(self.not_sent(at, error, is_plain));
            }
            Ok(Ok(response)) => response,
        };
        let (status, target) = (response.status(), redirect_target(&response, at));
        let body = Source::new(response, limit).collect(MAX_EVENT).await?;
        let text = String::from_utf8_lossy(&body);
        if !status.is_success() {
            let help = match status {
                // A redirect has a better remedy than its status: the URL that it leads to.
                _ if target.is_some() => target.as_deref().unwrap_or_default(),
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
                    "the endpoint lists no models: name one, and check that the base URL is right (most end in /v1)"
                }
                _ => remedy(status, !self.secrets.is_empty()),
            };
            let words = self.hide(body_words(&text));
            let message = [words.as_str(), help].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(": ");
            return Err(ModelError::Refused { url, status: status.as_u16(), message, retry_after: None });
        }
        let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|e| {
            let what = if is_page(&text) { "a web page" } else { "something else" };
            let message = format!("{what} came instead of a list of models: check the base URL");
            ModelError::BadAnswer { url: url.clone(), message, gave_up: false, source: Some(Cause::new(e)) }
        })?;
        // Some endpoints name the list otherwise, or answer with it alone.
        let list = json.get("data").or(json.get("models")).unwrap_or(&json).as_array();
        let no_list = || match message(&json) {
            Some(words) => bad(self.hide(words)),
            None => bad("the answer holds no list of models: name one, and check the base URL".to_owned()),
        };
        Ok(list.ok_or_else(no_list)?.iter().filter_map(info).collect())
    }
}

/// Reads one item of the list of models; `None` if it has no name.
fn info(item: &Value) -> Option<ModelInfo> {
    let id = item.as_str().or_else(|| ["id", "name"].iter().find_map(|key| item.get(key)?.as_str()))?;
    let number = |place: &&str| item.pointer(place)?.as_u64();
    let context = ["/max_model_len", "/context_length", "/meta/n_ctx"].iter().find_map(number);
    let size = number(&"/meta/n_params");
    let server = item.get("owned_by").and_then(Value::as_str).and_then(ServerKind::of_owner);
    let parameters = size.filter(|n| *n > 0);
    let (tools, images, audio) = (tools(item), takes(item, "image"), takes(item, "audio"));
    Some(ModelInfo { id: id.to_owned(), context, tools, images, audio, parameters, server, ..ModelInfo::default() })
}

/// Returns `true` if a model reads the medium (`image` or `audio`), `false` if not, `None` if its entry does not say
/// so.
fn takes(item: &Value, medium: &str) -> Option<bool> {
    let word = if medium == "image" { "vision" } else { medium };
    declared(item, ("/architecture/input_modalities", medium), &[word], word)
}

/// Returns `true` if a model supports native tools, `false` if not, `None` if its entry does not say so.
fn tools(item: &Value) -> Option<bool> {
    // LM Studio lists `tool_use`, Ollama `tools`.
    declared(item, ("/supported_parameters", "tools"), &["tool_use", "tools"], "function_calling")
}

/// Returns `true` if a model has a capability: by a list at the JSON Pointer `place`, or by its capabilities as names
/// or flags.
fn declared(item: &Value, (place, own): (&str, &str), names: &[&str], flag: &str) -> Option<bool> {
    if let Some(all) = item.pointer(place).and_then(Value::as_array) {
        return Some(all.iter().any(|one| one == own));
    }
    match item.get("capabilities")? {
        // Other endpoints list unrelated capabilities, so a missing name means nothing.
        Value::Array(listed) => listed.iter().any(|one| names.iter().any(|name| one == name)).then_some(true),
        Value::Object(flags) => flags.get(flag)?.as_bool(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_model_reads_is_known_where_it_is_said() {
        for (item, images, audio) in [
            (json!({"id": "m"}), None, None),
            (json!({"id": "m", "architecture": {"input_modalities": ["text", "image"]}}), Some(true), Some(false)),
            (json!({"id": "m", "capabilities": {"vision": true}}), Some(true), None),
            (json!({"id": "m", "capabilities": ["completion", "vision"]}), Some(true), None),
            (json!({"id": "m", "capabilities": ["completion"]}), None, None),
            (json!({"id": "m", "capabilities": ["audio"]}), None, Some(true)),
            (json!({"id": "m", "capabilities": {"vision": false, "audio": true}}), Some(false), Some(true)),
        ] {
            let said = info(&item).unwrap();
            assert_eq!((said.images, said.audio), (images, audio), "{item}");
        }
    }

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
            let found = info(&item).unwrap();
            assert_eq!((found.id.as_str(), found.context, found.tools), ("m", context, tools), "{item}");
        }
        let own = json!({"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_params": 134_515_008}});
        let found = info(&own).unwrap();
        assert_eq!((found.parameters, found.server), (Some(134_515_008), Some(ServerKind::LlamaCpp)));
        for (owner, server) in [
            ("vllm", Some(ServerKind::Vllm)),
            ("sglang", Some(ServerKind::Sglang)),
            ("library", None),
            ("organization_owner", None),
        ] {
            assert_eq!(info(&json!({"id": "m", "owned_by": owner})).unwrap().server, server, "{owner}");
        }
        assert_eq!(info(&json!({"object": "model"})), None);
    }
}
