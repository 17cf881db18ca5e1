//! From what a call's text says to a call or a rejection.

use serde_json::Value;

use super::envelope::ignored;
use super::tables::Tables;
use crate::call::{Call, Rejected, RejectedKind, Repair};
use crate::dialect::{Dialect, Shape};
use crate::tool::{ACCESS_RESOURCE, Tool};

/// A call, or why it must not run.
pub(super) type Verdict = Result<Call, Rejected>;

/// What a call's text says, before anything is looked up.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) server: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) arguments: Value,
    pub(super) raw_arguments: String,
    pub(super) repairs: Vec<Repair>,
    /// What is wrong with it, if anything.
    pub(super) fault: Option<Fault>,
    /// Whether the arguments do not continue the deltas.
    pub(super) restated: bool,
}

/// Why a call cannot be read.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: RejectedKind,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Malformed, message: message.into() }
    }

    pub(super) fn truncated(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Truncated, message: message.into() }
    }

    pub(super) fn too_deep(max_depth: usize) -> Self {
        Fault::limit(format!("JSON may be nested {max_depth} deep; this is deeper"))
    }

    pub(super) fn limit(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Limit, message: message.into() }
    }
}

/// Decides about a call that is over.
pub(super) fn verdict(tables: &Tables, dialect: Dialect, index: u32, parts: Parts, raw: &str) -> Verdict {
    let limits = tables.config.limits;
    let over = (index as usize >= limits.calls)
        .then(|| Fault::limit(format!("a message holds at most {} calls; this is call {}", limits.calls, index + 1)));
    let unnamed = || Fault::malformed("the call does not name a tool");
    let fault = over.or(parts.fault).or_else(|| parts.tool.is_none().then(unnamed));
    let Parts { server, tool, arguments, raw_arguments, repairs, .. } = parts;
    let reject = |server, tool, fault: Fault, nearest| {
        let Fault { kind, message } = fault;
        Rejected { kind, raw: raw.to_owned(), message, server, tool, nearest, dialect, call: None, count: 0 }
    };
    let tool = match (fault, tool) {
        (None, Some(tool)) => tool,
        (fault, tool) => return Err(reject(server, tool, fault.unwrap_or_else(unnamed), Vec::new())),
    };
    let mut call = Call { server, tool, arguments, raw_arguments, dialect, repairs };
    if call.tool == ACCESS_RESOURCE {
        return Ok(call);
    }
    match tables.catalog().map(|c| c.resolve(call.server.as_deref(), &call.tool)) {
        None => Ok(call),
        Some(Ok(found)) => {
            if let Some(key) = misplaced(&call, found.tool) {
                let fault = Fault::malformed(format!("`{key}` is a parameter, but stands beside the arguments"));
                return Err(reject(call.server, Some(call.tool), fault, Vec::new()));
            }
            // Only elements always name their server; elsewhere one that is left out is no fault.
            let expected = matches!(dialect.spec().shape, Shape::Element(_));
            if found.server_resolved && (call.server.is_some() || expected) {
                call.repairs.push(Repair::ServerResolved);
            }
            if found.name_matched {
                call.repairs.push(Repair::NameMatched(std::mem::replace(&mut call.tool, found.tool.name.clone())));
            }
            call.server.clone_from(&found.tool.server);
            Ok(call)
        }
        Some(Err(error)) => {
            let fault = Fault { kind: RejectedKind::UnknownTool, message: error.to_string() };
            Err(reject(call.server, Some(call.tool), fault, error.nearest))
        }
    }
}

/// A parameter that stood beside the arguments, where it says nothing, and not in them.
fn misplaced<'c>(call: &'c Call, tool: &Tool) -> Option<&'c str> {
    let is_missing = |key: &&str| call.arguments.get(*key).is_none() && tool.parameters().any(|p| p.name == *key);
    call.repairs.iter().filter_map(ignored).find(is_missing)
}

/// The same call as a draft in the reasoning.
pub(super) fn draft(verdict: Verdict) -> Verdict {
    relabel(verdict, RejectedKind::InReasoning, RejectedKind::in_reasoning_message())
}

/// The same call as an example in a fence.
pub(super) fn quoted(verdict: Verdict) -> Verdict {
    relabel(
        verdict,
        RejectedKind::Quoted,
        "the call stands in a code fence with other text in or after it, so it is an example; a call stands outside fences",
    )
}

fn relabel(verdict: Verdict, kind: RejectedKind, message: &str) -> Verdict {
    Err(match verdict {
        Ok(call) => Rejected::of(call, kind, "", message),
        Err(rejected) if rejected.kind <= kind => rejected,
        Err(rejected) => Rejected { kind, message: message.to_owned(), nearest: Vec::new(), ..rejected },
    })
}
