//! The redirect target of a login: one page on 127.0.0.1 that accepts one request.
//!
//! Other programs and web pages can reach this port too, so a request counts only with the expected path,
//! `Host` and `state`; any other is refused, and the listener goes on waiting.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::error::{LoginError, NO_STATE};
use toolgraft::secrets::same;

const PATH: &str = "/callback";

/// Maximum length in bytes of the head of a request to the redirect target.
const MAX_HEAD: usize = 16 * 1024;
/// Time limit for receiving the head of a request, and for sending a page.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of concurrent connections to the redirect target: a browser opens some that it does not use.
const MAX_OPEN: usize = 32;

/// The listener on a port of 127.0.0.1 that waits for the browser's redirect at the end of a login.
pub(super) struct Listener {
    listener: TcpListener,
    port: u16,
    /// `true` once a request to the redirect target had a `code` but no `state` parameter.
    lacked_state: AtomicBool,
}

/// The browser's request to the redirect target of a login, with its query parameters.
pub(super) struct Callback {
    parameters: HashMap<String, String>,
    /// The connection that gets the page with the result; `None` for an address that the user pasted.
    socket: Option<TcpStream>,
}

impl Listener {
    /// Listens on this port of 127.0.0.1, or on any free one for `None`.
    pub(super) async fn bind(port: Option<u16>) -> Result<Self, LoginError> {
        let failed = |e: std::io::Error| match port {
            Some(port) => LoginError::Failed(format!("cannot listen on 127.0.0.1:{port}, the \"callbackPort\": {e}")),
            None => LoginError::Failed(format!("cannot listen on 127.0.0.1: {e}")),
        };
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Listener { listener, port, lacked_state: AtomicBool::default() })
    }

    /// Returns the error for a login that was not completed within this time: [`LoginError::NoState`] if a redirect
    /// lacked the `state`, else [`LoginError::TimedOut`].
    pub(super) fn none_came(&self, within: Duration) -> LoginError {
        match self.lacked_state.load(Ordering::Relaxed) {
            true => LoginError::NoState,
            false => LoginError::TimedOut(within.as_secs()),
        }
    }

    /// Returns the URL that the browser is redirected to.
    pub(super) fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser's request to the redirect target with this `state`, and refuses all others.
    pub(super) async fn wait(&self, state: &str) -> Callback {
        let mut open = FuturesUnordered::new();
        loop {
            tokio::select! {
                // A failed connection is ignored; the browser makes another.
                Ok((socket, _)) = self.listener.accept(), if open.len() < MAX_OPEN => open.push(self.heard(socket, state)),
                Some(heard) = open.next() => if let Some(callback) = heard {
                    return callback;
                },
                else => {}
            }
        }
    }

    /// Reads the request of one connection. Returns the callback if it is the redirect with this `state`; else answers
    /// it with an error page and returns `None`.
    async fn heard(&self, mut socket: TcpStream, state: &str) -> Option<Callback> {
        let head = timeout(PATIENCE, head(&mut socket)).await.ok()??;
        match callback(&head, self.port, state) {
            Ok(parameters) => Some(Callback { parameters, socket: Some(socket) }),
            Err((status, why)) => {
                self.lacked_state.fetch_or(why == NO_STATE, Ordering::Relaxed);
                answer(socket, status, "This is not the page of a login", why).await;
                None
            }
        }
    }
}

impl Callback {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Parses the redirect address that the user copied from a browser on another machine, which could not open it: the
    /// whole URL, or its query alone.
    pub(super) fn pasted(text: &str, state: &str) -> Result<Self, LoginError> {
        let text = text.trim().trim_matches(['"', '\'', '<', '>']);
        let query = text.split_once('?').map_or(text, |(_, query)| query).split('#').next().unwrap_or_default();
        let mut url = Url::parse("http://127.0.0.1").map_err(|e| LoginError::Failed(e.to_string()))?;
        url.set_query(Some(query));
        let is_answer = |found: &HashMap<String, String>| found.contains_key("code") || found.contains_key("error");
        let found = parameters(&url, state).and_then(|found| match is_answer(&found) {
            true => Ok(found),
            false => Err("This is the page to open, not the one that follows it."),
        });
        let parameters = found.map_err(|why| {
            // The likely cause is that only a part of it was copied.
            let why = if why == NO_STATE { "Its state is missing." } else { why };
            let remedy =
                "copy all of the address that the browser shows after you have agreed, from http:// to its end";
            LoginError::Failed(format!("this is not the address of the login. {why} Remedy: {remedy}"))
        })?;
        Ok(Callback { parameters, socket: None })
    }

    /// Sends a page with the result of the login to the browser, unless the address was pasted.
    pub(super) async fn answer(self, done: &Result<(), LoginError>) {
        let Some(socket) = self.socket else { return };
        match done {
            Ok(()) => answer(socket, "200 OK", "You are logged in", "You can close this page.").await,
            Err(error) => answer(socket, "400 Bad Request", "You are not logged in", &error.to_string()).await,
        }
    }
}

async fn head(socket: &mut TcpStream) -> Option<String> {
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    loop {
        let read = socket.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&buffer[..read]);
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return String::from_utf8(head).ok();
        }
        if head.len() > MAX_HEAD {
            return None;
        }
    }
}

