//! Checks of the URLs and headers of an entry, before anything is started.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::error::EntryError;

/// Checks that the URL of a server's entry has the scheme `http` or `https` and a host.
pub(super) fn check_url(url: &str) -> Result<(), EntryError> {
    let parsed = Url::parse(url)
        .map_err(|e| EntryError::caused(format!("\"url\": not a URL ({e}): write https://HOST/PATH"), e))?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(()),
        scheme => Err(format!("\"url\": {scheme:?} is not a scheme for MCP: write https://HOST/PATH").into()),
    }
}

/// Converts the headers of a server's entry to those of HTTP requests, and marks their values as sensitive. Errors name
/// the header, never its value.
pub(crate) fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, EntryError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let place = format!("headers.{name}");
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| {
            EntryError::caused(format!("{place:?}: this is not a header name: letters, digits and hyphens only"), e)
        })?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|e| {
            EntryError::caused(format!("{place:?}: its value has a character that a header cannot hold"), e)
        })?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_url_keeps_the_error_and_not_the_url() {
        for url in ["user:s3cret@host", "http://user:s3cret@host:x/", "http://s3 cret/"] {
            let error = check_url(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3"), "{error:?}");
        }
        assert!(std::error::Error::source(&check_url("http://user:s3cret@host:x/").unwrap_err()).is_some());
    }

    #[test]
    fn headers_are_sensitive_and_faults_do_not_show_values() {
        let headers = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let map = header_map(&headers("X-Key", "s3cret\n")).unwrap();
        assert!(map["x-key"].is_sensitive() && !format!("{map:?}").contains("s3cret"));
        for (name, value) in [("X Key", "s3cret"), ("X-Key", "s3\0cret")] {
            let error = header_map(&headers(name, value)).unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert!(error.to_string().contains(name), "{error}");
            assert!(!format!("{error} {error:?} {source} {source:?}").contains("s3"), "{error:?}");
        }
    }
}
