//! The rules by which something is text, with the reason and the remedy of each case.

use std::sync::LazyLock;

use serde::Serialize;

use super::context::Context;
use crate::base::table::rows;
use toolgraft::event::{QuotedIn, RejectedKind};
use toolgraft::message::ReasoningCalls;
use toolgraft::parse::NotACallReason;

/// A rule that decided that something is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::replay) enum Rule {
    /// It follows a backtick, a quotation mark or a backslash.
    Quote,
    /// A marker or a call that does not begin its line.
    NotALine,
    /// Its dialect is not read.
    DialectOff,
    /// Its dialect is read only where the tools are known.
    ToolsUnknown,
    /// A name alone is no call.
    BareName,
    /// Inside a code fence.
    Fence,
    /// None of these.
    Other,
    /// It was rejected; or it was not read for the same reason.
    #[serde(untagged)]
    Rejected(RejectedKind),
    /// The parser says why it is none.
    #[serde(untagged)]
    Noted(NotACallReason),
}

/// The cases, each with its reason and its remedy.
pub(super) static CASES: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| rows(include_str!("cases.toml")));

/// The rule that decided, why, and what to do.
pub(super) struct Verdict {
    pub(super) rule: Rule,
    pub(super) why: String,
    pub(super) remedy: String,
}

/// Returns the verdict of a case, in which this is named.
pub(super) fn verdict(rule: Rule, case: &str, named: &str) -> Verdict {
    let found = CASES.iter().find(|(known, ..)| known == case);
    let (why, remedy) = found.map(|(_, why, remedy)| (why.as_str(), remedy.as_str())).unwrap_or_default();
    Verdict { rule, why: why.replace("{}", named), remedy: remedy.replace("{}", named) }
}

/// Returns the verdict of a rejected call.
pub(super) fn of_kind(kind: RejectedKind, quoted_in: Option<QuotedIn>, context: &Context<'_>) -> Verdict {
    // A kind that has no case of its own is explained as a malformed call.
    let is_known = CASES.iter().any(|(case, ..)| case.strip_prefix("rejected ") == Some(kind.as_str()));
    let kind = if is_known { kind } else { RejectedKind::Malformed };
    let counts_last = context.config.reasoning_calls == ReasoningCalls::LastResort;
    let variant = match kind {
        RejectedKind::InReasoning if counts_last => " last_resort",
        RejectedKind::Quoted if quoted_in.is_some_and(|quoted_in| quoted_in != QuotedIn::Fence) => " elsewhere",
        _ => "",
    };
    verdict(Rule::Rejected(kind), &format!("rejected {kind}{variant}"), "")
}

/// Returns the beginning of a text, quoted, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let start: String = line.chars().take(24).collect();
    let dots = if start.len() < line.len() { "…" } else { "" };
    format!("“{start}{dots}”")
}
