//! Removes the server's own keys from the endpoint's answers: no client may see them, for example
//! when the endpoint quotes its request's headers.

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use futures::stream::{self, BoxStream, StreamExt};

use toolgraft::message::{Delta, DeltaKind};
use toolgraft::model::{ModelError, ModelEvent};
use toolgraft::secrets::{Hider, Secrets};

type Item = Result<ModelEvent, ModelError>;

/// An answer's stream from which secrets are removed. The end of a text waits for the next piece
/// while it may be the beginning of a secret.
pub(super) struct RedactedEvents {
    answer: BoxStream<'static, Item>,
    secrets: Secrets,
    text: Hider<DeltaKind>,
    /// The channel of the last piece.
    channel: Option<DeltaKind>,
    ready: std::collections::VecDeque<Item>,
    over: bool,
}

impl RedactedEvents {
    /// Wraps an answer's stream so that the secrets are removed from it.
    pub(super) fn of(answer: BoxStream<'static, Item>, secrets: Secrets) -> BoxStream<'static, Item> {
        let text = Hider::new(secrets.clone());
        let hidden = RedactedEvents { answer, secrets, text, channel: None, ready: Default::default(), over: false };
        stream::unfold(Box::new(hidden), |mut hidden| async move { Some((hidden.next().await?, hidden)) }).boxed()
    }

    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.over {
                return None;
            }
            match self.answer.next().await {
                Some(Ok(ModelEvent::Delta(delta))) => self.delta(&delta),
                Some(Ok(ModelEvent::Call(mut call))) => {
                    self.release();
                    call.name = self.secrets.hide(&call.name).into_owned();
                    call.arguments = self.secrets.hide(&call.arguments).into_owned();
                    self.ready.push_back(Ok(ModelEvent::Call(call)));
                }
                Some(Ok(ModelEvent::Fields(fields))) => {
                    let mut fields = serde_json::Value::Object(fields);
                    self.secrets.hide_in(&mut fields);
                    if let serde_json::Value::Object(fields) = fields {
                        self.ready.push_back(Ok(ModelEvent::Fields(fields)));
                    }
                }
                Some(other) => {
                    if matches!(other, Ok(ModelEvent::Finish(_)) | Err(_)) {
                        self.release();
                    }
                    self.ready.push_back(other);
                }
                None => {
                    self.release();
                    self.over = true;
                }
            }
        }
    }

    fn delta(&mut self, delta: &Delta) {
        // When the channel changes, the text of the other channel is complete.
        if self.channel.replace(delta.kind) != Some(delta.kind) {
            self.release();
        }
        let pieces = self.text.push(delta.kind, delta.text.as_bytes());
        self.ready.extend(pieces.into_iter().filter_map(piece));
    }

    /// Releases the waiting text.
    fn release(&mut self) {
        self.ready.extend(self.text.rest().into_iter().filter_map(piece));
    }
}

fn piece((kind, text): (DeltaKind, Vec<u8>)) -> Option<Item> {
    let text = String::from_utf8_lossy(&text).into_owned();
    (!text.is_empty()).then_some(Ok(ModelEvent::Delta(Delta::new(kind, text))))
}

/// Returns a header for the client; `None` if it holds a secret.
pub(super) fn header(value: &HeaderValue, secrets: &Secrets) -> Option<HeaderValue> {
    let text = String::from_utf8_lossy(value.as_bytes());
    matches!(secrets.hide(&text), std::borrow::Cow::Borrowed(_)).then(|| value.clone())
}

/// Wraps a body that is passed through so that the secrets are removed from it piece by piece.
pub(super) fn body(body: Body, secrets: Secrets) -> Body {
    if secrets.is_empty() {
        return body;
    }
    let state = (body.into_data_stream(), Some(Hider::new(secrets)));
    Body::from_stream(stream::unfold(state, |(mut pieces, mut hider)| async move {
        loop {
            let own = hider.as_mut()?;
            let (bytes, failed) = match pieces.next().await {
                Some(Ok(bytes)) => (own.push((), &bytes), None),
                Some(Err(error)) => (Vec::new(), Some(error)),
                None => {
                    let rest = own.rest();
                    hider = None;
                    (rest, None)
                }
            };
            if let Some(error) = failed {
                return Some((Err(error), (pieces, None)));
            }
            let bytes: Vec<u8> = bytes.into_iter().flat_map(|(_, bytes)| bytes).collect();
            if !bytes.is_empty() {
                return Some((Ok(Bytes::from(bytes)), (pieces, hider)));
            }
        }
    }))
}
