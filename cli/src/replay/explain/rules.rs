//! The rules by which something is text, with the reason and the remedy of each case.

use std::sync::LazyLock;

use serde::Serialize;

use super::context::Context;
use crate::base::table::rows;
use toolgraft::event::{QuotedIn, RejectedKind};
use toolgraft::message::ReasoningCalls;
use toolgraft::parse::NotACallReason;

/// A rule by which a candidate for a call is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::replay) enum Rule {
    /// The candidate follows a backtick, a quotation mark or a backslash.
    Quote,
    /// The delimiter or call does not begin its line, as it must.
    NotALine,
    /// The parser is configured not to read this dialect.
    DialectOff,
    /// This dialect is only read if the tools are known.
    ToolsUnknown,
    /// The name of a tool alone is not a call.
    BareName,
    /// The candidate is inside a code fence.
    Fence,
    /// No specific rule applies.
    Other,
    /// The call was rejected, or would have been for this reason.
    #[serde(untagged)]
    Rejected(RejectedKind),
    /// The parser recorded this reason that the candidate is not a call.
    #[serde(untagged)]
    Noted(NotACallReason),
}

/// The cases of `cases.toml`, each with its reason and advice.
pub(super) static CASES: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| rows(include_str!("cases.toml")));

/// The rule by which a candidate is text, with the reason and advice.
pub(super) struct Verdict {
    pub(super) rule: Rule,
    pub(super) why: String,
    pub(super) remedy: String,
}

/// Returns the verdict of a case of `cases.toml`, with `named` inserted for `{}`.
pub(super) fn verdict(rule: Rule, case: &str, named: &str) -> Verdict {
    let found = CASES.iter().find(|(known, ..)| known == case);
    let (why, remedy) = found.map(|(_, why, remedy)| (why.as_str(), remedy.as_str())).unwrap_or_default();
    Verdict { rule, why: why.replace("{}", named), remedy: remedy.replace("{}", named) }
}

/// Returns the verdict on a call that was rejected with this kind.
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

/// Returns the first 24 characters of a text's first line in quotation marks, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let start: String = line.chars().take(24).collect();
    let dots = if start.len() < line.len() { "…" } else { "" };
    format!("“{start}{dots}”")
}
