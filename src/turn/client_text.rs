//! Selects the text of a turn that is shown to a client for which it is the model's answer, and decides what the client
//! gets at its end.
//!
//! Text is shown at once, except trailing white space. The text of a round that only corrects, or whose answer must
//! match a schema, is held back until it is known to be the answer.

use std::collections::BTreeMap;

use super::{AgentEvent, Finished, Reaction, StopReason, may_be_meant, reaction};
use crate::event::{Call, Region, Rejected, RejectedKind};
use crate::message::FinishReason;
use crate::outcome::restore_tokens;
use crate::route::Invocation;
use crate::wire::content::without_blank_lines;

/// Piece of a turn's output that is sent to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientPiece {
    /// Text of the answer.
    Text(String),
    /// Text of the reasoning.
    Reasoning(String),
    /// The last bytes (of this number) that were sent as the other region belong to this region.
    Moved(Region, usize),
}

/// Way in which a turn ends for the client, after the text.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientEnd {
    /// The answer has ended: it is complete, cut off or a refusal.
    Over {
        /// The finish reason for the client.
        reason: FinishReason,
        /// Text with which the model refused to answer; `None` if it did not refuse.
        refusal: Option<String>,
    },
    /// Calls that only violate their schemas and that the model did not correct: the client's own check answers them.
    Calls(Vec<Invocation>),
    /// The turn ended without an answer, for this reason.
    Failed(StopReason),
}

/// Selects the text of a turn that its client is shown. Text that was shown is never withdrawn.
///
/// ```
/// use toolgraft::AgentEvent;
/// use toolgraft::turn::{ClientPiece, ClientText};
///
/// let mut text = ClientText::default();
/// text.event(&AgentEvent::RoundStarted { round: 1, model: None });
/// let pieces = text.event(&AgentEvent::Text { text: "\n\nYes. ".to_owned() });
/// assert_eq!(pieces.collect::<Vec<_>>(), [ClientPiece::Text("Yes.".to_owned())]);
/// assert_eq!(text.end(None).collect::<Vec<_>>(), [ClientPiece::Text(" ".to_owned())]);
/// ```
#[derive(Debug, Default)]
pub struct ClientText {
    /// `true` if the answer must match a schema.
    has_output: bool,
    /// `true` if the next round only corrects a mistake.
    corrects: bool,
    /// `true` if the round's text is held back, as it may not be the answer.
    holds: bool,
    held: String,
    /// `true` if text is held back because the call before it may be requested once more.
    doubted: bool,
    /// `true` if the round's reasoning is not shown.
    hides: bool,
    /// White space that is held back until text follows it.
    blank: String,
    /// `true` if text was shown in this round.
    in_round: bool,
    /// All text that was shown, in this round and earlier ones.
    shown: String,
    /// Number of bytes of text that were shown in this round.
    sent: usize,
    /// The round's reasoning without calls, in case it is the answer; `reasoned` is the number of its bytes that were
    /// shown.
    reasoning: String,
    reasoned: usize,
    /// The round's rejected calls by their index, except those whose source remains in the text.
    rejected: BTreeMap<u32, Rejected>,
    /// Reason why the model's message of the round ended; `None` if it was cancelled or is not known.
    finish: Option<FinishReason>,
}

impl ClientText {
    /// Creates the selection of a turn's text for its client; with `has_output` the answer must match a schema.
    pub fn new(has_output: bool) -> Self {
        ClientText { has_output, ..ClientText::default() }
    }

    /// Returns `true` if the next request only corrects a mistake.
    pub fn is_correcting(&self) -> bool {
        self.corrects
    }

    /// Returns all text that the client was shown so far.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Handles an event of the turn and returns the pieces that the client is shown now.
    pub fn event(&mut self, event: &AgentEvent) -> impl Iterator<Item = ClientPiece> + use<> {
        match event {
            AgentEvent::RoundStarted { round, .. } => self.begin(*round == 1),
            AgentEvent::Correcting { .. } => self.corrects = true,
            AgentEvent::CallRunning { .. } => self.corrects = false,
            AgentEvent::Reasoning { text } => self.reasoning.push_str(text),
            AgentEvent::CallRejected { index, rejected } if !rejected.stays_in_text() => {
                self.rejected.insert(*index, (**rejected).clone());
            }
            // The calls are reported again in their new role.
            AgentEvent::Reclassified { .. } => self.rejected.clear(),
            AgentEvent::RoundFinished { finish, .. } => self.finish.clone_from(finish),
            _ => {}
        }
        let (moved, piece) = match event {
            AgentEvent::Text { text } => (None, self.text(text)),
            AgentEvent::Reasoning { text } => (None, self.think(text.clone())),
            AgentEvent::CallRejected { rejected, .. } => (None, self.rejected(rejected)),
            AgentEvent::Reclassified { to } => self.reclassified(*to),
            AgentEvent::CallRunning { .. } => (None, self.settle()),
            _ => (None, None),
        };
        moved.into_iter().chain(piece)
    }

