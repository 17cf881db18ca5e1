//! At a line's start: fence lines, marker lines, bare calls and ReAct's words.

use super::{Found, Scanner};
use crate::event::MarkerKind;
use crate::parse::emit::Sink;
use crate::parse::head::unit;
use crate::parse::line::{Fence, fence_end, fence_open};
use crate::parse::objects::line_ahead;
use crate::parse::tables::Marked;
use crate::parse::window::{Match, Window, leading_space};

/// What stands at a line's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'w> {
    /// Bytes of the white space before it.
    pub(super) indent: usize,
    pub(super) text: &'w str,
    /// Whether the text may still grow.
    pub(super) more: bool,
}

impl Scanner {
    /// At a line's start: what may begin only there.
    pub(super) fn line(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let (text, more) = window.candidate(self.at, self.tables.hold);
        let indent = text.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        match text.as_bytes().get(indent) {
            None if more => return Found::Hold,
            Some(_) if self.tables.signs.line.fit(&text.as_bytes()[indent..]) => {}
            _ => {
                self.line_start = false;
                return Found::Text;
            }
        }
        let line = Line { indent, text: &text[indent..], more };
        let found = match self.fence {
            Some(fence) => self.closing_line(fence, line, window, sink),
            None => self.opening_line(line, window, sink),
        };
        let found = match found {
            Found::Text => self.marker_line(line, window, sink),
            found => found,
        };
        let found = match found {
            Found::Text => self.bare_line(line, window, sink),
            found => found,
        };
        let found = match found {
            Found::Text => self.react_line(line, window, sink),
            found => found,
        };
        if matches!(found, Found::Text) {
            self.line_start = false;
        }
        found
    }

    fn closing_line(&mut self, fence: Fence, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        match fence_end(text, fence, self.reads_think_tags(), more) {
            Match::Undecided => return Found::Hold,
            Match::No => return Found::Text,
            Match::Yes(length) => {
                self.emitter.text(window, self.at, sink);
                self.at += (indent + length) as u64;
            }
        }
        self.fence = None;
        self.fence_end = self.at;
        self.emitter.fence_is_clean = false;
        if self.emitter.is_pending() {
            self.emitter.close_held_fence();
            self.emitter.marker(MarkerKind::Fence, false, window, self.at, sink);
        } else {
            self.emitter.fence_text(window, self.at, sink);
        }
        Found::Taken
    }

    fn opening_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        let (fence, length) = match fence_open(text, more) {
            Match::Undecided => return Found::Hold,
            Match::No => return Found::Text,
            Match::Yes(found) => found,
        };
        let inner = length + leading_space(&text[length..]);
        let alone = if self.emitter.only_drafts() { Match::No } else { self.call_ahead(&text[inner..], more) };
        let mut found = Found::Taken;
        match alone {
            Match::Undecided => return Found::Hold,
            Match::Yes(()) => {
                self.emitter.text(window, self.at, sink);
                self.emitter.hold_fence();
                self.at += (indent + inner) as u64;
                self.emitter.marker(MarkerKind::Fence, false, window, self.at, sink);
                found = Found::Opened;
            }
            Match::No => {
                // An ordinary fence: whatever was held before it is an example.
                self.emitter.text(window, self.at, sink);
                self.at += (indent + length) as u64;
                self.emitter.fence_text(window, self.at, sink);
            }
        }
        self.fence = Some(fence);
        self.emitter.fence_is_clean = true;
        self.line_start = true;
        found
    }

    /// Whether `text` begins with an opener that passes its gate.
    fn call_ahead(&self, text: &str, more: bool) -> Match<()> {
        if text.is_empty() {
            return if more { Match::Undecided } else { Match::No };
        }
        let line = self.tables.marked.map_or(Match::No, |marked| unit(line_ahead(marked, text, more)));
        unit(self.opener(text, more)).or(unit(self.react_ahead(text, more))).or(self.bare_ahead(text, more)).or(line)
    }

    /// `TYPE: MCP` and `TYPE: ANSWER` lines.
    fn marker_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        let Some(marked) = self.tables.marked else { return Found::Text };
        match line_ahead(marked, text, more) {
            Match::Undecided => return Found::Hold,
            Match::Yes(ahead) => {
                self.emitter.text(window, self.at, sink);
                let objects = self.objects_of(marked, ahead);
                return self.open_object(objects, ahead.behind(indent), MarkerKind::CallLine, window, sink);
            }
            Match::No => {}
        }
        if self.fence.is_some() {
            return Found::Text;
        }
        self.emitter.text(window, self.at, sink);
        match answer_line(marked, text, !self.emitter.visible, more) {
            Match::Undecided => Found::Hold,
            Match::No => Found::Text,
            Match::Yes(length) => {
                self.emitter.settle(window, true, sink);
                self.at += (indent + length) as u64;
                self.emitter.marker(MarkerKind::AnswerLine, false, window, self.at, sink);
                Found::Taken
            }
        }
    }
}

/// Whether `text` begins with an answer line; yields its length. `first`: the
/// answer may then begin on the same line.
fn answer_line(marked: Marked, text: &str, first: bool, more: bool) -> Match<usize> {
    let length = match marked.answer_line(text, more) {
        Match::Yes(length) => length,
        Match::Undecided => return Match::Undecided,
        Match::No => return Match::No,
    };
    let rest = &text[length..];
    let spaces = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match rest.as_bytes().get(spaces) {
        Some(b'\n') => Match::Yes(length + spaces + 1),
        None if more => Match::Undecided,
        None => Match::Yes(text.len()),
        Some(_) if first && spaces > 0 => Match::Yes(length + spaces),
        Some(_) => Match::No,
    }
}
