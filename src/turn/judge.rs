//! What follows from a message that is over.

use crate::assemble::Entry;
use crate::call::RejectedKind;
use crate::message::FinishReason;
use crate::tool::ToolChoice;

use super::display::Displays;
use super::rejected::Reaction;
use super::stop::StopReason;

/// What follows from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Its calls are dealt with.
    Run,
    /// Its rejected calls go back to the model.
    Correct,
    /// It says nothing; the model is told so.
    Empty,
    /// It lacks the call that was required; the model is told so.
    CallMissing,
    /// The turn is over.
    Finish(StopReason),
}

/// What a message is judged by.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) displays: Displays<'a>,
    /// Indices of the calls that were shown to the user.
    pub(super) shown: &'a [u32],
    /// How the message ended.
    pub(super) finish: &'a FinishReason,
    /// Whether it says nothing to the user.
    pub(super) blank: bool,
    /// Whether a quoted call was corrected in this turn.
    pub(super) quoted_told: bool,
    pub(super) round: u32,
    pub(super) max_rounds: u32,
    /// Corrections in a row before this message.
    pub(super) corrections: u32,
    pub(super) max_corrections: u32,
}

impl Judge<'_> {
    /// Whether a round that only corrects a mistake may follow.
    pub(super) fn may_correct(&self) -> bool {
        self.corrections < self.max_corrections && self.has_round()
    }

    /// Whether the entry is a call that something must be done about.
    fn is_work(&self, entry: &Entry) -> bool {
        entry.result.is_ok() && !self.shown.contains(&entry.index)
    }

    fn has_round(&self) -> bool {
        self.round < self.max_rounds
    }

    /// Whether the model is to be told about this entry, if a round is left for it.
    pub(super) fn corrects(&self, entry: &Entry, entries: &[Entry]) -> bool {
        let Err(rejected) = &entry.result else { return false };
        let row = self.displays.row(rejected);
        let alone = entries.iter().all(|e| e.index == entry.index || is_draft(e));
        let known = rejected.tool.as_deref().is_some_and(|tool| self.displays.setup.catalog.knows(tool));
        row.reaction == Reaction::Correct
            && *self.displays.choice != ToolChoice::None
            && (!row.only_alone || (alone && known && !self.quoted_told))
    }

    /// What follows from a message with these entries.
    pub(super) fn next(&self, entries: &[Entry]) -> Next {
        if entries.iter().any(|e| self.is_work(e)) {
            return self.after_calls(entries);
        }
        if entries.iter().any(|e| self.corrects(e, entries)) {
            if self.may_correct() {
                return Next::Correct;
            }
            if let Some(reason) = self.used_up(entries) {
                return Next::Finish(reason);
            }
        }
        if *self.finish == FinishReason::Length {
            return Next::Finish(StopReason::OutputLimit);
        }
        if !self.shown.is_empty() {
            return Next::Finish(StopReason::Answered);
        }
        match self.displays.choice {
            ToolChoice::Required | ToolChoice::Named(_) if self.may_correct() => Next::CallMissing,
            ToolChoice::Required | ToolChoice::Named(_) => Next::Finish(StopReason::CallMissing),
            _ if !self.blank => Next::Finish(StopReason::Answered),
            _ if self.may_correct() => Next::Empty,
            _ => Next::Finish(StopReason::EmptyAnswer),
        }
    }

    fn after_calls(&self, entries: &[Entry]) -> Next {
        if !self.has_round() {
            return Next::Finish(StopReason::MaxRounds { rounds: self.max_rounds });
        }
        let mut calls = entries.iter().filter(|e| self.is_work(e)).filter_map(|e| e.result.as_ref().ok());
        let admitted = calls.any(|call| self.displays.choice.admits(call.server.as_deref(), &call.tool));
        if admitted || self.may_correct() {
            return Next::Run;
        }
        let message = match self.displays.choice {
            ToolChoice::Named(tool) => format!("it called another tool although only {tool} may be called"),
            _ => "it called a tool although none may be called".to_owned(),
        };
        Next::Finish(StopReason::CorrectionsUsedUp { corrections: self.corrections, message })
    }

    /// How the turn ends if no mistake can be corrected any more.
    fn used_up(&self, entries: &[Entry]) -> Option<StopReason> {
        let mut rejected = entries.iter().filter_map(|e| e.result.as_ref().err());
        let last = rejected.rfind(|r| self.displays.row(r).used_up == Reaction::Finish)?;
        Some(if self.has_round() {
            StopReason::CorrectionsUsedUp { corrections: self.corrections, message: last.message.clone() }
        } else {
            StopReason::MaxRounds { rounds: self.max_rounds }
        })
    }
}

fn is_draft(entry: &Entry) -> bool {
    entry.result.as_ref().is_err_and(|r| r.kind == RejectedKind::InReasoning)
}
