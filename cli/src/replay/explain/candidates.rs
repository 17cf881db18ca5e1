//! What looks like a call: openers of all dialects and names of known tools.

use std::ops::Range;

use regex::Regex;

use super::context::Context;
use toolgraft::dialect::{Announcer, DialectSet, FUNCTION, MarkedJson, ObjectKeys, Piece, React, Shape};
use toolgraft::parse::{NotACall, Reason};
use toolgraft::{Dialect, Parser};

/// Something that looks like a call.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What kind of look-alike.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// An opener that the parser did not look at, or not as one.
    Opener(Dialect),
    /// A tag that could be a tool's: snake case, with a closing tag.
    UnknownTag,
    /// A marker, on a line of its own or not.
    Line(Dialect),
    /// The bare name of a known tool.
    Name,
    /// A known tool's name and a parenthesis; in a list, or else a line's.
    Python { list: bool },
    /// A JSON object's key and a tool's name under it.
    Json,
    /// The lines of a call in ReAct's words, up to its arguments.
    React,
    /// What the parser noted: as which dialect it was read, and why it is no call.
    Noted(Dialect, Reason),
}

/// Most characters of held text that are shown.
const SHOWN: usize = 40;

impl Candidate {
    /// The opener or name, as it stands; the beginning of what was held.
    pub(super) fn found(&self, text: &str) -> String {
        let whole = &text[self.span.clone()];
        match self.kind {
            Kind::Noted(..) => whole.chars().take(SHOWN).collect::<String>().trim_end().to_owned(),
            _ => whole.to_owned(),
        }
    }
}

/// All candidates, by offset, none inside another. What the parser noted comes first.
pub(super) fn find(context: &Context<'_>, noted: &[NotACall]) -> Vec<Candidate> {
    let mut list: Vec<_> = noted.iter().filter_map(|held| note(context.text, held)).collect();
    let every = Parser::new(context.config.clone().with_dialects(DialectSet::AUTO));
    let opener = |(dialect, span)| Candidate { span, kind: Kind::Opener(dialect) };
    list.extend(every.openers(context.text).into_iter().map(opener));
    for dialect in Dialect::ALL.iter().copied() {
        match &dialect.spec().shape {
            Shape::ToolTag => tags(context, &mut list),
            Shape::MarkedJson(MarkedJson { announcer: Announcer::Line { call, .. }, .. }) => {
                lines(context.text, dialect, call.pieces, &mut list);
            }
            Shape::Json(keys) => objects(context, keys, &mut list),
            Shape::React(react) => react_lines(context.text, react, &mut list),
            // Found by their openers, or by known names.
            Shape::Element(_) | Shape::Named(_) | Shape::MarkedJson(_) | Shape::Python => {}
        }
    }
    names(context, &mut list);
    list.sort_by_key(|c| (c.span.start, !matches!(c.kind, Kind::Noted(..)), usize::MAX - c.span.end));
    let mut end = 0;
    list.retain(|candidate| {
        let outside = candidate.span.start >= end;
        end = end.max(candidate.span.end);
        outside
    });
    list
}

fn tags(context: &Context<'_>, list: &mut Vec<Candidate>) {
    let tag = Regex::new(r"<([A-Za-z][\w.-]*)[ \t]*>").expect("the pattern is valid");
    for found in tag.captures_iter(context.text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else { continue };
        let known = context.config.catalog.as_ref().is_some_and(|catalog| catalog.knows(name.as_str()));
        let closer = || context.text[whole.end()..].contains(&format!("</{}>", name.as_str()));
        if !known && name.as_str().contains('_') && !is_dialects_own(name.as_str()) && closer() {
            // What stands inside such an element are its parameters.
            list.push(Candidate { span: whole.range(), kind: Kind::UnknownTag });
        }
    }
}

/// Whether a tag is part of an element dialect.
fn is_dialects_own(tag: &str) -> bool {
    Dialect::ALL.iter().any(|dialect| match &dialect.spec().shape {
        Shape::Element(blocks) => blocks.iter().any(|b| b.tag == tag || b.children.iter().any(|c| c.tag == tag)),
        _ => false,
    })
}

