//! Who may look: a browser that was given the URL, by the name of the loopback; and programs of
//! this user, which find the key in a file of theirs ([`running`](crate::serve::running)).
//!
//! The URL's token lets one browser in, once; the browser then has a cookie, which no page
//! can read. The next token is printed when one was used, so that a second browser can be
//! let in, and a URL that somebody finds later opens nothing.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::base::output;
use crate::base::secret::secret;

/// Who may look.
pub(super) struct Doors {
    port: u16,
    /// The token of the URL that was printed last.
    token: Mutex<String>,
    /// What the cookie holds, as long as this program runs.
    session: String,
    /// What a program shows, which may change things too.
    key: String,
}

impl Doors {
    pub(super) fn new(port: u16) -> Result<Self, getrandom::Error> {
        Ok(Doors { port, token: Mutex::new(secret()?), session: secret()?, key: secret()? })
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn url(&self) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{}/inspect?token={token}", self.address())
    }

    /// Cookies do not know ports.
    fn cookie(&self) -> String {
        format!("toolgraft_inspect_{}", self.port)
    }

    /// Whether the request names this server, and comes from no other site's page.
    fn is_ours(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let Some(host) = text(header::HOST).filter(|host| hosts.iter().any(|ours| ours == host)) else { return false };
        match headers.get(header::ORIGIN) {
            None => true,
            Some(origin) => origin.as_bytes() == format!("http://{host}").as_bytes(),
        }
    }

    /// Whether the browser was let in before.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && same(value, &self.session))
    }

    /// Whether a program shows the key. No browser does so by itself.
    fn has_key(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        shown.and_then(|shown| shown.strip_prefix("Bearer ")).is_some_and(|shown| same(shown, &self.key))
    }

    /// Takes the token, if it is the one; another then stands in its place.
    fn takes(&self, shown: &str) -> bool {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if !same(shown, &token) {
            return false;
        }
        // Without random numbers no further token opens the door.
        *token = secret().unwrap_or_default();
        !shown.is_empty()
    }
}

/// Compares in a time that does not tell how much was right.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

/// Lets a request in, or says how to come in.
pub(super) async fn check(State(doors): State<Arc<Doors>>, request: Request, inner: Next) -> Response {
    if !doors.is_ours(request.headers()) {
        return (StatusCode::FORBIDDEN, "this server is called 127.0.0.1, and other sites' pages are refused\n")
            .into_response();
    }
    if doors.has_key(request.headers()) {
        return inner.run(request).await;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, "there is nothing to be changed here\n").into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    let token = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "token");
    // Programs that look ahead at a link ask for its head.
    if let Some((_, token)) = token.filter(|_| request.method() == Method::GET)
        && doors.takes(&token)
    {
        output::note(&format!("a browser looks at the requests; one more may with {}", doors.url()));
        let cookie = format!("{}={}; Path=/inspect; HttpOnly; SameSite=Lax", doors.cookie(), doors.session);
        return (StatusCode::SEE_OTHER, [(header::LOCATION, "/inspect".to_owned()), (header::SET_COOKIE, cookie)])
            .into_response();
    }
    if doors.is_known(request.headers()) {
        return inner.run(request).await;
    }
    (
        StatusCode::UNAUTHORIZED,
        "open the URL that `toolgraft serve --inspect` printed last: each lets one browser in, once\n",
    )
        .into_response()
}
