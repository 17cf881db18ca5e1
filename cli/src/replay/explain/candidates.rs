//! Finds text that looks like a call: openers of all dialects and names of known tools.

use std::ops::Range;

use regex::Regex;

use super::context::Context;
use toolgraft::dialect::{DialectSet, Shape};
use toolgraft::parse::{NotACall, NotACallReason, OpenerKind};
use toolgraft::{Dialect, Parser};

/// A part of the text that looks like a call.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) span: Range<usize>,
    pub(super) kind: CandidateKind,
}

/// The kind of text that a candidate is.
#[derive(Debug, Clone)]
pub(super) enum CandidateKind {
    /// An opening delimiter of this dialect that the parser did not accept; `true` if it must begin its line.
    Opener(Dialect, bool),
    /// A tag that could be the name of a tool: in snake case, and with a closing tag.
    UnknownTag,
    /// The bare name of a known tool.
    Name,
    /// A candidate that the parser recorded, with its dialect and the reason that it is not a call.
    Noted(Dialect, NotACallReason),
}

/// Maximum number of characters shown of a recorded candidate.
const SHOWN: usize = 40;

impl Candidate {
    /// Returns the delimiter or name as written, or the beginning of a recorded candidate.
    pub(super) fn found(&self, text: &str) -> String {
        let whole = &text[self.span.clone()];
        match self.kind {
            CandidateKind::Noted(..) => whole.chars().take(SHOWN).collect::<String>().trim_end().to_owned(),
            _ => whole.to_owned(),
        }
    }
}

/// Returns all candidates in a text by offset, without overlaps. Those that the parser recorded take precedence.
pub(super) fn find(context: &Context<'_>, noted: &[NotACall]) -> Vec<Candidate> {
    let mut list: Vec<_> = noted.iter().filter_map(|held| note(context.text, held)).collect();
    let every = Parser::new(context.config.clone().with_dialects(DialectSet::AUTO));
    list.extend(every.openers(context.text).into_iter().filter_map(|opener| {
        // A name is found as one; the line of an answer announces no call.
        let is_opener = !matches!(opener.kind, OpenerKind::AnswerLine | OpenerKind::NameLine);
        let begins_line = !matches!(opener.kind, OpenerKind::Mark);
        is_opener.then_some(Candidate { span: opener.span, kind: CandidateKind::Opener(opener.dialect, begins_line) })
    }));
    tags(context, &mut list);
    names(context, &mut list);
    // Of several at one place the one that the parser noted stays, else the longest.
    list.sort_by_key(|c| (c.span.start, !matches!(c.kind, CandidateKind::Noted(..)), usize::MAX - c.span.end));
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
        // The tag of a known tool is the parser's. Without an underscore a tag is more often HTML, and
        // without its closing tag a placeholder (`<your_name>`).
        if !known && name.as_str().contains('_') && !is_dialects_own(name.as_str()) && closer() {
            // The elements inside it are its parameters.
            list.push(Candidate { span: whole.range(), kind: CandidateKind::UnknownTag });
        }
    }
}

/// Returns `true` if a dialect with elements uses this tag itself.
fn is_dialects_own(tag: &str) -> bool {
    Dialect::ALL.iter().any(|dialect| match &dialect.spec().shape {
        Shape::Element(blocks) => blocks.iter().any(|b| b.tag == tag || b.children.iter().any(|c| c.tag == tag)),
        _ => false,
    })
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
                list.push(Candidate { span: at..end, kind: CandidateKind::Name });
            }
        }
    }
}

/// Converts a candidate that the parser recorded; `None` if its offsets do not fit the text.
fn note(text: &str, held: &NotACall) -> Option<Candidate> {
    let clamp = |at: u64| usize::try_from(at).ok().filter(|at| text.is_char_boundary(*at));
    let span = clamp(held.span.start)?..clamp(held.span.end)?;
    Some(Candidate { span, kind: CandidateKind::Noted(held.dialect, held.reason) })
}
