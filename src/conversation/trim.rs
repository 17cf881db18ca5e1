//! Selects the parts of a history that a request leaves out, so that it fits a context.

use std::collections::BTreeSet;

use super::{Conversation, HistoryEntry};

/// Number of bytes to which an old result is shortened: about a line.
pub const SHORT_RESULT_BYTES: usize = 160;

/// The parts of a history that are left out of a request. The history itself stays whole.
///
/// A round is a message of the model with the outcomes and notes that follow it. It is left out as a whole: calls and
/// their results are never separated. Steps, in order:
///
/// 1. The rounds before the user's current question, oldest first. A question is left out with the last of its rounds,
///    so an answer stays longer than the calls that led to it.
/// 2. The results of the current question's rounds, except the last round, are shortened to [`SHORT_RESULT_BYTES`],
///    oldest first.
/// 3. These rounds are left out, oldest first. Their calls are still recalled after the last results.
///
/// The current question and the last round stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trim {
    /// Indices of the history's entries that are left out.
    hidden: BTreeSet<usize>,
    /// Indices of the model's messages whose results are shortened.
    short: BTreeSet<usize>,
    /// Limit on the bytes of one result after the last message of the model, if any.
    last: Option<usize>,
    /// Number of the model's messages that are left out, with their outcomes and notes.
    pub rounds: usize,
    /// Number of the user's questions that are left out.
    pub questions: usize,
    /// Number of results that are shortened; those of rounds that are left out do not count.
    pub results: usize,
}

/// Step of shortening a history for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrimStep {
    /// Leaves out a message of the model, and the question before it if the message is the last of its rounds.
    Round { message: usize, question: Option<usize> },
    /// Leaves out a question that has no rounds.
    Question(usize),
    /// Shortens the results after a message of the model.
    Results { message: usize, number: usize },
}

impl Trim {
    pub(super) fn hides(&self, entry: usize) -> bool {
        self.hidden.contains(&entry)
    }

    pub(super) fn shortens(&self, message: usize) -> bool {
        self.short.contains(&message)
    }

    /// Returns the limit on the bytes of one result after the model's message at index `message`, if any.
    pub(super) fn limit(&self, message: usize, is_last: bool) -> Option<usize> {
        if self.shortens(message) { Some(SHORT_RESULT_BYTES) } else { self.last.filter(|_| is_last) }
    }

    fn take(&mut self, step: TrimStep) {
        match step {
            TrimStep::Round { message, question } => {
                self.hidden.insert(message);
                self.hidden.extend(question);
                self.rounds += 1;
                self.questions += usize::from(question.is_some());
            }
            TrimStep::Question(question) => {
                self.hidden.insert(question);
                self.questions += 1;
            }
            TrimStep::Results { message, number } => {
                self.short.insert(message);
                self.results += number;
            }
        }
    }
}

impl Conversation {
    /// Returns the parts that the first `steps` steps of shortening leave out; all steps, if there are fewer.
    pub fn trim(&self, steps: usize) -> Trim {
        let mut trim = Trim::default();
        for step in self.steps().into_iter().take(steps) {
            // The results of a round that is left out are no longer shortened results.
            if let TrimStep::Round { message, .. } = step
                && trim.short.remove(&message)
            {
                trim.results -= self.longer_results(message, SHORT_RESULT_BYTES);
            }
            trim.take(step);
        }
        trim
    }

    /// Returns the parts that all steps of shortening leave out, with a limit on each result after the last message.
    pub fn trim_all(&self, last_result_bytes: usize) -> Trim {
        let mut trim = self.trim(usize::MAX);
        if let Some((at, _)) = self.last_message() {
            trim.last = Some(last_result_bytes);
            trim.results += self.longer_results(at, last_result_bytes);
        }
        trim
    }

    /// Returns the number of steps by which this history can be shortened.
    pub fn trim_steps(&self) -> usize {
        self.steps().len()
    }

    fn steps(&self) -> Vec<TrimStep> {
        let current = self.entries.iter().rposition(|e| matches!(e, HistoryEntry::User(_))).unwrap_or(0);
        let mut steps = self.earlier_steps(current);
        let mut rounds = self.rounds_between(current, self.entries.len());
        rounds.pop();
        let with_results = rounds.iter().map(|&message| (message, self.longer_results(message, SHORT_RESULT_BYTES)));
        let results = with_results.filter(|(_, number)| *number > 0);
        steps.extend(results.map(|(message, number)| TrimStep::Results { message, number }));
        steps.extend(rounds.into_iter().map(|message| TrimStep::Round { message, question: None }));
        steps
    }

    /// Returns the steps that leave out the questions before the current one, and their rounds.
    fn earlier_steps(&self, current: usize) -> Vec<TrimStep> {
        let mut steps = Vec::new();
        let questions = (0..=current).filter(|&at| matches!(self.entries.get(at), Some(HistoryEntry::User(_))));
        let questions: Vec<usize> = questions.collect();
        for pair in questions.windows(2) {
            let rounds = self.rounds_between(pair[0], pair[1]);
            match rounds.split_last() {
                None => steps.push(TrimStep::Question(pair[0])),
                Some((&last, before)) => {
                    steps.extend(before.iter().map(|&message| TrimStep::Round { message, question: None }));
                    steps.push(TrimStep::Round { message: last, question: Some(pair[0]) });
                }
            }
        }
        steps
    }

    /// Returns the indices of the model's messages in a range of entries.
    fn rounds_between(&self, start: usize, end: usize) -> Vec<usize> {
        (start..end).filter(|&at| matches!(self.entries[at], HistoryEntry::Assistant(_))).collect()
    }

    /// Returns the number of results after the model's message at index `message` that are longer than `bytes`.
    fn longer_results(&self, message: usize, bytes: usize) -> usize {
        let after = self.entries[message + 1..].iter();
        let outcomes = after.map_while(|entry| match entry {
            HistoryEntry::User(_) | HistoryEntry::Assistant(_) => None,
            HistoryEntry::Outcome { outcome, .. } => Some(outcome.said().len()),
            _ => Some(0),
        });
        outcomes.filter(|length| *length > bytes).count()
    }
}
