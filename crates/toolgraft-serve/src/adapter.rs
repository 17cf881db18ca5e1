//! Answers requests without HTTP, for programs that send the requests to the endpoint themselves: the package for
//! Python, tests and benchmarks. Not part of the public interface.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::chat::Chat;
use super::config::Config;
use super::exchange::{Exchange, Step};
use super::fault::Fault;
use super::http::shape_of;
use super::out::{Collected, Out};
use super::prepared::Cache;
use super::request::{ChatRequest, object};
use super::shape::{Shape, Writer};
use super::store::Store;
use toolgraft::Outcome;
use toolgraft::model::{ClientError, Request};
use toolgraft::model::endpoint::{Decoder, insert_tools};
use toolgraft::turn::KnownWays;

/// A request that was refused, or an answer that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Text that says what happened.
    pub message: String,
    /// Error code for programs.
    pub code: Option<&'static str>,
    /// Field of the request that is wrong, if one is.
    pub param: Option<String>,
    /// The error object in the form of the client's interface, or its event in a stream that has begun.
    pub body: String,
}

impl Refusal {
    fn new(fault: Fault, body: String) -> Self {
        let Fault { status, message, code, param, .. } = fault;
        Refusal { status, message, code, param, body }
    }

    fn of(shape: &dyn Shape, fault: Fault) -> Self {
        let body = shape.error(&fault).to_string();
        Refusal::new(fault, body)
    }
}

/// One output of an [`Adapter`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Send this body to the endpoint's `/chat/completions`, and [`push`](Adapter::push) the
    /// chunks of its answer. An earlier answer that still streams is cancelled.
    Request(Value),
    /// Text for the client: its whole answer, or events of its stream, each with an empty line after it.
    Text(String),
    /// The answer failed with this error; nothing follows.
    Failed(Refusal),
}

/// A server without HTTP: the settings, the prepared lists of tools and the store that its requests share.
pub struct Embedded {
    config: Config,
    cache: Cache,
    kept: Arc<Store>,
}

impl Embedded {
    /// Makes a server with this configuration, whose URL is not used.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub fn new(config: Config) -> Result<Self, ClientError> {
        let cache = Cache::knowing(config.budgets.max_prepared_bytes.clone(), KnownWays::default());
        Ok(Embedded { kept: Store::new(config.instance_key.as_deref())?, cache, config })
    }

    /// Starts the exchange for a request with this body to the server's route `path`. With `passes`, returns `None` if
    /// the request can go to the endpoint as it is.
    ///
    /// # Errors
    /// Fails if the request cannot be answered; the error names the field that is wrong.
    pub fn begin(&self, path: &str, body: &[u8], passes: bool) -> Result<Option<Adapter>, Refusal> {
        let shape = shape_of(&Method::POST, path);
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
        let (request, places, mut writer) = ChatRequest::read(shape, body, tools, &self.config, &kept)?;
        if passes && shape.passes_to().is_some() && request.is_plain() {
            return Ok(None);
        }
        let (model, is_stream) = (request.model.clone(), request.stream);
        if let Some(hosted) = request.hosted() {
            // No search runs here in place of the vendor's.
            Chat.hosted(&hosted, None)?;
        }
        let asked = request.ask(&self.config, &self.cache, kept);
        let (prepared, asked) = asked.map_err(|fault| places.translate(shape, fault))?;
        let exchange = Exchange::new(prepared, asked)?;
        writer.begin(&model, exchange.progress().prompt_tokens);
        let (whole, chunks) = (Collected::default(), VecDeque::new());
        Ok(Some(Adapter { exchange, shape, writer, is_stream, whole, answer: None, chunks }))
    }
}

/// Processes one request with tools: takes the endpoint's chunks, returns request bodies for the endpoint and the
/// answer for the client.
pub struct Adapter {
    exchange: Box<Exchange>,
    shape: &'static dyn Shape,
    writer: Box<dyn Writer>,
    /// `true` if the client gets a stream.
    is_stream: bool,
    /// The answer so far for a client that gets no stream.
    whole: Collected,
    answer: Option<Decoder>,
    chunks: VecDeque<Piece>,
}

