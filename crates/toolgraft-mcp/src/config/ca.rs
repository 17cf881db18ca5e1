//! The certificates that a server's entry trusts beside the system's.

use toolgraft::http;

/// A builder of HTTP clients that trust the certificates of this file (PEM) beside the others.
///
/// # Errors
/// The file cannot be read, or has none; the text names it.
pub(crate) fn client_builder(ca: Option<&str>) -> Result<reqwest::ClientBuilder, String> {
    let Some(file) = ca else { return Ok(http::client()) };
    let pem = std::fs::read(file).map_err(|error| format!("cannot read {file:?}, its \"ca\": {error}"))?;
    http::client_trusting(&pem).map_err(|error| format!("{file:?}, its \"ca\": {error}"))
}
