//! At a line's start: ReAct's words.

use super::lines::Line;
use super::{Next, Scanner};
use crate::json::window::{Match, No, Undecided, Window, begins, leading_space};
use crate::parse::emit::not_a_call::Reason;
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::fence_chars;
use crate::parse::marks::head::head;
use crate::parse::shape::react::React;
use crate::parse::tables::Tables;

impl Scanner {
    /// A line that names a known tool, the line of its arguments, and where these begin.
    pub(super) fn react_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Line { indent, text, more } = line;
        let Some((dialect, spec)) = self.tables.react else { return Err(No) };
        let (name, length) = match self.react_words(text, more) {
            Err(Undecided) => return Err(Undecided),
            Err(No) => {
                if let (true, Ok(head)) = (self.not_calls.is_some(), head(spec.head, text, false)) {
                    let is_known = self.tables.names.knows(head.name);
                    let reason = if is_known { Reason::NoJson } else { Reason::UnknownTool };
                    self.note_here(dialect, indent, head.length, reason);
                }
                return Err(No);
            }
            Ok(found) => found,
        };
        self.at += indent as u64;
        self.emitter.text(window, self.at, sink);
        let place = (self.at, self.at + length as u64);
        let (server, tool) = self.tables.split_name(name);
        let takes = one_text(&self.tables, server.as_deref(), &tool);
        let react = React::new(spec, (server, Some(tool)), place, self.tables.config.limits.depth);
        let react = match takes.filter(|_| begins_text(&text[length..])) {
            Some(parameter) => react.with_text(parameter.to_owned()),
            None => react,
        };
        self.open_markerless(dialect, Box::new(react), window, sink)
    }

    /// Whether `text` begins a call in ReAct's words, with JSON or with a bare text where the tool
    /// takes one; yields the tool's name and the head's length.
    fn react_words<'t>(&self, text: &'t str, more: bool) -> Match<(&'t str, usize)> {
        let ahead = self.react_ahead(text, more);
        let Some((_, spec)) = self.tables.react.filter(|_| ahead == Err(No)) else { return ahead };
        let Ok(found) = head(spec.head, text, false) else { return Err(No) };
        let (server, tool) = self.tables.split_name(found.name);
        let is_bare = self.tables.names.knows(found.name)
            && begins_text(&text[found.length..])
            && one_text(&self.tables, server.as_deref(), &tool).is_some();
        if is_bare { Ok((found.name, found.length)) } else { Err(No) }
    }

    /// Whether `text` begins a call in ReAct's words with JSON; yields the tool's name and the head's
    /// length.
    pub(super) fn react_ahead<'t>(&self, text: &'t str, more: bool) -> Match<(&'t str, usize)> {
        let Some((_, spec)) = self.tables.react.filter(|_| !self.in_final) else { return Err(No) };
        let found = head(spec.head, text, more)?;
        if !self.tables.names.knows(found.name) {
            return Err(No);
        }
        let inner = &text[found.length..];
        let inner = &inner[leading_space(inner)..];
        match begins(inner, "{", more) {
            Err(No) => fence_chars(inner, more).map(|_| (found.name, found.length)),
            brace => brace.map(|()| (found.name, found.length)),
        }
    }
}

/// Whether `text`, behind the words, is a text in the same line, no JSON and no marker
/// (`react/marker_for_a_text`).
fn begins_text(text: &str) -> bool {
    text.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '{' | '[' | '<' | '`' | '~'))
}

/// The parameter that a bare text is, of a tool that takes one text: its only one, or the only one
/// that it needs.
fn one_text<'t>(tables: &'t Tables, server: Option<&str>, tool: &str) -> Option<&'t str> {
    let tool = tables.tool(server, tool)?;
    let needed = tool.parameters().filter(|parameter| parameter.required).count();
    let mut parameters = tool.parameters();
    let (first, count) = (parameters.next()?, tool.parameters().count());
    let one = if count == 1 { first } else { tool.parameters().find(|parameter| parameter.required && needed == 1)? };
    let known = tables.tools.iter().find(|known| known.tool == tool.name && known.server == tool.server)?;
    known.parameters.iter().any(|parameter| parameter.name == one.name && parameter.is_text).then_some(one.name)
}
