//! The reported calls whose kind is not final: drafts that may be promoted, examples of the first
//! fence, and calls without a marker, after which prose may follow.

use std::ops::Range;

use crate::dialect::{Doubt, takes_back_call};
use crate::event::{Destination, Event, Provenance, QuotedIn, Reason, Region, RejectedKind, Span};
use crate::message::{FencedCalls, ReasoningCalls};
use crate::parse::config::Config;
use crate::parse::emit::judge::{Placement, judge};
use crate::parse::emit::sink::Sink;

/// Log of the reported calls, for decisions that revise their verdicts.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    /// `true` if the last draft becomes a call when the message contains no other call.
    promotes: bool,
    /// `true` if calls in the code fence that the message begins with count when the message contains no other call.
    pub(super) takes_fenced: bool,
    pub(super) calls: Vec<Logged>,
    /// Number of the current run of adjacent calls.
    run: u32,
    /// `true` if other text came since the last call, so that the next call begins a new run.
    pub(super) run_is_over: bool,
    /// `true` if a call came before any text.
    begins_with_call: bool,
    /// Index and region of each call without a marker after which no prose has come in that region.
    pub(super) bare: Vec<(u32, Region)>,
    /// The first line after the last call, so far: it may retract that call and its run. `None` once it is over.
    pub(crate) line_after: Option<String>,
    /// The calls of the code fence that the message begins with, once it is known to be an example.
    pub(super) first_fence: Option<Unfenced>,
}

/// Maximum number of bytes of the line after a call that are examined.
const LINE: usize = 128;

/// Indices of the calls in the code fence that the message begins with, and the spans of the syntax around them.
#[derive(Debug, Default)]
pub(super) struct Unfenced {
    pub(super) calls: Range<u32>,
    pub(super) syntax: Vec<Span>,
}

/// A call that was reported, as far as later verdicts need it.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) index: u32,
    /// Placement of the call in the text.
    pub(super) at: Placement,
    /// Fault of the call itself, apart from its placement; `None` if it has none.
    pub(super) fault: Option<Box<Reason>>,
    /// `true` if the call was read completely.
    pub(super) has_call: bool,
    /// `true` if the output or the reasoning ended inside the call.
    pub(super) is_cut_off: bool,
    /// Number of the call's run of adjacent calls; set when the call is logged.
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

    /// Returns `true` if the call is accepted, unless its text turns out to be reasoning.
    fn is_call_in_answer(&self) -> bool {
        let at = Placement { in_reasoning: false, ..self.at };
        judge(&at, self.fault.as_ref().map(|fault| fault.kind)).is_ok()
    }

    fn is_quoted(&self) -> bool {
        self.at.quoted_in.is_some()
    }

    /// Returns `true` if the call was read completely and is not quoted; in a code fence it may be meant all the same.
    fn is_complete(&self) -> bool {
        self.has_call && self.at.quoted_in.is_none_or(|quoted_in| quoted_in == QuotedIn::Fence)
    }

    /// Returns `true` if the call is a complete draft that may be promoted: outside the reasoning it would be a call,
    /// or an example in a fence.
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

    /// Adds a reported call. `begins`: no text came before it.
    pub(super) fn push(&mut self, call: Logged, begins: bool) {
        self.begins_with_call |= self.calls.is_empty() && begins;
        self.run += u32::from(std::mem::take(&mut self.run_is_over));
        self.line_after = Some(String::new());
        self.calls.push(Logged { run: self.run, ..call });
    }

    /// Applies `fact` to the placement of each call from index `first` on that `which` selects, judges these calls
    /// anew, and emits `Revised` for those whose verdict changes.
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

    /// Notes that prose follows at offset `at`: calls without a marker before it in `region` may be examples.
    pub(super) fn precede_prose(&mut self, region: Region, at: u64, sink: &mut Sink<'_>) {
        let Some((first, _)) = self.bare.iter().find(|(_, of)| *of == region).copied() else { return };
        let mut bare = std::mem::take(&mut self.bare);
        let precedes = |call: &Logged| bare.contains(&(call.index, region));
        self.revise(first, at, precedes, |place| place.prose_follows = true, sink);
        bare.retain(|(_, of)| *of != region);
        self.bare = bare;
    }

    /// Adds text, which ends at offset `at`, to the line after the last call; judges that line once it is complete.
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

    /// Ends the line after the last call at offset `at`: if it retracts the call, the call's run is judged anew.
    pub(super) fn line_is_over(&mut self, at: u64, sink: &mut Sink<'_>) {
        if self.line_after.take().is_some_and(|line| takes_back_call(line.as_bytes())) {
            let run = self.calls.last().map_or(0, |call| call.run);
            let is_call = |call: &Logged| call.run == run && call.is_call_in_answer();
            self.revise(0, at, is_call, |place| place.doubt = Doubt::Certain, sink);
        }
    }

    /// Marks the calls from index `first` on as possible text of a damaged call, and emits the changed verdicts.
    pub(super) fn withdraw(&mut self, first: u32, at: u64, sink: &mut Sink<'_>) {
        self.revise(first, at, |_| true, |place| place.has_stray_closer = true, sink);
    }

    /// Makes drafts of all calls so far, as all text so far was reasoning, and emits the changed verdicts.
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

    /// Returns the first fence if all its calls are complete and no other call of the message is meant; it is forgotten
    /// in any case. `undecided`: it is not known yet whether the text is reasoning.
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

    /// Makes calls of the examples in the first fence, and syntax of the text around them.
    pub(super) fn unfence(&mut self, Unfenced { calls, syntax }: Unfenced, at: u64, sink: &mut Sink<'_>) {
        let taken = |place: &mut Placement| {
            *place = Placement { in_reasoning: false, quoted_in: None, is_first_fence: true, ..*place };
        };
        self.revise(calls.start, at, |call| calls.contains(&call.index), taken, sink);
        sink(Event::Moved { spans: &syntax, to: Destination::Syntax, span: at..at });
    }

    /// Accepts the calls in text that was classified as reasoning and is the answer. They need approval, unless the
    /// message begins with a call, as no reasoning does.
    pub(super) fn restore(&mut self, at: u64, sink: &mut Sink<'_>) {
        let is_promoted = !self.begins_with_call;
        let restored = |place: &mut Placement| *place = Placement { in_reasoning: false, is_promoted, ..*place };
        self.revise(0, at, |call| call.at.in_reasoning, restored, sink);
    }
}
