//! The reason why a candidate is text: what the parser noted, else what is around it.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::candidates::{Candidate, Kind};
use super::context::Context;
use super::rules::{Rule, Verdict, excerpt, of_kind, other, verdict};
use toolgraft::Dialect;
use toolgraft::dialect::Shape;
use toolgraft::event::{Region, RejectedKind};
use toolgraft::parse::Reason;

/// The rule for a name that no tool has.
const NO_TOOL: Rule = Rule::Rejected(RejectedKind::UnknownTool);

/// Returns the verdict of the first rule that fits.
pub(super) fn judge(context: &Context<'_>, candidate: &Candidate, region: Region) -> Verdict {
    let before = &context.text[..candidate.span.start];
    let after = &context.text[candidate.span.end..];
    if let Kind::Noted(dialect, reason) = candidate.kind {
        return noted(context, candidate.span.clone(), dialect, reason);
    }
    if matches!(candidate.kind, Kind::Name) {
        let place = if region == Region::Reasoning { "reasoning" } else { "text" };
        return verdict(Rule::BareName, "bare_name", place);
    }
    if let Some(quote) = before.chars().next_back().filter(|c| is_quote(*c)) {
        return verdict(Rule::Quote, "quote", &quote.to_string());
    }
    if let Some(dialect) = dialect_of(&candidate.kind).filter(|d| !context.config.dialects.contains(*d)) {
        return verdict(Rule::DialectOff, "dialect_off", dialect.name());
    }
    let verdict = by_kind(context, candidate, before, after);
    if region == Region::Reasoning && matches!(verdict.rule, Rule::Fence | Rule::Other) {
        return of_kind(RejectedKind::InReasoning, None, context);
    }
    verdict
}

fn by_kind(context: &Context<'_>, candidate: &Candidate, before: &str, after: &str) -> Verdict {
    match &candidate.kind {
        Kind::UnknownTag if context.config.catalog.is_none() => verdict(Rule::ToolsUnknown, "tools_unknown tag", ""),
        Kind::UnknownTag => verdict(NO_TOOL, "no_tool tag", ""),
        Kind::Line(_) => line(before, after),
        Kind::Python { list } => python(context, candidate.span.clone(), *list),
        Kind::Json => json(context, before),
        Kind::React => react_lines(context, candidate.span.clone()),
        Kind::Opener(_) | Kind::Name | Kind::Noted(..) => other(before),
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

fn line(before: &str, after: &str) -> Verdict {
    let line_start = before.rsplit('\n').next().unwrap_or_default().trim();
    let line_end = after.split('\n').next().unwrap_or_default().trim();
    let beside = if line_start.is_empty() { line_end } else { line_start };
    if beside.is_empty() {
        return other(before);
    }
    verdict(Rule::NotALine, "not_a_line marker", &excerpt(beside))
}

/// Returns the verdict on a call in Python's syntax that the parser did not even hold.
fn python(context: &Context<'_>, span: Range<usize>, list: bool) -> Verdict {
    let before = &context.text[..span.start];
    let call = context.text[span].trim_start_matches(['[', '"', '\'']).trim_start();
    if before.ends_with('\\') && list {
        return verdict(Rule::Quote, "quote list", "");
    }
    let in_fence = other(before);
    if list || in_fence.rule == Rule::Fence {
        return in_fence;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, "not_a_line call", &excerpt(line.trim()));
    }
    if !line.is_empty() {
        return verdict(Rule::Indented, "indented", "");
    }
    if let Some((object, _)) = call.rsplit_once('.').filter(|_| !call.ends_with(".call(")) {
        return verdict(NO_TOOL, "no_tool server", &excerpt(object));
    }
    in_fence
}

/// Returns the verdict on JSON that names a tool and that the parser did not even hold.
fn json(context: &Context<'_>, before: &str) -> Verdict {
    if context.config.catalog.is_none() {
        return verdict(Rule::ToolsUnknown, "tools_unknown", Dialect::Json.name());
    }
    let in_fence = other(before);
    if in_fence.rule == Rule::Fence || before.trim().is_empty() {
        return in_fence;
    }
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    verdict(Rule::NotAlone, "not_alone", &excerpt(line.trim()))
}

/// Returns the verdict on a call in ReAct's words that the parser did not even hold.
fn react_lines(context: &Context<'_>, span: Range<usize>) -> Verdict {
    let before = &context.text[..span.start];
    if context.config.catalog.is_none() {
        return verdict(Rule::ToolsUnknown, "tools_unknown", Dialect::React.name());
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, "not_a_line words", &excerpt(line.trim()));
    }
    other(before)
}

