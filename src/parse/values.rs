//! JSON values in an answer that is not all JSON: fences and prose around them.

use std::ops::Range;

use serde_json::Value;

use crate::event::Repair;
use crate::json::window::{No, Window};
use crate::json::{JsonStep, Lexer, read};
use crate::parse::MAX_DEPTH;
use crate::parse::marks::fence::{Fence, fence_close, fence_open};

/// Number of bytes that are read tolerantly, per byte of text: prose may be full of brackets that begin no JSON.
const TOLERANCE: usize = 16;

/// Minimum number of bytes that are read tolerantly, for short texts.
const MIN_TOLERANCE: usize = 64 << 10;

/// A complete JSON value in a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FoundValue {
    /// The parsed JSON value.
    pub value: Value,
    /// Byte range of the value in the text, without the fence around it.
    pub range: Range<usize>,
    /// `true` if the value is in a code fence.
    pub fenced: bool,
    /// The repairs that were needed to read the value, as in a call's arguments.
    pub repairs: Vec<Repair>,
}

impl FoundValue {
    /// Returns the repairs that name what was removed around the value in `text`, which contains it: a fence, prose.
    #[cfg(feature = "agent")]
    pub(crate) fn around(&self, text: &str) -> Vec<Repair> {
        let (mut before, mut after) = (text[..self.range.start].trim_end(), text[self.range.end..].trim_start());
        let mut repairs = Vec::new();
        if self.fenced {
            repairs.push(Repair::Fence);
            // The lines of the fence itself are no prose.
            before = before.rsplit_once('\n').map_or("", |(before, _)| before);
            after = after.split_once('\n').map_or("", |(_, after)| after);
        }
        if !before.trim().is_empty() || !after.trim().is_empty() {
            repairs.push(Repair::Prose);
        }
        repairs
    }
}

/// Text that begins like a JSON value and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoValue {
    /// Byte range of the text that begins like a value; to the end of the searched text if the value is not over.
    pub range: Range<usize>,
    /// The fault, and its position in the value.
    pub message: String,
    /// `true` if the searched text ends inside the value.
    pub unfinished: bool,
}

/// The JSON values that were found in a text.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct FoundValues {
    /// The complete values, in the text's order. None is inside another.
    pub values: Vec<FoundValue>,
    /// The longest text that begins like a value and is none; `None` without one.
    pub broken: Option<NoValue>,
}

/// Finds the JSON values in a text: objects and arrays at any place, other
/// values where they are the whole text or all that a code fence holds.
///
/// The same faults are repaired as in a call's arguments, and each repair is named; a missing bracket is never
/// supplied. Time is linear in the text, with a factor of up to [`MAX_DEPTH`](crate::parse::MAX_DEPTH) for hostile
/// ones.
///
/// ```
/// use toolgraft::parse::find_values;
///
/// let found = find_values("Here you are:\n```json\n{\"days\": 3,}\n```\nAnything else?");
/// assert_eq!(found.values[0].value, serde_json::json!({"days": 3}));
/// assert_eq!(found.values[0].repairs[0].to_string(), "syntax");
/// ```
pub fn find_values(text: &str) -> FoundValues {
    let tolerance = (text.len() * TOLERANCE).max(MIN_TOLERANCE);
    let mut finder = ValueFinder { text, tolerance, fence: None, found: FoundValues::default() };
    finder.scalar(0..text.len(), false);
    finder.run();
    finder.found
}

/// Reads a text that must be one JSON value: the arguments of a call that came in a field of its own. It is repaired
/// like the arguments of a call in text, and a code fence may be around it.
///
/// # Errors
/// Returns the fault and its position; also if other text is beside the value.
#[cfg(feature = "agent")]
pub(crate) fn read_value(text: &str) -> Result<FoundValue, NoValue> {
    let FoundValues { values, broken } = find_values(text);
    match values.into_iter().next() {
        Some(mut value) if !value.around(text).contains(&Repair::Prose) => {
            value.repairs.splice(..0, value.around(text));
            Ok(value)
        }
        // If the text begins with a broken value, the value that was found is inside it.
        found => Err(match (found, broken) {
            (Some(value), broken) if broken.as_ref().is_none_or(|b| value.range.start < b.range.start) => {
                let message = format!("unexpected text beside the JSON value, which ends at byte {}", value.range.end);
                NoValue { range: 0..text.len(), message, unfinished: false }
            }
            (_, Some(broken)) => broken,
            (_, None) => {
                NoValue { range: 0..text.len(), message: "there is no JSON value".to_owned(), unfinished: false }
            }
        }),
    }
}

struct ValueFinder<'t> {
    text: &'t str,
    /// Number of bytes that may still be read tolerantly.
    tolerance: usize,
    fence: Option<Fence>,
    found: FoundValues,
}

