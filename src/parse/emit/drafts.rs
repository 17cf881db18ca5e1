//! The reported calls whose kind is not final: drafts that may be promoted, examples of the first
//! fence, and calls without a marker, after which prose may follow.

use std::ops::Range;

use crate::dialect::{Doubt, takes_back_call};
use crate::event::{Destination, Event, Provenance, QuotedIn, Reason, Region, RejectedKind, Span};
use crate::message::{FencedCalls, ReasoningCalls};
use crate::parse::config::Config;
use crate::parse::emit::judge::{Placement, judge};
use crate::parse::emit::sink::Sink;

/// The calls so far, as far as later decisions need them.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    /// The last draft is a call if nothing else is.
    promotes: bool,
    /// Calls in the fence that the message begins with are calls if nothing else is.
    pub(super) takes_fenced: bool,
    pub(super) calls: Vec<Logged>,
    /// Runs of adjacent calls are numbered.
    run: u32,
    /// Other text came since the last call: the next one begins a new run.
    pub(super) run_is_over: bool,
    /// A call came before any text.
    begins_with_call: bool,
    /// Calls that nothing announces, and after which no prose came yet in their region.
    pub(super) bare: Vec<(u32, Region)>,
    /// The first line after the last call, as far as it came; it may take back the call and those next to it.
    pub(crate) line_after: Option<String>,
    /// The fence that the message begins with, once it is known to be an example.
    pub(super) first_fence: Option<Unfenced>,
}

/// Bytes by which the line after a call is known.
const LINE: usize = 128;

/// Calls of the first fence, and the bytes around them.
#[derive(Debug, Default)]
pub(super) struct Unfenced {
    pub(super) calls: Range<u32>,
    pub(super) syntax: Vec<Span>,
}

/// A call that was reported, as far as later verdicts need it.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) index: u32,
    /// Its placement.
    pub(super) at: Placement,
    /// The fault of the call itself.
    pub(super) fault: Option<Box<Reason>>,
    /// It was read whole.
    pub(super) has_call: bool,
    /// The output, or the reasoning, ended inside it.
    pub(super) is_cut_off: bool,
    /// Its run, which is set where it is logged.
    pub(super) run: u32,
}

impl Logged {
    fn verdict(&self) -> Result<Provenance, Reason> {
        let fault = self.fault.as_deref();
        judge(&self.at, fault.map(|fault| fault.kind)).map_err(|kind| match fault {
            Some(fault) if fault.kind == kind => fault.clone(),
            _ => self.at.reason(kind),
        })
    }

    /// Returns `true` if it is a call unless the text turns out to be reasoning.
    fn is_call_in_answer(&self) -> bool {
        let at = Placement { in_reasoning: false, ..self.at };
        judge(&at, self.fault.as_ref().map(|fault| fault.kind)).is_ok()
    }

    fn is_quoted(&self) -> bool {
        self.at.quoted_in.is_some()
    }

    /// Returns `true` if it is whole and not only mentioned. A draft in a fence may be meant.
    fn is_complete(&self) -> bool {
        self.has_call && self.at.quoted_in.is_none_or(|quoted_in| quoted_in == QuotedIn::Fence)
    }

    /// Returns `true` if it is a call once it is no draft, or an example in a fence.
    fn is_candidate(&self) -> bool {
        let answer = judge(&Placement { in_reasoning: false, ..self.at }, self.fault.as_ref().map(|fault| fault.kind));
        // A call that may be text of a damaged one is not promoted.
        let is_meant = matches!(answer, Ok(_) | Err(RejectedKind::Quoted)) && !self.at.has_stray_closer;
        self.at.in_reasoning && self.is_complete() && !self.is_cut_off && is_meant
    }
}

impl Drafts {
    pub(crate) fn new(config: &Config) -> Self {
        Drafts {
            promotes: config.reasoning_calls == ReasoningCalls::LastResort,
            takes_fenced: config.fenced_calls == FencedCalls::LastResort,
            ..Drafts::default()
        }
    }

    /// Adds a reported call. `begins`: nothing came before it, if no other call did.
    pub(super) fn push(&mut self, call: Logged, begins: bool) {
        self.begins_with_call |= self.calls.is_empty() && begins;
        self.run += u32::from(std::mem::take(&mut self.run_is_over));
        self.line_after = Some(String::new());
        self.calls.push(Logged { run: self.run, ..call });
    }

    /// Judges calls anew of which a fact became known, from the call `first` on, and reports those whose verdict changes.
    fn revise(
        &mut self,
        first: u32,
        at: u64,
        which: impl Fn(&Logged) -> bool,
        fact: impl Fn(&mut Placement),
        sink: &mut Sink<'_>,
    ) {
        let first = self.calls.partition_point(|call| call.index < first);
        let mut tell = |(calls, result)| sink(Event::Revised { calls, result, span: at..at });
        let mut last: Option<(Range<u32>, Result<Provenance, Reason>)> = None;
        for call in self.calls[first..].iter_mut().filter(|call| which(call)) {
            let before = call.verdict();
            fact(&mut call.at);
            let verdict = call.verdict();
            // What may be another call's text is no more than that, whatever else becomes known of it.
            let is_withdrawn =
                |verdict: &Result<_, Reason>| verdict.as_ref().is_err_and(|why| why.kind == RejectedKind::AfterDamage);
            match &mut last {
                _ if verdict == before || is_withdrawn(&verdict) && is_withdrawn(&before) => {}
                Some((calls, result)) if calls.end == call.index && *result == verdict => calls.end += 1,
                _ => last.replace((call.index..call.index + 1, verdict)).into_iter().for_each(&mut tell),
            }
        }
        last.into_iter().for_each(tell);
    }

