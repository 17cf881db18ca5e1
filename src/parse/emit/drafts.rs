//! The calls that were told, as far as it is open what they are: drafts that may be promoted,
//! examples of the first fence, calls that nothing announces and prose may follow.

use std::ops::Range;

use crate::event::{Event, Provenance, Reason, Region, Span};
use crate::message::{FencedCalls, ReasoningCalls};
use crate::parse::config::Config;
use crate::parse::emit::sink::Sink;

/// What later decisions need to know about the calls so far.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    /// The last draft is a call if nothing else is.
    promotes: bool,
    /// Calls in the fence that the message begins with are calls if nothing else is.
    takes_fenced: bool,
    calls: Vec<Logged>,
    /// Calls up to here were turned into drafts.
    reclassified: usize,
    /// Runs of adjacent calls are numbered.
    run: u32,
    /// Other text came since the last call: the next one begins a new run.
    run_is_over: bool,
    /// A call came before any text.
    begins_with_call: bool,
    /// Calls that nothing announces, and behind which no prose came yet in their region.
    bare: Vec<(u32, Region)>,
    /// The fence that the message begins with, once it is known to be an example.
    first_fence: Option<Unfenced>,
}

/// Calls of a fence, and the bytes around them, as [`Event::Unfenced`] tells them.
#[derive(Debug, Default)]
pub(super) struct Unfenced {
    pub(super) calls: Range<u32>,
    pub(super) syntax: Vec<Span>,
}

/// What promotion needs to know about a call.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) index: u32,
    pub(super) complete: bool,
    pub(super) in_reasoning: bool,
    pub(super) quoted: bool,
    /// It is none of the model's, or the output ended inside it.
    pub(super) never: Option<Never>,
    /// Why it must not run if it is no draft; kept while that is undecided.
    pub(super) reason: Option<Box<Reason>>,
    /// Its run, which is set where it is logged.
    pub(super) run: u32,
}

/// What makes a draft no candidate for promotion, whatever else came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Never {
    Invented,
    BehindDamage,
    CutOff,
}

impl Drafts {
    pub(crate) fn new(config: &Config) -> Self {
        Drafts {
            promotes: config.reasoning_calls == ReasoningCalls::LastResort,
            takes_fenced: config.fenced_calls == FencedCalls::LastResort,
            ..Drafts::default()
        }
    }

    /// Whether the calls of a fence that the message begins with may be taken.
    pub(super) fn takes_fence(&self) -> bool {
        self.takes_fenced && self.first_fence.is_none()
    }

    /// These stand in it, and it is an example.
    pub(super) fn fence_is_example(&mut self, fence: Unfenced) {
        self.first_fence = Some(fence);
    }

    /// Other text comes: the next call begins a new run.
    pub(super) fn end_run(&mut self) {
        self.run_is_over = true;
    }

    /// Whether other text came since the last call.
    pub(super) fn run_is_over(&self) -> bool {
        self.run_is_over
    }

    /// A call is told. `begins`: nothing came before it, if no other call did.
    pub(super) fn push(&mut self, call: Logged, begins: bool) {
        self.begins_with_call |= self.calls.is_empty() && begins;
        self.run += u32::from(std::mem::take(&mut self.run_is_over));
        self.calls.push(Logged { run: self.run, ..call });
    }

    /// Nothing announces the call of this index.
    pub(super) fn push_bare(&mut self, index: u32, region: Region) {
        self.bare.push((index, region));
    }

    /// Prose follows at `at`: calls before it that nothing announces may be examples.
    pub(super) fn precede_prose(&mut self, region: Region, at: u64, sink: &mut Sink<'_>) {
        self.bare.retain(|(index, of)| {
            let precedes = *of == region;
            if precedes {
                sink(Event::Placed { index: *index, provenance: Provenance::BeforeProse, span: at..at });
            }
            !precedes
        });
    }

    /// The calls from `first` on may be text of one that was damaged. `undecided`: why is kept for
    /// the case that they are no drafts.
    pub(super) fn withdraw(&mut self, first: u32, undecided: bool) {
        for call in self.calls.iter_mut().filter(|call| call.index >= first) {
            call.never = call.never.or(Some(Never::BehindDamage));
            if undecided {
                call.reason.get_or_insert_with(|| Box::new(Reason::withdrawn()));
            }
        }
    }

    /// It is known where the reasoning ends: what is in it is a draft.
    pub(super) fn decide(&mut self) {
        self.calls.iter_mut().for_each(|call| call.reason = None);
    }

    /// Everything so far was reasoning; whether its calls are drafts.
    pub(super) fn all_was_reasoning(&mut self, drafts: bool) {
        for call in &mut self.calls[self.reclassified..] {
            call.in_reasoning = drafts;
        }
        self.reclassified = self.calls.len();
    }

    /// Promotes the last complete draft and those next to it, where that is asked for and nothing
    /// else is there; whether there are any. The stream has ended at `at`. `hidden`: a call may have
    /// been meant that is not told.
    pub(super) fn promote(&self, hidden: bool, at: u64, sink: &mut Sink<'_>) -> bool {
        if !self.promotes || hidden || self.calls.iter().any(|call| !call.in_reasoning && !call.quoted) {
            return false;
        }
        // A later draft that was cut off is the one that was meant.
        let last = self.calls.iter().rfind(|c| c.in_reasoning && (c.complete || c.never == Some(Never::CutOff)));
        if last.is_some_and(|last| last.never == Some(Never::CutOff)) {
            return false;
        }
        let draft = |c: &&Logged| c.complete && c.in_reasoning && c.never.is_none();
        let Some(run) = self.calls.iter().rfind(draft).map(|c| c.run) else { return false };
        for call in self.calls.iter().filter(draft).filter(|c| c.run == run) {
            sink(Event::Promoted { index: call.index, span: at..at });
        }
        true
    }

    /// Takes the first fence if its calls are whole, and nothing else in the message is a call.
    pub(super) fn take_fence(&mut self, undecided: bool) -> Option<Unfenced> {
        let drafts = |call: &Logged| call.in_reasoning && !undecided;
        let fence = self.first_fence.take()?;
        let admits = self.calls.iter().all(|call| match fence.calls.contains(&call.index) {
            true => call.complete && call.quoted && !drafts(call),
            false => call.quoted || drafts(call),
        });
        admits.then_some(fence)
    }

    /// What was told as reasoning is the answer. Its calls are calls for certain only
    /// if it begins with one, which no reasoning does; any other needs approval.
    pub(super) fn restore(&mut self, at: u64, sink: &mut Sink<'_>) {
        for call in self.calls.drain(..).filter(|call| call.in_reasoning) {
            let (index, span) = (call.index, at..at);
            match call.reason {
                None if !self.begins_with_call => sink(Event::Promoted { index, span }),
                reason => sink(Event::Restored { index, reason: reason.as_deref(), span }),
            }
        }
    }
}
