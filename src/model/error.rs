//! What goes wrong with a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::refusal;
use crate::cause::Cause;
use crate::message::keyword_enum;

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
        /// The error behind it, where there is one; without secrets.
        source: Option<Cause>,
    },
    /// The endpoint cannot be reached.
    #[error("cannot connect to {url}: {message}")]
    Unreachable {
        /// The endpoint, without secrets.
        url: String,
        /// What happened, and what may help.
        message: String,
        /// The error behind it, where there is one; without secrets.
        source: Option<Cause>,
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
        /// How long the endpoint wants to be left alone (`Retry-After`).
        retry_after: Option<Duration>,
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
        /// Whether the endpoint took the request and gave up before its answer began: it said so, or
        /// hung up. Else what answers there may be another program.
        gave_up: bool,
        /// The error behind it, where there is one; without secrets.
        source: Option<Cause>,
    },
    /// The answer was to be held to a structure, and the endpoint takes that in no form.
    #[error(
        "{url}: the answer cannot be held to its structure: {message}: go without, or take an endpoint that takes it \
         (llama.cpp, vLLM, SGLang, LM Studio, Ollama)"
    )]
    Unconstrained {
        /// The endpoint, without secrets.
        url: String,
        /// Why.
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
        /// The error of the template engine.
        source: Cause,
    },
    /// Anything else, in the words of the endpoint or of the program behind the model.
    #[error("{message}")]
    Other {
        /// What happened.
        message: String,
        /// The error behind it, where there is one.
        source: Option<Cause>,
    },
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

    /// Whether an answer to a request that carries tools may have failed at its calls, so that the
    /// same request by prompt may pass: the template, the server's own parser, or the schemas.
    pub(crate) fn may_be_of_native_calls(&self) -> bool {
        match self {
            ModelError::Refused { status, .. } => matches!(status, 400 | 422 | 424 | 500 | 501),
            ModelError::BadAnswer { gave_up, .. } => *gave_up,
            // A parser that throws ends the connection.
            ModelError::CutOff { .. } | ModelError::BrokeOff => true,
            _ => false,
        }
    }

    /// Whether the endpoint refused a request with images in words about them: the model
    /// may read none.
    pub(crate) fn refuses_images(&self) -> bool {
        match self {
            ModelError::Refused { status: 400 | 404 | 415 | 422 | 500 | 501, message, .. }
            | ModelError::BadAnswer { message, .. } => refusal::names_images(message),
            _ => false,
        }
    }

    /// An error of a model that a program brought, in words.
    pub fn other(message: impl Into<String>) -> Self {
        ModelError::Other { message: message.into(), source: None }
    }

    /// An error of a model that a program brought; it reads as `error` does.
    pub fn caused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = Cause::new(error);
        ModelError::Other { message: source.to_string(), source: Some(source) }
    }

    /// The answer broke off after it had begun.
    pub fn cut_off(message: impl Into<String>) -> Self {
        ModelError::CutOff { message: message.into(), source: None }
    }

    /// The endpoint, whose URL must hold no secret, answered with something else than a model's answer.
    pub fn bad_answer(url: impl Into<String>, message: impl Into<String>) -> Self {
        ModelError::BadAnswer { url: url.into(), message: message.into(), gave_up: false, source: None }
    }

    /// The endpoint, whose URL must hold no secret, refused the request.
    pub fn refused(url: impl Into<String>, status: u16, message: impl Into<String>) -> Self {
        ModelError::Refused { url: url.into(), status, message: message.into(), retry_after: None }
    }

    /// Which kind of error it is, without its details.
    pub fn kind(&self) -> ModelErrorKind {
        match self {
            ModelError::BrokeOff | ModelError::CutOff { .. } => ModelErrorKind::BrokeOff,
            ModelError::Unreachable { .. } => ModelErrorKind::Unreachable,
            ModelError::Refused { .. } => ModelErrorKind::Refused,
            ModelError::ContextExceeded { .. } => ModelErrorKind::ContextExceeded,
            ModelError::BadAnswer { .. } => ModelErrorKind::BadAnswer,
            ModelError::Unconstrained { .. } => ModelErrorKind::Unconstrained,
            ModelError::RecordingEnded { .. } | ModelError::Placeholder { .. } => ModelErrorKind::Recording,
            ModelError::Other { .. } => ModelErrorKind::Other,
        }
    }

    /// The HTTP status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            ModelError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the same request may pass at another time: the endpoint could not be
    /// reached, it was busy (HTTP 408, 425, 429 and 5xx but 501), or its answer broke off.
    pub fn is_retryable(&self) -> bool {
        match self {
            ModelError::BrokeOff | ModelError::CutOff { .. } | ModelError::Unreachable { .. } => true,
            ModelError::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502..=599),
            _ => false,
        }
    }
}

/// Which kind of error a [`ModelError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The answer broke off after it had begun.
    BrokeOff,
    /// The endpoint cannot be reached.
    Unreachable,
    /// The endpoint refused the request.
    Refused,
    /// The prompt does not fit the model's context.
    ContextExceeded,
    /// The endpoint answered with something that is not a model's answer.
    BadAnswer,
    /// A structure that was required cannot be had.
    Unconstrained,
    /// A recording does not fit the conversation.
    Recording,
    /// Anything else.
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

/// A [`ModelError`] that ended a turn, with what an interface needs to know of it.
///
/// Its JSON form has all but the error itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelFailure {
    /// What happened, and what may help.
    pub message: String,
    /// Which kind of error it was.
    #[serde(default)]
    pub error: ModelErrorKind,
    /// The HTTP status of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the same request may pass at another time.
    #[serde(default)]
    pub retryable: bool,
    /// The error itself; none where this was read back.
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
    /// The same failure with a remedy behind its message.
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
