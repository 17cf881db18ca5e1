//! Records a model's answer in its span.

use std::borrow::Cow;
use std::task::Poll;

use futures::stream::{self, StreamExt};

use super::{Model, ModelError, ModelEvent, ModelEvents, Request};
use crate::spans::{self, Span};

/// Creates the tracing span of a request to the model, and adds the headers that identify it to the request.
pub fn of_request(model: &(impl Model + ?Sized), request: &mut Request) -> Span {
    let span = spans::chat(|| model.peer(), request.model.as_deref());
    request.headers.extend(spans::headers(&span));
    span
}

/// Returns the events of an answer unchanged, and records its usage, end or error in the tracing span, which ends with
/// it.
pub fn in_span(span: Span, mut events: ModelEvents) -> ModelEvents {
    if span.is_disabled() {
        return events;
    }
    let mut over = false;
    stream::poll_fn(move |context| {
        let _entered = span.enter();
        let polled = events.poll_next_unpin(context);
        if let Poll::Ready(event) = &polled
            && !over
        {
            match event {
                Some(Ok(ModelEvent::Usage(usage))) => spans::used(&span, Some(*usage)),
                Some(Ok(ModelEvent::Finish(reason))) => {
                    over = true;
                    spans::finished(&span, reason);
                }
                Some(Err(error)) => {
                    over = true;
                    spans::failed(&span, &error_type(error));
                }
                None => spans::failed(&span, &error_type(&ModelError::BrokeOff)),
                _ => {}
            }
        }
        polled
    })
    .boxed()
}

/// Returns the type of an error for a tracing span: the HTTP status of a refusal, else a keyword.
pub(crate) fn error_type(error: &ModelError) -> Cow<'static, str> {
    match error.status() {
        Some(status) => status.to_string().into(),
        None => error.kind().as_str().into(),
    }
}
