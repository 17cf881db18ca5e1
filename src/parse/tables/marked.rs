//! Dialects of JSON objects after a marker, with the lines among the markers compiled.

use std::sync::LazyLock;

use regex::Regex;

use crate::dialect::{Announcer, Dialect, LineMarker, MarkedJson, Shape, Wrapper};
use crate::event::MarkerKind;
use crate::json::window::{Match, No, Undecided, begins};

/// A dialect of JSON objects after a marker, and that marker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked {
    pub(crate) dialect: Dialect,
    pub(crate) spec: &'static MarkedJson,
    pub(crate) marker: Marker,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Marker {
    Lines(&'static Lines),
    Wrapper(&'static Wrapper),
}

/// The marker lines of a dialect, compiled.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(crate) call: LinePattern,
    pub(crate) answer: LinePattern,
}

impl Marked {
    /// Matches the line or the word that announces calls at the start of `text`, which is at a line's start; returns
    /// its length.
    pub(crate) fn call_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.marker {
            Marker::Lines(lines) => lines.call.matches(text, more),
            Marker::Wrapper(word) if word.is_word() => begins(text, &word.open, more).map(|()| word.open.len()),
            Marker::Wrapper(_) => Err(No),
        }
    }

    /// Returns `true` if a line of its own announces calls.
    pub(crate) fn is_line(&self) -> bool {
        matches!(self.marker, Marker::Lines(_))
    }

    /// Returns the kind of marker as which a line or a word that announces calls is emitted.
    pub(crate) fn line_kind(&self) -> MarkerKind {
        match self.marker {
            Marker::Lines(_) => MarkerKind::CallLine,
            Marker::Wrapper(_) => MarkerKind::Wrapper,
        }
    }

    /// The same of the line that announces the answer.
    pub(crate) fn answer_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.marker {
            Marker::Lines(lines) => lines.answer.matches(text, more),
            Marker::Wrapper(_) => Err(No),
        }
    }

    /// Returns the closer after the objects, if there is one.
    pub(crate) fn closer(&self) -> Option<&'static str> {
        match self.marker {
            Marker::Lines(_) => None,
            Marker::Wrapper(wrapper) => wrapper.close.as_deref(),
        }
    }

    /// Matches the closer of the objects at the start of `text`; returns its length.
    pub(crate) fn close(&self, text: &str, more: bool) -> Match<usize> {
        self.closer().map_or(Err(No), |close| begins(text, close, more).map(|()| close.len()))
    }

    /// Returns `true` if `text` is the first part of the objects' closer.
    pub(crate) fn is_cut_close(&self, text: &str) -> bool {
        text.len() > 1 && self.closer().is_some_and(|close| close.starts_with(text))
    }

    /// Returns `true` if it is a fault that nothing closes the objects.
    pub(crate) fn must_close(&self) -> bool {
        matches!(self.marker, Marker::Wrapper(wrapper) if wrapper.must_close)
    }
}

/// A line marker, compiled: the whole, and what may become the whole.
#[derive(Debug)]
pub(crate) struct LinePattern {
    pub(crate) lead: &'static str,
    whole: Regex,
    prefix: Regex,
}

impl LinePattern {
    fn new(marker: &'static LineMarker) -> Self {
        let whole = format!("^{}", marker.pieces.concat());
        let open: String = marker.pieces.iter().map(|piece| format!("(?:{piece}")).collect();
        let prefix = format!("^{open}{}$", ")?".repeat(marker.pieces.len()));
        let compile = |pattern: &str| Regex::new(pattern).expect("line markers are constant and compile in a test");
        LinePattern { lead: &marker.lead, whole: compile(&whole), prefix: compile(&prefix) }
    }

    /// Matches the marker at the start of `text`, which is at a line's start; returns its length.
    pub(crate) fn matches(&self, text: &str, more: bool) -> Match<usize> {
        let letters = text.trim_start_matches(['*', '_']);
        let mut pairs = letters.bytes().zip(self.lead.bytes());
        if !pairs.all(|(found, wanted)| found.to_ascii_lowercase() == wanted) {
            return Err(No);
        }
        // A word cut short needs no expression; most such words become others.
        if letters.len() < self.lead.len() {
            return if more { Err(Undecided) } else { Err(No) };
        }
        match self.whole.find(text) {
            Some(found) if found.end() == text.len() && more => Err(Undecided),
            Some(found) => Ok(found.end()),
            None if more && self.prefix.is_match(text) => Err(Undecided),
            None => Err(No),
        }
    }
}

/// The marker lines of the dialects that have some.
static LINES: LazyLock<Vec<(Dialect, Lines)>> = LazyLock::new(|| {
    let lines = |dialect: Dialect| match &dialect.spec().shape {
        Shape::MarkedJson(MarkedJson { announcer: Announcer::Line { call, answer }, .. }) => {
            Some((dialect, Lines { call: LinePattern::new(call), answer: LinePattern::new(answer) }))
        }
        _ => None,
    };
    Dialect::ALL.iter().copied().filter_map(lines).collect()
});

/// The marker lines of a dialect, if it has any.
pub(crate) fn lines_of(dialect: Dialect) -> Option<&'static Lines> {
    LINES.iter().find(|(known, _)| *known == dialect).map(|(_, lines)| lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_are_found_held_and_refused() {
        let [(_, Lines { call, answer })] = &LINES[..] else { panic!("dialects of marker lines: {LINES:?}") };
        for line in ["TYPE: MCP\n", "type:mcp\n", "TYPE：MCP\n", "**TYPE: MCP**\n", "**TYPE:** MCP\n", "Type : MCP\n"]
        {
            assert_eq!(call.matches(line, true), Ok(line.len() - 1), "{line}");
            for end in line.char_indices().map(|(i, _)| i) {
                assert_eq!(call.matches(&line[..end], true), Err(Undecided), "{:?}", &line[..end]);
            }
        }
        assert_eq!(call.matches("TYPE of", true), Err(No));
        assert_eq!(call.matches("TYPE: ANSWER\n", true), Err(No));
        assert_eq!(answer.matches("TYPE: ANSWER\n", true), Ok(12));
        assert_eq!(call.matches("Tomorrow", true), Err(No));
    }
}