/// Returns the query parameters of a request that is the expected redirect, or the HTTP status and the reason to refuse
/// it.
fn callback(head: &str, port: u16, state: &str) -> Result<HashMap<String, String>, (&'static str, &'static str)> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method != "GET" {
        return Err(("405 Method Not Allowed", "Request it with GET."));
    }
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    });
    if host != Some(format!("127.0.0.1:{port}")) {
        return Err(("403 Forbidden", "The request has another host name."));
    }
    let url = Url::parse("http://127.0.0.1").and_then(|base| base.join(target)).ok();
    let Some(url) = url.filter(|url| target.starts_with('/') && url.path() == PATH) else {
        return Err(("404 Not Found", "Nothing is here."));
    };
    parameters(&url, state).map_err(|why| ("400 Bad Request", why))
}

/// Returns the query parameters of a URL if its `state` is that of the login and no parameter is repeated; else the
/// reason to refuse it.
fn parameters(url: &Url, state: &str) -> Result<HashMap<String, String>, &'static str> {
    let mut parameters = HashMap::new();
    for (name, value) in url.query_pairs() {
        // No parameter may be repeated (RFC 6749, section 3.1): two readers could take different ones.
        if parameters.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err("A parameter is in it twice.");
        }
    }
    match parameters.get("state") {
        Some(named) if same(named, state) => Ok(parameters),
        // With a code it is the answer of an authorization server that drops the state; without one it is no
        // answer at all.
        None if parameters.contains_key("code") => Err(NO_STATE),
        _ => Err("It belongs to another login: its state is not that of the request."),
    }
}

async fn answer(mut socket: TcpStream, status: &str, title: &str, text: &str) {
    let page = page(title, text);
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    // The browser may have closed the connection, which is no fault.
    let written = timeout(PATIENCE, async {
        socket.write_all(answer.as_bytes()).await?;
        socket.shutdown().await
    });
    drop(written.await);
}

fn page(title: &str, text: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>body {{ font: 1.1em sans-serif; max-width: 36em; margin: 4em auto; padding: 0 1em }}</style>\n\
         <h1>{title}</h1>\n<p>{}</p>\n</html>\n",
        escaped(text)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str, host: &str) -> String {
        format!("{line} HTTP/1.1\r\nAccept: */*\r\nHost: {host}\r\n\r\n")
    }

    #[test]
    fn only_the_request_that_was_handed_out_counts() {
        let good = request("GET /callback?code=c&state=s1&iss=https%3A%2F%2Fa", "127.0.0.1:80");
        let parameters = callback(&good, 80, "s1").unwrap();
        assert_eq!((parameters["code"].as_str(), parameters["iss"].as_str()), ("c", "https://a"));
        for (line, host, status) in [
            ("GET /callback?code=c&state=s2", "127.0.0.1:80", "400"),
            ("GET /callback?code=c", "127.0.0.1:80", "400"),
            ("GET /callback?code=c&state=s1&state=s1", "127.0.0.1:80", "400"),
            ("GET /callback/x?code=c&state=s1", "127.0.0.1:80", "404"),
            ("GET /favicon.ico", "127.0.0.1:80", "404"),
            ("GET http://127.0.0.1/callback?code=c&state=s1", "127.0.0.1:80", "404"),
            ("POST /callback?code=c&state=s1", "127.0.0.1:80", "405"),
            ("GET /callback?code=c&state=s1", "evil.example:80", "403"),
            ("GET /callback?code=c&state=s1", "127.0.0.1:81", "403"),
        ] {
            let (refused, _) = callback(&request(line, host), 80, "s1").unwrap_err();
            assert!(refused.starts_with(status), "{line} at {host}: {refused}");
        }
    }

    #[test]
    fn an_address_that_was_copied_counts_as_the_browser_itself() {
        for text in [
            " http://127.0.0.1:8765/callback?code=c%2F1&state=s1 ",
            "'http://127.0.0.1:8765/callback?code=c%2F1&state=s1#'",
            "code=c%2F1&state=s1",
        ] {
            assert_eq!(Callback::pasted(text, "s1").ok().unwrap().get("code"), Some("c/1"), "{text}");
        }
        for text in [
            "",
            "c/1",
            "http://127.0.0.1:8765/callback?code=c&state=s2",
            "https://as/authorize?state=s1&state=s1",
            "https://as/authorize?state=s1",
        ] {
            let refused = Callback::pasted(text, "s1").err().unwrap().to_string();
            assert!(refused.starts_with("this is not the address of the login"), "{text}: {refused}");
        }
    }

    #[test]
    fn the_page_shows_a_strangers_words_as_text() {
        let page = page("You are not logged in", "<script>alert(1)</script> & \"x\"");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;"), "{page}");
    }

    #[tokio::test]
    async fn others_are_answered_and_the_waiting_goes_on() {
        let listener = Listener::bind(None).await.unwrap();
        let base = listener.redirect_uri();
        let ask = |url: String| async move { reqwest_like(&url).await };
        let (callback, ()) = tokio::join!(listener.wait("s1"), async {
            let silent = TcpStream::connect(("127.0.0.1", listener.port)).await.unwrap();
            assert!(ask(format!("{base}?code=c&state=other")).await.contains("another login"));
            assert!(ask(base.replace("/callback", "/favicon.ico")).await.starts_with("HTTP/1.1 404"));
            let mut last = TcpStream::connect(("127.0.0.1", listener.port)).await.unwrap();
            let line = format!("GET /callback?code=c&state=s1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", listener.port);
            last.write_all(line.as_bytes()).await.unwrap();
            drop(silent);
        });
        assert_eq!(callback.get("code"), Some("c"));
    }

    /// Sends a `GET` and returns the raw HTTP response.
    async fn reqwest_like(url: &str) -> String {
        let url = Url::parse(url).unwrap();
        let port = url.port().unwrap();
        let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let head = format!("GET {}{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", url.path());
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    }
}
