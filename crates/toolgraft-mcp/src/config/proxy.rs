//! The proxy of the environment for a URL.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// Returns the proxy of the environment through which the HTTP client reaches a URL, without the proxy's password;
/// `None` if the URL is reached directly.
pub(crate) fn proxy_of(url: &str) -> Option<String> {
    let found = Matcher::from_system().intercept(&url.parse::<Uri>().ok()?)?;
    Some(toolgraft::secrets::shown_url(&found.uri().to_string()))
}