impl Adapter {
    /// Starts the exchange for the body of a Chat Completions request.
    ///
    /// # Errors
    /// Fails if the request cannot be answered; the error names the field that is wrong.
    pub fn new(config: &Config, body: Value) -> Result<Self, Refusal> {
        let begun = match body {
            Value::Object(body) => Embedded::new(config.clone())
                .map_err(|error| Fault::internal(error.to_string()))
                .and_then(|server| server.adapter(&Chat, body, None, false)),
            _ => Err(Fault::invalid("the body must be a JSON object")),
        };
        let adapter = begun.and_then(|adapter| adapter.ok_or_else(|| Fault::internal("the request is passed through")));
        adapter.map_err(|fault| Refusal::of(&Chat, fault))
    }

    /// Takes one answer of the endpoint: a chunk, a whole completion or an error object.
    pub fn push(&mut self, chunk: Value) {
        self.read(|decoder| decoder.value(chunk, false));
    }

    /// Takes the text after `data:` in the endpoint's stream: JSON text, or `[DONE]`. Cheaper than
    /// [`push`](Adapter::push), since chunks that differ only in their text are not parsed
    /// completely.
    pub fn push_data(&mut self, data: &str) {
        self.read(|decoder| decoder.data(data, false));
    }

    /// Signals that the endpoint's answer has ended.
    pub fn end(&mut self) {
        if let Some(mut decoder) = self.answer.take() {
            decoder.end();
            // An event may start a new request, whose answer has a decoder of its own:
            // `self.answer` is not set back here.
            while let Some(event) = decoder.pop() {
                self.exchange.model(Some(event));
            }
            self.take();
        }
    }

    /// Ends the answer because the endpoint refused a request.
    pub fn fail(&mut self, status: u16, message: &str) {
        self.exchange.fail(Fault::upstream(status, message));
        self.take();
    }

    /// Returns `true` if the client gets a stream.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns `true` while more of the endpoint's answer is wanted.
    pub fn is_streaming(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns the types of tools that are left out because only the client's own service can run them.
    pub fn left_out(&self) -> &str {
        &self.exchange.prepared.offered.left_out
    }

    fn read(&mut self, decode: impl FnOnce(&mut Decoder)) {
        self.answer.as_mut().map(decode);
        // `take` drops the decoder when the answer is cancelled, so no further event is read from
        // it.
        while let Some(event) = self.answer.as_mut().and_then(Decoder::pop) {
            self.exchange.model(Some(event));
            self.take();
        }
    }

    /// Queues a request. Its structure is written in OpenAI's form, since the endpoint's own form
    /// is not known here.
    fn ask(&mut self, mut body: Map<String, Value>, request: &Request) {
        insert_tools(&mut body, &request.tools, &request.tool_choice);
        if let Some(schema) = request.constraint.as_ref().and_then(|constraint| constraint.schema.as_ref()) {
            let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
            body.insert("response_format".to_owned(), format);
        }
        self.answer = Some(Decoder::new("the endpoint".to_owned()).with_fields(true));
        self.chunks.push_back(Piece::Request(if self.is_stream { streamed(body) } else { Value::Object(body) }));
    }

    /// Returns the next output, for the endpoint or for the client; `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: more may come after `None`")]
    pub fn next(&mut self) -> Option<Piece> {
        self.take();
        self.chunks.pop_front()
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

    fn out(&mut self, out: Out) {
        let mut text = String::new();
        match out {
            Out::Failed(fault) if self.is_stream => {
                self.writer.write(Out::Failed(fault.clone()), &mut text);
                return self.chunks.push_back(Piece::Failed(Refusal::new(fault, text)));
            }
            Out::Failed(fault) => {
                return self.chunks.push_back(Piece::Failed(Refusal::of(self.shape, fault)));
            }
            out if self.is_stream => self.writer.write(out, &mut text),
            Out::Finish(finish) => {
                text = self.writer.whole(std::mem::take(&mut self.whole).pieces(), finish).to_string();
            }
            // A failure, the only fault of a piece, is above.
            out => drop(self.whole.push(out)),
        }
        self.chunks.extend(Some(text).filter(|text| !text.is_empty()).map(Piece::Text));
    }
}

/// Adds the streaming fields to the body, as the model client does.
fn streamed(mut body: Map<String, Value>) -> Value {
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    Value::Object(body)
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Adapter").field("over", &self.exchange.is_over()).finish_non_exhaustive()
    }
}
