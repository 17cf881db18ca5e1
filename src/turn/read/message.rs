//! A message that has ended, and the parts of it that the history keeps.

use std::collections::HashMap;

use super::ids::Ids;
use crate::conversation::{Assistant, HistoryCall, Part};
use crate::dialect::RESULT_TAGS;
use crate::event::{Call, Entry, MarkerKind, Piece, Provenance, Region, Rejected, RejectedKind};
use crate::message::{FinishReason, NativeCall};

/// Message of the model that has ended, with its calls.
#[derive(Default)]
pub(in crate::turn) struct EndedMessage {
    /// Text, markers and calls of the message, in stream order.
    pub(super) pieces: Vec<Piece>,
    /// Native calls among the entries, by the entry's index.
    pub(super) natives: HashMap<u32, NativeCall>,
    /// Ids of the calls that were reported as calls.
    pub(super) ids: Ids,
    /// Calls and rejected calls of the message.
    pub(in crate::turn) entries: Vec<Entry>,
    /// Indices of the calls that were shown to the user.
    pub(super) shown: Vec<u32>,
    /// `true` if the message was taken for reasoning and read again as an answer, since no think tag came.
    pub(super) untagged: bool,
    /// Number of consecutive repetitions of a passage at the message's end, for which it was stopped.
    pub(super) repeats: Option<u32>,
    /// `true` if the message was stopped because it made an equal call too often.
    pub(super) equal_calls: bool,
    /// Text in the endpoint's field for refusals, if there is any.
    pub(super) refusal: Option<String>,
    /// `true` if the message was stopped because it was too long.
    pub(super) too_long: bool,
}

impl EndedMessage {
    /// Drops everything after the last call that `is_call` accepts: text after a call never enters the history.
    pub(super) fn cut_after(&mut self, is_call: impl Fn(&Entry) -> bool) {
        let call = |piece: &Piece| match piece {
            Piece::Call { index, .. } => self.entries.iter().any(|e| e.index == *index && is_call(e)),
            _ => false,
        };
        let Some(last) = self.pieces.iter().rposition(call) else { return };
        let own = self.pieces[last + 1..].iter().take_while(|piece| match piece {
            Piece::Marker { kind, .. } => {
                // The closing fence or wrapper belongs to the call.
                matches!(kind, MarkerKind::Fence | MarkerKind::Wrapper | MarkerKind::Token)
            }
            Piece::Text { text, .. } => text.trim().is_empty(),
            Piece::Call { .. } | Piece::Syntax { .. } => false,
        });
        let end = last + 1 + own.count();
        self.pieces.truncate(end);
        // White space is kept only before a marker: the amount that arrived before the cut depends on the stream's
        // chunks.
        while let Some(Piece::Text { .. }) = self.pieces.last() {
            self.pieces.pop();
        }
    }

