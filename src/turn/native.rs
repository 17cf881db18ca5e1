//! Calls from an endpoint's own field (`tool_calls`), read as every other call.
//!
//! Each goes through a parser of its own, as an element whose arguments are the
//! endpoint's text: so broken JSON is mended, a name is resolved and a limit
//! holds as elsewhere, and nothing depends on the text around the call.

use std::sync::Arc;

use crate::assemble::{Collector, Entry};
use crate::call::{Call, Rejected, RejectedKind};
use crate::catalog::Catalog;
use crate::dialect::{Dialect, DialectSet, write_call, write_tool_call};
use crate::message::{FinishReason, NativeCall};
use crate::parse::{self, Limits, Parser};
use crate::reasoning::ReasoningMode;
use crate::tool::ACCESS_RESOURCE;
use crate::wire::{Names, ToolDefinition};

use super::setup::Setup;

/// The syntax in which a native call is read: JSON as it is, between tags.
const READ_AS: Dialect = Dialect::UseMcpTool;

/// What reads native calls, for the tools of one catalog.
pub(super) struct Natives {
    /// The tools as a request offers them.
    pub(super) definitions: Vec<ToolDefinition>,
    names: Names,
    parser: Parser,
    /// The syntax that the prompt teaches.
    dialect: Dialect,
}

/// A native call that was read.
pub(super) struct Read {
    /// The call as it came.
    pub(super) native: NativeCall,
    /// The call, or why it must not run.
    pub(super) result: Result<Call, Rejected>,
    /// The call as the prompt's syntax has it, for a history in text.
    pub(super) raw: String,
}

impl Natives {
    pub(super) fn new(dialect: Dialect, limits: Limits, catalog: &Arc<Catalog>) -> Self {
        let parser = Parser::new(parse::Config {
            dialects: DialectSet::NONE.with(READ_AS),
            catalog: Some(catalog.clone()),
            reasoning: ReasoningMode::Off,
            limits,
            ..parse::Config::default()
        });
        Natives { definitions: ToolDefinition::all(catalog), names: Names::new(catalog), parser, dialect }
    }
}

/// Reads a native call.
pub(super) fn read(setup: &Setup, native: NativeCall) -> Read {
    let Natives { names, parser, dialect, .. } = &setup.natives;
    let catalog = &*setup.catalog;
    let (server, tool) = target(catalog, names, &native.name);
    let arguments = if native.arguments.trim().is_empty() { "{}" } else { native.arguments.trim() };
    let text = written(READ_AS, catalog, server.as_deref(), &tool, arguments);
    let result = match parsed(parser.fork(), &text) {
        // In text a call ends with its JSON; here all of it is the call's.
        Some(Entry { result: Ok(call), raw, .. }) if raw.len() < text.trim_end().len() => Err(with_rest(call, &raw)),
        Some(entry) => entry.result,
        None => Err(unreadable(&tool, &text)),
    };
    let (mut raw, mut result) = (text, result);
    if *dialect != READ_AS {
        raw = match &result {
            Ok(call) => rewritten(*dialect, catalog, call, arguments),
            Err(_) => written(*dialect, catalog, server.as_deref(), &tool, arguments),
        };
    }
    match &mut result {
        Ok(call) => {
            call.dialect = *dialect;
            arguments.clone_into(&mut call.raw_arguments);
        }
        Err(rejected) => {
            rejected.dialect = *dialect;
            rejected.raw.clone_from(&raw);
            // The endpoint closes what the model left open only in the text around it.
            let open = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_err_and(|e| e.is_eof());
            if rejected.kind == RejectedKind::Malformed && open {
                rejected.kind = RejectedKind::Truncated;
            }
        }
    }
    Read { native, result, raw }
}

/// Server and tool that a name means: one of ours on the wire, else the name as
/// it was written, with the server of the tool that it means.
fn target(catalog: &Catalog, names: &Names, name: &str) -> (Option<String>, String) {
    if let Some((server, tool)) = names.find(name) {
        return (server.map(str::to_owned), tool.to_owned());
    }
    let server = catalog.resolve(None, name).ok().and_then(|found| found.tool.server.clone());
    (server, name.to_owned())
}

/// The call as text of a dialect, its arguments verbatim where that has a place for JSON.
fn written(dialect: Dialect, catalog: &Catalog, server: Option<&str>, tool: &str, arguments: &str) -> String {
    if let Ok(object) = serde_json::from_str(arguments)
        && (tool == ACCESS_RESOURCE || dialect != READ_AS)
    {
        return with_arguments(dialect, catalog, server, tool, object);
    }
    let empty = with_arguments(dialect, catalog, server, tool, serde_json::Map::new());
    // A dialect without a place for JSON holds what cannot be read before its closing tag.
    match (empty.rfind("{}"), empty.rfind("</")) {
        (Some(at), _) => format!("{}{arguments}{}", &empty[..at], &empty[at + 2..]),
        (None, Some(at)) => format!("{}{arguments}\n{}", &empty[..at], &empty[at..]),
        (None, None) => empty,
    }
}

fn with_arguments(
    dialect: Dialect,
    catalog: &Catalog,
    server: Option<&str>,
    tool: &str,
    mut arguments: serde_json::Map<String, serde_json::Value>,
) -> String {
    // What is still to be read keeps its name, so that the parser reports what it matched.
    let found = if dialect == READ_AS { catalog.find(server, tool) } else { catalog.resolve(server, tool) };
    match found {
        Ok(found) => write_tool_call(dialect, catalog, found.tool, &arguments),
        Err(_) if tool == ACCESS_RESOURCE => {
            let named = arguments.shift_remove("server_name").and_then(|name| name.as_str().map(str::to_owned));
            write_call(dialect, named.as_deref().or(server), tool, &arguments)
        }
        Err(_) => write_call(dialect, server, tool, &arguments),
    }
}

/// The call in another dialect, once it is known what it says.
fn rewritten(dialect: Dialect, catalog: &Catalog, call: &Call, arguments: &str) -> String {
    match call.arguments.as_object() {
        Some(object) => with_arguments(dialect, catalog, call.server.as_deref(), &call.tool, object.clone()),
        None => written(dialect, catalog, call.server.as_deref(), &call.tool, arguments),
    }
}

fn parsed(mut parser: Parser, text: &str) -> Option<Entry> {
    let mut message = Collector::new();
    parser.push(text, &mut |event| message.push(event));
    parser.finish(&FinishReason::ToolCalls, &mut |event| message.push(event));
    message.finish().entries.into_iter().next()
}

/// For arguments behind whose JSON something follows.
fn with_rest(call: Call, raw: &str) -> Rejected {
    let read = call.raw_arguments.len();
    Rejected {
        kind: RejectedKind::Malformed,
        raw: raw.to_owned(),
        message: format!("something follows the arguments' JSON, which ends at byte {read}"),
        server: call.server.clone(),
        tool: Some(call.tool.clone()),
        nearest: Vec::new(),
        dialect: READ_AS,
        call: None,
        count: 0,
    }
}

/// For a name that no element can hold.
fn unreadable(tool: &str, text: &str) -> Rejected {
    Rejected {
        kind: RejectedKind::Malformed,
        raw: text.to_owned(),
        message: format!("the call of {tool:?} cannot be read: its name is none"),
        server: None,
        tool: Some(tool.to_owned()),
        nearest: Vec::new(),
        dialect: READ_AS,
        call: None,
        count: 0,
    }
}

#[cfg(test)]
mod tests;
