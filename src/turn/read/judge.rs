//! Decides the consequence of a message that has ended.

use crate::event::{Entry, QuotedIn, Rejected, RejectedKind};
use crate::message::FinishReason;
use crate::tools::ToolChoice;

use super::announced::Announced;
use super::doubt::is_doubted;
use super::message::EndedMessage;
use crate::turn::decide::Asking;
use crate::turn::failures::{Failures, Lane};
use crate::turn::rejected::Reaction;
use crate::turn::shared::Shared;
use crate::turn::stop::StopReason;

/// Consequence of a message that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::turn) enum Next {
    /// The message's calls are executed.
    Run,
    /// The model is told about the message's rejected calls.
    Correct,
    /// The message has no content; the model is told so.
    Empty,
    /// The message begins with a result that no tool gave; the model is told so.
    Forged,
    /// The message mentions an action that no call did; the model is told so.
    Announced,
    /// The required call is missing; the model is told so.
    CallMissing,
    /// The answer does not match the schema, for this reason; the model is told so.
    OutputMismatch(String),
    /// The turn ends for this reason.
    Finish(StopReason),
}

/// The properties by which a message is judged.
pub(in crate::turn) struct Judge<'a> {
    pub(in crate::turn) shared: &'a Shared,
    pub(in crate::turn) message: &'a EndedMessage,
    /// The finish reason of the message.
    pub(in crate::turn) finish: &'a FinishReason,
    /// `true` if the message has no text for the user.
    pub(in crate::turn) blank: bool,
    /// `true` if a call that is corrected only once was corrected in this turn.
    pub(in crate::turn) told_once: bool,
    /// `Some` if the message begins with a result that no tool gave; `true` if the model was told so before.
    pub(in crate::turn) forged: Option<bool>,
    /// Kind of action that the message mentions and does not do, unless the model was told so before.
    pub(in crate::turn) announced: Option<Announced>,
}

