//! Messages about HTTP failures and their remedies, without the names of libraries.

use std::io::ErrorKind;

use crate::config::{is_this_machine, proxy_of};
use crate::transport::scan::one_line;
use toolgraft::http::{certificate_fault, proxy_fault};

/// Returns the error message for an HTTP status, with a remedy; `rest` is the text after the code: its phrase and the
/// body.
pub(crate) fn of_status(code: u16, rest: &str) -> String {
    let rest = Some(one_line(rest)).filter(|rest| !rest.is_empty()).map(|rest| format!(" {rest}")).unwrap_or_default();
    let rest = rest.trim_end_matches([' ', ':']);
    let remedy = match code {
        200..=299 => "check the URL's path",
        401 => return "HTTP 401: authorization is required".to_owned(),
        403 => return "HTTP 403: access is refused: check the token under \"headers\"".to_owned(),
        404 => return "HTTP 404: not found: check the URL's path".to_owned(),
        407 => {
            return "HTTP 407: the proxy requires a login: write HTTP_PROXY as http://USER:PASSWORD@HOST:PORT"
                .to_owned();
        }
        405 => return "HTTP 405: the server does not accept this request: check the URL's path".to_owned(),
        300..=399 => {
            return format!(
                "HTTP {code}: the server redirects to another origin, or without a target: write the final URL"
            );
        }
        400 => "check the URL and the headers",
        410 => "the page is gone: check the URL",
        429 => "too many requests: wait, then try again",
        502 | 504 => "the gateway cannot reach the server: is the server itself running?",
        503 => "the server is not ready, or is overloaded: try again later",
        500..=599 => "the server failed: its own log says why",
        _ => return format!("HTTP {code}{rest}"),
    };
    format!("HTTP {code}{rest}: {remedy}")
}

/// Returns the error message for an HTTP request that has no response, or one with an error status.
pub(crate) fn of_request(error: &reqwest::Error) -> String {
    if let Some(code) = error.status() {
        return of_status(code.as_u16(), "");
    }
    let has_tls = error.url().is_some_and(|url| url.scheme() == "https");
    // The error's own message is left out, since its URL may contain a key.
    let words = sources(error).map(ToString::to_string).collect::<Vec<_>>();
    let innermost = words.last().map_or_else(|| "no reason was given".to_owned(), |words| one_line(words));
    let words = words.join(": ");
    let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
    let other_scheme = if has_tls { "" } else { ", or must the URL begin with https://" };
    if !error.is_connect() {
        return match () {
            () if says(&["connection closed before message completed"]) => {
                format!(
                    "the request failed: the connection was closed without an answer: is this an MCP server's \
                    port{other_scheme}?"
                )
            }
            // The last phrase is for servers that speak first, such as mail servers.
            () if says(&["invalid HTTP", "invalid header", "received unexpected message"]) => {
                format!("the request failed: the answer is not HTTP: is this its port{other_scheme}?")
            }
            () if says(&["error reading a body", "end of file before message length"]) => {
                "the request failed: its answer was cut off: the server's own log may say why".to_owned()
            }
            () if error.is_timeout() => "the request failed: it took too long".to_owned(),
            () => format!("the request failed: {innermost}"),
        };
    }
    let trust = "set \"ca\" in its entry to the file of its authority, or its own (PEM)";
    if let Some(fault) = certificate_fault(&words, trust).or_else(|| proxy_fault(&words).map(str::to_owned)) {
        return format!("cannot connect: {fault}");
    }
    // Requests over plain HTTP go to the proxy, whose failure looks like the server's.
    let plain = error.url().map(reqwest::Url::as_str).filter(|url| !has_tls && !is_this_machine(url));
    if let Some(proxy) = plain.and_then(proxy_of) {
        return format!(
            "cannot connect: the proxy cannot be reached: correct HTTP_PROXY (or ALL_PROXY), which is {proxy}, or name \
             this host in NO_PROXY ({innermost})"
        );
    }
    let io = sources(error).find_map(|error| error.downcast_ref::<std::io::Error>());
    let is_refused = io.is_some_and(|io| io.kind() == ErrorKind::ConnectionRefused);
    match () {
        () if has_tls && says(&["InvalidContentType", "corrupt message", "wrong version number"]) => {
            "cannot connect: the server does not use TLS there: write http:// instead of https://".to_owned()
        }
        () if is_refused => {
            "cannot connect: nothing listens there: is the server running, and is this its port?".to_owned()
        }
        () if says(&["dns error", "failed to lookup"]) => {
            "cannot connect: no such host is known: check the name in the URL, and the network".to_owned()
        }
        () if error.is_timeout() => "cannot connect: it took too long: check the URL and the network".to_owned(),
        () => format!("cannot connect: {innermost}"),
    }
}

fn sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
}
