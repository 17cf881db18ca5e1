//! A parameter's value: where it starts, where it ends, what it says.

use std::ops::Range;

use serde_json::Value;

use super::{NextTag, Open, TagState, ToolTag};
use crate::event::Repair;
use crate::json::bytes::{Byte, Places};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, leading_space};
use crate::json::{escaped, is_too_deep, read};
use crate::parse::call::{CDATA_CLOSE, CDATA_OPEN, CallOut, Step, joined_cdata};
use crate::parse::marks::fence::think_close;
use crate::parse::marks::head::group_close;
use crate::parse::tables::TagTool;

impl ToolTag {
    pub(super) fn value(&mut self, tool: &TagTool, rest: &str, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let open = self.open;
        if open.start.is_none() {
            return self.value_starts(window, out);
        }
        let next = match (open.cdata, out.think_ends) {
            (true, true) => memchr::memchr2(b']', b'<', rest.as_bytes()),
            (true, false) => memchr::memchr(b']', rest.as_bytes()),
            (false, _) => memchr::memchr(b'<', rest.as_bytes()),
        };
        let name = &self.parameter;
        let passes = |at: &usize| !open.cdata && self.tags.passes(name, tool, &rest[*at..]);
        // After one that passes more are near, for which a search of its own costs too much.
        let next = match next.filter(passes) {
            None => next,
            Some(first) => {
                let mut further = Places::new(Byte(b'<'), &rest.as_bytes()[first + 1..]);
                further.by_ref().map(|at| first + 1 + at).find(|at| !passes(at))
            }
        };
        self.cursor += next.unwrap_or(rest.len()) as u64;
        let Some(at) = next else { return Step::Next };
        let rest = &rest[at..];
        let more = window.more;
        let think = if out.think_ends { think_close(rest, more) } else { Err(No) };
        if open.cdata {
            return match think {
                Err(No) => self.in_cdata(rest, more),
                _ => self.think(rest, more),
            };
        }
        let name = &self.parameter;
        let close = self.tags.closes_value(name, rest, more);
        let nested = self.tags.opens_value(name, rest, more);
        let tool_close = self.tags.closes_call(tool, rest, more);
        let tool_open = self.tags.opens_call(tool, rest, more);
        if [close, nested, tool_close, tool_open, think].contains(&Err(Undecided)) {
            self.preview(window, out);
            return Step::More;
        }
        let length = match (close, nested, tool_close, tool_open, think) {
            (.., Ok(_)) => {
                self.preview(window, out);
                return self.think(rest, more);
            }
            (Ok(length), ..) if open.parameters == 0 && open.tools == 0 => {
                self.preview(window, out);
                self.state = TagState::Follow;
                self.open.close_at = self.cursor;
                self.cursor += length as u64;
                return Step::Next;
            }
            (Ok(length), ..) => {
                self.open.parameters = open.parameters.saturating_sub(1);
                length
            }
            (_, Ok(length), ..) => {
                self.open.parameters += 1;
                length
            }
            (_, _, Ok(length), ..) => {
                self.open.tools = open.tools.saturating_sub(1);
                length
            }
            (_, _, _, Ok(length), _) => {
                self.open.tools += 1;
                length
            }
            _ => {
                match self.tags.ends_opener(rest, more) {
                    Err(Undecided) => {
                        self.preview(window, out);
                        return Step::More;
                    }
                    // What is left of a sibling whose opening tags are broken.
                    Ok(()) => self.open.is_doubtful = true,
                    Err(No) => self.open.elements += u32::from(self.tags.opens_element(rest)),
                }
                1
            }
        };
        self.cursor += length as u64;
        Step::Next
    }

    /// Decides where the value's text starts: after one line break, or inside CDATA.
    fn value_starts(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let open = &mut self.open;
        // White space before a CDATA section was looked at up to `previewed`.
        let seen = open.previewed.max(self.cursor);
        let at = seen + leading_space(window.from(seen)) as u64;
        if out.is_over_limit() {
            self.cursor = at;
        }
        match begins(window.from(at), CDATA_OPEN, window.more) {
            Err(Undecided) => {
                open.previewed = at;
                return Step::More;
            }
            Ok(()) => {
                self.cursor = at + CDATA_OPEN.len() as u64;
                open.cdata = true;
            }
            Err(No) if self.glued => {}
            Err(No) => {
                open.line_break = line_break(window.from(self.cursor)) as u64;
                self.cursor += open.line_break;
            }
        }
        open.start = Some(self.cursor);
        open.previewed = self.cursor;
        if open.is_text && !open.cdata {
            out.delta(self.cursor, "\"");
        }
        Step::Next
    }

