//! The inspector: the last requests of a server, kept in memory to be looked at.
//!
//! An [`Inspector`] holds the last requests for chat answers: their interface, their result, and a
//! recording in the format of `toolgraft replay`, with the prompt as the model got it, the model's
//! events with their times, calls, rejections and corrections. It serves none of that itself: a
//! program makes pages or files of it.
//!
//! ```text
//! request ─▶ Watch ─▶ Recorder ─▶ Sink ─▶ Inspector ─▶ list, recording
//! ```
//!
//! The number of requests and the bytes of their recordings are bounded. Headers and URLs are never
//! kept; the keys of the request and of the server are removed from all texts. The counts in the
//! list are taken from the recording's lines, so that both always agree.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, Value};

use crate::metrics::prompt_cost::PromptCost;
use crate::upstream::endpoint_facts::Taught;
use toolgraft::Message;
use toolgraft::message::Role;
use toolgraft::model::Request;
use toolgraft::secrets::Secrets;
use toolgraft::transcript::{Recorder, Session};
use toolgraft_protocol::Fault;

/// Default maximum number of requests that an [`Inspector`] stores.
pub const INSPECTED: usize = 200;

/// Default maximum size, in bytes, of all recordings that an [`Inspector`] stores.
pub const INSPECTED_BYTES: usize = 64 << 20;

/// Maximum number of characters of the title of a recorded request.
const TITLE: usize = 80;

/// Recordings of the last requests of a server, in memory. Clones share them.
///
/// ```
/// use toolgraft_serve::{Config, Inspector};
///
/// let inspector = Inspector::new();
/// let config = Config::new("http://localhost:11434/v1")?.with_inspector(inspector.clone());
/// # let _ = config;
/// // While a server with this configuration runs:
/// for request in inspector.list() {
///     let recording = inspector.recording(request.id);
///     println!("{}: {} rounds, {} bytes", request.title, request.rounds, recording.unwrap_or_default().len());
/// }
/// # Ok::<(), toolgraft::model::ClientError>(())
/// ```
#[derive(Clone)]
pub struct Inspector {
    kept: Arc<Mutex<Requests>>,
    secrets: Secrets,
}

/// The facts about a recorded request, without the recording itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspected {
    /// Number of the request on this server, counted from 1.
    pub id: u64,
    /// Time at which the request arrived.
    pub began: SystemTime,
    /// Client API of the request, by the name of its route in `/metrics`: `chat_completions`, `messages`,
    /// `responses`, `generate_content`, `ollama_chat` or `ollama_generate`.
    pub interface: &'static str,
    /// Name of the model at the endpoint; empty if the request was refused before it was known.
    pub model: String,
    /// The user's last message, cut to 80 characters.
    pub title: String,
    /// HTTP status of the answer; `None` while there is none, and if the client disconnected
    /// before.
    pub status: Option<u16>,
    /// Message of the fault if the answer failed, before or after its status was sent.
    pub fault: Option<String>,
    /// Number of requests to the endpoint so far.
    pub rounds: u32,
    /// Number of calls in the answers of the model so far.
    pub calls: u32,
    /// Number of calls of the model that were rejected so far.
    pub rejections: u32,
    /// Size and cost of the prompts of all rounds, once the request is over.
    pub prompt: PromptCost,
    /// Facts that are known about the endpoint and this model at the end of the request.
    pub taught: Taught,
    /// Duration of the request; `None` while it is being answered.
    pub took: Option<Duration>,
    /// Size of the recording in bytes.
    pub bytes: usize,
    /// `true` if the recording was too long and its end is missing.
    pub is_cut: bool,
}

struct Requests {
    most: usize,
    most_bytes: usize,
    last: u64,
    bytes: usize,
    /// Recorded requests, the oldest first.
    entries: VecDeque<InspectedEntry>,
}

struct InspectedEntry {
    about: Inspected,
    since: Instant,
    text: Vec<u8>,
}

impl Default for Inspector {
    fn default() -> Self {
        Inspector::new()
    }
}

impl Inspector {
    /// Makes an inspector that holds at most [`INSPECTED`] requests and [`INSPECTED_BYTES`] of recordings.
    pub fn new() -> Self {
        Inspector::with_limits(INSPECTED, INSPECTED_BYTES)
    }

    /// Makes an inspector with limits for the number of requests and the bytes of their recordings;
    /// the oldest requests are dropped first. A single recording that exceeds the limit loses its
    /// end.
    pub fn with_limits(requests: usize, bytes: usize) -> Self {
        let kept = Requests { most: requests.max(1), most_bytes: bytes, last: 0, bytes: 0, entries: VecDeque::new() };
        Inspector { kept: Arc::new(Mutex::new(kept)), secrets: Secrets::default() }
    }

    /// Sets secrets that are removed from all recorded texts, in addition to the keys of clients and of the server.
    #[must_use]
    pub fn with_secrets(mut self, secrets: &Secrets) -> Self {
        self.secrets = self.secrets.and(secrets);
        self
    }

