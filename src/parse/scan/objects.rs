//! Objects after a marker line: what leads to them, what stands between them.

use super::{Found, Objects, Scanner};
use crate::event::MarkerKind;
use crate::parse::body::think_close;
use crate::parse::emit::Sink;
use crate::parse::envelope::Envelope;
use crate::parse::line::{Fence, fence_close, fence_run, run as fence_chars};
use crate::parse::open::{Body, OpenCall};
use crate::parse::tables::Marked;
use crate::parse::window::{Match, Window, begins, leading_space};

impl Scanner {
    /// Hands on what leads to an object: a marker line, a fence line, a bracket.
    pub(super) fn take_lead(&mut self, ahead: Ahead, first: MarkerKind, window: Window<'_>, sink: &mut Sink<'_>) {
        let quoted = self.is_example();
        for (kind, length) in
            [(first, ahead.line), (MarkerKind::Fence, ahead.fence_length), (MarkerKind::Wrapper, ahead.bracket)]
        {
            self.at += length as u64;
            self.emitter.marker(kind, quoted, window, self.at, sink);
        }
    }

    pub(super) fn object(&mut self, objects: Objects) -> OpenCall {
        self.objects = Some(objects);
        let limits = self.tables.config.limits;
        let body = Envelope::new(objects.marked, objects.fence, self.at, limits.depth);
        OpenCall::new(objects.marked.dialect, self.at, Body::Envelope(Box::new(body)), limits.call_bytes)
    }

    /// Behind an object: a further one, what stands between them, or something else.
    pub(super) fn between_objects(&mut self, objects: Objects, window: Window<'_>, sink: &mut Sink<'_>) -> Found {
        let space = leading_space(window.from(self.at));
        if space > 0 && (objects.array || objects.fence.is_some()) {
            self.line_start |= window.from(self.at).as_bytes()[..space].contains(&b'\n');
            return self.wrapper(space, MarkerKind::Wrapper, window, sink);
        }
        let (text, more) = window.candidate(self.at, self.tables.hold);
        let Some(byte) = text.as_bytes().get(space) else {
            return if more { Found::Hold } else { Found::Text };
        };
        // Before a further object white space is syntax, else it is text.
        let lead = &text[..space];
        let text = &text[space..];
        let next = match byte {
            b'{' => Match::Yes(Ahead::default()),
            b']' if objects.array => {
                self.objects = Some(Objects { array: false, ..objects });
                return self.wrapper(1, MarkerKind::Wrapper, window, sink);
            }
            b',' => match next_object(&text[1..], more) {
                Match::Yes(length) => Match::Yes(Ahead { bracket: length + 1, ..Ahead::default() }),
                Match::Undecided => Match::Undecided,
                Match::No => Match::No,
            },
            b'[' if !objects.array => json_ahead(text, more),
            b'`' | b'~' | b'\'' => return self.fence_between(objects, lead, text, more, window, sink),
            _ => Match::No,
        };
        match next {
            Match::Undecided => Found::Hold,
            Match::No => self.end_objects(objects, text, more),
            Match::Yes(ahead) => {
                let ahead = ahead.indented(lead.len());
                self.take_lead(ahead, MarkerKind::Wrapper, window, sink);
                let call = self.object(Objects { array: objects.array || ahead.array, ..objects });
                self.open(call, window, sink)
            }
        }
    }

