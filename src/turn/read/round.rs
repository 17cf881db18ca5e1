//! A round's message: read while it streams, judged when it has ended, kept in the history.

use super::announced::announced;
use super::draft::{Draft, ReadContext};
use super::judge::{Judge, Next};
use super::message::{EndedMessage, HistoryPlace};
use super::output::{Output, find, only_text};
use super::tail::answer_of;
use crate::constrain::Constrained;
use crate::conversation;
use crate::dialect::Dialect;
use crate::event::{Entry, Piece, Region, RejectedKind};
use crate::message::chunk::MAX_EQUAL_CALLS;
use crate::message::{Delta, FinishReason, NativeCall};
use crate::outcome::{Status, restore_tokens, unnoted};
use crate::parse::{MAX_CALL_BYTES, Parser};
use crate::turn::config::RoundModel;
use crate::turn::decide::Asking;
use crate::turn::displays::Displays;
use crate::turn::event::AgentEvent;
use crate::turn::io::{Action, TurnError};
use crate::turn::rejected::{Reaction, reaction};
use crate::turn::shared::Shared;
use crate::turn::stop::StopReason;
use crate::turn::wording::ModelNote;

/// Limit on the bytes of a message: a call of the longest permitted size, and text around it. No model reaches it, but
/// an endpoint that never ends would use all memory.
const MAX_MESSAGE: usize = MAX_CALL_BYTES + (1 << 20);

/// The state of reading the model's messages.
pub(in crate::turn) struct Read {
    draft: Draft,
    /// `true` if a quoted or invented call was corrected in this turn.
    told_once: bool,
    /// `true` if the model was told in this turn that it wrote a result itself.
    forged_told: bool,
    /// `true` if the model was told in this turn that it made no call for an action that it mentioned.
    act_told: bool,
    /// The text of the last message for the user.
    answer: String,
    /// Answer that stays if the next message only corrects a call of a display-only tool.
    standing: String,
    /// The answer's value, if it had to match a schema and does.
    found: Option<Output>,
}

/// The calls of a message that was added to the history.
#[derive(Debug)]
pub(in crate::turn) struct Kept {
    /// Ids and indices of the calls.
    pub(in crate::turn) calls: Vec<(String, u32)>,
    /// Indices of the calls that were shown to the user.
    pub(in crate::turn) shown: Vec<u32>,
}

impl Read {
    pub(in crate::turn) fn new(parser: Parser, model: &RoundModel) -> Self {
        let draft = Draft::new(parser, model);
        Read {
            draft,
            told_once: false,
            forged_told: false,
            act_told: false,
            answer: String::new(),
            standing: String::new(),
            found: None,
        }
    }

    /// Begins a round; `parser` is set if its model needs another parser than the last one.
    pub(in crate::turn) fn begin(&mut self, model: &RoundModel, parser: Option<Parser>) {
        self.draft.begin(model, parser);
    }

    /// Records that the round's request is sent, and discards the previous answer.
    pub(in crate::turn) fn sent(&mut self) {
        self.answer.clear();
    }

    /// Handles the next delta of the message. Returns `true` if the stream must be cancelled.
    pub(in crate::turn) fn delta(&mut self, delta: &Delta, model: &RoundModel, shared: &mut Shared) -> bool {
        with_reader(model, shared.is_correcting(), shared, |reader, emit| self.draft.push(delta, reader, emit))
    }

    /// Returns `true` if the message would exceed [`MAX_MESSAGE`] bytes with this delta.
    pub(in crate::turn) fn would_be_too_long(&self, delta: &Delta) -> bool {
        self.draft.length.saturating_add(delta.text.len()) > MAX_MESSAGE
    }

    /// Ends the streaming message here because it is too long.
    pub(in crate::turn) fn cut_short(&mut self) {
        self.draft.cut_short();
    }

    /// Adds a native call to the streaming message.
    pub(in crate::turn) fn call(&mut self, call: NativeCall, shared: &Shared) {
        self.draft.natives.push(shared.setup.natives.read(call));
    }

    /// Returns `true` if any part of the message has arrived.
    pub(in crate::turn) fn has_begun(&self) -> bool {
        self.draft.length > 0 || !self.draft.natives.is_empty()
    }

    /// Ends the streaming message and returns it.
    pub(in crate::turn) fn end(
        &mut self,
        reason: &FinishReason,
        broke_off: bool,
        model: &RoundModel,
        shared: &mut Shared,
    ) -> EndedMessage {
        with_reader(model, shared.is_correcting(), shared, |reader, emit| {
            self.draft.finish(reason, broke_off, reader, emit)
        })
    }

    /// Discards the streaming message and returns its answer and reasoning.
    pub(in crate::turn) fn leave(&mut self, model: &RoundModel, shared: &mut Shared) -> (String, String) {
        let reason = FinishReason::Other("left".to_owned());
        let left = with_reader(model, false, shared, |reader, _| self.draft.finish(&reason, true, reader, &mut |_| {}));
        left.spoken()
    }

