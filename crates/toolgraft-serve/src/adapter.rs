//! Chat Completions from chunk to chunk, without HTTP: for tests and benchmarks, which depend on the feature
//! `testing`. It is no part of the public interface.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::chat::ChatStream;
use super::config::Config;
use super::exchange::{Exchange, Sent, Step};
use super::fault::Fault;
use super::kept::Store;
use super::out::Out;
use super::prepared::Cache;
use super::request::ChatRequest;
use super::shape::Writer;
use toolgraft::Outcome;
use toolgraft::model::endpoint::Decoder;
use toolgraft::model::endpoint::insert_tools;
use toolgraft::turn::KnownWays;
use toolgraft::wire::openai::Chunk;

/// A request is refused, or its answer failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// What happened.
    pub message: String,
    /// A word for programs.
    pub code: Option<&'static str>,
    /// The field of the request that is wrong.
    pub param: Option<String>,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let Fault { status, message, code, param, .. } = fault;
        Refusal { status, message, code, param }
    }
}

/// A piece of what an [`Adapter`] has to say.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Piece {
    /// Send this body to the endpoint's `/chat/completions`, and [`push`](Adapter::push) the
    /// chunks of its answer. An earlier answer that still streams is cancelled.
    Request(Value),
    /// A chunk for the client.
    Chunk(Chunk),
    /// The answer failed; nothing follows.
    Failed(Refusal),
}

/// One request with tools: a body in, bodies for the endpoint and chunks for the client out.
pub struct Adapter {
    exchange: Box<Exchange>,
    stream: ChatStream,
    answer: Option<Decoder>,
    chunks: VecDeque<Piece>,
}

impl Adapter {
    /// Takes the body of a request.
    ///
    /// # Errors
    /// The request cannot be answered so; what is wrong, and where.
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

    /// Takes a chunk of the endpoint's answer, a whole completion, or its error object.
    pub fn push(&mut self, chunk: Value) {
        if let Some(mut decoder) = self.answer.take() {
            decoder.value(chunk, false);
            self.answer = Some(decoder);
            self.read();
        }
    }

    /// Takes a chunk as it stands behind `data:` in a stream of the endpoint's: JSON text, or
    /// `[DONE]`. Costs less than [`push`](Adapter::push) does, since chunks that differ in
    /// their text alone need not be read whole.
    pub fn push_data(&mut self, data: &str) {
        if let Some(mut decoder) = self.answer.take() {
            decoder.data(data, false);
            self.answer = Some(decoder);
            self.read();
        }
    }

    /// The endpoint's answer is over.
    pub fn end(&mut self) {
        if let Some(mut decoder) = self.answer.take() {
            decoder.end();
            // What comes of it may be a new request, with an answer of its own.
            while let Some(event) = decoder.pop() {
                self.exchange.model(Some(event));
            }
            self.take();
        }
    }

    fn read(&mut self) {
        // An answer that is cancelled says nothing more.
        while let Some(event) = self.answer.as_mut().and_then(Decoder::pop) {
            self.exchange.model(Some(event));
            self.take();
        }
    }

    /// Sends a request; its structure in OpenAI's form, since the endpoint's is not known here.
    fn ask(&mut self, sent: Sent) {
        let Sent { mut body, constraint, tools, tool_choice, .. } = sent;
        insert_tools(&mut body, &tools, &tool_choice);
        if let Some(schema) = constraint.as_ref().and_then(|constraint| constraint.schema.as_ref()) {
            let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
            body.insert("response_format".to_owned(), format);
        }
        self.answer = Some(Decoder::new("the endpoint".to_owned()).with_fields(true));
        self.chunks.push_back(Piece::Request(streamed(body)));
    }

    /// The next thing to send, to the endpoint or to the client; `None` until more is pushed.
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
                Step::Out(out) => self.chunks.extend(self.stream.chunks(out).into_iter().map(Piece::Chunk)),
            }
        }
    }
}

/// The body as the client of models sends it.
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
