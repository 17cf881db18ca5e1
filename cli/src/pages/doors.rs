//! A server of this machine alone, and who may look: a browser that was given the URL, by the name of
//! the loopback.
//!
//! The URL's token lets one browser in, once; the browser then has a cookie, which no page
//! can read. The next token is printed when one was used, so that a second browser can be
//! let in, and a URL that somebody finds later opens nothing.
//!
//! A browser sends the cookie to every port of this machine, and any server there may use it. A page
//! that can change something therefore has a key, too: it is in the first page that a token opens,
//! in no cookie and no URL, and [`check_page_key`] refuses requests without it.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::base::{Failure, lock, output, secret::secret};

/// Settings of a local server that browsers enter with a token: its path, cookie and messages.
pub(crate) struct Guarded {
    /// The path at which a browser enters; the cookie is valid below it.
    pub(crate) path: &'static str,
    /// Name of the cookie without the port, which is appended.
    pub(crate) cookie: &'static str,
    /// `true` if a browser may change things: its page then has a script, which gets the page key. The page itself
    /// contains nothing private and is served to everybody.
    pub(crate) changes: bool,
    /// Message that is printed when a browser has entered; the next URL follows it.
    pub(crate) entered: &'static str,
    /// Body of the response to a request without access: how to get access.
    pub(crate) remedy: &'static str,
    /// The purpose of the port, with a leading blank, if it is to be named in an error.
    pub(crate) wants: &'static str,
    /// Remedy in the error if the port is in use: how to choose another.
    pub(crate) other_port: &'static str,
}

/// A server that listens on the loopback interface only.
pub(crate) struct LocalServer {
    listener: TcpListener,
    pub(crate) doors: Arc<Doors>,
}

impl LocalServer {
    /// Listens on 127.0.0.1 at the port; 0 chooses a free one.
    ///
    /// # Errors
    /// The port cannot be bound, or the system provides no random numbers.
    pub(crate) async fn bind(port: u16, guarded: Guarded) -> Result<Self, Failure> {
        let Guarded { wants, other_port, .. } = guarded;
        let failed = |error| Failure::usage(format!("cannot listen on 127.0.0.1:{port}{wants}: {error}: {other_port}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(LocalServer { listener, doors: Arc::new(Doors::new(port, guarded)?) })
    }

    /// Serves `pages` to requests with access until the future is dropped. `policy` is the Content-Security-Policy of
    /// all responses.
    pub(crate) async fn serve(self, pages: Router, policy: &str) {
        let headers = headers(policy);
        let pages = pages.layer(middleware::from_fn_with_state(self.doors, check)).layer(middleware::map_response(
            move |mut response: Response| {
                response.headers_mut().extend(headers.clone());
                std::future::ready(response)
            },
        ));
        // Ends with an error of the listener only, which accepting tries again.
        let _ = axum::serve(self.listener, pages).await;
    }
}

/// Returns the headers of every response, with `policy` as Content-Security-Policy.
fn headers(policy: &str) -> HeaderMap {
    let all = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?))).collect()
}

