//! What follows from a message that is over.

use std::collections::HashMap;

use crate::event::{Entry, QuotedIn, Rejected, RejectedKind};
use crate::message::{FinishReason, NativeCall};
use crate::tools::ToolChoice;

use super::announced::Announced;
use super::doubt::is_doubted;
use crate::turn::failures::{Failures, Lane};
use crate::turn::rejected::Reaction;
use crate::turn::shared::Shared;
use crate::turn::stop::StopReason;

/// What follows from a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::turn) enum Next {
    /// Its calls are dealt with.
    Run,
    /// Its rejected calls go back to the model.
    Correct,
    /// It says nothing; the model is told so.
    Empty,
    /// It begins with a result that no tool gave; the model is told so.
    Forged,
    /// It tells of an act that no call did; the model is told so.
    Announced,
    /// It lacks the call that was required; the model is told so.
    CallMissing,
    /// Its answer does not match the schema, for this reason; the model is told so.
    OutputMismatch(String),
    /// The turn is over.
    Finish(StopReason),
}

/// What a message is judged by.
pub(in crate::turn) struct Judge<'a> {
    pub(in crate::turn) shared: &'a Shared,
    /// Indices of the calls that were shown to the user.
    pub(in crate::turn) shown: &'a [u32],
    /// Native calls among its entries, by index.
    pub(in crate::turn) natives: &'a HashMap<u32, NativeCall>,
    /// How the message ended.
    pub(in crate::turn) finish: &'a FinishReason,
    /// Whether it says nothing to the user.
    pub(in crate::turn) blank: bool,
    /// Whether a call that is corrected only once was, in this turn.
    pub(in crate::turn) told_once: bool,
    /// Whether it begins with a result that no tool gave, and if so, whether the model was
    /// told so before.
    pub(in crate::turn) forged: Option<bool>,
    /// The act that it tells of and does not do, unless the model was told so before.
    pub(in crate::turn) announced: Option<Announced>,
    /// Times in a row that the passage stands there for which it was stopped.
    pub(in crate::turn) repeats: Option<u32>,
    /// What came in the field of refusals.
    pub(in crate::turn) refusal: Option<&'a str>,
    /// It was ended since no more of it is wanted.
    pub(in crate::turn) too_long: bool,
}

