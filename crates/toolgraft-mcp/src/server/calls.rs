//! Requests of tools, resources and prompts, and the server's questions while they run.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams, InputResponses,
    ReadResourceRequest, ReadResourceRequestParams, RequestParamsMeta,
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

/// Number of times that one call may ask for input.
const MAX_ROUNDS: usize = 10;

/// Time to wait for a server to report that the user is done with its page, before the call is sent
/// again for the first time; each further wait is longer by the same time. A server need not report
/// it, and the user accepts as soon as the page is opened.
const PAGE: Duration = Duration::from_secs(2);

/// The log level that a server of the 2026-07-28 revision is asked for during a call; without the
/// request it must not log
/// (modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
const LOG_LEVEL: (&str, &str) = ("io.modelcontextprotocol/logLevel", "info");

impl Connection {
    /// Runs a tool. Returns the result, and the answer that it was read from.
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
        let as_task = self.is_of_initialize() && self.task_tools.lock().is_ok_and(|tools| tools.contains(tool));
        match as_task {
            true => self.ask(&TaskCall { params, lasts: self.limits.most.max(self.limits.call) }).await,
            false => self.ask(&params).await,
        }
    }

    /// Reads a resource. Returns the result, and the answer that it was read from.
    pub(crate) async fn read(&self, uri: &str) -> Result<(Value, Answer<'_>), RequestError> {
        let _permit = self.permits.acquire().await;
        self.ask(&ReadResourceRequestParams::new(uri)).await
    }

    /// Returns a prompt with its arguments filled in.
    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, RequestError> {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments);
        let (result, _) = self.ask(&params).await?;
        if is_question(&result) {
            return Err(RequestError::Broken(content::ASKS.to_owned()));
        }
        prompts::messages(&result)
            .ok_or_else(|| RequestError::Broken("the answer has no array \"messages\"".to_owned()))
    }

    /// Sends a request, answers the server's questions if they are supported, and sends it again,
    /// until there is a result.
    async fn ask(&self, params: &impl Askable) -> Result<(Value, Answer<'_>), RequestError> {
        let _under_way = self.client.deadlines.calls.add();
        let mut left = self.limits.most.max(self.limits.call);
        let mut request = params.with(None, None);
        for round in 1..=MAX_ROUNDS {
            // The time while the user answers does not count for the server.
            let sent = Instant::now();
            let answer = self.request(request, self.limits.call.min(left)).await;
            left = left.saturating_sub(sent.elapsed());
            let answer = match answer {
                Err(RequestError::Refused { code, message, data, pages }) if !pages.is_empty() => {
                    let refused = RequestError::Refused { code, message, data, pages: pages.clone() };
                    self.open(&pages, refused, round).await?;
                    request = params.with(None, None);
                    continue;
                }
                Err(error) if round > 1 => return Err(error.of_begun()),
                answer => answer?,
            };
            self.has_served();
            let result = answer.value().map_err(RequestError::Broken)?;
            if is_ticket(&result) {
                return self.finished(&result, left).await.map_err(RequestError::of_begun);
            }
            if !self.client.answers.answers() || !is_question(&result) {
                return Ok((result, answer));
            }
            let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
            let responses = self.or_gone(self.client.answers.responses(&self.client.server, &result)).await?;
            let responses = responses.map_err(RequestError::Broken)?;
            if responses.is_empty() && state.is_none() {
                return Err(RequestError::Broken("the server asks for input without naming any".to_owned()));
            }
            request = params.with((!responses.is_empty()).then_some(responses), state);
        }
        Err(RequestError::Broken(format!("the server asked for input {MAX_ROUNDS} times, and gave no result")))
    }

    /// Has the user open these pages, after which the request can be sent again. Returns `refused`
    /// if there is no user or the user declines.
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

/// A request that may be answered with a question.
trait Askable {
    /// Returns the request with the answers to the questions, and with the state that the server
    /// wants back.
    fn with(&self, responses: Option<InputResponses>, state: Option<String>) -> ClientRequest;
}

/// A call of a tool that only runs as a task, and the longest time that the task may take.
struct TaskCall {
    params: CallToolRequestParams,
    lasts: Duration,
}

impl Askable for TaskCall {
    fn with(&self, _: Option<InputResponses>, _: Option<String>) -> ClientRequest {
        with_ticket(&self.params, self.lasts)
    }
}

macro_rules! askable {
    ($($params:ty => $request:ident),*) => {
        $(impl Askable for $params {
            fn with(&self, responses: Option<InputResponses>, state: Option<String>) -> ClientRequest {
                let mut params = self.clone();
                (params.input_responses, params.request_state) = (responses, state);
                $request::new(params).into()
            }
        })*
    };
}

askable!(
    CallToolRequestParams => CallToolRequest,
    ReadResourceRequestParams => ReadResourceRequest,
    GetPromptRequestParams => GetPromptRequest
);
