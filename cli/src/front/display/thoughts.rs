//! The reasoning of a turn: how long it takes, and what is kept of it.

use std::time::{Duration, Instant};

/// The reasoning of a turn, for display.
#[derive(Default)]
pub(super) struct Thoughts {
    /// Start time of the reasoning that is not folded yet.
    since: Option<Instant>,
    /// Start time of a call that may turn out to be a draft within the reasoning.
    paused: Option<Instant>,
    /// Reasoning of the current round.
    round: String,
    /// Reasoning of the current round without the drafts in it.
    said: String,
    /// Reasoning of the turn before the current round.
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

    /// Returns all reasoning of the turn, with a blank line between rounds.
    pub(super) fn of_turn(&self) -> String {
        let parts = [self.earlier.as_str(), self.round.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the reasoning of the current round.
    pub(super) fn of_round(&self) -> &str {
        &self.round
    }

    /// Appends text to the reasoning of the current round.
    pub(super) fn add(&mut self, text: &str) {
        self.round.push_str(text);
        self.said.push_str(text);
    }

    /// Removes the text of a draft from the end of `said`.
    pub(super) fn was_draft(&mut self, raw: &str) {
        if let Some(said) = self.said.strip_suffix(raw) {
            self.said.truncate(said.len());
        }
    }

    /// Starts to measure the duration of the reasoning; returns `true` if it was not measured yet.
    pub(super) fn measure(&mut self) -> bool {
        let begins = self.since.is_none();
        self.since.get_or_insert_with(Instant::now);
        begins
    }

    /// Returns `true` while there is reasoning that is not folded yet.
    pub(super) fn is_open(&self) -> bool {
        self.since.is_some()
    }

    /// Records the start of a call, where the reasoning ends unless the call is a draft.
    pub(super) fn pause(&mut self) {
        self.paused = Some(Instant::now());
    }

    /// Continues the reasoning after a call that was a draft.
    pub(super) fn resume(&mut self) {
        self.paused = None;
    }

    /// Ends the reasoning and returns its duration; `None` if there is none to fold.
    pub(super) fn fold(&mut self) -> Option<Duration> {
        let paused = self.paused.take();
        let since = self.since.take()?;
        Some(paused.map_or_else(|| since.elapsed(), |ended| ended.saturating_duration_since(since)))
    }

    /// Replaces this round's reasoning by text that was shown as its answer.
    pub(super) fn was_said(&mut self, text: String) {
        self.said.clone_from(&text);
        self.round = text;
    }

    /// Clears this round's reasoning, which was the answer. Returns its text without calls; `None` if it was already
    /// shown.
    pub(super) fn was_answer(&mut self) -> Option<String> {
        self.round.clear();
        let said = std::mem::take(&mut self.said);
        self.since.take().map(|_| said)
    }
}
