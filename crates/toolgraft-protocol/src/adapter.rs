//! Answers requests without HTTP, for programs that send the requests to the endpoint themselves: the packages for
//! Python and Node, tests and benchmarks.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::codecs::{Chat, Shape, Writer, shape_of};
use crate::exchange::{Exchange, Step};
use crate::fault::Fault;
use crate::out::{Collected, Out};
use crate::prepared::{Cache, PREPARED_BYTES};
use crate::request::{ChatRequest, object};
use crate::settings::Settings;
use crate::store::Store;
use toolgraft::Outcome;
use toolgraft::budget::Budget;
use toolgraft::model::Request;
use toolgraft::model::endpoint::{Decoder, insert_tools};
use toolgraft::turn::KnownWays;

/// Error of an exchange: the request was refused, or the answer failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// HTTP status of the error response.
    pub status: u16,
    /// Error message for the client.
    pub message: String,
    /// Machine-readable error code, such as `invalid_json`; `None` if the error has none.
    pub code: Option<&'static str>,
    /// Path of the invalid field in the request; `None` if the error concerns no field.
    pub param: Option<String>,
    /// JSON text of the error object in the format of the client's API.
    pub body: String,
}

impl Refusal {
    fn of(shape: &dyn Shape, fault: Fault) -> Self {
        let body = shape.error(&fault).to_string();
        let Fault { status, message, code, param, .. } = fault;
        Refusal { status, message, code, param, body }
    }
}

/// A server without HTTP: its settings, and the prepared lists of tools and the store that its requests share.
pub struct Embedded {
    settings: Settings,
    cache: Cache,
    kept: Arc<Store>,
}

impl Embedded {
    /// Makes a server without HTTP, with these settings.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub fn new(settings: Settings) -> Result<Self, Refusal> {
        let budget = Budget::new("max_prepared_bytes", PREPARED_BYTES);
        let kept = Store::new(None).map_err(|fault| Refusal::of(&Chat, fault))?;
        Ok(Embedded { kept, cache: Cache::knowing(budget, KnownWays::default()), settings })
    }

    /// Starts the exchange for a request with this body to the server's route `path`. With `passes`, returns `None` if
    /// the request can go to the endpoint as it is.
    ///
    /// # Errors
    /// Fails if the request cannot be answered; the error names the field that is wrong.
    pub fn begin(&self, path: &str, body: &[u8], passes: bool) -> Result<Option<Adapter>, Refusal> {
        let shape = shape_of(true, path, |_| false);
        let begun = object(body, shape, &self.cache).and_then(|(body, tools)| self.adapter(shape, body, tools, passes));
        begun.map_err(|fault| Refusal::of(shape, fault))
    }

    fn adapter(
        &self,
        shape: &'static dyn Shape,
        body: Map<String, Value>,
        tools: Option<String>,
        passes: bool,
    ) -> Result<Option<Adapter>, Fault> {
        let kept = self.kept.of(None);
        let (request, places, mut writer) = ChatRequest::read(shape, body, tools, &self.settings, &kept)?;
        // Only the caller knows whether it can send the request itself, and only Chat Completions are in the
        // endpoint's own form.
        if passes && shape.passes_to().is_some() && request.is_plain() {
            return Ok(None);
        }
        let (model, is_stream) = (request.model.clone(), request.stream);
        if let Some(hosted) = request.hosted() {
            // No search runs here in place of the vendor's.
            Chat.hosted(&hosted, None)?;
        }
        let asked = request.ask(&self.settings, &self.cache, kept);
        let (prepared, asked) = asked.map_err(|fault| places.translate(shape, fault))?;
        let exchange = Exchange::new(prepared, asked)?;
        writer.begin(&model, exchange.progress().prompt_tokens);
        let (whole, line, text) = Default::default();
        let (answer, request, refusal) = Default::default();
        let mut adapter = Adapter { exchange, shape, writer, is_stream, whole, answer, request, line, text, refusal };
        adapter.take();
        Ok(Some(adapter))
    }
}

/// One request of a client in progress, for a caller that does the HTTP itself. The caller sends the body that
/// [`request`](Adapter::request) returns to the endpoint's `/chat/completions`, and passes the endpoint's answer to
/// the other methods. These return text for the client: its whole answer, or events of its stream, each followed by
/// an empty line.
pub struct Adapter {
    exchange: Box<Exchange>,
    shape: &'static dyn Shape,
    writer: Box<dyn Writer>,
    /// `true` if the client requested a streamed answer.
    is_stream: bool,
    /// The pieces of the answer, collected so far.
    whole: Collected,
    answer: Option<Decoder>,
    /// Body of the next request to the endpoint; `None` if there is none, or the caller has it.
    request: Option<Value>,
    /// Bytes of the endpoint's stream after its last complete line.
    line: Vec<u8>,
    /// Text for the client that no method has returned yet.
    text: String,
    refusal: Option<Refusal>,
}

impl Adapter {
    /// Starts the exchange for the body of a Chat Completions request, with a server of its own.
    ///
    /// # Errors
    /// Fails if the request cannot be answered; the error names the field that is wrong.
    pub fn new(settings: &Settings, body: Value) -> Result<Self, Refusal> {
        let server = Embedded::new(settings.clone())?;
        let begun = match body {
            Value::Object(body) => server.adapter(&Chat, body, None, false),
            _ => Err(Fault::invalid("the body must be a JSON object")),
        };
        let adapter = begun.and_then(|adapter| adapter.ok_or_else(|| Fault::internal("the request is passed through")));
        adapter.map_err(|fault| Refusal::of(&Chat, fault))
    }

