//! Admission of requests: checks host name, origin, key, content type and body.
//!
//! A page in a browser can make a name of its own resolve to this machine and send requests to it.
//! Its `Host` is then that name, and where the page cannot do that its `Origin` names it: both are
//! refused.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use futures::StreamExt;

use super::keys::client_key;
use super::origins;
use super::reservation::Reservation;
use super::settings::AccessSettings;
use toolgraft::secrets::same;
use toolgraft_protocol::{Fault, GOOGLE_KEY};

/// Host names of the loopback interface, which are always accepted.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Value of a configured host name with which every `Host` is accepted: for a server that listens on all addresses,
/// where the key keeps strangers out.
pub(crate) const ANY_HOST: &str = "*";

/// Longest time in which the body of a request must arrive, however steadily it does.
const MAX_BODY_TIME: Duration = Duration::from_secs(300);

/// Refuses a request whose host is none of the server's names, or whose `Origin` is that of another site's page.
pub(crate) fn check_names(headers: &HeaderMap, uri: &Uri, settings: &AccessSettings) -> Result<(), Fault> {
    // With two `Host` headers a proxy may read one and this server the other (RFC 9112, 3.2).
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Fault::door(400, "host_twice", "the request has more than one 'Host'"));
    }
    if headers.get_all(header::ORIGIN).iter().count() > 1 {
        return Err(Fault::door(400, "origin_twice", "the request has more than one 'Origin'"));
    }
    // A target with a host (`POST http://other/v1/… HTTP/1.1`) counts before `Host` (RFC 9112, 3.2.2), so a
    // proxy may go by it.
    if let Some(target) = uri.authority().map(|authority| authority.as_str())
        && !is_ours(name_of(target), settings)
    {
        let message = format!("the request's target names {target:?}, which this server is not called");
        return Err(Fault::door(400, "target_refused", message));
    }
    let host = headers.get(header::HOST).map(text).or_else(|| uri.authority().map(|a| a.as_str().to_owned()));
    let Some(host) = host else { return Err(Fault::door(400, "host_missing", "the request has no 'Host'")) };
    if !is_ours(name_of(&host), settings) {
        let message = format!(
            "this server does not answer to {host:?}: its names are those of the loopback, the one that it listens \
             on and those that were given at its start"
        );
        return Err(Fault::door(403, "host_refused", message));
    }
    let Some(origin) = headers.get(header::ORIGIN).map(text) else { return Ok(()) };
    if origins::allowed(headers, settings).is_some() {
        return Ok(());
    }
    // The origin of a browser extension may have this machine's name as its host
    // (`chrome-extension://localhost`), so only HTTP counts.
    let is_page = |scheme: &str| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let named = origin.split_once("://").filter(|(scheme, _)| is_page(scheme)).map(|(_, host)| name_of(host));
    // An origin `null` names no host, and any site's page may send it. A page of this server's own
    // address counts where a key is needed as well.
    let is_own =
        named.is_some_and(|name| is_named(name, settings) || name == name_of(&host) && settings.client_key.is_some());
    if is_own {
        Ok(())
    } else {
        Err(Fault::door(403, "origin_refused", format!("requests from pages of {origin:?} are refused")))
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Returns a host without its port, as in `localhost` for `localhost:8787`.
fn name_of(host: &str) -> &str {
    match host.rfind(':') {
        // The last colon of `[::1]` is inside the address, and what follows it is no port.
        Some(at) if !host[at..].contains(']') && host[at + 1..].bytes().all(|b| b.is_ascii_digit()) => &host[..at],
        _ => host,
    }
}

fn is_ours(name: &str, settings: &AccessSettings) -> bool {
    is_named(name, settings) || settings.hosts.iter().any(|host| host == ANY_HOST)
}

fn is_named(name: &str, settings: &AccessSettings) -> bool {
    let mut names = LOOPBACK.into_iter().chain(settings.hosts.iter().map(String::as_str));
    names.any(|known| known.eq_ignore_ascii_case(name))
}

/// Refuses a request without the configured API key, or with a wrong one.
pub(crate) fn check_key(headers: &HeaderMap, settings: &AccessSettings) -> Result<(), Fault> {
    let Some(key) = &settings.client_key else { return Ok(()) };
    match client_key(headers) {
        Some(shown) if same(&shown, key) => Ok(()),
        Some(_) => Err(Fault::door(401, "invalid_api_key", "the API key is wrong")),
        None => Err(Fault::door(
            401,
            "invalid_api_key",
            "an API key is needed: 'Authorization: Bearer KEY', 'x-api-key: KEY', 'x-goog-api-key: KEY' or 'api-key: KEY'",
        )),
    }
}

/// Moves an API key from the URL's query, where Google's interface allows it, into its header, so that the key is in
/// no URL that might be logged.
pub(crate) fn take_key(request: &mut Request) {
    let mut parts = request.uri().clone().into_parts();
    let Some(query) = parts.path_and_query.as_ref().and_then(|all| all.query()) else { return };
    if !query.split('&').any(is_key) {
        return;
    }
    let others: Vec<&str> = query.split('&').filter(|pair| !is_key(pair)).collect();
    let rest = format!("{}?{}", request.uri().path(), others.join("&"));
    let url = reqwest::Url::parse(&format!("http://localhost/?{query}")).ok();
    let key = url.and_then(|url| Some(url.query_pairs().find(|(name, _)| name == "key")?.1.into_owned()));
    let key = key.and_then(|key| HeaderValue::from_str(&key).ok());
    parts.path_and_query = rest.trim_end_matches('?').parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    if let Some(mut key) = key {
        key.set_sensitive(true);
        // A client that sends both means the header.
        request.headers_mut().entry(GOOGLE_KEY).or_insert(key);
    }
}

fn is_key(pair: &str) -> bool {
    pair.split('=').next() == Some("key")
}

/// Refuses a request whose content type is not `application/json`: a page of another site can send `text/plain`
/// without a preflight request.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), Fault> {
    let kind = headers.get(header::CONTENT_TYPE).map(text).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/json" {
        return Ok(());
    }
    Err(Fault::door(415, "unsupported_media_type", format!("the body must be 'application/json', and is {kind:?}")))
}

