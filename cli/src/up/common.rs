//! The state that the conversations of the page have in common.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::base::Failure;
use crate::chat::{Endpoint, TalkArgs};
use crate::pages::doors;
use crate::servers::existing::Existing;
use crate::sessions::Store;
use toolgraft::secrets::Secrets;
use toolgraft_mcp::Hub;

/// State that all conversations of the page share.
pub(super) struct Common {
    /// The arguments of the command, with the settings of a new conversation.
    pub(super) args: Mutex<TalkArgs>,
    pub(super) hub: Arc<Hub>,
    /// The endpoint of the command line; a model named without an endpoint is one of this endpoint.
    pub(super) home: Endpoint,
    /// The endpoint and model of new conversations: those chosen last.
    pub(super) endpoint: Mutex<Endpoint>,
    pub(super) existing: Existing,
    /// The secrets of the configuration, which are removed from recordings.
    pub(super) secrets: Secrets,
    /// Store of the conversations; `None` if they are not stored.
    pub(super) store: Option<Store>,
}

/// Error response to a request of the page: its HTTP status and message.
pub(super) struct Refusal(pub(super) StatusCode, pub(super) String);

impl Refusal {
    pub(super) fn busy() -> Self {
        Refusal(StatusCode::CONFLICT, "the model is still answering: stop it first".to_owned())
    }

    pub(super) fn wrong(failure: Failure) -> Self {
        Refusal(StatusCode::BAD_REQUEST, failure.message().to_owned())
    }

    /// Returns the refusal for a conversation or question that does not exist.
    pub(super) fn gone() -> Self {
        Refusal(StatusCode::NOT_FOUND, "this conversation or question no longer exists".to_owned())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        doors::json(self.0, &json!({ "error": self.1 }))
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal(StatusCode::INTERNAL_SERVER_ERROR, failure.message().to_owned())
    }
}
