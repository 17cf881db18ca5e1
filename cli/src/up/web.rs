//! The requests of the page, inside the [doors](crate::pages::doors).
//!
//! ```text
//! GET  /                      the page, the same for everybody; with the page key for whom a token lets in
//! GET  /picture?chat=ID&call=ID&n=N   a picture of a result
//! GET  /timeline?chat=ID      what came when, as `replay --html` shows it
//! GET  /share?chat=ID         the same page as `log export` writes, as a file
//!
//! With the page key:
//! GET  /events?chat=ID        Server-Sent Events: the conversation as it is, then each step
//! GET  /chats?q=WORDS         the conversations that were kept
//! GET  /tools                 the servers and their tools
//! GET  /models                the names by which a model can be chosen
//! POST /model                 {"chat", "model"}
//! POST /ask                   {"chat", "text", "pasted"?, "files"?: [{"name", "data"}], "question"?}: in place of
//!                             that question, counted from 0, and of all that followed
//! POST /retry                 {"chat"}: the last question once more
//! POST /undo                  {"chat", "question"?}: the words of the question that is taken back
//! POST /rename                {"chat", "title"}
//! POST /delete                {"chat"}
//! POST /set                   {"chat", "key", "value"}, as `/set` of a terminal
//! POST /answer                {"chat", "call", "definition", "answer": "once" | "always" | "no", "reason"?}
//! POST /input                 {"input", "values"?}: without values it is declined; what is wrong with
//!                             one is answered as {"wrong"}
//! POST /stop                  {"chat"}
//! POST /switch                {"server", "tool"?, "on"}
//! ```

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::chats::Chats;
use super::common::Refusal;
use crate::base::Failure;
use crate::chat::Attached;
use crate::front::Answer;
use crate::log;
use crate::pages::doors::{self, Doors, Guarded, PageKey};
use crate::pages::{self, block::PageBlock};
use crate::replay;
use crate::screen::visible::{clean, word};
use crate::servers::status::reports;
use crate::sessions::said::Line;

const TEMPLATE: &str = include_str!("../../pages/up.html");
const SCRIPT: &str = include_str!("../../pages/up.js");
const OWN_STYLE: &str = include_str!("../../pages/up.css");

/// HTML attribute of the page without a page key, which is replaced to insert one.
const NO_KEY: &str = "data-key=\"\"";

/// Maximum size in bytes of a request with a question and its files in base64; a picture has at most 20 MB.
const MAX_QUESTION: usize = 64 << 20;

pub(super) const GUARDED: Guarded = Guarded {
    path: "/",
    cookie: "toolgraft_up",
    changes: true,
    entered: "a browser is connected; to connect one more:",
    remedy: "open the address that `toolgraft up` printed last: each lets one browser in, once\n",
    wants: "",
    other_port: "without --port a free one is used",
};

/// Paths of the POST requests except `/ask`, which has a larger limit on its body.
const CHANGES: [&str; 10] =
    ["/model", "/retry", "/undo", "/rename", "/delete", "/set", "/answer", "/input", "/stop", "/switch"];

/// State of the router: the conversations, and the HTML of the page without a page key.
#[derive(Clone)]
struct Desk {
    chats: Arc<Chats>,
    page: Arc<str>,
}

/// Returns the router of the page and its API. Requests of the API must carry the page key of `doors`.
pub(super) fn router(chats: Arc<Chats>, doors: Arc<Doors>) -> Result<Router, Failure> {
    let (spoken, thought) = (PageBlock::said(""), PageBlock::reasoning(""));
    let filled = json!({"own_style": OWN_STYLE, "script": SCRIPT, "spoken": spoken, "thought": thought});
    let filled = pages::file::render(TEMPLATE, filled).map_err(Failure::job)?;
    let desk = Desk { chats, page: filled.into() };
    let pages = Router::new()
        .route("/", get(page))
        .route("/picture", get(picture))
        .route("/timeline", get(timeline))
        .route("/share", get(share));
    // Looking at a conversation may begin one: that is a change, too.
    let of_the_page = Router::new()
        .route("/events", get(events))
        .route("/chats", get(list))
        .route("/tools", get(tools))
        .route("/models", get(models))
        .route("/ask", post(change).layer(DefaultBodyLimit::max(MAX_QUESTION)));
    let of_the_page = CHANGES
        .iter()
        .fold(of_the_page, |router, path| router.route(path, post(change)))
        .layer(middleware::from_fn_with_state(doors, doors::check_page_key));
    Ok(pages.merge(of_the_page).with_state(desk))
}

