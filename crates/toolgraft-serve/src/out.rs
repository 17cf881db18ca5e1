//! What a client is told, in no client's shape: the pieces of an answer, and a whole one.

use serde_json::{Map, Value};

use super::fault::Fault;
use toolgraft::event::Region;
use toolgraft::message::{FinishReason, NativeCall, Usage};

/// A piece of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Out {
    /// Fields of the endpoint's chunks that pass through.
    Fields(Map<String, Value>),
    /// Text of the reasoning.
    Reasoning(String),
    /// Text of the answer.
    Text(String),
    /// Why there is none, in the model's words.
    Refusal(String),
    /// The last so many bytes of the other kind belong here after all. A stream
    /// cannot take them back.
    Reclassified(Region, usize),
    /// A whole call for the client.
    Call(NativeCall),
    /// The end.
    Finish(Finish),
    /// The end of what failed.
    Failed(Fault),
}

/// The model that answers, by the endpoint's own word.
pub(super) fn model_of(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("model").and_then(Value::as_str)
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Finish {
    pub(super) reason: FinishReason,
    /// Of the round whose answer is delivered: what a client's context holds.
    pub(super) usage: Usage,
    /// Sum over the rounds.
    pub(super) total: Usage,
    /// Requests that were sent to the endpoint.
    pub(super) rounds: u32,
    /// The model refused to answer.
    pub(super) refused: bool,
}

/// A whole answer.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) fields: Map<String, Value>,
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) calls: Vec<NativeCall>,
    pub(super) finish: Option<Finish>,
}

impl Collected {
    /// What it says in the pieces of a stream, but for the end.
    pub(super) fn pieces(self) -> impl Iterator<Item = Out> {
        let Collected { fields, reasoning, text, refusal, calls, .. } = self;
        let said = [Out::Reasoning(reasoning), Out::Text(text), Out::Refusal(refusal)];
        let is_said =
            |out: &Out| !matches!(out, Out::Reasoning(text) | Out::Text(text) | Out::Refusal(text) if text.is_empty());
        [Out::Fields(fields)]
            .into_iter()
            .chain(said.into_iter().filter(is_said))
            .chain(calls.into_iter().map(Out::Call))
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// The answer failed.
    pub(super) fn push(&mut self, out: Out) -> Result<(), Fault> {
        match out {
            Out::Fields(fields) => self.fields.extend(fields),
            Out::Reasoning(text) => self.reasoning.push_str(&text),
            Out::Text(text) => self.text.push_str(&text),
            Out::Refusal(text) => self.refusal.push_str(&text),
            Out::Reclassified(Region::Content, bytes) => {
                self.reasoning.truncate(self.reasoning.len().saturating_sub(bytes));
            }
            Out::Reclassified(_, bytes) => {
                let moved = self.text.split_off(self.text.len().saturating_sub(bytes));
                self.reasoning.push_str(&moved);
            }
            Out::Call(call) => self.calls.push(call),
            Out::Finish(finish) => self.finish = Some(finish),
            Out::Failed(fault) => return Err(fault),
        }
        Ok(())
    }
}
