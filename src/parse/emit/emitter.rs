//! Events out: what is emitted, what is known about the calls so far, and what is decided at the end. What waits for a
//! decision is in `held`.

mod held;

use std::ops::Range;

use crate::dialect::{Doubt, Shape};
use crate::event::{Call, Destination, Event, MarkerKind, QuotedIn, Region, RejectedKind, Repair, call_of};
use crate::json::window::{No, Undecided, Window};
use crate::parse::config::Config;
use crate::parse::emit::budget::CallBudget;
use crate::parse::emit::damage::StrayCloser;
use crate::parse::emit::drafts::{Drafts, Logged};
use crate::parse::emit::judge::Placement;
use crate::parse::emit::pending::{Ended, HeldEvent, Pending};
use crate::parse::emit::prose::Prose;
use crate::parse::emit::region::RegionState;
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::think_close;
use crate::parse::marks::head::begins_token;
use crate::parse::marks::turn::TextTurn;

/// Emits events in order and keeps the state that later decisions need.
#[derive(Debug, Default)]
pub(crate) struct Emitter {
    /// Offset up to which every byte is in an event, emitted or held.
    pub(crate) reported: u64,
    /// State of the current region, answer or reasoning.
    pub(crate) region: RegionState,
    /// Remaining budget of calls.
    pub(crate) budget: CallBudget,
    pub(crate) drafts: Drafts,
    pending: Option<Pending>,
    /// `true` if `CallStart` was emitted for the open call.
    started: bool,
    /// Stop strings, one of which may have ended the stream; empty until it has ended by `stop`.
    pub(crate) stop: Vec<String>,
    /// `true` if the stream has ended and was not cut off.
    pub(crate) ended_normally: bool,
}

impl Emitter {
    pub(crate) fn new(config: &Config) -> Self {
        let (region, budget) = (RegionState::new(config), CallBudget::new(&config.limits));
        Emitter { region, budget, drafts: Drafts::new(config), ..Emitter::default() }
    }

    /// Returns the index of the open call or, without one, of the next.
    pub(crate) fn index(&self) -> u32 {
        self.budget.index + self.pending.as_ref().map_or(0, |p| p.ended)
    }

    /// Returns `true` if more plain text would not change the state that earlier text has set.
    pub(crate) fn is_settled(&self) -> bool {
        self.region.is_settled() && self.drafts.run_is_over
    }

    /// Classifies text whose region is undecided as reasoning, since a delimiter showed where reasoning begins or ends.
    pub(crate) fn decide(&mut self) {
        if std::mem::take(&mut self.region.is_undecided) {
            self.region.nothing_answered();
            if self.region.has_drafts {
                self.budget.unsay_limit();
            }
        }
    }

    /// Returns `true` if a stop string that may have ended the stream equals or begins `closer`, which is expected.
    pub(crate) fn is_stopped_by(&self, closer: &str) -> bool {
        let took = |stop: &String| match begins_token(stop.trim_start(), closer, true) {
            Ok(length) => length == stop.trim_start().len(),
            // An empty string begins every closer.
            Err(Undecided) => !stop.trim().is_empty(),
            Err(No) => false,
        };
        self.stop.iter().any(took)
    }

    /// Returns the doubt about a call that begins here: next to an earlier call that call's doubt, else `of_line` of
    /// the line before. Its argument is `true` if the answer has calls already.
    pub(crate) fn doubt(&self, of_line: impl FnOnce(bool) -> Doubt) -> Doubt {
        let adjacent = self.drafts.calls.last().filter(|_| !self.drafts.run_is_over);
        adjacent.map_or_else(|| of_line(self.region.answer_has_calls), |call| call.at.doubt)
    }

    /// Returns `true` if events are held until the decision about a code fence.
    pub(crate) fn waits_for_fence(&self) -> bool {
        self.pending.as_ref().is_some_and(|p| p.waits_for_fence)
    }

    /// Returns the offset of the first byte that is still needed in the buffer.
    pub(crate) fn keep_from(&self) -> u64 {
        self.pending.as_ref().map_or(self.reported, |p| p.start)
    }

    /// Returns `true` if only white space and syntax came in this region, and, in the answer, the user saw nothing
    /// before it.
    pub(crate) fn begins_region(&self) -> bool {
        let region = &self.region;
        // The other two facts begin anew with each region; what the user saw of the answer stays.
        let is_seen = region.is_seen && region.reads_answer();
        !(is_seen || region.has_text || region.has_calls || self.waits_for_fence())
    }

