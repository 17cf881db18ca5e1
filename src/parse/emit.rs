//! Events out: what is handed on, what waits for a fence's decision, and what
//! is known about the calls so far.

mod held;

use std::ops::Range;

use super::verdict::{Verdict, draft, quoted};
use super::window::Window;
use crate::call::{Call, Reason};
use crate::event::{Event, MarkerKind, Region};
use crate::reasoning::ReasoningCalls;
use held::{Held, Pending};

/// Where events go. Dynamic, so that the parser is compiled once.
pub(super) type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// A call that is over.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    pub(super) restated: bool,
    pub(super) span: Range<u64>,
    /// The call's first bytes, if it is past the limit: the window no longer holds them.
    pub(super) head: Option<String>,
}

/// Hands events on in order and remembers what later decisions need.
#[derive(Debug)]
pub(super) struct Emitter {
    /// Everything before is in some event.
    pub(super) reported: u64,
    pub(super) region: Region,
    policy: ReasoningCalls,
    /// The stream was taken to start in the reasoning, and nothing said yet that it
    /// does: it is read as an answer and told as reasoning.
    undecided: bool,
    /// A call came before any text.
    begins_with_call: bool,
    /// Most calls in a message.
    limit: usize,
    index: u32,
    /// Calls past the limit that are not reported.
    unlisted: u64,
    /// A call past the limit was reported as such: no further one is.
    limit_said: bool,
    /// That was taken back once, when it turned out to be a draft.
    unsaid: bool,
    /// A call that is not reported stands outside the reasoning, and is no example.
    unlisted_outside: bool,
    log: Vec<Logged>,
    /// Calls up to here were turned into drafts.
    reclassified: usize,
    /// Runs of adjacent calls are numbered.
    run: u32,
    /// Other text came since the last call: the next one begins a new run.
    run_is_over: bool,
    /// The user has seen something.
    pub(super) visible: bool,
    /// Text other than white space came in this region.
    pub(super) region_has_text: bool,
    /// A call came in this region.
    pub(super) region_has_calls: bool,
    /// A fence is open in which nothing but calls and white space came.
    pub(super) fence_is_clean: bool,
    pending: Option<Pending>,
    /// The open call's `CallStart` was handed on.
    started: bool,
}

/// What promotion needs to know about a call.
#[derive(Debug)]
struct Logged {
    index: u32,
    complete: bool,
    in_reasoning: bool,
    quoted: bool,
    run: u32,
    /// Why it must not run if it is no draft; kept while that is undecided.
    reason: Option<Box<Reason>>,
}

impl Emitter {
    /// `open`: the stream is taken to start in the reasoning; `limit`: most calls in a
    /// message.
    pub(super) fn new(policy: ReasoningCalls, open: bool, limit: usize) -> Self {
        Emitter {
            reported: 0,
            region: if open { Region::Reasoning } else { Region::Content },
            policy,
            undecided: open,
            begins_with_call: false,
            limit,
            index: 0,
            unlisted: 0,
            limit_said: false,
            unsaid: false,
            unlisted_outside: false,
            log: Vec::new(),
            reclassified: 0,
            run: 0,
            run_is_over: false,
            visible: false,
            region_has_text: false,
            region_has_calls: false,
            fence_is_clean: false,
            pending: None,
            started: false,
        }
    }

    /// Index of the call that is open or comes next.
    pub(super) fn index(&self) -> u32 {
        self.index + self.pending.as_ref().map_or(0, |p| p.ended)
    }

    /// Whether the limit on calls was passed before the call that is open or comes
    /// next: it is only reported if it is the first that would have run.
    pub(super) fn is_past_limit(&self) -> bool {
        self.index() as usize > self.limit
    }

    /// Whether the call that is open or comes next is counted and not reported, if it ends
    /// as it stands. While it is undecided whether this is an answer, it is counted as one.
    pub(super) fn leaves_out(&self, quoted: bool) -> bool {
        self.is_past_limit() && (self.limit_said || self.only_drafts() || quoted)
    }

