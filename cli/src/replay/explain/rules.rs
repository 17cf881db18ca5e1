//! The parser's rules, read off the text around a candidate.

use serde::Serialize;

use super::candidates::{Candidate, Kind};
use super::{Context, bare};
use toolgraft::call::RejectedKind;
use toolgraft::dialect::{Block, Dialect, MarkedJson, Shape};
use toolgraft::event::Region;
use toolgraft::parse::NoCall;
use toolgraft::reasoning::ReasoningCalls;

/// What decided that something is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::replay) enum Rule {
    /// It follows a backtick or a quotation mark.
    Quote,
    /// What follows the opener is no child of it.
    Gate,
    /// The opener breaks off.
    PartialOpener,
    /// A marker or a call that does not stand alone on its line.
    NotALine,
    /// Its line is indented as code is.
    Indented,
    /// A call without a marker that is not the whole message.
    NotAlone,
    /// No JSON follows the marker.
    NoJson,
    /// Its dialect is not read.
    DialectOff,
    /// Its dialect is read only where the tools are known.
    ToolsUnknown,
    /// A name alone is no call.
    BareName,
    /// Rejected: in a fence with other text.
    Quoted,
    /// Rejected: in the reasoning.
    InReasoning,
    /// Rejected: past a limit.
    Limit,
    /// Rejected: the stream ended first.
    Truncated,
    /// Rejected: cannot be read.
    Malformed,
    /// Rejected, or not read at all: no such tool.
    UnknownTool,
    /// Rejected: against the tool's schema.
    InvalidArguments,
    /// Inside a code fence.
    Fence,
    /// None of these.
    Other,
    /// The parser held it as a call without a marker, and says why it is none.
    #[serde(untagged)]
    Held(NoCall),
}

pub(super) const GIVE_TOOLS: &str = "give the tools: `--tools FILE` or `--mcp-config FILE`";
pub(super) const LISTED_NAME: &str = "use a listed name, or give the tool too with `--tools FILE`";

pub(super) struct Verdict {
    pub(super) rule: Rule,
    pub(super) why: String,
    pub(super) remedy: String,
}

pub(super) fn verdict(rule: Rule, why: impl Into<String>, remedy: impl Into<String>) -> Verdict {
    Verdict { rule, why: why.into(), remedy: remedy.into() }
}

/// A rejected call's rule and remedy.
pub(super) fn of_kind(kind: RejectedKind, policy: ReasoningCalls) -> (Rule, &'static str) {
    match kind {
        RejectedKind::InReasoning if policy == ReasoningCalls::LastResort => (
            Rule::InReasoning,
            "none needed: with `last_resort` a draft counts only where no answer and no other call follow",
        ),
        RejectedKind::InReasoning => (
            Rule::InReasoning,
            "if such drafts should count, use `--reasoning-calls last_resort` (when nothing else follows) or `allow`",
        ),
        RejectedKind::Quoted => {
            (Rule::Quoted, "a call must stand alone in its fence with nothing after it; better without a fence")
        }
        RejectedKind::Limit => (Rule::Limit, "ask for less at once: smaller arguments, fewer calls in one message"),
        RejectedKind::Truncated => (Rule::Truncated, "raise the model's output limit, or ask for a shorter call"),
        RejectedKind::Malformed => (Rule::Malformed, "mend what the message names; the model is told the same"),
        RejectedKind::UnknownTool => (Rule::UnknownTool, "use a listed name, or give the tools with `--tools`"),
        RejectedKind::InvalidArguments => (Rule::InvalidArguments, "mend the argument that the message names"),
    }
}

