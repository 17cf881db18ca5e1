//! Output for the client, independent of its interface: pieces of an answer, and a whole one.

use serde_json::{Map, Value};

use crate::fault::Fault;
use toolgraft::event::Region;
use toolgraft::message::{FinishReason, NativeCall, Usage};

/// A piece of an answer for the client, independent of the client's API.
#[derive(Debug, Clone, PartialEq)]
pub enum Out {
    /// Fields of the endpoint's chunks that are passed through.
    Fields(Map<String, Value>),
    /// A piece of the reasoning's text.
    Reasoning(String),
    /// A piece of the answer's text.
    Text(String),
    /// The model's text with which it refuses to answer.
    Refusal(String),
    /// Correction of text that was sent already: the last bytes of the other region (content or reasoning), as many
    /// as the number says, belong to this region.
    Reclassified(Region, usize),
    /// A whole call for the client.
    Call(NativeCall),
    /// The end of the answer.
    Finish(Finish),
    /// The fault with which the answer ends.
    Failed(Fault),
}

/// Returns the name of the model that answers from fields of the endpoint's chunks, if they have it.
pub(crate) fn model_of(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("model").and_then(Value::as_str)
}

/// The end of an answer: its finish reason and its token usage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finish {
    /// Finish reason of the answer.
    pub reason: FinishReason,
    /// Token usage of the round whose answer is delivered, by which clients measure their context.
    pub usage: Usage,
    /// Token usage summed over all rounds of the answer.
    pub total: Usage,
    /// Number of requests to the endpoint for the answer.
    pub rounds: u32,
    /// `true` if the model refused to answer.
    pub refused: bool,
}

/// An answer that is collected from its pieces.
#[derive(Default)]
pub struct Collected {
    pub(crate) fields: Map<String, Value>,
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) refusal: String,
    pub(crate) calls: Vec<NativeCall>,
    /// The end of the answer; `None` until its last piece was added.
    pub finish: Option<Finish>,
}

impl Collected {
    /// Returns the collected answer as the pieces of a stream, without its end.
    pub fn pieces(self) -> Vec<Out> {
        let Collected { fields, reasoning, text, refusal, calls, .. } = self;
        let mut pieces = vec![Out::Fields(fields), Out::Reasoning(reasoning), Out::Text(text), Out::Refusal(refusal)];
        pieces.retain(
            |out| !matches!(out, Out::Reasoning(text) | Out::Text(text) | Out::Refusal(text) if text.is_empty()),
        );
        pieces.extend(calls.into_iter().map(Out::Call));
        pieces
    }

    /// Adds the next piece to the collected answer.
    ///
    /// # Errors
    /// Fails if the piece is a failure.
    pub fn push(&mut self, out: &Out) -> Result<(), Fault> {
        match out {
            Out::Fields(fields) => self.fields.extend(fields.clone()),
            Out::Reasoning(text) => self.reasoning.push_str(text),
            Out::Text(text) => self.text.push_str(text),
            Out::Refusal(text) => self.refusal.push_str(text),
            Out::Reclassified(Region::Content, bytes) => {
                self.reasoning.truncate(self.reasoning.len().saturating_sub(*bytes));
            }
            Out::Reclassified(_, bytes) => {
                let moved = self.text.split_off(self.text.len().saturating_sub(*bytes));
                self.reasoning.push_str(&moved);
            }
            Out::Call(call) => self.calls.push(call.clone()),
            Out::Finish(finish) => self.finish = Some(finish.clone()),
            Out::Failed(fault) => return Err(fault.clone()),
        }
        Ok(())
    }
}
