//! The HTTP routes. They lead to an exchange, or pass a request through to the endpoint.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next as Inner};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Map, Value, json};
use tower_http::decompression::RequestDecompressionLayer;

use super::answer::{LEFT_OUT_HEADER, Running};
use super::drive::Driver;
use super::keep_open::keep_open;
use super::missing_routes;
use super::ollama;
use super::page;
use super::search::search;
use super::shared::Shared;
use crate::access::keys::client_key;
use crate::access::reservation::Reservation;
use crate::access::{admission, origins};
use crate::config::Config;
use crate::inspection::inspector::Watch;
use crate::inspection::passthrough::PassthroughRecord;
use crate::metrics::log::LogEntry;
use toolgraft::Model;
use toolgraft::agent::TurnRecord;
use toolgraft::model::ClientError;
use toolgraft::secrets::Secrets;
use toolgraft::spans::{self, Span};
use toolgraft::transcript::Session;
use toolgraft::wire::content::text_of;
use toolgraft::wire::set_member;
use toolgraft_protocol::{
    self as protocol, ChatRequest, Exchange, Fault, Hosted, INTERFACES, LARGE_BODY, OLLAMA_PATHS, Places, Prepared,
    Shape, Writer,
};

/// Returns the routes of a server, to be nested in a program's own router or served alone.
///
/// - `POST /v1/chat/completions`: Chat Completions, with `tools` for any model.
/// - `POST /v1/messages` and `/v1/messages/count_tokens`: Anthropic's Messages.
/// - `POST /v1/responses`: OpenAI's Responses, whose items are stored for
///   [`KEPT_FOR`](crate::KEPT_FOR).
/// - `POST /v1beta/models/MODEL:generateContent`, `:streamGenerateContent?alt=sse` and
///   `:countTokens`: Gemini's.
/// - `GET /v1beta/models` and `/v1beta/models/MODEL`: the endpoint's models, for Google's clients.
/// - `POST /api/chat`, `/api/generate`, `/api/show`, `/api/embed` and `/api/embeddings`, `GET /api/tags`,
///   `/api/ps` and `/api/version`: Ollama's.
/// - `GET /v1/models/MODEL`: one of the endpoint's models, for clients of OpenAI's.
/// - `POST /v1/completions`, `POST /v1/embeddings`, `GET /v1/models`: passed through to the
///   endpoint.
/// - `GET /health`, `/ready`, `/metrics`.
/// - `GET /`: a page for people, with `/page.css` and `/page.js`.
///
/// # Errors
/// Fails if the endpoint's URL or key cannot be used.
pub fn router(config: Config) -> Result<Router, ClientError> {
    Ok(shared_router(Shared::new(config)?))
}

/// Returns the router of a server. The routes are in a router of their own, since a layer changes a path too late for
/// the router that it belongs to.
pub(crate) fn shared_router(shared: Arc<Shared>) -> Router {
    Router::new().fallback_service(routes(shared)).layer(middleware::map_request(without_extra_slashes))
}

