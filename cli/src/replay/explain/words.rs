//! Why a candidate is text, in words: what the parser noted, else what stands around it.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::candidates::{Candidate, Kind};
use super::context::Context;
use super::rules::{Rule, Verdict, excerpt, of_kind, other, verdict};
use crate::phrases::Phrases;
use toolgraft::Dialect;
use toolgraft::dialect::Shape;
use toolgraft::event::{Region, RejectedKind};
use toolgraft::parse::Reason;

/// The first rule that fits.
pub(super) fn judge(context: &Context<'_>, candidate: &Candidate, region: Region) -> Verdict {
    let say = context.phrases;
    let before = &context.text[..candidate.span.start];
    let after = &context.text[candidate.span.end..];
    if let Kind::Noted(dialect, reason) = candidate.kind {
        return noted(context, candidate.span.clone(), dialect, reason);
    }
    if matches!(candidate.kind, Kind::Name) {
        let why = if region == Region::Reasoning { say.name_in_reasoning() } else { say.name_in_text() };
        return verdict(Rule::BareName, why, say.name_remedy());
    }
    if let Some(quote) = before.chars().next_back().filter(|c| is_quote(*c)) {
        return verdict(Rule::Quote, say.quoted(quote), say.quoted_remedy());
    }
    if let Some(dialect) = dialect_of(&candidate.kind).filter(|d| !context.config.dialects.contains(*d)) {
        return verdict(Rule::DialectOff, say.dialect_off(dialect), say.dialect_remedy(dialect));
    }
    let verdict = by_kind(context, candidate, before, after);
    if region == Region::Reasoning && matches!(verdict.rule, Rule::Fence | Rule::Other) {
        let (rule, remedy) = of_kind(RejectedKind::InReasoning, None, context);
        return super::rules::verdict(rule, say.stands_in_reasoning(), remedy);
    }
    verdict
}

fn by_kind(context: &Context<'_>, candidate: &Candidate, before: &str, after: &str) -> Verdict {
    let say = context.phrases;
    match &candidate.kind {
        Kind::UnknownTag if context.config.catalog.is_none() => {
            verdict(Rule::ToolsUnknown, say.tag_but_no_tools(), say.give_tools())
        }
        Kind::UnknownTag => verdict(Rule::UnknownTool, say.no_such_tool(), say.listed_name()),
        Kind::Line(_) => line(context, before, after),
        Kind::Python { list } => python(context, candidate.span.clone(), *list),
        Kind::Json => json(context, before),
        Kind::React => react_lines(context, candidate.span.clone()),
        Kind::Opener(_) | Kind::Name | Kind::Noted(..) => other(context, before),
    }
}

fn dialect_of(kind: &Kind) -> Option<Dialect> {
    match kind {
        Kind::Line(dialect) | Kind::Opener(dialect) => Some(*dialect),
        Kind::Python { .. } => Some(Dialect::Python),
        Kind::Json => Some(Dialect::Json),
        Kind::React => Some(Dialect::React),
        Kind::UnknownTag | Kind::Name | Kind::Noted(..) => None,
    }
}

fn line(context: &Context<'_>, before: &str, after: &str) -> Verdict {
    let line_start = before.rsplit('\n').next().unwrap_or_default().trim();
    let line_end = after.split('\n').next().unwrap_or_default().trim();
    let beside = if line_start.is_empty() { line_end } else { line_start };
    if beside.is_empty() {
        return other(context, before);
    }
    verdict(Rule::NotALine, context.phrases.same_line(excerpt(beside)), context.phrases.marker_alone())
}

/// Why a call in Python's syntax was not even held.
fn python(context: &Context<'_>, span: Range<usize>, list: bool) -> Verdict {
    let say = context.phrases;
    let before = &context.text[..span.start];
    let call = context.text[span].trim_start_matches(['[', '"', '\'']).trim_start();
    if before.ends_with('\\') && list {
        return verdict(Rule::Quote, say.quoted_by_backslash(), say.line_or_list());
    }
    let in_fence = other(context, before);
    if list || in_fence.rule == Rule::Fence {
        return in_fence;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, say.before_on_line(excerpt(line.trim())), say.line_or_list());
    }
    if !line.is_empty() {
        return verdict(Rule::Indented, say.indented(), say.code_begins_line());
    }
    if let Some((object, _)) = call.rsplit_once('.').filter(|_| !call.ends_with(".call(")) {
        return verdict(Rule::UnknownTool, say.no_server(excerpt(object)), say.listed_name());
    }
    in_fence
}

/// Why JSON that names a tool was not even held.
fn json(context: &Context<'_>, before: &str) -> Verdict {
    if context.config.catalog.is_none() {
        return tools_unknown(context, Dialect::Json);
    }
    let in_fence = other(context, before);
    if in_fence.rule == Rule::Fence || before.trim().is_empty() {
        return in_fence;
    }
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    verdict(Rule::NotAlone, context.phrases.before_it(excerpt(line.trim())), context.phrases.alone())
}

/// Why a call in ReAct's words was not even held.
fn react_lines(context: &Context<'_>, span: Range<usize>) -> Verdict {
    let say = context.phrases;
    let before = &context.text[..span.start];
    if context.config.catalog.is_none() {
        return tools_unknown(context, Dialect::React);
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, say.before_on_line(excerpt(line.trim())), say.begins_its_line());
    }
    other(context, before)
}