    /// Counts calls that are not reported, if a fence is undecided with it.
    pub(super) fn leave_out_held(&mut self, calls: u64, quoted: bool) {
        match &mut self.pending {
            Some(pending) => pending.unlisted += calls,
            None => self.leave_out(calls, quoted),
        }
    }

    /// Counts calls that are not reported.
    pub(super) fn leave_out(&mut self, calls: u64, quoted: bool) {
        self.unlisted += calls;
        self.unlisted_outside |= calls > 0 && !quoted && !self.only_drafts();
        self.region_has_calls |= calls > 0;
    }

    /// Whether text before said all that more text would say.
    pub(super) fn is_calm(&self) -> bool {
        let seen = self.visible || !self.reads_answer();
        seen && self.region_has_text && self.run_is_over && !self.fence_is_clean
    }

    /// Whether calls that stand here are told as drafts.
    fn drafts(&self) -> bool {
        self.region == Region::Reasoning && self.policy != ReasoningCalls::Allow
    }

    /// Whether calls that stand here are drafts for certain, so that nothing else about
    /// them matters.
    pub(super) fn only_drafts(&self) -> bool {
        self.drafts() && !self.undecided
    }

    /// Whether text is read as the answer's, however it is told.
    fn reads_answer(&self) -> bool {
        self.region == Region::Content || self.undecided
    }

    /// Something said where the reasoning ends or begins: what came is reasoning.
    pub(super) fn decide(&mut self) {
        if std::mem::take(&mut self.undecided) {
            self.visible = false;
            self.log.iter_mut().for_each(|call| call.reason = None);
            if self.policy != ReasoningCalls::Allow {
                self.unsay_limit();
            }
        }
    }

    /// Whether some fence is undecided.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The first byte that is still needed.
    pub(super) fn keep_from(&self) -> u64 {
        self.pending.as_ref().map_or(self.reported, |p| p.start)
    }

    /// Whether nothing but white space and syntax came in this region, nor to
    /// the user before it.
    pub(super) fn begins_region(&self) -> bool {
        let seen = self.visible && self.reads_answer();
        !(seen || self.region_has_text || self.region_has_calls || self.is_pending())
    }

