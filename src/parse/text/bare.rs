//! Calls that no marker announces: where they may begin.
//!
//! ```text
//!   Text ──`{"name"`, `[f(`, `f(` of a known tool──▶ open call, held ──┬─ all of it is calls: handed on
//!                                                                      ├─ cut off, and certain to be a call: `truncated`
//!                                                                      └─ anything else: text, read on where it failed
//! ```

use super::lines::Line;
use super::open::OpenCall;
use super::tags::Here;
use super::{Next, Scanner};
use crate::dialect::Dialect;
use crate::json::window::{Answer, Match, No, Undecided, Window};
use crate::parse::call::CallShape;
use crate::parse::emit::not_a_call::Reason;
use crate::parse::emit::sink::Sink;
use crate::parse::shape::message::WholeMessage;
use crate::parse::shape::name_line::NameLine;
use crate::parse::shape::python::{Form, MAX_INDENT, Place, Python, list_ahead};

impl Scanner {
    /// At a line's start: JSON, or a call in Python's syntax.
    pub(super) fn bare_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Line { indent, text, more } = line;
        let is_json = text.starts_with(['{', '[']);
        let is_code = || indent > MAX_INDENT as usize || window.from(self.at)[..indent].contains('\t');
        if !is_json && (self.tables.python.is_none() || is_code()) {
            return self.name_line(line, window, sink);
        }
        // What came before says whether a call may stand here.
        self.emitter.text(window, self.at, sink);
        let allowed = match self.fence {
            Some(_) => self.may_be_bare(),
            None => !self.in_final && (!is_json || self.emitter.begins_region()),
        };
        let ahead = match (is_json, self.tables.json) {
            _ if !allowed => Err(No),
            (true, Some((_, keys))) => WholeMessage::ahead(keys, &self.tables.names, text, more),
            (true, None) => Err(No),
            (false, _) if text.starts_with(['\\', '[']) => self.python_ahead(text, more),
            (false, _) => self.called_ahead(text, more, window),
        };
        match ahead {
            Err(Undecided) => return Err(Undecided),
            Err(No) if is_json => return Err(No),
            Err(No) => return self.name_line(line, window, sink),
            Ok(()) => {}
        }
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        match self.line_ahead(text, false) {
            Ok(form) if !is_json => self.open_python(form, true, window, sink),
            _ => self.open_json(window, sink),
        }
    }

    /// A known name alone on its line, and an object behind it, where the message begins.
    fn name_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Line { indent, text, more } = line;
        let Some(dialect) = self.tables.name_line else { return Err(No) };
        let ahead = self.tables.names.on_a_line(text, more);
        if ahead == Err(No) {
            return Err(No);
        }
        // What came before says whether a call may stand here.
        self.emitter.text(window, self.at, sink);
        let allowed = match self.fence {
            Some(_) => self.may_be_bare(),
            None => !self.in_final && self.emitter.begins_region(),
        };
        let (name, inner) = match ahead {
            Ok(found) if allowed => found,
            Err(Undecided) if allowed => return Err(Undecided),
            _ => return Err(No),
        };
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        let (server, tool) = self.tables.split_name(&text[..name]);
        let place = (self.at, self.at + inner as u64);
        let shape = NameLine::new((server, Some(tool)), place, self.fence, self.tables.config.limits.depth);
        self.open_markerless(dialect, Box::new(shape), window, sink)
    }

    /// Whether a line begins with a call of a known tool, and is no signature of the prompt's list.
    fn called_ahead(&mut self, text: &str, more: bool, window: &Window<'_>) -> Match<()> {
        let length = self.tables.names.called(text, more)?;
        if self.fence.is_some() {
            return Ok(());
        }
        match signature_ahead(&text[length..], more) {
            Err(Undecided) => Err(Undecided),
            Err(No) => Ok(()),
            Ok(is_described) => {
                self.context.read(window, self.at);
                match is_described || self.context.is_behind_listing() {
                    true => Err(No),
                    false => Ok(()),
                }
            }
        }
    }

    /// At a `[`: a list of calls in Python's syntax. What came before was handed on.
    pub(super) fn python_list(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Here { text, more, window } = here;
        if !text.starts_with('[') {
            return Err(No);
        }
        if self.tables.python.is_none() || !self.may_be_bare() || self.emitter.budget.is_spent() {
            return Err(No);
        }
        let form = list_ahead(&self.tables.names, text, more)?;
        self.context.read(window, self.at);
        if self.fence.is_none() && self.context.is_code_around() {
            self.note_here(Dialect::Python, 0, 1, Reason::CodeAround);
            return Err(No);
        }
        let begins_line = self.context.last().is_none();
        self.open_python(form, begins_line, window, sink)
    }

    /// Whether `text` begins a call by itself, or a list.
    fn line_ahead(&self, text: &str, more: bool) -> Match<Form> {
        match text.starts_with(['\\', '[']) {
            true => list_ahead(&self.tables.names, text, more),
            false => self.tables.names.called(text, more).map(|_| Form::Line),
        }
    }

    /// Whether `text`, at a fence's start, begins a call that no marker announces.
    pub(super) fn bare_ahead(&self, text: &str, more: bool) -> Match<()> {
        if self.in_final {
            return Err(No);
        }
        let names = &self.tables.names;
        let json = self.tables.json.map_or(Err(No), |(_, keys)| WholeMessage::ahead(keys, names, text, more));
        let line = match self.tables.name_line {
            Some(_) => self.tables.names.on_a_line(text, more).map(|_| ()),
            None => Err(No),
        };
        json.either(self.python_ahead(text, more)).either(line)
    }

    /// The same of calls in Python's syntax.
    pub(super) fn python_ahead(&self, text: &str, more: bool) -> Match<()> {
        if self.tables.python.is_none() || self.in_final { Err(No) } else { self.line_ahead(text, more).map(|_| ()) }
    }

    /// Opens what [`python_ahead`](Self::python_ahead) found here.
    pub(super) fn open_bare(
        &mut self,
        text: &str,
        more: bool,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        match self.line_ahead(text, more) {
            Ok(form) => self.open_python(form, true, window, sink),
            _ => Ok(Next::Taken),
        }
    }

    fn open_json(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Some((dialect, keys)) = self.tables.json else { return Err(No) };
        let message = WholeMessage::new(keys, self.at, self.fence, self.emitter.holds_series());
        self.open_markerless(dialect, Box::new(message), window, sink)
    }

    fn open_python(
        &mut self,
        form: Form,
        at_line_start: bool,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        let Some(dialect) = self.tables.python else { return Err(No) };
        let behind_calls = self.emitter.holds_series();
        let is_quoted = self.fence.is_none() && self.surroundings(self.at, window).quoted_in.is_some();
        let announced = self.emitter.region.announced().is_some();
        let place = Place { fence: self.fence, behind_calls, announced, at_line_start, is_quoted };
        self.open_markerless(dialect, Box::new(Python::new(form, self.at, place)), window, sink)
    }

    pub(super) fn open_markerless(
        &mut self,
        dialect: Dialect,
        shape: Box<dyn CallShape>,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        let call_bytes = self.tables.config.limits.call_bytes;
        self.open(OpenCall::new(dialect, self.at, shape, call_bytes).markerless(), window, sink)
    }

    /// Whether a call may stand here without a marker: not in a fence with other text, nor in
    /// Harmony's channel of answers.
    fn may_be_bare(&self) -> bool {
        !self.in_final && self.is_fence_clean()
    }

    fn is_fence_clean(&self) -> bool {
        self.fence.is_none() || self.emitter.region.fence_is_clean()
    }
}

/// Whether `text`, behind a tool's name, may be the rest of its signature in the prompt's list of
/// tools: no arguments. Yields whether the line behind it is indented as a description is there.
fn signature_ahead(text: &str, more: bool) -> Match<bool> {
    let Some(rest) = text.strip_prefix("()") else {
        return if more && text == "(" { Err(Undecided) } else { Err(No) };
    };
    let rest = rest.trim_start_matches([' ', '\r']);
    let Some(line) = rest.strip_prefix('\n') else {
        return if rest.is_empty() && more { Err(Undecided) } else { Ok(false) };
    };
    match line.as_bytes() {
        [b' ', b' ', c, ..] => Ok(!c.is_ascii_whitespace()),
        [] | [b' '] | [b' ', b' '] if more => Err(Undecided),
        _ => Ok(false),
    }
}
