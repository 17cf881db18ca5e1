//! Records the HTTP traffic, line by line, without secrets.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Request, StatusCode, Url};
use serde_json::{Map, Value, json};

use super::error::cause;
use crate::secrets::{Hider, REDACTED, Secrets, kept_url, names_secret};

/// Recorder that writes requests, responses and the bytes of their bodies as lines of JSON, each flushed.
/// `docs/replay.md` shows each line.
///
/// Values of secret headers and parameters are omitted, and the client's key and headers are redacted wherever else
/// they occur. If a line cannot be written, the program goes on, later lines are omitted, and [`error`](Tracer::error)
/// returns the reason. Clones write to the same trace.
#[derive(Clone)]
pub struct Tracer {
    state: Arc<Mutex<TracerState>>,
    secrets: Secrets,
}

struct TracerState {
    to: Box<dyn io::Write + Send>,
    began: Instant,
    exchanges: u64,
    failed: Option<String>,
}

impl Tracer {
    /// Creates a recorder that writes to `to`, which should not be buffered.
    pub fn new(to: impl io::Write + Send + 'static) -> Self {
        let state = TracerState { to: Box::new(to), began: Instant::now(), exchanges: 0, failed: None };
        Tracer { state: Arc::new(Mutex::new(state)), secrets: Secrets::default() }
    }

    /// Sets further secrets to redact; those of the traced client are always redacted.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Returns the error of the first line that could not be written, `None` if the trace is complete.
    pub fn error(&self) -> Option<String> {
        self.state().failed.clone()
    }

    /// Records a request that is about to be sent, and returns the recorder of its response.
    pub(super) fn exchange(&self, request: &Request, secrets: &Secrets) -> Exchange {
        let secrets = self.secrets.and(secrets);
        let mut state = self.state();
        state.exchanges += 1;
        let number = state.exchanges;
        drop(state);
        let mut exchange =
            Exchange { tracer: self.clone(), number, hider: Hider::new(secrets.clone()), secrets, over: false };
        let body = request.body().and_then(|body| body.as_bytes()).map(String::from_utf8_lossy);
        let (method, url) = (request.method().as_str(), kept_url(request.url().as_str()));
        let mut line = json!({"type": "request", "method": method, "url": url, "headers": headers(request.headers())});
        if let Some(body) = body {
            line["body"] = body.into();
        }
        exchange.line(line);
        exchange
    }

    fn state(&self) -> MutexGuard<'_, TracerState> {
        // A panic elsewhere cannot leave half a line, as each line is one write.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, ms: Option<u64>, exchange: u64, fields: Value, secrets: &Secrets) {
        let mut state = self.state();
        if state.failed.is_some() {
            return;
        }
        let ms = ms.unwrap_or_else(|| millis(state.began));
        let mut line = json!({"ms": ms, "exchange": exchange});
        if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
            line.extend(fields);
        }
        secrets.hide_in(&mut line);
        let written = state.to.write_all(format!("{line}\n").as_bytes()).and_then(|()| state.to.flush());
        state.failed = written.err().map(|error| error.to_string());
    }
}

crate::message::opaque_debug!(Tracer);

/// The recorder of one request and its response.
pub(super) struct Exchange {
    tracer: Tracer,
    number: u64,
    secrets: Secrets,
    hider: Hider<u64>,
    over: bool,
}

impl Exchange {
    fn line(&mut self, line: Value) {
        self.tracer.write(None, self.number, line, &self.secrets);
    }

    fn response(&mut self, status: StatusCode, all: &HeaderMap) {
        self.line(json!({"type": "response", "status": status.as_u16(), "headers": headers(all)}));
    }

    fn chunk(&mut self, bytes: &[u8]) {
        let ms = millis(self.tracer.state().began);
        let ready = self.hider.push(ms, bytes);
        self.chunks(ready);
    }

