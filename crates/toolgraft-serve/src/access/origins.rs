//! CORS: pages of other origins that may send requests, and the headers that their browsers need
//! (fetch.spec.whatwg.org, CORS protocol).

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::settings::AccessSettings;

/// Value of a configured origin with which pages of every origin are accepted.
const ANY: &str = "*";

/// Seconds for which a browser may reuse the answer to a preflight request.
const MAX_AGE: &str = "600";

/// Request and response header of the preflight of a page that reaches into a private network
/// (wicg.github.io/private-network-access).
const PRIVATE_NETWORK: [HeaderName; 2] = [
    HeaderName::from_static("access-control-request-private-network"),
    HeaderName::from_static("access-control-allow-private-network"),
];

/// Returns the origin of the request's page if pages of that origin may send requests.
pub(crate) fn allowed(headers: &HeaderMap, settings: &AccessSettings) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let is_listed = |listed: &String| listed == ANY || origin.to_str().is_ok_and(|o| o.eq_ignore_ascii_case(listed));
    settings.origins.iter().any(is_listed).then(|| origin.clone())
}

/// Returns the answer to a browser's preflight request; `None` for any other request.
pub(crate) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response> {
    if method != Method::OPTIONS || !headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let told = response.headers_mut();
    told.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, DELETE"));
    told.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    if let Some(asked) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        told.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    let [asks, allows] = PRIVATE_NETWORK;
    if headers.contains_key(asks) {
        told.insert(allows, HeaderValue::from_static("true"));
    }
    Some(response)
}

/// Adds the CORS headers with which a browser lets a page of this origin read the answer.
pub(crate) fn readable(mut response: Response, origin: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    response
}
