//! What the stages of a turn share: the history, how far the turn is, and what is to be done.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::config::CALL_THRESHOLD;
use super::decide::{self, Asking};
use super::displays::Displays;
use super::event::AgentEvent;
use super::guard::{self, Made, Verdict};
use super::io::{Action, TurnError};
use super::origin::{ForeignResult, Origins};
use super::setup::Setup;
use super::stop::StopReason;
use super::warning::CallerWarning;
use super::wording::ModelNote;
use crate::constrain::Constrained;
use crate::conversation::{Answered, Conversation, Entry, HistoryCall};
use crate::event::{Call, Rejected, RejectedKind};
use crate::outcome::{Outcome, Status};
use crate::tools::{BuiltIn, Said, Tool, ToolChoice};
use crate::validate::OutputSchema;

/// What a round mends whose form can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mending {
    /// Rejected calls.
    Calls,
    /// An answer that does not match its schema.
    Output,
}

/// What somebody brings to a turn who has a history of his own.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ClientTurn {
    /// The model as the endpoint knows it: what is learned of the endpoint is learned for that.
    pub model: Option<String>,
    /// Whether it calls is left to the model, whatever way is configured.
    pub is_free: bool,
    /// What was said in the history, the oldest first.
    pub said: Vec<SaidBefore>,
    /// What his tools said there, the oldest first: a call that stands there is not the model's
    /// own, and what was left out of it can be read on.
    pub results: Vec<ForeignResult>,
    /// Rejected calls that the model was told of there since the person last spoke.
    pub rejected: Vec<Rejected>,
    /// The calls that were made there since the person last spoke, with their outcomes, the oldest
    /// first: a loop goes on from them.
    pub calls: Vec<(Call, Outcome)>,
}

/// What a model is to be told of its message beside the results of its calls.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Withheld {
    /// Its rejected calls.
    pub rejected: Vec<Rejected>,
    /// Its calls that do not run, with their identifiers and outcomes.
    pub denied: Vec<(String, Call, Outcome)>,
    /// Notes about the whole of it.
    pub notes: Vec<String>,
}

impl Withheld {
    /// Bytes of its texts.
    pub fn bytes(&self) -> usize {
        let rejected = self.rejected.iter().map(|rejected| rejected.raw.len() + rejected.message.len());
        let denied = self.denied.iter().map(|(_, call, outcome)| 2 * call.raw_arguments.len() + outcome.text.len());
        rejected.chain(denied).chain(self.notes.iter().map(String::len)).sum()
    }
}

/// What was said before the conversation, as far as it tells which tools are meant.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaidBefore {
    /// What a person asked.
    Question(String),
    /// The model looked for tools where requests carry them.
    Searched(String),
    /// The model called the tool.
    Called {
        /// The tool's server.
        server: Option<String>,
        /// The tool's name.
        tool: String,
    },
}

impl SaidBefore {
    /// A call of the tool.
    pub fn called(tool: &Tool) -> Self {
        SaidBefore::Called { server: tool.server.clone(), tool: tool.name.clone() }
    }

    fn as_said(&self) -> Said<'_> {
        match self {
            SaidBefore::Question(text) => Said::Question(text),
            SaidBefore::Searched(words) => Said::Searched(words),
            SaidBefore::Called { server, tool } => Said::Called { server: server.as_deref(), tool },
        }
    }
}

