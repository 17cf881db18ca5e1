//! What of a turn's text a client is shown that has the model's answer for its own, and when.
//!
//! Text is shown at once, but for white space that nothing may follow; that of a round which
//! only corrects, or whose answer has to match a schema, is held until it is known what it is.

use super::{AgentEvent, may_be_meant};
use crate::event::{Region, Rejected, RejectedKind};
use crate::outcome::restore_tokens;
use crate::wire::content::without_blank_lines;

/// A piece of what a client is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientPiece {
    /// Text of the answer.
    Text(String),
    /// Text of the reasoning.
    Reasoning(String),
    /// The last so many bytes of the other kind belong to this one after all.
    Moved(Region, usize),
}

/// The text of a turn as its client is shown it: what it was shown is not taken back.
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
    /// The answer has to match a schema.
    has_output: bool,
    /// The next round only mends a mistake.
    corrects: bool,
    /// The round's text is held: it may not be the answer.
    holds: bool,
    held: String,
    /// It is held from a call on that may be asked for once more.
    doubted: bool,
    /// Its reasoning is not shown.
    hides: bool,
    /// White space that text may follow.
    blank: String,
    /// Text was shown in this round.
    in_round: bool,
    /// All that was shown as text, in this round and those before.
    shown: String,
    /// Bytes of text that were shown in this round.
    sent: usize,
    /// The round's reasoning without calls, in case it is the answer, and bytes of all of it that were shown.
    reasoning: String,
    reasoned: usize,
}

impl ClientText {
    /// The text of a turn, whose answer may have to match a schema.
    pub fn new(has_output: bool) -> Self {
        ClientText { has_output, ..ClientText::default() }
    }

    /// Returns `true` if the next request only mends a mistake.
    pub fn is_correcting(&self) -> bool {
        self.corrects
    }

    /// Takes an event of the turn; returns what the client is shown now.
    pub fn event(&mut self, event: &AgentEvent) -> impl Iterator<Item = ClientPiece> + use<> {
        match event {
            AgentEvent::RoundStarted { round, .. } => self.begin(*round == 1),
            AgentEvent::Correcting { .. } => self.corrects = true,
            AgentEvent::CallRunning { .. } => self.corrects = false,
            AgentEvent::Reasoning { text } => self.reasoning.push_str(text),
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

    /// A rejected call whose text stays where it is, for the reader to see.
    fn rejected(&mut self, rejected: &Rejected) -> Option<ClientPiece> {
        if !rejected.stays_in_text() {
            return None;
        }
        let raw = restore_tokens(&rejected.raw);
        if rejected.kind == RejectedKind::InReasoning {
            return self.think(raw.into_owned());
        }
        // Whether it is an example is open where the model may be asked for the call once more.
        if rejected.kind == RejectedKind::Quoted && may_be_meant(rejected) {
            self.doubt();
        }
        self.text(&raw)
    }

    /// A round begins, the first or a further one.
    fn begin(&mut self, is_first: bool) {
        let holds = std::mem::take(&mut self.corrects) || self.has_output;
        // Reasoning of a round which only corrects is none of the client's business.
        let (hides, shown) = (holds && !is_first, std::mem::take(&mut self.shown));
        *self = ClientText { shown, holds, hides, ..ClientText::new(self.has_output) };
    }

    /// The part of a text that is shown now. White space at the beginning of a round's
    /// text is left out, and at its end held.
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

    /// The round's text so far belongs elsewhere.
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

    /// What comes from here on in this round may be asked for once more, and is held.
    fn doubt(&mut self) {
        self.doubted |= !self.holds;
        self.holds = true;
    }

    /// It was not asked for once more, since something else follows from the message.
    pub fn settle(&mut self) -> Option<ClientPiece> {
        if std::mem::take(&mut self.doubted) { self.release() } else { None }
    }

    /// What was held is shown after all.
    pub fn release(&mut self) -> Option<ClientPiece> {
        let held = std::mem::take(&mut self.held);
        self.holds = false;
        self.text(&held)
    }

    /// The end of an answer: what was held, or this in its place, and white space behind it.
    pub fn end(&mut self, instead: Option<String>) -> impl Iterator<Item = ClientPiece> + use<> {
        if let Some(text) = instead {
            self.held = text;
        }
        // A correction may bring the words again that the client was shown.
        let again = self.held.trim_start().strip_prefix(self.shown.trim()).filter(|_| !self.shown.is_empty());
        if let Some(rest) = again.map(str::to_owned) {
            (self.held, self.in_round) = (rest, true);
        }
        self.release().into_iter().chain(self.rest())
    }

    /// White space at the end of an answer.
    fn rest(&mut self) -> Option<ClientPiece> {
        let blank = std::mem::take(&mut self.blank);
        (self.in_round && !blank.is_empty()).then_some(ClientPiece::Text(blank))
    }

    /// The round's text so far is reasoning: how much of it was sent.
    fn reclassify(&mut self) -> usize {
        self.held.clear();
        self.blank.clear();
        self.in_round = false;
        std::mem::take(&mut self.sent)
    }
}
