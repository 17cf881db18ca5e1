//! Calls that no marker announces: where they may begin.

use super::lines::Line;
use super::{Found, Scanner};
use crate::dialect::Dialect;
use crate::event::Region;
use crate::parse::bare::BareJson;
use crate::parse::emit::Sink;
use crate::parse::open::{Body, OpenCall};
use crate::parse::python::{Form, Python, list_ahead};
use crate::parse::tentative::Tentative;
use crate::parse::window::{Match, Window};
use crate::reasoning::ReasoningMode;

/// Spaces before a call. A line with a deeper indent, or with a tab, is a code block
/// of Markdown, or the inside of code.
const MAX_INDENT: usize = 3;

impl Scanner {
    /// At a line's start: JSON, or a call in Python's syntax.
    pub(super) fn bare_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Line { indent, text, more } = line;
        let is_json = text.starts_with(['{', '[']);
        let is_code = || indent > MAX_INDENT || window.from(self.at)[..indent].contains('\t');
        if !is_json && (self.tables.python.is_none() || is_code()) {
            return Found::Text;
        }
        // What came before says whether a call may stand here.
        self.emitter.text(window, self.at, sink);
        let allowed = match self.fence {
            Some(_) => self.may_be_bare(),
            None => !is_json || self.emitter.begins_region(),
        };
        let ahead = match (is_json, self.tables.json) {
            _ if !allowed => Match::No,
            (true, Some((_, keys))) => BareJson::ahead(keys, text, more),
            (true, None) => Match::No,
            (false, _) => self.tables.names.called(text, more).map(|_| ()),
        };
        match ahead {
            Match::Undecided => return Found::Hold,
            Match::No => return Found::Text,
            Match::Yes(()) => {}
        }
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        if is_json { self.open_json(window, sink) } else { self.open_python(Form::Line, window, sink) }
    }

    /// At a `[`: a list of calls in Python's syntax. What came before was handed on.
    pub(super) fn python_list(&mut self, text: &str, more: bool, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        if self.tables.python.is_none() || !self.may_be_bare() {
            return Found::Text;
        }
        match list_ahead(&self.tables.names, text, more) {
            Match::Undecided => Found::Hold,
            Match::No => Found::Text,
            Match::Yes(form) => self.open_python(form, window, sink),
        }
    }

    /// Whether `text`, at a fence's start, begins a call that no marker announces.
    pub(super) fn bare_ahead(&self, text: &str, more: bool) -> Match<()> {
        let json = self.tables.json.map_or(Match::No, |(_, keys)| BareJson::ahead(keys, text, more));
        let python = match text.as_bytes().first() {
            _ if self.tables.python.is_none() => Match::No,
            Some(b'[') => list_ahead(&self.tables.names, text, more).map(|_| ()),
            _ => self.tables.names.called(text, more).map(|_| ()),
        };
        json.or(python)
    }

    fn open_json(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Some((dialect, keys)) = self.tables.json else { return Found::Text };
        let think_ends = self.mode != ReasoningMode::Off;
        let json = BareJson::new(keys, self.at, self.fence, think_ends, self.tables.config.limits.depth);
        self.open_tentative(dialect, Box::new(json), window, sink)
    }

    fn open_python(&mut self, form: Form, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Some(dialect) = self.tables.python else { return Found::Text };
        let think_ends = self.mode != ReasoningMode::Off && self.emitter.region == Region::Reasoning;
        let python = Python::new(form, self.at, self.tables.config.limits.depth, think_ends);
        self.open_tentative(dialect, Box::new(python), window, sink)
    }

    fn open_tentative(
        &mut self,
        dialect: Dialect,
        body: Box<dyn Tentative>,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Found {
        let call_bytes = self.tables.config.limits.call_bytes;
        self.open(OpenCall::new(dialect, self.at, Body::Tentative(body), call_bytes), window, sink)
    }

    /// Whether a call may stand here without a marker: not in a fence with other text.
    fn may_be_bare(&self) -> bool {
        self.fence.is_none() || self.emitter.fence_is_clean
    }
}
