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

/// The reservations of a request in the server's budgets, held until its answer is over. Clones share them.
#[derive(Clone)]
pub(crate) struct Reservation(Arc<Parts>);

struct Parts {
    /// Reservation of one request in the budget `max_requests`.
    _request: Permit,
    /// Reservation of the bytes of the request's body in the budget `max_body_bytes`.
    body: Mutex<Permit>,
}

impl Reservation {
    /// Reserves one request in the budget `max_requests`, without bytes for its body.
    ///
    /// # Errors
    /// Fails if as many requests as the budget allows are being answered.
    pub(crate) fn new(headers: &HeaderMap, settings: &AccessSettings) -> Result<Self, Fault> {
        // With a configured key all clients send the same one, so they cannot be told apart.
        let client = settings.client_key.is_none().then(|| client_key(headers).unwrap_or_default());
        let request = settings.budgets.max_requests.take(client.as_deref(), 1)?;
        let body = Mutex::new(settings.budgets.max_body_bytes.take(client.as_deref(), 0)?);
        Ok(Reservation(Arc::new(Parts { _request: request, body })))
    }

    /// Reserves this number of bytes for the body of the request, in addition to those reserved before.
    ///
    /// # Errors
    /// Fails if the budget for bodies is exhausted.
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
