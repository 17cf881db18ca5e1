//! Errors of a login.

use std::path::PathBuf;

use rmcp::transport::auth::AuthError;

use toolgraft::Cause;
use toolgraft::http::{certificate_fault, proxy_fault};

/// Maximum number of characters of untrusted text that an error message shows.
const SHOWN: usize = 500;

/// The reason that a login at an MCP server failed. It contains no token and no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// A login of this program at the server is not needed or not possible; the text is the reason.
    #[error("{0}")]
    NotForLogins(String),
    /// The metadata of the server or of its authorization server, or the answer to the login, cannot be trusted; the
    /// text is the reason.
    #[error("{0}")]
    Untrusted(String),
    /// A step of the login failed, for example because the authorization server was not reached; the text is the
    /// reason.
    #[error("{0}")]
    Failed(String),
    /// The authorization server reported an error to the browser, for example because the user denied access; the text
    /// is that error.
    #[error("the authorization server refuses: {0}")]
    Refused(String),
    /// The browser was not redirected back to this program within this number of seconds.
    #[error("the login was not completed in the browser within {0} s")]
    TimedOut(u64),
    /// The browser was redirected back without the `state` parameter, so that the answer could be forged.
    #[error("the browser's answer was rejected. {NO_STATE}")]
    NoState,
    /// A file of the store of logins cannot be read or written.
    #[error("cannot {action} {}: {cause}", file.display())]
    Store {
        /// The action that failed: `read`, `write`, `make`, `remove`.
        action: &'static str,
        /// The file or folder on which the action failed.
        file: PathBuf,
        /// The error of the file system.
        #[source]
        cause: Cause,
    },
}

/// Converts errors of rmcp's OAuth client, the common ones with a plainer message.
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

/// Returns the text of an error, replaced by a plain message if it is a known fault between this program and the server
/// (a certificate, a proxy).
pub(super) fn plain(cause: &str) -> String {
    let trust = "set \"ca\" in the server's entry to the file of its authority, or its own (PEM)";
    let between = certificate_fault(cause, trust).or_else(|| proxy_fault(cause).map(str::to_owned));
    between.map_or_else(|| cause.to_owned(), |fault| format!("cannot connect: {fault}"))
}

/// Error message for a redirect of the browser without the `state` parameter.
pub(super) const NO_STATE: &str = "The authorization server did not return the state of the request, without which \
    its answer cannot be distinguished from a forged one: ask its operator to fix that; until then set a token under \
    \"headers\" in the server's entry, e.g. \"Authorization\": \"Bearer ${TOKEN}\"";

/// Error message for an authorization server whose metadata does not name the PKCE method S256.
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
