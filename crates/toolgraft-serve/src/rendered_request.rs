//! The rendered request of a client: its fields read and its history rendered.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::history::Rendered;
use super::store::ClientStore;
use toolgraft::validate::OutputSchema;

/// A client's request in the shape of Chat Completions, with its history rendered.
pub(super) struct RenderedRequest {
    /// Fields for the endpoint, without messages, tools and the fields that this server consumes.
    pub(super) body: Map<String, Value>,
    /// The client's history with its calls and results rendered in the dialect. Its `untrusted` is
    /// also set where the server cannot rule out that the history holds text of third parties.
    pub(super) history: Rendered,
    /// The same history with calls and results in their native fields; present where requests may
    /// carry the tools natively.
    pub(super) native: Option<Vec<Value>>,
    /// Name and value of the field that limits the tokens of the answer, over all rounds.
    pub(super) max_tokens: Option<(&'static str, u64)>,
    /// The schema that the answer must match.
    pub(super) output: Option<Arc<OutputSchema>>,
    /// `true` if the requested response format was set aside because it cannot be satisfied.
    pub(super) no_form: bool,
    /// Size of the model's context in tokens, where the request asked for it to be respected.
    pub(super) context: Option<usize>,
    /// Stored facts of the client that sends the request.
    pub(super) kept: ClientStore,
}
