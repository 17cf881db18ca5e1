//! An exchange with its model stream and its calls.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use super::exchange::{Exchange, Sent, Step};
use super::fault::Fault;
use super::inspect;
use super::kept::Before;
use super::out::Out;
use crate::OpenAi;
use crate::agent::CALL_TIMEOUT;
use crate::model::span::{in_span, of_request};
use crate::model::{Model, ModelError, ModelEvent, RETRIES, Request};
use crate::outcome::{Outcome, Status};
use crate::route::{Invocation, Toolbox};
use crate::spans::{self, Span};

/// What happens next.
pub(super) enum Next {
    /// A piece of the answer.
    Out(Out),
    /// A call of the toolbox begins: the client must see its answer begun, so that
    /// nobody plays the request again.
    Busy,
}

/// What runs for one request. Dropping it cancels the model and the calls.
pub(super) struct Driver {
    exchange: Exchange,
    model: OpenAi,
    headers: Vec<(String, String)>,
    toolbox: Option<Arc<dyn Toolbox>>,
    answer: Option<BoxStream<'static, Result<ModelEvent, ModelError>>>,
    calls: FuturesUnordered<BoxFuture<'static, (String, Outcome)>>,
    /// The request's.
    span: Span,
    /// How long the answer may take, and until when.
    limit: Option<(Duration, Instant)>,
}

impl Driver {
    pub(super) fn new(
        exchange: Exchange,
        model: OpenAi,
        headers: Vec<(String, String)>,
        toolbox: Option<Arc<dyn Toolbox>>,
        span: Span,
        max_time: Option<Duration>,
    ) -> Self {
        // One that no clock can hold is none.
        let limit = max_time.and_then(|time| Some((time, Instant::now().checked_add(time)?)));
        let (answer, calls) = (None, FuturesUnordered::new());
        Driver { exchange, model, headers, toolbox, answer, calls, span, limit }
    }

    /// The client's calls and what stood before them, where calls of the toolbox did.
    pub(super) fn take_kept(&mut self) -> Option<(Vec<String>, Before)> {
        self.exchange.take_kept()
    }

    /// Tokens of the last request by our own count.
    pub(super) fn prompt_tokens(&self) -> u64 {
        self.exchange.prompt_tokens()
    }

    /// Requests so far.
    pub(super) fn rounds(&self) -> u32 {
        self.exchange.rounds()
    }

    /// Calls of the toolbox so far.
    pub(super) fn own_calls(&self) -> usize {
        self.exchange.own_calls()
    }

    /// The next that happens. Waiting may be given up and begun again.
    pub(super) async fn next(&mut self) -> Option<Next> {
        let span = self.span.clone();
        self.advance().instrument(span).await
    }

    async fn advance(&mut self) -> Option<Next> {
        loop {
            while let Some(step) = self.exchange.step() {
                match step {
                    Step::Send(sent) => self.send(sent),
                    Step::Cancel => self.answer = None,
                    Step::Run(call) => {
                        self.calls.push(Box::pin(run(self.toolbox.clone(), call)));
                        return Some(Next::Busy);
                    }
                    Step::Out(out) => {
                        self.trace(&out);
                        return Some(Next::Out(out));
                    }
                }
            }
            if self.exchange.is_over() {
                self.answer = None;
                self.calls.clear();
                return None;
            }
            if let Some((time, _)) = self.limit.filter(|(_, until)| *until <= Instant::now()) {
                self.limit = None;
                self.exchange.fail(late(time));
                continue;
            }
            let until = self.limit.map(|(_, until)| until);
            match (&mut self.answer, self.calls.is_empty()) {
                (Some(answer), true) => {
                    let Some(event) = before(until, answer.next()).await else { continue };
                    if !matches!(event, Some(Ok(ref event)) if !matches!(event, ModelEvent::Finish(_))) {
                        self.answer = None;
                    }
                    self.exchange.model(event);
                }
                (_, false) => {
                    if let Some(Some((id, outcome))) = before(until, self.calls.next()).await {
                        self.exchange.outcome(id, outcome);
                    }
                }
                (None, true) => self.exchange.fail(Fault::internal("nothing is left to be waited for")),
            }
        }
    }

    /// What the span tells of the answer's end.
    fn trace(&self, out: &Out) {
        match out {
            Out::Finish(finish) => spans::turn_ended(&self.span, finish.rounds, Some(finish.usage)),
            Out::Failed(fault) => {
                spans::turn_ended(&self.span, self.exchange.rounds(), None);
                match fault.code {
                    Some(code) => spans::failed(&self.span, code),
                    None => spans::failed(&self.span, &fault.status.to_string()),
                }
            }
            _ => {}
        }
    }

    fn send(&mut self, sent: Sent) {
        // A client tries a refused request again by itself; of a later round it knows nothing.
        let retries = if self.exchange.rounds() > 1 { RETRIES } else { 0 };
        let Sent { body, constraint } = sent;
        let mut request = Request {
            // What is learned of an endpoint is learned by model.
            model: body.get("model").and_then(Value::as_str).map(str::to_owned),
            constraint,
            ..Request::default()
        };
        let shown = self.exchange.is_recorded().then(|| inspect::request(&body));
        match self.model.for_body(body, &self.headers, retries) {
            Ok(model) => {
                let span = of_request(&model, &mut request);
                let answer = span.in_scope(|| model.stream(request));
                let answer = match shown {
                    Some(shown) => self.exchange.recorded(&shown, answer),
                    None => answer,
                };
                self.answer = Some(in_span(span, answer));
            }
            Err(error) => self.exchange.fail(Fault::internal(error.to_string())),
        }
    }
}

/// What comes before this time; `None` where nothing does.
async fn before<T>(until: Option<Instant>, coming: impl Future<Output = T>) -> Option<T> {
    match until {
        Some(until) => timeout_at(until, coming).await.ok(),
        None => Some(coming.await),
    }
}

fn late(limit: Duration) -> Fault {
    let message = format!("the answer was not complete within {} seconds", limit.as_secs_f64());
    Fault::upstream(504, message).with_code("max_time")
}

async fn run(toolbox: Option<Arc<dyn Toolbox>>, call: Invocation) -> (String, Outcome) {
    let id = call.id.clone();
    let Some(toolbox) = toolbox else {
        return (id, Outcome::error(format!("there is no tool {:?}", call.tool)));
    };
    let span = spans::tool(call.server.as_deref(), &call.tool, &id);
    let called = span.in_scope(|| toolbox.call(call)).instrument(span.clone());
    let outcome = tokio::time::timeout(CALL_TIMEOUT, called).await.unwrap_or_else(|_| {
        Outcome::new(Status::TimedOut, format!("no answer within {} seconds", CALL_TIMEOUT.as_secs()))
    });
    if outcome.status != Status::Result {
        spans::failed(&span, outcome.status.as_str());
    }
    (id, outcome)
}
