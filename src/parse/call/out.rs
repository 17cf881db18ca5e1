//! The output that an open call reports to.

use std::ops::Range;

use crate::event::Repair;
use crate::json::window::Window;
use crate::parse::emit::emitter::Emitter;
use crate::parse::emit::sink::Sink;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::tables::Tables;

/// A part of a series of calls that no marker announces; all of them wait for the series' end.
#[derive(Debug)]
pub(crate) enum SeriesPart {
    /// A call, with its byte range.
    Call(Range<u64>, Box<UnresolvedCall>),
    /// The calls up to this offset are final, whatever follows.
    Kept(u64),
}

/// Output of an open call, through which it emits its name and its arguments.
pub(crate) struct CallOut<'a, 's> {
    pub(crate) emitter: &'a mut Emitter,
    pub(crate) sink: &'a mut Sink<'s>,
    pub(crate) tables: &'a Tables,
    /// The call's text up to the limit, once it is over the limit.
    pub(crate) head: Option<&'a Window<'a>>,
    /// `true` if `</think>` outside a JSON string ends the call.
    pub(crate) think_ends: bool,
    /// The calls so far of a series without markers.
    pub(crate) series: &'a mut Vec<SeriesPart>,
}

impl CallOut<'_, '_> {
    /// Returns `true` if the call is over the limit on its bytes: only its end is searched for, and bytes before the
    /// cursor are no longer available.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.head.is_some()
    }

    /// Returns the maximum nesting depth of a call's JSON.
    pub(crate) fn max_depth(&self) -> usize {
        self.tables.config.limits.depth
    }

    pub(crate) fn start(&mut self, at: u64, server: Option<&str>, tool: &str) {
        self.emitter.call_start(at, server, tool, self.sink);
    }

    /// Emits the start of a call whose opener named its tool, unless `started` says that this was done.
    pub(crate) fn start_once(&mut self, started: &mut bool, at: u64, call: &UnresolvedCall) {
        if !std::mem::replace(started, true)
            && let Some(tool) = &call.tool
        {
            self.start(at, call.server.as_deref(), tool);
        }
    }

    /// Emits more of the arguments' JSON text, made from bytes up to offset `at`.
    pub(crate) fn delta(&mut self, at: u64, text: &str) {
        if !self.is_over_limit() && !text.is_empty() {
            self.emitter.delta(at, text, self.sink);
        }
    }

    /// Adds a repair to the last call of the series, which the text after it mended.
    pub(crate) fn note_last(&mut self, repair: &str) {
        if let Some(SeriesPart::Call(_, call)) = self.series.last_mut() {
            call.repairs.push(Repair::Other(repair.to_owned()));
        }
    }
}