    /// Judges a message that has ended and adds it to the history.
    ///
    /// # Errors
    /// The history rejects the message.
    pub(in crate::turn) fn judge_and_keep(
        &mut self,
        mut message: EndedMessage,
        reason: &FinishReason,
        shared: &mut Shared,
    ) -> Result<(Next, Kept), TurnError> {
        if *reason == FinishReason::Length {
            let is_full = shared.context_full.is_some();
            message.entries.iter_mut().for_each(|entry| say_limit(entry, is_full));
        }
        // If the message only mends a shown call, the answer beside the first one stands.
        let blank = (message.is_blank() || only_repeats_us(&message, shared)) && self.standing.is_empty();
        let has_tools = !shared.setup.catalog.is_empty();
        let offers = shared.setup.catalog.offered().next().is_some() && shared.output.is_none();
        // A model that made a call has acted, and it is told only once.
        // Asked what was done, it may say so as if it were still to come: `我将温度设置为 21 度`.
        let says_what_was_done = shared.asking == Asking::Answer && shared.ends_with_change();
        let may_announce = offers && !self.act_told && !message.has_calls() && !says_what_was_done;
        let judge = Judge {
            shared,
            message: &message,
            finish: reason,
            blank,
            told_once: self.told_once,
            forged: (has_tools && message.begins_with_a_result()).then_some(self.forged_told),
            announced: may_announce.then(|| announced(&message.spoken().0)).flatten(),
        };
        let next = judge.next();
        // Only in these cases the model is told about rejected calls.
        let feedback = matches!(next, Next::Run | Next::Correct);
        let told: Vec<u32> =
            message.entries.iter().filter(|e| feedback && judge.corrects(e)).map(|e| e.index).collect();
        if let Some(text) = message.refusal.take() {
            // A refusal withdraws everything else in the message.
            message.pieces.retain(|piece| !matches!(piece, Piece::Call { .. }));
            message.entries.clear();
            message.pieces.push(Piece::Text { region: Region::Content, text, span: 0..0 });
        }
        let mends_display = next == Next::Correct && only_displays(&message, &told, shared);
        let cut_off = *reason == FinishReason::Length || message.repeats.is_some();
        let equal_calls = message.equal_calls && feedback;
        let kept = self.keep(message, &told, cut_off, shared)?;
        if equal_calls {
            let note = shared.setup.wording().note(ModelNote::EqualCalls(MAX_EQUAL_CALLS));
            shared.corrects(note.clone());
            shared.conversation.push_note(note)?;
        }
        self.forged_told |= next == Next::Forged;
        self.act_told |= next == Next::Announced;
        self.standing = if mends_display { self.answer.clone() } else { String::new() };
        Ok((next, kept))
    }

    /// Adds a message that was cut off to the history: its text is kept, and none of its calls runs.
    ///
    /// # Errors
    /// The history rejects the message.
    pub(in crate::turn) fn keep_broken_off(
        &mut self,
        message: EndedMessage,
        shared: &mut Shared,
    ) -> Result<Kept, TurnError> {
        if message.is_blank() && message.entries.is_empty() {
            return Ok(Kept { calls: Vec::new(), shown: Vec::new() });
        }
        self.keep(message, &[], true, shared)
    }

    /// Checks an answer that must match a schema before it ends the turn; returns `next`, or the consequence of a
    /// mismatch.
    pub(in crate::turn) fn check_output(&mut self, next: Next, finish: &FinishReason, shared: &mut Shared) -> Next {
        let Some(schema) = &shared.output else { return next };
        let Next::Finish(
            stopped @ (StopReason::Answered
            | StopReason::OutputLimit
            | StopReason::ContextFull { .. }
            | StopReason::Repetition { .. }),
        ) = &next
        else {
            return next;
        };
        let found = find(schema, &self.answer).or_else(|problem| {
            // At first the model is asked for JSON.
            let was_corrected = shared.corrections > 0 && *finish == FinishReason::Stop;
            was_corrected.then(|| only_text(schema, &self.answer)).flatten().ok_or(problem)
        });
        let problem = match found {
            Ok((value, repairs)) => {
                shared.emit(AgentEvent::Output { value: value.clone(), repairs: repairs.clone() });
                self.found = Some((value, repairs));
                return Next::Finish(StopReason::Answered);
            }
            Err(problem) if *finish == FinishReason::Length => {
                let limit =
                    if shared.context_full.is_some() { "the context was full" } else { "the output limit was hit" };
                format!("{limit}; {problem}")
            }
            Err(problem) => problem,
        };
        if shared.may_correct() {
            return Next::OutputMismatch(problem);
        }
        Next::Finish(match stopped {
            StopReason::Answered => StopReason::OutputMismatch { corrections: shared.corrections, message: problem },
            limit => limit.clone(),
        })
    }

    /// Ends the turn: returns the text of the last message for the user, and its checked value, if any.
    pub(in crate::turn) fn take_answer(&mut self) -> (String, Option<Output>) {
        (std::mem::take(&mut self.answer), self.found.take())
    }

