//! Calls that no marker announces: where they may begin.
//!
//! ```text
//!   Text ──`{"name"`, `[f(`, `f(` of a known tool──▶ open call, held ──┬─ all of it is calls: emitted
//!                                                                      ├─ cut off, and certain to be a call: `truncated`
//!                                                                      └─ anything else: text, read on where it failed
//! ```

use super::tags::Here;
use super::{Recognised, Scanner};
use crate::dialect::Dialect;
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of, first_said};
use crate::parse::call::{Markerless, Place, Stands};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::prose::Prose;
use crate::parse::emit::sink::Sink;
use crate::parse::shape::MARKERLESS;
use crate::parse::shape::message::LABELS;
use crate::parse::shape::python::{Calls, MAX_INDENT, quoted_list_ahead};

impl Scanner {
    /// Recognises a call without a marker at a line's start, also after a label; the first shape that matches decides.
    pub(super) fn markerless_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        match first_said(MARKERLESS.iter().map(|shape| self.line_of(*shape, line, sink))) {
            // Outside fences a label may be before the call.
            Err(No) if self.fence.is_none() => {}
            found => return found,
        }
        let label = label(line.text, line.more)?;
        let line = Here { indent: line.indent + label, text: &line.text[label..], ..line };
        if line.text.is_empty() && line.more {
            return Err(Undecided);
        }
        // On any line a call begins with words of its own, and needs no label.
        let is_bare = |shape: &&&dyn Markerless| shape.stands() != Stands::AnyLine;
        first_said(MARKERLESS.iter().filter(is_bare).map(|shape| self.line_of(*shape, line, sink)))
    }

    /// Recognises a call of `shape` at a line's start. Called for each line of prose.
    #[inline]
    fn line_of(&mut self, shape: &dyn Markerless, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        let ahead = shape.ahead(text, &self.tables, more);
        if ahead == Err(No) {
            if self.not_calls.is_some()
                && let Some((dialect, length, reason)) = shape.failed(text, &self.tables)
            {
                self.note_here(dialect, indent, length, reason);
            }
            return Err(No);
        }
        // What came before says whether a call may be here.
        self.emitter.text(window, self.at, sink);
        if !self.may_stand(shape.stands(), &window.from(self.at)[..indent], window) {
            return Err(No);
        }
        ahead?;
        if self.is_listed(shape, line)? {
            return Err(No);
        }
        let begins_line = window.from(self.at)[..indent].trim_ascii().is_empty();
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        self.open_markerless(shape, text, begins_line, window, sink)
    }

    /// Returns `true` if a call that may have the positions `stands` may be on this line, after this indent.
    fn may_stand(&mut self, stands: Stands, indent: &str, window: &Window<'_>) -> bool {
        // A label before the call is no indent.
        let indent = &indent[..indent.len() - indent.trim_ascii_start().len()];
        let is_code = || indent.len() > MAX_INDENT as usize || indent.contains('\t');
        match stands {
            // In Harmony's channel of answers only a marker begins a call.
            Stands::AnyLine => !self.channels.in_final,
            Stands::Line => self.may_be_bare() && !is_code(),
            Stands::Alone if !self.may_be_bare() => false,
            Stands::Alone if self.fence.is_some() || self.emitter.begins_region() => true,
            // Right after a call it may be what the model takes for the result.
            Stands::Alone => {
                self.context.read(window, self.at);
                self.emitter.region.prose == Prose::Above && !is_code() && !self.context.lines().is_quoted
            }
        }
    }

    /// Checks whether the line is an entry of the prompt's list of tools, which the model repeats.
    fn is_listed(&mut self, shape: &dyn Markerless, line: Here<'_>) -> Match<bool> {
        if self.fence.is_some() {
            return Ok(false);
        }
        let Some(is_described) = shape.is_listed(line.text, &self.tables, line.more).decided()? else {
            return Ok(false);
        };
        self.context.read(line.window, self.at);
        Ok(is_described || self.context.lines().lists_tools)
    }

    /// Recognises a list of calls in Python's syntax at a `[`, up to which the text was emitted.
    pub(super) fn python_list(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        if !self.may_be_bare() {
            return Err(No);
        }
        match Calls.ahead_in_fence(text, &self.tables, more) {
            Err(No) => return self.quoted_list(here, sink),
            found => found?,
        }
        self.context.read(window, self.at);
        if self.fence.is_none() && self.context.is_code_around() {
            self.note_here(Dialect::Python, 0, 1, NotACallReason::CodeAround);
            return Err(No);
        }
        let begins_line = self.context.last().is_none();
        self.open_markerless(&Calls, text, begins_line, window, sink)
    }

    /// Recognises a list of quoted calls at a `[`. It is text, and calls in it may be a part of it.
    fn quoted_list(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        quoted_list_ahead(&self.tables.names, here.text, here.more)?;
        if self.fence.is_some() {
            return Err(No);
        }
        self.at += 1;
        self.emitter.text(here.window, self.at, sink);
        self.emitter.region.damage().begins(CallCloser::BRACKETS, Dialect::Python);
        Ok(Recognised::Taken)
    }

    /// Checks whether `text`, at a fence's start, begins a call in Python's syntax.
    pub(super) fn python_ahead(&self, text: &str, more: bool) -> Match<()> {
        if self.channels.in_final { Err(No) } else { Calls.ahead_in_fence(text, &self.tables, more) }
    }

    /// Opens the call of `shape` that begins at the current offset.
    pub(super) fn open_markerless(
        &mut self,
        shape: &dyn Markerless,
        text: &str,
        at_line_start: bool,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Recognised> {
        let place = Place {
            at: self.at,
            fence: self.fence(),
            follows_prose: self.fence.is_none() && self.emitter.region.prose != Prose::None,
            after_calls: self.emitter.holds_series(),
            announced: self.emitter.region.announced().is_some(),
            at_line_start,
            is_quoted: self.fence.is_none() && self.surroundings(self.at, window).quoted_in.is_some(),
        };
        let (dialect, call) = shape.open(text, place, &self.tables).ok_or(No)?;
        let mut call = self.call_of(dialect, call);
        call.is_markerless = !shape.is_announced();
        // Words of its own announce a call as a marker does.
        call.at.is_bare = call.is_markerless && shape.stands() != Stands::AnyLine;
        self.open(call, window, sink)
    }

    /// Returns `true` if a call without a marker may be at the current offset: not in a fence with other text, nor in
    /// Harmony's channel of answers.
    fn may_be_bare(&self) -> bool {
        !self.channels.in_final && (self.fence.is_none() || self.emitter.region.fence_is_clean)
    }
}

/// Returns the length of the label that `text` begins with, and of the white space after it.
fn label(text: &str, more: bool) -> Match<usize> {
    let length = first_of(LABELS.iter().map(|label| begins(text, label, more).map(|()| label.len())))?;
    let rest = &text[length..];
    Ok(length + rest.len() - rest.trim_start_matches([' ', '\t', '*']).len())
}