    /// Emits plain text up to `to`.
    #[inline]
    pub(crate) fn text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to > self.reported {
            self.text_up_to(window, to, sink);
        }
    }

    fn text_up_to(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let text = window.slice(self.reported..to);
        let blank = text.trim_ascii_start().is_empty();
        self.region.prose.read(text);
        if let Some(pending) = &mut self.pending {
            if blank {
                pending.held.push(HeldEvent::Space(self.reported..to, pending.in_fence));
                self.reported = to;
                return;
            }
            self.settle(Some(QuotedIn::Fence), window, sink);
        }
        while let Some((at, found)) = self.telling_bracket(window, to) {
            // The text up to the bracket, then what that says, then the rest.
            self.text_piece(window, at, sink);
            self.found_closer(found, 0, window, sink);
        }
        if to > self.reported {
            self.text_piece(window, to, sink);
        }
    }

    /// Emits text that was held as a call and is none; unless quoted, a stray closer in it counts as in other text.
    pub(crate) fn given_back(&mut self, span: Range<u64>, is_quoted: bool, window: &Window<'_>, sink: &mut Sink<'_>) {
        let damage = self.region.known_damage();
        let stray = if is_quoted { None } else { damage.stray_in(window.slice(span.clone())) };
        self.text(window, span.end, sink);
        if let Some(found) = stray {
            self.found_closer(found, 0, window, sink);
        }
    }

    /// Returns the offset after the next significant unmatched bracket before `to`, and its meaning; `None` if none.
    fn telling_bracket(&mut self, window: &Window<'_>, to: u64) -> Option<(u64, StrayCloser)> {
        if !self.region.known_damage().watches_brackets {
            return None;
        }
        let (length, found) = self.region.damage().read_brackets(window.slice(self.reported..to))?;
        Some((self.reported + length as u64, found))
    }

    fn text_piece(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let text = window.slice(self.reported..to);
        if !text.trim_ascii_start().is_empty() {
            self.precede_prose(sink);
            self.drafts.run_is_over = true;
            self.region.fence_is_clean = false;
            self.region.follows_unread = false;
            self.prose_comes(window, to);
        }
        self.plain(window, to, sink);
        // Another's words say nothing of the model's call.
        match self.region.turn {
            TextTurn::Own => self.drafts.text_follows(text, to, sink),
            _ => self.drafts.line_after = None,
        }
    }

    /// Updates the region for text, up to `to`, that is neither white space nor syntax.
    fn prose_comes(&mut self, window: &Window<'_>, to: u64) {
        self.region.has_text = true;
        // A closer after it is not right after its call.
        self.region.damage().text_came(window, self.reported, to);
        self.region.see();
        self.region.passes_end();
    }

    /// Notes that prose follows: calls of the region without a marker may be examples.
    fn precede_prose(&mut self, sink: &mut Sink<'_>) {
        if self.region.turn == TextTurn::Own {
            self.drafts.precede_prose(self.region.kind, self.reported, sink);
        }
    }

    /// Applies the meaning of a closer of `length` bytes between calls, which begins where nothing was emitted yet.
    pub(crate) fn found_closer(&mut self, found: StrayCloser, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) {
        match found {
            StrayCloser::Own => self.region.damage().closes(),
            StrayCloser::Last => {
                let end = self.reported + length as u64;
                self.region.damage().last_closes(end);
            }
            StrayCloser::Stray(first) => {
                // In a fence it is other text.
                self.settle(Some(QuotedIn::Fence), window, sink);
                let first = self.region.certain_from(first);
                self.withdraw(first, sink);
            }
        }
    }

    /// Withdraws the calls from index `first` on, which may be text of a damaged call.
    pub(crate) fn withdraw(&mut self, first: u32, sink: &mut Sink<'_>) {
        self.region.damage().withdrawn();
        self.drafts.withdraw(first, self.reported, sink);
    }

    /// Emits an empty marker of the kind `Turn`: the following text is another role's.
    pub(crate) fn begin_turn(&mut self, sink: &mut Sink<'_>) {
        let span = self.reported..self.reported;
        sink(Event::Marker { kind: MarkerKind::Turn, text: "", span });
    }

    /// Emits a fence line as text: calls on both sides of it stay adjacent.
    pub(crate) fn fence_text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if self.pending.is_some() {
            self.settle(Some(QuotedIn::Fence), window, sink);
        }
        if self.region.prose != Prose::Above {
            self.region.prose.read(window.slice(self.reported..to));
        }
        self.precede_prose(sink);
        self.drafts.line_is_over(self.reported, sink);
        self.prose_comes(window, to);
        while let Some((at, found)) = self.telling_bracket(window, to) {
            self.plain(window, at, sink);
            self.found_closer(found, 0, window, sink);
        }
        if to > self.reported {
            self.plain(window, to, sink);
        }
    }

    /// Emits syntax up to `to`. Call syntax around drafts is emitted as reasoning, around examples as text.
    pub(crate) fn marker(&mut self, kind: MarkerKind, quoted: bool, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to <= self.reported {
            return;
        }
        if let Some(pending) = &mut self.pending {
            pending.held.push(HeldEvent::Marker(kind, self.reported..to));
            self.reported = to;
            return;
        }
        let is_syntax = kind.is_call_syntax();
        if quoted && is_syntax && !self.region.only_drafts() {
            self.region.see();
            return self.plain(window, to, sink);
        }
        // After it everything is the answer.
        if kind == MarkerKind::AnswerLine {
            self.region.has_text = true;
        }
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        match self.region.drafts() && is_syntax {
            true => sink(Event::Reasoning { text, syntax: Some(kind), span }),
            false => sink(Event::Marker { kind, text, span }),
        }
    }

    /// Emits a think tag, up to `to`, and changes to `region`.
    pub(crate) fn think(
        &mut self,
        kind: MarkerKind,
        region: Region,
        window: &Window<'_>,
        to: u64,
        sink: &mut Sink<'_>,
    ) {
        let is_example = self.region.kind == Region::Content;
        self.settle(is_example.then_some(QuotedIn::Fence), window, sink);
        let span = self.reported..to;
        self.reported = to;
        sink(Event::Marker { kind, text: window.slice(span.clone()), span });
        self.drafts.run_is_over = true;
        self.drafts.line_is_over(self.reported, sink);
        self.decide();
        self.region.go_to(region);
    }

    /// Reclassifies everything emitted so far as reasoning, and its calls as drafts.
    pub(crate) fn all_was_reasoning(&mut self, sink: &mut Sink<'_>) {
        self.region.nothing_answered();
        // A draft that was cut off there says nothing of what follows.
        self.region.damage().closes();
        if !self.region.has_drafts {
            return self.moved(Destination::Reasoning, sink);
        }
        self.budget.unsay_limit();
        self.drafts.all_was_reasoning(self.reported, sink);
        self.moved(Destination::Drafts, sink);
    }

    /// Emits, or holds, `CallStart` of the open call, whose name is complete at offset `at`.
    pub(crate) fn call_start(&mut self, at: u64, server: Option<&str>, tool: &str, sink: &mut Sink<'_>) {
        if self.budget.limit_reported {
            return;
        }
        if let Some(call) = self.held_call() {
            call.start = Some((at, server.map(str::to_owned), tool.to_owned()));
            return;
        }
        self.drafts.line_is_over(self.reported, sink);
        let span = self.reported..at;
        self.reported = at;
        self.started = true;
        sink(Event::CallStart { index: self.budget.index, server, tool, span });
    }

    /// Emits, or holds, more text of the open call's arguments, up to offset `at`.
    pub(crate) fn delta(&mut self, at: u64, text: &str, sink: &mut Sink<'_>) {
        if self.budget.limit_reported {
            return;
        }
        if let Some(call) = self.held_call() {
            call.deltas.push_str(text);
            call.deltas_end = call.deltas_end.max(at);
            return;
        }
        let span = self.reported..at.max(self.reported);
        self.reported = span.end;
        sink(Event::ArgsDelta { index: self.budget.index, text, span });
    }

    /// Ends the open call: emits its verdict, or holds it with other pending events.
    pub(crate) fn call_end(&mut self, mut ended: Ended, window: &Window<'_>, sink: &mut Sink<'_>) {
        let is_suspect = self.region.known_damage().open.is_some();
        let is_guessed = ended.read.as_ref().is_ok_and(is_guessed);
        ended.at = Placement { turn: self.region.turn, is_suspect, is_guessed, ..ended.at };
        let end = ended.span.end;
        if let Some(call) = self.held_call() {
            call.ended = Some(ended);
            self.reported = end;
            if let Some(pending) = &mut self.pending {
                pending.ended += 1;
            }
            return;
        }
        // The text of an example stays in the content.
        if ended.at.quoted_in.is_some() {
            self.region.see();
        }
        self.report_end(ended, window, sink);
    }

    fn report_end(&mut self, ended: Ended, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Ended { read, at, restated, span, is_whole, closer, head } = ended;
        let is_quoted = at.quoted_in.is_some();
        let fault = read.as_ref().err().map(|rejected| Box::new(rejected.reason()));
        let mut verdict = at.verdict(read);
        self.region.has_calls = true;
        if self.budget.limit_reported {
            return self.marker(MarkerKind::Wrapper, is_quoted, window, span.end, sink);
        }
        let in_reasoning = self.region.drafts();
        let is_certain = !self.region.only_drafts() && !is_quoted && !at.turn.invents();
        // Drafts, examples and another's calls count, but only a call of the answer ends the reading of
        // further ones.
        self.budget.limit_reported |= self.budget.index as usize >= self.budget.limit && is_certain;
        if !is_quoted {
            self.region.answer_has_calls |= self.region.reads_answer();
        }
        let is_cut_off = match verdict.as_ref().err().map(|rejected| rejected.kind) {
            Some(RejectedKind::Truncated) => true,
            None | Some(RejectedKind::Invented | RejectedKind::AfterDamage) => false,
            // The end of the reasoning ended it.
            Some(_) => !is_whole && think_close(window.from(span.end), false) != Err(No),
        };
        if !self.started {
            self.drafts.line_is_over(self.reported, sink);
        }
        let has_call = call_of(&verdict).is_some();
        let is_due = call_of(&verdict).is_some_and(|call| call.repairs.contains(&Repair::MissingClose));
        // Only now: above, the kind of a draft's own fault said whether it was cut off.
        let at = Placement { in_reasoning, ..at };
        verdict = at.verdict(verdict);
        let index = self.budget.index;
        let begins = !self.region.has_text && !is_quoted;
        self.drafts.push(Logged { index, at, fault, has_call, is_cut_off, run: 0 }, begins);
        if !std::mem::take(&mut self.started) {
            // The name was only found in the whole text.
            let (server, tool) = match &verdict {
                Ok(call) => (&call.server, Some(&call.tool)),
                Err(rejected) => (&rejected.server, rejected.tool.as_ref()),
            };
            if let Some(tool) = tool {
                let span = self.reported..self.reported;
                sink(Event::CallStart { index, server: server.as_deref(), tool, span });
            }
        }
        // Prose after such a call may show that it was only mentioned.
        if (at.is_bare || at.doubt == Doubt::IfProseFollows)
            && !is_quoted
            && call_of(&verdict).is_some_and(|call| call.provenance.is_plain())
        {
            self.drafts.bare.push((index, self.region.kind));
        }
        let raw = head.as_deref().unwrap_or_else(|| window.slice(span.clone()));
        if let Err(rejected) = &mut verdict
            && rejected.raw.is_empty()
        {
            raw.clone_into(&mut rejected.raw);
        }
        let event_span = self.reported..span.end;
        self.reported = span.end;
        sink(Event::CallEnd { index, result: Box::new(verdict), raw, restated, span: event_span });
        if !is_quoted && !self.region.turn.invents() {
            self.region.damage().call_came(closer, index, is_due);
        }
        self.budget.index += 1;
    }

    fn plain(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        if self.region.turn == TextTurn::Hidden {
            return sink(Event::Marker { kind: MarkerKind::Turn, text, span });
        }
        match self.region.kind {
            Region::Content => sink(Event::Text { text, span }),
            Region::Reasoning => sink(Event::Reasoning { text, syntax: None, span }),
        }
    }

    /// Ends the stream: decides the region of an answer that was reported as reasoning, or
    /// promotes drafts if the message contains nothing else. `is_unclosed`: all of the reasoning follows a
    /// mark that nothing closed.
    pub(crate) fn finish(&mut self, is_unclosed: bool, sink: &mut Sink<'_>) {
        let (at, normal) = (self.reported, self.ended_normally);
        self.drafts.line_is_over(at, sink);
        let undecided = self.region.is_undecided;
        // Nobody looked for a call past the limits, so none can be said to be missing.
        let hidden = self.budget.is_spent();
        let unfenced = self.drafts.take_fence(undecided).filter(|_| normal && !hidden);
        // No mark said that the text is reasoning. In an empty message there is nothing to move.
        let is_answer = normal && undecided && at > 0;
        if is_answer {
            self.moved(Destination::Content, sink);
            self.drafts.restore(at, sink);
        } else {
            self.decide();
        }
        if let Some(unfenced) = unfenced {
            self.drafts.unfence(unfenced, at, sink);
        }
        if is_answer {
            return;
        }
        // Asked anew, since `decide` may have taken both back.
        let hidden = self.budget.is_spent() || self.region.is_seen;
        let promoted = normal && self.drafts.promote(hidden, at, sink);
        if normal && is_unclosed && !promoted {
            // What was meant for the reader is not swallowed; drafts in it stay what they are.
            self.moved(Destination::Content, sink);
        }
    }

    /// Emits `Moved` for everything so far, to its new destination `to`.
    fn moved(&self, to: Destination, sink: &mut Sink<'_>) {
        let at = self.reported;
        sink(Event::Moved { spans: std::slice::from_ref(&(0..at)), to, span: at..at });
    }
}

/// Returns `true` if a positional argument of a ReAct call was read from text without quotation marks, in which its end
/// is uncertain.
fn is_guessed(call: &Call) -> bool {
    let is_positional = |repair: &Repair| matches!(repair, Repair::Other(name) if name.starts_with("positional:"));
    // Quotation marks say where the value begins and ends.
    let is_bare = matches!(call.dialect.spec().shape, Shape::React(_)) && !call.raw_arguments.starts_with(['"', '\'']);
    is_bare && call.repairs.iter().any(is_positional)
}
