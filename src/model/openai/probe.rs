//! Asks an endpoint for a model's properties without generating a token: support of tools, length of the context, size.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::WeakShared;
use reqwest::header::{CONNECTION, CONTENT_TYPE};
use reqwest::{RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};

use super::info::ModelInfo;
use super::native::tried;
use super::open::is_local;
use super::read::Source;
use super::server::ServerKind;
use super::{EndpointInner, OpenAi};
use crate::dialect::{Dialect, parameters_in_name};
use crate::model::decode::MAX_EVENT;

/// Time limit for all requests of a probe together. None of them makes the endpoint load a model.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit for each request of a probe: the other responses are used if one is missing.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The error of a probe request that got no response.
struct ProbeError;

impl EndpointInner {
    /// Returns `true` if requests to `model` may carry tools, `false` if not, `None` if the endpoint does not report
    /// it.
    pub(super) async fn native_tools(self: &Arc<Self>, model: &str) -> Option<bool> {
        if let Some(known) = self.learned().tools.get(model) {
            return *known;
        }
        let info = self.model_info(model).await?;
        let said = match (info.tools, info.version) {
            (Some(true), Some(version)) => self.tried(model, version).await,
            (said, _) => said,
        };
        self.learned().tools.entry(model.to_owned()).or_insert(said);
        said
    }

    /// Returns `true` if native calls of a model work with this version of its server, or if no trial gave a clear
    /// result. Concurrent callers share one trial.
    async fn tried(self: &Arc<Self>, model: &str, version: String) -> Option<bool> {
        let Some(kept) = self.trials.clone() else { return Some(true) };
        if let Some(fault) = kept.known(model, &version) {
            return Some(fault.is_none());
        }
        let trial = {
            let mut learned = self.learned();
            match learned.trying.get(model).and_then(WeakShared::upgrade) {
                Some(trial) => trial,
                None => {
                    let (client, name) = (OpenAi { inner: self.clone() }, model.to_owned());
                    let trial = async move {
                        // The next turn will find out, and will avoid native calls if they fail.
                        let Some(fault) = tried(&client, &name).await else { return Some(true) };
                        kept.keep(&name, &version, fault);
                        Some(fault.is_none())
                    };
                    let trial = trial.boxed().shared();
                    learned.trying.extend(trial.downgrade().map(|weak| (model.to_owned(), weak)));
                    trial
                }
            }
        };
        trial.await
    }

    /// Returns the properties that the endpoint reports for `model`, `None` if it does not answer. They are requested
    /// once per model, and concurrent callers share the request; it is repeated if there was no answer, since the
    /// server may not have been up yet.
    pub(super) async fn model_info(self: &Arc<Self>, model: &str) -> Option<ModelInfo> {
        let asked = {
            let mut learned = self.learned();
            if let Some(known) = learned.info.get(model) {
                return Some(known.clone());
            }
            match learned.asked.get(model).and_then(WeakShared::upgrade) {
                Some(asked) => asked,
                None => {
                    let (inner, name) = (self.clone(), model.to_owned());
                    let asked = async move { inner.ask_about(&name).await }.boxed().shared();
                    learned.asked.extend(asked.downgrade().map(|weak| (model.to_owned(), weak)));
                    asked
                }
            }
        };
        asked.await
    }

    async fn ask_about(&self, model: &str) -> Option<ModelInfo> {
        let said = tokio::time::timeout(PROBE_TIMEOUT, self.probe(model)).await.unwrap_or(Err(ProbeError));
        let server = || self.known_server();
        let said = said.ok().map(|said| ModelInfo { server: said.server.or_else(server), ..said });
        let mut learned = self.learned();
        // Without an answer the next caller asks again.
        learned.asked.remove(model);
        learned.info.extend(said.clone().map(|said| (model.to_owned(), said)));
        said
    }

    /// Returns the listed model of this name, or the only one in the list; `None` if there is neither.
    pub(super) async fn listed_model(&self, model: &str) -> Option<ModelInfo> {
        let mut listed = tokio::time::timeout(PROBE_TIMEOUT, self.listed()).await.ok()?;
        match listed.iter().position(|info| info.id == model) {
            Some(at) => Some(listed.swap_remove(at)),
            // A server with a single model mostly serves it under any name.
            None => listed.pop().filter(|_| listed.is_empty()),
        }
    }

