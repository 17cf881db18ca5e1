//! What of a history is left out of a request, so that it fits a context.

use std::collections::BTreeSet;

use super::{Conversation, Entry};

/// Bytes that are left of a shortened result: a line.
pub const SHORT_RESULT_BYTES: usize = 160;

/// What of a history is left out of a request. The history itself stays whole.
///
/// A round is a message of the model with the outcomes and notes that follow
/// it, and goes as a whole: calls and their results are never parted. Steps, in
/// order:
///
/// 1. The rounds before the person's current question, oldest first. A question
///    goes with the last of its rounds, so an answer stays longer than the calls
///    that led to it.
/// 2. Of the current question's rounds all but the last have their results
///    shortened to [`SHORT_RESULT_BYTES`], oldest first.
/// 3. These rounds go, oldest first. Their calls are still recalled behind the
///    last results.
///
/// The current question and the last round stay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trim {
    /// Entries that are left out.
    hidden: BTreeSet<usize>,
    /// Messages of the model whose results are shortened.
    short: BTreeSet<usize>,
    /// Bytes of one of the last results at most.
    last: Option<usize>,
    rounds: usize,
    questions: usize,
    results: usize,
}

/// One step of a trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A message of the model goes, with the question if it is the last of its rounds.
    Round { message: usize, question: Option<usize> },
    /// A question goes that has no rounds.
    Question(usize),
    /// The results after a message of the model are shortened.
    Results { message: usize, number: usize },
}

impl Trim {
    /// Messages of the model that are left out, with all that belongs to them.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Questions of the person that are left out.
    pub fn questions(&self) -> usize {
        self.questions
    }

    /// Results that are shortened; those of rounds that are left out do not count.
    pub fn results(&self) -> usize {
        self.results
    }

    pub(super) fn hides(&self, entry: usize) -> bool {
        self.hidden.contains(&entry)
    }

    pub(super) fn shortens(&self, message: usize) -> bool {
        self.short.contains(&message)
    }

    /// Bytes of one result at most, after the message at `message`.
    pub(super) fn limit(&self, message: usize, is_last: bool) -> Option<usize> {
        if self.shortens(message) { Some(SHORT_RESULT_BYTES) } else { self.last.filter(|_| is_last) }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Round { message, question } => {
                self.hidden.insert(message);
                self.hidden.extend(question);
                self.rounds += 1;
                self.questions += usize::from(question.is_some());
            }
            Step::Question(question) => {
                self.hidden.insert(question);
                self.questions += 1;
            }
            Step::Results { message, number } => {
                self.short.insert(message);
                self.results += number;
            }
        }
    }
}

impl Conversation {
    /// The trim of so many steps, or of all that there are.
    pub fn trim(&self, steps: usize) -> Trim {
        let mut trim = Trim::default();
        for step in self.steps().into_iter().take(steps) {
            // A round that goes needs no line about its results.
            if let Step::Round { message, .. } = step
                && trim.short.remove(&message)
            {
                trim.results -= self.longer_results(message, SHORT_RESULT_BYTES);
            }
            trim.take(step);
        }
        trim
    }

    /// The trim of all steps, with each of the last results limited to so many bytes, too.
    pub fn trim_all(&self, last_result_bytes: usize) -> Trim {
        let mut trim = self.trim(usize::MAX);
        if let Some((at, _)) = self.last_message() {
            trim.last = Some(last_result_bytes);
            trim.results += self.longer_results(at, last_result_bytes);
        }
        trim
    }

    /// How many steps a trim may have.
    pub fn trim_steps(&self) -> usize {
        self.steps().len()
    }

    fn steps(&self) -> Vec<Step> {
        let current = self.entries.iter().rposition(|e| matches!(e, Entry::User(_))).unwrap_or(0);
        let mut steps = self.earlier_steps(current);
        let mut rounds = self.rounds_between(current, self.entries.len());
        rounds.pop();
        let with_results = rounds.iter().map(|&message| (message, self.longer_results(message, SHORT_RESULT_BYTES)));
        let results = with_results.filter(|(_, number)| *number > 0);
        steps.extend(results.map(|(message, number)| Step::Results { message, number }));
        steps.extend(rounds.into_iter().map(|message| Step::Round { message, question: None }));
        steps
    }

    /// Steps before the current question.
    fn earlier_steps(&self, current: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let questions = (0..=current).filter(|&at| matches!(self.entries.get(at), Some(Entry::User(_))));
        let questions: Vec<usize> = questions.collect();
        for pair in questions.windows(2) {
            let rounds = self.rounds_between(pair[0], pair[1]);
            match rounds.split_last() {
                None => steps.push(Step::Question(pair[0])),
                Some((&last, before)) => {
                    steps.extend(before.iter().map(|&message| Step::Round { message, question: None }));
                    steps.push(Step::Round { message: last, question: Some(pair[0]) });
                }
            }
        }
        steps
    }

    /// Where the model's messages stand.
    fn rounds_between(&self, start: usize, end: usize) -> Vec<usize> {
        (start..end).filter(|&at| matches!(self.entries[at], Entry::Assistant(_))).collect()
    }

    /// Results after the message at `message` that are longer than `bytes`.
    fn longer_results(&self, message: usize, bytes: usize) -> usize {
        let after = self.entries[message + 1..].iter();
        let outcomes = after.map_while(|entry| match entry {
            Entry::User(_) | Entry::Assistant(_) => None,
            Entry::Outcome { outcome, .. } => Some(outcome.said().len()),
            _ => Some(0),
        });
        outcomes.filter(|length| *length > bytes).count()
    }
}
