//! A run of JSON objects after a marker, as text: the prefix of an object, the text that may be between two, and the
//! end of the run.

use crate::json::window::{Answer, Match, No, Undecided, begins, first_of, leading_space};
use crate::parse::call::{Opened, Opening, Opens};
use crate::parse::marks::fence::{Fence, fence_chars, fence_close_before, fence_end, fence_run};
use crate::parse::marks::head::unit;
use crate::parse::tables::{Marked, Tables};

use super::named::call_of;

/// State of a run of JSON objects after a marker: each is a call as long as no other text comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectRun {
    pub(crate) marked: Marked,
    /// The code fence around the objects that the dialect expects; `None` if it is not open.
    pub(crate) fence: Option<Fence>,
    /// `true` if a code fence around objects of the run was closed: a further one with a call belongs to the run, too.
    pub(crate) was_fenced: bool,
    /// `true` if an array around the objects is open.
    pub(crate) array: bool,
    /// `true` if think tags are significant in the run.
    pub(crate) think_tags: bool,
}

/// The lengths in bytes of the parts before a JSON object, each with the white space after it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Prefix {
    /// Length of the marker.
    pub(crate) lead: usize,
    pub(crate) fence: Option<Fence>,
    pub(crate) fence_length: usize,
    pub(crate) bracket: usize,
    pub(crate) array: bool,
}

impl Prefix {
    /// Returns this prefix with `length` more bytes before the object, counted with the marker.
    pub(crate) fn after(self, length: usize) -> Self {
        Prefix { lead: self.lead + length, ..self }
    }
}

/// A continuation of a run, after an object and white space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Following {
    /// A further object, with the lengths of the text before it.
    Object(Prefix),
    /// The closing bracket of the array.
    Bracket,
    /// The line that closes the run's fence, with its length in bytes.
    FenceClose(usize),
    /// The closer of the run, with its length in bytes.
    Close(usize),
    /// Closing brackets that nothing opened, before the run's closer, with their length in bytes.
    Surplus(usize),
}

impl ObjectRun {
    /// Matches a continuation of the run at the start of `text`, which begins after an object and white space.
    pub(crate) fn following(&self, text: &str, more: bool) -> Match<Following> {
        if let Some(length) = self.marked.close(text, more).decided()? {
            return Ok(Following::Close(length));
        }
        match text.bytes().next() {
            Some(b'{') => Ok(Following::Object(Prefix::default())),
            Some(b']') if self.array => Ok(Following::Bracket),
            Some(b'[') if !self.array => json_prefix(text, more).map(Following::Object),
            Some(b'`' | b'~' | b'\'') => match self.fence {
                Some(fence) => self.fence_end(text, fence, more).map(Following::FenceClose),
                // A marker line's objects may be in a fence each (`type_marker/two_fences`).
                None if self.was_fenced && self.marked.is_line() => self.further_fence(text, more),
                // After a bare object, or a token, a fence is none of the marker's: it is judged as every other, and
                // may show an example (`fences/after_a_marked_call`, `fences/between_marked_calls`).
                None => Err(No),
            },
            Some(b',' | b';') => {
                let bracket = next_object(&text[1..], more).map(|space| space + 1);
                bracket.map(|bracket| Following::Object(Prefix { bracket, ..Prefix::default() }))
            }
            Some(b'}' | b']') if self.marked.must_close() => self.surplus(text, more),
            _ => Err(No),
        }
    }

    /// Matches a further code fence at the start of `text` that begins with a call of the dialect, by its object's
    /// first key.
    fn further_fence(&self, text: &str, more: bool) -> Match<Following> {
        let prefix = json_prefix(text, more)?;
        let object = &text[prefix.fence_length + prefix.bracket + 1..];
        let key = &object[leading_space(object)..];
        let keys = self.marked.spec.keys.names();
        let of_call = keys.map(|known| begins(key, &format!("\"{known}\""), more));
        first_of(of_call).map(|()| Following::Object(prefix))
    }

    /// Matches the end of the run's fence at the start of `text`; the run's closer may follow on the line.
    fn fence_end(&self, text: &str, fence: Fence, more: bool) -> Match<usize> {
        let close = |rest: &str| self.marked.close(rest, more);
        fence_end(text, fence, self.think_tags, more).else_try(|| fence_close_before(text, fence, close))
    }

