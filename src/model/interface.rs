//! What every model does.

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::ModelError;
use super::request::Request;
use crate::message::{Delta, FinishReason, NativeCall, Usage};
use crate::spans::Peer;

/// Something that answers messages with streamed text.
pub trait Model: Send + Sync {
    /// Sends a request; the stream is the answer as it comes.
    ///
    /// A complete answer ends with [`ModelEvent::Finish`]. A stream that ends
    /// without one, or with an error, broke off. Dropping the stream cancels
    /// the request.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>>;

    /// Whether a request for this model (`None` is the client's own) may carry
    /// tools, as far as it can be told without one. Asked before the first request
    /// of a turn in [`ToolsMode::Auto`](crate::tools::ToolsMode::Auto), so an
    /// answer that takes time should be kept. Without an answer the profile decides.
    fn native_tools(&self, _model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        Box::pin(std::future::ready(None))
    }

    /// Whether the model looks at [`Request::constraint`] at all. One that does not is asked
    /// nothing where a structure is required. One that does holds its answer to it in a form
    /// that it knows, or fails a required one with [`ModelError::Unconstrained`].
    fn constrains(&self) -> bool {
        false
    }

    /// What its [spans](crate::spans) say of it, by default nothing.
    fn peer(&self) -> Peer {
        Peer::default()
    }

    /// The context of this model (`None` is the client's own), as far as it can be told
    /// without a request. Asked before the first request of a turn that may pass it, so an
    /// answer that takes time should be kept.
    fn context_window(&self, _model: Option<&str>) -> BoxFuture<'static, Option<ContextWindow>> {
        Box::pin(std::future::ready(None))
    }
}

/// Room for a prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextWindow {
    /// Tokens.
    pub tokens: usize,
    /// How there come to be more, in the words of whatever serves the model.
    pub remedy: Option<String>,
}

impl ContextWindow {
    /// So many tokens.
    pub fn new(tokens: usize) -> Self {
        ContextWindow { tokens, remedy: None }
    }
}

/// What happens before an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Progress {
    /// The server loads the model; the request is sent again until it has.
    Loading,
    /// The model reads the prompt.
    Prompt {
        /// Tokens that were read.
        processed: u64,
        /// Tokens to read.
        total: u64,
    },
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        (**self).stream(request)
    }

    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        (**self).native_tools(model)
    }

    fn constrains(&self) -> bool {
        (**self).constrains()
    }

    fn peer(&self) -> Peer {
        (**self).peer()
    }

    fn context_window(&self, model: Option<&str>) -> BoxFuture<'static, Option<ContextWindow>> {
        (**self).context_window(model)
    }
}

/// Most other tokens that any endpoint tells of: what OpenAI's interface takes
/// (platform.openai.com/docs/api-reference/chat, `top_logprobs`), and vLLM without `--max-logprobs`.
pub(crate) const ALTERNATIVES: u32 = 20;

/// A token of an answer, and what else could have stood in its place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TokenChoice {
    /// Its text.
    pub text: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens there with theirs, this one perhaps among them.
    pub others: Vec<(String, f64)>,
}

impl TokenChoice {
    /// A token of this text and logarithm of its probability, nothing beside it.
    pub fn new(text: impl Into<String>, logprob: f64) -> Self {
        TokenChoice { text: text.into(), logprob, others: Vec::new() }
    }

    /// Adds a token that could have stood there.
    #[must_use]
    pub fn or(mut self, text: impl Into<String>, logprob: f64) -> Self {
        self.others.push((text.into(), logprob));
        self
    }
}

/// A piece of a model's answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// Text.
    Delta(Delta),
    /// A complete call in a field of its own (`tool_calls`). Sent behind all text,
    /// before the end; an answer that breaks off has none.
    Call(NativeCall),
    /// The answer is held to less than the request's [`constraint`](Request::constraint), since
    /// the endpoint refused a form of it, in these words. Comes before everything else.
    ConstraintRefused(String),
    /// The answer is held to nothing of the request's constraint, since the endpoint is known to
    /// take it in no form. Comes before everything else.
    Unconstrained,
    /// The tokens of the text that comes next, where the request asked for
    /// [alternatives](Request::alternatives) and the endpoint gives them.
    Tokens(Vec<TokenChoice>),
    /// What happens before the answer begins.
    Progress(Progress),
    /// What the answer cost; the last one counts.
    Usage(Usage),
    /// Fields of a chunk that no other event tells of, such as `system_fingerprint`; from
    /// [`OpenAi`](crate::OpenAi) only where a server hands them on.
    Fields(Map<String, Value>),
    /// The answer is over.
    Finish(FinishReason),
}

impl ModelEvent {
    /// Whether nothing follows this in a model's stream: the answer is over, or failed, or broke
    /// off.
    pub fn is_last(next: Option<&Result<ModelEvent, ModelError>>) -> bool {
        matches!(next, None | Some(Err(_) | Ok(ModelEvent::Finish(_))))
    }
}