/// Returns the verdict on text that the parser noted as no call.
fn noted(context: &Context<'_>, span: Range<usize>, dialect: Dialect, reason: Reason) -> Verdict {
    let (own, after) = (&context.text[span.clone()], &context.text[span.end..]);
    let variant = match reason {
        Reason::TextBehind if dialect == Dialect::Json => " json",
        Reason::ForeignKey if own.trim_end().ends_with('}') => " object",
        Reason::CutOff if context.ended => " ended",
        _ => "",
    };
    let rule = Rule::Noted(reason);
    let name = serde_json::to_value(reason).unwrap_or_default();
    let case = format!("noted {}{variant}", name.as_str().unwrap_or_default());
    let mut verdict = verdict(rule, &case, &excerpt(after));
    match reason {
        Reason::Gate | Reason::PartialOpener | Reason::NoJson => {
            if after.trim().is_empty() {
                context.ending().clone_into(&mut verdict.why);
            }
            return Verdict { remedy: expected(context, own, dialect), ..verdict };
        }
        Reason::UnknownTool => verdict.why = unknown(own),
        Reason::Damaged => verdict.why = damage(own),
        Reason::NoLiteral => verdict.why = no_literal(own, after),
        _ => {}
    }
    Verdict { why: format!("read as `{dialect}`: {}", verdict.why), ..verdict }
}

/// Says what a call goes on with after its opener.
fn expected(context: &Context<'_>, own: &str, dialect: Dialect) -> String {
    let name = own.trim_matches(['<', '>', ' ', '\t']);
    let tags: Vec<&str> = match &dialect.spec().shape {
        Shape::Element(blocks) => {
            let block = blocks.iter().find(|block| block.tag.starts_with(name));
            block.into_iter().flat_map(|block| block.children.iter().map(|child| child.tag.as_str())).collect()
        }
        Shape::ToolTag => {
            let tools = context.config.catalog.iter().flat_map(|c| c.tools()).filter(|t| t.name == name);
            tools.flat_map(|t| t.parameters()).map(|p| p.name).collect()
        }
        Shape::MarkedJson(shape) => {
            return format!(
                "none needed for a mention; a call is one JSON object with `{}` and `{}` after the marker",
                shape.keys.tool[0], shape.keys.arguments[0]
            );
        }
        Shape::React(_) => return "write the arguments as JSON".to_owned(),
        _ => {
            return "none needed for a mention; a call must continue with the tool's name and its arguments".to_owned();
        }
    };
    let tags: Vec<_> = tags.iter().map(|tag| format!("<{tag}>")).collect();
    let or = match dialect.spec().shape {
        _ if tags.is_empty() => "",
        Shape::Element(_) => " or ",
        _ => ", ",
    };
    format!("none needed for a mention; a call must continue with {}{or}</{name}>", tags.join(", "))
}

/// Says which name no tool has, where the text ends with it.
fn unknown(own: &str) -> String {
    let name = own.strip_suffix('"').and_then(|own| own.rsplit('"').next());
    name.map_or_else(|| "no known tool is named".to_owned(), |name| format!("{} is not a known tool", excerpt(name)))
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
        return "the quoted text is not a call with literals".to_owned();
    }
    if after.starts_with('\n') {
        return "its line ends in a string".to_owned();
    }
    format!("{} is not a literal, or not valid Python there", excerpt(after))
}

fn is_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '＂' | '＇' | '“' | '”' | '‘' | '’' | '«' | '「' | '『')
}
