//! Why a request gets no answer, in no client's shape.

use std::time::Duration;

use toolgraft::agent::StopReason;
use toolgraft::model::{ModelError, ModelErrorKind, ModelFailure};
use toolgraft::turn::TurnError;

/// Why a request gets no answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// HTTP status.
    pub(super) status: u16,
    /// What happened, and where.
    pub(super) message: String,
    /// A word for programs.
    pub(super) code: Option<&'static str>,
    /// The field of the request that is wrong.
    pub(super) param: Option<String>,
    /// Whether the same request may pass soon; clients try such ones again by themselves.
    pub(super) retry: bool,
    /// When it may.
    pub(super) retry_after: Option<Duration>,
}

impl Fault {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Fault { status, message: message.into(), code: None, param: None, retry: false, retry_after: None }
    }

    /// The client's mistake.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Fault::new(400, message)
    }

    /// The client's mistake, in this field.
    pub(super) fn field(param: impl Into<String>, message: impl Into<String>) -> Self {
        Fault::invalid(message).with_param(param)
    }

    /// Refused at the door.
    pub(super) fn door(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Fault::new(status, message).with_code(code)
    }

    /// The endpoint's fault, or its model's.
    pub(super) fn upstream(status: u16, message: impl Into<String>) -> Self {
        Fault { retry: status == 429 || status == 503, ..Fault::new(status, message) }
    }

    /// This program broke at the request.
    pub(super) fn broken() -> Self {
        let message = "the server failed at this request, which is a fault of its own; its stderr says where";
        Fault::new(500, message).with_code("internal_error")
    }

    /// Our own fault.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Fault::new(500, message)
    }

    /// What happened, with its place in front, for interfaces without a field for that.
    pub(super) fn placed(&self) -> String {
        match &self.param {
            Some(param) => format!("{param}: {}", self.message),
            None => self.message.clone(),
        }
    }

    pub(super) fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(super) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// The driver and the turn disagree, which no request can bring about.
impl From<TurnError> for Fault {
    fn from(error: TurnError) -> Self {
        Fault::internal(error.to_string())
    }
}

/// Why there is no answer.
impl From<&StopReason> for Fault {
    fn from(reason: &StopReason) -> Self {
        match reason {
            StopReason::ModelFailed(failure) => failed(failure),
            StopReason::CallMissing => Fault::upstream(502, reason.to_string()).with_code("tool_call_missing"),
            StopReason::CorrectionsUsedUp { .. } => {
                Fault::upstream(502, reason.to_string()).with_code("tool_call_invalid")
            }
            StopReason::EmptyAnswer => Fault::upstream(502, reason.to_string()).with_code("empty_answer"),
            StopReason::OutputMismatch { .. } => Fault::upstream(502, reason.to_string()).with_code("output_mismatch"),
            StopReason::SameCalls { .. } => Fault::upstream(502, reason.to_string()).with_code("same_calls"),
            StopReason::MaxRounds { .. } => Fault::upstream(502, reason.to_string()).with_code("max_rounds"),
            other => Fault::internal(other.to_string()),
        }
    }
}

/// A failure of the endpoint: its status where it refused, else that of a gateway.
fn failed(failure: &ModelFailure) -> Fault {
    let message = match failure.source.as_deref() {
        Some(ModelError::Refused { message, .. } | ModelError::ContextExceeded { message, .. }) => message.clone(),
        _ => failure.message.clone(),
    };
    match failure.status {
        // Whatever status the endpoint has for it: the client sent too much.
        _ if failure.error == ModelErrorKind::ContextExceeded => {
            Fault::invalid(message).with_code("context_length_exceeded").with_param("messages")
        }
        Some(status) if status >= 400 => {
            Fault { retry_after: retry_after(failure), ..Fault::upstream(status, message) }
        }
        _ if failure.error == ModelErrorKind::Unreachable => {
            Fault::upstream(502, message).with_code("upstream_unreachable")
        }
        // The server demands what the endpoint cannot: no other request fares better.
        _ if failure.error == ModelErrorKind::Unconstrained => {
            Fault::upstream(501, message).with_code("constraint_refused")
        }
        _ => Fault::upstream(502, message).with_code("upstream_failed"),
    }
}

/// How long the endpoint wants to be left alone.
fn retry_after(failure: &ModelFailure) -> Option<Duration> {
    match failure.source.as_deref() {
        Some(ModelError::Refused { retry_after, .. }) => *retry_after,
        _ => None,
    }
}
