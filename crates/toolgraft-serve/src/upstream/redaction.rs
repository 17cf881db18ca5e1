//! Removes the server's own keys from the endpoint's answers: no client may see them, for example
//! when the endpoint quotes its request's headers.

use std::future::ready;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use futures::stream::{self, BoxStream, StreamExt};

use toolgraft::message::{Delta, DeltaKind};
use toolgraft::model::{ModelError, ModelEvent};
use toolgraft::secrets::{Hider, Secrets};

type Item = Result<ModelEvent, ModelError>;

/// Removes secrets from the events of an answer. The end of a text is held back until the next piece if it may be the
/// beginning of a secret.
struct RedactedEvents {
    secrets: Secrets,
    text: Hider<DeltaKind>,
    /// Channel of the last piece of text: the content or the reasoning.
    channel: Option<DeltaKind>,
}

/// Wraps an answer's stream so that the secrets are removed from it.
pub(crate) fn events(answer: BoxStream<'static, Item>, secrets: Secrets) -> BoxStream<'static, Item> {
    let mut hidden = RedactedEvents { text: Hider::new(secrets.clone()), secrets, channel: None };
    let items = answer.map(Some).chain(stream::once(async { None }));
    items.flat_map(move |item| stream::iter(hidden.take(item))).boxed()
}

impl RedactedEvents {
    /// Processes an event, or `None` at the end of the stream; returns the events that can be sent now, without
    /// secrets.
    fn take(&mut self, item: Option<Item>) -> Vec<Item> {
        let item = match item {
            Some(Ok(ModelEvent::Delta(delta))) => return self.delta(&delta),
            Some(Ok(ModelEvent::Fields(fields))) => {
                let mut fields = serde_json::Value::Object(fields);
                self.secrets.hide_in(&mut fields);
                let serde_json::Value::Object(fields) = fields else { return Vec::new() };
                return vec![Ok(ModelEvent::Fields(fields))];
            }
            Some(Ok(ModelEvent::Call(mut call))) => {
                call.name = self.secrets.hide(&call.name).into_owned();
                call.arguments = self.secrets.hide(&call.arguments).into_owned();
                Some(Ok(ModelEvent::Call(call)))
            }
            Some(end @ (Ok(ModelEvent::Finish(_)) | Err(_))) => Some(end),
            Some(other) => return vec![other],
            None => None,
        };
        // The waiting text was written before this event.
        self.rest().chain(item).collect()
    }

    fn delta(&mut self, delta: &Delta) -> Vec<Item> {
        // When the channel changes, the text of the other channel is complete.
        let is_new = self.channel.replace(delta.kind) != Some(delta.kind);
        let mut items: Vec<Item> = if is_new { self.rest().collect() } else { Vec::new() };
        items.extend(self.text.push(delta.kind, delta.text.as_bytes()).into_iter().filter_map(piece));
        items
    }

    /// Returns the text that was held back as a possible beginning of a secret.
    fn rest(&mut self) -> impl Iterator<Item = Item> + use<> {
        self.text.rest().into_iter().filter_map(piece)
    }
}

fn piece((kind, text): (DeltaKind, Vec<u8>)) -> Option<Item> {
    let text = String::from_utf8_lossy(&text).into_owned();
    (!text.is_empty()).then_some(Ok(ModelEvent::Delta(Delta::new(kind, text))))
}

/// Returns the value of a header for the client; `None` if it contains a secret.
pub(crate) fn header(value: &HeaderValue, secrets: &Secrets) -> Option<HeaderValue> {
    let text = String::from_utf8_lossy(value.as_bytes());
    matches!(secrets.hide(&text), std::borrow::Cow::Borrowed(_)).then(|| value.clone())
}

/// Wraps a body that is passed through so that the secrets are removed from it piece by piece.
pub(crate) fn body(body: Body, secrets: Secrets) -> Body {
    if secrets.is_empty() {
        return body;
    }
    let mut hider = Hider::new(secrets);
    let pieces = body.into_data_stream().map(Some).chain(stream::once(async { None }));
    Body::from_stream(pieces.filter_map(move |piece| {
        let hidden = match piece {
            Some(Ok(bytes)) => hider.push((), &bytes),
            Some(Err(error)) => return ready(Some(Err(error))),
            None => hider.rest(),
        };
        let bytes: Vec<u8> = hidden.into_iter().flat_map(|(_, bytes)| bytes).collect();
        ready((!bytes.is_empty()).then(|| Ok(Bytes::from(bytes))))
    }))
}