/// The first rule that fits.
pub(super) fn judge(context: &Context<'_>, candidate: &Candidate, region: Region) -> Verdict {
    let before = &context.text[..candidate.span.start];
    let after = &context.text[candidate.span.end..];
    if let Kind::Held(dialect, reason) = candidate.kind {
        return bare::given_back(context, candidate.span.clone(), dialect, reason);
    }
    if matches!(candidate.kind, Kind::Name) {
        let place = if region == Region::Reasoning { "the reasoning" } else { "the text" };
        return verdict(
            Rule::BareName,
            format!("the tool's name stands in {place} without a call's syntax"),
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
        let (rule, remedy) = of_kind(RejectedKind::InReasoning, context.config.reasoning_calls);
        return self::verdict(rule, "it stands in the reasoning", remedy);
    }
    verdict
}

fn by_kind(context: &Context<'_>, candidate: &Candidate, before: &str, after: &str) -> Verdict {
    match &candidate.kind {
        Kind::Partial(_, tag) => partial(context, tag, after),
        Kind::Element(_, block) => element(context, block, before, after),
        Kind::UnknownTag if context.config.catalog.is_none() => verdict(
            Rule::ToolsUnknown,
            "it looks like a tool's tag, but no tools are known, so `tool_tag` is off",
            GIVE_TOOLS,
        ),
        Kind::UnknownTag => verdict(Rule::UnknownTool, "no tool has this name", LISTED_NAME),
        Kind::ToolTag => tool_tag(context, candidate, before, after),
        Kind::Line(dialect) => line(*dialect, before, after),
        Kind::Opener(_) => opener(context, after),
        Kind::Marker(_, shape) => no_json(shape, after).unwrap_or_else(|| other(before)),
        Kind::Python { list } => bare::python(context, candidate.span.clone(), *list),
        Kind::Json => bare::json(context, before),
        Kind::React => bare::react_lines(context, candidate.span.clone()),
        Kind::Name | Kind::Held(..) => other(before),
    }
}

fn dialect_of(kind: &Kind) -> Option<Dialect> {
    match kind {
        Kind::Element(dialect, _)
        | Kind::Partial(dialect, _)
        | Kind::Line(dialect)
        | Kind::Opener(dialect)
        | Kind::Marker(dialect, _) => Some(*dialect),
        Kind::ToolTag => Some(Dialect::ToolTag),
        Kind::Python { .. } => Some(Dialect::Python),
        Kind::Json => Some(Dialect::Json),
        Kind::React => Some(Dialect::React),
        Kind::UnknownTag | Kind::Name | Kind::Held(..) => None,
    }
}

fn partial(context: &Context<'_>, tag: &str, after: &str) -> Verdict {
    let remedy = format!("write `<{tag}>` in full");
    if after.trim().is_empty() {
        let end = if context.ended { "the answer ends" } else { "the answer was cut off" };
        return verdict(Rule::PartialOpener, format!("{end} in the middle of `<{tag}>`"), remedy);
    }
    verdict(Rule::PartialOpener, format!("`<{tag}` is followed by {}, not by `>`", excerpt(after)), remedy)
}

fn element(context: &Context<'_>, block: &Block, before: &str, after: &str) -> Verdict {
    let children = block.children.iter().map(|c| c.tag);
    let names: Vec<_> = block.children.iter().map(|c| format!("<{}>", c.tag)).collect();
    let expected = format!("{} or </{}>", names.join(", "), block.tag);
    gate(context, before, after, (block.tag, children), &expected)
}

fn tool_tag(context: &Context<'_>, candidate: &Candidate, before: &str, after: &str) -> Verdict {
    let name = context.text[candidate.span.clone()].trim_matches(['<', '>', ' ', '\t']);
    let tools = context.config.catalog.iter().flat_map(|c| c.tools()).filter(|t| t.name == name);
    let parameters: Vec<&str> = tools.flat_map(|t| t.parameters()).map(|p| p.name).collect();
    let names: Vec<_> = parameters.iter().map(|p| format!("<{p}>")).collect();
    let expected = [names, vec![format!("</{name}>")]].concat().join(", ");
    gate(context, before, after, (name, parameters.into_iter()), &expected)
}

/// After an opener that holds a name, the rest of it and the arguments must follow.
fn opener(context: &Context<'_>, after: &str) -> Verdict {
    let why = match after.trim().is_empty() {
        true if context.ended => "the answer ends in the middle of the opener".to_owned(),
        true => "the answer was cut off in the middle of the opener".to_owned(),
        false => format!("it is followed by {}", excerpt(after)),
    };
    verdict(Rule::Gate, why, "none needed for a mention; a call must go on with the tool's name and its arguments")
}

/// After an opener a child or the closer must follow.
fn gate<'a>(
    context: &Context<'_>,
    before: &str,
    after: &str,
    (own, mut children): (&str, impl Iterator<Item = &'a str>),
    expected: &str,
) -> Verdict {
    let next = after.trim_start();
    if next.is_empty() {
        let end = if context.ended { "the answer ends" } else { "the answer was cut off" };
        return verdict(Rule::Gate, format!("{end} right after the opener"), format!("it must go on with {expected}"));
    }
    let tag = next.strip_prefix('<').unwrap_or_default();
    let fits = children.any(|c| tag.starts_with(c)) || tag.strip_prefix('/').is_some_and(|t| t.starts_with(own));
    if fits {
        return other(before);
    }
    let why = format!("the opener is followed by {}", excerpt(next));
    verdict(Rule::Gate, why, format!("none needed for a mention; a call must go on with {expected}"))
}

fn line(dialect: Dialect, before: &str, after: &str) -> Verdict {
    let line_start = before.rsplit('\n').next().unwrap_or_default().trim();
    let line_end = after.split('\n').next().unwrap_or_default().trim();
    let beside = if line_start.is_empty() { line_end } else { line_start };
    if !beside.is_empty() {
        return verdict(
            Rule::NotALine,
            format!("{} stands on the same line", excerpt(beside)),
            "the marker must stand alone on its line, the JSON below it",
        );
    }
    let Shape::MarkedJson(shape) = &dialect.spec().shape else { return other(before) };
    no_json(shape, after).unwrap_or_else(|| other(before))
}

/// Whether something else than JSON follows a marker.
fn no_json(shape: &MarkedJson, after: &str) -> Option<Verdict> {
    let next = after.trim_start().trim_start_matches(['`', '~', '\'']).trim_start_matches("json").trim_start();
    if next.starts_with(['{', '[']) {
        return None;
    }
    let what = if next.is_empty() { "nothing".to_owned() } else { excerpt(next) };
    let (tool, arguments) = (shape.tool_keys[0], shape.argument_keys[0]);
    Some(verdict(
        Rule::NoJson,
        format!("{what} follows the marker, not a JSON object"),
        format!(
            "none needed for a mention; a call is one JSON object with `{tool}` and `{arguments}` behind the marker"
        ),
    ))
}

/// No rule of an opener of its own fits; it may stand in a fence.
pub(super) fn other(before: &str) -> Verdict {
    let fence = |line: &&str| ["```", "~~~", "'''"].iter().any(|f| line.trim_start().starts_with(f));
    if before.lines().filter(fence).count() % 2 == 1 {
        return verdict(
            Rule::Fence,
            "it stands in a code fence with other text",
            "a call must stand alone in its fence with nothing after it; better without a fence",
        );
    }
    verdict(Rule::Other, "no rule that is known here fits", "replay it with `--json` to see the events around it")
}

fn is_quote(c: char) -> bool {
    matches!(c, '`' | '"' | '\'' | '＂' | '＇' | '“' | '”' | '‘' | '’' | '«' | '「' | '『')
}

/// The beginning of a text, quoted, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let start: String = line.chars().take(24).collect();
    let dots = if start.len() < line.len() { "…" } else { "" };
    format!("“{start}{dots}”")
}
