//! The errors of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::refusal;
use crate::cause::Cause;
use crate::message::keyword_enum;

/// The reason why a model gave no answer, or only a part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The stream ended without a finish reason.
    #[error("the answer was cut off: the stream ended without a finish reason")]
    BrokeOff,
    /// The answer was cut off: the connection, the endpoint or the program that runs the model failed after the answer
    /// had begun. The part that arrived is valid.
    #[error("the answer was cut off: {message}")]
    CutOff {
        /// Description of the problem.
        message: String,
        /// The underlying error, if there is one; without secrets.
        source: Option<Cause>,
    },
    /// The endpoint cannot be reached.
    #[error("cannot connect to {url}: {message}")]
    Unreachable {
        /// URL of the endpoint, without secrets.
        url: String,
        /// Description of the problem and possible remedies.
        message: String,
        /// The underlying error, if there is one; without secrets.
        source: Option<Cause>,
    },
    /// The endpoint refused the request, after all retries.
    #[error("{url} answered HTTP {status}: {message}")]
    Refused {
        /// URL of the endpoint, without secrets.
        url: String,
        /// The HTTP status of the response.
        status: u16,
        /// The endpoint's own message and possible remedies.
        message: String,
        /// Time that the endpoint asks to wait before the next attempt (`Retry-After`).
        retry_after: Option<Duration>,
    },
    /// The prompt does not fit the model's context. The numbers are the endpoint's own, if it gives them. A shorter
    /// request may succeed.
    #[error("{url}: the prompt does not fit the model's context: {message}")]
    ContextExceeded {
        /// URL of the endpoint, without secrets.
        url: String,
        /// Number of tokens of the prompt.
        prompt: Option<usize>,
        /// Number of tokens of the context.
        context: Option<usize>,
        /// The endpoint's own message and possible remedies.
        message: String,
    },
    /// The endpoint's response is not a model's answer.
    #[error("{url}: {message}")]
    BadAnswer {
        /// URL of the endpoint, without secrets.
        url: String,
        /// Description of the response and possible remedies.
        message: String,
        /// `true` if the endpoint accepted the request and failed before its answer began: it reported an error or
        /// closed the connection. Otherwise another program may be listening there.
        gave_up: bool,
        /// The underlying error, if there is one; without secrets.
        source: Option<Cause>,
    },
    /// The answer must be constrained, and the endpoint supports no form of the constraint.
    #[error(
        "{url}: the answer cannot be constrained to its structure: {message}: go without, or use an endpoint that \
         supports it (llama.cpp, vLLM, SGLang, LM Studio, Ollama)"
    )]
    Unconstrained {
        /// URL of the endpoint, without secrets.
        url: String,
        /// The reason why the endpoint cannot constrain it.
        message: String,
    },
    /// More rounds were requested than the recording has.
    #[error("the recording holds {recorded} rounds and was asked for one more: it does not fit this conversation")]
    RecordingEnded {
        /// Number of rounds in the recording.
        recorded: usize,
    },
    /// Any other error: of a program's own implementation of a model, or in the headers of a request.
    #[error("{message}")]
    Other {
        /// Description of the problem.
        message: String,
        /// The underlying error, if there is one.
        source: Option<Cause>,
    },
}

impl ModelError {
    /// Returns `true` if the endpoint refused a request, before it answered, with a message about the request's tools:
    /// then the same request without them may succeed.
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
    /// Any other refusal with HTTP 400, 404, 422, 500 or 501 counts if one sentence of it both names the request's
    /// tools (`tools`, `tool_choice`, "tool use", "function calling") and says that they are unsupported, unknown,
    /// disabled or invalid. Messages about calls in the history (`tool_calls`) do not count.
    pub fn refuses_tools(&self) -> bool {
        match self {
            ModelError::Refused { status: 400 | 404 | 422 | 500 | 501, message, .. }
            | ModelError::BadAnswer { message, .. } => refusal::refuses_tools(message),
            _ => false,
        }
    }

