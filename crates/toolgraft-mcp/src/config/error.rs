//! What is wrong with a configuration.

use toolgraft::Cause;

/// A file that cannot be read as a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// Where, as `file:line:column`.
    pub place: String,
    /// What was expected, and the remedy.
    pub message: String,
    /// The error of the JSON's reader, where the text is not JSON. It holds nothing of the text.
    pub source: Option<Cause>,
}

/// What is wrong with a server's entry, and the remedy.
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
    /// A fault that another error, in which no secret stands, tells of.
    pub(super) fn caused(message: String, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        EntryError { message, source: Some(Cause::new(error)) }
    }
}
