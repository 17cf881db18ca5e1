//! What of a round's text a client is told, and when.
//!
//! Text is told at once, but for white space that nothing may follow; that of a round which
//! only corrects, or whose answer has to match a schema, is held until it is known what it is.

use super::out::Out;
use toolgraft::event::Region;
use toolgraft::wire::content::without_blank_lines;

/// What the client was told.
#[derive(Default)]
pub(super) struct Say {
    /// The round's text is held: it may not be the answer.
    holds: bool,
    held: String,
    /// It is held from a call on that may be asked for once more.
    doubted: bool,
    /// Its reasoning is not told.
    hides: bool,
    /// White space that text may follow.
    blank: String,
    /// Text was sent in this round.
    in_round: bool,
    /// All that was sent as text, in this round and those before.
    told: String,
    /// Bytes of text that were sent in this round.
    sent: usize,
    /// The round's reasoning, in case it is the answer, and bytes of it that were sent.
    reasoning: String,
    reasoned: usize,
}

impl Say {
    /// A round begins, the first or a further one.
    pub(super) fn begin(&mut self, holds: bool, is_first: bool) {
        // Reasoning of a round which only corrects is none of the client's business.
        let hides = holds && !is_first;
        *self = Say { told: std::mem::take(&mut self.told), holds, hides, ..Say::default() };
    }

    /// What of this text the client is told now. White space at the beginning of a round's
    /// text is left out, and at its end held.
    pub(super) fn text(&mut self, text: &str) -> Option<Out> {
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
            if !self.told.is_empty() {
                all.insert_str(0, "\n\n");
            }
            self.in_round = true;
        }
        self.sent += all.len();
        self.told.push_str(&all);
        Some(Out::Text(all))
    }

    /// What of this reasoning the client is told.
    pub(super) fn reasoning(&mut self, text: String) -> Option<Out> {
        self.reasoning.push_str(&text);
        if self.hides {
            return None;
        }
        self.reasoned += text.len();
        Some(Out::Reasoning(text))
    }

    /// The round's text so far belongs elsewhere.
    pub(super) fn reclassified(&mut self, to: Region) -> impl Iterator<Item = Out> + use<> {
        let (bytes, text) = match to {
            Region::Content => {
                let bytes = std::mem::take(&mut self.reasoned);
                let text = std::mem::take(&mut self.reasoning);
                (bytes, self.text(&text))
            }
            Region::Reasoning => (self.reclassify(), None),
        };
        let moved = (bytes > 0).then_some(Out::Reclassified(to, bytes));
        moved.into_iter().chain(text)
    }

    /// What comes from here on in this round may be asked for once more, and is held.
    pub(super) fn doubt(&mut self) {
        self.doubted |= !self.holds;
        self.holds = true;
    }

    /// It was not asked for once more, since something else follows from the message.
    pub(super) fn settle(&mut self) -> Option<Out> {
        if std::mem::take(&mut self.doubted) { self.release() } else { None }
    }

    /// What was held is to be told after all.
    pub(super) fn release(&mut self) -> Option<Out> {
        let held = std::mem::take(&mut self.held);
        self.holds = false;
        self.text(&held)
    }

    /// The end of an answer: what was held, or this in its place, and white space behind it.
    pub(super) fn end(&mut self, instead: Option<String>) -> impl Iterator<Item = Out> + use<> {
        if let Some(text) = instead {
            self.held = text;
        }
        // A correction may bring the words again that the client was told.
        let again = self.held.trim_start().strip_prefix(self.told.trim()).filter(|_| !self.told.is_empty());
        if let Some(rest) = again.map(str::to_owned) {
            (self.held, self.in_round) = (rest, true);
        }
        self.release().into_iter().chain(self.rest())
    }

    /// White space at the end of an answer.
    fn rest(&mut self) -> Option<Out> {
        let blank = std::mem::take(&mut self.blank);
        (self.in_round && !blank.is_empty()).then_some(Out::Text(blank))
    }

    /// The round's text so far is reasoning: how much of it was sent.
    fn reclassify(&mut self) -> usize {
        self.held.clear();
        self.blank.clear();
        self.in_round = false;
        std::mem::take(&mut self.sent)
    }
}
