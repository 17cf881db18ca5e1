//! The certificates that every command trusts.

use toolgraft::http::Trust;

/// Returns the certificates that are trusted without an option: the system's, and those of `SSL_CERT_FILE`. A file that
/// cannot be read is ignored here; connections that need it then fail.
pub(crate) fn of_system() -> Trust {
    let named = std::env::var_os("SSL_CERT_FILE").and_then(|file| Trust::default().with_pem_file(file).ok());
    named.unwrap_or_default()
}
