//! Whether an endpoint takes tools with a model, asked without a token of the model's.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};

use super::open::is_local;
use super::read::Source;
use super::{Inner, MAX_EVENT};

/// Time for all questions together. None makes the endpoint load a model.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Nobody answered the probe.
struct Unreached;

impl Inner {
    /// Whether requests for `model` may carry tools, as far as the endpoint says.
    /// Asked once per model, but again where nobody answered: the server may not
    /// have been up yet.
    pub(super) async fn native_tools(&self, model: &str) -> Option<bool> {
        if let Some(known) = self.learned().tools.get(model) {
            return *known;
        }
        let said = tokio::time::timeout(PROBE_TIMEOUT, self.probe(model)).await.unwrap_or(Err(Unreached)).ok()?;
        self.learned().tools.entry(model.to_owned()).or_insert(said);
        said
    }

    /// The standard list first, but for a server on this machine, none of which
    /// says it there; then what Ollama, LM Studio and llama.cpp say beside it, at
    /// their own paths.
    async fn probe(&self, model: &str) -> Result<Option<bool>, Unreached> {
        let listed = if is_local(&self.chat) { Vec::new() } else { self.list_models().await.unwrap_or_default() };
        if let Some(said) = listed.iter().find(|m| m.id == model).and_then(|m| m.tools) {
            return Ok(Some(said));
        }
        let Some(root) = root(&self.chat) else { return Ok(None) };
        let at = |path: &str| {
            let mut url = root.clone();
            url.set_path(&format!("{}{path}", root.path().trim_end_matches('/')));
            url
        };
        let show = json!({"model": model}).to_string();
        let show = self.http.post(at("/api/show")).header(CONTENT_TYPE, "application/json").body(show);
        let (ollama, lm_studio, llama_cpp) = futures::join!(
            self.answer(show),
            self.answer(self.http.get(at("/api/v0/models"))),
            self.answer(self.http.get(at("/props"))),
        );
        if listed.is_empty() && ollama.is_err() && lm_studio.is_err() && llama_cpp.is_err() {
            return Err(Unreached);
        }
        let [ollama, lm_studio, llama_cpp] = [ollama, lm_studio, llama_cpp].map(|answer| answer.ok().flatten());
        Ok(ollama
            .as_ref()
            .and_then(of_ollama)
            .or_else(|| lm_studio.as_ref().and_then(|list| of_lm_studio(list, model)))
            .or_else(|| llama_cpp.as_ref().and_then(of_llama_cpp)))
    }

    /// The JSON that is answered, if it is some.
    async fn answer(&self, request: RequestBuilder) -> Result<Option<Value>, Unreached> {
        let response = self.send(request).await.map_err(|_| Unreached)?;
        if !response.status().is_success() {
            return Ok(None);
        }
        let body = Source::new(response, PROBE_TIMEOUT).collect(MAX_EVENT).await.map_err(|_| Unreached)?;
        Ok(serde_json::from_slice(&body).ok())
    }

    /// Keeps that the endpoint took tools for this model.
    pub(super) fn took_tools(&self, model: &str) {
        self.learned().took.insert(model.to_owned());
    }

    /// Keeps that the endpoint refuses tools for this model; where it took some
    /// before, this request was at fault.
    pub(super) fn refused_tools(&self, model: &str) {
        let mut learned = self.learned();
        if !learned.took.contains(model) {
            learned.tools.insert(model.to_owned(), Some(false));
        }
    }
}

/// The server's address without `/v1/chat/completions`; `None` where the path is
/// another, as that of a service that stands for many endpoints.
fn root(chat: &Url) -> Option<Url> {
    let mut url = chat.clone();
    let path = chat.path().strip_suffix("/v1/chat/completions")?.to_owned();
    url.set_path(&path);
    Some(url)
}

/// `/api/show`: `capabilities` names `tools` (Ollama 0.6.4 and later,
/// docs.ollama.com/api-reference/show-model-details).
fn of_ollama(show: &Value) -> Option<bool> {
    let capabilities = show.get("capabilities")?.as_array()?;
    Some(capabilities.iter().any(|c| c == "tools"))
}

/// `/api/v0/models`: `capabilities` names `tool_use`
/// (lmstudio.ai/docs/developer/rest/endpoints). A model without it gets LM
/// Studio's own prompt for tools, which is no native calling.
fn of_lm_studio(list: &Value, model: &str) -> Option<bool> {
    let models = list.get("data")?.as_array()?;
    let own = models.iter().find(|m| m.get("id").is_some_and(|id| id == model))?;
    let capabilities = own.get("capabilities").and_then(Value::as_array);
    Some(capabilities.is_some_and(|all| all.iter().any(|c| c == "tool_use")))
}

/// `/props`: `chat_template_caps` (llama.cpp, tools/server/README.md). A server
/// that was started without templates says nothing.
fn of_llama_cpp(props: &Value) -> Option<bool> {
    let caps = props.get("chat_template_caps")?;
    let can = |key: &str| caps.get(key).and_then(Value::as_bool);
    let (tools, calls) = (can("supports_tools"), can("supports_tool_calls"));
    if tools.is_none() && calls.is_none() { None } else { Some(tools == Some(true) || calls == Some(true)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_says_it_in_its_own_words() {
        assert_eq!(of_ollama(&json!({"capabilities": ["completion", "tools"]})), Some(true));
        assert_eq!(of_ollama(&json!({"capabilities": ["completion"]})), Some(false));
        assert_eq!(of_ollama(&json!({"license": "x"})), None);
        let list = json!({"data": [{"id": "a", "capabilities": ["tool_use"]}, {"id": "b"}]});
        assert_eq!(of_lm_studio(&list, "a"), Some(true));
        assert_eq!(of_lm_studio(&list, "b"), Some(false));
        assert_eq!(of_lm_studio(&list, "c"), None);
        let props = |tools: bool, calls: bool| json!({"chat_template_caps": {"supports_tools": tools, "supports_tool_calls": calls}});
        assert_eq!(of_llama_cpp(&props(false, true)), Some(true));
        assert_eq!(of_llama_cpp(&props(false, false)), Some(false));
        assert_eq!(of_llama_cpp(&json!({"chat_template": "{{ messages }}"})), None);
    }

    #[test]
    fn only_a_server_of_its_own_is_asked_at_other_paths() {
        let root = |text: &str| root(&Url::parse(text).unwrap()).map(|url| url.to_string());
        assert_eq!(root("http://host:1/v1/chat/completions").as_deref(), Some("http://host:1/"));
        assert_eq!(root("http://host:1/llama/v1/chat/completions").as_deref(), Some("http://host:1/llama"));
        assert_eq!(root("https://host/openai/chat/completions"), None);
    }
}