/// Removes doubled slashes and one at the end from a request's path: clients write them after a base URL that ends in
/// a slash.
async fn without_extra_slashes(mut request: Request) -> Request {
    let path = request.uri().path();
    if path.len() > 1 && (path.ends_with('/') || path.contains("//")) {
        let segments: String = path.split('/').filter(|segment| !segment.is_empty()).flat_map(|s| ["/", s]).collect();
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if segments.is_empty() { "/" } else { &segments };
        // The host of the target stays, since it is checked.
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = format!("{path}{query}").try_into().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

fn routes(shared: Arc<Shared>) -> Router {
    let interfaces = INTERFACES.iter().fold(Router::new(), |router, interface| {
        router.route(interface.path, post(|State(s), request| answered(s, Map::new(), request)))
    });
    interfaces
        .route("/v1/messages/count_tokens", post(|State(s), request| counted(s, Map::new(), request)))
        .route("/v1beta/models", get(models))
        .route("/v1beta/models/{*target}", post(gemini).get(model))
        .route("/v1/models/{*target}", post(gemini).get(model))
        .route("/api/{*path}", any(ollama_told))
        .route("/v1/completions", post(|state, request| pass(state, request, "completions")))
        .route("/v1/embeddings", post(|state, request| pass(state, request, "embeddings")))
        .route("/v1/models", get(models))
        // Unknown encodings pass, so that they are refused later in the client's shape.
        .layer(RequestDecompressionLayer::new().pass_through_unaccepted(true))
        // A layer covers the routes above it and runs before earlier ones: a request without the key takes no
        // place in a budget, and `/metrics` answers when the budgets are exhausted.
        .layer(middleware::from_fn_with_state(shared.clone(), within_budgets))
        .route(
            "/metrics",
            get(|State(shared): State<Arc<Shared>>| async move { shared.metrics.page(&shared.config.access.budgets) }),
        )
        .layer(middleware::from_fn_with_state(shared.clone(), with_key))
        .route("/health", get(|| async { "ok\n" }))
        .route("/ready", get(ready))
        .route("/", get(|| async { page::html() }))
        .route("/page.css", get(|| async { page::css() }))
        .route("/page.js", get(|| async { page::js() }))
        .fallback(
            |request: Request| async move { Refused(missing_routes::fault(request.uri().path(), request.headers())) },
        )
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(shared.clone(), at_the_door))
        .with_state(shared)
}

async fn not_allowed(request: Request) -> Refused {
    let message = format!("{} does not take {}", request.uri().path(), request.method());
    Refused(Fault::door(405, "method_not_allowed", message))
}

/// The response for a fault, which [`at_the_door`] writes in the form of the client's interface.
struct Refused(Fault);

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused(fault)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The response of a route, or the fault with which it refuses the request.
type Answer = Result<Response, Refused>;

/// Checks the host and the origin of a request, then runs its route; counts and logs the request. Writes the fault of
/// a refused request into its response.
async fn at_the_door(State(shared): State<Arc<Shared>>, mut request: Request, inner: Inner) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if path.starts_with("/v1beta/") || path.starts_with("/v1/models/") {
        admission::take_key(&mut request);
    }
    let log = shared.config.log.as_ref().filter(|_| is_asked(&path));
    let line = log.map(|log| LogEntry::new(route(&path), log.clone()));
    if let Some(line) = &line {
        request.extensions_mut().insert(line.clone());
    }
    let shape = shape_of(&method, &path, request.headers());
    let origin = origins::allowed(request.headers(), &shared.config.access);
    // A browser's preflight request comes without the key.
    let preflight = origin.as_ref().and_then(|_| origins::preflight(&method, request.headers()));
    let mut response =
        match (admission::check_names(request.headers(), request.uri(), &shared.config.access), preflight) {
            // The names are checked for a preflight, too; the key comes with the request after it.
            (Ok(()), Some(answer)) => answer,
            (Ok(()), None) => shared.caught(inner.run(request)).await.map_err(Refused).into_response(),
            (Err(fault), _) => Refused(fault).into_response(),
        };
    let fault = response.extensions_mut().remove::<Fault>();
    if let Some(fault) = &fault {
        refuse(&mut response, shape, fault);
    }
    if let Some(origin) = origin {
        response = origins::readable(response, origin);
    }
    let status = response.status().as_u16();
    shared.metrics.answered(route(&path), status);
    if let Some(line) = line {
        line.answered(status, fault.and_then(|fault| fault.code));
    }
    response
}

/// Returns `true` if requests for this path are logged.
fn is_asked(path: &str) -> bool {
    !matches!(path, "/health" | "/ready" | "/metrics" | "/" | "/page.css" | "/page.js")
}

/// Returns the log entry of a request, with the model set; `None` if the server has no log.
fn line_of(parts: &Parts, shared: &Shared, model: &str) -> Option<LogEntry> {
    let line = parts.extensions.get::<LogEntry>()?;
    let key = client_key(&parts.headers);
    line.asks(model, &Secrets::new(shared.config.keys().chain(key.as_deref())));
    Some(line.clone())
}

