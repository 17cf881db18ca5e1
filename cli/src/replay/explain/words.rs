//! Why a candidate is text, in words: what the parser noted, else what stands around it.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::candidates::{Candidate, Kind};
use super::context::Context;
use super::rules::{Rule, Verdict, excerpt, of_kind, other, verdict};
use toolgraft::Dialect;
use toolgraft::dialect::Shape;
use toolgraft::event::{Region, RejectedKind};
use toolgraft::parse::Reason;

const LISTED_NAME: &str = "use a listed name, or give the tool too with `--tool-file FILE`";
const LINE_OR_LIST: &str =
    "none needed for a mention; a call must stand alone on its line, or in a list in square brackets";
const ONLY_CALL: &str =
    "none needed for an answer; a call has the tool's name, its arguments, and no key that calls do not have";

/// The first rule that fits.
pub(super) fn judge(context: &Context<'_>, candidate: &Candidate, region: Region) -> Verdict {
    let before = &context.text[..candidate.span.start];
    let after = &context.text[candidate.span.end..];
    if let Kind::Noted(dialect, reason) = candidate.kind {
        return noted(context, candidate.span.clone(), dialect, reason);
    }
    if matches!(candidate.kind, Kind::Name) {
        let why = if region == Region::Reasoning {
            "the tool's name stands in the reasoning without a call's syntax"
        } else {
            "the tool's name stands in the text without a call's syntax"
        };
        return verdict(
            Rule::BareName,
            why,
            "none needed where the tool is only mentioned; else the call's syntax is missing",
        );
    }
    if let Some(quote) = before.chars().next_back().filter(|c| is_quote(*c)) {
        return verdict(
            Rule::Quote,
            format!("it follows {quote} directly, so it is quoted"),
            "none needed for a mention; a call must not follow a quotation mark or backtick",
        );
    }
    if let Some(dialect) = dialect_of(&candidate.kind).filter(|d| !context.config.dialects.contains(*d)) {
        return verdict(
            Rule::DialectOff,
            format!("the dialect {dialect} is not read"),
            format!("read it too: `--dialect {dialect}`, or `--dialect auto`"),
        );
    }
    let verdict = by_kind(context, candidate, before, after);
    if region == Region::Reasoning && matches!(verdict.rule, Rule::Fence | Rule::Other) {
        let (rule, remedy) = of_kind(RejectedKind::InReasoning, None, context);
        return super::rules::verdict(rule, "it stands in the reasoning", remedy);
    }
    verdict
}