    /// Returns `true` if the message's text for the user begins with a result, which only the program may write.
    pub(super) fn begins_with_a_result(&self) -> bool {
        let said = self.pieces.iter().find_map(|piece| match piece {
            Piece::Text { region: Region::Content, text, .. } => {
                Some(text.trim_start()).filter(|text| !text.is_empty())
            }
            // A message that begins with a call does not begin with a result.
            Piece::Call { region: Region::Content, .. } => Some(""),
            _ => None,
        });
        // A stream's pieces split a tag only if it may still become a marker.
        said.and_then(|said| said.strip_prefix('<')).is_some_and(|said| {
            RESULT_TAGS.iter().any(|(tag, _)| {
                let rest =
                    said.get(..tag.len()).filter(|start| start.eq_ignore_ascii_case(tag)).map(|_| &said[tag.len()..]);
                // A longer name is another tag.
                rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '/']))
            })
        })
    }

    /// Drops the text of the region after the first `keep` bytes since its last call, and everything after it.
    pub(super) fn cut_text_after_calls(&mut self, region: Region, keep: usize) {
        let after_call = |piece: &Piece| matches!(piece, Piece::Call { .. });
        let start = self.pieces.iter().rposition(after_call).map_or(0, |at| at + 1);
        let mut left = keep;
        for at in start..self.pieces.len() {
            let Piece::Text { region: own, text, .. } = &mut self.pieces[at] else { continue };
            if *own != region {
                continue;
            }
            if text.len() > left {
                text.truncate(text.floor_char_boundary(left));
                self.pieces.truncate(at + 1);
                return;
            }
            left -= text.len();
        }
    }

    /// Drops text that the model wrote as another participant: text after a token of another's turn, and an invented
    /// turn from its beginning up to its call. The first such call is kept if nothing precedes it, because the model is
    /// told about it.
    pub(super) fn drop_invented(&mut self) {
        if let Some((call, begin)) = self.invention() {
            let says = self.pieces[..begin].iter().any(|piece| self.says(piece));
            let call = (!says).then(|| self.pieces[call].clone());
            self.pieces.truncate(begin);
            self.pieces.extend(call);
        }
        self.pieces.retain(|piece| !matches!(piece, Piece::Marker { kind: MarkerKind::Turn, .. }));
        let pieces = &self.pieces;
        self.entries.retain(|e| pieces.iter().any(|p| matches!(p, Piece::Call { index, .. } if *index == e.index)));
    }

    /// Returns the index of the first invented call's piece, and of the beginning of the turn that contains it.
    fn invention(&self) -> Option<(usize, usize)> {
        let is_invented = |piece: &Piece| match self.entry(piece).map(|entry| &entry.result) {
            Some(Err(rejected)) => rejected.kind == RejectedKind::Invented,
            _ => false,
        };
        let call = self.pieces.iter().position(is_invented)?;
        let last = self.pieces[..call].iter().rposition(|piece| matches!(piece, Piece::Call { .. }));
        let from = last.map_or(0, |last| last + 1);
        let begins = |piece: &Piece| matches!(piece, Piece::Marker { kind: MarkerKind::Turn, .. });
        let begin = self.pieces[from..call].iter().position(begins).map_or(call, |at| from + at);
        Some((call, begin))
    }

    fn entry(&self, piece: &Piece) -> Option<&Entry> {
        let Piece::Call { index, .. } = piece else { return None };
        self.entries.iter().find(|entry| entry.index == *index)
    }

    /// Returns `true` if the user sees the piece, or if it is a call that has a consequence.
    fn says(&self, piece: &Piece) -> bool {
        match piece {
            Piece::Text { region: Region::Content, text, .. } => !text.trim().is_empty(),
            Piece::Call { region, .. } => self.entry(piece).is_some_and(|entry| match &entry.result {
                Ok(_) => true,
                Err(rejected) => rejected.kind != RejectedKind::InReasoning || *region == Region::Content,
            }),
            _ => false,
        }
    }

    /// Returns the calls of the message that may run, with their indices.
    pub(in crate::turn) fn good(&self) -> impl Iterator<Item = (u32, &Call)> {
        self.entries.iter().filter_map(|entry| Some((entry.index, entry.result.as_ref().ok()?)))
    }

    /// Removes calls as if they had never been made, and returns them as rejected for this reason. A call that was
    /// shown stays.
    pub(in crate::turn) fn leave_out(&mut self, calls: &[u32], why: &str) -> Vec<(u32, Rejected)> {
        let goes = |index: u32| calls.contains(&index) && !self.shown.contains(&index);
        self.pieces.retain(|piece| !matches!(piece, Piece::Call { index, .. } if goes(*index)));
        let gone: Vec<Entry> = self.entries.extract_if(.., |entry| goes(entry.index)).collect();
        let rejected = |Entry { index, result, raw, .. }: Entry| {
            Some((index, Rejected::of(result.ok()?, RejectedKind::Invented, raw.as_str(), why)))
        };
        gone.into_iter().filter_map(rejected).collect()
    }

    /// Removes the last call, whose rejection was reported, if it was cut off and all before it are valid: a form that only
    /// allows calls invites further ones.
    pub(in crate::turn) fn leave_out_cut(&mut self) {
        let Some((last, before)) = self.entries.split_last() else { return };
        let is_cut = last.result.as_ref().is_err_and(|rejected| rejected.kind == RejectedKind::Truncated);
        // A single call that was cut off has to be corrected.
        if is_cut && !before.is_empty() && before.iter().all(|entry| entry.result.is_ok()) {
            self.leave_out(&[last.index], "");
        }
    }

    /// Changes the valid calls of the message by `fit`, which returns `true` for a changed call; `write` returns its
    /// text.
    pub(in crate::turn) fn fit(&mut self, mut fit: impl FnMut(&mut Call) -> bool, write: impl Fn(&Call) -> String) {
        for entry in &mut self.entries {
            if let Ok(call) = &mut entry.result
                && fit(call)
            {
                entry.raw = write(call);
            }
        }
    }

    /// Returns the calls of the message if all of them may run; `None` if some call is rejected.
    pub(in crate::turn) fn good_calls(&self) -> Option<Vec<&Call>> {
        self.entries.iter().map(|entry| entry.result.as_ref().ok()).collect()
    }

    /// Returns `true` if the message has text for the user and no call, valid or rejected.
    pub(in crate::turn) fn is_text_alone(&self) -> bool {
        self.entries.is_empty() && !self.is_blank()
    }

    /// Returns `true` if the message is empty although the endpoint reports its end, or has none of the calls that the
    /// endpoint announces: the endpoint's own parser may have lost them.
    pub(in crate::turn) fn is_swallowed(&self, reason: &FinishReason) -> bool {
        match reason {
            _ if self.has_calls() || self.refusal.is_some() => false,
            FinishReason::ToolCalls => true,
            // The limit itself explains why nothing came.
            FinishReason::Length => false,
            // Gemini's endpoints report this for a call that they cannot read.
            FinishReason::Other(word) => self.is_blank() && word.to_lowercase().contains("malformed"),
            FinishReason::Stop => self.is_blank(),
        }
    }

    /// Returns `true` if the message has calls, rejected ones included, except those in the reasoning.
    pub(in crate::turn) fn has_calls(&self) -> bool {
        let is_thought = |entry: &Entry| entry.result.as_ref().is_err_and(|r| r.kind == RejectedKind::InReasoning);
        self.entries.iter().any(|entry| !is_thought(entry))
    }

    /// Returns `true` if a call that the endpoint extracted from the text is malformed.
    pub(in crate::turn) fn has_broken_native(&self) -> bool {
        self.entries.iter().any(|entry| {
            let kind = entry.result.as_ref().err().map(|rejected| rejected.kind);
            matches!(kind, Some(RejectedKind::Malformed | RejectedKind::Truncated))
                && self.natives.contains_key(&entry.index)
        })
    }

    /// Returns `true` if the message has no text for the user.
    pub(in crate::turn) fn is_blank(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Text { region: Region::Content, text, .. } => text.trim().is_empty(),
            Piece::Call { index, region, .. } => {
                !self.entries.iter().any(|e| e.index == *index && is_shown(e, *region))
            }
            _ => true,
        })
    }

    /// Returns the text of the message, calls included, and its reasoning.
    pub(in crate::turn) fn spoken(&self) -> (String, String) {
        let (mut answer, mut reasoning) = (String::new(), String::new());
        for piece in &self.pieces {
            let (region, text) = match piece {
                Piece::Text { region, text, .. } => (*region, text),
                Piece::Marker { text, .. } => (Region::Content, text),
                Piece::Syntax { text, .. } => (Region::Reasoning, text),
                Piece::Call { index, region, .. } => match self.entries.iter().find(|e| e.index == *index) {
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

    /// Converts the message for the history. `place` returns the id of each call, or for a rejected one whether the
    /// model is told about it.
    pub(super) fn into_assistant(
        self,
        mut place: impl FnMut(&Entry, Option<&NativeCall>) -> HistoryPlace,
    ) -> Assistant {
        let mut natives = self.natives;
        let mut assistant = Assistant::default();
        let mut entries = self.entries.into_iter().peekable();
        for piece in self.pieces {
            match piece {
                Piece::Text { region: Region::Content, text, .. } => assistant.parts.push(Part::Text { text }),
                Piece::Text { region: Region::Reasoning, text, .. } | Piece::Syntax { text, .. } => {
                    assistant.reasoning.push_str(&text);
                }
                Piece::Marker { kind, text, .. } => assistant.parts.push(Part::Marker { kind, text }),
                Piece::Call { index, region, .. } => {
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

/// Place of a message's call in the history.
pub(super) enum HistoryPlace {
    /// A call with this id.
    Call(String),
    /// A rejected call; `true` if the model is told about it.
    Rejected(bool),
}

fn push_entry(
    assistant: &mut Assistant,
    entry: Entry,
    (region, untagged): (Region, bool),
    place: HistoryPlace,
    native: Option<NativeCall>,
) {
    let Entry { result, raw, .. } = entry;
    match (result, place) {
        (Ok(call), HistoryPlace::Call(id)) => {
            let untagged = untagged && call.provenance == Provenance::Promoted;
            assistant.parts.push(Part::Call(HistoryCall { id, call: Box::new(call), raw, untagged }));
        }
        (Ok(_), HistoryPlace::Rejected(_)) => {}
        (Err(rejected), place) => {
            if rejected.kind == RejectedKind::InReasoning {
                match region {
                    Region::Reasoning => assistant.reasoning.push_str(&raw),
                    Region::Content => assistant.parts.push(Part::Text { text: raw }),
                }
            }
            let feedback = matches!(place, HistoryPlace::Rejected(true));
            assistant.parts.push(Part::Rejected { rejected: Box::new(rejected), feedback, native });
        }
    }
}

/// Returns `true` if the user sees the entry's text.
fn is_shown(entry: &Entry, region: Region) -> bool {
    entry.result.as_ref().is_err_and(|r| match r.kind {
        RejectedKind::Quoted => true,
        RejectedKind::InReasoning => region == Region::Content,
        _ => false,
    })
}