    /// Returns `true` if the error may be caused by native calls (the chat template, the server's own parser, or the
    /// schemas), so that the same request with the tools in the prompt may succeed.
    pub(crate) fn may_be_of_native_calls(&self) -> bool {
        match self {
            // Others are about the key, the balance, the path, a limit or a gateway, whatever the tools are.
            ModelError::Refused { status, .. } => matches!(status, 400 | 422 | 424 | 500 | 501),
            ModelError::BadAnswer { gave_up, .. } => *gave_up,
            // A server whose parser panics closes the connection.
            ModelError::CutOff { .. } | ModelError::BrokeOff => true,
            _ => false,
        }
    }

    /// Returns `true` if the endpoint refused a request with a message about its images: the model may not read images.
    pub(crate) fn refuses_images(&self) -> bool {
        match self {
            ModelError::Refused { status: 400 | 404 | 415 | 422 | 500 | 501, message, .. }
            | ModelError::BadAnswer { message, .. } => refusal::names_images(message),
            _ => false,
        }
    }

    /// Creates an error of a program's own model from a message.
    pub fn other(message: impl Into<String>) -> Self {
        ModelError::Other { message: message.into(), source: None }
    }

    /// Creates an error of a program's own model from another error, with the same message.
    pub fn caused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = Cause::new(error);
        ModelError::Other { message: source.to_string(), source: Some(source) }
    }

    /// Creates the error of an answer that was cut off after it had begun.
    pub fn cut_off(message: impl Into<String>) -> Self {
        ModelError::CutOff { message: message.into(), source: None }
    }

    /// Creates the error of an endpoint whose response is not a model's answer. The URL must contain no secret.
    pub fn bad_answer(url: impl Into<String>, message: impl Into<String>) -> Self {
        ModelError::BadAnswer { url: url.into(), message: message.into(), gave_up: false, source: None }
    }

    /// Creates the error of an endpoint that refused the request. The URL must contain no secret.
    pub fn refused(url: impl Into<String>, status: u16, message: impl Into<String>) -> Self {
        ModelError::Refused { url: url.into(), status, message: message.into(), retry_after: None }
    }

    /// Returns the kind of the error, without its details.
    pub fn kind(&self) -> ModelErrorKind {
        match self {
            ModelError::BrokeOff | ModelError::CutOff { .. } => ModelErrorKind::BrokeOff,
            ModelError::Unreachable { .. } => ModelErrorKind::Unreachable,
            ModelError::Refused { .. } => ModelErrorKind::Refused,
            ModelError::ContextExceeded { .. } => ModelErrorKind::ContextExceeded,
            ModelError::BadAnswer { .. } => ModelErrorKind::BadAnswer,
            ModelError::Unconstrained { .. } => ModelErrorKind::Unconstrained,
            ModelError::RecordingEnded { .. } => ModelErrorKind::Recording,
            ModelError::Other { .. } => ModelErrorKind::Other,
        }
    }

    /// Returns the HTTP status if the endpoint refused the request, else `None`.
    pub fn status(&self) -> Option<u16> {
        match self {
            ModelError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns `true` if the same request may succeed later: the endpoint could not be reached, it was busy (HTTP 408,
    /// 425, 429 and 5xx except 501), or its answer was cut off.
    pub fn is_retryable(&self) -> bool {
        match self {
            ModelError::BrokeOff | ModelError::CutOff { .. } | ModelError::Unreachable { .. } => true,
            ModelError::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502..=599),
            _ => false,
        }
    }
}

/// The kind of a [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The model's answer was cut off after it had begun.
    BrokeOff,
    /// The endpoint cannot be reached.
    Unreachable,
    /// The endpoint refused the request.
    Refused,
    /// The prompt does not fit the model's context.
    ContextExceeded,
    /// The endpoint's response is not a model's answer.
    BadAnswer,
    /// The answer must be constrained to a structure, and the endpoint supports no form of the constraint.
    Unconstrained,
    /// A replayed recording has fewer rounds than were requested, so it does not fit the conversation.
    Recording,
    /// Any other error.
    #[default]
    Other,
}

