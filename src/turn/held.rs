//! Handles a message that was constrained to calls: decides what is requested instead of a call that was only written
//! because the message had to be one.
//!
//! A step that repeats an answered call indicates that the job is done. A call that names something that was not
//! mentioned fills a gap: the model gets values to choose from, or looks something up. Such discarded messages are in
//! no history.

use serde_json::{Map, Value};

use super::Turn;
use super::decide::{Asking, Fitted, Ungrounded};
use super::event::AgentEvent;
use super::left::corrected;
use super::read::EndedMessage;
use crate::constrain::{Narrowed, is_id};
use crate::event::{Call, Provenance, Repair};
use crate::message::FinishReason;
use crate::tools::{Tool, ToolChoice};

/// Reason for rejecting a call that has a value that nobody mentioned.
const UNGROUNDED: &str = "it names something that nobody mentioned";

/// Reason for rejecting a call that was made before and already has its result.
const MADE_BEFORE: &str = "it was made before";

/// Reason for rejecting a call that is like one that failed.
const FAILED_BEFORE: &str = "a call like it failed";

/// Reason for rejecting a call that was only written because a call was required.
const UNASKED: &str = "nothing asks for it";

/// Reason for rejecting a call in whose place another one is requested that uses values from the conversation.
const LESS_FIT: &str = "another call fits what was asked better";

/// Reason for rejecting a change whose text is a copy of a result.
const COPIED: &str = "its text is only a copy of a result";

/// Limit on consecutive requests for another call in place of one that the model wrote.
const MAX_NARROWED: u32 = 2;

impl Turn {
    /// Returns the request that replaces a constrained message; `None` if the message is used, without the calls in
    /// it that are not valid.
    pub(super) fn in_its_place(&mut self, message: &mut EndedMessage) -> Option<Asking> {
        if self.shared.is_held_by_us() {
            message.leave_out_cut();
        }
        self.fit(message);
        let instead = match self.answered(message).cloned() {
            Some(call) => Some((self.after_answered(&call), MADE_BEFORE)),
            // A question forbids every change, so that comes before what is wrong with one.
            None => self
                .in_place_of_change(message)
                .or_else(|| self.in_place_of_alike(message))
                .or_else(|| Some((self.in_place_of_unread(message)?, LESS_FIT)))
                .or_else(|| Some((self.in_place_of_copied(message)?, COPIED)))
                .or_else(|| Some((self.in_place_of_guessed(message)?, LESS_FIT)))
                .or_else(|| Some((self.in_place_of_undated(message)?, UNGROUNDED)))
                .or_else(|| Some((self.in_place_of_ungrounded(message)?, UNGROUNDED))),
        };
        self.shared.narrowed = if instead.is_some() { self.shared.narrowed + 1 } else { 0 };
        let asking = instead.map(|(asking, why)| {
            let all: Vec<u32> = message.good().map(|(index, _)| index).collect();
            self.left_out(message, &all, why);
            asking
        });
        // The postponed call has been written now, or is no longer wanted.
        let is_its_tool =
            |waits: &mut Call| message.good_calls().is_some_and(|all| all.iter().any(|c| c.tool == waits.tool));
        if asking.is_none() {
            self.shared.client.postponed.take_if(is_its_tool);
        }
        asking
    }

    /// Removes values that were not mentioned from constrained calls, and inserts the values that the user named.
    fn fit(&self, message: &mut EndedMessage) {
        if !self.shared.is_held_by_us() {
            return;
        }
        let said = self.shared.said_things();
        let fit = |call: &mut Call| {
            let fitted = self.shared.tool(call).and_then(|tool| said.fitted(&call.arguments, tool));
            let Some(Fitted { arguments, repairs }) = fitted else { return false };
            let arguments = Value::Object(arguments);
            let fitted = Call { raw_arguments: arguments.to_string(), arguments, ..call.clone() };
            // If only the removed values make the call different from an answered one, they are wanted: the next part
            // of a file.
            if self.shared.is_answered(&fitted) && !self.shared.is_answered(call) {
                return false;
            }
            *call = fitted;
            if repairs.iter().any(|repair| matches!(repair, Repair::Unframed(_))) {
                // Its doubtful provenance came from the frame.
                let plain = Call { provenance: Provenance::Plain, ..call.clone() };
                let (raw, shared) = (plain.raw_arguments.clone(), &self.shared);
                *call = shared.origins.marked(plain, &raw, &shared.setup, &shared.conversation);
            }
            call.repairs.extend(repairs);
            true
        };
        message.fit(fit, |call| self.shared.setup.natives.taught(call));
    }

