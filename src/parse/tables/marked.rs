//! Dialects of JSON objects after a marker, which may be a line.

use crate::dialect::{Dialect, LineMarker, MarkedJson, Wrapper};
use crate::json::window::{Match, No, Undecided, begins};

/// A dialect whose calls are JSON objects after a marker, with that marker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked {
    pub(crate) dialect: Dialect,
    pub(crate) spec: &'static MarkedJson,
    pub(crate) marker: Marker,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Marker {
    /// The line that announces calls, and the one that announces the answer.
    Lines(&'static LineMarker, &'static LineMarker),
    Wrapper(&'static Wrapper),
}

impl Marked {
    /// Matches the line or the word that announces calls at the start of `text`, which is at a line's start; returns
    /// its length.
    pub(crate) fn call_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.marker {
            Marker::Lines(call, _) => call.matches(text, more),
            Marker::Wrapper(word) if word.is_word() => begins(text, &word.open, more).map(|()| word.open.len()),
            Marker::Wrapper(_) => Err(No),
        }
    }

    /// Returns `true` if calls are announced by a line of their own, and not by a marker.
    pub(crate) fn is_line(&self) -> bool {
        matches!(self.marker, Marker::Lines(..))
    }

    /// Matches the line that announces the answer at the start of `text`, as [`call_line`](Self::call_line) does.
    pub(crate) fn answer_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.marker {
            Marker::Lines(_, answer) => answer.matches(text, more),
            Marker::Wrapper(_) => Err(No),
        }
    }

    /// Returns the closer after the objects, if there is one.
    pub(crate) fn closer(&self) -> Option<&'static str> {
        match self.marker {
            Marker::Lines(..) => None,
            Marker::Wrapper(wrapper) => wrapper.close.as_deref(),
        }
    }

    /// Matches the closer of the objects at the start of `text`; returns its length.
    pub(crate) fn close(&self, text: &str, more: bool) -> Match<usize> {
        self.closer().map_or(Err(No), |close| begins(text, close, more).map(|()| close.len()))
    }

    /// Returns `true` if `text` is a prefix, of at least two bytes, of the closer after the objects.
    pub(crate) fn is_cut_close(&self, text: &str) -> bool {
        // A bracket alone may as well be text.
        text.len() > 1 && self.closer().is_some_and(|close| close.starts_with(text))
    }

    /// Returns `true` if a missing closer after the objects is a fault.
    pub(crate) fn must_close(&self) -> bool {
        matches!(self.marker, Marker::Wrapper(wrapper) if wrapper.must_close)
    }
}

impl LineMarker {
    /// Matches the marker line at the start of `text`, which is at a line's start, in any case and with Markdown
    /// emphasis; returns its length.
    pub(crate) fn matches(&self, text: &str, more: bool) -> Match<usize> {
        let past = |at: usize, set: &[char]| text.len() - text[at..].trim_start_matches(set).len();
        let mut at = past(0, &['*', '_']);
        // The white space after a colon is the colon's.
        for wanted in self.text.chars().filter(|c| *c != ' ') {
            if wanted == ':' {
                at = past(past(at, &['*', '_']), &[' ', '\t']);
            }
            let found = text[at..].chars().next();
            at += match found {
                Some(':' | '：') if wanted == ':' => found.map_or(0, char::len_utf8),
                Some(found) if found.eq_ignore_ascii_case(&wanted) => 1,
                None if more => return Err(Undecided),
                _ => return Err(No),
            };
            if wanted == ':' {
                at = past(at, &['*', '_', ' ', '\t']);
            }
        }
        let end = past(at, &['*', '_']);
        if end == text.len() && more { Err(Undecided) } else { Ok(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_are_found_held_and_refused() {
        let [call, answer] = ["TYPE: MCP", "TYPE: ANSWER"].map(|text| LineMarker::from(text.to_owned()));
        for written in
            ["TYPE: MCP\n", "type:mcp\n", "TYPE：MCP\n", "**TYPE: MCP**\n", "**TYPE:** MCP\n", "Type : MCP\n"]
        {
            assert_eq!(call.matches(written, true), Ok(written.len() - 1), "{written}");
            for end in written.char_indices().map(|(i, _)| i) {
                assert_eq!(call.matches(&written[..end], true), Err(Undecided), "{:?}", &written[..end]);
            }
        }
        assert_eq!(call.matches("TYPE of", true), Err(No));
        assert_eq!(call.matches("TYPE: ANSWER\n", true), Err(No));
        assert_eq!(answer.matches("TYPE: ANSWER\n", true), Ok(12));
        assert_eq!(call.matches("Tomorrow", true), Err(No));
    }
}
