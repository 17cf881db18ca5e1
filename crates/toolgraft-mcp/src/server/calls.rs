//! Requests of tools, resources and prompts, and the server's questions while they run.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    ArgumentInfo, CallToolRequest, CallToolRequestParams, ClientRequest, CompleteRequest, CompleteRequestParams,
    CompletionContext, GetPromptRequest, GetPromptRequestParams, InputResponses, ReadResourceRequest,
    ReadResourceRequestParams, Reference, RequestParamsMeta,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::connection::Connection;
use super::elicit::is_question;
use super::prompts::PromptMessage;
use super::request::RequestError;
use super::tasks::{is_ticket, with_ticket};
use super::{content, prompts};
use crate::transport::answer::Answer;
use toolgraft::spans::{self, Span};

/// Maximum number of times that one request is sent if the server answers it with requests for input.
const MAX_ROUNDS: usize = 10;

/// Maximum wait for a server's notification that the user has completed a page, before the call is sent again for the
/// first time; each further wait is longer by the same time. A server need not send that notification, and the user
/// accepts as soon as the page is opened.
const PAGE: Duration = Duration::from_secs(2);

/// The metadata key and value for the log level that is requested from a server of the 2026-07-28 revision during a
/// call; without it the server must not log
/// (modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
const LOG_LEVEL: (&str, &str) = ("io.modelcontextprotocol/logLevel", "info");

impl Connection {
    /// Calls a tool of the server. Returns the result as JSON, and the response that it was read from.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(Value, Answer<'_>), RequestError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        // In the message and not in HTTP headers, since this works for every transport.
        for (name, value) in spans::headers(&Span::current()) {
            params.meta_or_default().insert(name, value.into());
        }
        // Servers of earlier revisions log without a request.
        if !self.is_of_initialize() {
            params.meta_or_default().insert(LOG_LEVEL.0.to_owned(), LOG_LEVEL.1.into());
        }
        let _permit = self.permits.acquire().await;
        // Since 2026-07-28 the server decides whether a call runs as a task.
        let as_task = self.is_of_initialize() && self.task_tools.lock().is_ok_and(|tools| tools.contains(tool));
        // A limit for silence that is above the one for the whole call counts for both.
        let lasts = self.limits.most.max(self.limits.call);
        let request = |responses, state| match as_task {
            true => with_ticket(&params, lasts),
            false => {
                let mut params = params.clone();
                (params.input_responses, params.request_state) = (responses, state);
                CallToolRequest::new(params).into()
            }
        };
        self.ask(request).await
    }

    /// Reads a resource of the server. Returns the result as JSON, and the response that it was read from.
    pub(crate) async fn read(&self, uri: &str) -> Result<(Value, Answer<'_>), RequestError> {
        let _permit = self.permits.acquire().await;
        let request = |responses, state| {
            let mut params = ReadResourceRequestParams::new(uri);
            (params.input_responses, params.request_state) = (responses, state);
            ReadResourceRequest::new(params).into()
        };
        self.ask(request).await
    }

    /// Requests a prompt with these arguments from the server, and returns its messages.
    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, RequestError> {
        let request = |responses, state| {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = Some(arguments.clone());
            (params.input_responses, params.request_state) = (responses, state);
            GetPromptRequest::new(params).into()
        };
        let (result, _) = self.ask(request).await?;
        if is_question(&result) {
            return Err(RequestError::Broken(content::ASKS.to_owned()));
        }
        prompts::messages(&result)
            .ok_or_else(|| RequestError::Broken("the answer has no array \"messages\"".to_owned()))
    }

    /// Returns the values that the server proposes for an argument of a prompt or of a resource template, in its order.
    /// `begun` is the text typed so far, `given` has the values of the other arguments. The list is empty if the server
    /// does not propose values.
    pub(crate) async fn complete(
        &self,
        of: Reference,
        (name, begun): (&str, &str),
        given: HashMap<String, String>,
    ) -> Result<Vec<String>, RequestError> {
        let proposes = self.peer.peer_info().is_some_and(|info| info.capabilities.completions.is_some());
        if !proposes {
            return Ok(Vec::new());
        }
        let params = CompleteRequestParams::new(of, ArgumentInfo::new(name, begun));
        let params = params.with_context(CompletionContext::with_arguments(given));
        let answer = self.request(CompleteRequest::new(params).into(), self.limits.call).await?;
        let result = answer.value().map_err(RequestError::Broken)?;
        let values = result.pointer("/completion/values").and_then(Value::as_array);
        let values = values.ok_or_else(|| RequestError::Broken("the answer has no \"values\"".to_owned()))?;
        Ok(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Sends a request, answers the server's requests for input if they are supported, and sends the request again,
    /// until there is a result. `request` builds it from the user's answers and from the state that the server wants
    /// back.
    async fn ask(
        &self,
        request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
    ) -> Result<(Value, Answer<'_>), RequestError> {
        let _under_way = self.client.deadlines.calls.add();
        let mut left = self.limits.most.max(self.limits.call);
        let mut next = request(None, None);
        for round in 1..=MAX_ROUNDS {
            // The time while the user answers does not count for the server.
            let sent = Instant::now();
            let answer = self.request(next, self.limits.call.min(left)).await;
            left = left.saturating_sub(sent.elapsed());
            let answer = match answer {
                Err(RequestError::Refused { code, message, data, pages }) if !pages.is_empty() => {
                    let refused = RequestError::Refused { code, message, data, pages: pages.clone() };
                    self.open(&pages, refused, round).await?;
                    next = request(None, None);
                    continue;
                }
                // The server has asked a question in this call, so it has begun to carry it out.
                Err(error) if round > 1 => return Err(error.of_begun()),
                answer => answer?,
            };
            self.answered.store(true, Ordering::Relaxed);
            let result = answer.value().map_err(RequestError::Broken)?;
            if is_ticket(&result) {
                return self.finished(&result, left).await.map_err(RequestError::of_begun);
            }
            if !self.client.answers.asks_somebody() || !is_question(&result) {
                return Ok((result, answer));
            }
            let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
            let responses = self.or_gone(self.client.answers.responses(&self.client.server, &result)).await?;
            let responses = responses.map_err(RequestError::Broken)?;
            // The same request again would get the same answer.
            if responses.is_empty() && state.is_none() {
                return Err(RequestError::Broken("the server asks for input without naming any".to_owned()));
            }
            next = request((!responses.is_empty()).then_some(responses), state);
        }
        Err(RequestError::Broken(format!("the server asked for input {MAX_ROUNDS} times, and gave no result")))
    }

    /// Asks the user to open these pages, and waits a while for the notification that they are completed; then the
    /// request can be sent again. Returns the error `refused` if there is no user or the user declines.
    async fn open(&self, pages: &[Value], refused: RequestError, round: usize) -> Result<(), RequestError> {
        if !self.client.answers.asks_somebody() {
            return Err(refused);
        }
        for page in pages {
            let answer = self
                .or_gone(self.client.answers.answer(&self.client.server, page))
                .await?
                .map_err(RequestError::Broken)?;
            if answer.get("action").and_then(Value::as_str) != Some("accept") {
                return Err(refused);
            }
        }
        let ids: Vec<&str> = pages.iter().filter_map(|page| page.get("elicitationId")?.as_str()).collect();
        self.client.noticed.pages_done(&ids, PAGE * u32::try_from(round).unwrap_or(u32::MAX)).await;
        Ok(())
    }
}
