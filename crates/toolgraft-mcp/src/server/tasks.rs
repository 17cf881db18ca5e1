//! Calls that run as tasks: the server returns a task at once, and is polled until there is a
//! result.
//!
//! In 2025-11-25 a call asks for a task, which it must for a tool that only runs as one; the result
//! is fetched with `tasks/result`
//! (modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks). Since 2026-07-28 tasks
//! are an extension: the server decides, and `tasks/get` returns the result or a question
//! (modelcontextprotocol.io/extensions/tasks).

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CancelTaskRequest, ClientRequest, CustomRequest, GetTaskParams,
    GetTaskRequest, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::{Peer, RoleClient};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::connection::Connection;
use super::content::ASKS;
use super::error_data::error_data;
use super::request::RequestError;
use super::states::ServerEventKind;
use crate::transport::answer::Answer;
use toolgraft::secrets::Secrets;

/// Default interval between two polls of a task.
const POLL: Duration = Duration::from_secs(1);
/// Minimum interval between two polls of a task that a server can set.
const SOONEST: Duration = Duration::from_millis(20);
/// Maximum interval between two polls of a task that a server can set.
const LATEST: Duration = Duration::from_secs(30);

/// The state of a task, as its server last reported it.
struct Task<'v>(&'v Value);

impl<'v> Task<'v> {
    /// Returns the task in the result of a call; `None` if the result is the call's own.
    fn ticket(result: &'v Value) -> Option<Self> {
        let is_extension = result.get("resultType").and_then(Value::as_str) == Some("task");
        // A result with content is no task, whatever members it has besides.
        let inside = result.get("task").filter(|_| result.get("content").is_none());
        let task = Task(if is_extension { result } else { inside? });
        task.id().is_some().then_some(task)
    }

    fn text(&self, name: &str) -> Option<&'v str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn id(&self) -> Option<&'v str> {
        self.text("taskId")
    }

    fn wait(&self) -> Duration {
        let named = ["pollIntervalMs", "pollInterval"].iter().find_map(|name| self.0.get(name)?.as_u64());
        named.map_or(POLL, Duration::from_millis).clamp(SOONEST, LATEST)
    }
}

/// Returns `true` if the result of a call is a task, whose own result has to be polled for.
pub(super) fn is_ticket(result: &Value) -> bool {
    Task::ticket(result).is_some()
}

/// Returns a request for a tool call as a task, whose result the server keeps for the time `lasts`.
pub(super) fn with_ticket(params: &CallToolRequestParams, lasts: Duration) -> ClientRequest {
    let mut params = serde_json::to_value(params).unwrap_or_default();
    if let Some(params) = params.as_object_mut() {
        let ttl = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        params.insert("task".to_owned(), json!({ "ttl": ttl }));
    }
    CustomRequest::new("tools/call", Some(params)).into()
}

/// A task at a server whose result is awaited. If this is dropped before the end, the task is cancelled at the server.
struct OpenTask {
    peer: Peer<RoleClient>,
    id: String,
    is_over: bool,
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        // Without a runtime the connection no longer exists either.
        if let (false, Ok(runtime)) = (self.is_over, tokio::runtime::Handle::try_current()) {
            let (peer, request) = (self.peer.clone(), CancelTaskRequest::new(CancelTaskParams::new(&self.id)));
            runtime.spawn(async move {
                // If the request cannot be sent, the server no longer runs the task.
                let _ = peer.send_request(request.into()).await;
            });
        }
    }
}

