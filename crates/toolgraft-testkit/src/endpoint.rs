//! A scripted OpenAI-compatible endpoint over real HTTP.
//!
//! It runs on a thread of its own, so that tests with and without a runtime can use it, and ends
//! when it is dropped. Pass its `url()` to the library or to the built program (`--base-url`).
//!
//! ```text
//! let mut endpoint = Endpoint::start([Reply::text("Hello!"), Reply::new(429, "slow down")]);   // in this order
//! let endpoint = Endpoint::answer(|request, number| Reply::text(&request.question()));          // by the request
//! let endpoint = Endpoint::setup().models(&["small-model"]).port(11434).start([…]);             // Ollama's port
//!
//! Reply::events(&[says("Let me "), says("see."), stops("stop")]).done()   // one SSE event per TCP segment
//! Reply::events(&[thinks("Hm."), call("get_weather", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done()
//! reply.bytewise()                       // a byte at a time
//! reply.delay(Duration::from_millis(5))  // between the pieces
//! reply.end(End::Break)                  // the connection is cut within the body; End::Stall: nothing more comes
//! Reply::html("Sign in")                 // a web page instead of JSON
//! Reply::refused(429, "slow down").header("retry-after", "0")
//! Reply::ollama(…), Reply::lm_studio(…)  // a text the way these send it
//!
//! endpoint.seen()           // requests so far: method, path, head, body
//! endpoint.gone().await     // until a client has left before its answer was complete; `gone_blocking()` without a runtime
//! ```
//!
//! `GET …/models` is answered from the list of `models` and uses up no reply. Without such a list
//! it is refused and not recorded, unless `lists()` lets the replies answer it too. A request for
//! which no reply is left gets HTTP 500 `no reply is left`, which must not happen in a test that
//! passes.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// Maximum time for which a test waits for an event before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The scripted reply to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status of the reply.
    pub status: u16,
    /// Header lines of the reply, each with its line end.
    pub headers: String,
    /// Body of the reply; each piece is one HTTP chunk, sent in one write.
    pub pieces: Vec<Vec<u8>>,
    /// `true` to send all chunks of the body in one write.
    pub at_once: bool,
    /// Pause before each piece of the body.
    pub delay: Duration,
    /// Action after the last piece of the body was sent.
    pub end: End,
}

/// Action after the last piece of a scripted body was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// The body is ended properly.
    Whole,
    /// The connection is closed within the body, without its end.
    Break,
    /// Nothing more is sent until the client disconnects.
    Stall,
    /// Nothing is sent at all, not even the head.
    Mute,
}

impl Reply {
    /// Creates a reply with a body in one piece.
    pub fn new(status: u16, body: &str) -> Self {
        let pieces = vec![body.as_bytes().to_vec()];
        Reply { status, headers: String::new(), pieces, at_once: false, delay: Duration::ZERO, end: End::Whole }
    }

    /// Creates an SSE stream of these events, each in a piece of its own.
    pub fn events(events: &[Value]) -> Self {
        let pieces = events.iter().map(|e| format!("data: {e}\n\n").into_bytes()).collect();
        Reply { pieces, ..Reply::new(200, "") }.header("content-type", "text/event-stream")
    }

    /// Creates a complete streamed answer with this text, one word per event.
    pub fn text(text: &str) -> Self {
        let mut events: Vec<Value> = text.split_inclusive(' ').map(says).collect();
        events.push(stops("stop"));
        Reply::events(&events).done()
    }

    /// Creates a complete answer in the form of Ollama: the role in every chunk, the reasoning in
    /// `reasoning`, and the usage in a chunk without choices.
    pub fn ollama(reasoning: &str, text: &str) -> Self {
        let chunk = |delta: Value, finish: Value| {
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "system_fingerprint": "fp_ollama",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        };
        let mut events = Vec::new();
        for piece in reasoning.split_inclusive(' ') {
            events.push(chunk(json!({"role": "assistant", "content": "", "reasoning": piece}), Value::Null));
        }
        for piece in text.split_inclusive(' ') {
            events.push(chunk(json!({"role": "assistant", "content": piece}), Value::Null));
        }
        events.push(chunk(json!({"role": "assistant", "content": ""}), json!("stop")));
        events.push(usage(26, 12));
        Reply::events(&events).done()
    }