    /// Returns the request for a lookup in the place of changes, if the user's request is a question; with the reason.
    fn in_place_of_change(&self, message: &EndedMessage) -> Option<(Asking, &'static str)> {
        let calls = message.good_calls().filter(|calls| self.shared.is_held_by_us() && !calls.is_empty())?;
        let only_changes = self.shared.asks_a_question() && calls.iter().all(|call| self.shared.changes(call));
        Some((self.narrowed(Narrowed::Reads, calls[0]).filter(|_| only_changes)?, UNASKED))
    }

    /// Returns the request that replaces a call that fails like an earlier one, a further search with a tool that
    /// finds nothing, or a call that was not asked for; with the reason.
    fn in_place_of_alike(&mut self, message: &EndedMessage) -> Option<(Asking, &'static str)> {
        let call = message.good_calls().filter(|_| self.is_step())?.last().copied()?.clone();
        if self.shared.has_failed(&call) {
            let narrowed = self.shared.after_failed(&call)?;
            return Some((self.narrowed(narrowed, &call)?, FAILED_BEFORE));
        }
        // A further search with a tool that finds nothing gives way to other tools.
        if let Some(asking) = self.shared.searched_elsewhere(&call).and_then(|lookups| self.narrowed(lookups, &call)) {
            return Some((asking, LESS_FIT));
        }
        let shared = &self.shared;
        let is_done = shared.is_unasked(&call) || shared.is_variation(&call);
        is_done.then(|| (self.done(&call), UNASKED))
    }

    /// Returns the request that replaces a lookup with a number that nobody said, a search for an identifier that a
    /// tool takes, or a change without a number that the user's request names.
    fn in_place_of_guessed(&self, message: &EndedMessage) -> Option<Asking> {
        let calls = message.good_calls().filter(|calls| self.shared.is_held_by_us() && calls.len() == 1)?;
        let meant = self.shared.needs_less(calls[0]).or_else(|| self.shared.by_its_id(calls[0]));
        let meant = meant.or_else(|| self.shared.with_number(calls[0]));
        meant.and_then(|narrowed| self.narrowed(narrowed, calls[0]))
    }

    /// Returns the request for a lookup of today's date, in the place of a call that needs it first and is postponed.
    fn in_place_of_undated(&mut self, message: &EndedMessage) -> Option<Asking> {
        let call = message.good_calls().filter(|_| self.shared.is_held_by_us())?.first().copied()?.clone();
        let asking = self.narrowed(self.shared.today(&call)?, &call)?;
        self.shared.client.postponed = Some(call);
        Some(asking)
    }

    /// Returns the request to read a file that the user named, in the place of a change that does not use it.
    fn in_place_of_unread(&self, message: &EndedMessage) -> Option<Asking> {
        let calls = message.good_calls().filter(|calls| self.shared.is_held_by_us() && calls.len() == 1)?;
        self.narrowed(self.shared.unread(calls[0])?, calls[0])
    }

    /// Returns the request for the text of a change, if the call contains the whole of a result, or the frame of one,
    /// instead of a text.
    fn in_place_of_copied(&self, message: &EndedMessage) -> Option<Asking> {
        // A narrowed call has the text that was asked for already.
        let is_free = matches!(self.shared.asking, Asking::Step | Asking::Held(_)) && self.shared.is_held_by_us();
        let calls = message.good_calls().filter(|calls| is_free && calls.len() == 1)?;
        let call = Some(calls[0]).filter(|call| self.shared.changes(call))?;
        // An identifier or a value of one line is taken from a result rightly.
        let is_result = |text: &str| {
            text.trim().contains('\n') && self.shared.results().any(|(_, result)| result.trim() == text.trim())
        };
        let had_frame = |name: &str, text: &str| {
            let is_of = |repair: &Repair| matches!(repair, Repair::Unframed(at) if *at == format!("/{name}"));
            // A single word in a frame is a value that was taken from the result.
            (text.is_empty() || text.contains(char::is_whitespace)) && call.repairs.iter().any(is_of)
        };
        let is_copied = |name: &str, text: &str| had_frame(name, text) || is_result(text);
        let mut members = call.arguments.as_object()?.iter();
        let (member, _) = members.find(|(name, value)| value.as_str().is_some_and(|text| is_copied(name, text)))?;
        let asking = Asking::Text { call: Box::new(call.clone()), member: member.clone() };
        self.ask.alone(&asking, &self.shared).map(|_| asking)
    }