fn by_kind(context: &Context<'_>, candidate: &Candidate, before: &str, after: &str) -> Verdict {
    match &candidate.kind {
        Kind::UnknownTag if context.config.catalog.is_none() => verdict(
            Rule::ToolsUnknown,
            "it looks like a tool's tag, but no tools are known, so `tool_tag` is off",
            "give the tools: `--tool-file FILE` or `--mcp-config FILE`",
        ),
        Kind::UnknownTag => verdict(Rule::UnknownTool, "no tool has this name", LISTED_NAME),
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
    verdict(
        Rule::NotALine,
        format!("{} stands on the same line", excerpt(beside)),
        "the marker must stand alone on its line, the JSON below it",
    )
}

/// Why a call in Python's syntax was not even held.
fn python(context: &Context<'_>, span: Range<usize>, list: bool) -> Verdict {
    let before = &context.text[..span.start];
    let call = context.text[span].trim_start_matches(['[', '"', '\'']).trim_start();
    if before.ends_with('\\') && list {
        return verdict(Rule::Quote, "it follows a backslash directly, so it is quoted", LINE_OR_LIST);
    }
    let in_fence = other(before);
    if list || in_fence.rule == Rule::Fence {
        return in_fence;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(Rule::NotALine, format!("{} stands before it on its line", excerpt(line.trim())), LINE_OR_LIST);
    }
    if !line.is_empty() {
        return verdict(
            Rule::Indented,
            "its line is indented by more than three spaces, so it is code",
            "none needed for code; a call must begin its line",
        );
    }
    if let Some((object, _)) = call.rsplit_once('.').filter(|_| !call.ends_with(".call(")) {
        return verdict(Rule::UnknownTool, format!("{} is no server that has the tool", excerpt(object)), LISTED_NAME);
    }
    in_fence
}

/// Why JSON that names a tool was not even held.
fn json(context: &Context<'_>, before: &str) -> Verdict {
    if context.config.catalog.is_none() {
        return tools_unknown(Dialect::Json);
    }
    let in_fence = other(before);
    if in_fence.rule == Rule::Fence || before.trim().is_empty() {
        return in_fence;
    }
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    verdict(
        Rule::NotAlone,
        format!("{} stands before it", excerpt(line.trim())),
        "none needed for an answer; a call in JSON without a marker must be the whole message, or stand alone in its \
         fence",
    )
}

/// Why a call in ReAct's words was not even held.
fn react_lines(context: &Context<'_>, span: Range<usize>) -> Verdict {
    let before = &context.text[..span.start];
    if context.config.catalog.is_none() {
        return tools_unknown(Dialect::React);
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if !line.trim().is_empty() {
        return verdict(
            Rule::NotALine,
            format!("{} stands before it on its line", excerpt(line.trim())),
            "none needed for a mention; a call's words must begin their line",
        );
    }
    other(before)
}

fn tools_unknown(dialect: Dialect) -> Verdict {
    verdict(
        Rule::ToolsUnknown,
        format!("it looks like a call, but no tools are known, so `{dialect}` is off"),
        "give the tools: `--tool-file FILE` or `--mcp-config FILE`",
    )
}

/// What the parser said of text that is no call.
fn noted(context: &Context<'_>, span: Range<usize>, dialect: Dialect, reason: Reason) -> Verdict {
    let (own, after) = (&context.text[span.clone()], &context.text[span.end..]);
    let next = excerpt(after);
    let ends_with_object = own.trim_end().ends_with('}');
    let (why, remedy) = match reason {
        Reason::Gate | Reason::PartialOpener | Reason::NoJson => {
            let remedy = expected(context, own, dialect);
            let what = match reason {
                _ if after.trim().is_empty() => context.ending().to_owned(),
                Reason::Gate => format!("the opener is followed by {next}"),
                Reason::PartialOpener => format!("the opener breaks off and is followed by {next}"),
                _ => format!("{next} follows the marker, not a JSON object"),
            };
            return verdict(Rule::Noted(reason), what, remedy);
        }
        Reason::TextBehind if dialect == Dialect::Json => (
            format!("{next} stands behind it"),
            "none needed for an answer; a call in JSON without a marker must be the whole message, or stand alone in \
             its fence",
        ),
        Reason::TextBehind => (format!("{next} stands behind it on its line"), LINE_OR_LIST),
        Reason::UnknownTool => (unknown(own), LISTED_NAME),
        Reason::ForeignKey if ends_with_object => ("it has a key that no call has".to_owned(), ONLY_CALL),
        Reason::ForeignKey => (format!("no call has {next} there"), ONLY_CALL),
        Reason::Incomplete => ("the tool's name or its arguments are missing".to_owned(), ONLY_CALL),
        Reason::Definition => (
            "a JSON Schema stands in place of the arguments, so it defines a tool".to_owned(),
            "none needed for a definition; a call has values under its arguments",
        ),
        Reason::Damaged => (damage(own), "mend the JSON: what it says must be certain"),
        Reason::NoLiteral => (no_literal(own, after), "values must be literals: texts, numbers, lists, dictionaries"),
        Reason::NoKeyword => (
            "a value has no keyword, and the tool has other than one parameter".to_owned(),
            "name the parameters: `f(a=1, b=2)`",
        ),
        Reason::NoFurtherCall => {
            (format!("{next} stands in the list and is no further call"), "a list must hold calls only")
        }
        Reason::CodeAround => {
            ("it is a part of the code, the comment or the heading on its line".to_owned(), "none needed for code")
        }
        Reason::Link => ("it is the text of a link".to_owned(), "none needed for a link"),
        Reason::Unclosed => (format!("{next} came before its last bracket"), "close its brackets"),
        Reason::CutOff if context.ended => {
            ("the answer ended before it was certain to be a call".to_owned(), "close its brackets")
        }
        Reason::CutOff => (
            "the answer was cut off before it was certain to be a call".to_owned(),
            "raise the model's output limit, or ask for a shorter call",
        ),
        Reason::Limit => (
            "it is past the limit on a call's bytes or nesting".to_owned(),
            "ask for less at once: smaller arguments, fewer calls in one message",
        ),
        other => (format!("it is no call ({other:?})"), ONLY_CALL),
    };
    verdict(Rule::Noted(reason), format!("read as `{dialect}`: {why}"), remedy)
}

/// What a call goes on with behind its opener.
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
                "none needed for a mention; a call is one JSON object with `{}` and `{}` behind the marker",
                shape.keys.tool[0], shape.keys.arguments[0]
            );
        }
        Shape::React(_) => return "write the arguments as JSON".to_owned(),
        _ => return "none needed for a mention; a call must go on with the tool's name and its arguments".to_owned(),
    };
    let tags: Vec<_> = tags.iter().map(|tag| format!("<{tag}>")).collect();
    let or = match dialect.spec().shape {
        _ if tags.is_empty() => "",
        Shape::Element(_) => " or ",
        _ => ", ",
    };
    format!("none needed for a mention; a call must go on with {}{or}</{name}>", tags.join(", "))
}

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

fn is_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '＂' | '＇' | '“' | '”' | '‘' | '’' | '«' | '「' | '『')
}