keyword_enum!(ModelErrorKind, "a kind of error",
    "broke_off" => ModelErrorKind::BrokeOff,
    "unreachable" => ModelErrorKind::Unreachable,
    "refused" => ModelErrorKind::Refused,
    "context_exceeded" => ModelErrorKind::ContextExceeded,
    "bad_answer" => ModelErrorKind::BadAnswer,
    "unconstrained" => ModelErrorKind::Unconstrained,
    "recording" => ModelErrorKind::Recording,
    "other" => ModelErrorKind::Other);

/// A [`ModelError`] that ended a turn, with the details that a user interface needs.
///
/// Its JSON form has all fields except the error itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelFailure {
    /// Description of the problem and possible remedies.
    pub message: String,
    /// Kind of the error.
    #[serde(default)]
    pub error: ModelErrorKind,
    /// HTTP status with which the endpoint refused the request; `None` for any other error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `true` if the same request may succeed later.
    #[serde(default)]
    pub retryable: bool,
    /// The error itself; `None` if the failure was deserialized.
    #[serde(skip)]
    pub source: Option<std::sync::Arc<ModelError>>,
}

impl From<ModelError> for ModelFailure {
    fn from(error: ModelError) -> Self {
        ModelFailure {
            message: error.to_string(),
            error: error.kind(),
            status: error.status(),
            retryable: error.is_retryable(),
            source: Some(std::sync::Arc::new(error)),
        }
    }
}

impl ModelFailure {
    /// Appends a hint how to solve the problem to the message.
    pub(crate) fn with_help(mut self, help: &str) -> Self {
        self.message.push_str(help);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn an_error_tells_its_kind_its_status_and_whether_to_try_again() {
        for (error, kind, status, again) in [
            (ModelError::BrokeOff, ModelErrorKind::BrokeOff, None, true),
            (ModelError::cut_off("gone"), ModelErrorKind::BrokeOff, None, true),
            (ModelError::refused("u", 429, "busy"), ModelErrorKind::Refused, Some(429), true),
            (ModelError::refused("u", 401, "no key"), ModelErrorKind::Refused, Some(401), false),
            (ModelError::refused("u", 501, "no"), ModelErrorKind::Refused, Some(501), false),
            (ModelError::bad_answer("u", "a page"), ModelErrorKind::BadAnswer, None, false),
            (ModelError::RecordingEnded { recorded: 1 }, ModelErrorKind::Recording, None, false),
            (ModelError::other("x"), ModelErrorKind::Other, None, false),
        ] {
            let failure = ModelFailure::from(error.clone());
            assert_eq!((failure.error, failure.status, failure.retryable), (kind, status, again), "{error}");
            assert_eq!((failure.message.clone(), failure.source.as_deref()), (error.to_string(), Some(&error)));
            let json = serde_json::to_string(&failure).unwrap();
            let back: ModelFailure = serde_json::from_str(&json).unwrap();
            assert_eq!(back, ModelFailure { source: None, ..failure }, "{json}");
        }
        let old: ModelFailure = serde_json::from_str(r#"{"message":"gone"}"#).unwrap();
        assert_eq!((old.error, old.retryable), (ModelErrorKind::Other, false));
    }

    #[test]
    fn an_error_of_a_program_keeps_its_source() {
        let inner = std::io::Error::new(std::io::ErrorKind::NotFound, "no such weights");
        let error = ModelError::caused(inner);
        assert_eq!(error.to_string(), "no such weights");
        let cause = error.source().and_then(|source| source.downcast_ref::<Cause>()).unwrap();
        let io = cause.get().downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(io.kind(), std::io::ErrorKind::NotFound);
    }
}