impl Connection {
    /// Waits at most for the time `most` for the result of the task in `ticket`. A task that is abandoned, by time-out
    /// or by dropping this future, is cancelled at the server.
    pub(super) async fn finished(&self, ticket: &Value, most: Duration) -> Result<(Value, Answer<'_>), RequestError> {
        let task = Task::ticket(ticket).ok_or_else(|| RequestError::Broken("the server named no task".to_owned()))?;
        let (id, started) = (task.id().unwrap_or_default(), Instant::now());
        let mut waiting = OpenTask { peer: self.peer.clone(), id: id.to_owned(), is_over: false };
        let (mut wait, mut told, mut looks) = (task.wait(), HashSet::new(), 0);
        loop {
            let left = most.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(RequestError::TimedOut { limit: most, noise: None });
            }
            self.or_gone(tokio::time::sleep(wait.min(left))).await?;
            let answer = self.request(GetTaskRequest::new(GetTaskParams::new(id)).into(), self.limits.call).await?;
            let now = answer.value().map_err(RequestError::Broken)?;
            let task = Task(&now);
            (wait, looks) = (task.wait(), looks + 1);
            let has_result = now.get("result").is_some_and(|result| !result.is_null());
            match task.text("status") {
                Some("working") => self.tell_progress(&task, looks),
                Some("input_required") if now.get("inputRequests").is_some() => self.update(id, now, &mut told).await?,
                Some("completed") if has_result => {
                    waiting.is_over = true;
                    let result = now["result"].clone();
                    let answer = answer.into_member("result");
                    return Ok((result, answer.ok_or_else(|| RequestError::Broken("it has no result".to_owned()))?));
                }
                Some("failed") if now.get("error").is_some() => {
                    waiting.is_over = true;
                    return Err(failed(&now, &self.client.hidden.in_errors));
                }
                // The answer to `tasks/result` has the outcome; the server holds it back while it
                // asks the user.
                Some("completed" | "failed" | "input_required" | "cancelled") if self.is_of_initialize() => {
                    let fetch = CustomRequest::new("tasks/result", Some(json!({ "taskId": id })));
                    let answer = self.request(fetch.into(), left.max(self.limits.call)).await?;
                    waiting.is_over = true;
                    return Ok((answer.value().map_err(RequestError::Broken)?, answer));
                }
                status => {
                    // In a state that is not known the task may still run, and is cancelled.
                    waiting.is_over = status == Some("cancelled");
                    let status = status.unwrap_or("none");
                    return Err(RequestError::Broken(format!("its task ended without a result (status {status:?})")));
                }
            }
        }
    }

    /// Answers the requests for input of a task, each once: those whose keys are in `told` are answered already.
    async fn update(&self, id: &str, mut task: Value, told: &mut HashSet<String>) -> Result<(), RequestError> {
        if !self.client.answers.asks_somebody() {
            return Err(RequestError::Broken(ASKS.to_owned()));
        }
        if let Some(requests) = task.get_mut("inputRequests").and_then(Value::as_object_mut) {
            requests.retain(|key, _| !told.contains(key));
        }
        let responses = self.or_gone(self.client.answers.responses(&self.client.server, &task)).await?;
        let responses = responses.map_err(RequestError::Broken)?;
        if responses.is_empty() {
            return Ok(());
        }
        told.extend(responses.keys().cloned());
        let update = UpdateTaskRequest::new(UpdateTaskParams::new(id, responses));
        self.request(update.into(), self.limits.call).await.map(drop)
    }

    fn tell_progress(&self, task: &Task<'_>, looks: u32) {
        if let Some(message) = task.text("statusMessage") {
            let (progress, message) = (f64::from(looks), Some(message.to_owned()));
            self.client.states.tell(&self.client.server, ServerEventKind::Progress { progress, total: None, message });
        }
    }

    /// Returns `true` if the server's MCP revision is earlier than 2026-07-28, so that its handshake is `initialize`.
    pub(super) fn is_of_initialize(&self) -> bool {
        self.peer.peer_info().is_none_or(|info| info.protocol_version.has_initialize())
    }
}

/// Converts the error of a failed task into that of a request, with the server's message.
fn failed(task: &Value, secrets: &Secrets) -> RequestError {
    let error = &task["error"];
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).unwrap_or("its task has failed").to_owned();
    let data = error_data(error.get("data"), &message, secrets);
    RequestError::Refused { code: code.unwrap_or_default(), message, data, pages: Vec::new() }
}
