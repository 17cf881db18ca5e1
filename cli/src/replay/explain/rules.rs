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
    match kind {
        RejectedKind::InReasoning if context.config.reasoning_calls == ReasoningCalls::LastResort => (
            Rule::InReasoning,
            "none needed: with `last_resort` a draft counts only where no answer and no other call follow",
        ),
        RejectedKind::InReasoning => (
            Rule::InReasoning,
            "if such drafts should count, use `--reasoning-calls last_resort` (when nothing else follows) or `allow`",
        ),
        RejectedKind::Invented => (
            Rule::Invented,
            "stop the model where its message ends: give the endpoint the template's end token as a stop string",
        ),
        RejectedKind::Quoted if quoted_in.is_some_and(|quoted_in| quoted_in != QuotedIn::Fence) => {
            (Rule::Quoted, "none needed for an example; a call begins a line of its own, with nothing around it")
        }
        RejectedKind::Quoted => {
            (Rule::Quoted, "a call must stand alone in its fence with nothing after it; better without a fence")
        }
        RejectedKind::Limit => (Rule::Limit, "ask for less at once: smaller arguments, fewer calls in one message"),
        RejectedKind::Truncated => (Rule::Truncated, "raise the model's output limit, or ask for a shorter call"),
        RejectedKind::Malformed => (Rule::Malformed, "mend what the message names; the model is told the same"),
        RejectedKind::UnknownTool => (Rule::UnknownTool, "use a listed name, or give the tools with `--tools`"),
        RejectedKind::InvalidArguments => (Rule::InvalidArguments, "mend the argument that the message names"),
        RejectedKind::NearCall => (
            Rule::NearCall,
            "none needed for an example; write the marker, the brackets and the names of a call as the prompt shows \
             them",
        ),
        _ => (Rule::Malformed, "mend what the message names; the model is told the same"),
    }
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

/// The beginning of a text, quoted, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let start: String = line.chars().take(24).collect();
    let dots = if start.len() < line.len() { "…" } else { "" };
    format!("“{start}{dots}”")
}
