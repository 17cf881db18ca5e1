//! The end of a message: what of it is kept, and what it comes to.

use super::display::Displays;
use super::draft::{Message, Place, Reader};
use super::ids::next_id;
use super::judge::Next;
use super::{Action, AgentEvent, Turn, TurnError};
use crate::assemble::Entry;
use crate::call::RejectedKind;
use crate::message::FinishReason;

impl Turn {
    /// Ends the draft; what it cost is counted.
    pub(super) fn close(&mut self, finish: Option<FinishReason>, reason: &FinishReason, broke_off: bool) -> Message {
        let (setup, correcting) = (self.setup.clone(), self.is_correcting());
        let displays = Displays { setup: &setup, choice: &self.choice, conversation: &self.conversation };
        let (config, validator) = (&setup.config, &setup.validator);
        let reader = Reader { config, model: &self.model, validator, correcting, displays };
        let actions = &mut self.actions;
        let mut emit = |event| actions.push_back(Action::Emit(event));
        let message = self.draft.finish(reason, broke_off, &reader, &mut emit);
        let usage = self.cost(&message);
        self.emit(AgentEvent::RoundFinished { round: self.round, finish, usage });
        if let Some(notice) = self.notice_cut(usage) {
            self.emit(AgentEvent::Notice { notice });
        }
        message
    }

    /// The message is over: by itself, or (`None`) because its stream was
    /// cancelled behind a call.
    pub(super) fn message_over(&mut self, finish: Option<FinishReason>) -> Result<(), TurnError> {
        let reason = finish.clone().unwrap_or_default();
        let mut message = self.close(finish, &reason, false);
        if reason == FinishReason::Length {
            message.entries.iter_mut().for_each(say_output_limit);
        }
        let blank = message.is_blank() && self.standing.is_empty();
        let judge = self.judge(&reason, blank, &message.shown);
        let next = judge.next(&message.entries);
        let feedback = matches!(next, Next::Run | Next::Correct);
        let told: Vec<u32> = message
            .entries
            .iter()
            .filter(|e| feedback && judge.corrects(e, &message.entries))
            .map(|e| e.index)
            .collect();
        let mends_display = next == Next::Correct && self.only_displays(&message, &told);
        self.keep(message, &told, reason == FinishReason::Length)?;
        self.standing = if mends_display { self.answer.clone() } else { String::new() };
        self.conclude(next, &reason)
    }

    /// Whether all that the model is told of is calls of display-only tools.
    fn only_displays(&self, message: &Message, told: &[u32]) -> bool {
        let displays = self.displays();
        let told = message.entries.iter().filter(|e| told.contains(&e.index));
        told.filter_map(|e| e.result.as_ref().err()).all(|rejected| displays.is_for_display(rejected))
    }

    /// Appends the message to the history.
    pub(super) fn keep(&mut self, mut message: Message, told: &[u32], cut_off: bool) -> Result<(), TurnError> {
        self.cut(&mut message, told);
        let shown = std::mem::take(&mut message.shown);
        let mut placed = Vec::new();
        let mut corrections = Vec::new();
        let (conversation, mut given) = (&self.conversation, Vec::new());
        let mut assistant = message.into_assistant(|entry, native| match &entry.result {
            Ok(_) => {
                let id = next_id(conversation, &mut given, native.and_then(|call| call.id.as_deref()));
                placed.push((id.clone(), entry.index));
                Place::Call(id)
            }
            Err(rejected) => {
                let feedback = told.contains(&entry.index);
                if feedback {
                    corrections
                        .push(AgentEvent::Correcting { kind: Some(rejected.kind), message: rejected.message.clone() });
                    self.quoted_told |= rejected.kind == RejectedKind::Quoted;
                }
                Place::Rejected(feedback)
            }
        });
        assistant.cut_off = cut_off;
        self.answer = assistant.content().trim().to_owned();
        if self.answer.is_empty() {
            self.answer = std::mem::take(&mut self.standing);
        }
        self.conversation.push_assistant(assistant)?;
        corrections.into_iter().for_each(|event| self.emit(event));
        self.placed(placed, &shown)
    }

    /// Drops the text behind the last call. Text behind one that was shown is
    /// answer, unless a call before it waits for a result.
    fn cut(&self, message: &mut Message, told: &[u32]) {
        let displays = self.displays();
        let shown = message.shown.clone();
        let waits = |e: &Entry| match &e.result {
            Ok(_) => !shown.contains(&e.index),
            Err(rejected) => displays.row(rejected).meant && told.contains(&e.index),
        };
        let first = message.entries.iter().find(|e| waits(e)).map(|e| e.index);
        message.cut_after(|e| waits(e) || (shown.contains(&e.index) && first.is_some_and(|first| first < e.index)));
    }
}

/// Says in a call that was cut off that the output limit did it.
fn say_output_limit(entry: &mut Entry) {
    if let Err(rejected) = &mut entry.result
        && rejected.kind == RejectedKind::Truncated
    {
        rejected.message = format!("the output limit was hit before the call was complete: {}", rejected.message);
    }
}