    /// Prose follows at `at`: calls before it that nothing announces may be examples.
    pub(super) fn precede_prose(&mut self, region: Region, at: u64, sink: &mut Sink<'_>) {
        let Some((first, _)) = self.bare.iter().find(|(_, of)| *of == region).copied() else { return };
        let mut bare = std::mem::take(&mut self.bare);
        let precedes = |call: &Logged| bare.contains(&(call.index, region));
        self.revise(first, at, precedes, |place| place.prose_follows = true, sink);
        bare.retain(|(_, of)| *of != region);
        self.bare = bare;
    }

    /// Text follows, up to `at`.
    pub(crate) fn text_follows(&mut self, text: &str, at: u64, sink: &mut Sink<'_>) {
        let Some(line) = &mut self.line_after else { return };
        // Blank lines after the call say nothing of it.
        let text = if line.is_empty() { text.trim_start() } else { text };
        let end = memchr::memchr(b'\n', text.as_bytes());
        let (more, room) = (&text[..end.unwrap_or(text.len())], LINE - line.len());
        if line.is_empty() {
            line.reserve_exact(LINE);
        }
        line.push_str(&more[..more.floor_char_boundary(room)]);
        if end.is_some() || more.len() >= room {
            self.line_is_over(at, sink);
        }
    }

    /// The line after the last call is over at `at`.
    pub(super) fn line_is_over(&mut self, at: u64, sink: &mut Sink<'_>) {
        if self.line_after.take().is_some_and(|line| takes_back_call(line.as_bytes())) {
            let run = self.calls.last().map_or(0, |call| call.run);
            let is_call = |call: &Logged| call.run == run && call.is_call_in_answer();
            self.revise(0, at, is_call, |place| place.doubt = Doubt::Certain, sink);
        }
    }

    /// The calls from `first` on may be text of one that was damaged.
    pub(super) fn withdraw(&mut self, first: u32, at: u64, sink: &mut Sink<'_>) {
        self.revise(first, at, |_| true, |place| place.has_stray_closer = true, sink);
    }

    /// Everything so far was reasoning, whose calls are drafts.
    pub(super) fn all_was_reasoning(&mut self, at: u64, sink: &mut Sink<'_>) {
        self.revise(0, at, |_| true, |place| place.in_reasoning = true, sink);
    }

    /// Promotes the last complete draft and those next to it, if the configuration asks for it and the
    /// message contains nothing else. Returns `true` if there are any. The stream has ended at `at`.
    /// `hidden`: a call may have been meant that is not reported.
    pub(super) fn promote(&mut self, hidden: bool, at: u64, sink: &mut Sink<'_>) -> bool {
        // `last_resort` means that the message calls nothing else.
        if !self.promotes || hidden || self.calls.iter().any(|call| !call.at.in_reasoning && !call.is_quoted()) {
            return false;
        }
        // A later draft that was cut off is the one that was meant.
        let last = self.calls.iter().rfind(|call| call.at.in_reasoning && (call.is_complete() || call.is_cut_off));
        if last.is_some_and(|last| last.is_cut_off) {
            return false;
        }
        let Some(run) = self.calls.iter().rfind(|call| call.is_candidate()).map(|call| call.run) else { return false };
        let promoted = |place: &mut Placement| {
            *place = Placement { in_reasoning: false, quoted_in: None, is_promoted: true, ..*place };
        };
        self.revise(0, at, |call| call.is_candidate() && call.run == run, promoted, sink);
        true
    }

    /// Takes the first fence if its calls are whole, and nothing else in the message is a call.
    pub(super) fn take_fence(&mut self, undecided: bool) -> Option<Unfenced> {
        // What is undecided becomes the answer where the stream ends normally, and its calls no drafts.
        let drafts = |call: &Logged| call.at.in_reasoning && !undecided;
        let fence = self.first_fence.take()?;
        // Each call of the fence must be whole, and none outside may be meant: examples and drafts are not.
        let admits = self.calls.iter().all(|call| match fence.calls.contains(&call.index) {
            true => call.is_complete() && call.is_quoted() && !drafts(call),
            false => call.is_quoted() || drafts(call),
        });
        admits.then_some(fence)
    }

    /// Makes calls of those of the first fence, and syntax of what is around them.
    pub(super) fn unfence(&mut self, Unfenced { calls, syntax }: Unfenced, at: u64, sink: &mut Sink<'_>) {
        let taken = |place: &mut Placement| {
            *place = Placement { in_reasoning: false, quoted_in: None, is_first_fence: true, ..*place };
        };
        self.revise(calls.start, at, |call| calls.contains(&call.index), taken, sink);
        sink(Event::Moved { spans: &syntax, to: Destination::Syntax, span: at..at });
    }

    /// Makes the answer of what was classified as reasoning. Its calls are calls for certain only
    /// if it begins with one, which no reasoning does; any other needs approval.
    pub(super) fn restore(&mut self, at: u64, sink: &mut Sink<'_>) {
        let is_promoted = !self.begins_with_call;
        let restored = |place: &mut Placement| *place = Placement { in_reasoning: false, is_promoted, ..*place };
        self.revise(0, at, |call| call.at.in_reasoning, restored, sink);
    }
}
