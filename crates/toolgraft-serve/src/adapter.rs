//! Reads and writes Chat Completions chunks without HTTP, for tests and benchmarks that enable the
//! feature `testing`. Not part of the public interface.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::chat::ChatStream;
use super::config::Config;
use super::exchange::{Exchange, ModelRequest, Step};
use super::fault::Fault;
use super::out::Out;
use super::prepared::Cache;
use super::request::ChatRequest;
use super::shape::Writer;
use super::store::Store;
use toolgraft::Outcome;
use toolgraft::model::endpoint::Decoder;
use toolgraft::model::endpoint::insert_tools;
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
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let Fault { status, message, code, param, .. } = fault;
        Refusal { status, message, code, param }
    }
}

/// One output of an [`Adapter`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Send this body to the endpoint's `/chat/completions`, and [`push`](Adapter::push) the
    /// chunks of its answer. An earlier answer that still streams is cancelled.
    Request(Value),
    /// Text of the client's stream: events, each with an empty line after it.
    Text(String),
    /// The answer failed with this error; nothing follows.
    Failed(Refusal),
}

/// Processes one request with tools: takes its body and the endpoint's chunks, returns request
/// bodies for the endpoint and chunks for the client.
pub struct Adapter {
    exchange: Box<Exchange>,
    stream: ChatStream,
    answer: Option<Decoder>,
    chunks: VecDeque<Piece>,
}

impl Adapter {
    /// Starts the exchange for the body of a Chat Completions request.
    ///
    /// # Errors
    /// Fails if the request cannot be answered; the error names the field that is wrong.
    pub fn new(config: &Config, body: Value) -> Result<Self, Refusal> {
        let Value::Object(body) = body else { return Err(Fault::invalid("the body must be a JSON object").into()) };
        let mut stream = ChatStream::of(&body)?;
        let request = ChatRequest::read(body, config)?;
        stream.begin(&request.model, 0);
        let kept = Store::new(config.instance_key.as_deref()).map_err(|error| Fault::invalid(error.to_string()))?;
        let cache = Cache::knowing(config.budgets.max_prepared_bytes.clone(), KnownWays::default());
        let (prepared, asked) = request.ask(config, &cache, kept.of(None))?;
        let exchange = Exchange::new(prepared, asked)?;
        Ok(Adapter { exchange, stream, answer: None, chunks: VecDeque::new() })
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
    fn ask(&mut self, sent: ModelRequest) {
        let ModelRequest { mut body, constraint, tools, tool_choice, .. } = sent;
        insert_tools(&mut body, &tools, &tool_choice);
        if let Some(schema) = constraint.as_ref().and_then(|constraint| constraint.schema.as_ref()) {
            let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
            body.insert("response_format".to_owned(), format);
        }
        self.answer = Some(Decoder::new("the endpoint".to_owned()).with_fields(true));
        self.chunks.push_back(Piece::Request(streamed(body)));
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
                Step::Send(sent) => self.ask(sent),
                Step::Cancel => self.answer = None,
                Step::Run(call) => {
                    let outcome = Outcome::error(format!("there is no tool {:?}", call.tool));
                    self.exchange.outcome(call.id, outcome);
                }
                Step::Out(Out::Failed(fault)) => self.chunks.push_back(Piece::Failed(fault.into())),
                Step::Out(out) => {
                    let mut text = String::new();
                    self.stream.write(out, &mut text);
                    self.chunks.extend(Some(text).filter(|text| !text.is_empty()).map(Piece::Text));
                }
            }
        }
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