impl Judge<'_> {
    /// Whether the entry is a call that something must be done about.
    fn is_work(&self, entry: &Entry) -> bool {
        entry.result.is_ok() && !self.shown.contains(&entry.index)
    }

    /// Whether the model is to be told about this entry, if a round is left for it.
    pub(in crate::turn) fn corrects(&self, entry: &Entry, entries: &[Entry]) -> bool {
        let Err(rejected) = &entry.result else { return false };
        let row = self.shared.displays().row(rejected);
        let alone = entries.iter().all(|e| e.index == entry.index || is_draft(e));
        let known = rejected.tool.as_deref().is_some_and(|tool| self.shared.setup.catalog.knows(tool));
        let once = if is_doubted(rejected) { known } else { alone && known && may_be_meant(rejected) };
        row.reaction == Reaction::Correct
            && self.shared.choice != ToolChoice::None
            && (!row.only_alone || (once && !self.told_once))
    }

    /// What follows from a message with these entries.
    pub(in crate::turn) fn next(&self, entries: &[Entry]) -> Next {
        // The endpoint itself ended the answer: to ask again, or to run what it let pass of the
        // message, would go behind its back.
        if let Some(message) = self.refusal {
            return Next::Finish(StopReason::Refused { message: message.to_owned() });
        }
        if self.finish.is_filtered() {
            return Next::Finish(StopReason::Filtered);
        }
        if self.too_long {
            return Next::Finish(StopReason::OutputLimit);
        }
        if entries.iter().any(|e| self.is_work(e)) {
            return self.after_calls(entries);
        }
        if entries.iter().any(|e| self.corrects(e, entries)) {
            if self.shared.may_correct() {
                return Next::Correct;
            }
            if let Some(reason) = self.used_up(entries) {
                return Next::Finish(reason);
            }
        }
        if let Some(times) = self.repeats {
            return Next::Finish(StopReason::Repetition { times });
        }
        if *self.finish == FinishReason::Length {
            return Next::Finish(self.shared.context_full.clone().unwrap_or(StopReason::OutputLimit));
        }
        if !self.shown.is_empty() {
            return Next::Finish(StopReason::Answered);
        }
        if let Some(told) = self.forged {
            if !told && self.shared.may_correct() {
                return Next::Forged;
            }
            let message = "the message begins with a result that no tool gave".to_owned();
            return Next::Finish(StopReason::CorrectionsUsedUp { corrections: self.shared.corrections, message });
        }
        match &self.shared.choice {
            ToolChoice::Required | ToolChoice::Named(_) if self.shared.may_correct() => Next::CallMissing,
            ToolChoice::Required | ToolChoice::Named(_) => Next::Finish(StopReason::CallMissing),
            ToolChoice::Auto if self.is_undone() && self.shared.may_correct() => Next::Announced,
            _ if !self.blank => Next::Finish(StopReason::Answered),
            _ if self.shared.may_correct() => Next::Empty,
            _ => Next::Finish(StopReason::EmptyAnswer),
        }
    }

    /// Returns `true` if nothing did the act that the message tells of. A change may have been reported
    /// of an earlier call, or be one that no tool here makes.
    fn is_undone(&self) -> bool {
        match self.announced {
            Some(Announced::Ahead) => true,
            Some(Announced::Done) => self.shared.nothing_changed(),
            None => false,
        }
    }

    fn after_calls(&self, entries: &[Entry]) -> Next {
        if let Some(tool) = &self.shared.closing {
            return Next::Finish(StopReason::SameCalls { tool: tool.clone() });
        }
        if self.shared.is_last_round() {
            return Next::Finish(StopReason::MaxRounds { rounds: self.shared.setup.config.max_rounds });
        }
        if self.runs_some(entries) || self.shared.may_correct() {
            return Next::Run;
        }
        if let Some(reason) = self.used_up(entries) {
            return Next::Finish(reason);
        }
        let message = match &self.shared.choice {
            ToolChoice::Named(tool) => format!("it called another tool although only {tool} may be called"),
            _ => "it called a tool although none may be called".to_owned(),
        };
        Next::Finish(StopReason::CorrectionsUsedUp { corrections: self.shared.corrections, message })
    }

    /// Returns `true` if some call may be made, and follows no rejected one that stops it.
    fn runs_some(&self, entries: &[Entry]) -> bool {
        let mut failures = Failures::default();
        entries.iter().any(|entry| match &entry.result {
            Ok(call) => {
                let (server, tool) = (call.server.as_deref(), &call.tool);
                let lane = Lane::of(server, tool, &self.shared.setup.catalog);
                self.is_work(entry) && self.shared.choice.admits(server, tool) && failures.stopping(&lane).is_none()
            }
            Err(rejected) => {
                let is_native = self.natives.contains_key(&entry.index);
                failures.add_rejected(rejected, self.corrects(entry, entries), is_native, &self.shared.displays());
                false
            }
        })
    }

    /// How the turn ends if no mistake can be corrected any more.
    fn used_up(&self, entries: &[Entry]) -> Option<StopReason> {
        let mut rejected = entries.iter().filter_map(|e| e.result.as_ref().err());
        let last = rejected.rfind(|r| self.shared.displays().row(r).used_up == Reaction::Finish)?;
        Some(if self.shared.is_last_round() {
            StopReason::MaxRounds { rounds: self.shared.setup.config.max_rounds }
        } else {
            StopReason::CorrectionsUsedUp { corrections: self.shared.corrections, message: last.message.clone() }
        })
    }
}

/// Whether an example may be a call: weak models put calls into fences. In a code span, in
/// quotation marks and the like a model explains how it calls; and JSON in a fence with prose
/// around it is what any answer about JSON holds.
pub fn may_be_meant(rejected: &Rejected) -> bool {
    let may_be = |quoted_in| matches!(quoted_in, QuotedIn::Fence | QuotedIn::Block) && rejected.dialect.has_marker();
    rejected.quoted_in.is_none_or(may_be)
}

fn is_draft(entry: &Entry) -> bool {
    entry.result.as_ref().is_err_and(|r| r.kind == RejectedKind::InReasoning)
}