fn lines(text: &str, dialect: Dialect, pieces: &[&str], list: &mut Vec<Candidate>) {
    let marker = Regex::new(&pieces.concat()).expect("the dialects' pieces are valid patterns");
    for found in marker.find_iter(text) {
        let ends_word = !text[found.end()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let starts_word = !text[..found.start()].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if starts_word && ends_word {
            list.push(Candidate { span: found.range(), kind: Kind::Line(dialect) });
        }
    }
}

fn names(context: &Context<'_>, list: &mut Vec<Candidate>) {
    let Some(catalog) = &context.config.catalog else { return };
    // Chinese puts no space around a name.
    let within_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut names: Vec<&str> = catalog.tools().map(|tool| tool.name.as_str()).filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        for (at, _) in context.text.match_indices(name) {
            let end = at + name.len();
            if !context.text[..at].ends_with(within_word) && !context.text[end..].starts_with(within_word) {
                let call = called(context.text, at..end);
                list.push(call.unwrap_or(Candidate { span: at..end, kind: Kind::Name }));
            }
        }
    }
}

/// What the parser noted.
fn note(text: &str, held: &NotACall) -> Option<Candidate> {
    let clamp = |at: u64| usize::try_from(at).ok().filter(|at| text.is_char_boundary(*at));
    let span = clamp(held.span.start)?..clamp(held.span.end)?;
    Some(Candidate { span, kind: Kind::Noted(held.dialect, held.reason) })
}

/// A known name that is called as Python calls: `f(`, `[f(`, `["f(`.
fn called(text: &str, name: Range<usize>) -> Option<Candidate> {
    let rest = &text[name.end..];
    let end = name.end + ["(", ".call("].iter().find(|call| rest.starts_with(**call))?.len();
    let before = &text[..name.start];
    // A server, or an object that the name is a method of.
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start = if before.ends_with('.') { before.trim_end_matches(in_name).len() } else { name.start };
    let before = &text[..start];
    let bracket = before.strip_suffix(['"', '\'']).unwrap_or(before).trim_end();
    let list = bracket.ends_with('[');
    let start = if list { bracket.len() - 1 } else { start };
    Some(Candidate { span: start..end, kind: Kind::Python { list } })
}

/// Keys of JSON objects with a tool's name under them: of a known tool, or, where
/// none is known, with a key for its arguments in the same text.
fn objects(context: &Context<'_>, keys: &ObjectKeys, list: &mut Vec<Candidate>) {
    let one_of = |keys: &[&str]| keys.iter().map(|key| regex::escape(key)).collect::<Vec<_>>().join("|");
    let named = [keys.tool, &[FUNCTION]].concat();
    let named = Regex::new(&format!(r#"(?:\{{\s*)?"(?:{})"\s*:\s*"([^"\\]+)""#, one_of(&named)));
    let named = named.expect("keys make a valid pattern");
    let arguments = Regex::new(&format!(r#""(?:{})"\s*:"#, one_of(keys.arguments))).expect("keys make a valid pattern");
    for found in named.captures_iter(context.text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else { continue };
        let meant = match &context.config.catalog {
            Some(catalog) => catalog.tools().any(|tool| tool.name == name.as_str()),
            None => arguments.is_match(context.text),
        };
        if meant {
            list.push(Candidate { span: whole.range(), kind: Kind::Json });
        }
    }
}

/// The lines of a call in ReAct's words.
fn react_lines(text: &str, react: &React, list: &mut Vec<Candidate>) {
    let class = |set: &str| set.chars().map(|c| regex::escape(&c.to_string())).collect::<String>();
    let pieces = react.head.iter().map(|piece| match piece {
        Piece::Text(text) => regex::escape(text),
        Piece::Any(set) => format!("[{}]*", class(set)),
        Piece::OneOf(set) => format!("[{}]", class(set)),
        Piece::Name => r"([^\s`*]+)".to_owned(),
        Piece::Maybe(_)
        | Piece::Space
        | Piece::Id
        | Piece::Index
        | Piece::Quote
        | Piece::Before
        | Piece::Attributes => String::new(),
    });
    let lines = Regex::new(&pieces.collect::<String>()).expect("the dialect's pieces make a valid pattern");
    list.extend(lines.find_iter(text).map(|found| Candidate { span: found.range(), kind: Kind::React }));
}