    /// Reads a possible end of a CDATA section: the value ends if `]]>` and the closing tag follow.
    fn in_cdata(&mut self, rest: &str, more: bool) -> Step {
        match begins(rest, CDATA_CLOSE, more) {
            Err(Undecided) => Step::More,
            Err(No) => {
                self.cursor += 1;
                Step::Next
            }
            Ok(()) => {
                self.state = TagState::CdataEnd;
                self.open.close_at = self.cursor;
                self.cursor += CDATA_CLOSE.len() as u64;
                Step::Next
            }
        }
    }

    /// Checks whether the value's closing tag follows a `]]>`.
    pub(super) fn cdata_end(&mut self, window: &Window<'_>) -> Step {
        let rest = window.past_space(&mut self.cursor);
        if rest.is_empty() {
            return Step::More;
        }
        match self.tags.closes_value(&self.parameter, rest, window.more) {
            Err(Undecided) => return Step::More,
            Ok(length) => {
                self.cursor += length as u64;
                self.state = TagState::Follow;
            }
            Err(No) => self.state = TagState::Value,
        }
        Step::Next
    }

    /// Decides by the text after a closing tag whether it ends the value: a parameter, or the end of the call or its
    /// group, must follow.
    pub(super) fn follow(&mut self, tool: &TagTool, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Match<Step> {
        let (rest, more) = (window.past_space(&mut self.cursor), window.more);
        if rest.is_empty() {
            return Ok(Step::More);
        }
        match self.next_tag(tool, rest, more).decided()? {
            Some(NextTag::Comment) => return Ok(self.comment_opens()),
            Some(next) => {
                self.value_ends(window, out);
                return Ok(self.take(tool, next, out));
            }
            None => {}
        }
        // What closes the group ends the call, too: the value is closed (`function_tag/group_closes`).
        let group = self.group.map_or(Err(No), |named| group_close(named, rest, more));
        if group.decided()?.is_some() {
            self.value_ends(window, out);
            self.repairs.push(Repair::MissingClose);
            return Ok(self.take(tool, NextTag::Close(0), out));
        }
        let given = self.tags.parameter_that(|name| self.is_given(name), tool, rest, more);
        if let Some(head) = given.decided()? {
            // The call is refused, and read on to its own end.
            self.twice.get_or_insert_with(|| head.name.to_owned());
            self.value_ends(window, out);
            return Ok(self.take(tool, NextTag::Parameter(head), out));
        }
        let is_broken = self.tags.may_be_broken(rest, more).decided()?.is_some();
        // The closing tag of an element of the same name is the value's own. Where all are closed
        // alike, one that ends its line may have ended the value before a broken parameter.
        let open = &mut self.open;
        let ends_line = self.tags.element().is_some() && window.slice(open.close_at..self.cursor).contains('\n');
        open.is_doubtful |= (is_broken || ends_line) && open.elements == 0;
        open.elements = open.elements.saturating_sub(1);
        self.state = TagState::Value;
        Ok(Step::Next)
    }

    fn value_ends(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        if out.is_over_limit() {
            // That it was given counts; what it says does not.
            let name = self.take_name();
            self.arguments.insert(name, Value::Null);
            return;
        }
        let value = self.end_value(window, out.max_depth());
        let open = self.open;
        if open.is_text && !open.cdata {
            let (_, end) = open.text(window);
            string_delta(open.previewed, end, &mut self.scratch, window, out);
            out.delta(open.close_at, "\"");
        } else {
            out.delta(self.cursor, &value.to_string());
        }
    }

    /// Returns the name of the parameter whose value has ended, and stores it if its value is doubtful.
    fn take_name(&mut self) -> String {
        let name = std::mem::take(&mut self.parameter);
        if self.open.is_doubtful {
            self.doubtful.get_or_insert_with(|| name.clone());
        }
        name
    }

    /// Stores the open value, whose text without its tags is at `span`.
    pub(super) fn take_value(&mut self, span: Range<u64>, window: &Window<'_>, max_depth: usize) {
        let (text, open) = (window.slice(span.clone()), &mut self.open);
        let start = match text.trim_start().strip_prefix(CDATA_OPEN) {
            Some(inner) => {
                open.cdata = true;
                span.end - inner.len() as u64
            }
            None if self.glued => span.start,
            None => {
                open.line_break = line_break(text) as u64;
                span.start + open.line_break
            }
        };
        open.close_at = if open.cdata { span.end - cdata_close(text) as u64 } else { span.end };
        open.start = Some(start.min(open.close_at));
        self.end_value(window, max_depth);
    }

    /// Stores the open value, which has ended, as an argument, and returns it.
    pub(super) fn end_value(&mut self, window: &Window<'_>, max_depth: usize) -> Value {
        let (name, open) = (self.take_name(), self.open);
        let start = open.start.unwrap_or(open.close_at);
        let text = window.slice(start..open.close_at);
        let value = if open.is_text {
            if open.cdata {
                // Several sections are one text: that is how CDATA holds its own end.
                Value::from(joined_cdata(text).unwrap_or_else(|| text.to_owned()))
            } else {
                let (from, to) = open.text(window);
                self.restated |= from < start;
                Value::from(window.slice(from..to))
            }
        } else {
            let joined = if open.cdata { joined_cdata(text) } else { None };
            self.typed(joined.as_deref().unwrap_or(text).trim(), max_depth)
        };
        if open.cdata {
            self.repairs.push(Repair::Cdata);
        }
        self.arguments.insert(name, value.clone());
        value
    }

    /// Returns a value whose schema accepts no string: its JSON, or else its text, for the validator to judge.
    fn typed(&mut self, text: &str, max_depth: usize) -> Value {
        self.too_deep |= is_too_deep(text, max_depth);
        match read(text) {
            Ok(found) => {
                self.repairs.extend(found.repairs);
                found.value
            }
            Err(_) => Value::from(text),
        }
    }

    /// Emits a string value's text up to the cursor, except for a line break that may be removed.
    pub(super) fn preview(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        let open = &mut self.open;
        // Only verbatim text streams: JSON and CDATA are emitted when they are over.
        if open.is_text && !open.cdata && open.start.is_some() && !out.is_over_limit() {
            let text = window.slice(open.previewed..self.cursor);
            let lost = trailing_line_break_so_far(text, open.line_break);
            let to = self.cursor - lost as u64;
            if to > open.previewed {
                string_delta(open.previewed, to, &mut self.scratch, window, out);
                open.previewed = to;
            }
        }
    }
}

/// Returns the length of `]]>` and the white space after it at the end of `text`; 0 without `]]>`.
fn cdata_close(text: &str) -> usize {
    text.trim_end().strip_suffix(CDATA_CLOSE).map_or(0, |inner| text.len() - inner.len())
}

impl Open {
    /// Returns the start and the end of the value's text: without a line break at each end, if both have one. A value
    /// that is nothing but a line break is empty.
    fn text(&self, window: &Window<'_>) -> (u64, u64) {
        let close_at = self.close_at;
        let start = self.start.unwrap_or(close_at);
        match trailing_line_break(window.slice(start..close_at), self.line_break) as u64 {
            // Without a line break at its end, the one at its start is the value's own.
            0 if start < close_at => (start - self.line_break, close_at),
            lost if self.line_break > 0 => (start, close_at - lost),
            _ => (start, close_at),
        }
    }
}

/// Returns the length of a line break at the start of `text`; 0 without one.
fn line_break(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) }
}

/// Returns the length of a line break at the end of `text` that pairs with one of `leading` bytes at the start: after
/// `\n` the `\r` of a `\r\n` is the text's own (`tool_tag/carriage_return`).
fn trailing_line_break(text: &str, leading: u64) -> usize {
    if leading == 2 && text.ends_with("\r\n") { 2 } else { usize::from(text.ends_with('\n')) }
}

/// Returns the length of the end of `text` that may become a line break to be removed, as one of `leading` bytes was at
/// the start.
fn trailing_line_break_so_far(text: &str, leading: u64) -> usize {
    match leading {
        0 => 0,
        // Its `\n` may come next.
        2 if text.ends_with('\r') => 1,
        _ => trailing_line_break(text, leading),
    }
}

/// Emits the text between two offsets, escaped as in a JSON string.
fn string_delta(from: u64, to: u64, scratch: &mut String, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
    if to > from {
        out.delta(to, escaped(window.slice(from..to), scratch));
    }
}