async fn with_key(State(shared): State<Arc<Shared>>, request: Request, inner: Inner) -> Answer {
    let headers = request.headers();
    admission::check_key(headers, &shared.config.access)?;
    // Clients of Ollama's interface need no content type; litellm and curl send none or another. A page in a browser
    // does need it.
    let is_ollamas = request.uri().path().starts_with(OLLAMA_PATHS) && !admission::is_of_a_page(headers);
    if request.method() == Method::POST && !is_ollamas {
        admission::check_type(headers)?;
    }
    Ok(inner.run(request).await)
}

/// Returns the router for a connection beyond the budget, which refuses every request with this fault.
pub(crate) fn refusing_router(fault: Fault) -> Router {
    Router::new().fallback(move |request: Request| async move {
        let mut refused = ([(header::CONNECTION, "close")], ()).into_response();
        refuse(&mut refused, shape_of(request.method(), request.uri().path(), request.headers()), &fault);
        refused
    })
}

/// Runs a route if the budgets allow another request. The reservation lasts until the end of the answer.
async fn within_budgets(State(shared): State<Arc<Shared>>, mut request: Request, inner: Inner) -> Answer {
    let held = Reservation::new(request.headers(), &shared.config.access)?;
    request.extensions_mut().insert(held.clone());
    Ok(held.until_over(inner.run(request).await))
}

/// Returns the name of a path's route in the metrics and the log.
fn route(path: &str) -> &'static str {
    if let Some(interface) = INTERFACES.iter().find(|interface| path == interface.path) {
        return interface.name;
    }
    match path {
        "/v1/messages/count_tokens" => "count_tokens",
        _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => "generate_content",
        _ if path.ends_with(":countTokens") => "count_tokens",
        "/v1/models" | "/v1beta/models" | "/api/tags" | "/api/ps" | "/api/show" => "models",
        _ if path.starts_with("/v1/models/") || path.starts_with("/v1beta/models/") => "models",
        "/v1/completions" => "completions",
        "/v1/embeddings" | "/api/embed" | "/api/embeddings" => "embeddings",
        _ => "other",
    }
}

/// Returns the API format in which the client of a request reads errors and lists of models.
fn shape_of(method: &Method, path: &str, headers: &HeaderMap) -> &'static dyn Shape {
    protocol::shape_of(method == Method::POST, path, |name| headers.contains_key(name))
}

/// Makes a response the error response for a fault, in the format of this client API.
fn refuse(response: &mut Response, shape: &dyn Shape, fault: &Fault) {
    *response.status_mut() = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.body_mut() = shape.error(fault).to_string().into();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.remove(header::CONTENT_LENGTH);
    if fault.status >= 500 && !fault.retry {
        // OpenAI's clients retry server errors by themselves, which would be futile here.
        headers.insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
    }
    if let Some(after) = fault.retry_after {
        headers.insert(header::RETRY_AFTER, after.as_secs().into());
    }
}

async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.draining.load(Ordering::Relaxed) {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n").into_response();
    }
    match shared.ready.is_ready(&shared.upstream).await {
        true => "ready\n".into_response(),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the endpoint does not answer\n").into_response(),
    }
}

/// Query parameter by which Codex's request for a list of models is recognized. Codex expects a member `models` with
/// everything that it knows of a model, and rejects the whole list without it (github.com/openai/codex,
/// `ModelsResponse`).
const CODEX_LIST: &str = "client_version=";

/// Answers with the endpoint's list of models; with a toolbox each has a second entry, under the name that offers its
/// tools. Clients of Anthropic's and Google's APIs get the list in their own form.
async fn models(State(shared): State<Arc<Shared>>, request: Request) -> Answer {
    let (headers, query) = (request.headers(), request.uri().query().unwrap_or_default());
    let shape = shape_of(request.method(), request.uri().path(), headers);
    if shape.model("").is_some() {
        let models = shared.models(headers).await?;
        let models = models.iter().filter_map(|model| shape.model(model["id"].as_str()?)).collect();
        return Ok(whole(StatusCode::OK, &shape.models(models)));
    }
    let is_codex = query.split('&').any(|pair| pair.starts_with(CODEX_LIST));
    // Without second entries for the toolbox the endpoint's own list is the answer.
    if !is_codex && (shared.config.settings.toolbox.is_none() || shared.config.settings.toolbox_always) {
        return Ok(shared.upstream.pass(Method::GET, "models", headers, Bytes::new(), Span::none()).await?);
    }
    let (status, mut list) = shared.listed(headers).await?;
    if is_codex {
        // Empty, since the list is for models that Codex knows: for all others it uses its defaults.
        set_member(&mut list, "models", json!([]));
    }
    Ok(whole(status, &list))
}

