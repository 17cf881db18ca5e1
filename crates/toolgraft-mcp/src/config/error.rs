//! Errors of a configuration.

use toolgraft::Cause;

/// A text that cannot be read as a configuration of MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The position of the fault, as `file:line:column`.
    pub place: String,
    /// The message about the fault: the expected value, and the remedy.
    pub message: String,
    /// The error of the JSON parser if the configuration is not JSON. It contains nothing of the text.
    pub source: Option<Cause>,
}

/// A fault in a server's entry of the configuration, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EntryError {
    message: String,
    source: Option<Cause>,
}

impl From<String> for EntryError {
    fn from(message: String) -> Self {
        EntryError { message, source: None }
    }
}

impl EntryError {
    /// Creates the fault of an entry with the error that caused it. That error must contain no secret.
    pub(super) fn caused(message: String, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        EntryError { message, source: Some(Cause::new(error)) }
    }
}
