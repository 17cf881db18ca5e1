//! The beginnings of the taught call, and the texts that may precede it.

use serde_json::Map;

use crate::dialect::{Dialect, REASONING_MARKS, THINK_TAGS, write_tool_call};
use crate::tools::Catalog;

/// The beginning of an answer in the dialect that has one (prompts/en/type_marker.j2).
const TYPE_ANSWER: &str = "TYPE: ANSWER";

/// Texts with which a message may begin: those of calls, of an answer and of reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Openers {
    /// Texts with which calls of the taught dialect begin.
    calls: Vec<String>,
    /// Text with which an answer begins, if the prompt teaches one.
    answer: Option<&'static str>,
    /// Openers of reasoning, each with its closer.
    reasoning: Vec<(String, String)>,
}

/// Kinds of message that a text at its beginning may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::turn) struct Fits {
    /// `true` if the text is, or may become, a call.
    pub(in crate::turn) call: bool,
    /// `true` if the text may become an answer that begins like a call, or reasoning.
    pub(super) other: bool,
}

impl Openers {
    /// Creates the openers of calls as the prompt of this dialect writes them, and of reasoning in think tags and in
    /// the delimiters that `marks` open.
    pub(crate) fn new(dialect: Dialect, catalog: &Catalog, marks: &[String]) -> Self {
        let mut calls: Vec<String> = catalog
            .offered()
            .map(|tool| opener(&write_tool_call(dialect, catalog, tool, &Map::new())))
            .filter(|opener| !opener.is_empty())
            .collect();
        calls.sort_unstable();
        calls.dedup();
        let tags = THINK_TAGS.iter().map(|tag| (format!("<{tag}>"), format!("</{tag}>")));
        let known = REASONING_MARKS.iter().filter(|mark| marks.iter().any(|open| open == mark.open));
        let reasoning = tags.chain(known.map(|mark| (mark.open.to_owned(), mark.close.to_owned()))).collect();
        Openers { calls, answer: (dialect == Dialect::TypeMarker).then_some(TYPE_ANSWER), reasoning }
    }

    /// Returns `true` if each call begins with a tag.
    pub(crate) fn are_tags(&self) -> bool {
        self.calls.iter().all(|opener| opener.starts_with('<'))
    }

    /// Returns the kinds of message that may begin with this text, which must have no leading white space.
    pub(in crate::turn) fn fits(&self, text: &str) -> Fits {
        let call = self.calls.iter().any(|opener| opener.starts_with(text) || text.starts_with(opener.as_str()));
        // `TYPE: ` begins a call and an answer.
        let answer = call && self.answer.is_some_and(|answer| answer.starts_with(text));
        Fits { call, other: answer || self.reasoning.iter().any(|(open, _)| open.starts_with(text)) }
    }

    /// Returns `true` if the text begins with a complete opener of a call.
    pub(super) fn is_call(&self, text: &str) -> bool {
        self.calls.iter().any(|opener| text.starts_with(opener.as_str()))
    }

    /// Returns the closer of the reasoning that this text opens, and the text after the opener; `None` if it opens
    /// none.
    pub(super) fn opens_reasoning<'a>(&self, text: &'a str) -> Option<(&str, &'a str)> {
        self.reasoning.iter().find_map(|(open, close)| Some((close.as_str(), text.strip_prefix(open.as_str())?)))
    }
}

/// Returns the beginning of a written call: its first tag, or its first line.
fn opener(call: &str) -> String {
    let line = call.trim_start().lines().next().unwrap_or_default();
    match line.find('>').filter(|_| line.starts_with('<')) {
        Some(end) => line[..=end].to_owned(),
        None => line.trim_end().to_owned(),
    }
}