    /// Creates a complete answer in the form of LM Studio: the role in the first chunk, the
    /// reasoning in `reasoning_content`, and an empty delta with the finish reason.
    pub fn lm_studio(reasoning: &str, text: &str) -> Self {
        let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
        events.extend(reasoning.split_inclusive(' ').map(|piece| delta(json!({"reasoning_content": piece}))));
        events.extend(text.split_inclusive(' ').map(|piece| delta(json!({"role": "assistant", "content": piece}))));
        events.extend([stops("stop"), usage(26, 12)]);
        Reply::events(&events).done()
    }

    /// Creates a reply that is a web page, as a proxy or a wrong URL returns it.
    pub fn html(title: &str) -> Self {
        let page = format!("<!DOCTYPE html><html><head><title>{title}</title></head><body></body></html>");
        Reply::new(200, &page).header("content-type", "text/html")
    }

    /// Creates a reply that refuses the request, with an OpenAI error object.
    pub fn refused(status: u16, message: &str) -> Self {
        Reply::new(status, &json!({"error": {"message": message}}).to_string())
    }

    /// Adds the event `[DONE]`, with which a stream of Chat Completions ends.
    pub fn done(mut self) -> Self {
        self.pieces.push(b"data: [DONE]\n\n".to_vec());
        self
    }

    /// Adds a piece to the body, verbatim.
    pub fn raw(mut self, piece: &str) -> Self {
        self.pieces.push(piece.as_bytes().to_vec());
        self
    }

    /// Adds an HTTP header to the reply.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    /// Splits the body of the reply into pieces of one byte.
    pub fn bytewise(mut self) -> Self {
        self.pieces = self.pieces.concat().chunks(1).map(<[u8]>::to_vec).collect();
        self
    }

    /// Joins the body of the reply into one piece.
    pub fn whole(mut self) -> Self {
        self.pieces = vec![self.pieces.concat()];
        self
    }

    /// Makes the endpoint send all chunks of the body in one write.
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Sets the pause before each piece of the body.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets the action after the last piece of the body was sent.
    pub fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// Returns a stream chunk of Chat Completions with this delta.
pub fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// Returns a stream chunk with one token and its alternatives, with probabilities in percent.
pub fn token(text: &str, percent: f64, others: &[(&str, f64)]) -> Value {
    let of = |text: &str, percent: f64| json!({"token": text, "logprob": (percent / 100.0).ln().max(-99.0), "bytes": text.as_bytes()});
    let mut token = of(text, percent);
    token["top_logprobs"] = [(text, percent)].iter().chain(others).map(|(text, percent)| of(text, *percent)).collect();
    json!({"choices": [{"index": 0, "delta": {"content": text}, "logprobs": {"content": [token]}, "finish_reason": null}]})
}

/// Returns a stream chunk with text of the answer.
pub fn says(text: &str) -> Value {
    delta(json!({"content": text}))
}

/// Returns a stream chunk with text of a separate reasoning field.
pub fn thinks(text: &str) -> Value {
    delta(json!({"reasoning_content": text}))
}

/// Returns a stream chunk with a whole native call.
pub fn call(name: &str, arguments: &str) -> Value {
    let call = json!({"index": 0, "id": "call_a", "type": "function",
        "function": {"name": name, "arguments": arguments}});
    delta(json!({"tool_calls": [call]}))
}

/// Returns the stream chunk with this finish reason.
pub fn stops(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Returns the stream chunk with this token usage.
pub fn usage(prompt: u64, completion: u64) -> Value {
    json!({"choices": [], "usage":
        {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}})
}

/// Returns a call in the syntax that the default prompt teaches.
pub fn mcp_call(server: &str, tool: &str, arguments: &Value) -> String {
    format!(
        "<use_mcp_tool>\n<server_name>{server}</server_name>\n<tool_name>{tool}</tool_name>\n\
         <arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
    )
}

/// A request that the endpoint received.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Request line and header lines of the request.
    pub head: String,
    /// JSON body of the request; null if it is not JSON.
    pub body: Value,
}

impl Seen {
    /// Returns the method and path of the request, as in `POST /v1/chat/completions`.
    pub fn target(&self) -> &str {
        let line = self.head.lines().next().unwrap_or_default();
        line.rsplit_once(' ').map_or(line, |(target, _)| target)
    }

