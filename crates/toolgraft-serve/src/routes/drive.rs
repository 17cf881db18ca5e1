//! Drives an exchange: connects it with the model's stream and the toolbox's calls.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use super::shared::Shared;
use crate::inspection::inspector;
use crate::metrics::prompt_cost::PromptCost;
use crate::upstream::endpoint::Upstream;
use crate::upstream::redaction;
use toolgraft::agent::{CALL_TIMEOUT, run_call};
use toolgraft::model::endpoint::{in_span, of_request};
use toolgraft::model::{ModelError, ModelEvent, ModelEvents, RETRIES, Request};
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::spans::{self, Span};
use toolgraft::{Model, Outcome};
use toolgraft_protocol::{Exchange, Fault, Out, Progress, Step};

/// The next output of the driver of a request.
pub(crate) enum Next {
    /// A piece of the answer for the client.
    Out(Out),
    /// A call of the toolbox begins. The stream must begin now, so that the client does not repeat
    /// the request.
    Busy,
}

/// Runs the exchange of one request with the endpoint and the toolbox. Dropping it cancels the model's stream and the
/// calls.
pub(crate) struct Driver {
    /// The exchange of the request; `None` while another thread works on it (`away`).
    exchange: Option<Box<Exchange>>,
    away: Option<BoxFuture<'static, Result<Box<Exchange>, Fault>>>,
    shared: Arc<Shared>,
    /// The last known progress of the answer, for the time in which the exchange is on another thread.
    progress: Progress,
    headers: Vec<(String, String)>,
    /// Bytes of all requests of this answer, and how many of them repeat the beginning of an
    /// earlier request.
    sent: (u64, u64),
    answer: Option<ModelEvents>,
    calls: FuturesUnordered<BoxFuture<'static, (String, Outcome)>>,
    /// The request's tracing span.
    span: Span,
    /// The time limit of the answer, and the instant at which it is reached.
    limit: Option<(Duration, Instant)>,
}

impl Driver {
    pub(crate) fn new(exchange: Box<Exchange>, shared: Arc<Shared>, headers: &HeaderMap, span: Span) -> Self {
        // A time too long for the clock is no limit.
        let limit = shared.config.max_time.and_then(|time| Some((time, Instant::now().checked_add(time)?)));
        Driver {
            progress: exchange.progress(),
            exchange: Some(exchange),
            away: None,
            headers: shared.upstream.headers(headers),
            sent: (0, 0),
            shared,
            answer: None,
            calls: FuturesUnordered::new(),
            span,
            limit,
        }
    }

    /// Returns the progress of the answer: its rounds, calls and token usage so far.
    pub(crate) fn progress(&self) -> Progress {
        self.exchange.as_deref().map_or(self.progress, Exchange::progress)
    }

    /// Returns the size of the prompts sent so far, and their tokens in all finished rounds.
    pub(crate) fn prompt_cost(&self) -> PromptCost {
        let (Progress { usage, cut_prompt, .. }, (bytes, repeated)) = (self.progress(), self.sent);
        PromptCost { bytes, repeated, tokens: usage.prompt_tokens, cached_tokens: usage.cached_tokens, cut: cut_prompt }
    }

    /// Returns the next output for the client; `None` at the end of the answer. The future may be dropped and the
    /// method called again.
    pub(crate) async fn next(&mut self) -> Option<Next> {
        let span = self.span.clone();
        self.advance().instrument(span).await
    }