    /// Returns the source text of a rejected call as text or reasoning; `None` if the call's source is removed from it.
    fn rejected(&mut self, rejected: &Rejected) -> Option<ClientPiece> {
        if !rejected.stays_in_text() {
            return None;
        }
        let raw = restore_tokens(&rejected.raw);
        if rejected.kind == RejectedKind::InReasoning {
            return self.think(raw.into_owned());
        }
        // If the model may be asked for the call once more, it is not certain that it is an example.
        if rejected.kind == RejectedKind::Quoted && may_be_meant(rejected) {
            self.doubt();
        }
        self.text(&raw)
    }

    /// Begins a round: resets the state of the previous one.
    fn begin(&mut self, is_first: bool) {
        let holds = std::mem::take(&mut self.corrects) || self.has_output;
        // The client is not shown the reasoning of a round that only corrects.
        let (hides, shown) = (holds && !is_first, std::mem::take(&mut self.shown));
        *self = ClientText { shown, holds, hides, ..ClientText::new(self.has_output) };
    }

    /// Returns the part of a text that is shown now. White space is removed at the beginning of a round's text and held
    /// back at its end.
    fn text(&mut self, text: &str) -> Option<ClientPiece> {
        if self.holds {
            self.held.push_str(text);
            return None;
        }
        let mut all = std::mem::take(&mut self.blank);
        all.push_str(text);
        let end = all.trim_end().len();
        self.blank = all.split_off(end);
        if all.is_empty() {
            return None;
        }
        if !self.in_round {
            all = without_blank_lines(&all).to_owned();
            // The text of two rounds is one answer for the client, so it is parted like paragraphs.
            if !self.shown.is_empty() {
                all.insert_str(0, "\n\n");
            }
            self.in_round = true;
        }
        self.sent += all.len();
        self.shown.push_str(&all);
        Some(ClientPiece::Text(all))
    }

    fn think(&mut self, text: String) -> Option<ClientPiece> {
        if self.hides {
            return None;
        }
        self.reasoned += text.len();
        Some(ClientPiece::Reasoning(text))
    }

    /// Moves the round's text so far to the region `to`.
    fn reclassified(&mut self, to: Region) -> (Option<ClientPiece>, Option<ClientPiece>) {
        let (bytes, text) = match to {
            Region::Content => {
                let bytes = std::mem::take(&mut self.reasoned);
                let text = std::mem::take(&mut self.reasoning);
                (bytes, self.text(&text))
            }
            Region::Reasoning => (self.reclassify(), None),
        };
        ((bytes > 0).then_some(ClientPiece::Moved(to, bytes)), text)
    }

    /// Holds back the following text of this round, since the call may be requested once more.
    fn doubt(&mut self) {
        // Text that is held for another reason is not released with the call.
        self.doubted |= !self.holds;
        self.holds = true;
    }

    /// Releases the text that was held back after a call, once it is known that the call is not requested once more.
    pub fn settle(&mut self) -> Option<ClientPiece> {
        if std::mem::take(&mut self.doubted) { self.release() } else { None }
    }

    /// Returns the text that was held back, and ends the holding back.
    pub fn release(&mut self) -> Option<ClientPiece> {
        let held = std::mem::take(&mut self.held);
        self.holds = false;
        self.text(&held)
    }

    /// Ends the answer: shows the text that was held back, or `instead`, followed by trailing white space.
    pub fn end(&mut self, instead: Option<String>) -> impl Iterator<Item = ClientPiece> + use<> {
        if let Some(text) = instead {
            self.held = text;
        }
        // A corrected answer may begin with the text that the client was shown.
        let again = self.held.trim_start().strip_prefix(self.shown.trim()).filter(|_| !self.shown.is_empty());
        if let Some(rest) = again.map(str::to_owned) {
            (self.held, self.in_round) = (rest, true);
        }
        self.release().into_iter().chain(self.rest())
    }