    fn surplus(&self, text: &str, more: bool) -> Match<Following> {
        let length = text.bytes().take_while(|b| matches!(b, b'}' | b']')).count();
        let length = length + leading_space(&text[length..]);
        if length == text.len() {
            return if more { Err(Undecided) } else { Err(No) };
        }
        self.marked.close(&text[length..], more).map(|_| Following::Surplus(length))
    }

    /// Matches a further object or the run's closer at the start of `text`, which begins right after an object.
    ///
    /// Returns `true` if surplus brackets are before that closer.
    pub(crate) fn next_is(mut self, mut text: &str, more: bool) -> Match<bool> {
        loop {
            text = &text[leading_space(text)..];
            if text.is_empty() {
                return if more { Err(Undecided) } else { Err(No) };
            }
            let length = match self.following(text, more)? {
                Following::Object(_) | Following::Close(_) => return Ok(false),
                Following::Surplus(_) => return Ok(true),
                Following::Bracket => {
                    self.array = false;
                    1
                }
                Following::FenceClose(length) => {
                    (self.fence, self.was_fenced) = (None, true);
                    length
                }
            };
            text = &text[length..];
        }
    }
}

/// Recogniser of JSON objects after a literal marker: the marker, and the prefix of an object.
pub(crate) struct Markers;

impl Opens for Markers {
    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        // A second byte tells most of them apart, if it has come.
        let second = text.as_bytes().get(1);
        for (item, (wrapper, marked)) in tables.wrapped.iter().enumerate() {
            let length = wrapper.open.len();
            if second.is_some() && wrapper.open.as_bytes().get(1) != second {
                continue;
            }
            let marker = begins(text, &wrapper.open, more);
            let found = marker.and_then(|()| marker_prefix(text, length, more)).map(|_| ());
            // What is in the braces may be no JSON, where the dialect has such calls.
            let other = match (found, &marked.spec.named) {
                (Ok(()), Some(named)) => unit(call_of(named, text, more)),
                _ => Err(No),
            };
            match (found, other) {
                (Err(No), _) | (_, Ok(())) => {}
                (_, Err(Undecided)) => return Err(Undecided),
                (found, Err(No)) => return found.map(|()| Opening { item, form: 0, length }),
            }
        }
        Err(No)
    }

    fn open(&self, opening: Opening, _: u64, _: &str, tables: &Tables) -> Opened {
        Opened::Objects(tables.wrapped[opening.item].1)
    }
}

/// Matches a marker line that leads to an object at the start of `text`.
pub(crate) fn line_prefix(marked: Marked, text: &str, more: bool) -> Match<Prefix> {
    let length = marked.call_line(text, more)?;
    marker_prefix(text, length, more)
}

/// Matches the prefix of an object at the start of `text`, whose first `lead` bytes are a marker.
pub(crate) fn marker_prefix(text: &str, lead: usize, more: bool) -> Match<Prefix> {
    let lead = lead + leading_space(&text[lead..]);
    json_prefix(&text[lead..], more).map(|prefix| prefix.after(lead))
}

/// Matches the prefix of an object at the start of `text`: a fence, a bracket, or the object itself.
pub(crate) fn json_prefix(text: &str, more: bool) -> Match<Prefix> {
    let mut prefix = Prefix::default();
    if let Some(length) = fence_run(text, more).decided()? {
        prefix.fence = fence_chars(text, false).ok();
        prefix.fence_length = length + leading_space(&text[length..]);
    }
    let rest = &text[prefix.fence_length..];
    prefix.array = begins(rest, "[", more).decided()?.is_some();
    let bracket = usize::from(prefix.array);
    // White space before an object without a bracket was counted already.
    next_object(&rest[bracket..], more).map(|space| Prefix { bracket: bracket + space, ..prefix })
}

/// Matches white space and an object's brace at the start of `text`; returns the white space's length.
fn next_object(text: &str, more: bool) -> Match<usize> {
    let space = leading_space(text);
    begins(&text[space..], "{", more).map(|()| space)
}