    /// Returns the body of the next request to the endpoint, once; `None` if there is nothing to send. The rest of an
    /// earlier answer that still streams is discarded.
    pub fn request(&mut self) -> Option<Value> {
        self.line.clear();
        self.request.take()
    }

    /// Reads bytes of the endpoint's SSE stream, and returns the new text for the client.
    ///
    /// # Errors
    /// Fails if the answer failed and the client did not request a stream; in a stream the error is part of the text.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<String, Refusal> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(line);
            // An earlier line may have ended or cancelled the answer: the lines after it belong to no answer.
            if line.ends_with(b"\n") && self.is_streaming() {
                self.read_line();
            }
        }
        self.told()
    }

    /// Reads the text after `data:` in the endpoint's stream, the endpoint's whole answer, or its error object;
    /// returns the new text for the client.
    ///
    /// # Errors
    /// As for [`feed`](Adapter::feed).
    pub fn push(&mut self, data: &str) -> Result<String, Refusal> {
        self.read(data);
        self.told()
    }

    /// Processes the end of the endpoint's answer, and returns the new text for the client.
    ///
    /// # Errors
    /// As for [`feed`](Adapter::feed).
    pub fn end(&mut self) -> Result<String, Refusal> {
        self.read_line();
        // If there is a next request, the answer's end was in its stream, and the decoder is that of the next
        // answer.
        if self.request.is_none()
            && let Some(mut decoder) = self.answer.take()
        {
            decoder.end();
            // An event may start a new request, whose answer has a decoder of its own: `self.answer` is not set back
            // here.
            while let Some(event) = decoder.pop() {
                self.exchange.model(Some(event));
            }
            self.take();
        }
        self.told()
    }

    /// Ends the answer with an error, since the endpoint refused a request with this status and message; returns the
    /// new text for the client.
    ///
    /// # Errors
    /// As for [`feed`](Adapter::feed).
    pub fn fail(&mut self, status: u16, message: &str) -> Result<String, Refusal> {
        self.exchange.fail(Fault::upstream(status, message));
        self.take();
        self.told()
    }

    /// Returns `true` if the client requested a streamed answer.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns `true` while the adapter expects more of the endpoint's answer.
    pub fn is_streaming(&self) -> bool {
        self.request.is_none() && self.answer.is_some()
    }

    /// Returns the text of a streamed answer so far, followed by the model's refusal if there is one. Text that was
    /// reclassified as reasoning after it was sent is left out.
    pub fn content(&self) -> String {
        format!("{}{}", self.whole.text, self.whole.refusal)
    }

    /// Returns the reasoning of a streamed answer so far.
    pub fn reasoning(&self) -> &str {
        &self.whole.reasoning
    }

    /// Returns the error that the answer ended with, if it failed; in a stream its event is also part of the text for
    /// the client.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// Returns a message for the user if the answer failed or is not what was requested; else `None`.
    pub fn problem(&self) -> Option<&str> {
        self.refusal.as_ref().map(|refusal| &*refusal.message).or(self.exchange.problem.as_deref())
    }

    /// Returns the types, separated by commas, of the request's tools that were left out because only the API
    /// vendor's service can run them.
    pub fn left_out(&self) -> &str {
        &self.exchange.prepared.offered.left_out
    }

    fn read_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(data) = String::from_utf8_lossy(&line).strip_prefix("data:") {
            self.read(data);
        }
    }

    fn read(&mut self, data: &str) {
        self.answer.iter_mut().for_each(|decoder| decoder.data(data, false));
        // `take` drops the decoder when the answer is cancelled, so no further event is read from it.
        while let Some(event) = self.answer.as_mut().and_then(Decoder::pop) {
            self.exchange.model(Some(event));
            self.take();
        }
    }

    /// Returns and clears the pending text for the client. An answer that failed and is not streamed is returned as
    /// its error.
    fn told(&mut self) -> Result<String, Refusal> {
        match &self.refusal {
            Some(refusal) if !self.is_stream => Err(refusal.clone()),
            _ => Ok(std::mem::take(&mut self.text)),
        }
    }

    fn take(&mut self) {
        while let Some(step) = self.exchange.step() {
            match step {
                Step::Send(body, request) => self.ask(body, &request),
                Step::Cancel => self.answer = None,
                Step::Run(call) => {
                    let outcome = Outcome::error(format!("there is no tool {:?}", call.tool));
                    self.exchange.outcome(call.id, outcome);
                }
                Step::Out(out) => self.out(out),
            }
        }
    }

    /// Stores the body of a request for the caller. The schema of the answer is written as OpenAI's
    /// `response_format`, since the endpoint's own form is not known here.
    fn ask(&mut self, mut body: Map<String, Value>, request: &Request) {
        insert_tools(&mut body, &request.tools, &request.tool_choice);
        if let Some(schema) = request.constraint.as_ref().and_then(|constraint| constraint.schema.as_ref()) {
            let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
            body.insert("response_format".to_owned(), format);
        }
        if self.is_stream {
            body.insert("stream".to_owned(), true.into());
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
        self.answer = Some(Decoder::new("the endpoint".to_owned()).with_fields(true));
        self.request = Some(Value::Object(body));
    }

    fn out(&mut self, out: Out) {
        if let Out::Failed(fault) = &out {
            self.refusal = Some(Refusal::of(self.shape, fault.clone()));
        }
        // A failure, the only fault of a piece, is above.
        _ = self.whole.push(&out);
        match out {
            out if self.is_stream => self.writer.write(out, &mut self.text),
            Out::Finish(finish) => {
                self.text = self.writer.whole(std::mem::take(&mut self.whole).pieces(), finish).to_string();
            }
            _ => {}
        }
    }
}
