//! Models: turn a request into a stream of deltas.
//!
//! [`Model`] is the interface that the agent drives; a program may implement its own. [`Recorded`](crate::transcript::Recorded)
//! replays a recorded stream; with the feature `client`, [`OpenAi`](crate::OpenAi) is a model on an OpenAI-compatible endpoint.

mod decode;
mod error;
pub(crate) mod interface;
mod native;
#[cfg(feature = "client")]
pub(crate) mod openai;
mod overflow;
mod refusal;
mod request;
mod said;
mod skeleton;
pub(crate) mod span;
mod words;

/// Building blocks for programs that talk to an endpoint without `OpenAi`: requests of Chat Completions, the decoder of
/// answers, and the errors.
pub mod endpoint {
    pub use super::decode::{Decoder, Item};
    #[cfg(feature = "client")]
    pub use super::openai::open::is_stale;
    pub use super::request::insert_tools;
    pub use super::span::{in_span, of_request};
}

pub(crate) use crate::message::Usage;
pub use decode::MAX_EVENT;
pub use error::{ModelError, ModelErrorKind, ModelFailure};
pub(crate) use interface::{ALTERNATIVES, Model};
pub use interface::{ContextWindow, ModelEvent, ModelEvents, Progress, TokenChoice};
pub use native::NativeFault;
#[cfg(feature = "client")]
pub use openai::{
    BACKOFF, CONNECT_TIMEOUT, ClientError, IDLE_TIMEOUT, LIST_TIMEOUT, MAX_RETRY_AFTER, ModelInfo, NativeAnswer,
    NativeTrials, OpenAiBuilder, PROBE_TIMEOUT, RETRIES, ServerFault, ServerKind, TRIAL_QUESTION, Tracer, trial_tool,
};
pub use request::Request;
