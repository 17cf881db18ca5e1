//! Example calls, written by the same code whose output the parser reads back.

use serde_json::{Map, Value};

use super::options::{NAME_CHARS, TEXT_CHARS};
use crate::dialect::{Dialect, Lang, Shape, write_call, write_tool_call};
use crate::json::map_texts;
use crate::outcome::Neutraliser;
use crate::tools::{ACCESS_RESOURCE, BuiltIn, Catalog, Tool, is_destructive};

/// Maximum length in characters of a string in an example call.
const EXAMPLE_CHARS: usize = 120;

/// Returns the tool's name as a call contains it: `server.tool` in the dialect of tags, if the name is ambiguous.
pub(super) fn display_name(catalog: &Catalog, dialect: Dialect, tool: &Tool) -> String {
    match (&dialect.spec().shape, &tool.server) {
        (Shape::ToolTag, Some(server)) if catalog.is_ambiguous(&tool.name) => format!("{server}.{}", tool.name),
        _ => tool.name.clone(),
    }
}

/// Returns the tools whose calls are shown as examples. Destructive tools are excluded; if there are no others, the
/// built-in tool `read_result` is shown instead, or, if the program removed that, the destructive ones.
pub(super) fn harmless<'a>(catalog: &'a Catalog, tools: impl Iterator<Item = &'a Tool>) -> Vec<&'a Tool> {
    let (bad, good): (Vec<&Tool>, Vec<&Tool>) = tools.partition(|tool| is_destructive(tool));
    match (good.is_empty() && !bad.is_empty(), catalog.built_in(BuiltIn::Read)) {
        (false, _) => good,
        (true, Some(read)) => vec![read],
        (true, None) => bad,
    }
}

/// Writes a correct call of the tool with these arguments.
pub(super) fn call_with(
    catalog: &Catalog,
    dialect: Dialect,
    neutraliser: &Neutraliser,
    (tool, arguments): (&Tool, &Map<String, Value>),
) -> String {
    write_tool_call(dialect, catalog, &clean_tool(neutraliser, tool), &clean_arguments(neutraliser, arguments))
}

/// Writes a correct call that reads a resource.
pub(super) fn read_call(dialect: Dialect, neutraliser: &Neutraliser, server: Option<&str>, uri: &str) -> String {
    let mut arguments = Map::new();
    arguments.insert("uri".to_owned(), neutraliser.describe(uri, TEXT_CHARS).into());
    let server = server.map(|server| neutraliser.describe(server, NAME_CHARS));
    write_call(dialect, server.as_deref(), ACCESS_RESOURCE, &arguments)
}

/// Returns the name of the built-in tool `describe_tool` and a call of it that asks about `about`; `None` without the
/// tool.
pub(super) fn describe_call(
    catalog: &Catalog,
    dialect: Dialect,
    neutraliser: &Neutraliser,
    about: &Tool,
) -> Option<(String, String)> {
    let built_in = catalog.built_in(BuiltIn::Describe)?;
    let about = neutraliser.describe(&catalog.tag(about), NAME_CHARS);
    let arguments = Map::from_iter([("tool".to_owned(), about.into())]);
    Some((built_in.name.clone(), write_tool_call(dialect, catalog, built_in, &arguments)))
}

/// Returns the name of the built-in tool `find_tool` and an example call of it; `None` if the catalog lacks the tool.
pub(super) fn find_call(catalog: &Catalog, dialect: Dialect, lang: Lang) -> Option<(String, String)> {
    let built_in = catalog.built_in(BuiltIn::Find)?;
    let query = match lang {
        Lang::En => "convert a file to another format",
        Lang::Zh => "把文件转换成另一种格式",
    };
    let arguments = Map::from_iter([("query".to_owned(), query.into())]);
    Some((built_in.name.clone(), write_tool_call(dialect, catalog, built_in, &arguments)))
}

/// Writes a call of `read_result` that reads on in the result `result` from byte `from`; `None` without that tool.
pub(super) fn read_on(catalog: &Catalog, dialect: Dialect, result: &str, from: usize) -> Option<String> {
    let built_in = catalog.built_in(BuiltIn::Read)?;
    let arguments = Map::from_iter([("result".to_owned(), result.into()), ("from".to_owned(), from.into())]);
    Some(write_tool_call(dialect, catalog, built_in, &arguments))
}

fn clean_tool(neutraliser: &Neutraliser, tool: &Tool) -> Tool {
    let server = tool.server.as_ref().map(|server| neutraliser.describe(server, NAME_CHARS));
    Tool { server, ..Tool::new(neutraliser.describe(&tool.name, NAME_CHARS)) }
}

pub(super) fn clean_arguments(neutraliser: &Neutraliser, arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut clean = |text: String| neutraliser.describe(&text, EXAMPLE_CHARS);
    match map_texts(Value::Object(arguments.clone()), &mut clean) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}