impl Judge<'_> {
    /// Returns `true` if the entry is a call that has to be executed or, where none may be made, answered. Beside text,
    /// which is then the answer, such a call is dropped.
    fn is_work(&self, entry: &Entry) -> bool {
        let is_dropped = self.shared.choice == ToolChoice::None && !self.blank;
        entry.result.is_ok() && !is_dropped && !self.message.shown.contains(&entry.index)
    }

    /// Returns `true` if the model must be told about this rejected call, provided that a round is left.
    pub(in crate::turn) fn corrects(&self, entry: &Entry) -> bool {
        let Err(rejected) = &entry.result else { return false };
        let reaction = self.shared.displays().reaction(rejected);
        let alone = self.message.entries.iter().all(|e| e.index == entry.index || is_draft(e));
        let known = rejected.tool.as_deref().is_some_and(|tool| self.shared.setup.catalog.knows(tool));
        // A doubtful call, or the only one of a message, is corrected once, because it may have been text.
        let once = if is_doubted(rejected) { known } else { alone && known && may_be_meant(rejected) };
        reaction != Reaction::Ignore
            && self.shared.choice != ToolChoice::None
            // In an answer that was asked for after the calls, what looks like a call describes one.
            && self.shared.asking != Asking::Answer
            && (reaction != Reaction::CorrectOnce || (once && !self.told_once))
    }

    /// Returns the consequence of the message.
    pub(in crate::turn) fn next(&self) -> Next {
        let entries = &self.message.entries;
        // The endpoint itself ended the answer, so asking again or running the calls that it let through would
        // circumvent its decision.
        if let Some(message) = self.message.refusal.clone() {
            return Next::Finish(StopReason::Refused { message });
        }
        if self.finish.is_filtered() {
            return Next::Finish(StopReason::Filtered);
        }
        if self.message.too_long {
            return Next::Finish(StopReason::OutputLimit);
        }
        // Beside a valid call the corrections go along with its result, so work comes first.
        if entries.iter().any(|e| self.is_work(e)) {
            return self.after_calls();
        }
        if entries.iter().any(|e| self.corrects(e)) {
            if self.shared.may_correct() {
                return Next::Correct;
            }
            // If none was meant as a call for certain, they stay text, and the message is judged as an answer.
            if let Some(reason) = self.used_up() {
                return Next::Finish(reason);
            }
        }
        if let Some(times) = self.message.repeats {
            return Next::Finish(StopReason::Repetition { times });
        }
        if *self.finish == FinishReason::Length {
            return Next::Finish(self.shared.context_full.clone().unwrap_or(StopReason::OutputLimit));
        }
        // A shown call is an answer by itself, and the call that a tool choice requires.
        if !self.message.shown.is_empty() {
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

    /// Returns `true` if no call did what the message says. A report of a change may be about an earlier call, or about
    /// a change that no tool here makes.
    fn is_undone(&self) -> bool {
        match self.announced {
            Some(Announced::Ahead) => true,
            Some(Announced::Done) => self.shared.nothing_changed(),
            None => false,
        }
    }

    fn after_calls(&self) -> Next {
        if let Some(tool) = &self.shared.closing {
            return Next::Finish(StopReason::SameCalls { tool: tool.clone() });
        }
        if self.shared.is_last_round() {
            return Next::Finish(StopReason::MaxRounds { rounds: self.shared.setup.config.max_rounds });
        }
        // If every call would only be denied, the next round is one of correction.
        if self.runs_some() || self.shared.may_correct() {
            return Next::Run;
        }
        if let Some(reason) = self.used_up() {
            return Next::Finish(reason);
        }
        let message = match &self.shared.choice {
            ToolChoice::Named(tool) => format!("it called another tool although only {tool} may be called"),
            _ => "it called a tool although none may be called".to_owned(),
        };
        Next::Finish(StopReason::CorrectionsUsedUp { corrections: self.shared.corrections, message })
    }

    /// Returns `true` if some call may run and does not follow a rejected one that stops it.
    fn runs_some(&self) -> bool {
        let mut failures = Failures::default();
        self.message.entries.iter().any(|entry| match &entry.result {
            Ok(call) => {
                let (server, tool) = (call.server.as_deref(), &call.tool);
                let lane = Lane::of(server, tool, &self.shared.setup.catalog);
                self.is_work(entry) && self.shared.choice.admits(server, tool) && failures.stopping(&lane).is_none()
            }
            Err(rejected) => {
                // `add_rejected` distinguishes a native call that was cut off from the beginning of one that
                // was left in the text.
                let is_native = self.message.natives.contains_key(&entry.index);
                failures.add_rejected(rejected, self.corrects(entry), is_native, &self.shared.displays());
                false
            }
        })
    }

    /// Returns the stop reason if no mistake can be corrected any more.
    fn used_up(&self) -> Option<StopReason> {
        let mut rejected = self.message.entries.iter().filter_map(|e| e.result.as_ref().err());
        let last = rejected.rfind(|r| self.shared.displays().is_meant(r))?;
        Some(if self.shared.is_last_round() {
            StopReason::MaxRounds { rounds: self.shared.setup.config.max_rounds }
        } else {
            StopReason::CorrectionsUsedUp { corrections: self.shared.corrections, message: last.message.clone() }
        })
    }
}

/// Returns `true` if an example may be a call, because weak models put calls into code fences. In a code span, in
/// quotation marks and the like a model explains its calls; and JSON in a fence with prose around it occurs in any
/// answer about JSON.
pub fn may_be_meant(rejected: &Rejected) -> bool {
    let may_be = |quoted_in| matches!(quoted_in, QuotedIn::Fence | QuotedIn::Block) && rejected.dialect.has_marker();
    rejected.quoted_in.is_none_or(may_be)
}

fn is_draft(entry: &Entry) -> bool {
    entry.result.as_ref().is_err_and(|r| r.kind == RejectedKind::InReasoning)
}
