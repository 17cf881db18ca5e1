//! A message that is over: what of it the history keeps.

use std::collections::HashMap;

use crate::assemble::Entry;
use crate::call::RejectedKind;
use crate::conversation::{Assistant, Part, Placed};
use crate::event::{MarkerKind, Region};
use crate::message::NativeCall;

/// A message that is over.
pub(in crate::turn) struct Message {
    pub(super) pieces: Vec<Piece>,
    /// Native calls among the entries, by index.
    pub(super) natives: HashMap<u32, NativeCall>,
    /// Its calls and rejected calls.
    pub(in crate::turn) entries: Vec<Entry>,
    /// Indices of the calls that were shown to the user.
    pub(in crate::turn) shown: Vec<u32>,
    /// It was taken for reasoning, and no tag of it came.
    pub(super) untagged: bool,
}

/// A piece of a message, in stream order.
#[derive(Debug)]
pub(super) enum Piece {
    Text(Region, String),
    Marker(MarkerKind, String),
    /// Syntax around a draft, a part of the reasoning.
    Syntax(MarkerKind, String),
    Entry(u32, Region),
}

impl Message {
    /// Drops what stands behind the last call that `is_call` names: text after a
    /// call never enters the history.
    pub(in crate::turn) fn cut_after(&mut self, is_call: impl Fn(&Entry) -> bool) {
        let call = |piece: &Piece| match piece {
            Piece::Entry(index, _) => self.entries.iter().any(|e| e.index == *index && is_call(e)),
            _ => false,
        };
        let Some(last) = self.pieces.iter().rposition(call) else { return };
        let own = self.pieces[last + 1..].iter().take_while(|piece| match piece {
            Piece::Marker(kind, _) => matches!(kind, MarkerKind::Fence | MarkerKind::Wrapper | MarkerKind::Token),
            Piece::Text(_, text) => text.trim().is_empty(),
            Piece::Entry(..) | Piece::Syntax(..) => false,
        });
        let end = last + 1 + own.count();
        self.pieces.truncate(end);
        // White space is kept only in front of a marker: how much of it came
        // before the cut depends on the stream's chunks.
        while let Some(Piece::Text(..)) = self.pieces.last() {
            self.pieces.pop();
        }
    }

    /// Whether the message says nothing to the user.
    pub(in crate::turn) fn is_blank(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Text(Region::Content, text) => text.trim().is_empty(),
            Piece::Entry(index, region) => !self.entries.iter().any(|e| e.index == *index && is_shown(e, *region)),
            _ => true,
        })
    }

    /// What was said, calls included, and what was thought.
    pub(in crate::turn) fn spoken(&self) -> (String, String) {
        let (mut answer, mut reasoning) = (String::new(), String::new());
        for piece in &self.pieces {
            let (region, text) = match piece {
                Piece::Text(region, text) => (*region, text),
                Piece::Marker(_, text) => (Region::Content, text),
                Piece::Syntax(_, text) => (Region::Reasoning, text),
                Piece::Entry(index, region) => match self.entries.iter().find(|e| e.index == *index) {
                    Some(entry) => (*region, &entry.raw),
                    None => continue,
                },
            };
            match region {
                Region::Content => answer.push_str(text),
                Region::Reasoning => reasoning.push_str(text),
            }
        }
        (answer, reasoning)
    }

    /// The message for the history. `place` gives each entry its id, or says
    /// whether the model is told about it.
    pub(in crate::turn) fn into_assistant(
        self,
        mut place: impl FnMut(&Entry, Option<&NativeCall>) -> Place,
    ) -> Assistant {
        let mut natives = self.natives;
        let mut assistant = Assistant::default();
        let mut entries = self.entries.into_iter().peekable();
        for piece in self.pieces {
            match piece {
                Piece::Text(Region::Content, text) => assistant.parts.push(Part::Text { text }),
                Piece::Text(Region::Reasoning, text) | Piece::Syntax(_, text) => assistant.reasoning.push_str(&text),
                Piece::Marker(kind, text) => assistant.parts.push(Part::Marker { kind, text }),
                Piece::Entry(index, region) => {
                    let Some(entry) = entries.next_if(|e| e.index == index) else { continue };
                    let native = natives.remove(&entry.index);
                    let place = place(&entry, native.as_ref());
                    push_entry(&mut assistant, entry, (region, self.untagged), place, native);
                }
            }
        }
        assistant
    }
}

/// Where an entry goes in the history.
pub(in crate::turn) enum Place {
    /// A call with this id.
    Call(String),
    /// A rejected call, and whether the model is told about it.
    Rejected(bool),
}

fn push_entry(
    assistant: &mut Assistant,
    entry: Entry,
    (region, untagged): (Region, bool),
    place: Place,
    native: Option<NativeCall>,
) {
    let Entry { result, raw, promoted, .. } = entry;
    match (result, place) {
        (Ok(call), Place::Call(id)) => {
            let untagged = promoted && untagged;
            assistant.parts.push(Part::Call(Placed { id, call: Box::new(call), raw, promoted, untagged }));
        }
        (Ok(_), Place::Rejected(_)) => {}
        (Err(rejected), place) => {
            if rejected.kind == RejectedKind::InReasoning {
                match region {
                    Region::Reasoning => assistant.reasoning.push_str(&raw),
                    Region::Content => assistant.parts.push(Part::Text { text: raw }),
                }
            }
            let feedback = matches!(place, Place::Rejected(true));
            assistant.parts.push(Part::Rejected { rejected: Box::new(rejected), feedback, native });
        }
    }
}

/// Whether the user sees the entry's text.
fn is_shown(entry: &Entry, region: Region) -> bool {
    entry.result.as_ref().is_err_and(|r| match r.kind {
        RejectedKind::Quoted => true,
        RejectedKind::InReasoning => region == Region::Content,
        _ => false,
    })
}
