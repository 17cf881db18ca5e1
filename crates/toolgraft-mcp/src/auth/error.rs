//! Why a login failed.

use std::path::PathBuf;

use rmcp::transport::auth::AuthError;

use toolgraft::Cause;
use toolgraft::http::{certificate_fault, proxy_fault};

/// Characters of another one's words that a message shows.
const SHOWN: usize = 500;

/// Why nobody is logged in. No token and no secret stands in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server is one that nobody logs in at.
    #[error("{0}")]
    NotForLogins(String),
    /// What the server or its authorization server says of itself cannot be relied on.
    #[error("{0}")]
    Untrusted(String),
    /// The authorization server could not be asked, or has refused.
    #[error("{0}")]
    Failed(String),
    /// The person, or the authorization server for them, said no.
    #[error("the authorization server says no: {0}")]
    Refused(String),
    /// Nobody came back from the browser in time.
    #[error("nobody came back from the browser within {0} s")]
    TimedOut(u64),
    /// The browser came back with an answer that may be anybody's.
    #[error("the browser came back and was turned away. {NO_STATE}")]
    NoState,
    /// What was kept cannot be read, or not be written.
    #[error("cannot {action} {}: {cause}", file.display())]
    Store {
        /// What was tried: `read`, `write`, `make`, `remove`.
        action: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// Why not.
        #[source]
        cause: Cause,
    },
}

impl LoginError {
    /// What rmcp says, with our words where ours are plainer.
    pub(super) fn of(error: &AuthError) -> Self {
        match error {
            AuthError::PkceUnsupported => LoginError::Untrusted(no_pkce()),
            AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
                LoginError::Untrusted(format!(
                    "the answer is from another issuer than was asked: {} instead of {}",
                    shown(received_issuer),
                    shown(expected_issuer)
                ))
            }
            AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
                LoginError::Untrusted(format!("the answer names no issuer; {} was asked", shown(expected_issuer)))
            }
            AuthError::ProtectedResourceMetadataInvalid { .. } => LoginError::Untrusted(shown(&Cause::chain(error))),
            AuthError::NoAuthorizationSupport => {
                LoginError::NotForLogins("it names no authorization server".to_owned())
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

/// A cause with plain words for what stands between this program and a server.
pub(super) fn plain(cause: &str) -> String {
    let trust = "set \"ca\" in the server's entry to the file of its authority, or its own (PEM)";
    let between = certificate_fault(cause, trust).or_else(|| proxy_fault(cause).map(str::to_owned));
    between.map_or_else(|| cause.to_owned(), |fault| format!("cannot connect: {fault}"))
}

/// Why an answer without `state` is refused.
pub(super) const NO_STATE: &str = "The authorization server left out the state that it was asked with, without which \
     its answer cannot be told from a forged one: have it repaired by whoever runs it; until then set a token under \
     \"headers\" in the server's entry, e.g. \"Authorization\": \"Bearer ${TOKEN}\"";

/// Why a server without S256 is refused.
pub(super) fn no_pkce() -> String {
    "the authorization server does not say that it takes PKCE with S256, without which a code could be stolen"
        .to_owned()
}

/// Another one's words in one line, not too many of them.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
