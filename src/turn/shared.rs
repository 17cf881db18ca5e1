//! The state that the stages of a turn share: the history, the progress of the turn, and the next actions.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::config::CALL_THRESHOLD;
use super::decide::{self, Asking};
use super::displays::Displays;
use super::event::AgentEvent;
use super::guard::{self, Made, Verdict};
use super::io::{Action, Granted, TurnError};
use super::origin::{ForeignResult, Origins};
use super::setup::Setup;
use super::stop::StopReason;
use super::warning::CallerWarning;
use super::wording::ModelNote;
use crate::constrain::Constrained;
use crate::conversation::{Answered, Conversation, HistoryCall, HistoryEntry};
use crate::event::{Call, Rejected, RejectedKind};
use crate::outcome::{Outcome, Status};
use crate::tools::schema::types;
use crate::tools::{BuiltIn, Parameter, Said, Tool, ToolChoice};
use crate::validate::OutputSchema;

/// Kind of mistake that a round only corrects, if the form of the new message can be constrained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mending {
    /// Rejected calls of the last message.
    Calls,
    /// An answer that does not match its schema.
    Output,
}

/// The input with which a turn begins, besides the conversation; most of it is for a client with a history of its own.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TurnStart {
    /// Tools that count as approved where the policy asks once.
    pub granted: Granted,
    /// The model's name on the endpoint: knowledge about the endpoint is stored under it.
    pub model: Option<String>,
    /// `true` if the model decides whether to call, whatever strategy is configured.
    pub is_free: bool,
    /// User messages, searches for tools and calls in the client's history, the oldest first.
    pub said: Vec<Said<String>>,
    /// Results in the client's history, the oldest first: a call that occurs in one is not the model's own, and the
    /// model can read on in them.
    pub results: Vec<ForeignResult>,
    /// Rejected calls since the last message of the user in the client's history that were reported to the model.
    pub rejected: Vec<Rejected>,
    /// Calls since the last message of the user in the client's history, with their outcomes, the oldest first: a loop
    /// continues from them.
    pub calls: Vec<(Call, Outcome)>,
    /// Call that is postponed until the lookups of the last calls have returned, at first from
    /// [`Withheld::postponed`] of their message.
    pub postponed: Option<Call>,
}

/// Feedback for the model on one of its messages, in addition to the results of the calls.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Withheld {
    /// Rejected calls of the message.
    pub rejected: Vec<Rejected>,
    /// Calls of the message that do not run, with their identifiers and outcomes.
    pub denied: Vec<(String, Call, Outcome)>,
    /// Notes to the model about the message as a whole.
    pub notes: Vec<String>,
    /// Postponed call, which the model wrote before these calls; it waits for the results of their lookups.
    pub postponed: Option<Call>,
}

impl Withheld {
    /// Returns the approximate number of bytes of the texts in this feedback; a call's arguments count twice.
    pub fn bytes(&self) -> usize {
        let rejected = self.rejected.iter().map(|rejected| rejected.raw.len() + rejected.message.len());
        let denied = self.denied.iter().map(|(_, call, outcome)| 2 * call.raw_arguments.len() + outcome.text.len());
        let postponed = self.postponed.iter().map(|call| 2 * call.raw_arguments.len());
        rejected.chain(denied).chain(self.notes.iter().map(String::len)).chain(postponed).sum()
    }
}

/// The state that the stages of a turn share.
pub(super) struct Shared {
    pub(super) setup: Arc<Setup>,
    pub(super) conversation: Conversation,
    /// Tool choice: the configured one until a call has met it.
    pub(super) choice: ToolChoice,
    /// The schema that the answer must match.
    pub(super) output: Option<Arc<OutputSchema>>,
    pub(super) round: u32,
    /// `true` if the requests of the round carry the tools.
    pub(super) native: bool,
    /// Number of consecutive rounds that only correct a mistake.
    pub(super) corrections: u32,
    /// The mistake that the round only corrects, if any.
    pub(super) mending: Option<Mending>,
    /// Purpose of the round's request.
    pub(super) asking: Asking,
    /// History of a client that precedes the conversation, and other input with which the turn began.
    pub(super) client: TurnStart,
    /// The purpose of the next request, if it is known.
    pub(super) next_asking: Option<Asking>,
    /// Number of consecutive messages that were replaced by those of another request.
    pub(super) narrowed: u32,
    /// The constraint of the round's request.
    pub(super) held: Option<Constrained>,
    /// Name of the tool of the last call that is not run again; set if the next message is the last one, because the
    /// model made only such calls.
    pub(super) closing: Option<String>,
    /// Name of the identifier that nobody gave, if the answer has to ask for it.
    pub(super) missing: Option<String>,
    /// The stop reason, if the last message was cut off because the context was full.
    pub(super) context_full: Option<StopReason>,
    /// Number of calls of this turn that ran.
    pub(super) calls: u32,
    /// `true` if there is no approver.
    pub(super) unattended: bool,
    /// Untrusted texts of the conversation, and the calls in them.
    pub(super) origins: Origins,
    /// The actions for the driver, in order.
    pub(super) actions: VecDeque<Action>,
}

