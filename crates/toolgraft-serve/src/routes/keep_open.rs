//! Begins the stream of a request that is passed through while the endpoint is still silent, as
//! other streams do: clients and load balancers give up on a connection without a byte.

use std::future::Future;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde_json::{Map, Value};

use crate::upstream::endpoint::MAX_ANSWER;
use toolgraft_protocol::{Fault, Shape};

/// Number of characters that are quoted from an answer that cannot be read.
const SHOWN: usize = 300;

type OpenAnswer = BoxFuture<'static, Result<Response, Fault>>;

/// Returns the endpoint's answer unchanged if it begins within `keep_alive`. Otherwise returns a
/// stream that begins at once, has a comment after each interval, and continues with that answer;
/// an error is then reported inside the stream.
///
/// # Errors
/// Fails if the endpoint failed within the first interval.
pub(crate) async fn keep_open(
    shape: &'static dyn Shape,
    keep_alive: Duration,
    answer: impl Future<Output = Result<Response, Fault>> + Send + 'static,
) -> Result<Response, Fault> {
    let mut answer: OpenAnswer = answer.boxed();
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

/// Returns the text that follows the comments in the stream: the endpoint's stream, its completion as one chunk, or
/// an error.
async fn rest(shape: &dyn Shape, answer: Result<Response, Fault>) -> BoxStream<'static, Result<Bytes, axum::Error>> {
    let (event, end) = match answer {
        Ok(answer) if is_stream(&answer) => return answer.into_body().into_data_stream().boxed(),
        Ok(answer) => match whole(answer).await {
            Ok(completion) => (as_chunk(completion).into(), "data: [DONE]\n\n"),
            Err(error) => (error.unwrap_or_else(|fault| shape.error(&fault)), ""),
        },
        Err(fault) => (shape.error(&fault), ""),
    };
    let text = format!("data: {event}\n\n{end}");
    stream::once(async move { Ok(Bytes::from(text)) }).boxed()
}

/// Returns `true` if an answer counts as a stream: it is successful and its content type is not JSON, since endpoints
/// label their streams differently.
fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    answer.status().is_success() && kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"application/json"))
}

/// Reads an answer of the endpoint that is not a stream, which must be a completion.
///
/// # Errors
/// Fails with the endpoint's error object, or with a fault that says what is wrong with its answer.
async fn whole(answer: Response) -> Result<Map<String, Value>, Result<Value, Fault>> {
    let status = answer.status();
    let failed = |what: String| {
        // A success without an answer is a failure of the endpoint.
        let kept = if status.is_success() { 502 } else { status.as_u16() };
        Err(Fault::upstream(kept, format!("the endpoint's answer (HTTP {status}) {what}")))
    };
    let body = axum::body::to_bytes(answer.into_body(), MAX_ANSWER).await;
    let body = body.map_err(|_| failed("was cut off".to_owned()))?;
    match serde_json::from_slice(&body) {
        Ok(Value::Object(error)) if error.contains_key("error") => Err(Ok(error.into())),
        Ok(Value::Object(completion)) if status.is_success() => Ok(completion),
        _ => {
            let beginning: String = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
            Err(failed(format!("is neither a completion nor an error: {beginning}")))
        }
    }
}

/// Converts a completion to the only chunk of a stream: each choice's message becomes its delta.
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
