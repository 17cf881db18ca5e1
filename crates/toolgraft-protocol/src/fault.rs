//! The error type of requests, independent of the client's interface.

use std::time::Duration;

use toolgraft::agent::StopReason;
use toolgraft::budget::Exhausted;
use toolgraft::model::{ModelError, ModelErrorKind, ModelFailure};
use toolgraft::turn::TurnError;

/// Time after which a client may repeat a request that an exhausted budget refused.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The reason for which a request gets no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// HTTP status of the error response.
    pub status: u16,
    /// Error message that says what happened and where.
    pub message: String,
    /// Machine-readable error code, such as `invalid_json`; `None` if the error has none.
    pub code: Option<&'static str>,
    /// Path of the invalid field in the request; `None` if the error concerns no field.
    pub param: Option<String>,
    /// `true` if the same request may succeed soon; clients retry such requests by themselves.
    pub retry: bool,
    /// Time after which a retry may succeed, if known.
    pub retry_after: Option<Duration>,
}

impl Fault {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Fault { status, message: message.into(), code: None, param: None, retry: false, retry_after: None }
    }

    /// Makes a fault for an invalid request, with HTTP status 400.
    pub fn invalid(message: impl Into<String>) -> Self {
        Fault::new(400, message)
    }

    /// Makes a fault for an invalid field of a request, with HTTP status 400.
    pub fn field(param: impl Into<String>, message: impl Into<String>) -> Self {
        Fault::invalid(message).with_param(param)
    }

    /// Makes a fault for a request that is refused before it is read completely.
    pub fn door(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Fault::new(status, message).with_code(code)
    }

    /// Makes a fault for a failure of the endpoint or its model.
    pub fn upstream(status: u16, message: impl Into<String>) -> Self {
        Fault { retry: status == 429 || status == 503, ..Fault::new(status, message) }
    }

    /// Makes a fault for an internal error of this program, with HTTP status 500.
    pub fn internal(message: impl Into<String>) -> Self {
        Fault::new(500, message)
    }

    /// Returns the error message, preceded by the name of the invalid field: for APIs whose error objects have no
    /// member for the field.
    pub fn placed(&self) -> String {
        match &self.param {
            Some(param) => {
                // A message about the whole field begins with its name.
                let message = self.message.strip_prefix(&format!("'{param}' ")).unwrap_or(&self.message);
                format!("{param}: {message}")
            }
            None => self.message.clone(),
        }
    }

    /// Sets the machine-readable error code.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Sets the field of the request that is wrong.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// Converts an exhausted budget: HTTP 413 if the request can never fit, else 503 with the time after which to retry.
impl From<Exhausted> for Fault {
    fn from(exhausted: Exhausted) -> Self {
        let (budget, message) = (exhausted.budget(), exhausted.to_string());
        match exhausted {
            Exhausted::TooLarge { .. } => Fault::door(413, budget, message),
            _ => Fault {
                retry_after: Some(RETRY_AFTER),
                ..Fault::upstream(503, format!("{message}: try again shortly")).with_code(budget)
            },
        }
    }
}

/// Converts an error of the turn to an internal fault: the exchange used the turn wrongly, which no request can
/// cause.
impl From<TurnError> for Fault {
    fn from(error: TurnError) -> Self {
        Fault::internal(error.to_string())
    }
}

/// Converts the reason for which a turn ended without a result.
impl From<&StopReason> for Fault {
    fn from(reason: &StopReason) -> Self {
        let code = match reason {
            StopReason::ModelFailed(failure) => return failed(failure),
            StopReason::CallMissing => "tool_call_missing",
            StopReason::CorrectionsUsedUp { .. } => "tool_call_invalid",
            StopReason::EmptyAnswer => "empty_answer",
            StopReason::OutputMismatch { .. } => "output_mismatch",
            StopReason::SameCalls { .. } => "same_calls",
            StopReason::MaxRounds { .. } => "max_rounds",
            other => return Fault::internal(other.to_string()),
        };
        Fault::upstream(502, reason.to_string()).with_code(code)
    }
}

/// Returns the fault for a failure of the endpoint: with the error status that the endpoint sent, else with 502, or
/// 501 for a constraint that it cannot enforce. An exceeded context is always 400.
fn failed(failure: &ModelFailure) -> Fault {
    let message = match failure.source.as_deref() {
        Some(ModelError::Refused { message, .. } | ModelError::ContextExceeded { message, .. }) => message.clone(),
        _ => failure.message.clone(),
    };
    match failure.status {
        // Endpoints use different statuses for this; the client sent too much in every case.
        _ if failure.error == ModelErrorKind::ContextExceeded => {
            Fault::invalid(message).with_code("context_length_exceeded").with_param("messages")
        }
        // A redirect of the endpoint is no status for a client, which must not follow it.
        Some(status) if status >= 400 => {
            Fault { retry_after: retry_after(failure), ..Fault::upstream(status, message) }
        }
        _ if failure.error == ModelErrorKind::Unreachable => {
            Fault::upstream(502, message).with_code("upstream_unreachable")
        }
        // The server requires a structure that the endpoint cannot enforce, so a retry cannot
        // succeed.
        _ if failure.error == ModelErrorKind::Unconstrained => {
            Fault::upstream(501, message).with_code("constraint_refused")
        }
        _ => Fault::upstream(502, message).with_code("upstream_failed"),
    }
}

/// Returns the time that the endpoint asks clients to wait, if it sent one.
fn retry_after(failure: &ModelFailure) -> Option<Duration> {
    match failure.source.as_deref() {
        Some(ModelError::Refused { retry_after, .. }) => *retry_after,
        _ => None,
    }
}
