//! At a line's start: ReAct's words.

use super::lines::Line;
use super::{Found, Scanner};
use crate::json::window::{Match, Window, begins, leading_space};
use crate::parse::marks::fence::fence_chars;
use crate::parse::marks::head::head;
use crate::parse::out::emitter::Sink;
use crate::parse::out::not_a_call::Reason;
use crate::parse::shape::react::React;

impl Scanner {
    /// A line that names a known tool, the line of its arguments, and where these begin.
    pub(super) fn react_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        let Some((dialect, spec)) = self.tables.react else { return Found::Text };
        let (name, length) = match self.react_ahead(text, more) {
            Match::Undecided => return Found::Hold,
            Match::No => {
                if let (true, Match::Yes(head)) = (self.not_calls.is_some(), head(spec.head, text, false)) {
                    let is_known = self.tables.names.knows(head.name);
                    let reason = if is_known { Reason::NoJson } else { Reason::UnknownTool };
                    self.note_here(dialect, indent, head.length, reason);
                }
                return Found::Text;
            }
            Match::Yes(found) => found,
        };
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        let place = (self.at, self.at + length as u64);
        let (server, tool) = self.tables.split_name(name);
        let react = React::new(spec, (server, Some(tool)), place, self.tables.config.limits.depth);
        self.open_markerless(dialect, Box::new(react), window, sink)
    }

    /// Whether `text` begins a call in ReAct's words; yields the tool's name and the head's length.
    pub(super) fn react_ahead<'t>(&self, text: &'t str, more: bool) -> Match<(&'t str, usize)> {
        let Some((_, spec)) = self.tables.react.filter(|_| !self.in_final) else { return Match::No };
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
