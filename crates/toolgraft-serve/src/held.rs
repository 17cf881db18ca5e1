//! What one request holds of the budgets.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use super::config::Config;
use super::fault::Fault;
use super::upstream::client_key;
use toolgraft::budget::Permit;

/// What a request holds of the budgets until its answer is over. A clone holds the same.
#[derive(Clone)]
pub(super) struct Held(Arc<Parts>);

struct Parts {
    /// Its place among the requests.
    _request: Permit,
    /// The bytes of its body.
    body: Mutex<Permit>,
}

impl Held {
    /// Lets a request in.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn new(headers: &HeaderMap, config: &Config) -> Result<Self, Fault> {
        // Whoever shows the one key that lets clients in cannot be told apart.
        let client = config.client_key.is_none().then(|| client_key(headers).unwrap_or_default());
        let request = config.budgets.max_requests.take(client.as_deref(), 1)?;
        let body = Mutex::new(config.budgets.max_body_bytes.take(client.as_deref(), 0)?);
        Ok(Held(Arc::new(Parts { _request: request, body })))
    }

    /// Takes room for these bytes of the body, beside those that have come.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn grow(&self, bytes: usize) -> Result<(), Fault> {
        Ok(self.0.body.lock().unwrap_or_else(PoisonError::into_inner).grow(bytes)?)
    }

    /// Returns the same answer; what is held is given back with its last byte.
    pub(super) fn until_over(self, response: Response) -> Response {
        response.map(|body| Body::new(HeldBody { body, _held: self }))
    }
}

/// The body of an answer, during which its request's part of the budgets is held.
struct HeldBody {
    body: Body,
    _held: Held,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
