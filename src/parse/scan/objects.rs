//! Objects behind a marker: their calls, and what stands between them.

use super::{Found, Scanner};
use crate::event::MarkerKind;
use crate::parse::body::think_close;
use crate::parse::emit::Sink;
use crate::parse::envelope::Envelope;
use crate::parse::line::fence_end;
use crate::parse::objects::{Ahead, Following, Objects};
use crate::parse::open::{Body, OpenCall};
use crate::parse::tables::Marked;
use crate::parse::window::{Match, Window, leading_space};

impl Scanner {
    /// The run that a marker of `marked` begins.
    pub(super) fn objects_of(&self, marked: Marked, ahead: Ahead) -> Objects {
        Objects { marked, fence: ahead.fence, array: ahead.array, think_tags: self.reads_think_tags() }
    }

    /// Opens the first object of a run, or a further one, and hands on what leads to it.
    pub(super) fn open_object(
        &mut self,
        objects: Objects,
        ahead: Ahead,
        first: MarkerKind,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Found {
        if self.fence.is_none() {
            // A call outside fences makes examples of the fenced ones before it.
            self.emitter.settle(window, true, sink);
        }
        let quoted = self.is_example();
        for (kind, length) in
            [(first, ahead.lead), (MarkerKind::Fence, ahead.fence_length), (MarkerKind::Wrapper, ahead.bracket)]
        {
            self.at += length as u64;
            self.emitter.marker(kind, quoted, window, self.at, sink);
        }
        self.objects = Some(objects);
        let limits = self.tables.config.limits;
        let body = Envelope::new(objects, self.at, limits.depth, self.tables.hold);
        let call = OpenCall::new(objects.marked.dialect, self.at, Body::Envelope(Box::new(body)), limits.call_bytes);
        self.open(call, window, sink)
    }

    /// Behind an object: a further one, what stands between them, or something else.
    pub(super) fn between_objects(&mut self, objects: Objects, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let space = leading_space(window.from(self.at));
        if space > 0 && (objects.array || objects.fence.is_some()) {
            self.line_start |= window.from(self.at).as_bytes()[..space].contains(&b'\n');
            return self.wrapper(space, MarkerKind::Wrapper, window, sink);
        }
        let (text, more) = window.candidate(self.at, self.tables.hold);
        // Before what goes on with the run white space is syntax, else it is text.
        let rest = &text[space.min(text.len())..];
        let Some(byte) = rest.bytes().next() else {
            return if more { Found::Hold } else { Found::Text };
        };
        // The fence that the whole block stands in goes first.
        if let (b'`' | b'~' | b'\'', Some(fence), None) = (byte, self.fence, objects.fence) {
            match fence_end(rest, fence, self.reads_think_tags(), more) {
                Match::Yes(_) => return Found::Text,
                Match::Undecided => return Found::Hold,
                Match::No => {}
            }
        }
        match objects.following(rest, more) {
            Match::Undecided => Found::Hold,
            Match::No if !window.more && objects.marked.is_cut_close(rest) && text == window.from(self.at) => {
                self.objects = None;
                self.wrapper(text.len(), MarkerKind::Wrapper, window, sink)
            }
            Match::No => self.end_objects(objects, rest, more),
            Match::Yes(Following::Object(ahead)) => {
                let array = objects.array || ahead.array;
                let objects = Objects { array, fence: ahead.fence.or(objects.fence), ..objects };
                self.open_object(objects, ahead.behind(space), MarkerKind::Wrapper, window, sink)
            }
            Match::Yes(Following::Bracket) => {
                self.objects = Some(Objects { array: false, ..objects });
                self.wrapper(space + 1, MarkerKind::Wrapper, window, sink)
            }
            Match::Yes(Following::Surplus(length)) => {
                self.objects = Some(Objects { array: false, ..objects });
                self.wrapper(space + length, MarkerKind::Wrapper, window, sink)
            }
            Match::Yes(Following::FenceClose(length)) => {
                self.objects = Some(Objects { fence: None, ..objects });
                self.line_start = true;
                let found = self.wrapper(space + length, MarkerKind::Fence, window, sink);
                self.fence_end = self.at;
                found
            }
            Match::Yes(Following::Close(length)) => {
                self.objects = None;
                self.line_start = self.fence.is_some();
                self.wrapper(space + length, MarkerKind::Wrapper, window, sink)
            }
        }
    }

    fn wrapper(&mut self, length: usize, kind: MarkerKind, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        self.at += length as u64;
        self.emitter.marker(kind, self.is_example(), window, self.at, sink);
        Found::Taken
    }

    /// Something else follows the objects. Their fence, if it was not closed,
    /// goes on around it, unless a marker line or the reasoning's end comes.
    fn end_objects(&mut self, objects: Objects, text: &str, more: bool) -> Found {
        if let Some(fence) = objects.fence {
            match (objects.marked.call_line(text, more), think_close(text, more)) {
                (Match::Yes(_), _) | (_, Match::Yes(_)) => {}
                (Match::Undecided, _) | (_, Match::Undecided) => return Found::Hold,
                _ if self.fence.is_none() => self.fence = Some(fence),
                _ => {}
            }
        }
        Found::Text
    }
}
