//! Who may look: a browser that was given the URL, by the name of the loopback; and programs of
//! this user that have the key.
//!
//! The URL's token lets one browser in, once; the browser then has a cookie, which no page
//! can read. The next token is printed when one was used, so that a second browser can be
//! let in, and a URL that somebody finds later opens nothing.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::base::Failure;
use crate::base::output;
use crate::base::secret::secret;

/// What stands behind the doors.
pub(crate) struct Behind {
    /// Where a browser comes in; its cookie counts below it.
    pub(crate) path: &'static str,
    /// The cookie's name, but for the port.
    pub(crate) cookie: &'static str,
    /// Whether a browser may change things.
    pub(crate) changes: bool,
    /// What is said where a browser came in: the next one's URL follows.
    pub(crate) entered: &'static str,
    /// How to come in.
    pub(crate) remedy: &'static str,
}

/// Who may look.
pub(crate) struct Doors {
    behind: Behind,
    port: u16,
    /// The token of the URL that was printed last.
    token: Mutex<String>,
    /// What the cookie holds, as long as this program runs.
    session: String,
    /// What a program shows, which may change things too.
    key: String,
}

impl Doors {
    /// Doors of a listener at this port of the loopback.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(port: u16, behind: Behind) -> Result<Self, Failure> {
        let secret = || secret().map_err(|error| Failure::job(format!("no random numbers: {error}")));
        Ok(Doors { behind, port, token: Mutex::new(secret()?), session: secret()?, key: secret()? })
    }

    /// The key for programs of this user.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Where this server is.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The URL that lets the next browser in.
    pub(crate) fn url(&self) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{}{}?token={token}", self.address(), self.behind.path)
    }

    /// Cookies do not know ports.
    fn cookie(&self) -> String {
        format!("{}_{}", self.behind.cookie, self.port)
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
pub(crate) async fn check(State(doors): State<Arc<Doors>>, request: Request, inner: Next) -> Response {
    if !doors.is_ours(request.headers()) {
        return (StatusCode::FORBIDDEN, "this server is called 127.0.0.1, and other sites' pages are refused\n")
            .into_response();
    }
    if doors.has_key(request.headers()) {
        return inner.run(request).await;
    }
    let looks = matches!(*request.method(), Method::GET | Method::HEAD);
    // Each browser says where a page that changes something stands.
    let may = doors.behind.changes && request.headers().contains_key(header::ORIGIN);
    if !looks && !may {
        return (StatusCode::METHOD_NOT_ALLOWED, "there is nothing to be changed here\n").into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    let token = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "token");
    // Programs that look ahead at a link ask for its head.
    if let Some((_, token)) = token.filter(|_| request.method() == Method::GET)
        && doors.takes(&token)
    {
        output::note(&format!("{} {}", doors.behind.entered, doors.url()));
        let path = doors.behind.path;
        let cookie = format!("{}={}; Path={path}; HttpOnly; SameSite=Lax", doors.cookie(), doors.session);
        return (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned()), (header::SET_COOKIE, cookie)])
            .into_response();
    }
    if doors.is_known(request.headers()) {
        return inner.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, doors.behind.remedy).into_response()
}
