//! The page for people at `/`: the models, the settings for each program, and a form that asks one
//! question. It holds no data itself: its script sends the same requests as any client, with the
//! key if one is needed.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

/// Content security policy of the server's page: allows only its own script and style, and requests to this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn html() -> Response {
    file("text/html; charset=utf-8", include_str!("index.html"))
}

pub(crate) fn css() -> Response {
    file("text/css; charset=utf-8", include_str!("page.css"))
}

pub(crate) fn js() -> Response {
    file("text/javascript; charset=utf-8", include_str!("page.js"))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}
