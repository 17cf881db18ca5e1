//! Runs of objects after a marker: their calls, and what is between them.

use super::{OpenFence, Recognised, Scanner};
use crate::event::{MarkerKind, QuotedIn};
use crate::json::window::{Answer, Match, No, Undecided, Window, leading_space};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::{fence_end, think_close};
use crate::parse::shape::object::MarkedObject;
use crate::parse::shape::run::{Following, ObjectRun, Prefix};
use crate::parse::tables::Marked;

impl Scanner {
    /// Creates the run of objects that the marker of `marked` begins.
    pub(super) fn run_of(&self, marked: Marked, prefix: Prefix) -> ObjectRun {
        ObjectRun {
            marked,
            fence: prefix.fence,
            was_fenced: false,
            array: prefix.array,
            think_tags: self.reasoning.reads_think_tags(),
        }
    }

    /// Opens the first or a further object of a run, and emits the syntax before it.
    pub(super) fn open_object(
        &mut self,
        run: ObjectRun,
        prefix: Prefix,
        first: MarkerKind,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Recognised> {
        if self.fence.is_none() {
            // A call outside fences makes examples of the fenced ones before it.
            self.emitter.settle(Some(QuotedIn::Fence), window, sink);
        }
        if self.run.is_none() {
            let indent = window.from(self.at).bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            self.outer = self.surroundings(self.at + indent as u64, window);
        }
        let (start, quoted) = (self.at, self.outer.quoted_in.is_some() || self.is_example());
        for (kind, length) in
            [(first, prefix.lead), (MarkerKind::Fence, prefix.fence_length), (MarkerKind::Wrapper, prefix.bracket)]
        {
            self.at += length as u64;
            self.emitter.marker(kind, quoted, window, self.at, sink);
        }
        self.after_outer_syntax(start, window);
        self.run = Some(run);
        let object = MarkedObject::new(run, self.at, self.tables.config.limits.depth, self.tables.hold);
        self.open(self.call_of(run.marked.dialect, Box::new(object)), window, sink)
    }

    /// Recognises a further object after one of a run, or the syntax between and after them.
    pub(super) fn between_objects(
        &mut self,
        run: ObjectRun,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Recognised> {
        // Inside of brackets or a fence white space is syntax at once; elsewhere what follows
        // it decides (`tool_calls/no_arguments_and_prose_in_the_array`,
        // `hermes/fence_in_the_tag_then_prose`).
        let space = leading_space(window.from(self.at));
        if space > 0 && (run.array || run.fence.is_some()) {
            self.line_start |= window.from(self.at).as_bytes()[..space].contains(&b'\n');
            return Ok(self.wrapper(space, MarkerKind::Wrapper, window, sink));
        }
        let (text, more) = window.candidate(self.at, self.tables.hold);
        // Before what goes on with the run white space is syntax, else it is text.
        let rest = &text[space.min(text.len())..];
        let Some(byte) = rest.bytes().next() else {
            return if more { Err(Undecided) } else { Err(No) };
        };
        // The fence that the whole block is in goes first: what closes it is none of the
        // block's.
        if let (b'`' | b'~' | b'\'', Some(fence), None) = (byte, self.fence(), run.fence)
            && fence_end(rest, fence, self.reasoning.reads_think_tags(), more).decided()?.is_some()
        {
            return Err(No);
        }
        let (run, length, kind) = match run.following(rest, more) {
            Err(Undecided) => return Err(Undecided),
            // The stream ended within the closer of a run that is whole (`hermes/closer_cut`).
            Err(No) if !window.more && run.marked.is_cut_close(rest) && text == window.from(self.at) => {
                (None, rest.len(), MarkerKind::Wrapper)
            }
            Err(No) => return self.end_objects(run, rest, more),
            Ok(Following::Object(prefix)) => {
                let run = ObjectRun { array: run.array || prefix.array, fence: run.fence.or(prefix.fence), ..run };
                return self.open_object(run, prefix.after(space), MarkerKind::Wrapper, window, sink);
            }
            Ok(Following::Bracket) => (Some(ObjectRun { array: false, ..run }), 1, MarkerKind::Wrapper),
            // A bracket that closes nothing, where it can be nothing else (`hermes/surplus_bracket`).
            Ok(Following::Surplus(length)) => (Some(ObjectRun { array: false, ..run }), length, MarkerKind::Wrapper),
            Ok(Following::FenceClose(length)) => {
                self.line_start = true;
                (Some(ObjectRun { fence: None, was_fenced: true, ..run }), length, MarkerKind::Fence)
            }
            Ok(Following::Close(length)) => {
                self.emitter.region.damage().run_closes(run.marked);
                // In a fence its closing line may follow right after the closer
                // (`hermes/fence_closed_right_after`).
                self.line_start = self.fence.is_some();
                (None, length, MarkerKind::Wrapper)
            }
        };
        self.run = run;
        Ok(self.wrapper(space + length, kind, window, sink))
    }

    /// Emits `length` bytes of syntax of a run or a group.
    pub(super) fn wrapper(
        &mut self,
        length: usize,
        kind: MarkerKind,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Recognised {
        let start = self.at;
        self.at += length as u64;
        let quoted = self.outer.quoted_in.is_some() || self.is_example();
        self.emitter.marker(kind, quoted, window, self.at, sink);
        self.after_outer_syntax(start, window);
        Recognised::Taken
    }

    /// Ends a run that other text follows. The fence of its objects, if it was not closed, stays open around that text,
    /// unless a marker line or the end of the reasoning follows.
    fn end_objects(&mut self, run: ObjectRun, text: &str, more: bool) -> Match<Recognised> {
        if let Some(fence) = run.fence {
            match (run.marked.call_line(text, more), think_close(text, more)) {
                (Ok(_), _) | (_, Ok(_)) => {}
                (Err(Undecided), _) | (_, Err(Undecided)) => return Err(Undecided),
                _ if self.fence.is_none() => {
                    self.fence = Some(OpenFence { fence, quotes: QuotedIn::Fence, is_unread: false });
                    self.context.fence_opens();
                }
                _ => {}
            }
        }
        Err(No)
    }
}