    /// Returns the facts about all recorded requests, the newest first.
    pub fn list(&self) -> Vec<Inspected> {
        self.kept().entries.iter().rev().map(|entry| entry.about.clone()).collect()
    }

    /// Returns the facts about the recorded request with this number; `None` if it is not stored.
    pub fn find(&self, id: u64) -> Option<Inspected> {
        self.kept().entry(id).map(|entry| entry.about.clone())
    }

    /// Returns the recording of a request so far, in the format that [`transcript`](toolgraft::transcript) reads;
    /// empty while nothing was sent to the endpoint. `None` if the request is not stored.
    pub fn recording(&self, id: u64) -> Option<String> {
        self.kept().entry(id).map(|entry| String::from_utf8_lossy(&entry.text).into_owned())
    }

    fn kept(&self) -> MutexGuard<'_, Requests> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request to the inspector; these secrets are removed from all its recorded texts.
    pub(crate) fn begin(&self, interface: &'static str, secrets: &Secrets) -> Watch {
        let id = self.kept().begin(interface);
        let secrets = self.secrets.and(secrets);
        Watch(Arc::new(Watched { inspector: self.clone(), id, secrets, recorder: OnceLock::new() }))
    }
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.kept();
        f.debug_struct("Inspector").field("requests", &kept.entries.len()).field("bytes", &kept.bytes).finish()
    }
}

impl Requests {
    fn begin(&mut self, interface: &'static str) -> u64 {
        self.last += 1;
        let about = Inspected {
            id: self.last,
            began: SystemTime::now(),
            interface,
            model: String::new(),
            title: String::new(),
            status: None,
            fault: None,
            rounds: 0,
            calls: 0,
            rejections: 0,
            prompt: PromptCost::default(),
            taught: Taught::default(),
            took: None,
            bytes: 0,
            is_cut: false,
        };
        self.entries.push_back(InspectedEntry { about, since: Instant::now(), text: Vec::new() });
        while self.entries.len() > self.most {
            self.forget(0);
        }
        self.last
    }

    fn entry(&mut self, id: u64) -> Option<&mut InspectedEntry> {
        self.entries.iter_mut().rev().find(|entry| entry.about.id == id)
    }

    fn forget(&mut self, at: usize) {
        if let Some(entry) = self.entries.remove(at) {
            self.bytes -= entry.text.len();
        }
    }

    /// Appends a line to the recording of a request; returns `false` if it exceeds the size limit or the request is
    /// not stored.
    fn append(&mut self, id: u64, line: &[u8]) -> bool {
        let most = self.most_bytes;
        let Some(entry) = self.entry(id) else { return false };
        if entry.text.len() + line.len() > most {
            entry.about.is_cut = true;
            return false;
        }
        entry.text.extend_from_slice(line);
        let about = &mut entry.about;
        about.bytes += line.len();
        match kind(line) {
            b"request" => about.rounds += 1,
            b"call" | b"native_call" => about.calls += 1,
            b"rejected" => about.rejections += 1,
            _ => {}
        }
        self.bytes += line.len();
        while self.bytes > most {
            // The running request keeps its own text, which fits by itself, and an entry without text frees
            // nothing.
            let oldest = self.entries.iter().position(|entry| entry.about.id != id && !entry.text.is_empty());
            let Some(oldest) = oldest else { break };
            self.forget(oldest);
        }
        true
    }
}

/// Returns the type of a line of a recording, its first member; empty if it has none.
fn kind(line: &[u8]) -> &[u8] {
    let kind = line.strip_prefix(b"{\"type\":\"").unwrap_or_default();
    kind.split(|byte| *byte == b'"').next().unwrap_or_default()
}

/// Writer through which the recorder of a request appends to the inspector.
struct Sink {
    inspector: Inspector,
    id: u64,
}

impl io::Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.inspector.kept().append(self.id, line) {
            true => Ok(line.len()),
            // The error makes the recorder drop this line and continue.
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The recording of a request in progress. The request is over when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Watch(Arc<Watched>);

struct Watched {
    inspector: Inspector,
    id: u64,
    secrets: Secrets,
    recorder: OnceLock<Recorder>,
}

impl Watch {
    /// Starts the request's recording, with this question as its title.
    pub(crate) fn record(&self, question: &str, session: Session) -> Recorder {
        let words = question.split_whitespace().collect::<Vec<_>>().join(" ");
        // Before the title is cut: the rest of a secret would not be found.
        let words = self.0.secrets.hide(&words);
        let end = words.char_indices().nth(TITLE).map_or(words.len(), |(at, _)| at);
        let title = format!("{}{}", &words[..end], if end < words.len() { "…" } else { "" });
        let model = self.0.secrets.hide(session.model.as_deref().unwrap_or_default()).into_owned();
        let session = session.with_title(Some(title.clone()).filter(|title| !title.is_empty()));
        self.change(|about| (about.title, about.model) = (title, model));
        self.recorder(&session)
    }

    fn recorder(&self, session: &Session) -> Recorder {
        let sink = || Sink { inspector: self.0.inspector.clone(), id: self.0.id };
        self.0.recorder.get_or_init(|| Recorder::with_secrets(sink(), session, self.0.secrets.clone())).clone()
    }

