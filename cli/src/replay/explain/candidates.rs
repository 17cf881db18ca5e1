//! What looks like a call: openers of all dialects and names of known tools.

use std::ops::Range;

use regex::Regex;

use super::{Context, bare};
use toolgraft::dialect::{Block, Dialect, Lead, MarkedJson, Named, Piece, Shape};
use toolgraft::parse::{GivenBack, NoCall};

/// Something that looks like a call.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What kind of look-alike.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// The opener of an element, whole.
    Element(Dialect, &'static Block),
    /// The opener of an element, broken off by the stream's end or by other text.
    Partial(Dialect, &'static str),
    /// A tag with a known tool's name.
    ToolTag,
    /// A tag that could be a tool's: snake case, with a closing tag.
    UnknownTag,
    /// The opener of a call that holds its tool's name, or of a group of such calls.
    Opener(Dialect),
    /// A marker, on a line of its own or not.
    Line(Dialect),
    /// A literal marker of JSON.
    Marker(Dialect, &'static MarkedJson),
    /// The bare name of a known tool.
    Name,
    /// A known tool's name and a parenthesis; in a list, or else a line's.
    Python { list: bool },
    /// A JSON object's key and a tool's name under it.
    Json,
    /// The lines of a call in ReAct's words, up to its arguments.
    React,
    /// What was held as calls without a marker, and why it was given back.
    Held(Dialect, NoCall),
}

/// Most characters of held text that are shown.
const SHOWN: usize = 40;

impl Candidate {
    /// The opener or name, as it stands; the beginning of what was held.
    pub(super) fn found(&self, text: &str) -> String {
        let whole = &text[self.span.clone()];
        match self.kind {
            Kind::Held(..) => whole.chars().take(SHOWN).collect::<String>().trim_end().to_owned(),
            _ => whole.to_owned(),
        }
    }
}

/// A broken-off opener counts from this many bytes on (`<us`).
const MIN_PARTIAL: usize = 3;

/// All candidates, by offset, none inside another.
pub(super) fn find(context: &Context<'_>, held: &[GivenBack]) -> Vec<Candidate> {
    let mut list: Vec<_> = held.iter().filter_map(|held| bare::held(context.text, held)).collect();
    for dialect in Dialect::ALL.iter().copied() {
        match &dialect.spec().shape {
            Shape::Element(blocks) => blocks.iter().for_each(|block| elements(context.text, dialect, block, &mut list)),
            Shape::ToolTag => tags(context, &mut list),
            Shape::Named(named) => openers(context.text, dialect, named, &mut list),
            Shape::MarkedJson(shape) => match &shape.lead {
                Lead::Line { call, .. } => lines(context.text, dialect, call.pieces, &mut list),
                Lead::Marker(wrappers) => wrappers.iter().for_each(|w| {
                    let found = context.text.match_indices(w.open).map(|(at, open)| at..at + open.len());
                    list.extend(found.map(|span| Candidate { span, kind: Kind::Marker(dialect, shape) }));
                }),
            },
            Shape::Json(keys) => bare::objects(context, keys, &mut list),
            Shape::React(react) => bare::react(context.text, react, &mut list),
            // Its calls begin with known names, which are looked for below.
            Shape::Python => {}
        }
    }
    names(context, &mut list);
    list.sort_by_key(|c| (c.span.start, usize::MAX - c.span.end));
    let mut end = 0;
    list.retain(|candidate| {
        let outside = candidate.span.start >= end;
        end = end.max(candidate.span.end);
        outside
    });
    list
}

fn openers(text: &str, dialect: Dialect, named: &Named, list: &mut Vec<Candidate>) {
    let heads = named.calls.iter().filter_map(|call| match call.head.first() {
        Some(Piece::Text(opener)) => Some(*opener),
        _ => None,
    });
    for opener in heads.chain(named.groups.iter().map(|group| group.open)) {
        let found = text.match_indices(opener).map(|(at, _)| at..at + opener.len());
        list.extend(found.map(|span| Candidate { span, kind: Kind::Opener(dialect) }));
    }
}

fn elements(text: &str, dialect: Dialect, block: &'static Block, list: &mut Vec<Candidate>) {
    for (at, _) in text.match_indices('<') {
        let rest = &text.as_bytes()[at + 1..];
        let same = rest.iter().zip(block.tag.bytes()).take_while(|(a, b)| **a == *b).count();
        if same == block.tag.len() {
            let after = text[at + 1 + same..].trim_start_matches([' ', '\t', '\r', '\n']);
            if after.starts_with('>') {
                let end = text.len() - after.len() + 1;
                list.push(Candidate { span: at..end, kind: Kind::Element(dialect, block) });
            } else if !rest.get(same).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                list.push(Candidate { span: at..at + 1 + same, kind: Kind::Partial(dialect, block.tag) });
            }
        } else if same + 1 >= MIN_PARTIAL && same == rest.trim_ascii_end().len() {
            list.push(Candidate { span: at..at + 1 + same, kind: Kind::Partial(dialect, block.tag) });
        }
    }
}

fn tags(context: &Context<'_>, list: &mut Vec<Candidate>) {
    let tag = Regex::new(r"<([A-Za-z][\w.-]*)[ \t]*>").expect("the pattern is valid");
    for found in tag.captures_iter(context.text) {
        let (Some(whole), Some(name)) = (found.get(0), found.get(1)) else { continue };
        let known = context.config.catalog.as_ref().is_some_and(|catalog| catalog.knows(name.as_str()));
        let closer = || context.text[whole.end()..].contains(&format!("</{}>", name.as_str()));
        if known {
            list.push(Candidate { span: whole.range(), kind: Kind::ToolTag });
        } else if name.as_str().contains('_') && !is_dialects_own(name.as_str()) && closer() {
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
                let call = bare::called(context.text, at..end);
                list.push(call.unwrap_or(Candidate { span: at..end, kind: Kind::Name }));
            }
        }
    }
}
