//! The way that nearly all of a stream takes: handed on as it comes.
//!
//! Between calls that is plain text, while nothing is held and all that such
//! text would change was changed by text before it. In a call it is a string
//! whose text is its own preview. A chunk in which nothing may begin or end is
//! then one event and needs nothing else. The scanner sees it neither before nor
//! after; it is told where the text stands as soon as something else comes.

use super::signs::{Plain, Signs};
use crate::event::{Event, Region};

/// What the text is while nothing happens in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Calm {
    /// Text between calls.
    Text(CalmText),
    /// A string in the open call's arguments.
    Value(CalmValue),
}

/// Where plain text stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmText {
    /// Offset of the text that comes next.
    pub(super) at: u64,
    /// Whether the next byte begins a line.
    pub(super) line_start: bool,
    /// The character before it.
    pub(super) before: Option<char>,
    pub(super) region: Region,
    /// Whether the text comes from a separate reasoning field.
    pub(super) reasoning_channel: bool,
}

/// Where a string in a call's arguments stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalmValue {
    /// Offset of the text that comes next.
    pub(super) at: u64,
    /// What matters only behind this offset: the call is past its limit there.
    pub(super) limit_at: u64,
    /// Index of the call.
    pub(super) index: u32,
    /// The byte that may begin the call's end.
    pub(super) closer: u8,
    pub(super) reasoning_channel: bool,
}

impl Calm {
    pub(super) fn at(&self) -> u64 {
        match self {
            Calm::Text(text) => text.at,
            Calm::Value(value) => value.at,
        }
    }
}

impl CalmText {
    /// Hands on a chunk in which nothing may begin. Of any other, yields how far it is plain.
    #[inline]
    pub(super) fn pass(&mut self, chunk: &str, signs: &Signs, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Plain> {
        let plain = signs.plain(chunk.as_bytes(), self.line_start);
        if plain.length < chunk.len() {
            return Err(plain);
        }
        let span = self.at..self.at + chunk.len() as u64;
        self.at = span.end;
        self.line_start = plain.line_start;
        self.before = chunk.chars().next_back();
        match self.region {
            Region::Content => sink(Event::Text { text: chunk, span }),
            Region::Reasoning => sink(Event::Reasoning { text: chunk, syntax: None, span }),
        }
        Ok(())
    }
}

impl CalmValue {
    /// Hands on a chunk in which the string neither ends nor needs a decision;
    /// `false` for any other.
    #[inline]
    pub(super) fn pass(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) -> bool {
        let span = self.at..self.at + chunk.len() as u64;
        let stops = |b: &u8| *b == b'"' || *b == b'\\' || *b < b' ' || *b == self.closer;
        if span.end > self.limit_at || chunk.as_bytes().iter().fold(false, |any, b| any | stops(b)) {
            return false;
        }
        self.at = span.end;
        sink(Event::ArgsDelta { index: self.index, text: chunk, span });
        true
    }
}