/// Returns `true` if a page in a browser may have sent the request: browsers send one of these
/// headers with every POST.
pub(crate) fn is_of_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site")
}

/// Reads the body of a request. Fails if it exceeds its size limit, the budget for all bodies or a time limit, or if
/// its encoding is not supported.
pub(crate) async fn body(parts: &Parts, body: Body, settings: &AccessSettings) -> Result<Bytes, Fault> {
    let headers = &parts.headers;
    let too_large = || {
        let message = format!("the body may have at most {} bytes", settings.max_body);
        // Agents know by this code that they have to shorten their history.
        Fault::door(413, "context_length_exceeded", message)
    };
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        let message = format!(
            "the body is compressed as {encoding:?}, which is not supported here: send gzip, deflate, or no \
             content-encoding"
        );
        return Err(Fault::door(415, "unsupported_encoding", message));
    }
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > settings.max_body) {
        return Err(too_large());
    }
    let held = parts.extensions.get::<Reservation>();
    let takes = |bytes: usize| held.map_or(Ok(()), |held| held.grow(bytes));
    // The announced length is reserved before the first byte arrives.
    let mut room = announced.unwrap_or(0);
    takes(room)?;
    let read = async {
        let mut all = Vec::with_capacity(room);
        let mut pieces = body.into_data_stream();
        loop {
            match tokio::time::timeout(settings.read_timeout, pieces.next()).await {
                Err(_) => return Err(slow()),
                Ok(None) => return Ok(Bytes::from(all)),
                Ok(Some(Err(_))) => {
                    return Err(Fault::invalid("the body was cut off, or does not match its content-encoding"));
                }
                // A body in chunks announces no length, and neither does one that was compressed.
                Ok(Some(Ok(piece))) if all.len() + piece.len() > settings.max_body => return Err(too_large()),
                Ok(Some(Ok(piece))) => {
                    let more = (all.len() + piece.len()).saturating_sub(room);
                    takes(more)?;
                    room += more;
                    all.extend_from_slice(&piece);
                }
            }
        }
    };
    tokio::time::timeout(MAX_BODY_TIME, read).await.unwrap_or_else(|_| Err(slow()))
}

fn slow() -> Fault {
    Fault::door(408, "request_timeout", "the body did not arrive in time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_without_its_port() {
        for (host, name) in [
            ("localhost:8787", "localhost"),
            ("[::1]:8787", "[::1]"),
            ("[::1]", "[::1]"),
            ("evil.example", "evil.example"),
            ("a:b:80", "a:b"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }

    #[test]
    fn keys_are_the_same_or_not() {
        assert!(same("abc", "abc") && !same("abc", "abd") && !same("abc", "ab") && !same("", "a"));
    }
}