    /// Hands on plain text up to `to`.
    pub(super) fn text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to <= self.reported {
            return;
        }
        let text = window.slice(self.reported..to);
        let blank = text.trim_ascii_start().is_empty();
        if let Some(pending) = &mut self.pending {
            if blank {
                pending.held.push(Held::Space(self.reported..to, pending.in_fence));
                self.reported = to;
                return;
            }
            self.settle(window, true, sink);
        }
        if !blank {
            self.run_is_over = true;
            self.fence_is_clean = false;
            self.region_has_text = true;
            self.visible |= self.reads_answer();
        }
        self.plain(window, to, sink);
    }

    /// Hands on a fence line as text: calls on both sides of it stay adjacent.
    pub(super) fn fence_text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        self.settle(window, true, sink);
        self.region_has_text = true;
        self.visible |= self.reads_answer();
        self.plain(window, to, sink);
    }

    /// Hands on syntax up to `to`. Around drafts and examples it is text.
    pub(super) fn marker(&mut self, kind: MarkerKind, quoted: bool, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to <= self.reported {
            return;
        }
        if let Some(pending) = &mut self.pending {
            pending.held.push(Held::Marker(kind, self.reported..to));
            self.reported = to;
            return;
        }
        let is_syntax = kind.is_call_syntax();
        if quoted && is_syntax && !self.only_drafts() {
            self.visible |= self.reads_answer();
            return self.plain(window, to, sink);
        }
        // After it everything is the answer.
        self.region_has_text |= kind == MarkerKind::AnswerLine;
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        match self.drafts() && is_syntax {
            true => sink(Event::Reasoning { text, syntax: Some(kind), span }),
            false => sink(Event::Marker { kind, text, span }),
        }
    }

    /// Hands on a think tag and goes over to `region`.
    pub(super) fn think(
        &mut self,
        kind: MarkerKind,
        region: Region,
        window: &Window<'_>,
        to: u64,
        sink: &mut Sink<'_>,
    ) {
        self.settle(window, self.region == Region::Content, sink);
        let span = self.reported..to;
        self.reported = to;
        sink(Event::Marker { kind, text: window.slice(span.clone()), span });
        self.run_is_over = true;
        self.decide();
        self.region = region;
        self.region_has_text = false;
        self.region_has_calls = false;
    }

    /// Everything so far was reasoning.
    pub(super) fn all_was_reasoning(&mut self, sink: &mut Sink<'_>) {
        let drafts = self.policy != ReasoningCalls::Allow;
        for call in &mut self.log[self.reclassified..] {
            call.in_reasoning = drafts;
        }
        self.reclassified = self.log.len();
        if drafts {
            self.unsay_limit();
        }
        self.visible = false;
        sink(Event::Reclassified { to: Region::Reasoning, drafts, span: self.reported..self.reported });
    }

    /// The call that was reported as past the limit is a draft, and so are those behind it.
    fn unsay_limit(&mut self) {
        if !std::mem::replace(&mut self.unsaid, true) {
            self.limit_said = false;
        }
        self.unlisted_outside = false;
    }

    /// The open call's name is known at `at`.
    pub(super) fn call_start(&mut self, at: u64, server: Option<&str>, tool: &str, sink: &mut Sink<'_>) {
        if self.is_past_limit() {
            return;
        }
        if let Some(call) = self.held_call() {
            call.start = Some((at, server.map(str::to_owned), tool.to_owned()));
            return;
        }
        let span = self.reported..at;
        self.reported = at;
        self.started = true;
        sink(Event::CallStart { index: self.index, server, tool, span });
    }

    /// More of the open call's arguments, up to `at`.
    pub(super) fn delta(&mut self, at: u64, text: &str, sink: &mut Sink<'_>) {
        if self.is_past_limit() {
            return;
        }
        if let Some(call) = self.held_call() {
            call.deltas.push_str(text);
            call.deltas_end = call.deltas_end.max(at);
            return;
        }
        let span = self.reported..at.max(self.reported);
        self.reported = span.end;
        sink(Event::ArgsDelta { index: self.index, text, span });
    }

    /// The open call is over. `quoted`: it stands in a fence with other text.
    pub(super) fn call_end(&mut self, mut ended: Ended, is_quoted: bool, window: &Window<'_>, sink: &mut Sink<'_>) {
        if is_quoted {
            ended.verdict = quoted(ended.verdict);
        }
        let end = ended.span.end;
        if self.is_past_limit()
            && let Some(pending) = &mut self.pending
            && (self.limit_said || pending.is_past_limit)
        {
            pending.unlisted += 1;
            return self.marker(MarkerKind::Wrapper, is_quoted, window, end, sink);
        }
        let is_past_limit = self.is_past_limit();
        if let Some(call) = self.held_call() {
            call.ended = Some(ended);
            self.reported = end;
            if let Some(pending) = &mut self.pending {
                pending.ended += 1;
                pending.is_past_limit |= is_past_limit;
            }
            return;
        }
        if is_quoted {
            self.visible |= self.reads_answer();
        }
        self.report_end(ended, is_quoted, window, sink);
    }

    fn report_end(&mut self, ended: Ended, is_quoted: bool, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Ended { mut verdict, restated, span, head } = ended;
        self.region_has_calls = true;
        self.begins_with_call |= self.log.is_empty() && !self.region_has_text && !is_quoted;
        let in_reasoning = self.drafts();
        if self.leaves_out(is_quoted) {
            self.leave_out(1, is_quoted);
            return self.marker(MarkerKind::Wrapper, is_quoted, window, span.end, sink);
        }
        self.limit_said |= self.index() as usize >= self.limit && !self.only_drafts() && !is_quoted;
        let complete = verdict_call(&verdict).is_some();
        let reason = verdict.as_ref().err().filter(|_| self.undecided).map(|rejected| Box::new(rejected.reason()));
        if in_reasoning {
            verdict = draft(verdict);
        }
        self.run += u32::from(std::mem::take(&mut self.run_is_over));
        self.log.push(Logged { index: self.index, complete, in_reasoning, quoted: is_quoted, run: self.run, reason });
        if !std::mem::take(&mut self.started) {
            // The name was only found in the whole text.
            let (server, tool) = match &verdict {
                Ok(call) => (&call.server, Some(&call.tool)),
                Err(rejected) => (&rejected.server, rejected.tool.as_ref()),
            };
            if let Some(tool) = tool {
                let span = self.reported..self.reported;
                sink(Event::CallStart { index: self.index, server: server.as_deref(), tool, span });
            }
        }
        let raw = head.as_deref().unwrap_or_else(|| window.slice(span.clone()));
        if let Err(rejected) = &mut verdict
            && rejected.raw.is_empty()
        {
            raw.clone_into(&mut rejected.raw);
        }
        let event_span = self.reported..span.end;
        self.reported = span.end;
        sink(Event::CallEnd { index: self.index, result: Box::new(verdict), raw, restated, span: event_span });
        self.index += 1;
    }

    /// The stream is over: says what an answer is that was told as reasoning, or
    /// promotes drafts if nothing else is there.
    pub(super) fn finish(&mut self, normal: bool, sink: &mut Sink<'_>) {
        if normal && self.undecided && self.reported > 0 {
            return self.restore(sink);
        }
        self.decide();
        let at = self.reported..self.reported;
        self.tell_unlisted(sink);
        let outside = self.unlisted_outside || self.log.iter().any(|c| !c.in_reasoning && !c.quoted);
        if !normal || self.policy != ReasoningCalls::LastResort || self.visible || outside {
            return;
        }
        let draft = |c: &&Logged| c.complete && c.in_reasoning;
        let Some(run) = self.log.iter().rfind(draft).map(|c| c.run) else { return };
        for call in self.log.iter().filter(draft).filter(|c| c.run == run) {
            sink(Event::Promoted { index: call.index, span: at.clone() });
        }
    }

    /// What was told as reasoning is the answer. Its calls are calls for certain only
    /// if it begins with one, which no reasoning does; any other needs approval.
    fn restore(&mut self, sink: &mut Sink<'_>) {
        let at = self.reported..self.reported;
        sink(Event::Reclassified { to: Region::Content, drafts: false, span: at.clone() });
        for call in self.log.drain(..).filter(|c| c.in_reasoning) {
            let (index, span) = (call.index, at.clone());
            match call.reason {
                None if !self.begins_with_call => sink(Event::Promoted { index, span }),
                reason => sink(Event::Restored { index, reason, span }),
            }
        }
        self.tell_unlisted(sink);
    }

    /// How many calls past the limit were not reported.
    fn tell_unlisted(&self, sink: &mut Sink<'_>) {
        if self.unlisted > 0 {
            let span = self.reported..self.reported;
            sink(Event::Unlisted { index: self.index - 1, count: self.unlisted, span });
        }
    }

    fn plain(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        match self.region {
            Region::Content => sink(Event::Text { text, span }),
            Region::Reasoning => sink(Event::Reasoning { text, syntax: None, span }),
        }
    }
}

fn verdict_call(verdict: &Verdict) -> Option<&Call> {
    match verdict {
        Ok(call) => Some(call),
        Err(rejected) => rejected.call.as_deref(),
    }
}
