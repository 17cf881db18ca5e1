//! One request of a client with tools, to a model that has none.

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft_bindings::{Told, ToldKind};

use crate::error::{Result, Settings, read, thrown, written};
use crate::tools::Catalog;

/// What a client is told: nothing (0), the chunk itself as text (1) or reasoning (2), or a JSON
/// array of objects.
type Sent = Either<u32, String>;

fn sent(chunk: &str, told: &[Told]) -> Result<Sent> {
    match told {
        [] => Ok(Either::A(0)),
        [(kind, text)] if text == chunk => Ok(Either::A(match kind {
            ToldKind::Text => 1,
            ToldKind::Reasoning => 2,
        })),
        _ => {
            let told = told.iter().map(|(kind, text)| json!({"type": kind.as_str(), "text": text}));
            written(&told.collect::<Vec<Value>>()).map(Either::B)
        }
    }
}

/// A model without tools, asked as if it had some.
#[napi]
pub struct Turn(toolgraft_bindings::Turn);

#[napi]
impl Turn {
    /// A turn of these messages, in the form of Chat Completions; all but the number is JSON.
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

    /// Takes the messages that are to be sent now, in JSON.
    #[napi]
    pub fn request(&mut self) -> Result<Option<String>> {
        self.0.request().map(|messages| written(&messages)).transpose()
    }

    /// Takes the next piece of the answer's text.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<Sent> {
        sent(&chunk, &self.0.push(&chunk).map_err(thrown)?)
    }

    /// Takes the next piece of a separate reasoning field.
    #[napi]
    pub fn push_reasoning(&mut self, chunk: String) -> Result<Sent> {
        sent(&chunk, &self.0.push_reasoning(&chunk).map_err(thrown)?)
    }

    /// Ends the answer.
    #[napi]
    pub fn finish(&mut self, reason: String) -> Result<Sent> {
        sent("", &self.0.finish(&reason).map_err(thrown)?)
    }

    /// Whether more of the model's answer is wanted.
    #[napi]
    pub fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Calls for the client to run, in JSON.
    #[napi]
    pub fn calls(&self) -> Result<String> {
        let calls = self.0.calls().iter();
        let calls = calls.map(|call| json!({"id": call.id, "tool": call.tool, "arguments": call.arguments}));
        written(&calls.collect::<Vec<Value>>())
    }

    /// What the answer says so far.
    #[napi]
    pub fn content(&self) -> String {
        self.0.content().to_owned()
    }

    /// What the model thought so far.
    #[napi]
    pub fn reasoning(&self) -> String {
        self.0.reasoning().to_owned()
    }

    /// Why the answer ended, in the words of Chat Completions.
    #[napi]
    pub fn finish_reason(&self) -> Option<String> {
        self.0.finish_reason().map(str::to_owned)
    }

    /// What is wrong with the answer.
    #[napi]
    pub fn problem(&self) -> Option<String> {
        self.0.problem()
    }
}
