//! Calls that no marker announces: where one may have been meant, and what
//! decided that it is text.

use std::ops::Range;

use regex::Regex;
use serde::de::IgnoredAny;

use super::Context;
use super::candidates::{Candidate, Kind};
use super::rules::{GIVE_TOOLS, LISTED_NAME, Rule, Verdict, excerpt, other, verdict};
use toolgraft::dialect::{Dialect, ObjectKeys, Piece, React};
use toolgraft::parse::{GivenBack, NoCall};

/// What the parser held.
pub(super) fn held(text: &str, held: &GivenBack) -> Option<Candidate> {
    let clamp = |at: u64| usize::try_from(at).ok().filter(|at| text.is_char_boundary(*at));
    let span = clamp(held.span.start)?..clamp(held.span.end)?;
    Some(Candidate { span, kind: Kind::Held(held.dialect, held.reason) })
}

/// A known name that is called as Python calls: `f(`, `[f(`, `["f(`.
pub(super) fn called(text: &str, name: Range<usize>) -> Option<Candidate> {
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
pub(super) fn objects(context: &Context<'_>, keys: &ObjectKeys, list: &mut Vec<Candidate>) {
    let one_of = |keys: &[&str]| keys.iter().map(|key| regex::escape(key)).collect::<Vec<_>>().join("|");
    let named = [keys.tool, &[keys.function]].concat();
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
pub(super) fn react(text: &str, react: &React, list: &mut Vec<Candidate>) {
    let class = |set: &str| set.chars().map(|c| regex::escape(&c.to_string())).collect::<String>();
    let pieces = react.head.iter().map(|piece| match piece {
        Piece::Text(text) => regex::escape(text),
        Piece::Any(set) => format!("[{}]*", class(set)),
        Piece::OneOf(set) => format!("[{}]", class(set)),
        Piece::Name => r"([^\s`*]+)".to_owned(),
        Piece::Space | Piece::Id | Piece::Quote | Piece::Attributes => String::new(),
    });
    let lines = Regex::new(&pieces.collect::<String>()).expect("the dialect's pieces make a valid pattern");
    list.extend(lines.find_iter(text).map(|found| Candidate { span: found.range(), kind: Kind::React }));
}

/// Why a call in Python's syntax was not even held.
pub(super) fn python(context: &Context<'_>, span: Range<usize>, list: bool) -> Verdict {
    let before = &context.text[..span.start];
    let call = context.text[span].trim_start_matches(['[', '"', '\'']).trim_start();
    let remedy = "none needed for a mention; a call must stand alone on its line, or in a list in square brackets";
    if before.ends_with('\\') && list {
        return verdict(Rule::Quote, "it follows a backslash directly, so it is quoted", remedy);
    }
    let in_fence = other(before);
    if list || in_fence.rule == Rule::Fence {
        return in_fence;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, format!("{} stands before it on its line", excerpt(line.trim())), remedy);
    }
    if !line.is_empty() {
        let why = "its line is indented by more than three spaces, so it is code";
        return verdict(Rule::Indented, why, "none needed for code; a call must begin its line");
    }
    if let Some((object, _)) = call.rsplit_once('.').filter(|_| !call.ends_with(".call(")) {
        return verdict(Rule::UnknownTool, format!("{} is no server that has the tool", excerpt(object)), LISTED_NAME);
    }
    in_fence
}

/// Why JSON that names a tool was not even held.
pub(super) fn json(context: &Context<'_>, before: &str) -> Verdict {
    if context.config.catalog.is_none() {
        return tools_unknown(Dialect::Json);
    }
    let in_fence = other(before);
    if in_fence.rule == Rule::Fence || before.trim().is_empty() {
        return in_fence;
    }
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    verdict(Rule::NotAlone, format!("{} stands before it", excerpt(line.trim())), ALONE)
}

/// Why a call in ReAct's words was not even held.
pub(super) fn react_lines(context: &Context<'_>, span: Range<usize>) -> Verdict {
    let (before, after) = (&context.text[..span.start], &context.text[span.end..]);
    let Some(catalog) = &context.config.catalog else { return tools_unknown(Dialect::React) };
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        let remedy = "none needed for a mention; a call's words must begin their line";
        return verdict(Rule::NotALine, format!("{} stands before it on its line", excerpt(line.trim())), remedy);
    }
    let lines = &context.text[span];
    let words = lines.split(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | ':' | '：'));
    if !words.filter(|word| !word.is_empty()).any(|word| catalog.knows(word)) {
        return verdict(Rule::UnknownTool, "no tool has this name", LISTED_NAME);
    }
    if !after.trim_start_matches(['`', '~', '\'']).trim_start_matches("json").trim_start().starts_with('{') {
        let what = if after.trim().is_empty() { "nothing".to_owned() } else { excerpt(after) };
        return verdict(Rule::NoJson, format!("{what} follows, not a JSON object"), "write the arguments as JSON");
    }
    other(before)
}

