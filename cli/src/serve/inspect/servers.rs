//! The MCP servers of this instance, for `toolgraft mcp status`: how they are, and switches.
//!
//! ```text
//! GET  /mcp?log=N                    {"servers": [REPORT, …]}
//! POST /mcp?server=NAME&switch=on    the same, after it was done; off, restart; NAME may be SERVER.TOOL
//! ```

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};

use crate::pages::doors::{json as answer, value};
use crate::servers::status::reports;
use toolgraft_mcp::{Hub, McpError};

/// Lines of each log where no number is named.
const LINES: usize = 5;

pub(super) fn router(hub: Arc<Hub>) -> Router {
    Router::new().route("/mcp", get(told).post(done)).with_state(hub)
}

async fn told(State(hub): State<Arc<Hub>>, RawQuery(query): RawQuery) -> Response {
    answer(StatusCode::OK, &all(&hub, query.as_deref()))
}

async fn done(State(hub): State<Arc<Hub>>, RawQuery(query): RawQuery) -> Response {
    let query = query.as_deref();
    let server = value(query, "server").unwrap_or_default();
    let done = match value(query, "switch").unwrap_or_default().as_str() {
        "on" => switch(&hub, &server, true).await,
        "off" => switch(&hub, &server, false).await,
        "restart" => hub.restart(&server).await,
        _ => return answer(StatusCode::BAD_REQUEST, &json!({ "error": "\"switch\" takes on, off or restart" })),
    };
    match done {
        Ok(()) => answer(StatusCode::OK, &all(&hub, query)),
        Err(error @ McpError::UnknownServer { .. }) => {
            answer(StatusCode::NOT_FOUND, &json!({ "error": error.to_string() }))
        }
        Err(error) => answer(StatusCode::CONFLICT, &json!({ "error": error.to_string() })),
    }
}

/// Switches a server, or tools of one: `SERVER.TOOL`, where no server has the whole name.
async fn switch(hub: &Hub, name: &str, on: bool) -> Result<(), McpError> {
    let is_server = |name: &str| hub.servers().iter().any(|server| server.name == name);
    match name.split_once('.').filter(|(server, _)| !is_server(name) && is_server(server)) {
        Some((server, tools)) => hub.switch_tools(server, &[tools.to_owned()], on).map(drop),
        None => hub.switch(name, on).await,
    }
}

fn all(hub: &Hub, query: Option<&str>) -> Value {
    let lines = value(query, "log").and_then(|lines| lines.parse().ok());
    json!({ "servers": reports(hub, lines.unwrap_or(LINES)) })
}
