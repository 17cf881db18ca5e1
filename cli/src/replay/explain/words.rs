//! The reason why a candidate is text: what the parser noted, else what is around it.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::candidates::{Candidate, CandidateKind};
use super::context::Context;
use super::rules::{Rule, Verdict, excerpt, of_kind, verdict};
use toolgraft::Dialect;
use toolgraft::dialect::Shape;
use toolgraft::event::{Region, RejectedKind};
use toolgraft::parse::NotACallReason;

/// The rule for a name that is not that of a known tool.
const NO_TOOL: Rule = Rule::Rejected(RejectedKind::UnknownTool);

/// Returns the verdict on a candidate by the first rule that applies.
pub(super) fn judge(context: &Context<'_>, candidate: &Candidate, region: Region) -> Verdict {
    let before = &context.text[..candidate.span.start];
    if let CandidateKind::Noted(dialect, reason) = candidate.kind {
        return noted(context, candidate.span.clone(), dialect, reason);
    }
    if matches!(candidate.kind, CandidateKind::Name) {
        let place = if region == Region::Reasoning { "reasoning" } else { "text" };
        return verdict(Rule::BareName, "bare_name", place);
    }
    if let Some(quote) = before.chars().next_back().filter(|c| is_quote(*c)) {
        return verdict(Rule::Quote, "quote", &quote.to_string());
    }
    let is_unknown = context.config.catalog.is_none();
    let verdict = match candidate.kind {
        CandidateKind::UnknownTag if is_unknown => verdict(Rule::ToolsUnknown, "tools_unknown tag", ""),
        CandidateKind::UnknownTag => verdict(NO_TOOL, "no_tool tag", ""),
        CandidateKind::Opener(dialect, _) if !context.config.dialects.contains(dialect) => {
            return verdict(Rule::DialectOff, "dialect_off", dialect.name());
        }
        CandidateKind::Opener(dialect @ (Dialect::Json | Dialect::React), _) if is_unknown => {
            verdict(Rule::ToolsUnknown, "tools_unknown", dialect.name())
        }
        CandidateKind::Opener(_, begins_line) => outside(before, begins_line),
        CandidateKind::Name | CandidateKind::Noted(..) => outside(before, false),
    };
    // What is in the reasoning is text for that alone; only a more exact rule says more.
    if region == Region::Reasoning && matches!(verdict.rule, Rule::Fence | Rule::Other) {
        return of_kind(RejectedKind::InReasoning, None, context);
    }
    verdict
}

/// Returns the verdict on a delimiter that the parser did not consider, by the text before it.
fn outside(before: &str, begins_line: bool) -> Verdict {
    let fence = |line: &&str| ["```", "~~~", "'''"].iter().any(|f| line.trim_start().starts_with(f));
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    // After an odd number of fence lines one is open.
    if before.lines().filter(fence).count() % 2 == 1 {
        verdict(Rule::Fence, "fence", "")
    } else if begins_line && !line.is_empty() {
        verdict(Rule::NotALine, "not_a_line", &excerpt(line))
    } else {
        verdict(Rule::Other, "other", "")
    }
}

/// Returns the verdict on a candidate that the parser recorded as no call.
fn noted(context: &Context<'_>, span: Range<usize>, dialect: Dialect, reason: NotACallReason) -> Verdict {
    let (own, after) = (&context.text[span.clone()], &context.text[span.end..]);
    let variant = match reason {
        NotACallReason::TextAfter if dialect == Dialect::Json => " json",
        NotACallReason::ForeignKey if own.trim_end().ends_with('}') => " object",
        NotACallReason::CutOff if context.ended => " ended",
        _ => "",
    };
    let rule = Rule::Noted(reason);
    let name = serde_json::to_value(reason).unwrap_or_default();
    let case = format!("noted {}{variant}", name.as_str().unwrap_or_default());
    let mut verdict = verdict(rule, &case, &excerpt(after));
    match reason {
        NotACallReason::Gate | NotACallReason::PartialOpener | NotACallReason::NoJson => {
            if after.trim().is_empty() {
                let end = if context.ended { "ends" } else { "was cut off" };
                verdict.why = format!("the answer {end} after it");
            }
            return Verdict { remedy: expected(context, own, dialect), ..verdict };
        }
        NotACallReason::UnknownTool => verdict.why = unknown(own),
        NotACallReason::Damaged => verdict.why = damage(own),
        NotACallReason::NoLiteral => verdict.why = no_literal(own, after),
        _ => {}
    }
    Verdict { why: format!("read as `{dialect}`: {}", verdict.why), ..verdict }
}

/// Returns advice on how a call of this dialect continues after its opening delimiter.
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

/// Returns a sentence with the unknown tool name at the end of a candidate.
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
    matches!(c, '\\' | '`' | '"' | '\'' | '＂' | '＇' | '“' | '”' | '‘' | '’' | '«' | '「' | '『')
}
