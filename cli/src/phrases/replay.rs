//! Words of a replay and of the demo: what a message holds, and what became of its calls.
//! The terminal's boxes, a page's headings and the lines of text all take them from here,
//! so that one thing has one word.

use super::Phrases;
use toolgraft::event::{Provenance, RejectedKind};
use toolgraft::outcome::Status;

impl Phrases {
    /// Heading of a round, from 1.
    pub(crate) fn round(self, number: usize) -> String {
        if self.is_chinese() { format!("第 {number} 轮") } else { format!("Round {number}") }
    }

    /// What a call that does not run is.
    pub(crate) fn not_run(self, kind: RejectedKind) -> &'static str {
        match kind {
            RejectedKind::InReasoning => self.draft(),
            RejectedKind::Quoted => self.example(),
            RejectedKind::Invented => self.invented(),
            _ => self.rejected(),
        }
    }

    /// What became of a call.
    pub(crate) fn status(self, status: Status) -> &'static str {
        match status {
            Status::Result => self.result(),
            Status::ToolError => self.tool_error(),
            Status::Denied => self.denied(),
            Status::TimedOut => self.timed_out(),
            Status::Cancelled => self.cancelled(),
            Status::Displayed => self.displayed(),
            other => other.as_str(),
        }
    }

    /// How a call was found, where that asks for approval; `untagged`: no reasoning tag came
    /// in its answer.
    pub(crate) fn provenance(self, provenance: Provenance, untagged: bool) -> Option<&'static str> {
        match provenance {
            Provenance::Plain => None,
            Provenance::FencedFirst => Some(self.fenced_first()),
            Provenance::BehindProse => Some(self.behind_prose()),
            Provenance::BeforeProse => Some(self.before_prose()),
            Provenance::InALine => Some(self.in_a_line()),
            Provenance::FencedBehindProse => Some(self.fenced_behind_prose()),
            Provenance::Echoed => Some(self.echoed()),
            Provenance::InsteadOfRead => Some(self.instead_of_read()),
            _ if untagged => Some(self.untagged()),
            _ => Some(self.promoted()),
        }
    }

    /// Words in a row.
    pub(crate) fn listed(self, words: &[String]) -> String {
        words.join(self.pick(", ", "，"))
    }
}