/// Answers with one of the endpoint's models in its client's form: OpenAI's, Anthropic's or Google's.
async fn model(State(shared): State<Arc<Shared>>, Path(name): Path<String>, request: Request) -> Answer {
    // A path below the models that asks for an answer.
    if matches!(route(request.uri().path()), "generate_content" | "count_tokens") {
        return Ok(([(header::ALLOW, "POST")], not_allowed(request).await).into_response());
    }
    let model = found(&shared, &name, &shared.models(request.headers()).await?)?;
    let shape = shape_of(request.method(), request.uri().path(), request.headers());
    Ok(whole(StatusCode::OK, &shape.model(&text_of(&model["id"])).unwrap_or(model)))
}

/// Returns the model with this name from the endpoint's list; a model that the configuration sets answers under every
/// name. Fails with 404 if there is none.
fn found(shared: &Shared, name: &str, models: &[Value]) -> Result<Value, Fault> {
    let named = |wanted: &str| models.iter().find(|model| model["id"] == wanted).cloned();
    let found = named(name).or_else(|| {
        // A configured model answers under every name.
        let model = shared.config.settings.model.as_ref()?;
        let mut model =
            named(model).unwrap_or_else(|| json!({"object": "model", "created": 0, "owned_by": "toolgraft"}));
        set_member(&mut model, "id", name);
        Some(model)
    });
    found.ok_or_else(|| {
        let message = format!("the endpoint lists no model {name:?}");
        Fault::door(404, "model_not_found", message).with_param("model")
    })
}

/// Answers the requests of Ollama's API other than `/api/chat` and `/api/generate`.
async fn ollama_told(State(shared): State<Arc<Shared>>, request: Request) -> Answer {
    Ok(whole(StatusCode::OK, &ollama::told(&shared, request).await?))
}