/// Returns the page. It contains the page key only if this request used a valid token.
async fn page(State(desk): State<Desk>, key: Option<Extension<PageKey>>) -> Html<String> {
    let key = key.map(|Extension(PageKey(key))| key).unwrap_or_default();
    Html(desk.page.replacen(NO_KEY, &format!("data-key=\"{key}\""), 1))
}

/// Returns the Content-Security-Policy of the page: only its own script, by hash, and requests only to this server.
pub(super) fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Returns a parameter of the query string, or an empty string if it is missing.
fn field(query: Option<&str>, name: &str) -> String {
    doors::value(query, name).unwrap_or_default()
}

/// Streams a conversation as Server-Sent Events: first its current state, then each further step.
async fn events(State(desk): State<Desk>, RawQuery(query): RawQuery) -> WebAnswer {
    let id = field(query.as_deref(), "chat");
    let chat = aside(move || desk.chats.enter(&id)).await?;
    let (state, told) = chat.look();
    let steps = stream::unfold((Some(state.to_string()), told), |(first, mut told)| async move {
        let step = match first {
            Some(first) => first,
            None => told.recv().await?,
        };
        Some((Ok::<_, Infallible>(Event::default().data(step)), (None, told)))
    });
    Ok(Sse::new(steps).keep_alive(KeepAlive::default()).into_response())
}

async fn picture(State(desk): State<Desk>, RawQuery(query): RawQuery) -> WebAnswer {
    let field = |name| field(query.as_deref(), name);
    let picture = desk.chats.find(&field("chat")).zip(field("n").parse().ok());
    let picture = picture.and_then(|(chat, n)| chat.person.picture(&field("call"), n)).ok_or_else(Refusal::gone)?;
    let bytes = STANDARD.decode(picture.base64()).map_err(|_| Refusal::gone())?;
    Ok(([(header::CONTENT_TYPE, picture.media_type())], bytes).into_response())
}

async fn list(State(desk): State<Desk>, RawQuery(query): RawQuery) -> WebAnswer {
    let words: Vec<String> = field(query.as_deref(), "q").split_whitespace().map(str::to_owned).collect();
    let list = aside(move || desk.chats.list(&words)).await?;
    answered(&json!({ "chats": list }))
}

/// Returns the page of a conversation: with a timeline in milliseconds if its turns were recorded, else as stored.
async fn timeline(State(desk): State<Desk>, RawQuery(query): RawQuery) -> WebAnswer {
    let id = field(query.as_deref(), "chat");
    let page = aside(move || {
        let chats = &desk.chats;
        let back = format!("/#{id}");
        let links = [(back.as_str(), "Back to the conversation")];
        let recording = chats.find(&id).and_then(|chat| chat.recording());
        let page = match (recording, chats.kept(&id)) {
            (Some(mut recording), kept) => {
                recording.session.title = kept.map(|kept| kept.saved.title());
                replay::page(&id, &recording, log::about(&links, Vec::new()), false)
            }
            (None, Some(kept)) => log::page(&kept, &links),
            (None, None) => return Ok(None),
        };
        page.map(Some).map_err(Failure::job)
    });
    Ok(Html(page.await?.ok_or_else(Refusal::gone)?).into_response())
}

/// Returns a stored conversation as an HTML file to download.
async fn share(State(desk): State<Desk>, RawQuery(query): RawQuery) -> WebAnswer {
    let id = field(query.as_deref(), "chat");
    let page = aside(move || {
        let Some(kept) = desk.chats.kept(&id) else { return Ok(None) };
        log::page(&kept, &[]).map(|page| Some((kept.id, page))).map_err(Failure::job)
    });
    let (id, page) = page.await?.ok_or_else(Refusal::gone)?;
    let name = format!("attachment; filename=\"conversation-{id}.html\"");
    Ok(([(header::CONTENT_DISPOSITION, name)], Html(page)).into_response())
}

async fn tools(State(desk): State<Desk>) -> WebAnswer {
    answered(&all_tools(&desk))
}

/// Returns the servers and their tools as JSON. A tool whose name has hidden characters also gets a `shown` name, in
/// which they are visible.
fn all_tools(desk: &Desk) -> Value {
    let mut servers = json!(reports(&desk.chats.common.hub));
    for server in servers.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(Value::String(error)) = server.get_mut("error") {
            *error = clean(error);
        }
        let tools = server.get_mut("tools").and_then(Value::as_array_mut);
        for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let shown = word(name);
            if shown != name {
                tool.insert("shown".to_owned(), shown.into());
            }
        }
    }
    json!({ "servers": servers })
}