    async fn advance(&mut self) -> Option<Next> {
        loop {
            if let Some(away) = &mut self.away {
                let back = away.await;
                self.away = None;
                match back {
                    Ok(exchange) => self.exchange = Some(exchange),
                    Err(fault) => return Some(Next::Out(Out::Failed(fault))),
                }
            }
            // The exchange is lost if the work on the other thread panicked, which was reported
            // above.
            let exchange = self.exchange.as_deref_mut()?;
            while let Some(step) = exchange.step() {
                match step {
                    Step::Send(body, request) => {
                        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
                        let model = request.model.as_deref().unwrap_or_default();
                        let (bytes, repeated) = self.shared.beginnings.take(model, messages);
                        self.sent = (self.sent.0 + bytes, self.sent.1 + repeated);
                        self.answer = send(exchange, body, request, &self.shared.upstream, &self.headers);
                    }
                    Step::Cancel => self.answer = None,
                    Step::Run(call) => {
                        self.calls.push(Box::pin(run(self.shared.config.settings.toolbox.clone(), call)));
                        return Some(Next::Busy);
                    }
                    Step::Out(mut out) => {
                        if let Out::Failed(fault) = &mut out {
                            fault.message = self.shared.upstream.secrets.hide(&fault.message).into_owned();
                        }
                        trace(&self.span, exchange, &out);
                        return Some(Next::Out(out));
                    }
                }
            }
            if exchange.over {
                self.answer = None;
                self.calls.clear();
                return None;
            }
            if let Some((time, _)) = self.limit.filter(|(_, until)| *until <= Instant::now()) {
                // Reported once: the steps of the failure are taken in the next rounds of the loop.
                self.limit = None;
                let message = format!("the answer was not complete within {} seconds", time.as_secs_f64());
                exchange.fail(Fault::upstream(504, message).with_code("max_time"));
                continue;
            }
            let until = self.limit.map(|(_, until)| until);
            match (&mut self.answer, self.calls.is_empty()) {
                (Some(answer), true) => {
                    let Some(event) = before(until, answer.next()).await else { continue };
                    if ModelEvent::is_last(event.as_ref()) {
                        self.answer = None;
                    }
                    if exchange.is_heavy(event.as_ref()) {
                        self.progress = exchange.progress();
                        let exchange = self.exchange.take()?;
                        self.away = Some(self.hand_over(exchange, event));
                    } else {
                        exchange.model(event);
                    }
                }
                (_, false) => {
                    if let Some(Some((id, outcome))) = before(until, self.calls.next()).await {
                        exchange.outcome(id, outcome);
                    }
                }
                (None, true) => exchange.fail(Fault::internal("nothing is left to be waited for")),
            }
        }
    }

    /// Processes an event of the model on another thread; the future returns the exchange.
    fn hand_over(
        &self,
        mut exchange: Box<Exchange>,
        event: Option<Result<ModelEvent, ModelError>>,
    ) -> BoxFuture<'static, Result<Box<Exchange>, Fault>> {
        let (shared, span) = (self.shared.clone(), self.span.clone());
        Box::pin(async move {
            let job = move || {
                exchange.model(event);
                exchange
            };
            shared.apart(true, span, job).await
        })
    }
}

/// Records the end of an answer, with its rounds and usage or its error, in its tracing span.
fn trace(span: &Span, exchange: &Exchange, out: &Out) {
    match out {
        Out::Finish(finish) => spans::turn_ended(span, finish.rounds, Some(finish.total)),
        Out::Failed(fault) => {
            spans::turn_ended(span, exchange.progress().rounds, None);
            match fault.code {
                Some(code) => spans::failed(span, code),
                None => spans::failed(span, &fault.status.to_string()),
            }
        }
        _ => {}
    }
}

/// Sends a request to the model and returns the stream of its answer; if that is not possible, ends the exchange with
/// a fault and returns `None`.
fn send(
    exchange: &mut Exchange,
    body: Map<String, Value>,
    mut request: Request,
    upstream: &Upstream,
    headers: &[(String, String)],
) -> Option<ModelEvents> {
    // Only later rounds are retried: a client repeats a refused request itself, but knows nothing
    // of later rounds.
    let retries = if exchange.progress().rounds > 1 { RETRIES } else { 0 };
    // Converted before the body is given away below.
    let shown = exchange.record.as_ref().map(|_| inspector::request(&body));
    match upstream.model.for_body(body, headers, retries) {
        Ok(model) => {
            let span = of_request(&model, &mut request);
            let mut answer = span.in_scope(|| model.stream(request));
            if !upstream.secrets.is_empty() {
                answer = redaction::events(answer, upstream.secrets.clone());
            }
            if let (Some(record), Some(shown)) = (&mut exchange.record, shown) {
                answer = record.stream(exchange.prepared.setup.catalog(), &shown, answer);
            }
            Some(in_span(span, answer))
        }
        Err(error) => {
            exchange.fail(Fault::internal(error.to_string()));
            None
        }
    }
}

/// Awaits a future until a deadline; `None` if that passes first.
async fn before<T>(until: Option<Instant>, coming: impl Future<Output = T>) -> Option<T> {
    match until {
        Some(until) => timeout_at(until, coming).await.ok(),
        None => Some(coming.await),
    }
}

async fn run(toolbox: Option<Arc<dyn Toolbox>>, call: Invocation) -> (String, Outcome) {
    match toolbox {
        Some(toolbox) => run_call(toolbox, call, Some(CALL_TIMEOUT)).await,
        None => (call.id, Outcome::error(format!("there is no tool {:?}", call.tool))),
    }
}
