//! The HTTP client of a server's entry: the certificates that it trusts beside the system's, and no
//! proxy on the way to this machine.

use super::way::is_this_machine;
use toolgraft::http;

/// A builder of HTTP clients for this URL that trust the certificates of this file (PEM) beside the
/// others.
///
/// # Errors
/// The file cannot be read, or has none; the text names it.
pub(crate) fn client_builder(ca: Option<&str>, url: &str) -> Result<reqwest::ClientBuilder, String> {
    let builder = trusting(ca)?;
    Ok(if is_this_machine(url) { builder.no_proxy() } else { builder })
}

fn trusting(ca: Option<&str>) -> Result<reqwest::ClientBuilder, String> {
    let Some(file) = ca else { return Ok(http::client()) };
    let pem = std::fs::read(file).map_err(|error| format!("cannot read {file:?}, its \"ca\": {error}"))?;
    http::client_trusting(&pem).map_err(|error| format!("{file:?}, its \"ca\": {error}"))
}