fn tools_unknown(dialect: Dialect) -> Verdict {
    verdict(
        Rule::ToolsUnknown,
        format!("it looks like a call, but no tools are known, so `{dialect}` is off"),
        GIVE_TOOLS,
    )
}

const ALONE: &str =
    "none needed for an answer; a call in JSON without a marker must be the whole message, or stand alone in its fence";

/// What the parser said of text that it held and gave back.
pub(super) fn given_back(context: &Context<'_>, span: Range<usize>, dialect: Dialect, reason: NoCall) -> Verdict {
    let (own, after) = (&context.text[span.clone()], &context.text[span.end..]);
    let next = excerpt(after);
    let ends_with_object = own.trim_end().ends_with('}');
    let (why, remedy) = match reason {
        NoCall::TextBehind if dialect == Dialect::Json => (format!("{next} stands behind it"), ALONE),
        NoCall::TextBehind => (
            format!("{next} stands behind it on its line"),
            "none needed for a mention; a call must stand alone on its line, or in a list in square brackets",
        ),
        NoCall::UnknownTool => (unknown(own), LISTED_NAME),
        NoCall::ForeignKey if ends_with_object => ("it has a key that no call has".to_owned(), ONLY_CALL),
        NoCall::ForeignKey => (format!("no call has {next} there"), ONLY_CALL),
        NoCall::Incomplete => ("the tool's name or its arguments are missing".to_owned(), ONLY_CALL),
        NoCall::Definition => (
            "a JSON Schema stands in place of the arguments, so it defines a tool".to_owned(),
            "none needed for a definition; a call has values under its arguments",
        ),
        NoCall::Damaged => (damage(own), "mend the JSON: what it says must be certain"),
        NoCall::NoLiteral => (no_literal(own, after), "values must be literals: texts, numbers, lists, dictionaries"),
        NoCall::NoKeyword => (
            "a value has no keyword, and the tool has other than one parameter".to_owned(),
            "name the parameters: `f(a=1, b=2)`",
        ),
        NoCall::NoFurtherCall => {
            (format!("{next} stands in the list and is no further call"), "a list must hold calls only")
        }
        NoCall::Link => ("it is the text of a link".to_owned(), "none needed for a link"),
        NoCall::Unclosed => (format!("{next} came before its last bracket"), "close its brackets"),
        NoCall::CutOff if context.ended => {
            ("the answer ended before it was certain to be a call".to_owned(), "close its brackets")
        }
        NoCall::CutOff => (
            "the answer was cut off before it was certain to be a call".to_owned(),
            "raise the model's output limit, or ask for a shorter call",
        ),
        NoCall::Limit => (
            "it is past the limit on a call's bytes or nesting".to_owned(),
            "ask for less at once: smaller arguments, fewer calls in one message",
        ),
        other => (format!("it is no call ({other:?})"), ONLY_CALL),
    };
    verdict(Rule::Held(reason), format!("read as `{dialect}`: {why}"), remedy)
}

const ONLY_CALL: &str =
    "none needed for an answer; a call has the tool's name, its arguments, and no key that calls do not have";

/// The name that no tool has, where the text ends with it.
fn unknown(own: &str) -> String {
    let name = own.strip_suffix('"').and_then(|own| own.rsplit('"').next());
    name.map_or_else(|| "no known tool is named".to_owned(), |name| format!("{} is no known tool", excerpt(name)))
}

fn damage(own: &str) -> String {
    let json = &own[own.find(['{', '[']).unwrap_or_default()..];
    match serde_json::from_str::<IgnoredAny>(json) {
        Err(error) => format!("its JSON cannot be read with certainty: {error}"),
        Ok(_) => "its JSON cannot be read with certainty".to_owned(),
    }
}

fn no_literal(own: &str, after: &str) -> String {
    if own.trim_start_matches(['[', ' ', '\n']).starts_with(['"', '\'']) {
        return "what stands in the quotes is no call with literals".to_owned();
    }
    if after.starts_with('\n') {
        return "its line ends in a string".to_owned();
    }
    format!("{} is no literal, or not what Python wants there", excerpt(after))
}
