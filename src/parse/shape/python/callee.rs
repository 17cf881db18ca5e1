//! The tool that a name in Python's syntax stands for.

use crate::parse::call::CalledTool;
use crate::parse::marks::names::unescaped;
use crate::parse::tables::Tables;
use crate::tools::Tool;

/// Server and tool that a name stands for, escapes taken off.
pub(super) fn split_name(name: &str, tables: &Tables) -> (Option<String>, String) {
    tables.split_name(tables.names.method(name).unwrap_or(name))
}

/// Server and tool that a name stands for as it is written, with its escapes.
pub(super) fn called(name: &str, tables: &Tables) -> CalledTool {
    let (server, tool) = split_name(&unescaped(name), tables);
    (server, Some(tool))
}

/// Whether the tool may have a parameter of this name.
pub(super) fn takes(tool: &Tool, keyword: &str) -> bool {
    let mut parameters = tool.parameters().peekable();
    parameters.peek().is_none() || parameters.any(|parameter| parameter.name == keyword)
}
