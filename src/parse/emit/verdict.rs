//! From what a call's text says to a call or a rejection.

use crate::dialect::{Dialect, Shape, named_by_element};
use crate::event::{Call, Provenance, Rejected, RejectedKind, Repair};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::tables::Tables;
use crate::tools::{ACCESS_RESOURCE, Tool};

/// A call, or its rejection.
pub(crate) type CallResult = Result<Call, Rejected>;

/// Returns the result for a finished call without regard to its placement, by which the judge decides about it.
pub(crate) fn verdict(
    tables: &Tables,
    dialect: Dialect,
    index: u32,
    mut unresolved: UnresolvedCall,
    raw: &str,
) -> CallResult {
    unwrap_element(&mut unresolved, tables);
    let limits = tables.config.limits;
    let over = (index as usize >= limits.calls)
        .then(|| Fault::limit(format!("a message holds at most {} calls; this is call {}", limits.calls, index + 1)));
    let unnamed = || Fault::malformed("the call does not name a tool");
    // In order of precedence: a limit comes before what is wrong with the call.
    let fault = over.or(unresolved.fault).or_else(|| unresolved.tool.is_none().then(unnamed));
    let UnresolvedCall { server, tool, arguments, raw_arguments, repairs, ignored_keys, .. } = unresolved;
    let reject = |server, tool, fault: Fault, nearest| {
        let Fault { kind, message } = fault;
        Rejected { server, tool, nearest, ..Rejected::new(kind, dialect, raw, message) }
    };
    let tool = match (fault, tool) {
        (None, Some(tool)) => tool,
        (fault, tool) => return Err(reject(server, tool, fault.unwrap_or_else(unnamed), Vec::new())),
    };
    let mut call = Call { server, tool, arguments, raw_arguments, dialect, repairs, provenance: Provenance::Plain };
    // The catalog lists tools, and this is none of them.
    if call.tool == ACCESS_RESOURCE {
        return Ok(call);
    }
    match tables.catalog().map(|c| c.resolve(call.server.as_deref(), &call.tool)) {
        None => Ok(call),
        Some(Ok(found)) => {
            if let Some(key) = misplaced(&ignored_keys, found.tool) {
                let fault = Fault::malformed(format!("`{key}` is a parameter, but is outside the arguments"));
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

/// Replaces a call that names an element of a dialect as its tool by the call that its arguments describe.
pub(crate) fn unwrap_element(call: &mut UnresolvedCall, tables: &Tables) {
    let Some(tool) = call.tool.as_deref().filter(|_| call.fault.is_none()) else { return };
    let catalog = tables.catalog().map(|catalog| &**catalog);
    let Some(inner) = named_by_element(tool, &call.arguments, catalog) else { return };
    let written = call.tool.replace(inner.tool);
    if written != call.tool {
        call.repairs.extend(written.map(Repair::NameMatched));
    }
    call.restated |= inner.arguments != call.arguments;
    call.raw_arguments = inner.arguments.to_string();
    call.server = inner.server.or(call.server.take());
    call.arguments = inner.arguments;
}

/// Returns the first ignored key that is a parameter of `tool`: beside the arguments it has no effect, or contradicts
/// the one in them (`members_after/parameter_beside_the_arguments`).
fn misplaced<'k>(ignored_keys: &'k [String], tool: &Tool) -> Option<&'k str> {
    ignored_keys.iter().find(|key| tool.has_parameter(key)).map(String::as_str)
}
