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
    call_with(catalog, dialect, neutraliser, (tool, &tool.example_arguments()))
}

/// A correct call of the tool with these arguments.
pub(super) fn call_with(
    catalog: &Catalog,
    dialect: Dialect,
    neutraliser: &Neutraliser,
    (tool, arguments): (&Tool, &Map<String, Value>),
) -> String {
    write_tool_call(dialect, catalog, &clean_tool(neutraliser, tool), &clean_arguments(neutraliser, arguments))
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

/// The question that [`example_call`] answers.
pub(super) fn example_question(lang: Lang, neutraliser: &Neutraliser, tool: &Tool) -> String {
    question_with(lang, neutraliser, (tool, &tool.example_arguments()))
}

/// The question that a call with these arguments answers: what the tool does, and each value of
/// the call with its name. A model copies an example's values unless it sees where they come
/// from; in English it reads as a person would write it.
pub(super) fn question_with(
    lang: Lang,
    neutraliser: &Neutraliser,
    (tool, arguments): (&Tool, &Map<String, Value>),
) -> String {
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let does = neutraliser.describe(first_sentence(description), SENTENCE_CHARS);
    let does = match does.trim_end_matches(['.', '。', ' ', ':', '：', '!', '！']) {
        "" => neutraliser.describe(&tool.name, NAME_CHARS).replace(['_', '-'], " "),
        does => does.to_owned(),
    };
    let arguments = clean_arguments(neutraliser, arguments);
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let values = arguments.iter().map(|(name, given)| format!("{name} {}", value(given)));
    match lang {
        Lang::En => {
            let values: Vec<String> = values.map(|value| format!("the {value}")).collect();
            ending(match values.split_last() {
                None => request(&does, &tool.name),
                Some((last, [])) => format!("{} with {last}", request(&does, &tool.name)),
                Some((last, first)) => {
                    format!("{} with {} and {last}", request(&does, &tool.name), first.join(", "))
                }
            })
        }
        Lang::Zh => {
            let values: Vec<String> = values.collect();
            if values.is_empty() { does } else { format!("{does}：{}", values.join("，")) }
        }
    }
}

/// A sentence with a mark at its end.
fn ending(mut sentence: String) -> String {
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}

/// Words that a verb has behind it, and hardly ever a noun in the plural.
const OBJECT_FOLLOWS: &[&str] =
    &["a", "an", "the", "all", "any", "one", "two", "some", "this", "each", "every", "your", "its", "whether"];

/// Verbs with which descriptions begin.
const VERBS: &[&str] = &[
    "add", "change", "check", "convert", "copy", "count", "create", "delete", "download", "edit", "execute", "fetch",
    "find", "get", "insert", "list", "load", "make", "move", "open", "play", "put", "query", "read", "remove",
    "rename", "replace", "retrieve", "return", "run", "save", "search", "send", "set", "show", "start", "stop",
    "update", "upload", "write",
];

/// "Sends an email" as one asks for it: "Send an email". Other words stay as they are.
fn request(does: &str, tool: &str) -> String {
    let Some((word, rest)) = does.split_once(' ') else { return does.to_owned() };
    let Some(verb) = asked(word) else { return does.to_owned() };
    let follows = rest.split([' ', '-']).next().unwrap_or_default();
    let is_named = || tool.split(['_', '-', '.']).any(|part| part.eq_ignore_ascii_case(&verb));
    let is_common = VERBS.iter().any(|common| verb.eq_ignore_ascii_case(common));
    if is_common || OBJECT_FOLLOWS.contains(&follows) || is_named() {
        format!("{verb} {rest}")
    } else {
        does.to_owned()
    }
}

/// The verb of which this may be the third person.
fn asked(word: &str) -> Option<String> {
    let is_word = word.len() > 3 && word.chars().all(|c| c.is_ascii_alphabetic());
    let stem = word.strip_suffix('s').filter(|stem| is_word && !stem.ends_with('s'))?;
    Some(match stem {
        stem if stem.ends_with("ie") => format!("{}y", stem.strip_suffix("ie")?),
        stem if ["che", "she", "sse", "xe", "oe"].iter().any(|end| stem.ends_with(end)) => {
            stem.strip_suffix('e')?.to_owned()
        }
        stem => stem.to_owned(),
    })
}

fn clean_tool(neutraliser: &Neutraliser, tool: &Tool) -> Tool {
    let server = tool.server.as_ref().map(|server| neutraliser.describe(server, NAME_CHARS));
    Tool { server, ..Tool::new(neutraliser.describe(&tool.name, NAME_CHARS)) }
}

fn clean_arguments(neutraliser: &Neutraliser, arguments: &Map<String, Value>) -> Map<String, Value> {
    match map_strings(&Value::Object(arguments.clone()), &|text| neutraliser.describe(text, EXAMPLE_CHARS)) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_tool_does_is_asked_for() {
        for (does, asked) in [
            ("Sends an email", "Send an email"),
            ("Searches the web", "Search the web"),
            ("Multiplies two numbers", "Multiply two numbers"),
            ("Finds files by name", "Find files by name"),
            ("Closes the window", "Close the window"),
            ("Finds all files", "Find all files"),
            ("Does the rest", "Do the rest"),
            ("Describes things", "Describe things"),
            ("Settings for a display", "Settings for a display"),
            ("Press a key", "Press a key"),
            ("Directions from one place to another", "Directions from one place to another"),
            ("Latest price of a share", "Latest price of a share"),
            ("Weather", "Weather"),
            ("Is the door open", "Is the door open"),
        ] {
            assert_eq!(request(does, "describe_things"), asked);
        }
    }

    #[test]
    fn a_question_holds_each_value_of_its_call_with_its_name() {
        let schema = json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "note": {"const": "Why?"}},
                            "required": ["city", "days", "note"]});
        let tool = Tool::new("forecast").with_description("Gives a forecast. Slow.").with_schema(schema.clone());
        let question = |lang, tool: &Tool| example_question(lang, &Neutraliser::new(&Catalog::default()), tool);
        assert_eq!(question(Lang::En, &tool), "Give a forecast with the city Berlin, the days 1 and the note Why?");
        assert_eq!(question(Lang::Zh, &tool), "Gives a forecast：city Berlin，days 1，note Why?");
        let bare = Tool::new("open_door");
        assert_eq!(question(Lang::En, &bare), "open door.");
    }
}