    /// Returns the value of a header of the request.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Returns the text of the request's last message; empty if its content is no text.
    pub fn question(&self) -> String {
        let messages = self.body["messages"].as_array();
        let last = messages.and_then(|messages| messages.last());
        last.and_then(|m| m["content"].as_str()).unwrap_or_default().to_owned()
    }

    /// Returns all messages of the request as one JSON text, to be searched with `contains`.
    pub fn messages(&self) -> String {
        self.body["messages"].to_string()
    }
}

/// The source of scripted replies: a function of the request and its number, from 0.
type Answer = Box<dyn FnMut(&Seen, usize) -> Reply + Send>;

/// Options of an [`Endpoint`].
#[derive(Default)]
pub struct EndpointSetup {
    port: u16,
    models: Option<Vec<String>>,
    owner: Option<&'static str>,
    lists: bool,
    tools: Option<bool>,
    serves: Vec<(String, Value)>,
    mutes: Vec<String>,
}

impl EndpointSetup {
    /// Makes the endpoint listen on this port of the loopback interface. The default is any free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Makes the endpoint answer `GET …/models` with these models.
    pub fn models(mut self, models: &[&str]) -> Self {
        self.models = Some(models.iter().map(|&m| m.to_owned()).collect());
        self
    }

    /// Sets the owner in the list of models, by which llama.cpp, vLLM and SGLang can be recognised.
    pub fn owner(mut self, owner: &'static str) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Makes the endpoint answer `GET …/models` with the next scripted reply.
    pub fn lists(mut self) -> Self {
        self.lists = true;
        self
    }

    /// Makes the endpoint report at Ollama's `/api/show` whether requests may contain tools.
    pub fn tools(mut self, tools: bool) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Makes the endpoint answer requests for paths with this ending with this JSON; they use up no reply and are not
    /// recorded.
    pub fn serves(mut self, path: &str, answer: Value) -> Self {
        self.serves.push((path.to_owned(), answer));
        self
    }

    /// Makes the endpoint accept requests for paths with this ending and never answer; they use up no reply and are
    /// not recorded.
    pub fn mutes(mut self, path: &str) -> Self {
        self.mutes.push(path.to_owned());
        self
    }

    /// Starts an endpoint with these replies, in this order.
    pub fn start(self, replies: impl IntoIterator<Item = Reply>) -> Endpoint {
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        self.answer(move |_, _| replies.pop_front().unwrap_or_else(|| Reply::refused(500, "no reply is left")))
    }

    /// Starts an endpoint that gets its replies from a function.
    pub fn answer(self, answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static) -> Endpoint {
        let listener = std::net::TcpListener::bind(("127.0.0.1", self.port))
            .unwrap_or_else(|e| panic!("cannot listen on port {} of the loopback interface: {e}", self.port));
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, gone) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let probed = Arc::<Mutex<Vec<String>>>::default();
        let answer: Answer = Box::new(answer);
        let list = |models: Vec<String>| {
            Reply::new(200, &models_json(&models, self.owner)).header("content-type", "application/json")
        };
        let desk = Desk {
            models: self.models.map(list),
            lists: self.lists,
            tools: self.tools,
            serves: Arc::new(self.serves),
            mutes: Arc::new(self.mutes),
            answer: Arc::new(Mutex::new((answer, 0))),
            seen: seen.clone(),
            probed: probed.clone(),
            tell,
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = listen(listener, desk) => {}
                    _ = stopped => {}
                }
            });
        });
        Endpoint { address, seen, probed, gone, stop: Some(stop), thread: Some(thread) }
    }
}

