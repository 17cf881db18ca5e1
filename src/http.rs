//! The HTTP client that every part begins with.

mod trust;
mod words;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use rustls::crypto::{CryptoProvider, ring};

pub use trust::{NoCertificate, Trust};
pub use words::{certificate_fault, proxy_fault};

/// A builder of clients that can speak TLS, with the name of this library as their
/// user agent.
///
/// The library brings reqwest without cryptography of its own. TLS takes that from the
/// process: from ring, which this sets, unless the program has set another provider of
/// rustls before. A program that builds a client for
/// [`http_client`](crate::model::openai::OpenAiBuilder::http_client) begins here, or
/// depends on reqwest with a provider.
///
/// It trusts the servers that the system trusts, and those of [`Trust::hold`].
///
/// It asks for answers that are not compressed, since a stream would wait for its block to be full.
/// One that is compressed all the same (gzip, deflate) is read.
pub fn client() -> reqwest::ClientBuilder {
    built(&Trust::held())
}

/// As [`client`], and it trusts the certificates of a text in PEM, too: those of authorities, and a
/// server's own.
///
/// # Errors
/// The text has none.
pub fn client_trusting(pem: &[u8]) -> Result<reqwest::ClientBuilder, NoCertificate> {
    Trust::held().with_pem(pem).map(|trust| built(&trust))
}

fn built(trust: &Trust) -> reqwest::ClientBuilder {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been quicker: then there is one.
        let _ = ring::default_provider().install_default();
    }
    let plain = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    let builder = reqwest::Client::builder().user_agent(concat!("toolgraft/", env!("CARGO_PKG_VERSION")));
    let builder = match trust.settings() {
        Some(settings) => builder.tls_backend_preconfigured(settings),
        None => builder,
    };
    builder.default_headers(plain)
}