    /// Returns the request for a call with this message as its text, or with its own text if the message is no such
    /// text: the call is then complete, so no model is asked. Without any text the answer is requested.
    pub(super) fn with_text(&mut self, message: &EndedMessage, finish: &FinishReason) -> Option<Asking> {
        let Asking::Text { call, member } = self.shared.asking.clone() else { return None };
        let own = call.arguments[&member].as_str().unwrap_or_default();
        // The fence takes the line break at the end of the text.
        let end = if own.ends_with('\n') { "\n" } else { "" };
        let (said, _) = message.spoken();
        // A text that was cut off, or that has a call, is not the file.
        let is_whole = *finish == FinishReason::Stop && message.is_text_alone();
        let text = fenced(&said).filter(|_| is_whole).map_or(own.to_owned(), |text| format!("{text}{end}"));
        if text.is_empty() {
            return Some(self.done(&call));
        }
        Some(Asking::Narrowed(corrected(&call, vec![(member, vec![text.into()])])))
    }

    fn in_place_of_ungrounded(&mut self, message: &mut EndedMessage) -> Option<Asking> {
        let ungrounded = self.ungrounded(message);
        let all = message.good_calls().is_some_and(|calls| calls.len() == ungrounded.len());
        // If its form allows several calls, a small model continues with an example.
        let beside: Vec<u32> = ungrounded.iter().map(|(index, _)| *index).filter(|_| !all).collect();
        self.left_out(message, &beside, UNGROUNDED);
        let (_, found) = ungrounded.into_iter().next().filter(|_| all)?;
        let call = message.good().next()?.1.clone();
        self.instead_of(&call, found)
    }

    /// Removes calls from a message and reports them to the caller as rejected.
    fn left_out(&mut self, message: &mut EndedMessage, calls: &[u32], why: &str) {
        for (index, rejected) in message.leave_out(calls, why) {
            self.shared.emit(AgentEvent::CallRejected { index, rejected: Box::new(rejected) });
        }
    }

    /// Returns the calls of a constrained message that have a value that was not mentioned, by their indices.
    fn ungrounded(&self, message: &EndedMessage) -> Vec<(u32, Ungrounded)> {
        // A free message after narrowed ones may repeat the call that was left out.
        let is_free = || self.shared.asking == Asking::Free && self.shared.narrowed > 0;
        if !(self.shared.asking.is_held() || is_free()) || self.shared.choice != ToolChoice::Auto {
            return Vec::new();
        }
        let apart = self.ask.wording(&self.shared).system_apart(&self.shared.choice);
        let examples = apart.into_iter().flat_map(|(_, examples)| examples);
        let said = self.shared.said_things().with_examples(examples);
        let found = |call: &Call| said.ungrounded(&call.arguments, self.shared.tool(call)?);
        message.good().filter_map(|(index, call)| Some((index, found(call)?))).collect()
    }

