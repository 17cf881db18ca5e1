//! One request of a client with tools to a model without tool calling.

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft_bindings::{AnswerPiece, TEXT};

use crate::error::{Result, Settings, read, thrown, written};
use crate::tools::Catalog;

/// The pieces for the client: none (0), the chunk itself as text (1) or reasoning (2), or a JSON
/// array of objects.
type Sent = Either<u32, String>;

fn sent(chunk: &str, told: &[AnswerPiece]) -> Result<Sent> {
    match told {
        [] => Ok(Either::A(0)),
        [(kind, text)] if text == chunk => Ok(Either::A(if *kind == TEXT { 1 } else { 2 })),
        _ => {
            let told = told.iter().map(|(kind, text)| json!({"type": kind, "text": text}));
            written(&told.collect::<Vec<Value>>()).map(Either::B)
        }
    }
}

/// A model without tool calling, used as if it had it.
#[napi]
pub struct Turn(toolgraft_bindings::Turn);

#[napi]
impl Turn {
    /// Creates a turn from messages in the form of Chat Completions. All parameters but the number
    /// are JSON.
    #[napi(constructor)]
    pub fn new(
        catalog: &Catalog,
        messages: String,
        output: Option<String>,
        max_corrections: Option<u32>,
        settings: String,
    ) -> Result<Self> {
        let settings = Settings::new(&settings)?;
        let output = output.map(|schema| read(&schema)).transpose()?;
        toolgraft_bindings::Turn::new(&catalog.0, read(&messages)?, output, max_corrections, &settings.map)
            .map(Turn)
            .map_err(|mistake| settings.thrown(mistake))
    }

    /// Returns the messages to send now, as JSON.
    #[napi]
    pub fn request(&mut self) -> Result<Option<String>> {
        self.0.request().map(|messages| written(&messages)).transpose()
    }

    /// Takes the next chunk of the answer's text.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<Sent> {
        sent(&chunk, &self.0.push(&chunk).map_err(thrown)?)
    }

    /// Takes the next chunk of a separate reasoning field.
    #[napi]
    pub fn push_reasoning(&mut self, chunk: String) -> Result<Sent> {
        sent(&chunk, &self.0.push_reasoning(&chunk).map_err(thrown)?)
    }

    /// Finishes the answer.
    #[napi]
    pub fn finish(&mut self, reason: String) -> Result<Sent> {
        sent("", &self.0.finish(&reason).map_err(thrown)?)
    }

    /// Returns `true` while more of the model's answer is wanted.
    #[napi]
    pub fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Returns the calls for the client to run, as JSON.
    #[napi]
    pub fn calls(&self) -> Result<String> {
        let calls = self.0.calls().iter();
        let calls = calls.map(|call| json!({"id": call.id, "tool": call.tool, "arguments": call.arguments}));
        written(&calls.collect::<Vec<Value>>())
    }

    /// Returns the text of the answer so far.
    #[napi]
    pub fn content(&self) -> String {
        self.0.content().to_owned()
    }

    /// Returns the model's reasoning so far.
    #[napi]
    pub fn reasoning(&self) -> String {
        self.0.reasoning().to_owned()
    }

    /// Returns the finish reason of Chat Completions.
    #[napi]
    pub fn finish_reason(&self) -> Option<String> {
        self.0.finish_reason().map(str::to_owned)
    }

    /// Returns a message about an answer that is not what was requested.
    #[napi]
    pub fn problem(&self) -> Option<String> {
        self.0.problem().map(str::to_owned)
    }
}
