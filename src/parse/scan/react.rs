//! At a line's start: ReAct's words.

use super::lines::Line;
use super::{Found, Scanner};
use crate::event::Region;
use crate::parse::emit::Sink;
use crate::parse::head::head;
use crate::parse::line::fence_chars;
use crate::parse::open::{Body, OpenCall};
use crate::parse::react::React;
use crate::parse::window::{Match, Window, begins, leading_space};
use crate::reasoning::ReasoningMode;

impl Scanner {
    /// A line that names a known tool, the line of its arguments, and where these begin.
    pub(super) fn react_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        let Some((dialect, spec)) = self.tables.react else { return Found::Text };
        let (name, length) = match self.react_ahead(text, more) {
            Match::Undecided => return Found::Hold,
            Match::No => return Found::Text,
            Match::Yes(found) => found,
        };
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        let limits = self.tables.config.limits;
        let think_ends = self.mode != ReasoningMode::Off && self.emitter.region == Region::Reasoning;
        let place = (self.at, self.at + length as u64);
        let body =
            Body::Tentative(Box::new(React::new(spec, self.tables.split_name(name), place, limits.depth, think_ends)));
        self.open(OpenCall::new(dialect, self.at, body, limits.call_bytes), window, sink)
    }

    /// Whether `text` begins a call in ReAct's words; yields the tool's name and the head's length.
    pub(super) fn react_ahead<'t>(&self, text: &'t str, more: bool) -> Match<(&'t str, usize)> {
        let Some((_, spec)) = self.tables.react else { return Match::No };
        let found = match head(spec.head, text, more) {
            Match::Yes(found) => found,
            Match::Undecided => return Match::Undecided,
            Match::No => return Match::No,
        };
        if !self.tables.names.knows(found.name) {
            return Match::No;
        }
        let inner = &text[found.length..];
        let inner = &inner[leading_space(inner)..];
        match begins(inner, "{", more) {
            Match::No => fence_chars(inner, more).map(|_| (found.name, found.length)),
            brace => brace.map(|()| (found.name, found.length)),
        }
    }
}
