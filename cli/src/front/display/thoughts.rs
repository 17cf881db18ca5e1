//! The reasoning of a turn: how long it takes, and what is kept of it.

use std::time::{Duration, Instant};

/// The reasoning of a turn.
#[derive(Default)]
pub(super) struct Thoughts {
    /// Start of the reasoning that is to be folded.
    since: Option<Instant>,
    /// Start of a call that may turn out to be a draft within the reasoning.
    paused: Option<Instant>,
    /// Reasoning of this round.
    round: String,
    /// The same without the drafts in it.
    said: String,
    /// Reasoning of the turn before this round.
    earlier: String,
}

impl Thoughts {
    pub(super) fn begin_turn(&mut self) {
        self.earlier.clear();
        self.round.clear();
    }

    pub(super) fn begin_round(&mut self) {
        self.earlier = self.of_turn();
        self.round.clear();
        self.said.clear();
        self.paused = None;
    }

    /// Returns all reasoning of the turn; that of two rounds has a blank line between them.
    pub(super) fn of_turn(&self) -> String {
        let parts = [self.earlier.as_str(), self.round.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the reasoning of this round.
    pub(super) fn of_round(&self) -> &str {
        &self.round
    }

    /// More reasoning came.
    pub(super) fn add(&mut self, text: &str) {
        self.round.push_str(text);
        self.said.push_str(text);
    }

    /// Removes the text that was added last from `said`, since it is a draft of a call.
    pub(super) fn was_draft(&mut self, raw: &str) {
        if let Some(said) = self.said.strip_suffix(raw) {
            self.said.truncate(said.len());
        }
    }

    /// Measures from now on, if it does not already; says whether it begins to.
    pub(super) fn measure(&mut self) -> bool {
        let begins = self.since.is_none();
        self.since.get_or_insert_with(Instant::now);
        begins
    }

    /// Returns `true` while there is reasoning to fold.
    pub(super) fn is_open(&self) -> bool {
        self.since.is_some()
    }

    /// A call begins: if it is no draft, the reasoning ended here.
    pub(super) fn pause(&mut self) {
        self.paused = Some(Instant::now());
    }

    /// The call was a draft: the reasoning goes on.
    pub(super) fn resume(&mut self) {
        self.paused = None;
    }

    /// The reasoning has ended; how long it took, if it is to be folded.
    pub(super) fn fold(&mut self) -> Option<Duration> {
        let paused = self.paused.take();
        let since = self.since.take()?;
        Some(paused.map_or_else(|| since.elapsed(), |ended| ended.saturating_duration_since(since)))
    }

    /// Replaces this round's reasoning with text that the round presented as its answer.
    pub(super) fn was_said(&mut self, text: String) {
        self.said.clone_from(&text);
        self.round = text;
    }

    /// This round's reasoning was the answer: what was said in it beside calls, unless it
    /// was shown as it came.
    pub(super) fn was_answer(&mut self) -> Option<String> {
        self.round.clear();
        let said = std::mem::take(&mut self.said);
        self.since.take().map(|_| said)
    }
}