    fn chunks(&self, pieces: Vec<(u64, Vec<u8>)>) {
        for (ms, bytes) in pieces {
            let line = match std::str::from_utf8(&bytes) {
                Ok(text) => json!({"type": "chunk", "text": text}),
                Err(_) => json!({"type": "chunk", "base64": STANDARD.encode(&bytes)}),
            };
            self.tracer.write(Some(ms), self.number, line, &self.secrets);
        }
    }

    /// Records the end of the response: `complete` if the body was read to its end, `closed` if the reader stopped
    /// before, `failed` if the connection failed.
    fn end(&mut self, how: &str, message: Option<String>) {
        if !std::mem::replace(&mut self.over, true) {
            let rest = self.hider.rest();
            self.chunks(rest);
            let mut line = json!({"type": "end", "how": how});
            if let Some(message) = message {
                line["message"] = message.into();
            }
            self.line(line);
        }
    }

    /// Records that the request failed.
    pub(super) fn failed(&mut self, error: &reqwest::Error) {
        self.end("failed", Some(cause(error)));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end("closed", None);
    }
}

/// An HTTP response whose body is recorded if there is a trace.
pub(super) struct Response {
    response: reqwest::Response,
    exchange: Option<Exchange>,
}

impl Response {
    pub(super) fn new(response: reqwest::Response, mut exchange: Option<Exchange>) -> Self {
        if let Some(exchange) = &mut exchange {
            exchange.response(response.status(), response.headers());
        }
        Response { response, exchange }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Drops the response headers, which otherwise keep the buffer that they were read into until the end of the body.
    pub(super) fn drop_headers(&mut self) {
        *self.response.headers_mut() = HeaderMap::new();
    }

    pub(super) async fn chunk(&mut self) -> reqwest::Result<Option<Vec<u8>>> {
        let chunk = self.response.chunk().await;
        if let Some(exchange) = &mut self.exchange {
            match &chunk {
                Ok(Some(bytes)) => exchange.chunk(bytes),
                Ok(None) => exchange.end("complete", None),
                Err(error) => exchange.failed(error),
            }
        }
        chunk.map(|bytes| bytes.map(|b| b.to_vec()))
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn headers<'a>(all: impl IntoIterator<Item = (&'a HeaderName, &'a HeaderValue)>) -> Map<String, Value> {
    let mut shown: Map<String, Value> = Map::new();
    for (name, value) in all {
        let secret = value.is_sensitive() || names_secret(name.as_str());
        let value = if secret { REDACTED.into() } else { String::from_utf8_lossy(value.as_bytes()) };
        match shown.get_mut(name.as_str()) {
            Some(Value::String(values)) => values.push_str(&format!(", {value}")),
            _ => {
                shown.insert(name.as_str().to_owned(), value.into());
            }
        }
    }
    shown
}

/// Returns the secret parts of a URL: its password, and the values of query parameters with secret names.
pub(super) fn secrets_of(url: &Url) -> Vec<String> {
    let secret = url.query_pairs().filter(|(name, _)| names_secret(name)).map(|(_, value)| value.into_owned());
    url.password().map(str::to_owned).into_iter().chain(secret).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        let url = Url::parse("https://me:pass-word@host/v1?api-version=1&api_key=abc&Sig=x").unwrap();
        assert_eq!(
            kept_url(url.as_str()),
            "https://[redacted]@host/v1?api-version=1&api_key=[redacted]&Sig=[redacted]"
        );
        assert_eq!(secrets_of(&url), ["pass-word", "abc", "x"]);
    }

    #[test]
    fn secret_headers_are_named_without_their_values() {
        let mut all = HeaderMap::new();
        for (name, value) in [("X-Api-Key", "a"), ("set-cookie", "b"), ("accept", "c"), ("via", "d"), ("via", "e")] {
            all.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static(value));
        }
        let shown = Value::Object(headers(&all)).to_string();
        for part in
            [r#""x-api-key":"[redacted]""#, r#""set-cookie":"[redacted]""#, r#""accept":"c""#, r#""via":"d, e""#]
        {
            assert!(shown.contains(part), "{shown}");
        }
    }
}
