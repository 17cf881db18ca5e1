//! A call that nothing ended, read once more where its text is at hand.
//!
//! Inside a value each opening tag is counted, so that a closing tag that was left out, and a tag that
//! a value only mentions, leave the call open to the end of the stream. There its last closing tag
//! tells what was meant, if only one reading is left:
//!
//! - A tag of the call is where the dialect's template puts it: at the start of a line, or right after another.
//!   Elsewhere it is a mention.
//! - A value without its closing tag ends at the next parameter's opening tag, or at the call's
//!   closing one. It is one line before the former, and its last line holds no bracket of a tag:
//!   that may be what is left of its closer.
//! - A tag of another call at a line's start may be one: the call stays cut off.

use serde_json::Map;

use super::ToolTag;
use super::tags::Tags;
use crate::dialect::Group;
use crate::event::Repair;
use crate::json::window::{No, Window, leading_space};
use crate::parse::marks::head::{Head, begins_token};
use crate::parse::tables::{Tables, TagTool};

/// A parameter's value: its opening tag, and its byte range in the call's body.
struct FoundTag<'t> {
    head: Head<'t>,
    start: usize,
    end: usize,
}

/// The values of a call's body, in one reading.
struct Reading<'t> {
    values: Vec<FoundTag<'t>>,
    /// Length of the call's body in bytes.
    body: usize,
    /// `true` if a closing tag was left out.
    is_mended: bool,
}

impl ToolTag {
    /// Reads the arguments anew from the text between the opening tag and the window's end, if it can be read in one
    /// way only. Returns the offset at which the call ends, with the closers of groups around it.
    pub(super) fn read_again(&mut self, window: &Window<'_>, tables: &Tables) -> Option<u64> {
        // Past the limit the text is gone.
        if matches!(self.tags, Tags::Names) || window.base > self.body_start {
            return None;
        }
        let groups = tables.named.iter().flat_map(|known| &known.named.groups);
        let tool = self.callee.tool(tables);
        let text = window.from(self.body_start);
        let reading = ValueTags { tool, tags: self.tags, text, groups: groups.collect() }.read()?;
        (self.arguments, self.doubtful, self.twice) = (Map::new(), None, None);
        self.repairs.clear();
        for FoundTag { head, start, end } in reading.values {
            self.begin_value(tool, head);
            let span = self.body_start + start as u64..self.body_start + end as u64;
            self.take_value(span, window, tables.config.limits.depth);
        }
        if reading.is_mended {
            self.repairs.push(Repair::MissingClose);
        }
        self.restated = true;
        self.inner_end = self.body_start + reading.body as u64;
        // The text after it was emitted as a part of it.
        Some(window.end())
    }
}

struct ValueTags<'t> {
    tool: &'t TagTool,
    tags: Tags,
    /// The call's text after its opening tag, to the end of the stream.
    text: &'t str,
    groups: Vec<&'static Group>,
}

impl<'t> ValueTags<'t> {
    fn read(&self) -> Option<Reading<'t>> {
        let body = self.last_close()?;
        let mut reading = Reading { values: Vec::new(), body, is_mended: false };
        let mut at = leading_space(self.text);
        while at < body {
            let head = self.opens(at).filter(|head| reading.is_unfilled(self.tool, head.name))?;
            at = self.value(head, at + head.length, &mut reading)?;
        }
        (!reading.values.is_empty()).then_some(reading)
    }

    /// Returns the offset of the last closing tag of a call, if nothing but closers of groups follow it.
    fn last_close(&self) -> Option<usize> {
        let mut places = memchr::memrchr_iter(b'<', self.text.as_bytes());
        let found = places.find_map(|at| match self.tags.closes_call(self.tool, &self.text[at..], false) {
            Ok(length) => Some((at, at + length)),
            _ => None,
        });
        let (at, end) = found?;
        let mut rest = self.text[end..].trim_start();
        while !rest.is_empty() {
            let close = |group: &&&Group| begins_token(rest, &group.close, false) != Err(No);
            let Ok(length) = begins_token(rest, &self.groups.iter().find(close)?.close, false) else {
                return None;
            };
            rest = rest[length..].trim_start();
        }
        Some(at)
    }

    fn opens(&self, at: usize) -> Option<Head<'t>> {
        self.tags.parameter(&self.text[at..], false).ok()
    }

    /// Reads the value that begins at `start`; returns the offset of the tag that follows it, or `None` if its end is
    /// not certain.
    fn value(&self, head: Head<'t>, start: usize, reading: &mut Reading<'t>) -> Option<usize> {
        let mut places = memchr::memchr_iter(b'<', &self.text.as_bytes()[start..reading.body]).map(|at| start + at);
        loop {
            let Some(at) = places.next() else {
                let value = &self.text[start..reading.body];
                let is_whole = !holds_brackets(value.trim_end().lines().next_back().unwrap_or_default());
                return is_whole.then(|| reading.mended(head, start, reading.body));
            };
            let tag = &self.text[at..];
            let begins_line = self.text[..at].trim_end_matches([' ', '\t']).ends_with('\n');
            if let Ok(length) = self.tags.closes_value(head.name, tag, false) {
                let after = &self.text[at + length..];
                let next = at + length + leading_space(after);
                let goes_on = || {
                    let next = self.opens(next);
                    next.is_some_and(|next| next.name != head.name && reading.is_unfilled(self.tool, next.name))
                };
                if next == reading.body || goes_on() {
                    reading.values.push(FoundTag { head, start, end: at });
                    return Some(next);
                }
            } else if let Some(next) = self.opens(at) {
                if next.name != head.name && reading.is_unfilled(self.tool, next.name) {
                    let value = &self.text[start..at];
                    let is_line = value.trim().lines().count() <= 1 && !holds_brackets(value);
                    // No white space around it, as in the values.
                    let is_glued = !value.contains(char::is_whitespace)
                        && !self.text[at + next.length..].starts_with(char::is_whitespace);
                    return (is_line && (begins_line || is_glued)).then(|| reading.mended(head, start, at));
                }
            } else if self.tags.ends_opener(tag, false) != Err(No) {
                return None;
            } else if self.tags.closes_call(self.tool, tag, false) == Err(No)
                && self.tags.opens_call(self.tool, tag, false) == Err(No)
            {
                continue;
            }
            // At a line's start it may be the call's own tag: a second reading is left.
            if begins_line {
                return None;
            }
        }
    }
}

impl<'t> Reading<'t> {
    /// Returns `true` if a parameter of this name may follow: the tool has it, or is unknown, and it has no value yet.
    fn is_unfilled(&self, tool: &TagTool, name: &str) -> bool {
        let is_known = tool.tool.is_empty() || tool.parameters.iter().any(|parameter| parameter.name == name);
        is_known && self.values.iter().all(|value| value.head.name != name)
    }

    /// Adds a value without its closing tag, which ends at `end`; returns `end`.
    fn mended(&mut self, head: Head<'t>, start: usize, end: usize) -> usize {
        self.values.push(FoundTag { head, start, end });
        self.is_mended = true;
        end
    }
}

fn holds_brackets(text: &str) -> bool {
    text.contains(['<', '>'])
}