impl Shared {
    pub(super) fn new(setup: Arc<Setup>, conversation: Conversation, output: Option<Arc<OutputSchema>>) -> Self {
        let (choice, unattended) = (setup.config.tool_choice.clone(), setup.config.unattended);
        let actions = VecDeque::new();
        Shared {
            setup,
            conversation,
            choice,
            output,
            round: 0,
            native: false,
            corrections: 0,
            mending: None,
            asking: Asking::default(),
            client: TurnStart::default(),
            next_asking: None,
            narrowed: 0,
            held: None,
            closing: None,
            missing: None,
            context_full: None,
            calls: 0,
            unattended,
            origins: Origins::default(),
            actions,
        }
    }

    /// Returns the results in the conversation and the client's history, the newest first, with the ids of their calls.
    pub(super) fn results(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let own = self.conversation.entries().iter().rev().filter_map(|entry| match entry {
            HistoryEntry::Outcome { id, outcome } => Some((id.as_str(), outcome.said())),
            _ => None,
        });
        own.chain(self.origins.foreign.iter().rev().map(|result| (&*result.id, Cow::Borrowed(&*result.text))))
    }

    /// Reports an event to the caller.
    pub(super) fn emit(&mut self, event: AgentEvent) {
        self.actions.push_back(Action::Emit(event));
    }

    /// Adds the outcome of a call to the history and reports it to the caller.
    pub(super) fn answer(&mut self, id: &str, outcome: Outcome) -> Result<(), TurnError> {
        self.conversation.answer(id, outcome.clone())?;
        self.emit(AgentEvent::Outcome { id: id.to_owned(), outcome });
        Ok(())
    }

    /// Returns the user's messages, searches and calls of the conversation, which indicate the tools to list.
    pub(super) fn said(&self) -> Vec<Said<&str>> {
        let entries = self.conversation.entries().iter().flat_map(|entry| match entry {
            HistoryEntry::User(user) => vec![Said::Question(user.text.as_str())],
            HistoryEntry::Assistant(message) => {
                let calls = message.calls().map(|made| &made.call);
                calls.map(|call| self.said_by(call)).collect()
            }
            HistoryEntry::Outcome { .. } | HistoryEntry::Note { .. } => Vec::new(),
        });
        self.client.said.iter().map(Said::as_ref).chain(entries).collect()
    }