fn tools_unknown(context: &Context<'_>, dialect: Dialect) -> Verdict {
    verdict(Rule::ToolsUnknown, context.phrases.call_but_no_tools(dialect), context.phrases.give_tools())
}

/// What the parser said of text that is no call.
fn noted(context: &Context<'_>, span: Range<usize>, dialect: Dialect, reason: Reason) -> Verdict {
    let say = context.phrases;
    let (own, after) = (&context.text[span.clone()], &context.text[span.end..]);
    let next = excerpt(after);
    let ends_with_object = own.trim_end().ends_with('}');
    let (why, remedy) = match reason {
        Reason::Gate | Reason::PartialOpener | Reason::NoJson => {
            let remedy = expected(context, own, dialect);
            let what = match reason {
                _ if after.trim().is_empty() => context.ending().to_owned(),
                Reason::Gate => say.opener_followed(next),
                Reason::PartialOpener => say.opener_breaks_off(next),
                _ => say.no_object(next),
            };
            return verdict(Rule::Noted(reason), what, remedy);
        }
        Reason::TextBehind if dialect == Dialect::Json => (say.behind_it(next), say.alone()),
        Reason::TextBehind => (say.behind_on_line(next), say.line_or_list()),
        Reason::UnknownTool => (unknown(say, own), say.listed_name()),
        Reason::ForeignKey if ends_with_object => (say.foreign_key().to_owned(), say.only_call()),
        Reason::ForeignKey => (say.foreign_text(next), say.only_call()),
        Reason::Incomplete => (say.incomplete().to_owned(), say.only_call()),
        Reason::Definition => (say.definition().to_owned(), say.definition_remedy()),
        Reason::Damaged => (damage(say, own), say.damaged_remedy()),
        Reason::NoLiteral => (no_literal(say, own, after), say.literals()),
        Reason::NoKeyword => (say.no_keyword().to_owned(), say.name_parameters()),
        Reason::NoFurtherCall => (say.no_further_call(next), say.calls_only()),
        Reason::CodeAround => (say.code_around().to_owned(), say.code_remedy()),
        Reason::Link => (say.link().to_owned(), say.link_remedy()),
        Reason::Unclosed => (say.unclosed(next), say.close_brackets()),
        Reason::CutOff if context.ended => (say.ended_uncertain().to_owned(), say.close_brackets()),
        Reason::CutOff => (say.cut_uncertain().to_owned(), say.raise_limit()),
        Reason::Limit => (say.past_limit().to_owned(), say.less_at_once()),
        other => (say.no_call(format!("{other:?}")), say.only_call()),
    };
    verdict(Rule::Noted(reason), say.read_as(dialect, why), remedy)
}

/// What a call goes on with behind its opener.
fn expected(context: &Context<'_>, own: &str, dialect: Dialect) -> String {
    let say = context.phrases;
    let name = own.trim_matches(['<', '>', ' ', '\t']);
    let tags: Vec<&str> = match &dialect.spec().shape {
        Shape::Element(blocks) => {
            let block = blocks.iter().find(|block| block.tag.starts_with(name));
            block.into_iter().flat_map(|block| block.children.iter().map(|child| child.tag)).collect()
        }
        Shape::ToolTag => {
            let tools = context.config.catalog.iter().flat_map(|c| c.tools()).filter(|t| t.name == name);
            tools.flat_map(|t| t.parameters()).map(|p| p.name).collect()
        }
        Shape::MarkedJson(shape) => return say.one_object(shape.keys.tool[0], shape.keys.arguments[0]),
        Shape::React(_) => return say.arguments_as_json().to_owned(),
        _ => return say.name_and_arguments().to_owned(),
    };
    let tags: Vec<_> = tags.iter().map(|tag| format!("<{tag}>")).collect();
    let or = match dialect.spec().shape {
        _ if tags.is_empty() => "",
        Shape::Element(_) => say.or(),
        _ => ", ",
    };
    say.go_on_with(tags.join(", "), format!("{or}</{name}>"))
}

/// The name that no tool has, where the text ends with it.
fn unknown(say: Phrases, own: &str) -> String {
    let name = own.strip_suffix('"').and_then(|own| own.rsplit('"').next());
    name.map_or_else(|| say.no_known_tool().to_owned(), |name| say.not_known(excerpt(name)))
}

fn damage(say: Phrases, own: &str) -> String {
    let json = &own[own.find(['{', '[']).unwrap_or_default()..];
    match serde_json::from_str::<IgnoredAny>(json) {
        Err(error) => say.damaged(say.reason(&error.to_string())),
        Ok(_) => say.uncertain().to_owned(),
    }
}

fn no_literal(say: Phrases, own: &str, after: &str) -> String {
    if own.trim_start_matches(['[', ' ', '\n']).starts_with(['"', '\'']) {
        return say.quotes_no_call().to_owned();
    }
    if after.starts_with('\n') {
        return say.string_ends_line().to_owned();
    }
    say.no_literal(excerpt(after))
}

fn is_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '＂' | '＇' | '“' | '”' | '‘' | '’' | '«' | '「' | '『')
}
