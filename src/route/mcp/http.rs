//! HTTP: the client, its headers, and what its errors mean.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{DynamicTransportError, StreamableHttpClientTransport};

use super::sse::SseError;
use super::streamable::StreamableClient;

/// Limit of a TCP and TLS connection attempt.
const CONNECT: Duration = Duration::from_secs(10);

/// A connection that is silent this long is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Attempts to take up a broken event stream again, and the wait before the
/// first; each wait is twice the one before. rmcp would try for ever.
const RECONNECTS: usize = 4;
const RECONNECT: Duration = Duration::from_millis(250);

/// Redirects that are followed, all on one origin.
const MAX_REDIRECTS: usize = 5;

/// Accepts `http` and `https` URLs with a host.
pub(super) fn check_url(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|e| format!("not a URL ({e}): write https://HOST/PATH"))?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(()),
        scheme => Err(format!("{scheme:?} is not a scheme for MCP: write https://HOST/PATH")),
    }
}

/// A URL without what may be secret: user, password, query and fragment.
pub(super) fn shown_url(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "an invalid URL".to_owned() };
    let hidden = url.query().is_some();
    // A URL without a host cannot be changed, and has nothing to hide there.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.set_query(None);
    url.set_fragment(None);
    if hidden { format!("{url}?…") } else { url.to_string() }
}

/// Headers as HTTP wants them, marked sensitive. Errors name the header, never its value.
pub(super) fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let place = format!("headers.{name}");
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("{place:?}: this is not a header name: letters, digits and hyphens only"))?;
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| format!("{place:?}: its value has a character that a header cannot hold"))?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

/// The transport of one server.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<StreamableClient>, String> {
    let client = StreamableClient(client(headers)?);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    let mut retry = ExponentialBackoff::default();
    (retry.max_times, retry.base_duration) = (Some(RECONNECTS), RECONNECT);
    config.retry_config = Arc::new(retry);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client that sends these headers with every request.
pub(super) fn client(headers: &BTreeMap<String, String>) -> Result<reqwest::Client, String> {
    reqwest::Client::builder()
        .default_headers(header_map(headers)?)
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEPALIVE)
        .redirect(same_origin())
        .user_agent(concat!("toolgraft/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|e| format!("cannot set up HTTP: {}", chain(&e)))
}

/// Follows redirects on one origin only, so that no header reaches a stranger.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first();
        let stays = first.is_some_and(|first| first.origin() == attempt.url().origin());
        match stays && attempt.previous().len() <= MAX_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

/// What a transport error means for the user; `None` for an error that is not of HTTP.
pub(super) fn explain(error: &DynamicTransportError) -> Option<String> {
    of_http(error).map(http_error).or_else(|| error.error.downcast_ref::<SseError>().map(SseError::to_string))
}

/// Whether there is no server at all.
pub(super) fn is_unreachable(error: &DynamicTransportError) -> bool {
    matches!(of_http(error), Some(StreamableHttpError::Client(error)) if error.is_connect())
}

/// Whether the server refused because it wants an authorization.
pub(super) fn wants_auth(error: &DynamicTransportError) -> bool {
    match of_http(error) {
        Some(StreamableHttpError::AuthRequired(_)) => true,
        Some(StreamableHttpError::HttpStatus(error)) => error.status == 401,
        Some(StreamableHttpError::Client(error)) => error.status().is_some_and(|status| status.as_u16() == 401),
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => text.starts_with("HTTP 401"),
        _ => error.error.downcast_ref::<SseError>().is_some_and(|error| error.needs_auth),
    }
}

fn of_http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(current) = source {
        if let Some(error) = current.downcast_ref() {
            return Some(error);
        }
        source = current.source();
    }
    None
}

fn http_error(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        StreamableHttpError::Client(error) => request_error(error),
        StreamableHttpError::AuthRequired(_) => status(401, ""),
        StreamableHttpError::InsufficientScope(_) => status(403, ""),
        StreamableHttpError::HttpStatus(error) => status(error.status, ""),
        StreamableHttpError::SessionExpired => "the server has forgotten the session: connect anew".to_owned(),
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("its answer has more than {} MiB and was dropped", max_size / 1024 / 1024)
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("could not parse") => {
            format!("its answer is no MCP: {}", line(text))
        }
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let parts = text.strip_prefix("HTTP ").and_then(|t| t.split_at_checked(3));
            let code = parts.and_then(|(code, rest)| Some((code.parse().ok()?, rest)));
            code.map_or_else(|| format!("unexpected answer: {}", line(text)), |(code, rest)| status(code, rest))
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().unwrap_or("none");
            format!("the answer is not MCP (content type {}): check the URL's path", line(kind))
        }
        other => line(&other.to_string()),
    }
}

/// The beginning of a server's words, in one line.
pub(super) fn line(text: &str) -> String {
    const MAX: usize = 200;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(MAX).collect()
}

/// `rest` is what follows the code: the phrase and the body.
pub(super) fn status(code: u16, rest: &str) -> String {
    match code {
        401 => "HTTP 401: it wants authorization. OAuth is not supported: set a token under \"headers\", \
                e.g. \"Authorization\": \"Bearer ${TOKEN}\""
            .to_owned(),
        403 => "HTTP 403: access is refused: check the token under \"headers\"".to_owned(),
        404 => "HTTP 404: nothing there: check the URL's path".to_owned(),
        405 => "HTTP 405: it does not take this request: check the URL's path".to_owned(),
        300..=399 => format!("HTTP {code}: it redirects to another origin: write the final URL"),
        _ => format!(
            "HTTP {code}{}",
            Some(line(rest)).filter(|r| !r.is_empty()).map(|r| format!(" {r}")).unwrap_or_default()
        ),
    }
}

pub(super) fn request_error(error: &reqwest::Error) -> String {
    if let Some(code) = error.status() {
        return status(code.as_u16(), "");
    }
    // The URL in reqwest's own message may hold a key in its query.
    let what = if error.is_connect() { "cannot connect" } else { "the request failed" };
    let cause = std::error::Error::source(error).map(|e| format!(": {}", chain(e))).unwrap_or_default();
    format!("{what}{cause}")
}

/// An error and its sources in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(e) = source {
        let more = e.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        source = e.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_secret() {
        assert_eq!(shown_url("https://user:pw@host:8/mcp?key=1#x"), "https://host:8/mcp?…");
        assert_eq!(shown_url("http://host/mcp"), "http://host/mcp");
        assert_eq!(shown_url("no url"), "an invalid URL");
    }

    #[test]
    fn headers_are_sensitive_and_faults_do_not_show_values() {
        let headers = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let map = header_map(&headers("X-Key", "s3cret\n")).unwrap();
        assert!(map["x-key"].is_sensitive() && !format!("{map:?}").contains("s3cret"));
        for (name, value) in [("X Key", "s3cret"), ("X-Key", "s3\0cret")] {
            let error = header_map(&headers(name, value)).unwrap_err();
            assert!(error.contains(name) && !error.contains("s3"), "{error}");
        }
    }
}
