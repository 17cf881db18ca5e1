//! The last requests of a running `toolgraft serve --inspect` as pages, on a listener of their own.
//!
//! ```text
//! browser ─▶ doors ─▶ /inspect                 the list, and what of it is searched for
//!                     /inspect/ID              a request, as `replay --html` shows it
//!                     /inspect/ID/recording    the same as a file for `toolgraft replay`
//! ```
//!
//! Pages run nothing, ask for nothing and are not kept by a browser. What a client, a model or
//! a tool wrote is in them as text.

mod list;
mod search;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use crate::pages::doors::{Guarded, LocalServer};
use crate::replay;
use search::Query;
use toolgraft::transcript;
use toolgraft_serve::{Inspected, Inspector};

/// Access control of the inspection pages: their path, cookie and messages.
pub(crate) const GUARDED: Guarded = Guarded {
    path: "/inspect",
    cookie: "toolgraft_inspect",
    changes: false,
    entered: "a browser is connected; to connect one more:",
    remedy: "open the URL that `toolgraft serve --inspect` printed last: each lets one browser in, once\n",
    wants: " for --inspect",
    other_port: "--inspect without a port uses a free one",
};

/// Content Security Policy of the inspection pages. Inline styles are allowed, since they contain the lengths of bars.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Serves the inspection pages to authorized browsers until the future is dropped.
pub(crate) async fn serve(server: LocalServer, inspector: Inspector) {
    server.serve(router(inspector), POLICY).await;
}

fn router(inspector: Inspector) -> Router {
    Router::new()
        .route("/inspect", get(list))
        .route("/inspect/{id}", get(request))
        .route("/inspect/{id}/recording", get(recording))
        .with_state(inspector)
        .fallback(|| async { missing() })
}

/// Responds with the page that lists the stored requests, or those that match the query.
async fn list(State(inspector): State<Inspector>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref().unwrap_or_default());
    page(move || {
        let all = inspector.list();
        let kept = all.len();
        let found = all.into_iter().filter(|about| query.matches(about, || inspector.recording(about.id)));
        list::page(&query, kept, &found.collect::<Vec<_>>())
    })
    .await
}

/// Responds with the page of one request.
async fn request(State(inspector): State<Inspector>, Path(id): Path<u64>, RawQuery(query): RawQuery) -> Response {
    let Some((about, text)) = found(&inspector, id) else { return missing() };
    let is_live = Query::read(query.as_deref().unwrap_or_default()).is_live;
    page(move || {
        let mut recording = transcript::parse(&text).unwrap_or_default();
        // What goes on has no end yet.
        recording.cut = recording.cut.filter(|_| about.took.is_some());
        replay::page(&format!("request {id}"), &recording, list::about(&about, is_live), true)
    })
    .await
}

/// Responds with the recording of one request, as a file to download.
async fn recording(State(inspector): State<Inspector>, Path(id): Path<u64>) -> Response {
    let Some((_, text)) = found(&inspector, id) else { return missing() };
    let name = format!("attachment; filename=\"request-{id}.jsonl\"");
    ([(header::CONTENT_TYPE, "application/jsonl".to_owned()), (header::CONTENT_DISPOSITION, name)], text)
        .into_response()
}

fn found(inspector: &Inspector, id: u64) -> Option<(Inspected, String)> {
    Some((inspector.find(id)?, inspector.recording(id)?))
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "there is no such page: the request is no longer stored, or never existed\n")
        .into_response()
}

/// Renders a page on a blocking thread, since long recordings take a while.
async fn page(make: impl FnOnce() -> std::io::Result<String> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(make).await {
        Ok(Ok(page)) => Html(page).into_response(),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "the page cannot be rendered\n").into_response(),
    }
}