fn whole(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Sends a request to this path of the endpoint, and returns its answer; only the model's name is replaced if one is
/// configured.
async fn pass(State(shared): State<Arc<Shared>>, request: Request, path: &'static str) -> Answer {
    let (parts, body) = request.into_parts();
    let body = admission::body(&parts, body, &shared.config.access).await?;
    let mut object = protocol::parse(&body)?;
    let named = object.get("model").and_then(Value::as_str);
    let line = line_of(&parts, &shared, shared.config.settings.model.as_deref().or(named).unwrap_or_default());
    let body = match &shared.config.settings.model {
        Some(model) => {
            object.insert("model".to_owned(), model.as_str().into());
            Value::Object(object).to_string().into()
        }
        None => body,
    };
    let answer = shared.upstream.pass(Method::POST, path, &parts.headers, body, Span::none()).await?;
    Ok(line.into_iter().fold(answer, |answer, line| line.follow(answer)))
}

/// Answers a request of Gemini's interface, whose path ends in `MODEL:METHOD`; streams are answered
/// as events.
async fn gemini(State(shared): State<Arc<Shared>>, Path(target): Path<String>, request: Request) -> Answer {
    let (model, method) = target.rsplit_once(':').unwrap_or((&target, ""));
    let is_events = request.uri().query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
    let named =
        |stream: bool| Map::from_iter([("model".to_owned(), model.into()), ("stream".to_owned(), stream.into())]);
    match method {
        "generateContent" => answered(shared, named(false), request).await,
        "streamGenerateContent" if is_events => answered(shared, named(true), request).await,
        "streamGenerateContent" => {
            Err(Fault::field("alt", "a stream is sent as events here: request it with '?alt=sse'").into())
        }
        "countTokens" => counted(shared, named(false), request).await,
        _ => {
            let message = format!("there is no {} here", request.uri().path());
            Err(Fault::door(404, "not_found", message).into())
        }
    }
}

/// Answers a request in the format of its client's API: by an exchange, by passing it through, or by a search in
/// place of the vendor's. `beside` are further fields of the body, from the path.
async fn answered(shared: Arc<Shared>, beside: Map<String, Value>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let shape = shape_of(&parts.method, parts.uri.path(), &parts.headers);
    let watch = watch(&shared, route(parts.uri.path()), &parts.headers);
    let answered = async {
        let body = admission::body(&parts, body, &shared.config.access).await?;
        if let Some(answer) = shape.at_once(&body) {
            return Ok(whole(StatusCode::OK, &answer));
        }
        let length = body.len();
        let (request, places, mut writer) = read(&shared, shape, beside, body.clone(), &parts.headers).await?;
        let placed = |fault| places.translate(shape, fault);
        let line = line_of(&parts, &shared, &request.model);
        if let Some(hosted) = request.hosted() {
            line.iter().for_each(|line| line.leaves_out(&hosted.left_out));
            let mut answer = hosted_answer(&shared, shape, &hosted).await?;
            name_left_out(&mut answer, &hosted.left_out);
            return Ok(answer);
        }
        if let Some(path) = shape.passes_to().filter(|_| request.is_plain()) {
            let profile = shared.config.settings.profile_of(&request.model);
            let passed =
                watch.as_ref().map(|watch| PassthroughRecord::new(watch, &request.body, &request.model, profile));
            let span = spans::chat(|| shared.upstream.model.peer(), Some(&request.model));
            spans::adopt(&span, &shared.upstream.traced(&parts.headers));
            let (state, stream) = (shared.clone(), request.stream);
            let body = request.passed().map_or(body, Bytes::from);
            let answer = async move {
                let answer = state.upstream.pass(Method::POST, path, &parts.headers, body, span).await;
                let answer = answer.inspect_err(|fault| passed.iter().for_each(|passed| passed.refused(fault)))?;
                let answer = line.into_iter().fold(answer, |answer, line| line.follow(answer));
                Ok(passed.into_iter().fold(answer, |answer, passed| passed.follow(answer)))
            };
            return match stream {
                true => keep_open(shape, shared.config.keep_alive, answer).await,
                false => answer.await,
            };
        }
        // The request was read from it; the answer may take minutes, and need not keep it.
        drop(body);
        let request = shared.known(request).await;
        let is_large = request.is_large(length);
        let (model, stream) = (request.model.clone(), request.stream);
        let span = spans::requested_turn(&model, &shared.upstream.traced(&parts.headers));
        let (state, headers, seen) = (shared.clone(), parts.headers.clone(), watch.clone());
        let within = span.clone();
        let logged = line.clone();
        let made = move || driver(&state, request, &headers, seen.as_ref(), logged.as_ref(), span);
        let (prepared, driver) = shared.apart(is_large, within, made).await?.map_err(placed)?;
        writer.begin(&model, driver.progress().prompt_tokens);
        let running = Running::new(shared.clone(), driver, model, watch.clone(), line);
        let answer = match stream {
            true => running.streamed(shape, writer).await,
            false => running.whole(writer).await,
        };
        let mut answer = answer.map_err(placed)?;
        name_left_out(&mut answer, &prepared.offered.left_out);
        Ok(answer)
    };
    let answered: Result<Response, Fault> = answered.await;
    watch.iter().for_each(|watch| match &answered {
        Ok(response) => watch.answered(response.status().as_u16()),
        Err(fault) => watch.refused(fault),
    });
    Ok(answered?)
}

/// Answers a request that only a tool of the vendor's own service could answer: with the results of
/// the toolbox's search tool, if one is configured.
///
/// # Errors
/// Fails if the interface reports such requests as errors.
async fn hosted_answer(shared: &Shared, shape: &dyn Shape, hosted: &Hosted) -> Result<Response, Fault> {
    let results = match (&shared.config.search, &shared.config.settings.toolbox) {
        (Some(name), Some(toolbox)) if hosted.is_search() && shape.takes_results() => {
            Some(search(toolbox.clone(), name, hosted).await)
        }
        _ => None,
    };
    let body = shape.hosted(hosted, results)?;
    let kind = if hosted.stream { shape.stream_type() } else { "application/json" };
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Adds the header with the types of the tools that were left out to an answer, if there are any.
fn name_left_out(answer: &mut Response, left_out: &str) {
    if let Some(named) = HeaderValue::from_str(left_out).ok().filter(|named| !named.is_empty()) {
        answer.headers_mut().insert(HeaderName::from_static(LEFT_OUT_HEADER), named);
    }
}

/// Starts recording a request; `None` if the server has no inspector.
fn watch(shared: &Shared, route: &'static str, headers: &HeaderMap) -> Option<Watch> {
    let inspector = shared.config.inspector.as_ref()?;
    let key = client_key(headers);
    Some(inspector.begin(route, &Secrets::new(shared.config.keys().chain(key.as_deref()))))
}

/// Answers a request to count tokens with an estimate of the prompt's tokens, without a request to the model.
async fn counted(shared: Arc<Shared>, beside: Map<String, Value>, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let shape = shape_of(&parts.method, parts.uri.path(), &parts.headers);
    let body = admission::body(&parts, body, &shared.config.access).await?;
    let length = body.len();
    let (request, places, _) = read(&shared, shape, beside, body, &parts.headers).await?;
    line_of(&parts, &shared, &request.model);
    let request = shared.known(request).await;
    let is_large = request.is_large(length);
    let state = shared.clone();
    let made = move || driver(&state, request, &parts.headers, None, None, Span::none());
    let made = shared.apart(is_large, Span::none(), made).await?;
    let (_, driver) = made.map_err(|fault| places.translate(shape, fault))?;
    Ok(whole(StatusCode::OK, &shape.count(driver.progress().prompt_tokens)))
}

/// Parses the body of a request, with the places of its tools and the writer for its answer; a large body is parsed
/// on a separate thread.
async fn read(
    shared: &Arc<Shared>,
    shape: &'static dyn Shape,
    beside: Map<String, Value>,
    body: Bytes,
    headers: &HeaderMap,
) -> Result<(ChatRequest, Places, Box<dyn Writer>), Fault> {
    let (length, state) = (body.len(), shared.clone());
    let kept = shared.kept.of(client_key(headers).as_deref());
    let read = move || ChatRequest::parse(shape, &body, beside, &state.config.settings, &state.cache, &kept);
    shared.apart(length >= LARGE_BODY, Span::none(), read).await?
}

/// Makes the driver for a request that cannot be passed through, and returns it with the prepared list of its tools.
fn driver(
    shared: &Arc<Shared>,
    request: ChatRequest,
    headers: &HeaderMap,
    watch: Option<&Watch>,
    line: Option<&LogEntry>,
    span: Span,
) -> Result<(Arc<Prepared>, Box<Driver>), Fault> {
    let model = request.model.clone();
    let kept = shared.kept.of(client_key(headers).as_deref());
    let (prepared, asked) = request.ask(&shared.config.settings, &shared.cache, kept)?;
    let recorder = watch.map(|watch| {
        let turn = prepared.setup.config();
        let session = Session::default()
            .with_profile(shared.config.settings.profile_of(&model).name.to_owned())
            .with_model(model)
            .with_dialect(turn.dialects)
            .with_reasoning(turn.reasoning)
            .with_reasoning_calls(turn.reasoning_calls);
        watch.record(asked.question(), session)
    });
    if let Some(line) = line {
        let offered = &prepared.offered;
        let form = asked.no_form.then_some("response_format");
        line.lists(prepared.cut, offered.set_aside.iter().map(String::as_str).chain(form));
        line.leaves_out(&offered.left_out);
    }
    let mut exchange = Exchange::new(prepared.clone(), asked)?;
    exchange.record = recorder.map(TurnRecord::new);
    // In a box, since every future that it passes through would otherwise hold a copy of it.
    Ok((prepared, Box::new(Driver::new(exchange, shared.clone(), headers, span))))
}
