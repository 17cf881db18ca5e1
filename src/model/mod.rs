//! Models: a request in, a stream of deltas out.
//!
//! [`Model`] is what the agent drives; a program may bring its own. [`Recorded`]
//! is a recorded stream as a model; with the feature `client`, `OpenAi` is a model
//! behind an OpenAI-compatible endpoint.

#[cfg(feature = "client")]
mod openai;
#[cfg(feature = "client")]
mod overflow;
mod recorded;
mod refusal;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Delta, FinishReason, Message, NativeCall};
use crate::outcome::Outcome;
use crate::tool::ToolChoice;
use crate::wire::ToolDefinition;

pub use crate::message::Usage;
#[cfg(feature = "client")]
pub use openai::{
    BACKOFF, CONNECT_TIMEOUT, ClientError, IDLE_TIMEOUT, LIST_TIMEOUT, MAX_EVENT, MAX_RETRY_AFTER, ModelInfo, OpenAi,
    OpenAiBuilder, PROBE_TIMEOUT, RETRIES, Tracer, shown_url,
};
pub use recorded::{Recorded, Round, Step};

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
    /// of a turn in [`ToolsMode::Auto`](crate::tool::ToolsMode::Auto), so an
    /// answer that takes time should be kept. Without an answer the profile decides.
    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        let _ = model;
        Box::pin(std::future::ready(None))
    }
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        (**self).stream(request)
    }

    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        (**self).native_tools(model)
    }
}

/// What goes to a model.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Request {
    /// The whole conversation, oldest message first.
    pub messages: Vec<Message>,
    /// Model that is to answer, as the endpoint names it; `None` for the client's own.
    pub model: Option<String>,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Most tokens of the answer, reasoning included; `None` leaves it to the endpoint.
    pub max_tokens: Option<u32>,
    /// Tools for an endpoint that takes them; empty where the prompt describes
    /// them. Then no message holds calls either.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call; for requests with `tools`.
    /// A named tool goes by its name on the wire.
    pub tool_choice: ToolChoice,
    /// Calls since the person last spoke and what became of them, in order. The
    /// messages tell them to the model in words; this is for models that are
    /// programs, such as [`Recorded`].
    pub results: Vec<CallResult>,
}

impl Request {
    /// A request with these messages and no parameters.
    pub fn new(messages: Vec<Message>) -> Self {
        Request { messages, ..Request::default() }
    }
}

/// A call and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// Identifier, unique in the conversation.
    pub id: String,
    /// Server.
    pub server: Option<String>,
    /// Tool.
    pub tool: String,
    /// Arguments.
    pub arguments: Value,
    /// What became of the call.
    pub outcome: Outcome,
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
    /// What the answer cost; the last one counts.
    Usage(Usage),
    /// The answer is over.
    Finish(FinishReason),
}

/// Why a model gave no answer, or only a part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The stream ended without a finish reason.
    #[error("the answer broke off: the stream ended without a finish reason")]
    BrokeOff,
    /// The answer broke off: the connection, the endpoint or the program behind
    /// the model failed after the answer had begun. What came before counts.
    #[error("the answer broke off: {message}")]
    CutOff {
        /// What happened.
        message: String,
    },
    /// The endpoint cannot be reached.
    #[error("cannot connect to {url}: {message}")]
    Unreachable {
        /// The endpoint, without secrets.
        url: String,
        /// What happened, and what may help.
        message: String,
    },
    /// The endpoint refused the request, after all retries.
    #[error("{url} answered HTTP {status}: {message}")]
    Refused {
        /// The endpoint, without secrets.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The endpoint's own message, and what may help.
        message: String,
    },
    /// The prompt does not fit the model's context, in the endpoint's own numbers, as far
    /// as it gives them. The same request with less in it may pass.
    #[error("{url}: the prompt does not fit the model's context: {message}")]
    ContextExceeded {
        /// The endpoint, without secrets.
        url: String,
        /// Tokens of the prompt.
        prompt: Option<usize>,
        /// Tokens that the context has.
        context: Option<usize>,
        /// The endpoint's own message, and what may help.
        message: String,
    },
    /// The endpoint answered with something that is not a model's answer.
    #[error("{url}: {message}")]
    BadAnswer {
        /// The endpoint, without secrets.
        url: String,
        /// What came, and what may help.
        message: String,
    },
    /// A recording was asked for more than it holds.
    #[error("the recording holds {recorded} rounds and was asked for one more: it does not fit this conversation")]
    RecordingEnded {
        /// Rounds in the recording.
        recorded: usize,
    },
    /// A placeholder in a recorded answer cannot be filled.
    #[error("round {round} of the recording: {message}")]
    Placeholder {
        /// Round, from 1.
        round: usize,
        /// What is wrong, and where in the round's text.
        message: String,
    },
    /// Anything else, in the words of the endpoint or of the program behind the model.
    #[error("{0}")]
    Other(String),
}

impl ModelError {
    /// Whether the endpoint, before it answered, refused a request in words about
    /// its tools: then the same request without them may pass.
    ///
    /// | endpoint | its words |
    /// |---|---|
    /// | Ollama | 400, `registry.ollama.ai/library/… does not support tools` |
    /// | llama.cpp | 500, `tools param requires --jinja flag`; older: `Unsupported param: tools` |
    /// | vLLM | 400, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set` |
    /// | OpenRouter | 404, `No endpoints found that support tool use.` |
    /// | DeepSeek | 400, `deepseek-reasoner does not support Function Calling` |
    /// | OpenAI | 400, `Invalid schema for function '…'`, `Invalid 'tools': array too long.` |
    /// | Groq | 400, `Failed to call a function.` |
    ///
    /// Any other refusal with HTTP 400, 404, 422, 500 or 501 counts where one
    /// sentence of it both names the request's tools (`tools`, `tool_choice`, "tool
    /// use", "function calling") and says that they are unsupported, unknown,
    /// disabled or invalid. Words about calls in the history (`tool_calls`) do not.
    pub fn refuses_tools(&self) -> bool {
        match self {
            ModelError::Refused { status: 400 | 404 | 422 | 500 | 501, message, .. }
            | ModelError::BadAnswer { message, .. } => refusal::refuses_tools(message),
            _ => false,
        }
    }

    /// An error of a model that a program brought.
    pub fn other(message: impl Into<String>) -> Self {
        ModelError::Other(message.into())
    }
}
