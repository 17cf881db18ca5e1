//! The HTTP client that every part of the program builds on, and the certificates that it trusts.

mod trust;
mod words;

pub use trust::{PemError, Trust, TrustError};
pub use words::{certificate_fault, proxy_fault};

/// Returns a builder of HTTP clients that trust only the system's certificates: [`Trust::client`] of the default.
pub fn client() -> reqwest::ClientBuilder {
    Trust::default().client()
}
