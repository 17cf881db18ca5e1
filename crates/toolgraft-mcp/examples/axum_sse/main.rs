//! A small web server that streams an agent's events to a browser page.
//!
//! ```sh
//! cargo run --example axum_sse -- http://localhost:11434/v1 qwen3:8b 127.0.0.1:3000 \
//!     npx -y @modelcontextprotocol/server-filesystem .
//! ```
//!
//! Then open <http://127.0.0.1:3000>. The words after the address are the command line of an MCP server; the
//! page asks for approval before one of its tools runs.
//!
//! | request | |
//! |---|---|
//! | `GET /` | the page |
//! | `POST /conversations` | begins a conversation: `{"id": "1"}` |
//! | `POST /conversations/1/ask` | `{"question": "…"}`; the answer is a stream of server-sent events, the last of which is `finished` |
//! | `POST /conversations/1/approvals/call_1` | `{"answer": "approved"}` or `{"answer": "denied", "reason": "…"}` |
//!
//! A client that disconnects drops the stream and with it the turn: the model's stream and the running calls
//! are cancelled. Questions are posted as JSON, which pages of other origins may not do without permission
//! (CORS).

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolgraft::agent::{Approval, ApprovalRequest};
use toolgraft::dialect::Profile;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, Conversation, OpenAi, Policy};
use toolgraft_mcp::{Config, Hub, ServerConfig};

const USAGE: &str = "usage: axum_sse BASE_URL MODEL ADDRESS [COMMAND [ARGUMENTS...]]";

/// Calls that wait for approval: the sender of the answer, by the call's id.
type Open = Arc<Mutex<HashMap<String, oneshot::Sender<Approval>>>>;

/// One conversation. A program with many users would store the idle ones.
struct Session {
    /// Shares the model, tools and prompt with the other sessions; its approver asks through this
    /// conversation's page.
    agent: Agent,
    open: Open,
    /// Locked while a turn runs.
    conversation: Arc<tokio::sync::Mutex<Conversation>>,
}

#[derive(Clone)]
struct App {
    agent: Agent,
    sessions: Arc<Mutex<Vec<Arc<Session>>>>,
}

impl App {
    fn session(&self, id: usize) -> Result<Arc<Session>, Response> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = id.checked_sub(1).and_then(|at| sessions.get(at)).cloned();
        session.ok_or_else(|| refuse(StatusCode::NOT_FOUND, "there is no such conversation"))
    }
}

fn refuse(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}

/// Registers the question under the call's id, where `approve` finds it, and waits for the page's answer. A
/// question that is dropped unanswered counts as denied.
async fn ask_page(open: Open, request: ApprovalRequest) -> Approval {
    let (answer, answered) = oneshot::channel();
    open.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id, answer);
    answered.await.unwrap_or(Approval::Denied { reason: None })
}

async fn begin(State(app): State<App>) -> Json<Value> {
    let open = Open::default();
    let questions = open.clone();
    let agent = app.agent.with_approver(move |request| ask_page(questions.clone(), request));
    let mut sessions = app.sessions.lock().unwrap_or_else(PoisonError::into_inner);
    sessions.push(Arc::new(Session { agent, open, conversation: Arc::default() }));
    Json(json!({ "id": sessions.len().to_string() }))
}

#[derive(Deserialize)]
struct Question {
    question: String,
}

async fn ask(
    State(app): State<App>,
    Path(id): Path<usize>,
    Json(Question { question }): Json<Question>,
) -> Result<Response, Response> {
    let session = app.session(id)?;
    let Ok(mut stored) = session.conversation.clone().try_lock_owned() else {
        return Err(refuse(StatusCode::CONFLICT, "the last question is being answered"));
    };
    let mut conversation = stored.clone();
    let asked = conversation.push_user(question).map_err(|e| e.to_string());
    let run = asked.and_then(|()| session.agent.run(conversation).map_err(|e| e.to_string()));
    let run = run.map_err(|error| refuse(StatusCode::UNPROCESSABLE_ENTITY, &error))?;
    let events = run.map(move |event| {
        if let AgentEvent::Finished(finished) = &event {
            *stored = finished.conversation.clone();
            session.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        let written = Event::default().json_data(&event);
        Ok::<_, Infallible>(written.unwrap_or_else(|error| Event::default().comment(error.to_string())))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

async fn approve(
    State(app): State<App>,
    Path((id, call)): Path<(usize, String)>,
    Json(approval): Json<Approval>,
) -> Result<StatusCode, Response> {
    let session = app.session(id)?;
    let answer = session.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
    match answer.map(|answer| answer.send(approval)) {
        Some(Ok(())) => Ok(StatusCode::NO_CONTENT),
        _ => Err(refuse(StatusCode::NOT_FOUND, "no question about this call is open")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, address, server @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };

    let config =
        Config::from_iter(server.split_first().map(|(program, rest)| ServerConfig::stdio("server", program, rest)));
    let hub = Arc::new(Hub::builder().config(config).inherit_env().connect().await?);
    let agent = Agent::builder(OpenAi::new(url, name)?, hub.clone())
        .profile(Profile::for_model(name))
        .policy(Policy::new(Decision::AskOnce))
        .build();

    let router = Router::new()
        .route("/", get(|| async { Html(include_str!("page.html")) }))
        .route("/conversations", post(begin))
        .route("/conversations/{id}/ask", post(ask))
        .route("/conversations/{id}/approvals/{call}", post(approve))
        .with_state(App { agent, sessions: Arc::default() });
    let listener = tokio::net::TcpListener::bind(address).await?;
    #[expect(clippy::print_stdout, reason = "a program says where it is")]
    {
        println!("http://{}", listener.local_addr()?);
    }
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    // Returns only after the MCP server's process has exited.
    hub.shutdown().await;
    Ok(())
}