    /// The objects' own fence ends, or a further one begins.
    fn fence_between(
        &mut self,
        objects: Objects,
        lead: &str,
        text: &str,
        more: bool,
        window: Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Found {
        if let Some(fence) = objects.fence {
            return match fence_close(text, fence, more) {
                Match::Undecided => Found::Hold,
                Match::No => self.end_objects(objects, text, more),
                Match::Yes(length) => {
                    self.objects = Some(Objects { fence: None, ..objects });
                    self.line_start = true;
                    self.wrapper(length, MarkerKind::Fence, window, sink)
                }
            };
        }
        // The fence that the whole block stands in goes first.
        match self.fence.map_or(Match::No, |fence| fence_close(text, fence, more)) {
            Match::Yes(_) => return Found::Text,
            Match::Undecided => return Found::Hold,
            Match::No => {}
        }
        match json_ahead(text, more) {
            Match::Undecided => Found::Hold,
            Match::No => Found::Text,
            Match::Yes(ahead) => {
                let ahead = ahead.indented(lead.len());
                self.take_lead(ahead, MarkerKind::Wrapper, window, sink);
                let call = self.object(Objects { fence: ahead.fence, array: ahead.array, ..objects });
                self.open(call, window, sink)
            }
        }
    }

    fn wrapper(&mut self, length: usize, kind: MarkerKind, window: Window<'_>, sink: &mut Sink<'_>) -> Found {
        self.at += length as u64;
        self.emitter.marker(kind, self.is_example(), window, self.at, sink);
        Found::Taken
    }

    /// Something else follows the objects. Their fence, if it was not closed,
    /// goes on around it, unless a marker line or the reasoning's end comes.
    fn end_objects(&mut self, objects: Objects, text: &str, more: bool) -> Found {
        if let Some(fence) = objects.fence {
            match (objects.marked.call_line.matches(text, more), think_close(text, more)) {
                (Match::Yes(_), _) | (_, Match::Yes(_)) => {}
                (Match::Undecided, _) | (_, Match::Undecided) => return Found::Hold,
                _ if self.fence.is_none() => self.fence = Some(fence),
                _ => {}
            }
        }
        Found::Text
    }
}

/// What leads to a JSON object, in bytes, each with the white space behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ahead {
    line: usize,
    pub(super) fence: Option<Fence>,
    fence_length: usize,
    bracket: usize,
    pub(super) array: bool,
}

impl Ahead {
    /// The same behind `space` bytes of white space.
    pub(super) fn indented(self, space: usize) -> Self {
        Ahead { line: self.line + space, ..self }
    }
}

/// Whether `text` begins with a marker line that leads to an object.
pub(super) fn objects_ahead(marked: Marked, text: &str, more: bool) -> Match<Ahead> {
    let line = match marked.call_line.matches(text, more) {
        Match::Yes(length) => length,
        Match::Undecided => return Match::Undecided,
        Match::No => return Match::No,
    };
    let line = line + leading_space(&text[line..]);
    match json_ahead(&text[line..], more) {
        Match::Yes(ahead) => Match::Yes(Ahead { line, ..ahead }),
        other => other,
    }
}

/// Whether `text` leads to an object: a fence, a bracket, or the object itself.
fn json_ahead(text: &str, more: bool) -> Match<Ahead> {
    let mut ahead = Ahead::default();
    match fence_run(text, more) {
        Match::Undecided => return Match::Undecided,
        Match::No => {}
        Match::Yes(length) => {
            ahead.fence = match fence_chars(text, false) {
                Match::Yes(fence) => Some(fence),
                _ => None,
            };
            ahead.fence_length = length + leading_space(&text[length..]);
        }
    }
    let rest = &text[ahead.fence_length..];
    match begins(rest, "[", more) {
        Match::Undecided => return Match::Undecided,
        Match::No => {}
        Match::Yes(()) => ahead.array = true,
    }
    let bracket = usize::from(ahead.array);
    match next_object(&rest[bracket..], more) {
        Match::Yes(space) => {
            // White space before an object without a bracket was counted already.
            ahead.bracket = bracket + space;
            Match::Yes(ahead)
        }
        Match::Undecided => Match::Undecided,
        Match::No => Match::No,
    }
}

/// Whether white space and an object's brace follow; yields the white space's length.
fn next_object(text: &str, more: bool) -> Match<usize> {
    let space = leading_space(text);
    match begins(&text[space..], "{", more) {
        Match::Yes(()) => Match::Yes(space),
        Match::Undecided => Match::Undecided,
        Match::No => Match::No,
    }
}