fn models_json(models: &[String], owner: Option<&str>) -> String {
    let model = |id: &String| match owner {
        Some(owner) => json!({"id": id, "object": "model", "owned_by": owner}),
        None => json!({"id": id, "object": "model"}),
    };
    let data: Vec<Value> = models.iter().map(model).collect();
    json!({"object": "list", "data": data}).to_string()
}

/// A running scripted endpoint, which ends when it is dropped.
pub struct Endpoint {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    probed: Arc<Mutex<Vec<String>>>,
    gone: mpsc::UnboundedReceiver<()>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Returns the default options of an endpoint, to be changed before its start.
    pub fn setup() -> EndpointSetup {
        EndpointSetup::default()
    }

    /// Starts an endpoint with these replies, in this order, on any free port.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Endpoint::setup().start(replies)
    }

    /// Starts an endpoint that gets its replies from a function of the request and its number, from
    /// 0.
    pub fn answer(answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static) -> Self {
        Endpoint::setup().answer(answer)
    }

    /// Returns the base URL of the endpoint, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the recorded requests, including those for the list of models.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the recorded requests and clears the record.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns methods and paths of the requests about the server and its models that are not
    /// [`seen`](Self::seen).
    pub fn probed(&self) -> Vec<String> {
        self.probed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of recorded requests.
    pub fn requests(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits until a client has disconnected before its answer was complete. Each such client is
    /// reported once.
    pub async fn gone(&mut self) {
        let gone = tokio::time::timeout(PATIENCE, self.gone.recv()).await;
        gone.expect("no client left before its answer was complete").unwrap();
    }

    /// Waits as [`gone`](Self::gone) does, for tests without a runtime.
    pub fn gone_blocking(&mut self) {
        let start = Instant::now();
        while self.gone.try_recv().is_err() {
            assert!(start.elapsed() < PATIENCE, "no client left before its answer was complete");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state that all connections of the endpoint share.
#[derive(Clone)]
struct Desk {
    models: Option<Reply>,
    lists: bool,
    tools: Option<bool>,
    serves: Arc<Vec<(String, Value)>>,
    mutes: Arc<Vec<String>>,
    answer: Arc<Mutex<(Answer, usize)>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    probed: Arc<Mutex<Vec<String>>>,
    tell: mpsc::UnboundedSender<()>,
}

impl Desk {
    /// Returns the reply to a request about the server and its models, outside of `/v1`: by default the answer of a
    /// server that is not Ollama (404). Such a request uses up no reply and is not recorded. `None` for all other
    /// requests.
    fn probed(&self, request: &Seen) -> Option<Reply> {
        let target = request.target();
        if self.mutes.iter().any(|path| target.ends_with(path.as_str())) {
            return Some(Reply::new(200, "").end(End::Mute));
        }
        if let Some((_, answer)) = self.serves.iter().find(|(path, _)| target.ends_with(path.as_str())) {
            return Some(Reply::new(200, &answer.to_string()).header("content-type", "application/json"));
        }
        let probe = ["/api/show", "/api/tags", "/api/ps", "/api/version", "/api/v0/models", "/props"]
            .iter()
            .any(|path| target.ends_with(path));
        let capabilities = match self.tools.filter(|_| target.ends_with("/api/show")) {
            None => return probe.then(|| Reply::new(404, "404 page not found")),
            Some(true) => json!(["completion", "tools"]),
            Some(false) => json!(["completion"]),
        };
        Some(Reply::new(200, &json!({"capabilities": capabilities}).to_string()))
    }

    fn reply(&self, request: Seen) -> Reply {
        if let Some(reply) = self.probed(&request) {
            self.probed.lock().unwrap_or_else(PoisonError::into_inner).push(request.target().to_owned());
            return reply;
        }
        let listing = request.target().starts_with("GET") && request.target().ends_with("/models");
        // A client that looks for models must not use up a reply that the test meant for a
        // question.
        if listing && self.models.is_none() && !self.lists {
            return Reply::new(404, "404 page not found");
        }
        let reply = match &self.models {
            Some(models) if listing => models.clone(),
            _ => {
                let (answer, number) = &mut *self.answer.lock().unwrap_or_else(PoisonError::into_inner);
                *number += 1;
                answer(&request, *number - 1)
            }
        };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        reply
    }
}

async fn listen(listener: TcpListener, desk: Desk) {
    while let Ok((socket, _)) = listener.accept().await {
        socket.set_nodelay(true).unwrap();
        tokio::spawn(serve(socket, desk.clone()));
    }
}

/// Serves the requests of one connection, which stays open after every complete answer.
async fn serve(socket: TcpStream, desk: Desk) {
    let (mut read, mut write) = socket.into_split();
    let mut rest = Vec::new();
    while let Some(request) = read_request(&mut read, &mut rest).await {
        let reply = desk.reply(request);
        let end = reply.end;
        let left = tokio::select! {
            biased;
            left = send(&mut write, reply) => left,
            () = hung_up(&mut read) => true,
        };
        if left {
            let _ = desk.tell.send(());
        }
        if left || end != End::Whole {
            return;
        }
    }
}

async fn read_request(socket: &mut OwnedReadHalf, bytes: &mut Vec<u8>) -> Option<Seen> {
    let mut buffer = [0; 4096];
    loop {
        if let Some((request, end)) = parse_request(bytes) {
            bytes.drain(..end);
            return Some(request);
        }
        let read = socket.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
    }
}

/// Returns the first request in the bytes and its length in bytes; `None` while it is incomplete.
fn parse_request(bytes: &[u8]) -> Option<(Seen, usize)> {
    let at = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let mut seen = Seen { head, body: Value::Null };
    let end = at + 4 + seen.header("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    seen.body = serde_json::from_slice(bytes.get(at + 4..end)?).unwrap_or(Value::Null);
    Some((seen, end))
}

/// Sends a reply. Returns `true` if the client disconnected before the reply was complete.
async fn send(socket: &mut OwnedWriteHalf, reply: Reply) -> bool {
    let Reply { status, headers, pieces, at_once, delay, end } = reply;
    if end == End::Mute {
        return std::future::pending().await;
    }
    let close = if end == End::Whole { "" } else { "connection: close\r\n" };
    let head = format!("HTTP/1.1 {status} Scripted\r\n{headers}transfer-encoding: chunked\r\n{close}\r\n");
    if socket.write_all(head.as_bytes()).await.is_err() {
        return true;
    }
    let chunks = pieces.iter().filter(|p| !p.is_empty());
    let chunks = chunks.map(|piece| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
    let chunks: Vec<Vec<u8>> = if at_once { vec![chunks.collect::<Vec<_>>().concat()] } else { chunks.collect() };
    for chunk in chunks {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if socket.write_all(&chunk).await.is_err() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    match end {
        End::Whole => socket.write_all(b"0\r\n\r\n").await.is_err(),
        End::Break => false,
        End::Stall | End::Mute => std::future::pending().await,
    }
}

/// Waits until the client closes the connection.
async fn hung_up(socket: &mut OwnedReadHalf) {
    while socket.peek(&mut [0]).await.is_ok_and(|n| n > 0) {
        // The next request has arrived already; it is read after this answer.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