    /// Requests the properties of a model. The standard list of models comes first, unless the server is on this
    /// machine; then the paths of Ollama, LM Studio and llama.cpp. On this machine the list comes last, because of
    /// those three only llama.cpp's has more information. Finally the version is requested, if the list indicates vLLM
    /// or SGLang.
    async fn probe(&self, model: &str) -> Result<ModelInfo, ProbeError> {
        let local = is_local(&self.chat);
        let listed = if local { Vec::new() } else { self.listed().await };
        let own = |listed: &[ModelInfo]| listed.iter().find(|m| m.id == model).cloned();
        let own_entry = own(&listed).unwrap_or_else(|| ModelInfo { id: model.to_owned(), ..ModelInfo::default() });
        // A remote list that says whether the model takes tools (OpenRouter's) says enough.
        let Some(root) = root(&self.chat).filter(|_| local || own_entry.tools.is_none()) else { return Ok(own_entry) };
        let at = |path: &str| {
            let mut url = root.clone();
            url.set_path(&format!("{}{path}", root.path().trim_end_matches('/')));
            url
        };
        let show = json!({"model": model}).to_string();
        let show = self.http.post(at("/api/show")).header(CONTENT_TYPE, "application/json").body(show);
        let (ollama, loaded, version, lm_studio, llama_cpp) = futures::join!(
            self.answer(show),
            self.answer(self.http.get(at("/api/ps"))),
            self.answer(self.http.get(at("/api/version"))),
            self.answer(self.http.get(at("/api/v0/models"))),
            self.answer(self.http.get(at("/props"))),
        );
        // An empty list may also mean that the endpoint has none, so it counts as no answer only if no server answered.
        if listed.is_empty() && ollama.is_err() && lm_studio.is_err() && llama_cpp.is_err() {
            return Err(ProbeError);
        }
        let [ollama, loaded, lm_studio, llama_cpp] =
            [ollama, loaded, lm_studio, llama_cpp].map(|answer| answer.ok().flatten());
        let mut info = own_entry;
        if let Some(show) = &ollama {
            let version = version.ok().flatten();
            let version = version.and_then(|said| said.get("version")?.as_str().map(str::to_owned));
            info = info.or(ModelInfo { version, ..of_ollama(show, loaded.as_ref(), model) });
        }
        if let Some(list) = &lm_studio {
            info = info.or(of_lm_studio(list, model));
        }
        if let Some(props) = &llama_cpp {
            info = info.or(of_llama_cpp(props));
        }
        // Only llama.cpp's list has the size of the model; for other servers enough is known already.
        if local && matches!(info.server, None | Some(ServerKind::LlamaCpp)) {
            let listed = self.listed().await;
            let only = || listed.first().filter(|_| listed.len() == 1).cloned();
            info = info.or(own(&listed).or_else(only).unwrap_or_default());
        }
        if let Some(path) = info.server.and_then(version_path) {
            let said = self.answer(self.http.get(at(path))).await.ok().flatten();
            info.version = info.version.or_else(|| Some(said?.get("version")?.as_str()?.to_owned()));
        }
        Ok(info)
    }

    /// Returns the JSON of a response that arrives in time; `None` if it is not JSON or reports an error.
    async fn answer(&self, request: RequestBuilder) -> Result<Option<Value>, ProbeError> {
        tokio::time::timeout(ANSWER_TIMEOUT, self.answer_to(request)).await.unwrap_or(Err(ProbeError))
    }

    async fn answer_to(&self, request: RequestBuilder) -> Result<Option<Value>, ProbeError> {
        // Six questions at once would leave as many open connections, which the server may have closed by the time of
        // the chat request.
        let request = request.header(CONNECTION, "close");
        let response = self.send(request).await.map_err(|_| ProbeError)?;
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            // The server loads its model, and reports more once it has.
            return Err(ProbeError);
        }
        if !response.status().is_success() {
            return Ok(None);
        }
        let body = Source::new(response, PROBE_TIMEOUT).collect(MAX_EVENT).await.map_err(|_| ProbeError)?;
        Ok(serde_json::from_slice(&body).ok())
    }

    /// Records that the endpoint accepted tools for this model.
    pub(super) fn took_tools(&self, model: &str) {
        self.learned().took.insert(model.to_owned());
    }

    /// Records that the endpoint refuses tools for this model. If it accepted tools before, nothing is recorded: only
    /// this request was at fault.
    pub(super) fn refused_tools(&self, model: &str) {
        let mut learned = self.learned();
        if !learned.took.contains(model) {
            learned.tools.insert(model.to_owned(), Some(false));
        }
    }
}