    /// Appends the message to the history.
    fn keep(
        &mut self,
        mut message: EndedMessage,
        told: &[u32],
        cut_off: bool,
        shared: &mut Shared,
    ) -> Result<Kept, TurnError> {
        cut(&mut message, told, shared);
        // A constraint may have the call as JSON; the history teaches the prompt's syntax.
        if shared.held == Some(Constrained::Calls) {
            for entry in &mut message.entries {
                if let Ok(call) = &entry.result
                    && call.dialect == Dialect::Json
                {
                    entry.raw = shared.setup.natives.taught(call);
                }
            }
        }
        let shown = std::mem::take(&mut message.shown);
        let mut calls = Vec::new();
        let mut corrections = Vec::new();
        let (conversation, mut ids) = (&shared.conversation, std::mem::take(&mut message.ids));
        let mut assistant = message.into_assistant(|entry, native| match &entry.result {
            Ok(_) => {
                let id = ids.of(entry.index, native.and_then(|call| call.id.as_deref()), conversation);
                calls.push((id.clone(), entry.index));
                HistoryPlace::Call(id)
            }
            Err(rejected) => {
                let feedback = told.contains(&entry.index);
                if feedback {
                    corrections
                        .push(AgentEvent::Correcting { kind: Some(rejected.kind), message: rejected.message.clone() });
                    self.told_once |= reaction(rejected.kind) == Reaction::CorrectOnce;
                }
                HistoryPlace::Rejected(feedback)
            }
        });
        assistant.cut_off = cut_off;
        self.answer = restore_tokens(answer_of(&assistant).trim()).into_owned();
        if self.answer.is_empty() {
            self.answer = std::mem::take(&mut self.standing);
        }
        shared.conversation.push_assistant(assistant)?;
        corrections.into_iter().for_each(|event| shared.emit(event));
        Ok(Kept { calls, shown })
    }
}

/// Calls `read` with the context from the shared state, and reports the events.
fn with_reader<T>(
    model: &RoundModel,
    correcting: bool,
    shared: &mut Shared,
    read: impl FnOnce(&ReadContext<'_>, &mut dyn FnMut(AgentEvent)) -> T,
) -> T {
    let held = shared.is_held_by_us();
    // The text for a call is shown in the call.
    let is_shown = !matches!(shared.asking, Asking::Text { .. });
    let Shared { setup, conversation, choice, actions, unattended, origins, .. } = shared;
    let displays = Displays { setup, choice, conversation };
    let (config, validator) = (&setup.config, &*setup.validator);
    let reader = ReadContext { config, model, validator, correcting, held, unattended: *unattended, displays, origins };
    read(&reader, &mut |event| actions.extend(is_shown.then_some(Action::Emit(event))))
}

/// Returns `true` if the message only copies a note of the program, or the answer of an example: small models do that
/// instead of answering.
pub(in crate::turn) fn only_repeats_us(message: &EndedMessage, shared: &Shared) -> bool {
    if !message.is_text_alone() {
        return false;
    }
    let (said, wording) = (message.spoken().0, shared.setup.wording());
    let said = unnoted(&said).trim().to_owned();
    let notes = shared.conversation.entries().iter().filter_map(|entry| match entry {
        conversation::HistoryEntry::Note { text } => Some(unnoted(text)),
        conversation::HistoryEntry::Outcome { outcome, .. } if outcome.status == Status::Denied => {
            Some(outcome.text.clone())
        }
        _ => None,
    });
    // The message after a shown result is an answer, in the last line if the dialect has a line before it.
    let examples = wording.system_apart(&shared.choice).map(|(_, examples)| examples).unwrap_or_default();
    let answers = examples.into_iter().filter(|example| example.follows).map(|example| example.call);
    let ours = notes.chain([wording.note(ModelNote::LastRound)]).any(|note| note.trim() == said);
    !said.is_empty() && (ours || answers.into_iter().any(|answer| answer.lines().last() == Some(said.as_str())))
}

/// Returns `true` if the model is told only about calls of display-only tools.
fn only_displays(message: &EndedMessage, told: &[u32], shared: &Shared) -> bool {
    let displays = shared.displays();
    let told = message.entries.iter().filter(|e| told.contains(&e.index));
    told.filter_map(|e| e.result.as_ref().err()).all(|rejected| displays.is_for_display(rejected))
}

/// Drops the text after the last call. Text after a call that was shown belongs to the answer, unless an earlier call
/// waits for a result.
fn cut(message: &mut EndedMessage, told: &[u32], shared: &Shared) {
    let displays = shared.displays();
    let shown = message.shown.clone();
    let waits = |e: &Entry| match &e.result {
        Ok(_) => !shown.contains(&e.index),
        Err(rejected) => displays.is_meant(rejected) && told.contains(&e.index),
    };
    let first = message.entries.iter().find(|e| waits(e)).map(|e| e.index);
    message.cut_after(|e| waits(e) || (shown.contains(&e.index) && first.is_some_and(|first| first < e.index)));
}

/// Adds the limit that was reached to the message of a call that was cut off.
fn say_limit(entry: &mut Entry, is_full: bool) {
    if let Err(rejected) = &mut entry.result
        && rejected.kind == RejectedKind::Truncated
    {
        let limit = if is_full { "the context was full" } else { "the output limit was hit" };
        rejected.message = format!("{limit} before the call was complete: {}", rejected.message);
    }
}
