//! Calls that show the model how: written by the code whose output the parser reads back.

use serde_json::{Map, Value};

use super::options::{NAME_CHARS, SENTENCE_CHARS, TEXT_CHARS};
use super::sentence::first_sentence;
use crate::dialect::{Dialect, Lang, Shape, write_call, write_tool_call};
use crate::outcome::Neutraliser;
use crate::tools::{ACCESS_RESOURCE, Catalog, Tool};

/// Characters of a string in an example at most.
const EXAMPLE_CHARS: usize = 120;

/// The name that a call of the tool starts with: `server.tool` where the tag
/// alone would be ambiguous.
pub(super) fn display_name(catalog: &Catalog, dialect: Dialect, tool: &Tool) -> String {
    match (&dialect.spec().shape, &tool.server) {
        (Shape::ToolTag, Some(server)) if catalog.is_ambiguous(&tool.name) => format!("{server}.{}", tool.name),
        _ => tool.name.clone(),
    }
}

/// The tool that shows a call best: harmless, few parameters, a short call.
pub(super) fn example_tool<'a>(catalog: &'a Catalog, neutraliser: &Neutraliser) -> Option<&'a Tool> {
    let hint = |value: Option<bool>, bad: bool| value == Some(bad);
    let cost = |tool: &&Tool| {
        let annotations = tool.annotations.clone().unwrap_or_default();
        let required = tool.parameters().filter(|p| p.required).count();
        let arguments = tool.example_arguments();
        let text = Value::Object(arguments.clone()).to_string();
        // A server's own values may hold markers; such a tool teaches nothing good.
        let hostile = neutraliser.describe(&text, usize::MAX) != text
            || neutraliser.describe(&tool.name, NAME_CHARS) != tool.name;
        let nested = arguments.values().filter(|v| v.is_object() || v.is_array()).count();
        let deprecated = tool.description.as_ref().is_some_and(|d| d.to_lowercase().contains("deprecated"));
        (
            hostile,
            tool.display_only,
            arguments.is_empty(),
            deprecated || hint(annotations.destructive_hint, true) && !hint(annotations.read_only_hint, true),
            !hint(annotations.read_only_hint, true),
            nested,
            required.abs_diff(1),
            text.len(),
        )
    };
    catalog.offered().min_by_key(cost)
}

/// A correct call of the tool.
pub(super) fn example_call(catalog: &Catalog, dialect: Dialect, neutraliser: &Neutraliser, tool: &Tool) -> String {
    write_tool_call(dialect, catalog, &clean_tool(neutraliser, tool), &example_arguments(neutraliser, tool))
}

/// A correct reading of a resource.
pub(super) fn read_call(dialect: Dialect, neutraliser: &Neutraliser, server: Option<&str>, uri: &str) -> String {
    let mut arguments = Map::new();
    arguments.insert("uri".to_owned(), neutraliser.describe(uri, TEXT_CHARS).into());
    let server = server.map(|server| neutraliser.describe(server, NAME_CHARS));
    write_call(dialect, server.as_deref(), ACCESS_RESOURCE, &arguments)
}

/// The built-in tool's name, and a call that asks about a tool.
pub(super) fn describe_call(
    catalog: &Catalog,
    dialect: Dialect,
    neutraliser: &Neutraliser,
    about: &Tool,
) -> Option<(String, String)> {
    let built_in = catalog.describe_tool()?;
    let about = match &about.server {
        Some(server) if catalog.is_ambiguous(&about.name) => format!("{server}.{}", about.name),
        _ => about.name.clone(),
    };
    let arguments = Map::from_iter([("tool".to_owned(), neutraliser.describe(&about, NAME_CHARS).into())]);
    Some((built_in.name.clone(), write_tool_call(dialect, catalog, built_in, &arguments)))
}

/// The question that [`example_call`] answers: what the tool does, and each value of
/// the call. A model copies an example's values unless it sees where they come from.
pub(super) fn example_question(lang: Lang, neutraliser: &Neutraliser, tool: &Tool) -> String {
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let does = neutraliser.describe(first_sentence(description), SENTENCE_CHARS);
    let does = match does.trim_end_matches(['.', '。', ' ', ':', '：', '!', '！']) {
        "" => neutraliser.describe(&tool.name, NAME_CHARS).replace(['_', '-'], " "),
        does => does.to_owned(),
    };
    let arguments = example_arguments(neutraliser, tool);
    let (colon, comma) = match lang {
        Lang::En => (": ", ", "),
        Lang::Zh => ("：", "，"),
    };
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let values: Vec<String> = arguments.iter().map(|(name, given)| format!("{name} {}", value(given))).collect();
    if values.is_empty() { does } else { format!("{does}{colon}{}", values.join(comma)) }
}

fn clean_tool(neutraliser: &Neutraliser, tool: &Tool) -> Tool {
    let server = tool.server.as_ref().map(|server| neutraliser.describe(server, NAME_CHARS));
    Tool { server, ..Tool::new(neutraliser.describe(&tool.name, NAME_CHARS)) }
}

fn example_arguments(neutraliser: &Neutraliser, tool: &Tool) -> Map<String, Value> {
    let arguments = Value::Object(tool.example_arguments());
    match map_strings(&arguments, &|text| neutraliser.describe(text, EXAMPLE_CHARS)) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// The value with each key and string put through `change`.
pub(super) fn map_strings(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| map_strings(item, change)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (change(key), map_strings(value, change))).collect(),
        other => other.clone(),
    }
}
