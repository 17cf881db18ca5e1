//! The certificates that every command trusts.

use toolgraft::http::Trust;

/// Returns what is trusted without a flag: the system's certificates, and those of `SSL_CERT_FILE`, which may be a
/// server's own. A file that cannot be read is reported by the connection that fails.
pub(crate) fn of_system() -> Trust {
    let named = std::env::var_os("SSL_CERT_FILE").and_then(|file| Trust::default().with_pem_file(file).ok());
    named.unwrap_or_default()
}
