//! What decided that something is text, and what to do about it.

use serde::Serialize;

use super::context::Context;
use toolgraft::event::{QuotedIn, RejectedKind};
use toolgraft::message::ReasoningCalls;
use toolgraft::parse::Reason;

/// What decided that something is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::replay) enum Rule {
    /// It follows a backtick or a quotation mark.
    Quote,
    /// A marker or a call that does not stand alone on its line.
    NotALine,
    /// Its line is indented as code is.
    Indented,
    /// A call without a marker that is not the whole message.
    NotAlone,
    /// Its dialect is not read.
    DialectOff,
    /// Its dialect is read only where the tools are known.
    ToolsUnknown,
    /// A name alone is no call.
    BareName,
    /// Rejected: in a fence with other text, or quoted otherwise.
    Quoted,
    /// Rejected: in a turn that the model invented.
    Invented,
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
    /// Rejected: meant as a call, and not to be read as one.
    NearCall,
    /// Inside a code fence.
    Fence,
    /// None of these.
    Other,
    /// The parser says why it is none.
    #[serde(untagged)]
    Noted(Reason),
}

pub(super) struct Verdict {
    pub(super) rule: Rule,
    pub(super) why: String,
    pub(super) remedy: String,
}

pub(super) fn verdict(rule: Rule, why: impl Into<String>, remedy: impl Into<String>) -> Verdict {
    Verdict { rule, why: why.into(), remedy: remedy.into() }
}

/// A rejected call's rule and remedy.
pub(super) fn of_kind(kind: RejectedKind, quoted_in: Option<QuotedIn>, context: &Context<'_>) -> (Rule, &'static str) {
    let say = context.phrases;
    match kind {
        RejectedKind::InReasoning if context.config.reasoning_calls == ReasoningCalls::LastResort => {
            (Rule::InReasoning, say.draft_last_resort())
        }
        RejectedKind::InReasoning => (Rule::InReasoning, say.draft_remedy()),
        RejectedKind::Invented => (Rule::Invented, say.invented_remedy()),
        RejectedKind::Quoted if quoted_in.is_some_and(|quoted_in| quoted_in != QuotedIn::Fence) => {
            (Rule::Quoted, say.example_remedy())
        }
        RejectedKind::Quoted => (Rule::Quoted, say.fence_remedy()),
        RejectedKind::Limit => (Rule::Limit, say.less_at_once()),
        RejectedKind::Truncated => (Rule::Truncated, say.raise_limit()),
        RejectedKind::Malformed => (Rule::Malformed, say.malformed_remedy()),
        RejectedKind::UnknownTool => (Rule::UnknownTool, say.listed_name_or_tools()),
        RejectedKind::InvalidArguments => (Rule::InvalidArguments, say.arguments_remedy()),
        RejectedKind::NearCall => (Rule::NearCall, say.near_remedy()),
        _ => (Rule::Malformed, say.malformed_remedy()),
    }
}

/// No rule of an opener of its own fits; it may stand in a fence.
pub(super) fn other(context: &Context<'_>, before: &str) -> Verdict {
    let say = context.phrases;
    let fence = |line: &&str| ["```", "~~~", "'''"].iter().any(|f| line.trim_start().starts_with(f));
    if before.lines().filter(fence).count() % 2 == 1 {
        return verdict(Rule::Fence, say.fence(), say.fence_remedy());
    }
    verdict(Rule::Other, say.no_rule(), say.look_at_events())
}

/// The beginning of a text, quoted, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let start: String = line.chars().take(24).collect();
    let dots = if start.len() < line.len() { "…" } else { "" };
    format!("“{start}{dots}”")
}
