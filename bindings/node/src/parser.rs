//! The parser: chunks in, events out.

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft::Event;
use toolgraft::event::{Assembled, OwnedEvent, Span};
use toolgraft::message::DeltaKind;
use toolgraft_bindings::{MessageParser, ParserSettings};

use crate::error::{Result, Settings, thrown, written};
use crate::tools::Catalog;

/// The events of a chunk for the JavaScript half: a number if there is none (0) or a single one whose text is the
/// whole chunk, otherwise a JSON array.
///
/// The number is four times the offset of the byte after the event, plus its [`Kind`]. The event
/// begins at the end of the previous one, and belongs to the call that began last.
type Sent = Either<f64, String>;

/// An incremental parser of one message of a model.
#[napi]
pub struct Parser(MessageParser);

#[napi]
impl Parser {
    /// Creates a parser for calls of the catalog's tools, with these settings, a JSON object. Throws for an unknown
    /// setting or an invalid value.
    #[napi(constructor)]
    pub fn new(catalog: &Catalog, settings: String) -> Result<Self> {
        let settings = Settings::new(&settings)?;
        let reading = ParserSettings::new(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        Ok(Parser(MessageParser::new(reading, &catalog.0)))
    }

    /// Parses the next chunk of the answer's text, and returns the events that it completes: a number, or a JSON array.
    /// Throws after `finish`.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<Sent> {
        let mut events = Events::new(&chunk);
        self.0.push(DeltaKind::Content, &chunk, &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Parses the next chunk of a separate reasoning field, and returns the events as `push` does. Throws after
    /// `finish`.
    #[napi]
    pub fn push_reasoning(&mut self, chunk: String) -> Result<Sent> {
        let mut events = Events::new(&chunk);
        self.0.push(DeltaKind::Reasoning, &chunk, &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Finishes the message with the endpoint's finish reason, and returns the last events as `push` does. `stop` are
    /// the request's stop strings, if they are known only now.
    #[napi]
    pub fn finish(&mut self, reason: String, stop: Option<Vec<String>>) -> Result<Sent> {
        let mut events = Events::new("");
        self.0.finish(&reason, stop.as_deref(), &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Returns the parsed message as JSON, and forgets it: a second call returns an empty one. Throws before `finish`.
    #[napi]
    pub fn take_message(&mut self) -> Result<String> {
        message(self.0.take_message().map_err(thrown)?)
    }

    /// Returns the texts that looked like calls but are none, as a JSON array; empty unless the setting `keepNotCalls`
    /// is true.
    #[napi]
    pub fn not_calls(&self) -> Result<String> {
        let not_calls = self.0.not_calls().iter();
        let told = not_calls.map(|not| json!({"dialect": not.dialect.name(), "span": not.span, "reason": not.reason}));
        written(&told.collect::<Vec<Value>>())
    }

    /// Prepares the parser for another message with the same settings and tools. The current message is discarded.
    #[napi]
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Returns a new parser with the same settings and tools, at the start of a message.
    #[napi]
    pub fn fork(&self) -> Self {
        Parser(self.0.fork())
    }

    /// Parses the whole text of a message, with a separate reasoning field and a finish reason, and returns the message
    /// as JSON. The message in progress is not affected.
    #[napi]
    pub fn parse(&self, text: String, reasoning: String, reason: String) -> Result<String> {
        message(self.0.parse(&text, &reasoning, &reason))
    }
}

/// Converts a message to JSON: its texts, and each call or the reason that it must not run.
fn message(message: Assembled) -> Result<String> {
    let entries = message.entries.into_iter().map(|entry| {
        let (call, rejected) = match entry.result {
            Ok(call) => (Some(call), None),
            Err(rejected) => (None, Some(rejected)),
        };
        json!({
            "index": entry.index, "call": call, "rejected": rejected,
            "raw": entry.raw, "deltas": entry.deltas, "restated": entry.restated,
        })
    });
    written(&json!({
        "content": message.content, "reasoning": message.reasoning,
        "entries": entries.collect::<Vec<Value>>(), "answer_in_reasoning": message.answer_in_reasoning,
    }))
}

/// Kind of an event that can be sent as a number, since its range of bytes determines it.
#[derive(Clone, Copy)]
enum Kind {
    Text = 1,
    Reasoning = 2,
    ArgsDelta = 3,
}

/// The events of one chunk, before they are sent to JavaScript.
struct Events<'c> {
    chunk: &'c str,
    /// The first event, as long as it is the only one and its text is the whole chunk.
    whole: Option<(Kind, u32, Span)>,
    events: Vec<OwnedEvent>,
}

impl<'c> Events<'c> {
    fn new(chunk: &'c str) -> Self {
        Events { chunk, whole: None, events: Vec::new() }
    }

    fn add(&mut self, event: Event<'_>) {
        if self.whole.is_none() && self.events.is_empty() {
            self.whole = match &event {
                Event::Text { text, span } if self.is_whole(text) => Some((Kind::Text, 0, span.clone())),
                Event::Reasoning { text, syntax: None, span } if self.is_whole(text) => {
                    Some((Kind::Reasoning, 0, span.clone()))
                }
                Event::ArgsDelta { index, text, span } if self.is_whole(text) => {
                    Some((Kind::ArgsDelta, *index, span.clone()))
                }
                _ => None,
            };
            if self.whole.is_some() {
                return;
            }
        }
        self.unfold();
        self.events.push(event.into_owned());
    }

    /// Returns `true` if a text is the whole chunk, judged by its address, without a comparison of the bytes.
    fn is_whole(&self, text: &str) -> bool {
        // At the end of a message the chunk is empty, and so may be the text of an event.
        std::ptr::eq(text, self.chunk) && !text.is_empty()
    }

    /// Moves the first event, if it was set apart as the only one, to the list of events.
    fn unfold(&mut self) {
        let text = self.chunk;
        self.events.extend(self.whole.take().map(|(kind, index, span)| match kind {
            Kind::Text => Event::Text { text, span }.into_owned(),
            Kind::Reasoning => Event::Reasoning { text, syntax: None, span }.into_owned(),
            Kind::ArgsDelta => Event::ArgsDelta { index, text, span }.into_owned(),
        }));
    }

    fn sent(mut self) -> Result<Sent> {
        // Four times this is below 2^53, up to which a double holds every integer.
        const EXACT: u64 = 1 << 50;
        match &self.whole {
            None if self.events.is_empty() => return Ok(Either::A(0.0)),
            Some((kind, _, span)) if span.end < EXACT => {
                #[expect(clippy::cast_precision_loss, reason = "so small a number is exact")]
                return Ok(Either::A((span.end * 4 + *kind as u64) as f64));
            }
            _ => self.unfold(),
        }
        written(&self.events).map(Either::B)
    }
}