/// Returns the value of a parameter of a query string, percent-decoded; `None` if it is missing.
pub(crate) fn value(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Returns a JSON response with this status.
pub(crate) fn json(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Access control of a local server: requests must name it as their host, and the browser must have entered by a token.
pub(crate) struct Doors {
    guarded: Guarded,
    port: u16,
    /// The token of the current URL, which is valid once.
    token: Mutex<String>,
    /// Value of the cookie that gives a browser access; valid until the program ends.
    session: String,
    /// Key that a page which may change things sends in addition to the cookie.
    page_key: String,
}

/// Extension with the page key, which is added to a request that used a valid token.
#[derive(Clone)]
pub(crate) struct PageKey(pub(crate) String);

/// Request header with the page key. Pages of other sites cannot send it, since the server answers no CORS preflight.
const PAGE_KEY: HeaderName = HeaderName::from_static("toolgraft-page");

impl Doors {
    /// Creates the access control of a server at this port, with new random secrets.
    ///
    /// # Errors
    /// The system provides no random numbers.
    fn new(port: u16, guarded: Guarded) -> Result<Self, Failure> {
        Ok(Doors { guarded, port, token: Mutex::new(secret()?), session: secret()?, page_key: secret()? })
    }

    /// Returns the URL with the current token, which gives one browser access.
    pub(crate) fn url(&self) -> String {
        let token = lock(&self.token);
        format!("http://127.0.0.1:{}{}?token={token}", self.port, self.guarded.path)
    }

    /// Returns the name of the cookie. It contains the port, since browsers send cookies to all ports of a host.
    fn cookie(&self) -> String {
        format!("{}_{}", self.guarded.cookie, self.port)
    }

    /// Returns `true` if the request names this server as its host and does not come from another site's page.
    fn is_ours(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // Whoever is between might read the one, and this server the other.
        if [header::HOST, header::ORIGIN].iter().any(|name| headers.get_all(name).iter().count() > 1) {
            return false;
        }
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let Some(host) = text(header::HOST).filter(|host| hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host)))
        else {
            return false;
        };
        match headers.get(header::ORIGIN) {
            None => true,
            Some(origin) => origin.as_bytes() == format!("http://{host}").as_bytes(),
        }
    }

    /// Returns `true` if a request has this server's cookie with the right value.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && same(value, &self.session))
    }

    /// Returns `true` if a request has the header with the right page key.
    fn has_page_key(&self, headers: &HeaderMap) -> bool {
        headers.get(PAGE_KEY).and_then(|value| value.to_str().ok()).is_some_and(|shown| same(shown, &self.page_key))
    }

    /// Returns the value of the `Set-Cookie` header that gives a browser access.
    fn set_cookie(&self) -> String {
        // A page without a script is reached by a redirect, which a link of another site may begin.
        let same_site = if self.guarded.changes { "Strict" } else { "Lax" };
        format!("{}={}; Path={}; HttpOnly; SameSite={same_site}", self.cookie(), self.session, self.guarded.path)
    }

    /// Returns `true` if `shown` is the current token, and then replaces the token by a new one.
    fn takes(&self, shown: &str) -> bool {
        let mut token = lock(&self.token);
        if !same(shown, &token) {
            return false;
        }
        // Without random numbers no further token opens the door.
        *token = secret().unwrap_or_default();
        !shown.is_empty()
    }
}

/// Returns `true` if two secrets are equal; the time does not depend on how many of their bytes match.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

/// Passes a request with access to its handler. A request with the token also gets the cookie; others get an error.
async fn check(State(doors): State<Arc<Doors>>, request: Request, inner: Next) -> Response {
    if !doors.is_ours(request.headers()) {
        let remedy = format!(
            "this server is http://127.0.0.1:{}, and other addresses and their pages are refused\n",
            doors.port
        );
        return (StatusCode::FORBIDDEN, remedy).into_response();
    }
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    // Each browser states the origin of a page that changes something.
    let may = doors.guarded.changes && request.headers().contains_key(header::ORIGIN);
    if !looks && !may {
        return (StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here\n").into_response();
    }
    // Programs that look ahead at a link ask for its head.
    let token = value(request.uri().query(), "token").filter(|_| request.method() == Method::GET);
    let is_page = request.uri().path() == doors.guarded.path;
    // The path first, since `takes` uses the token up.
    if token.is_some_and(|token| is_page && doors.takes(&token)) {
        output::note(&format!("{} {}", doors.guarded.entered, doors.url()));
        return entered(&doors, request, inner).await;
    }
    // The page is the same for everybody, and a browser that comes from another site sends no cookie for it.
    let is_for_all = looks && is_page && doors.guarded.changes;
    if is_for_all || doors.is_known(request.headers()) {
        return inner.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, doors.guarded.remedy).into_response()
}

/// Responds to a request with a valid token: sets the cookie, and sends the page with its page key, or a redirect to it
/// if the page cannot change anything.
async fn entered(doors: &Doors, mut request: Request, inner: Next) -> Response {
    let mut response = match doors.guarded.changes {
        true => {
            request.extensions_mut().insert(PageKey(doors.page_key.clone()));
            inner.run(request).await
        }
        false => (StatusCode::SEE_OTHER, [(header::LOCATION, doors.guarded.path)]).into_response(),
    };
    let cookie = HeaderValue::from_str(&doors.set_cookie());
    response.headers_mut().extend(cookie.ok().map(|cookie| (header::SET_COOKIE, cookie)));
    response
}

/// Middleware that refuses requests without the page key with status 403, even if they have the cookie.
pub(crate) async fn check_page_key(State(doors): State<Arc<Doors>>, request: Request, inner: Next) -> Response {
    match doors.has_page_key(request.headers()) {
        true => inner.run(request).await,
        false => json(StatusCode::FORBIDDEN, &json!({ "error": doors.guarded.remedy.trim_end() })),
    }
}