    /// Ends the answer: returns the text that was held back, and the end that follows it. With `strict`, the client
    /// gets no call that the model did not correct; otherwise it gets those for which `is_clients` returns `true`.
    pub fn finish(
        &mut self,
        finished: Finished,
        strict: bool,
        is_clients: impl Fn(&Call) -> bool,
    ) -> (Vec<ClientPiece>, ClientEnd) {
        let is_cut = self.finish == Some(FinishReason::Length);
        let over = |reason| ClientEnd::Over { reason, refusal: None };
        match finished.reason {
            StopReason::Answered
            | StopReason::OutputLimit
            | StopReason::Refused { .. }
            | StopReason::Filtered
            | StopReason::Repetition { .. }
            | StopReason::ContextFull { .. } => {
                let pieces = self.end(finished.output.map(|value| value.to_string())).collect();
                let is_whole = matches!(finished.reason, StopReason::Answered | StopReason::Refused { .. });
                let reason = match self.finish.take() {
                    // The client may know the endpoint's own word.
                    Some(FinishReason::Other(word)) => FinishReason::Other(word),
                    _ if is_whole => FinishReason::Stop,
                    _ => FinishReason::Length,
                };
                let StopReason::Refused { message } = finished.reason else { return (pieces, over(reason)) };
                (pieces, ClientEnd::Over { reason, refusal: Some(message) })
            }
            // A message that the limit cut off holds no call; its failure is not the model's mistake.
            StopReason::CorrectionsUsedUp { .. } | StopReason::CallMissing | StopReason::MaxRounds { .. } if is_cut => {
                (Vec::new(), over(FinishReason::Length))
            }
            StopReason::CorrectionsUsedUp { .. } | StopReason::MaxRounds { .. } if !strict => {
                self.unmended(finished, is_clients)
            }
            reason => (Vec::new(), ClientEnd::Failed(reason)),
        }
    }

    /// Ends a turn whose calls the model did not correct: returns those that were parsed and only violate their
    /// schemas, or else the text of the calls.
    fn unmended(&mut self, finished: Finished, is_clients: impl Fn(&Call) -> bool) -> (Vec<ClientPiece>, ClientEnd) {
        let rejected = std::mem::take(&mut self.rejected).into_values();
        let rejected: Vec<Rejected> = rejected.filter(|wrong| reaction(wrong.kind) == Reaction::Correct).collect();
        if rejected.is_empty() {
            return (Vec::new(), ClientEnd::Failed(finished.reason));
        }
        let mut pieces = Vec::from_iter(self.settle());
        // A call that may be quoted text or an example is not handed out. If one of several cannot be parsed, all stay
        // text, so that nothing is lost.
        let calls = rejected.iter().enumerate().map(|(n, wrong)| {
            let call = refused_by_its_schema(wrong).filter(|call| is_clients(call))?;
            let id = finished.conversation.fresh_id(n);
            let arguments = call.arguments.as_object().cloned()?;
            Some(Invocation { id, server: call.server.clone(), tool: call.tool.clone(), arguments })
        });
        if let Some(calls) = calls.collect() {
            return (pieces, ClientEnd::Calls(calls));
        }
        let texts: Vec<_> = rejected.iter().map(|rejected| restore_tokens(&rejected.raw)).collect();
        pieces.extend(self.end(Some(texts.join("\n\n"))));
        (pieces, ClientEnd::Over { reason: FinishReason::Stop, refusal: None })
    }

    /// Returns the white space that was held back at the end of an answer; `None` if no text was shown in this round.
    fn rest(&mut self) -> Option<ClientPiece> {
        let blank = std::mem::take(&mut self.blank);
        // Blank text alone is no answer.
        (self.in_round && !blank.is_empty()).then_some(ClientPiece::Text(blank))
    }

    /// Turns the round's text so far into reasoning, and returns the number of its bytes that were shown.
    fn reclassify(&mut self) -> usize {
        self.held.clear();
        self.blank.clear();
        self.in_round = false;
        std::mem::take(&mut self.sent)
    }
}

/// Returns the rejected call if only its arguments are wrong and its provenance raises no doubt.
fn refused_by_its_schema(rejected: &Rejected) -> Option<&Call> {
    let call = rejected.call.as_deref().filter(|_| rejected.kind == RejectedKind::InvalidArguments)?;
    call.provenance.is_plain().then_some(call)
}