/// Returns the server's URL without `/v1/chat/completions`; `None` if the path ends otherwise, as for a service with
/// many endpoints.
fn root(chat: &Url) -> Option<Url> {
    let mut url = chat.clone();
    let path = chat.path().strip_suffix("/v1/chat/completions")?.to_owned();
    url.set_path(&path);
    Some(url)
}

/// Returns the path at which a server reports its version if it was recognised by its list of models, else `None`: vLLM
/// (`vllm/entrypoints/serve/instrumentator`), SGLang (`sglang/srt/entrypoints/http_server.py`).
fn version_path(server: ServerKind) -> Option<&'static str> {
    match server {
        ServerKind::Vllm => Some("/version"),
        ServerKind::Sglang => Some("/get_server_info"),
        _ => None,
    }
}

/// Reads Ollama's `/api/show`: `capabilities` contains `tools` (Ollama 0.6.4 and later,
/// docs.ollama.com/api-reference/show-model-details), `parameters` has the Modelfile's `num_ctx`, one line each.
/// `/api/ps` has the `context_length` of loaded models. The context length in `model_info` is that of the model's
/// training, not the configured one.
fn of_ollama(show: &Value, loaded: Option<&Value>, model: &str) -> ModelInfo {
    let capabilities = show.get("capabilities").and_then(Value::as_array);
    let running = loaded.and_then(|loaded| loaded.get("models")?.as_array());
    let is_own = |entry: &&Value| {
        let names = ["name", "model"].iter().filter_map(|key| entry.get(key)?.as_str());
        // Ollama adds this tag to a name without one.
        names.into_iter().any(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    let running = running.and_then(|all| all.iter().find(is_own)?.get("context_length")?.as_u64());
    let set = || {
        let lines = show.get("parameters")?.as_str()?.lines();
        let words = lines.map(str::split_whitespace);
        words.into_iter().find_map(|mut words| (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?)
    };
    let size = || show.pointer("/details/parameter_size")?.as_str().and_then(parameters_in_name);
    let exact = show.pointer("/model_info/general.parameter_count").and_then(Value::as_u64);
    ModelInfo {
        tools: capabilities.map(|all| all.iter().any(|c| c == "tools")),
        images: capabilities.map(|all| all.iter().any(|c| c == "vision")),
        audio: capabilities.map(|all| all.iter().any(|c| c == "audio")),
        context: running.or_else(set),
        parameters: exact.or_else(size),
        server: (capabilities.is_some() || show.get("details").is_some()).then_some(ServerKind::Ollama),
        ..ModelInfo::default()
    }
}

/// Reads LM Studio's `/api/v0/models`: `capabilities` contains `tool_use`; `loaded_context_length` is the context of a
/// loaded model (lmstudio.ai/docs/developer/rest/endpoints). A model without `tool_use` gets LM Studio's own prompt for
/// tools, which is not native calling.
fn of_lm_studio(list: &Value, model: &str) -> ModelInfo {
    let own = list
        .get("data")
        .and_then(Value::as_array)
        .and_then(|models| models.iter().find(|m| m.get("id").is_some_and(|id| id == model)));
    let Some(own) = own else { return ModelInfo::default() };
    let capabilities = own.get("capabilities").and_then(Value::as_array);
    ModelInfo {
        tools: Some(capabilities.is_some_and(|all| all.iter().any(|c| c == "tool_use"))),
        images: own.get("type").map(|kind| kind == "vlm"),
        context: own.get("loaded_context_length").and_then(Value::as_u64),
        server: Some(ServerKind::LmStudio),
        ..ModelInfo::default()
    }
}

/// Reads llama.cpp's `/props`: `chat_template_caps`, and the context of one slot in `default_generation_settings`
/// (tools/server/README.md). A server that was started without templates reports nothing about tools.
fn of_llama_cpp(props: &Value) -> ModelInfo {
    let caps = props.get("chat_template_caps");
    let can = |key: &str| caps?.get(key).and_then(Value::as_bool);
    let (tools, calls) = (can("supports_tools"), can("supports_tool_calls"));
    let settings = props.get("default_generation_settings");
    let template = props.get("chat_template");
    // Another server may answer at this path with JSON that has none of these.
    let is_its = settings.is_some() || caps.is_some() || template.is_some();
    ModelInfo {
        // If a template has only one of the two, llama.cpp writes the other itself (the polyfills of its minja).
        tools: (tools.is_some() || calls.is_some()).then(|| tools == Some(true) || calls == Some(true)),
        images: props.pointer("/modalities/vision").and_then(Value::as_bool),
        audio: props.pointer("/modalities/audio").and_then(Value::as_bool),
        context: settings.and_then(|settings| settings.get("n_ctx")?.as_u64()),
        server: is_its.then_some(ServerKind::LlamaCpp),
        version: props.get("build_info").and_then(Value::as_str).map(str::to_owned),
        dialect: template.and_then(Value::as_str).and_then(Dialect::of_template),
        ..ModelInfo::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_says_it_in_its_own_words() {
        let ollama = |show: Value| of_ollama(&show, None, "m");
        assert_eq!(ollama(json!({"capabilities": ["completion", "tools"]})).tools, Some(true));
        assert_eq!(ollama(json!({"capabilities": ["completion"]})).tools, Some(false));
        assert_eq!(ollama(json!({"capabilities": ["completion", "vision"]})).images, Some(true));
        let seen = of_llama_cpp(&json!({"modalities": {"vision": true, "audio": false}, "chat_template": ""}));
        assert_eq!((seen.images, seen.audio, seen.reads().images), (Some(true), Some(false), true));
        let hermes = of_llama_cpp(&json!({"chat_template": "{% if tools %}<tool_call>{% endif %}"}));
        assert_eq!((hermes.dialect, seen.dialect), (Some(Dialect::Hermes), None));
        assert_eq!(ollama(json!({"license": "x"})), ModelInfo::default());
        let list = json!({"data": [{"id": "a", "capabilities": ["tool_use"]}, {"id": "b"}]});
        assert_eq!(of_lm_studio(&list, "a").tools, Some(true));
        assert_eq!(of_lm_studio(&list, "b").tools, Some(false));
        assert_eq!(of_lm_studio(&list, "c").tools, None);
        let props = |tools: bool, calls: bool| json!({"chat_template_caps": {"supports_tools": tools, "supports_tool_calls": calls}});
        assert_eq!(of_llama_cpp(&props(false, true)).tools, Some(true));
        assert_eq!(of_llama_cpp(&props(false, false)).tools, Some(false));
        assert_eq!(of_llama_cpp(&json!({"chat_template": "{{ messages }}"})).tools, None);
    }

    #[test]
    fn the_context_and_the_size_are_those_of_the_model_that_is_loaded() {
        let show = json!({"capabilities": [], "parameters": "stop \"<|end|>\"\nnum_ctx                        8192",
            "details": {"parameter_size": "134.52M"}, "model_info": {"llama.context_length": 131_072}});
        let loaded = json!({"models": [{"name": "other:latest", "context_length": 1}, {"name": "m:latest", "context_length": 4096}]});
        let set = of_ollama(&show, None, "m");
        assert_eq!(
            (set.context, set.parameters, set.server),
            (Some(8192), Some(134_520_000), Some(ServerKind::Ollama))
        );
        assert_eq!(of_ollama(&show, Some(&loaded), "m").context, Some(4096));
        assert_eq!(of_ollama(&json!({"details": {}}), None, "m").context, None);
        let list = json!({"data": [{"id": "m", "max_context_length": 131_072, "loaded_context_length": 4096}]});
        assert_eq!(of_lm_studio(&list, "m").context, Some(4096));
        let props = json!({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1});
        let said = of_llama_cpp(&props);
        assert_eq!((said.context, said.server, said.tools), (Some(2048), Some(ServerKind::LlamaCpp), None));
    }

    #[test]
    fn only_a_server_of_its_own_is_asked_at_other_paths() {
        let root = |text: &str| root(&Url::parse(text).unwrap()).map(|url| url.to_string());
        assert_eq!(root("http://host:1/v1/chat/completions").as_deref(), Some("http://host:1/"));
        assert_eq!(root("http://host:1/llama/v1/chat/completions").as_deref(), Some("http://host:1/llama"));
        assert_eq!(root("https://host/openai/chat/completions"), None);
    }
}
