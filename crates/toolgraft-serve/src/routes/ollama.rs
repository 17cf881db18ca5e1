//! The requests of Ollama's interface other than chat and generate: models, version, embeddings. If
//! the endpoint is an Ollama server its own answers are used; otherwise they are made from the
//! endpoint's list of models and its information pages.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use serde_json::{Map, Value, json};

use super::missing_routes;
use super::shared::Shared;
use crate::access::admission;
use toolgraft::wire::{set_member, take_member};
use toolgraft_protocol::{Fault, OLLAMA_PATHS, parse, utc, without_tools};

/// Version of Ollama that the server reports. Clients compare it with their minimum, such as 0.6.4 (VS Code), and
/// accept only numbers.
const VERSION: &str = "0.40.12";

/// Paths of Ollama's API that manage models; they are refused, since the endpoint manages its models itself.
const ELSEWHERE: [&str; 6] = ["pull", "push", "create", "copy", "delete", "blobs"];

/// Returns the answer to a request of Ollama's API other than `/api/chat` and `/api/generate`.
///
/// # Errors
/// Fails if the path is unknown or not supported here, or if the endpoint does not have the
/// information.
pub(crate) async fn told(shared: &Shared, request: Request) -> Result<Value, Fault> {
    let (parts, body) = request.into_parts();
    let (headers, path) = (&parts.headers, parts.uri.path());
    let asked = path.strip_prefix(OLLAMA_PATHS).unwrap_or_default();
    let (what, _) = asked.split_once('/').unwrap_or((asked, ""));
    if ELSEWHERE.contains(&what) {
        let message = format!(
            "{path} is not supported here: the endpoint manages the models. Do it there, such as with 'ollama \
             {what}'; what it then has is listed here"
        );
        return Err(Fault::door(501, "not_implemented", message));
    }
    // HEAD counts as GET: a client may check with it that the server is there.
    let gets = matches!(parts.method, Method::GET | Method::HEAD);
    match asked {
        "version" if gets => return Ok(json!({"version": VERSION})),
        "tags" if gets => return tags(shared, headers).await,
        // Only an Ollama server knows which models are loaded.
        "ps" if gets => {
            let said = shared.upstream.of_ollama(Method::GET, "ps", headers, axum::body::Bytes::new()).await;
            return Ok(said.filter(|said| said["models"].is_array()).unwrap_or_else(|| json!({"models": []})));
        }
        "show" | "embed" | "embeddings" if parts.method == Method::POST => {}
        "version" | "tags" | "ps" | "show" | "embed" | "embeddings" => {
            let message = format!("{path} does not take {}", parts.method);
            return Err(Fault::door(405, "method_not_allowed", message));
        }
        _ => return Err(missing_routes::fault(path, headers)),
    }
    let body = parse(&admission::body(&parts, body, &shared.config.access).await?)?;
    match asked {
        "show" => show(shared, headers, &body).await,
        _ => vectors(shared, headers, body, asked == "embeddings").await,
    }
}