    /// Records the cost of the request's prompts, and the facts that are known about the endpoint at its end.
    pub(crate) fn over(&self, prompt: PromptCost, taught: Taught) {
        self.change(|about| (about.prompt, about.taught) = (prompt, taught));
    }

    /// Records the HTTP status of the answer.
    pub(crate) fn answered(&self, status: u16) {
        self.change(|about| about.status = Some(status));
    }

    /// Records a fault that is the whole answer to the request.
    pub(crate) fn refused(&self, fault: &Fault) {
        self.answered(fault.status);
        // After a request to the endpoint the recording already holds the reason.
        if self.0.inspector.find(self.0.id).is_some_and(|about| about.rounds == 0) {
            self.recorder(&Session::default()).notice("error", &fault.message);
        }
        self.failed(fault);
    }

    /// Records the fault with which the answer ends.
    pub(crate) fn failed(&self, fault: &Fault) {
        let message = self.0.secrets.hide(&fault.message).into_owned();
        self.change(|about| about.fault = Some(message));
    }

    fn change(&self, change: impl FnOnce(&mut Inspected)) {
        if let Some(entry) = self.0.inspector.kept().entry(self.0.id) {
            change(&mut entry.about);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(entry) = self.inspector.kept().entry(self.id) {
            entry.about.took = Some(entry.since.elapsed());
            entry.text.shrink_to_fit();
        }
    }
}

/// Converts the body of a request to the endpoint to the form that recordings have.
pub(crate) fn request(body: &Map<String, Value>) -> Request {
    let messages = body.get("messages").and_then(Value::as_array);
    let most = ["max_completion_tokens", "max_tokens"].iter().find_map(|field| body.get(*field)?.as_u64());
    let stop = match body.get("stop") {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let mut request = Request::new(messages.into_iter().flatten().map(message).collect());
    request.temperature = body.get("temperature").and_then(Value::as_f64);
    request.max_tokens = most.and_then(|most| u32::try_from(most).ok());
    request.stop = stop;
    request
}

/// Converts a message of Chat Completions for a recording; a part that is not text is represented by its type.
fn message(message: &Value) -> Message {
    let role = match message["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("user") => Role::User,
        Some("tool") => Role::Tool,
        _ => Role::System,
    };
    Message::new(role, content(&message["content"]))
}

fn content(content: &Value) -> String {
    let part = |part: &Value| match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part["type"].as_str().unwrap_or("part")),
    };
    match content {
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n\n"),
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

/// Returns the user's last message from a request that is passed through.
pub(crate) fn question(body: &Map<String, Value>) -> String {
    let messages = body.get("messages").and_then(Value::as_array);
    let last = messages.and_then(|list| list.iter().rev().find(|message| message["role"] == "user"));
    last.map(|message| content(&message["content"])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, size: usize) -> Vec<u8> {
        let mut line = format!("{{\"type\":\"{kind}\",\"text\":\"").into_bytes();
        line.resize(size - 1, b'x');
        line.push(b'\n');
        line
    }

    fn ids(inspector: &Inspector) -> Vec<u64> {
        inspector.list().iter().map(|about| about.id).collect()
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many_or_too_many_bytes() {
        let inspector = Inspector::with_limits(3, 300);
        let watches: Vec<Watch> = (0..4).map(|_| inspector.begin("messages", &Secrets::default())).collect();
        assert_eq!(ids(&inspector), [4, 3, 2]);
        for id in [2, 3, 4] {
            assert!(inspector.kept().append(id, &line("delta", 100)));
        }
        assert_eq!(ids(&inspector), [4, 3, 2], "at the limit all are there");
        assert!(inspector.kept().append(2, &line("delta", 100)));
        assert_eq!(ids(&inspector), [4, 2], "one that still grows is not the one that goes");
        assert!(!inspector.kept().append(3, &line("delta", 100)), "nothing is written of one that is gone");
        assert!(inspector.kept().append(4, &line("delta", 200)));
        assert_eq!((ids(&inspector), inspector.kept().bytes), (vec![4], 300));
        assert!(!inspector.kept().append(4, &line("delta", 20)) && inspector.find(4).unwrap().is_cut);
        drop(watches);
        assert!(inspector.find(4).unwrap().took.is_some());
    }

    #[test]
    fn the_lists_numbers_are_those_of_the_lines() {
        let inspector = Inspector::new();
        let _watch = inspector.begin("messages", &Secrets::default());
        for kind in ["session", "request", "delta", "call", "request", "rejected", "native_call"] {
            inspector.kept().append(1, &line(kind, 80));
        }
        let about = inspector.find(1).unwrap();
        assert_eq!((about.rounds, about.calls, about.rejections, about.bytes), (2, 2, 1, 560));
    }

    #[test]
    fn parts_that_are_no_text_stand_by_their_type() {
        let body = serde_json::json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]});
        let request = request(body.as_object().unwrap());
        assert_eq!(request.messages, [Message::user("What is this?\n\n[image_url]")]);
    }
}
