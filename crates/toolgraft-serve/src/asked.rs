//! What a client asks, once its interface is read and its history told.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::kept::Kept;
use toolgraft::turn::SaidBefore;
use toolgraft::validate::OutputSchema;

/// What a client asks, in the shape of Chat Completions.
pub(super) struct Asked {
    /// Fields for the endpoint; without messages, tools and what is ours.
    pub(super) body: Map<String, Value>,
    /// The client's history with its calls and results in the dialect.
    pub(super) messages: Vec<Value>,
    /// The last of them with what is said for now, where it tells results.
    pub(super) last: Option<Value>,
    /// The client's history with calls and results in their own fields, where requests carry the tools.
    pub(super) native: Option<Vec<Value>>,
    /// What the tools of that history said.
    pub(super) results: Vec<String>,
    /// What the person said last.
    pub(super) question: String,
    /// What was said and called in that history.
    pub(super) said: Vec<SaidBefore>,
    /// The client's last call, where its result is what was said last.
    pub(super) answered: Option<(String, Map<String, Value>)>,
    /// Most tokens of the answer, over all rounds, and the field that says so.
    pub(super) max_tokens: Option<(&'static str, u64)>,
    /// The schema that the answer has to match.
    pub(super) output: Option<Arc<OutputSchema>>,
    /// The form that was asked for is set aside: nothing fits it.
    pub(super) no_form: bool,
    /// Results of the toolbox that may be anybody's words are in the history, or it is not known
    /// that none are.
    pub(super) untrusted: bool,
    /// Tokens of the model's context, where that was asked for.
    pub(super) context: Option<usize>,
    /// What is kept of whoever asks.
    pub(super) kept: Kept,
}
