//! Drives one turn: its model stream, its running calls and its open question.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::approver::{ApproverState, ask};
use super::call::run_call;
use super::inner::AgentInner;
use super::record::TurnRecord;
use crate::event::RejectedKind;
use crate::model::span::{in_span, of_request};
use crate::model::{ModelError, ModelEvent, ModelEvents, Request};
use crate::spans::{self, Span};
use crate::turn::{Action, AgentEvent, Input, Turn};

/// Driver of one turn: the turn with its model stream, its running calls and its unanswered question.
pub(super) struct Driver {
    pub(super) agent: Arc<AgentInner>,
    pub(super) asking: Arc<ApproverState>,
    pub(super) turn: Turn,
    pub(super) cancel: CancellationToken,
    /// Token that the program cancels to suspend the turn; `None` once the suspension was reported to the turn.
    pub(super) suspend: Option<CancellationToken>,
    pub(super) message: Option<ModelEvents>,
    /// Futures of running calls and of questions to the endpoint.
    pub(super) calls: FuturesUnordered<BoxFuture<'static, Input>>,
    pub(super) question: Option<BoxFuture<'static, Input>>,
    pub(super) over: bool,
    pub(super) record: Option<TurnRecord>,
    /// Extra HTTP headers of the turn's requests to the model.
    pub(super) headers: Vec<(String, String)>,
    /// Tracing span of the turn.
    pub(super) span: Span,
}

impl Driver {
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
                self.calls.push(Box::pin(async move { Input::Probed(said.await) }));
            }
            Action::AskContext(model) => {
                let said = self.agent.model.context_window(model.as_deref());
                self.calls.push(Box::pin(async move { Input::ContextWindow(said.await) }));
            }
            Action::Send(request) => self.message = Some(self.send(request)),
            Action::CancelStream => self.message = None,
            Action::Withdraw { .. } => self.question = None,
            Action::Call(invocation) => {
                let (toolbox, limit) = (self.agent.toolbox.clone(), self.agent.call_timeout);
                let ran = run_call(toolbox, invocation, limit);
                self.calls.push(Box::pin(ran.map(|(id, outcome)| Input::Outcome { id, outcome })));
            }
            Action::Ask(request) => {
                self.question = Some(Box::pin(ask(self.asking.clone(), self.turn.setup(), request)))
            }
            Action::Finish(finished) => {
                self.message = None;
                // Calls and questions that still run are dropped, which cancels them.
                self.calls.clear();
                self.question = None;
                self.over = true;
                spans::turn_ended(&self.span, finished.rounds, finished.usage);
                if let Some(kind) = finished.reason.failure() {
                    spans::failed(&self.span, &kind);
                }
                return Some(AgentEvent::Finished(finished));
            }
        }
        None
    }

    fn send(&mut self, mut request: Request) -> ModelEvents {
        request.headers.extend(self.headers.iter().cloned());
        if request.constraint.as_ref().is_some_and(|c| c.required) && !self.agent.model.constrains() {
            let message = "this model does not constrain its answers".to_owned();
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

    /// Waits for the turn's next input: cancellation and suspension before events, calls and answers.
    async fn input(&mut self) -> Input {
        let Driver { cancel, suspend, message, calls, question, .. } = self;
        tokio::select! {
            // In this order, so that nothing begins after a cancellation.
            biased;
            () = cancel.cancelled() => Input::Cancel,
            () = suspended(suspend) => Input::Suspend,
            event = next_event(message) => event,
            Some(input) = calls.next(), if !calls.is_empty() => input,
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

async fn next_event(message: &mut Option<ModelEvents>) -> Input {
    let Some(events) = message else { return std::future::pending().await };
    let event = events.next().await;
    // A stream that has ended must not be polled again.
    if ModelEvent::is_last(event.as_ref()) {
        *message = None;
    }
    Input::of_model(event)
}

/// Waits for the approver's answer; without a pending question it never completes.
async fn answer(question: &mut Option<BoxFuture<'static, Input>>) -> Input {
    match question {
        None => std::future::pending().await,
        Some(question) => question.await,
    }
}
