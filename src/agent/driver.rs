//! One turn with its model stream, its calls and its question.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use futures::stream::{self, FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::approver::{Asking, ask};
use super::inner::Inner;
use super::record::{Events, TurnRecord};
use crate::event::RejectedKind;
use crate::model::span::{in_span, of_request};
use crate::model::{ModelError, ModelEvent, Request};
use crate::outcome::{Outcome, Status};
use crate::route::Invocation;
use crate::spans::{self, Span};
use crate::turn::{Action, AgentEvent, Input, Turn};

/// What runs for one turn.
pub(super) struct Driver {
    agent: Arc<Inner>,
    asking: Arc<Asking>,
    turn: Turn,
    cancel: CancellationToken,
    /// Taken once it was told to the turn.
    suspend: Option<CancellationToken>,
    message: Option<Events>,
    calls: FuturesUnordered<BoxFuture<'static, (String, Outcome)>>,
    question: Option<BoxFuture<'static, Input>>,
    probe: Option<BoxFuture<'static, Input>>,
    over: bool,
    record: Option<TurnRecord>,
    /// Headers of the requests.
    headers: Vec<(String, String)>,
    /// The turn's.
    span: Span,
}

impl Driver {
    pub(super) fn new(
        agent: Arc<Inner>,
        asking: Arc<Asking>,
        turn: Turn,
        cancel: CancellationToken,
        suspend: CancellationToken,
        record: Option<TurnRecord>,
        headers: Vec<(String, String)>,
    ) -> Self {
        Driver {
            agent,
            asking,
            turn,
            cancel,
            suspend: Some(suspend),
            message: None,
            calls: FuturesUnordered::new(),
            question: None,
            probe: None,
            over: false,
            record,
            headers,
            span: spans::turn(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<AgentEvent> {
        let span = self.span.clone();
        self.step().instrument(span).await
    }

    async fn step(&mut self) -> Option<AgentEvent> {
        loop {
            while let Some(action) = self.turn.action() {
                if let Some(event) = self.act(action) {
                    if let Some(record) = &mut self.record {
                        record.event(&event);
                    }
                    return Some(event);
                }
            }
            if self.over {
                return None;
            }
            let input = self.input().await;
            // A call may have brought tools, which the next message can call.
            if matches!(input, Input::Outcome { .. })
                && let Ok(setup) = self.agent.setup()
            {
                self.turn.retool(setup);
            }
            self.turn.handle(input).expect("only what the turn asked for is reported to it");
        }
    }

    fn act(&mut self, action: Action) -> Option<AgentEvent> {
        match action {
            Action::Emit(event) => {
                if let AgentEvent::Correcting { kind, .. } = &event {
                    spans::correction(&self.span, kind.map(RejectedKind::as_str));
                }
                return Some(event);
            }
            Action::Probe(model) => {
                let said = self.agent.model.native_tools(model.as_deref());
                self.probe = Some(Box::pin(async move { Input::Probed(said.await) }));
            }
            Action::AskContext(model) => {
                let said = self.agent.model.context_window(model.as_deref());
                self.probe = Some(Box::pin(async move { Input::ContextWindow(said.await) }));
            }
            Action::Send(request) => self.message = Some(self.send(request)),
            Action::CancelStream => self.message = None,
            Action::Withdraw { .. } => self.question = None,
            Action::Call(invocation) => self.calls.push(Box::pin(call(self.agent.clone(), invocation))),
            Action::Ask(request) => {
                self.question = Some(Box::pin(ask(self.asking.clone(), self.turn.setup(), request)))
            }
            Action::Finish(finished) => {
                self.message = None;
                self.calls.clear();
                self.question = None;
                self.probe = None;
                self.over = true;
                spans::turn_ended(&self.span, finished.rounds, finished.usage);
                if let Some(kind) = finished.reason.failure() {
                    spans::failed(&self.span, kind);
                }
                return Some(AgentEvent::Finished(finished));
            }
        }
        None
    }

    fn send(&mut self, mut request: Request) -> Events {
        request.headers.extend(self.headers.iter().cloned());
        if request.constraint.as_ref().is_some_and(|c| c.required) && !self.agent.model.constrains() {
            let message = "this model holds its answers to none".to_owned();
            return stream::iter([Err(ModelError::Unconstrained { url: "the model".to_owned(), message })]).boxed();
        }
        let model = &self.agent.model;
        let span = of_request(model, &mut request);
        let Some(record) = &mut self.record else {
            let answer = span.in_scope(|| model.stream(request));
            return in_span(span, answer);
        };
        let answer = span.in_scope(|| model.stream(request.clone()));
        in_span(span, record.stream(self.turn.setup().catalog(), &request, answer))
    }

    /// Waits for the first thing that happens.
    async fn input(&mut self) -> Input {
        let Driver { cancel, suspend, message, calls, question, probe, .. } = self;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Input::Cancel,
            () = suspended(suspend) => Input::Suspend,
            event = next_event(message) => {
                if !matches!(
                    event,
                    Input::Delta(_)
                        | Input::Call(_)
                        | Input::Usage(_)
                        | Input::Progress(_)
                        | Input::ConstraintRefused(_)
                        | Input::Unconstrained
                        | Input::Tokens(_)
                ) {
                    *message = None;
                }
                event
            }
            Some((id, outcome)) = calls.next(), if !calls.is_empty() => Input::Outcome { id, outcome },
            said = answer(probe) => {
                *probe = None;
                said
            }
            answer = answer(question) => {
                *question = None;
                answer
            }
        }
    }
}

async fn suspended(suspend: &mut Option<CancellationToken>) {
    match suspend {
        None => std::future::pending().await,
        Some(token) => token.cancelled().await,
    }
    *suspend = None;
}

async fn next_event(message: &mut Option<Events>) -> Input {
    let Some(events) = message else { return std::future::pending().await };
    loop {
        return match events.next().await {
            // They say nothing to a turn.
            Some(Ok(ModelEvent::Fields(_))) => continue,
            Some(Ok(ModelEvent::Delta(delta))) => Input::Delta(delta),
            Some(Ok(ModelEvent::ConstraintRefused(message))) => Input::ConstraintRefused(message),
            Some(Ok(ModelEvent::Unconstrained)) => Input::Unconstrained,
            Some(Ok(ModelEvent::Tokens(tokens))) => Input::Tokens(tokens),
            Some(Ok(ModelEvent::Call(call))) => Input::Call(call),
            Some(Ok(ModelEvent::Usage(usage))) => Input::Usage(usage),
            Some(Ok(ModelEvent::Progress(progress))) => Input::Progress(progress),
            Some(Ok(ModelEvent::Finish(reason))) => Input::ModelFinished(reason),
            Some(Err(error @ ModelError::ContextExceeded { prompt, context, .. })) => {
                Input::ContextExceeded { prompt, context, message: error.to_string() }
            }
            Some(Err(error)) if error.refuses_tools() => Input::ToolsRefused(error),
            Some(Err(error)) => Input::ModelFailed(error),
            None => Input::ModelFailed(ModelError::BrokeOff),
        };
    }
}

/// The answer to a question of the turn: to a person, or to the endpoint.
async fn answer(question: &mut Option<BoxFuture<'static, Input>>) -> Input {
    match question {
        None => std::future::pending().await,
        Some(question) => question.await,
    }
}

async fn call(agent: Arc<Inner>, invocation: Invocation) -> (String, Outcome) {
    let started = Instant::now();
    let id = invocation.id.clone();
    let span = spans::tool(invocation.server.as_deref(), &invocation.tool, &id);
    let call = span.in_scope(|| agent.toolbox.call(invocation)).instrument(span.clone());
    let mut outcome = match agent.call_timeout {
        None => call.await,
        Some(limit) => tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            Outcome::new(Status::TimedOut, format!("no answer within {} seconds", limit.as_secs_f64()))
        }),
    };
    outcome.took.get_or_insert_with(|| started.elapsed());
    if outcome.status != Status::Result {
        spans::failed(&span, outcome.status.as_str());
    }
    (id, outcome)
}
