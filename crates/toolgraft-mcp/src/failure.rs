//! The reason that a server, or the token for it, could not be had.

/// A failure to reach a server or to obtain a token for it. The text is the message for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) kind: FailureKind,
}

/// The kind of a failure to reach a server, where the program reacts to it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A user has to log in or to change the configuration; another attempt later does not help.
    NeedsAuth,
    /// The connection could not be established.
    Unreachable,
    /// The server was reached and refused the handshake.
    Refused,
    /// The server has forgotten the session.
    SessionLost,
    /// The server offers no stream for messages that it sends without a request.
    NoStream,
    Other,
}

impl Failure {
    pub(crate) fn needs_auth(message: String) -> Self {
        Failure { message, kind: FailureKind::NeedsAuth }
    }

    pub(crate) fn session_lost() -> Self {
        let message = "the server has forgotten the session: connect again".to_owned();
        Failure { message, kind: FailureKind::SessionLost }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure { message, kind: FailureKind::Other }
    }
}
