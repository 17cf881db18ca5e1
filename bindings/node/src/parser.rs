//! The parser: chunks in, events out.

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft::Event;
use toolgraft::event::{Assembled, OwnedEvent, Span};
use toolgraft_bindings::{Reader, Reading};

use crate::error::{Result, Settings, thrown, written};
use crate::tools::Catalog;

/// Events for the other half: a number where there is none (0) or one whose text is the whole
/// chunk, else a JSON array.
///
/// The number is four times the byte behind the event and its [`Kind`]. The event begins where the one
/// before it ended, and is of the call that began last.
type Sent = Either<f64, String>;

/// An incremental parser of one message of a model.
#[napi]
pub struct Parser(Reader);

#[napi]
impl Parser {
    /// Reads with settings in JSON.
    #[napi(constructor)]
    pub fn new(catalog: &Catalog, settings: String) -> Result<Self> {
        let settings = Settings::new(&settings)?;
        let reading = Reading::new(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        Ok(Parser(Reader::new(reading, &catalog.0)))
    }

    /// Takes the next piece of the answer's text.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<Sent> {
        let mut events = Events::new(&chunk);
        self.0.push(&chunk, &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Takes the next piece of a separate reasoning field.
    #[napi]
    pub fn push_reasoning(&mut self, chunk: String) -> Result<Sent> {
        let mut events = Events::new(&chunk);
        self.0.push_reasoning(&chunk, &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Ends the message.
    #[napi]
    pub fn finish(&mut self, reason: String, stop: Option<Vec<String>>) -> Result<Sent> {
        let mut events = Events::new("");
        self.0.finish(&reason, stop.as_deref(), &mut |event| events.add(event)).map_err(thrown)?;
        events.sent()
    }

    /// Takes what the message says.
    #[napi]
    pub fn take_message(&mut self) -> Result<String> {
        message(self.0.take_message().map_err(thrown)?)
    }

    /// What looked like a call and is none.
    #[napi]
    pub fn not_calls(&self) -> Result<String> {
        let not_calls = self.0.not_calls().iter();
        let told = not_calls.map(|not| json!({"dialect": not.dialect.name(), "span": not.span, "reason": not.reason}));
        written(&told.collect::<Vec<Value>>())
    }

    /// Begins another message.
    #[napi]
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// A further parser with the same settings.
    #[napi]
    pub fn fork(&self) -> Self {
        Parser(self.0.fork())
    }

    /// What a whole message says.
    #[napi]
    pub fn parse(&self, text: String, reasoning: String, reason: String) -> Result<String> {
        message(self.0.parse(&text, &reasoning, &reason))
    }
}

/// A message in JSON: its texts, and of each call what it is or why it must not run.
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

/// What an event is that needs no more than its bytes.
#[derive(Clone, Copy)]
enum Kind {
    Text = 1,
    Reasoning = 2,
    ArgsDelta = 3,
}

/// Events of one chunk.
struct Events<'c> {
    chunk: &'c str,
    /// The first event, where its text is the whole chunk.
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

    /// Whether a text is the chunk in place, so that it need not be compared.
    fn is_whole(&self, text: &str) -> bool {
        std::ptr::eq(text, self.chunk) && !text.is_empty()
    }

    /// Has the first event stand among the others.
    fn unfold(&mut self) {
        let text = self.chunk;
        self.events.extend(self.whole.take().map(|(kind, index, span)| match kind {
            Kind::Text => Event::Text { text, span }.into_owned(),
            Kind::Reasoning => Event::Reasoning { text, syntax: None, span }.into_owned(),
            Kind::ArgsDelta => Event::ArgsDelta { index, text, span }.into_owned(),
        }));
    }

    fn sent(mut self) -> Result<Sent> {
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
