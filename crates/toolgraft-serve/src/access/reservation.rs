//! The share of the budgets that one request has reserved.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures::StreamExt;

use super::keys::client_key;
use super::settings::AccessSettings;
use toolgraft::budget::Permit;
use toolgraft_protocol::Fault;

/// A request's reservations in the budgets, kept until its answer is over. Clones share them.
#[derive(Clone)]
pub(crate) struct Reservation(Arc<Parts>);

struct Parts {
    /// The request's place in `max_requests`.
    _request: Permit,
    /// The bytes of its body in `max_body_bytes`.
    body: Mutex<Permit>,
}

impl Reservation {
    /// Reserves a place for a request.
    ///
    /// # Errors
    /// Fails if there are too many requests.
    pub(crate) fn new(headers: &HeaderMap, settings: &AccessSettings) -> Result<Self, Fault> {
        // With a configured key all clients send the same one, so they cannot be told apart.
        let client = settings.client_key.is_none().then(|| client_key(headers).unwrap_or_default());
        let request = settings.budgets.max_requests.take(client.as_deref(), 1)?;
        let body = Mutex::new(settings.budgets.max_body_bytes.take(client.as_deref(), 0)?);
        Ok(Reservation(Arc::new(Parts { _request: request, body })))
    }

    /// Reserves these bytes of the body, in addition to those that came before.
    ///
    /// # Errors
    /// Fails if the budget is exhausted.
    pub(crate) fn grow(&self, bytes: usize) -> Result<(), Fault> {
        Ok(self.0.body.lock().unwrap_or_else(PoisonError::into_inner).grow(bytes)?)
    }

    /// Attaches the reservations to the answer's body: they are returned after its last byte.
    pub(crate) fn until_over(self, response: Response) -> Response {
        let length = response.body().size_hint().exact();
        // The closure owns the reservations and reads nothing: they are dropped with the body.
        let mut response = response.map(|body| Body::from_stream(body.into_data_stream().inspect(move |_| _ = &self)));
        // The stream around the body hides its length.
        if let Some(length) = length {
            response.headers_mut().entry(header::CONTENT_LENGTH).or_insert(length.into());
        }
        response
    }
}
