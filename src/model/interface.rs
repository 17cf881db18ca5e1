//! The interface of all models.

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::ModelError;
use super::request::Request;
use crate::message::{Delta, FinishReason, NativeCall, Usage};
use crate::spans::Peer;

/// The stream of the events of an answer.
pub type ModelEvents = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A language model, which answers messages with streamed text.
pub trait Model: Send + Sync {
    /// Sends a request and returns the stream of its answer.
    ///
    /// A complete answer ends with [`ModelEvent::Finish`]. A stream that ends without it, or with an error, was cut
    /// off. Dropping the stream cancels the request.
    fn stream(&self, request: Request) -> ModelEvents;

    /// Returns `true` if a request to this model (`None` is the client's own model) may carry native tools, `false` if
    /// it may not, and `None` if that is not known without a request, so that the profile decides. It is called before
    /// the first request of a turn in [`ToolsMode::Auto`](crate::tools::ToolsMode::Auto), so a result that takes time
    /// should be cached.
    fn native_tools(&self, _model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        Box::pin(std::future::ready(None))
    }

    /// Returns `true` if the model supports [`Request::constraint`]. If it does not, no request with a required
    /// constraint is sent to it. A model that supports it applies the constraint in one of its forms, or fails a
    /// required one with [`ModelError::Unconstrained`].
    fn constrains(&self) -> bool {
        false
    }

    /// Returns the model's description for [spans](crate::spans); empty by default.
    fn peer(&self) -> Peer {
        Peer::default()
    }

    /// Returns the context window of this model (`None` is the client's own model), or `None` if that is not known
    /// without a request. It is called before the first request of a turn that may exceed the context, so a result that
    /// takes time should be cached.
    fn context_window(&self, _model: Option<&str>) -> BoxFuture<'static, Option<ContextWindow>> {
        Box::pin(std::future::ready(None))
    }
}

/// The context window of a model: the space for a prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextWindow {
    /// Number of tokens of the context.
    pub tokens: usize,
    /// Instruction for getting a longer context, in the terms of the server.
    pub remedy: Option<String>,
}

impl ContextWindow {
    /// Creates a context window of this many tokens, without a remedy.
    pub fn new(tokens: usize) -> Self {
        ContextWindow { tokens, remedy: None }
    }
}

/// The progress of a request before the model's answer begins. In JSON, the member `kind` is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Progress {
    /// The server is still loading the model; the request is sent again until the model is loaded.
    Loading,
    /// The model is reading the prompt.
    Prompt {
        /// Number of prompt tokens that the model has read so far.
        processed: u64,
        /// Number of tokens of the whole prompt.
        total: u64,
    },
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn stream(&self, request: Request) -> ModelEvents {
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

/// Number of alternative tokens that any endpoint provides: the limit of OpenAI's API
/// (platform.openai.com/docs/api-reference/chat, `top_logprobs`), and of vLLM without `--max-logprobs`.
pub(crate) const ALTERNATIVES: u32 = 20;

/// A token of an answer, with the alternatives to it that the model considered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TokenChoice {
    /// The token's text.
    pub text: String,
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
    /// The likeliest tokens at this position with the natural logarithms of their probabilities; may include this
    /// token.
    pub others: Vec<(String, f64)>,
}

impl TokenChoice {
    /// Creates a token from its text and the logarithm of its probability, without alternatives.
    pub fn new(text: impl Into<String>, logprob: f64) -> Self {
        TokenChoice { text: text.into(), logprob, others: Vec::new() }
    }

    /// Adds an alternative token with the logarithm of its probability.
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
    /// A piece of text or reasoning.
    Delta(Delta),
    /// A complete native call (`tool_calls`). It follows all text and precedes the end; an answer that was cut off has
    /// none.
    Call(NativeCall),
    /// The answer is constrained less than the request's [`constraint`](Request::constraint) demands, because the
    /// endpoint refused a form of it with this message. It precedes all other events.
    ConstraintRefused(String),
    /// The answer is not constrained at all, although the request demands it, because the endpoint is known to support
    /// no form of constraint. It precedes all other events.
    Unconstrained,
    /// The tokens of the next piece of text, if the request asked for [alternatives](Request::alternatives) and the
    /// endpoint provides them.
    Tokens(Vec<TokenChoice>),
    /// Progress before the answer begins.
    Progress(Progress),
    /// The token usage of the answer; of several such events the last one is valid.
    Usage(Usage),
    /// Top-level fields of a chunk that no other event contains, such as `system_fingerprint`.
    /// [`OpenAi`](crate::OpenAi) sends them only for a server that passes them on to its own client.
    Fields(Map<String, Value>),
    /// The answer is complete.
    Finish(FinishReason),
}

impl ModelEvent {
    /// Returns `true` if nothing follows this item of a model's stream: the answer is complete, failed, or was cut off.
    pub fn is_last(next: Option<&Result<ModelEvent, ModelError>>) -> bool {
        matches!(next, None | Some(Err(_) | Ok(ModelEvent::Finish(_))))
    }
}