async fn models(State(desk): State<Desk>) -> WebAnswer {
    answered(&json!({ "models": desk.chats.models().await? }))
}

/// Handles all POST requests: makes the change that the path and the JSON body name, and responds with its result.
async fn change(State(desk): State<Desk>, uri: Uri, body: Bytes) -> WebAnswer {
    // A body that is no JSON has no fields, and is answered as one that lacks them.
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (chats, common) = (&desk.chats, &desk.chats.common);
    let chat = || said["chat"].as_str().and_then(|id| chats.find(id)).ok_or_else(Refusal::gone);
    let text = |name: &str| text(&said, name);
    let question = said["question"].as_u64().map(|at| usize::try_from(at).unwrap_or(usize::MAX));
    let answer = match uri.path() {
        "/model" => json!(chat()?.change_model(text("model"), common).await?),
        "/ask" => {
            let line = Line::of(text("text"), texts(&said["pasted"]));
            json!(chat()?.ask(line, files(&said["files"])?, question)?)
        }
        "/retry" => json!(chat()?.retry()?),
        "/undo" => json!({ "text": chat()?.take_back(question)? }),
        "/rename" => {
            chat()?.rename(text("title"))?;
            json!(chats.announce("list"))
        }
        "/delete" => json!(chats.forget(text("chat"))?),
        "/set" => json!(chat()?.set(text("key"), text("value"), common)?),
        "/answer" => {
            let is_asked = chat()?.person.answer((text("call"), text("definition")), allowed(&said)?);
            json!(is_asked.then_some(()).ok_or_else(Refusal::gone)?)
        }
        "/input" => match chats.fill_in(text("input"), said["values"].as_object()) {
            Ok(is_asked) => json!(is_asked.then_some(()).ok_or_else(Refusal::gone)?),
            // A slip of the user, which the question's window shows.
            Err(wrong) => json!({ "wrong": wrong }),
        },
        // One that is gone has stopped.
        "/stop" => json!(chat().into_iter().for_each(|chat| chat.stop())),
        // A server, or one of its tools.
        _ => {
            let (hub, server, on) = (&common.hub, text("server"), said["on"] == true);
            let done = match said["tool"].as_str() {
                Some(tool) => hub.switch_tools(server, &[tool.to_owned()], on).map(drop),
                None => hub.switch(server, on).await,
            };
            done.map_err(|error| Refusal(StatusCode::CONFLICT, error.to_string()))?;
            chats.announce("tools");
            all_tools(&desk)
        }
    };
    answered(&answer)
}

/// Decodes the files attached to a question from `name` and base64 `data`; an empty or invalid file is an error.
fn files(list: &Value) -> Result<Attached, Refusal> {
    let mut files = Attached::default();
    for file in list.as_array().into_iter().flatten() {
        let (name, mut one) = (text(file, "name"), Attached::default());
        let bytes = STANDARD.decode(text(file, "data"));
        let bytes = bytes.map_err(|_| Refusal::wrong(Failure::usage(format!("{name}: \"data\" is not base64"))))?;
        if bytes.is_empty() {
            return Err(Refusal::wrong(Failure::usage(format!("{name} is empty"))));
        }
        one.take(name, bytes, "file").map_err(Refusal::wrong)?;
        files.extend(one);
    }
    Ok(files)
}

/// Returns the strings of a JSON array, trimmed; other values are skipped.
fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| text.trim().to_owned()).collect()
}

/// Reads the user's decision on a call that needs approval. Any other word for `answer` is an error.
fn allowed(said: &Value) -> Result<Answer, Refusal> {
    let reason = said["reason"].as_str().map(str::trim).filter(|reason| !reason.is_empty());
    match said["answer"].as_str() {
        Some("once") => Ok(Answer::Once),
        Some("always") => Ok(Answer::Always),
        Some("no") => Ok(Answer::No(reason.map(str::to_owned))),
        _ => Err(Refusal(StatusCode::BAD_REQUEST, "\"answer\" takes once, always or no".to_owned())),
    }
}

/// Returns a string field of a request, or an empty string if it is missing.
fn text<'a>(said: &'a Value, name: &str) -> &'a str {
    said[name].as_str().unwrap_or_default()
}

/// Runs work that reads files on a blocking thread, so that other requests are not delayed.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(Failure::job(error)))
}

fn answered(value: &Value) -> WebAnswer {
    Ok(doors::json(StatusCode::OK, value))
}

type WebAnswer = Result<Response, Refusal>;
