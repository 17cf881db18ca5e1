//! Errors of a login.

use std::path::PathBuf;

use rmcp::transport::auth::AuthError;

use toolgraft::Cause;
use toolgraft::http::{certificate_fault, proxy_fault};

/// Number of characters of untrusted text that a message shows.
const SHOWN: usize = 500;

/// The reason that a login failed. It contains no token and no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server does not use logins of this program.
    #[error("{0}")]
    NotForLogins(String),
    /// The metadata of the server or its authorization server cannot be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// The authorization server could not be reached, or it has refused.
    #[error("{0}")]
    Failed(String),
    /// The user, or the authorization server on their behalf, has denied the login.
    #[error("the authorization server refuses: {0}")]
    Refused(String),
    /// The browser did not come back in time.
    #[error("the login was not completed in the browser within {0} s")]
    TimedOut(u64),
    /// The browser came back without the `state` parameter, so that the answer could be forged.
    #[error("the browser's answer was rejected. {NO_STATE}")]
    NoState,
    /// A file of the store cannot be read or written.
    #[error("cannot {action} {}: {cause}", file.display())]
    Store {
        /// The attempted action: `read`, `write`, `make`, `remove`.
        action: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The cause.
        #[source]
        cause: Cause,
    },
}

/// Gives errors of rmcp a plainer message where there is one.
impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> Self {
        match &error {
            AuthError::PkceUnsupported => LoginError::Untrusted(NO_PKCE.to_owned()),
            AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
                LoginError::Untrusted(format!(
                    "the answer is from another issuer: {} answered, and {} was asked",
                    shown(received_issuer),
                    shown(expected_issuer)
                ))
            }
            AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
                LoginError::Untrusted(format!("the answer names no issuer; {} was asked", shown(expected_issuer)))
            }
            AuthError::ProtectedResourceMetadataInvalid { .. } => LoginError::Untrusted(shown(&Cause::chain(&error))),
            AuthError::NoAuthorizationSupport => {
                LoginError::NotForLogins("the server names no authorization server".to_owned())
            }
            AuthError::RegistrationFailed(why) => LoginError::Failed(format!(
                "its authorization server refuses to register this program ({}): register a client there by hand, \
                 and set its \"clientId\" (with \"clientSecret\" and \"callbackPort\" where it wants them) under \"oauth\" \
                 in the server's entry",
                shown(&plain(why))
            )),
            other => LoginError::Failed(shown(&plain(&Cause::chain(other)))),
        }
    }
}

/// Returns a cause with a plain message if it is a fault between this program and the server (a certificate,
/// a proxy).
pub(super) fn plain(cause: &str) -> String {
    let trust = "set \"ca\" in the server's entry to the file of its authority, or its own (PEM)";
    let between = certificate_fault(cause, trust).or_else(|| proxy_fault(cause).map(str::to_owned));
    between.map_or_else(|| cause.to_owned(), |fault| format!("cannot connect: {fault}"))
}

/// Message for an answer without `state`.
pub(super) const NO_STATE: &str = "The authorization server did not return the state of the request, without which \
    its answer cannot be distinguished from a forged one: ask its operator to fix that; until then set a token under \
    \"headers\" in the server's entry, e.g. \"Authorization\": \"Bearer ${TOKEN}\"";

/// Message for a server without S256.
pub(super) const NO_PKCE: &str =
    "the authorization server does not say that it takes PKCE with S256, without which a code could be stolen";

/// Returns untrusted text in one line of at most [`SHOWN`] characters.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