impl ValueFinder<'_> {
    fn run(&mut self) {
        let (mut at, mut line_start) = (0, true);
        while at < self.text.len() {
            if line_start && let Some(next) = self.fence_line(at) {
                at = next;
                continue;
            }
            let Some(i) = self.text[at..].find(['{', '[', '\n']) else { return };
            at += i;
            line_start = self.text.as_bytes()[at] == b'\n';
            at = if line_start { at + 1 } else { self.compound(at) };
        }
    }

    /// Handles a line that opens or closes a code fence; returns the next line's start, or `None` for any other line.
    fn fence_line(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let line = &rest[indent..];
        match self.fence {
            Some(fence) => {
                let Ok(length) = fence_close(line, fence, false) else { return None };
                self.fence = None;
                Some(at + indent + length)
            }
            None => {
                let Ok((fence, length)) = fence_open(line, false) else { return None };
                self.fence = Some(fence);
                let body = at + indent + length;
                self.scalar(body..body + until_close(&self.text[body..], fence), true);
                Some(body)
            }
        }
    }

    /// Stores a value that is neither object nor array, if it is all that `range` contains but white space.
    fn scalar(&mut self, range: Range<usize>, fenced: bool) {
        let text = self.text[range.clone()].trim();
        // `compound` finds these, here as well.
        if text.starts_with(['{', '[']) {
            return;
        }
        if let Ok(value) = serde_json::from_str(text) {
            let start = range.start + self.text[range.clone()].find(text).unwrap_or(0);
            let range = start..start + text.len();
            self.found.values.push(FoundValue { value, range, fenced, repairs: Vec::new() });
        }
    }

    /// Stores the value that begins with the bracket at `start`; returns the offset at which the search continues.
    fn compound(&mut self, start: usize) -> usize {
        match self.end_of(start) {
            Ok(end) => match read(&self.text[start..end]) {
                Ok(found) => {
                    let (value, repairs, fenced) = (found.value, found.repairs, self.fence.is_some());
                    self.found.values.push(FoundValue { value, range: start..end, fenced, repairs });
                    return end;
                }
                Err(error) => self.broken(start..end, error.to_string(), false),
            },
            Err(Some((message, unfinished))) => self.broken(start..self.text.len(), message, unfinished),
            Err(None) => {}
        }
        start + 1
    }

    /// Returns the end of the value that begins at `start`; else its fault, with `true` if the text ends inside the
    /// value, or `None` where it is only a bracket in prose.
    fn end_of(&mut self, start: usize) -> Result<usize, Option<(String, bool)>> {
        let unfinished = || Some(("the text ends before the value is closed".to_owned(), true));
        let mut lexer = Lexer::new(MAX_DEPTH);
        let mut cursor = start as u64;
        loop {
            match lexer.next(&self.text.as_bytes()[cursor as usize..], &mut cursor) {
                JsonStep::End(end) => return Ok(end as usize),
                JsonStep::More => return Err(unfinished()),
                JsonStep::Fault(_) if lexer.too_deep => {
                    return Err(Some((format!("it is nested deeper than {MAX_DEPTH} levels"), false)));
                }
                JsonStep::Fault(_) => break,
                _ => {}
            }
        }
        if !self.may_be_json(start) {
            return Err(None);
        }
        let from = cursor as usize;
        let readable = &self.text[..self.text.floor_char_boundary(from.saturating_add(self.tolerance))];
        let window = Window { text: readable, base: 0, more: false };
        // A line that closes the open fence ends a damaged value.
        let fence_end = |text: &str, line_start: bool, _: bool| {
            fence_close(text, self.fence.filter(|_| line_start).ok_or(No)?, false).map(|_| ())
        };
        let step = lexer.loosen().next(&window, &mut cursor, &fence_end);
        self.tolerance = self.tolerance.saturating_sub(cursor as usize - from);
        match step {
            JsonStep::End(end) => Ok(end as usize),
            JsonStep::Closed(_) => Err(Some(("the code block ends before the value is closed".to_owned(), false))),
            // All of the text was read, and not only what the tolerance allows.
            _ if window.text.len() == self.text.len() => Err(unfinished()),
            _ => Err(None),
        }
    }

    /// Returns `true` if the text from the bracket at `start` on could be damaged JSON.
    fn may_be_json(&self, start: usize) -> bool {
        let next = self.text[start + 1..].trim_start().chars().next();
        match (self.text.as_bytes()[start], next) {
            // The text ends at the bracket: a value may be cut off.
            (_, None) => true,
            // A string in any quotation marks, a comment, an entity.
            (_, Some('"' | '\'' | '“' | '/' | '&')) => true,
            (b'{', Some(c)) => c == '}' || c == '_' || c.is_alphabetic(),
            (_, Some(c)) => matches!(c, '{' | '[' | ']' | '-') || c.is_ascii_digit(),
        }
    }

    fn broken(&mut self, range: Range<usize>, message: String, unfinished: bool) {
        let longest = self.found.broken.as_ref().is_none_or(|b| b.range.len() < range.len());
        if longest {
            self.found.broken = Some(NoValue { range, message, unfinished });
        }
    }
}

/// Returns the number of bytes before the line that closes the fence; all of them without one.
fn until_close(body: &str, fence: Fence) -> usize {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if fence_close(line.trim_start_matches([' ', '\t']), fence, false).is_ok() {
            break;
        }
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests;