/// Returns the endpoint's models in the form of `/api/tags`.
async fn tags(shared: &Shared, headers: &HeaderMap) -> Result<Value, Fault> {
    let models = shared.models(headers).await?;
    let own = shared.upstream.of_ollama(Method::GET, "tags", headers, axum::body::Bytes::new()).await;
    let own = own.as_ref().and_then(|own| own["models"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let entry = |model: &Value| {
        let name = model["id"].as_str()?;
        let said = own.iter().find(|own| own["name"] == without_tools(name)).cloned();
        let mut entry = said.unwrap_or_else(|| {
            let created = utc(model["created"].as_u64().unwrap_or(0));
            json!({"modified_at": created, "size": 0, "digest": stand_in(name), "details": details(shared, name, "")})
        });
        set_member(&mut entry, "name", name);
        set_member(&mut entry, "model", name);
        Some(entry)
    };
    Ok(json!({"models": models.iter().filter_map(entry).collect::<Vec<_>>()}))
}

/// Returns a hash of the model's name in place of the digest of its file, of which clients show the beginning.
fn stand_in(name: &str) -> String {
    format!("{:064x}", BuildHasherDefault::<DefaultHasher>::default().hash_one(name))
}

fn details(shared: &Shared, name: &str, size: &str) -> Value {
    let family = shared.config.settings.profile_of(name).name;
    json!({"parent_model": "", "format": "", "family": family, "families": [family], "parameter_size": size,
        "quantization_level": ""})
}

/// Returns the description of a model in the form of `/api/show`: its capabilities through this server, and its
/// actual context size.
async fn show(shared: &Shared, headers: &HeaderMap, body: &Map<String, Value>) -> Result<Value, Fault> {
    let text = |field: &str| body.get(field).and_then(Value::as_str).filter(|name| !name.is_empty());
    // Older clients use `name`.
    let named = text("model").or(text("name"));
    let model =
        shared.config.settings.model_of(named).ok_or_else(|| Fault::field("model", "you must provide a 'model'"))?;
    let asked = json!({"model": model}).to_string().into();
    let own = shared.upstream.of_ollama(Method::POST, "show", headers, asked).await;
    // Neither Ollama itself nor a configured model answers here, so the name must be in the list.
    if own.is_none()
        && shared.config.settings.model.is_none()
        && let Ok(models) = shared.models(headers).await
        // An endpoint with a single model mostly serves it under any name.
        && models.len() > 1
        && models.iter().all(|listed| listed["id"] != *model)
    {
        let message = format!("model '{model}' not found: the endpoint does not list it");
        return Err(Fault::door(404, "model_not_found", message));
    }
    let info = shared.upstream.model.with_model(&model).model_info().await.unwrap_or_default();
    let profile = shared.config.settings.profile_of(&model);
    let size = info.parameters.map(|count| format!("{}.{}B", count / 1_000_000_000, count / 100_000_000 % 10));
    let mut show = own.unwrap_or_else(|| {
        json!({"modelfile": "", "parameters": "", "template": "",
            "details": details(shared, &model, size.as_deref().unwrap_or_default())})
    });
    let mut can: Vec<Value> = show["capabilities"].as_array().cloned().unwrap_or_default();
    for (word, has) in [
        ("completion", true),
        ("tools", true),
        ("vision", info.images == Some(true)),
        ("thinking", profile.reasons == Some(true)),
    ] {
        if has && can.iter().all(|known| known != word) {
            can.push(word.into());
        }
    }
    set_member(&mut show, "capabilities", can);
    let mut facts = show["model_info"].as_object().cloned().unwrap_or_default();
    let family = facts.entry("general.architecture").or_insert_with(|| profile.name.into());
    let length = format!("{}.context_length", family.as_str().unwrap_or(profile.name));
    facts.entry("general.basename").or_insert_with(|| model.as_str().into());
    if let Some(count) = info.parameters {
        facts.entry("general.parameter_count").or_insert_with(|| count.into());
    }
    if let Some(context) = shared.config.upstream.context.map(|tokens| tokens as u64).or(info.context) {
        // Replaces the value in the model file, which is only the largest possible context.
        facts.insert(length, context.into());
    }
    set_member(&mut show, "model_info", facts);
    Ok(show)
}

/// Returns the embeddings of texts in the form of `/api/embed`, or that of one text in the form of the older
/// `/api/embeddings`.
async fn vectors(
    shared: &Shared,
    headers: &HeaderMap,
    mut body: Map<String, Value>,
    is_older: bool,
) -> Result<Value, Fault> {
    let named = body.get("model").and_then(Value::as_str);
    let model =
        shared.config.settings.model_of(named).ok_or_else(|| Fault::field("model", "you must provide a 'model'"))?;
    let field = if is_older { "prompt" } else { "input" };
    let Some(input) = body.shift_remove(field).filter(|input| !input.is_null()) else {
        return Err(Fault::field(field, format!("you must provide '{field}'")));
    };
    let mut asked = json!({"model": model, "input": input});
    if let Some(dimensions) = body.shift_remove("dimensions").filter(|count| count.as_u64() > Some(0)) {
        asked["dimensions"] = dimensions;
    }
    let began = std::time::Instant::now();
    let asked = asked.to_string().into();
    let (status, mut answer) = shared.upstream.json(Method::POST, "embeddings", headers, asked, "answer").await?;
    if !status.is_success() {
        let error = &answer["error"];
        let said = error["message"].as_str().or(error.as_str()).unwrap_or("the endpoint has no embeddings");
        return Err(Fault::upstream(status.as_u16(), said));
    }
    let Value::Array(mut list) = take_member(&mut answer, "data") else {
        return Err(Fault::upstream(502, "the endpoint answered without vectors"));
    };
    list.sort_by_key(|item| item["index"].as_u64());
    let mut vectors = list.into_iter().map(|mut item| take_member(&mut item, "embedding"));
    if is_older {
        return Ok(json!({"embedding": vectors.next()}));
    }
    let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(json!({"model": model, "embeddings": vectors.collect::<Vec<_>>(), "total_duration": took, "load_duration": 0,
        "prompt_eval_count": answer["usage"]["prompt_tokens"].as_u64().unwrap_or(0)}))
}
