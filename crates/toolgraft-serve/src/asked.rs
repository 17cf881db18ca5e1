//! What a client asks, once its interface is read and its history told.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::history::Rendered;
use super::kept::Kept;
use toolgraft::validate::OutputSchema;

/// What a client asks, in the shape of Chat Completions.
pub(super) struct Asked {
    /// Fields for the endpoint; without messages, tools and what is ours.
    pub(super) body: Map<String, Value>,
    /// The client's history with its calls and results in the dialect. `untrusted` also where it is
    /// not known that nobody else's words are in it.
    pub(super) history: Rendered,
    /// The same with calls and results in their own fields, where requests carry the tools.
    pub(super) native: Option<Vec<Value>>,
    /// Most tokens of the answer, over all rounds, and the field that says so.
    pub(super) max_tokens: Option<(&'static str, u64)>,
    /// The schema that the answer has to match.
    pub(super) output: Option<Arc<OutputSchema>>,
    /// The form that was asked for is set aside: nothing fits it.
    pub(super) no_form: bool,
    /// Tokens of the model's context, where that was asked for.
    pub(super) context: Option<usize>,
    /// What is kept of whoever asks.
    pub(super) kept: Kept,
}
