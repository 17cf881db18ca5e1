//! Calls of tools, readings of resources, prompts filled in: a request, and what the server
//! wants to know in between.

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

/// Times that one call may ask back.
const MAX_ROUNDS: usize = 10;

/// Longest wait until a server says that a person is done with its page, before it is called again
/// for the first time; each further wait is longer by as much. A server need not say so, and a
/// person says yes where the page was opened.
const PAGE: Duration = Duration::from_secs(2);

/// What a server of the era 2026-07-28 is asked to log while a call runs; unasked it must not
/// (modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
const LOG_LEVEL: (&str, &str) = ("io.modelcontextprotocol/logLevel", "info");

impl Connection {
    /// Runs a tool.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(Value, Answer<'_>), RequestError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        // By whatever transport: an HTTP request may be of several messages.
        for (name, value) in spans::headers(&Span::current()) {
            params.meta_or_default().insert(name, value.into());
        }
        // Earlier servers log unasked.
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

    /// Reads a resource.
    pub(crate) async fn read(&self, uri: &str) -> Result<(Value, Answer<'_>), RequestError> {
        let _permit = self.permits.acquire().await;
        self.ask(&ReadResourceRequestParams::new(uri)).await
    }

    /// A prompt with its arguments filled in.
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

    /// Sends a request and answers what the server wants to know in between, where that
    /// is wanted, until there is a result.
    async fn ask(&self, params: &impl Askable) -> Result<(Value, Answer<'_>), RequestError> {
        let _under_way = self.client.deadlines.calls.add();
        let mut left = self.limits.most.max(self.limits.call);
        let mut request = params.with(None, None);
        for round in 1..=MAX_ROUNDS {
            // The time while somebody answers is not the server's.
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
                return Err(RequestError::Broken("it asks for input and does not say for which".to_owned()));
            }
            request = params.with((!responses.is_empty()).then_some(responses), state);
        }
        Err(RequestError::Broken(format!("it asked for input {MAX_ROUNDS} times")))
    }

    /// Has a person open these pages, after which the request is sent again. Where nobody is
    /// there, or the person says no, it stays `refused`.
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

/// A request that may be answered by a question.
trait Askable {
    /// The request with the answers to what was asked, and with what the server wants to
    /// be told again.
    fn with(&self, responses: Option<InputResponses>, state: Option<String>) -> ClientRequest;
}

/// A call of a tool that runs as a task alone, and how long it may last.
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
