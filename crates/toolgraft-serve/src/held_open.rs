//! A stream that passes through, before an endpoint that is silent for long: it begins here, as every
//! other stream does, for clients and balancers give up on a connection without a byte.

use std::future::Future;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde_json::{Map, Value};

use super::fault::Fault;
use super::shape::{Shape, data};
use super::upstream::MAX_ANSWER;

/// Characters that are shown of an answer that cannot be read.
const SHOWN: usize = 300;

type Answer = BoxFuture<'static, Result<Response, Fault>>;

/// The endpoint's answer as it is, where it begins within this time. Else a stream that begins now, with
/// a comment each time that it has passed, and goes on with that answer. An error is then told in it.
///
/// # Errors
/// The endpoint did not answer, and said so in time.
pub(super) async fn held_open(
    shape: &'static dyn Shape,
    keep_alive: Duration,
    answer: impl Future<Output = Result<Response, Fault>> + Send + 'static,
) -> Result<Response, Fault> {
    let mut answer: Answer = answer.boxed();
    if let Ok(answer) = tokio::time::timeout(keep_alive, &mut answer).await {
        return answer;
    }
    let comment = move || Ok::<_, axum::Error>(Bytes::from_static(shape.busy().as_bytes()));
    let waiting = stream::unfold(Some(answer), move |waiting| async move {
        let mut answer = waiting?;
        match tokio::time::timeout(keep_alive, &mut answer).await {
            Ok(answer) => Some((rest(shape, answer).await, None)),
            Err(_) => Some((stream::once(async move { comment() }).boxed(), Some(answer))),
        }
    });
    let body = Body::from_stream(stream::once(async move { comment() }).chain(waiting.flatten()));
    let headers = [(header::CONTENT_TYPE, shape.stream_type()), (header::CACHE_CONTROL, "no-cache")];
    Ok((StatusCode::OK, headers, body).into_response())
}

/// What the client reads of an answer behind the comments.
async fn rest(shape: &dyn Shape, answer: Result<Response, Fault>) -> BoxStream<'static, Result<Bytes, axum::Error>> {
    let mut text = String::new();
    match answer {
        Ok(answer) if is_stream(&answer) => return answer.into_body().into_data_stream().boxed(),
        Ok(answer) => match whole(answer).await {
            Ok(completion) => {
                data(&mut text, &as_chunk(completion));
                text.push_str("data: [DONE]\n\n");
            }
            Err(error) => data(&mut text, &error.unwrap_or_else(|fault| shape.error(&fault))),
        },
        Err(fault) => data(&mut text, &shape.error(&fault)),
    }
    stream::once(async move { Ok(Bytes::from(text)) }).boxed()
}

/// Whatever an endpoint calls its stream, it does not call it JSON.
fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    answer.status().is_success() && kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json"))
}

/// The completion of an answer that is no stream.
///
/// # Errors
/// It is none: the endpoint's own error, or what is wrong with its answer.
async fn whole(answer: Response) -> Result<Map<String, Value>, Result<Value, Fault>> {
    let status = answer.status();
    let failed = |what: String| {
        let kept = if status.is_success() { 502 } else { status.as_u16() };
        Err(Fault::upstream(kept, format!("the endpoint's answer (HTTP {status}) {what}")))
    };
    let body = axum::body::to_bytes(answer.into_body(), MAX_ANSWER).await;
    let body = body.map_err(|_| failed("broke off".to_owned()))?;
    match serde_json::from_slice(&body) {
        Ok(Value::Object(error)) if error.contains_key("error") => Err(Ok(error.into())),
        Ok(Value::Object(completion)) if status.is_success() => Ok(completion),
        _ => {
            let beginning: String = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
            Err(failed(format!("is neither a completion nor an error: {beginning}")))
        }
    }
}

/// A completion as the only chunk of a stream: its messages are all that is added.
fn as_chunk(mut completion: Map<String, Value>) -> Map<String, Value> {
    completion.insert("object".to_owned(), "chat.completion.chunk".into());
    let choices = completion.get_mut("choices").and_then(Value::as_array_mut);
    for choice in choices.into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(message) = choice.shift_remove("message") {
            choice.insert("delta".to_owned(), message);
        }
    }
    completion
}