/// What the stages of a turn share.
pub(super) struct Shared {
    pub(super) setup: Arc<Setup>,
    pub(super) conversation: Conversation,
    /// What is due: the configured choice until it is met.
    pub(super) choice: ToolChoice,
    /// The schema that the answer has to match.
    pub(super) output: Option<Arc<OutputSchema>>,
    pub(super) round: u32,
    /// The requests of the round carry the tools.
    pub(super) native: bool,
    /// Rounds in a row that only correct a mistake.
    pub(super) corrections: u32,
    /// What the round only mends, if it does.
    pub(super) mending: Option<Mending>,
    /// What the request is for.
    pub(super) asking: Asking,
    /// The model as the endpoint names it, where whoever drives the turn names it.
    pub(super) endpoint_model: Option<String>,
    /// What was said before the conversation.
    pub(super) said_before: Vec<SaidBefore>,
    /// Whether it calls is left to the model.
    pub(super) is_free: bool,
    /// What the next request is for, where that is known.
    pub(super) next_asking: Option<Asking>,
    /// Times in a row that calls were narrowed since the last one that ran.
    pub(super) narrowed: u32,
    /// The call in whose place something is looked up.
    pub(super) postponed: Option<Call>,
    /// What the round's request holds the answer to.
    pub(super) held: Option<Constrained>,
    /// The next message is the last: the model made nothing but calls that are not run again; the
    /// tool of the last of them.
    pub(super) closing: Option<String>,
    /// The last message was cut off since the context was full.
    pub(super) context_full: Option<StopReason>,
    /// Calls that ran.
    pub(super) calls: u32,
    /// The calls before the conversation since the person last spoke, with their outcomes.
    pub(super) client_calls: Vec<(Call, Outcome)>,
    /// Nobody can be asked about a call.
    pub(super) unattended: bool,
    /// The calls in what others say.
    pub(super) origins: Origins,
    /// What whoever drives the turn is to do, in order.
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
            endpoint_model: None,
            said_before: Vec::new(),
            is_free: false,
            next_asking: None,
            narrowed: 0,
            postponed: None,
            held: None,
            closing: None,
            client_calls: Vec::new(),
            context_full: None,
            calls: 0,
            unattended,
            origins: Origins::default(),
            actions,
        }
    }

    /// What the tools said, the newest first, with the ids of the calls.
    pub(super) fn results(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let own = self.conversation.entries().iter().rev().filter_map(|entry| match entry {
            Entry::Outcome { id, outcome } => Some((id.as_str(), outcome.said())),
            _ => None,
        });
        own.chain(self.origins.foreign().iter().rev().map(|result| (&*result.id, Cow::Borrowed(&*result.text))))
    }

    /// Tells the caller.
    pub(super) fn emit(&mut self, event: AgentEvent) {
        self.actions.push_back(Action::Emit(event));
    }

    /// Answers a call, in the history and to the caller.
    pub(super) fn answer(&mut self, id: &str, outcome: Outcome) -> Result<(), TurnError> {
        self.conversation.answer(id, outcome.clone())?;
        self.emit(AgentEvent::Outcome { id: id.to_owned(), outcome });
        Ok(())
    }

    /// What was said so far, as far as it tells which tools are meant.
    pub(super) fn said(&self) -> Vec<Said<'_>> {
        let entries = self.conversation.entries().iter().flat_map(|entry| match entry {
            Entry::User(user) => vec![Said::Question(&user.text)],
            Entry::Assistant(message) => {
                let calls = message.calls().map(|made| &made.call);
                calls.map(|call| self.said_by(call)).collect()
            }
            Entry::Outcome { .. } | Entry::Note { .. } => Vec::new(),
        });
        self.said_before.iter().map(SaidBefore::as_said).chain(entries).collect()
    }

    /// What a call says of the tools that are meant.
    fn said_by<'c>(&self, call: &'c Call) -> Said<'c> {
        let (server, tool) = (call.server.as_deref(), call.tool.as_str());
        match (self.setup.catalog.as_built_in(server, tool), call.arguments["query"].as_str()) {
            (Some(BuiltIn::Find), Some(query)) => Said::Searched(query),
            _ => Said::Called { server, tool },
        }
    }

    /// What the model looked for in the turn.
    pub(super) fn searched(&self) -> impl Iterator<Item = &str> {
        let calls = self.conversation.messages().flat_map(|message| message.calls());
        calls.filter_map(|made| match self.said_by(&made.call) {
            Said::Searched(query) => Some(query),
            _ => None,
        })
    }

    /// What the person and the tools said, by which calls can name things.
    pub(super) fn said_things(&self) -> decide::Said {
        let own = self.conversation.entries().iter().filter_map(|entry| match entry {
            Entry::User(user) => Some(user.text.as_str()),
            _ => None,
        });
        let before = self.said_before.iter().filter_map(|said| match said {
            SaidBefore::Question(text) => Some(text.as_str()),
            SaidBefore::Searched(_) | SaidBefore::Called { .. } => None,
        });
        let person = before.chain(own).collect::<Vec<_>>().join("\n");
        let mut results: Vec<String> = self.results().map(|(_, text)| text.into_owned()).collect();
        results.reverse();
        let made = self.made();
        let failed = made.iter().filter(|made| made.failed()).map(|made| &made.call().arguments);
        let members =
            self.setup.catalog.offered().flat_map(Tool::parameters).map(|parameter| parameter.name.to_owned());
        decide::Said::new(person, results).with_failed(failed).with_ids(members)
    }

    /// Answers a call with a note to the model.
    pub(super) fn answer_with(&mut self, id: &str, status: Status, note: ModelNote<'_>) -> Result<(), TurnError> {
        let text = self.setup.wording().note(note);
        self.answer(id, Outcome::new(status, text))
    }

    /// Whether the model is told of calls that it meant and could not write. One that it may
    /// only have quoted is no reason to demand a call; one that is too large has its form.
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

    /// Tells the caller what he should know.
    pub(super) fn warn(&mut self, notice: CallerWarning) {
        self.emit(AgentEvent::Notice { notice });
    }

    /// Tells the caller what the model is to do better, beside its rejected calls.
    pub(super) fn corrects(&mut self, message: impl Into<String>) {
        self.emit(AgentEvent::Correcting { kind: None, message: message.into() });
    }

    /// Whether a round that only corrects a mistake may follow.
    pub(super) fn may_correct(&self) -> bool {
        self.corrections < self.setup.config.max_corrections && !self.is_last_round()
    }

    /// Whether a mistake in the message that streams will be corrected.
    pub(super) fn is_correcting(&self) -> bool {
        self.choice != ToolChoice::None && self.may_correct()
    }

    /// Whether no round follows the one that is asked for.
    pub(super) fn is_last_round(&self) -> bool {
        self.closing.is_some() || self.round >= self.setup.config.max_rounds
    }

    /// Whether a call of the next message would be dealt with.
    pub(super) fn may_call(&self) -> bool {
        !(self.choice == ToolChoice::None || self.is_last_round() || self.setup.catalog.is_empty())
    }

    /// What the guard against loops says to a call that is to run.
    pub(super) fn verdict(&self, next: &HistoryCall) -> Verdict {
        let pending = self.conversation.pending().take_while(|call| call.id != next.id);
        let mut made = self.made();
        made.extend(pending.filter_map(|call| Made::new(&call.call, self.is_read(&call.call), None)));
        guard::judge(&made, &next.call, self.is_read(&next.call), self.setup.config.max_same_results)
    }

    /// Returns `true` if the last thing that happened is that calls got results.
    pub(super) fn follows_results(&self) -> bool {
        let last = self.conversation.entries().iter().rev().find(|entry| !matches!(entry, Entry::Note { .. }));
        let is_result = match last {
            Some(Entry::Outcome { .. }) => true,
            // A client's results stand before the conversation.
            Some(Entry::User(_)) => !self.client_calls.is_empty(),
            _ => false,
        };
        is_result && !self.made().is_empty()
    }

    /// Returns `true` if what the person said last is a question.
    pub(super) fn asks_a_question(&self) -> bool {
        self.request().is_some_and(decide::is_question)
    }

    /// From which logarithm of its probability on a message is to be a call.
    pub(super) fn call_threshold(&self) -> f64 {
        let own = self.setup.config.call_threshold.unwrap_or(CALL_THRESHOLD);
        // None is as likely as one above zero wants it.
        if own <= 0.0 { own - self.request().map_or(0.0, decide::call_margin) } else { own }
    }

    /// Returns `true` if a call returned already what this one would.
    pub(super) fn is_answered(&self, call: &Call) -> bool {
        guard::is_answered(&self.made(), call, self.changes(call), &|call| self.looks_up(call))
    }

    /// Returns how many times in a row equal calls have returned the result of this one.
    pub(super) fn same_results(&self, id: &str) -> u32 {
        let answered = self.conversation.answered();
        answered.iter().find(|answered| answered.id == id).map_or(0, |a| guard::same_results(&self.made(), a.call))
    }

    /// The calls since the person last spoke that ran, with their outcomes.
    pub(super) fn answered(&self) -> Vec<Answered<'_>> {
        let client = self.client_calls.iter().map(|(call, outcome)| Answered::new("", call, outcome));
        let all = client.chain(self.conversation.answered());
        all.filter(|answered| !matches!(answered.outcome.status, Status::Denied | Status::Displayed)).collect()
    }

    /// The calls since the person last spoke that have an outcome.
    pub(super) fn made(&self) -> Vec<Made<'_>> {
        let client = self.client_calls.iter().map(|(call, outcome)| (call, outcome));
        let own = self.conversation.answered().into_iter().map(|answered| (answered.call, answered.outcome));
        client.chain(own).filter_map(|(call, outcome)| Made::new(call, self.is_read(call), Some(outcome))).collect()
    }

    /// What the model is to be told of its last message beside the results of the calls that run.
    pub(super) fn withheld(&self) -> Withheld {
        let entries = self.conversation.entries();
        let last = entries.iter().rposition(|entry| matches!(entry, Entry::Assistant(_))).unwrap_or(entries.len());
        let mut withheld = Withheld::default();
        for entry in &entries[last..] {
            match entry {
                Entry::Assistant(message) => withheld.rejected.extend(message.feedback().cloned()),
                Entry::Outcome { id, outcome } if outcome.status == Status::Denied => {
                    let made = self.conversation.messages().last().and_then(|m| m.calls().find(|call| call.id == *id));
                    withheld.denied.extend(made.map(|made| (id.clone(), (*made.call).clone(), outcome.clone())));
                }
                Entry::Note { text } => withheld.notes.push(text.clone()),
                _ => {}
            }
        }
        withheld
    }

    /// Returns `true` if some tool could change something, and no call did: none ran since the person
    /// last spoke, and before that at most such as only read.
    pub(super) fn nothing_changed(&self) -> bool {
        let catalog = &self.setup.catalog;
        let changes = |said: &Said<'_>| match said {
            Said::Called { server, tool } => !catalog.is_read_only(*server, tool),
            Said::Question(_) | Said::Searched(_) => false,
        };
        let can = catalog.offered().any(|tool| !tool.is_read_only() && !tool.display_only);
        can && self.made().is_empty() && !self.said().iter().any(changes)
    }

    fn is_read(&self, call: &Call) -> bool {
        self.setup.catalog.is_read_only(call.server.as_deref(), &call.tool)
    }

    /// Which calls are shown and not run.
    pub(super) fn displays(&self) -> Displays<'_> {
        Displays { setup: &self.setup, choice: &self.choice, conversation: &self.conversation }
    }

    /// Whether a call that the choice demands was made before the turn was suspended.
    pub(super) fn has_called(&self) -> bool {
        self.conversation.answered().iter().any(|answered| {
            let (server, tool) = (answered.call.server.as_deref(), answered.call.tool.as_str());
            answered.outcome.status != Status::Cancelled
                && self.choice.admits(server, tool)
                && self.setup.catalog.as_built_in(server, tool).is_none()
        })
    }
}