    /// Converts a call into a search for tools or a called tool, as an indication of the tools to list.
    fn said_by<'c>(&self, call: &'c Call) -> Said<&'c str> {
        let (server, tool) = (call.server.as_deref(), call.tool.as_str());
        match (self.setup.catalog.as_built_in(server, tool), call.arguments["query"].as_str()) {
            (Some(BuiltIn::Find), Some(query)) => Said::Searched(query),
            _ => Said::Called { server, tool },
        }
    }

    /// Returns the model's searches for tools in the turn.
    pub(super) fn searched(&self) -> impl Iterator<Item = &str> {
        let calls = self.conversation.messages().flat_map(|message| message.calls());
        calls.filter_map(|made| match self.said_by(&made.call) {
            Said::Searched(query) => Some(query),
            _ => None,
        })
    }

    /// Returns the texts of the user and the tools, from which a call can take its paths and identifiers.
    pub(super) fn said_things(&self) -> decide::ConversationText {
        let own = self.conversation.entries().iter().filter_map(|entry| match entry {
            HistoryEntry::User(user) => Some(user.text.as_str()),
            _ => None,
        });
        let before = self.client.said.iter().filter_map(|said| match said {
            Said::Question(text) => Some(text.as_str()),
            Said::Searched(_) | Said::Called { .. } => None,
        });
        let person = before.chain(own).collect::<Vec<_>>().join("\n");
        let mut results: Vec<String> = self.results().map(|(_, text)| text.into_owned()).collect();
        results.reverse();
        let made = self.made();
        // `locked` does not take `lock-1`.
        let is_truth = |parameter: &Parameter<'_>| types(parameter.schema).any(|own| own == "boolean");
        let members = self.setup.catalog.offered().flat_map(Tool::parameters).filter(|own| !is_truth(own));
        decide::ConversationText::new(person, results).with_calls(&made, members.map(|own| own.name.to_owned()))
    }

    /// Adds an outcome with this status and a note to the model for a call.
    pub(super) fn answer_with(&mut self, id: &str, status: Status, note: ModelNote<'_>) -> Result<(), TurnError> {
        let text = self.setup.wording().note(note);
        self.answer(id, Outcome::new(status, text))
    }

    /// Returns `true` if the feedback on the last message is about a call that the model meant and wrote
    /// wrongly: the next answer may then be constrained to calls. Calls that may only be quoted do not
    /// justify that, and the form of one that is too large is correct.
    pub(super) fn calls_are_mended(&self) -> bool {
        let mut told = self.conversation.messages().last().into_iter().flat_map(|message| message.feedback());
        told.any(|rejected| {
            matches!(
                rejected.kind,
                RejectedKind::Malformed
                    | RejectedKind::Truncated
                    | RejectedKind::UnknownTool
                    | RejectedKind::InvalidArguments
            )
        })
    }

    /// Reports a warning to the caller.
    pub(super) fn warn(&mut self, notice: CallerWarning) {
        self.emit(AgentEvent::Notice { notice });
    }

    /// Reports a correction to the caller that is about the message as a whole, not about a rejected call.
    pub(super) fn corrects(&mut self, message: impl Into<String>) {
        self.emit(AgentEvent::Correcting { kind: None, message: message.into() });
    }

    /// Returns `true` if a round that only corrects a mistake may follow.
    pub(super) fn may_correct(&self) -> bool {
        self.corrections < self.setup.config.max_corrections && !self.is_last_round()
    }

    /// Returns `true` if a mistake in the streaming message will be corrected.
    pub(super) fn is_correcting(&self) -> bool {
        self.choice != ToolChoice::None && self.may_correct()
    }

    /// Returns `true` if the current round is the last one.
    pub(super) fn is_last_round(&self) -> bool {
        self.closing.is_some() || self.round >= self.setup.config.max_rounds
    }

    /// Returns `true` if a call of the next message would be executed.
    pub(super) fn may_call(&self) -> bool {
        !(self.choice == ToolChoice::None || self.is_last_round() || self.setup.catalog.is_empty())
    }

    /// Returns the verdict of the guard against loops about a call.
    pub(super) fn verdict(&self, next: &HistoryCall) -> Verdict {
        let pending = self.conversation.pending().take_while(|call| call.id != next.id);
        let mut made = self.made();
        made.extend(pending.filter_map(|call| Made::new(&call.call, self.is_read(&call.call), None)));
        guard::judge(&made, &next.call, self.is_read(&next.call), self.setup.config.max_same_results)
    }

    /// Returns `true` if the message is constrained to calls although the caller leaves the choice to the model.
    pub(super) fn is_held_by_us(&self) -> bool {
        self.asking.is_held() && self.choice == ToolChoice::Auto
    }

    /// Returns `true` if the last entry of the history, apart from notes, is a result.
    pub(super) fn follows_results(&self) -> bool {
        let last = self.conversation.entries().iter().rev().find(|entry| !matches!(entry, HistoryEntry::Note { .. }));
        let is_result = match last {
            Some(HistoryEntry::Outcome { .. }) => true,
            // A client's results are before the conversation.
            Some(HistoryEntry::User(_)) => !self.client.calls.is_empty(),
            _ => false,
        };
        is_result && !self.made().is_empty()
    }

    /// Returns `true` if the user's last message is a question.
    pub(super) fn asks_a_question(&self) -> bool {
        self.request().is_some_and(decide::is_question)
    }

    /// Returns the natural logarithm of the probability of a call from which on a message must be a call.
    pub(super) fn call_threshold(&self) -> f64 {
        let own = self.setup.config.call_threshold.unwrap_or(CALL_THRESHOLD);
        // No probability reaches a threshold above zero, so the margin must not lower it.
        let margin = || decide::call_margin(self.request().unwrap_or_default(), self.setup.catalog.offered());
        if own <= 0.0 { own - margin() } else { own }
    }

    /// Returns `true` if an earlier call already returned the result that this call would return.
    pub(super) fn is_answered(&self, call: &Call) -> bool {
        guard::is_answered(&self.made(), call, self.changes(call), &|call| self.changes_nothing(call))
    }

    /// Returns the number of consecutive calls equal to the call with this id that returned its result; 0 without one.
    pub(super) fn same_results(&self, id: &str) -> u32 {
        let answered = self.conversation.answered();
        answered.iter().find(|answered| answered.id == id).map_or(0, |a| guard::same_results(&self.made(), a.call))
    }

    /// Returns the calls since the user's last message that ran, with their outcomes.
    pub(super) fn answered(&self) -> Vec<Answered<'_>> {
        let client = self.client.calls.iter().map(|(call, outcome)| Answered::new("", call, outcome));
        let all = client.chain(self.conversation.answered());
        all.filter(|answered| !matches!(answered.outcome.status, Status::Denied | Status::Displayed)).collect()
    }

    /// Returns the calls since the user's last message that have an outcome, including the client's.
    pub(super) fn made(&self) -> Vec<Made<'_>> {
        let client = self.client.calls.iter().map(|(call, outcome)| (call, outcome));
        let own = self.conversation.answered().into_iter().map(|answered| (answered.call, answered.outcome));
        client.chain(own).filter_map(|(call, outcome)| Made::new(call, self.is_read(call), Some(outcome))).collect()
    }

    /// Returns the feedback on the model's last message, in addition to the results of the calls that run.
    pub(super) fn withheld(&self) -> Withheld {
        let entries = self.conversation.entries();
        let last =
            entries.iter().rposition(|entry| matches!(entry, HistoryEntry::Assistant(_))).unwrap_or(entries.len());
        let mut withheld = Withheld { postponed: self.client.postponed.clone(), ..Withheld::default() };
        for entry in &entries[last..] {
            match entry {
                HistoryEntry::Assistant(message) => withheld.rejected.extend(message.feedback().cloned()),
                HistoryEntry::Outcome { id, outcome } if outcome.status == Status::Denied => {
                    let made = self.conversation.messages().last().and_then(|m| m.calls().find(|call| call.id == *id));
                    withheld.denied.extend(made.map(|made| (id.clone(), (*made.call).clone(), outcome.clone())));
                }
                HistoryEntry::Note { text } => withheld.notes.push(text.clone()),
                _ => {}
            }
        }
        withheld
    }

    /// Returns `true` if some tool could change something and no call did: none ran since the user's last message, and
    /// all earlier ones only read.
    pub(super) fn nothing_changed(&self) -> bool {
        let catalog = &self.setup.catalog;
        let changes = |said: &Said<&str>| match said {
            Said::Called { server, tool } => !catalog.is_read_only(*server, tool),
            Said::Question(_) | Said::Searched(_) => false,
        };
        let can = catalog.offered().any(|tool| !tool.is_read_only() && !tool.display_only);
        can && self.made().is_empty() && !self.said().iter().any(changes)
    }

    fn is_read(&self, call: &Call) -> bool {
        self.setup.catalog.is_read_only(call.server.as_deref(), &call.tool)
    }

    /// Returns the checks that decide which calls are shown and not run.
    pub(super) fn displays(&self) -> Displays<'_> {
        Displays { setup: &self.setup, choice: &self.choice, conversation: &self.conversation }
    }

    /// Returns `true` if a call since the user's last message, which may be from before a suspension, meets the tool
    /// choice.
    pub(super) fn has_called(&self) -> bool {
        self.conversation.answered().iter().any(|answered| {
            let (server, tool) = (answered.call.server.as_deref(), answered.call.tool.as_str());
            answered.outcome.status != Status::Cancelled
                && self.choice.admits(server, tool)
                // A built-in tool only reads what was left out, so it does not meet a required call; a call
                // that was stopped does not, either.
                && self.setup.catalog.as_built_in(server, tool).is_none()
        })
    }
}
