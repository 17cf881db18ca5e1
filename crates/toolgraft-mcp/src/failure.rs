//! The reason that a server, or the token for it, could not be had.

/// A failure. The text is the message for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) kind: FailureKind,
}

/// The cause of a failure, as far as something else follows from it than its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A user has to log in or to change the configuration; waiting does not help.
    NeedsAuth,
    /// The connection could not be established.
    Unreachable,
    /// The server was reached and refused the handshake.
    Refused,
    /// The server has forgotten the session.
    SessionLost,
    /// The server has no stream for its own messages.
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