    /// Returns the request that replaces a call with a value that was not mentioned; `None` if the call is used.
    fn instead_of(&mut self, call: &Call, found: Ungrounded) -> Option<Asking> {
        // Things that the request names besides the used ones come before other values for the gap.
        let beside = if self.is_step() { self.shared.beside() } else { None };
        // Only a lookup gives way to the lookup of another thing that the request names.
        let beside = beside.or_else(|| self.shared.unused_by_kind().filter(|_| self.shared.looks_up(call)));
        if let Some(asking) = beside.and_then(|narrowed| self.narrowed(narrowed, call)) {
            return Some(asking);
        }
        let Ungrounded { is_copied, unknown, is_named, named_as, known } = found;
        let meant = named_as.and_then(|(member, id)| self.shared.takes(call, member, id));
        if let Some(asking) = meant.and_then(|narrowed| self.narrowed(narrowed, call)) {
            return Some(asking);
        }
        let looks_up = !unknown.is_empty();
        let mut members = unknown.iter().chain(known.iter().map(|(member, _)| member));
        let id = members.find(|member| is_id(member)).filter(|_| self.shared.changes(call)).cloned();
        let narrowed = if looks_up { self.shared.lookups_for(call, unknown) } else { corrected(call, known) };
        let is_read = || self.shared.setup.catalog.is_read_only(call.server.as_deref(), &call.tool);
        match self.narrowed(narrowed, call) {
            // A change of a thing that nobody named never runs.
            // A word that the user said may be the identifier: `Cancel the order dinner.`
            None if id.is_some() && !(looks_up && is_named) => {
                self.shared.missing = id;
                Some(self.done(call))
            }
            // In a free message the model has decided already.
            None if self.shared.asking == Asking::Free => None,
            // Nothing can be looked up, so the model decides whether it means the call.
            None if is_copied || !(is_read() || looks_up && is_named) => Some(Asking::Free),
            asking => {
                // A change that was written because another tool was asked for, or after an example, is nobody's wish.
                let is_ours = is_copied || matches!(self.shared.asking, Asking::Narrowed(Narrowed::Others { .. }));
                let is_meant = asking.is_some() && !(is_ours && self.shared.changes(call));
                self.shared.client.postponed = Some(call.clone()).filter(|_| is_meant);
                asking
            }
        }
    }

    /// Returns the request for a narrowed call in the place of this one; `None` if it would be the same call, if no
    /// tool is allowed, or after [`MAX_NARROWED`] such requests in a row.
    fn narrowed(&self, narrowed: Narrowed, call: &Call) -> Option<Asking> {
        let catalog = &self.shared.setup.catalog;
        let is_same = |(tool, arguments): (&Tool, Map<String, Value>)| {
            (&tool.server, &tool.name, &Value::Object(arguments)) == (&call.server, &call.tool, &call.arguments)
        };
        let is_possible = || self.shared.setup.admits(&narrowed) && !narrowed.only_call(catalog).is_some_and(is_same);
        (self.shared.narrowed < MAX_NARROWED && is_possible()).then(|| Asking::Narrowed(narrowed))
    }

    /// Returns `true` if the message was constrained to the next call, or is unconstrained after such a message.
    fn is_step(&self) -> bool {
        let is_free =
            || self.shared.asking == Asking::Free && self.shared.narrowed > 0 && !self.shared.made().is_empty();
        matches!(self.shared.asking, Asking::Step | Asking::Narrowed(_)) || is_free()
    }

    /// Returns the last call of a message that was to be the next step, if all its calls were answered before.
    fn answered<'m>(&self, message: &'m EndedMessage) -> Option<&'m Call> {
        let calls = message.good_calls().filter(|_| self.is_step())?;
        calls.iter().all(|call| self.shared.is_answered(call)).then(|| calls.last().copied())?
    }

    /// Returns the request after a call that was answered before: after a failure a lookup of what it needs; otherwise
    /// a call with a further value from the user's request, or the answer.
    fn after_answered(&mut self, call: &Call) -> Asking {
        let next = match self.shared.has_failed(call) {
            true => self.shared.after_failed(call),
            false => {
                let shared = &self.shared;
                let beside = shared.searched_elsewhere(call).or_else(|| shared.beside());
                let beside = beside.or_else(|| shared.unused_by_kind());
                // What the request names and no call has used comes before what results lead to.
                let beside = beside.or_else(|| shared.others()).or_else(|| shared.onward(call));
                beside.or_else(|| shared.looked_up_by_name()).or_else(|| shared.leading()).or_else(|| shared.ordered())
            }
        };
        match next.and_then(|narrowed| self.narrowed(narrowed, call)) {
            Some(asking) => {
                self.shared.emit(AgentEvent::Decided { call: true, likely: None });
                asking
            }
            None => self.done(call),
        }
    }

    /// Returns the request for the answer, since this call was only written because a call was required.
    fn done(&mut self, call: &Call) -> Asking {
        self.shared.emit(AgentEvent::Decided { call: false, likely: None });
        self.shared.closing = Some(call.tool.clone());
        Asking::Answer
    }
}

/// Returns the content of the only code fence in a text, without empty lines around it.
fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    let (inner, after) = rest.split_once("```")?;
    (!after.contains("```")).then(|| inner.trim_matches('\n')).filter(|inner| !inner.trim().is_empty())
}
