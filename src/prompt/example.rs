//! Calls that show the model how: written by the code whose output the parser reads back.

use serde_json::{Map, Value};

use super::options::{NAME_CHARS, Options, SENTENCE_CHARS, TEXT_CHARS};
use super::sentence::first_sentence;
use crate::dialect::{Dialect, Lang, Shape, write_call, write_tool_call};
use crate::json::map_texts;
use crate::outcome::Neutraliser;
use crate::tools::{ACCESS_RESOURCE, BuiltIn, Catalog, Tool, ToolExample};

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
pub(super) fn example_tool<'a>(tools: impl Iterator<Item = &'a Tool>, neutraliser: &Neutraliser) -> Option<&'a Tool> {
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
    tools.min_by_key(cost)
}

/// Verbs of tools that take something away for good.
const DESTROYING: &[&str] =
    &["delete", "remove", "drop", "erase", "wipe", "purge", "destroy", "kill", "truncate", "uninstall", "reset"];

/// Whether a call of the tool may destroy something, by its own word or its name.
pub(crate) fn is_destructive(tool: &Tool) -> bool {
    let says = || tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true));
    let is_named = || tool.name.split(['_', '-', '.']).any(|part| is_word_of(DESTROYING, part));
    !tool.is_read_only() && (says() || is_named())
}

fn is_word_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A question and the arguments of the call that answers it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) question: String,
    pub(super) arguments: Map<String, Value>,
    /// What the tool says, and what is told of it.
    pub(super) answered: Option<(String, String)>,
}

/// Where there are more tools, each has one example.
const FEW_TOOLS: usize = 4;

/// The examples of a tool, where so many tools have some: its own, else those that are kept of
/// it, else those that its schema gives. A few tools get a second one with other values, if there are any: from one alone a small
/// model does not see what of it is the question's.
pub(super) fn examples_of(tool: &Tool, tools: usize, options: &Options, neutraliser: &Neutraliser) -> Vec<Shown> {
    let lang = options.lang;
    let most = if tools <= FEW_TOOLS { 2 } else { 1 };
    let describe = |text: &String| neutraliser.describe(text, SENTENCE_CHARS);
    let shown = |example: ToolExample| Shown {
        question: describe(&example.question),
        answered: example.result.as_ref().map(describe).zip(example.answer.as_ref().map(describe)),
        arguments: example.arguments,
    };
    let own: Vec<Shown> = options.examples.of(tool).into_iter().take(most).map(shown).collect();
    if !own.is_empty() {
        return own;
    }
    let mut sets = vec![tool.example_arguments()];
    if most > 1 {
        sets.push(tool.further_example_arguments());
        sets.dedup();
    }
    let shown = |arguments: Map<String, Value>| Shown {
        question: question_with(lang, neutraliser, (tool, &arguments)),
        arguments,
        answered: None,
    };
    sets.into_iter().map(shown).collect()
}

/// Verbs of tools that do something.
const DOING: &[&str] = &[
    "add", "book", "change", "close", "create", "edit", "insert", "make", "move", "open", "play", "post", "put",
    "save", "schedule", "send", "set", "start", "stop", "turn", "update", "upload", "write",
];

/// Whether the tool does something rather than tells it, by the first word of its description or
/// by its name.
pub(super) fn does_something(tool: &Tool) -> bool {
    let first = tool.description.as_deref().unwrap_or_default().split_whitespace().next().unwrap_or_default();
    let verb = asked(first).unwrap_or_else(|| first.to_owned());
    is_word_of(DOING, &verb) || tool.name.split(['_', '-', '.']).any(|part| is_word_of(DOING, part))
}

/// What an example's tool says, and what is told of it: a word that no model takes for the result
/// of another call without that being seen.
pub(super) fn sample_result(tool: &Tool, lang: Lang) -> (String, String) {
    let (result, answer) = match (does_something(tool), lang) {
        (true, Lang::En) => ("Done, filed as heron-oak.", "It is done, and filed as heron-oak."),
        (false, Lang::En) => ("heron-oak (sample)", "The result is: heron-oak (sample)."),
        (true, Lang::Zh) => ("完成，编号 heron-oak。", "已经完成，编号是 heron-oak。"),
        (false, Lang::Zh) => ("heron-oak（样例）", "结果是：heron-oak（样例）。"),
    };
    (result.to_owned(), answer.to_owned())
}

/// What a person says who wants no tool, and what is answered.
pub(super) fn without_tools(lang: Lang) -> [(&'static str, &'static str); 2] {
    match lang {
        Lang::En => [
            ("What is the difference between a lake and a pond?", "A lake is larger and deeper than a pond."),
            ("Thank you, that helps!", "You are welcome! Tell me if there is anything else."),
        ],
        Lang::Zh => {
            [("湖和池塘有什么区别？", "湖比池塘更大、更深。"), ("谢谢，很有帮助！", "不客气！还有需要的话请告诉我。")]
        }
    }
}

/// Two questions in one.
pub(super) fn both(lang: Lang, [first, second]: [&str; 2]) -> String {
    match lang {
        Lang::En => format!("{first} And also: {}", lowered(second)),
        Lang::Zh => format!("{first}，另外{second}"),
    }
}

/// A sentence as it goes on behind another: its first word small, unless that is a name.
fn lowered(sentence: &str) -> String {
    let word = sentence.split(' ').next().unwrap_or_default();
    let is_plain = word.chars().skip(1).all(|c| c.is_ascii_lowercase());
    match sentence.chars().next().filter(|first| is_plain && first.is_ascii_uppercase() && word.len() > 1) {
        Some(first) => format!("{}{}", first.to_ascii_lowercase(), &sentence[1..]),
        None => sentence.to_owned(),
    }
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
    let built_in = catalog.built_in(BuiltIn::Describe)?;
    let about = neutraliser.describe(&catalog.tag(about), NAME_CHARS);
    let arguments = Map::from_iter([("tool".to_owned(), about.into())]);
    Some((built_in.name.clone(), write_tool_call(dialect, catalog, built_in, &arguments)))
}

/// The name of the built-in tool that finds others, and a call of it.
pub(super) fn find_call(catalog: &Catalog, dialect: Dialect, lang: Lang) -> Option<(String, String)> {
    let built_in = catalog.built_in(BuiltIn::Find)?;
    let query = match lang {
        Lang::En => "convert a file to another format",
        Lang::Zh => "把文件转换成另一种格式",
    };
    let arguments = Map::from_iter([("query".to_owned(), query.into())]);
    Some((built_in.name.clone(), write_tool_call(dialect, catalog, built_in, &arguments)))
}

/// A call that reads on in a result, from this byte on.
pub(super) fn read_on(catalog: &Catalog, dialect: Dialect, result: &str, from: usize) -> Option<String> {
    let built_in = catalog.built_in(BuiltIn::Read)?;
    let arguments = Map::from_iter([("result".to_owned(), result.into()), ("from".to_owned(), from.into())]);
    Some(write_tool_call(dialect, catalog, built_in, &arguments))
}

/// The question that [`example_call`] answers.
pub(super) fn example_question(lang: Lang, neutraliser: &Neutraliser, tool: &Tool) -> String {
    question_with(lang, neutraliser, (tool, &tool.example_arguments()))
}

/// The question that a call with these arguments answers: what the tool does, and each value of
/// the call. A model copies an example's values unless it sees where they come from; in English
/// it reads as a person would write it: "Get the weather in Berlin on 2025-06-01.".
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
    match lang {
        Lang::En => ending(asked_with(request(&does, &tool.name), &arguments)),
        Lang::Zh => {
            let values = arguments.iter().map(|(name, given)| (name, shown(given)));
            let values: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
            if values.is_empty() { does } else { format!("{does}：{}", values.join("，")) }
        }
    }
}

/// A value as a question has it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Words of a parameter's name and what stands before its value in a question.
const BEFORE_VALUE: &[(&[&str], &str)] = &[
    (&["city", "location", "place", "country", "timezone"], "in"),
    (&["room"], "in the"),
    (&["date", "day"], "on"),
    (&["time"], "at"),
    (&["to", "recipient", "receiver", "destination", "arrival", "contact"], "to"),
    (&["from", "sender", "origin", "departure"], "from"),
    (&["language", "target_language"], "in"),
    (&["query", "keyword", "keywords", "search"], "for"),
];

/// Words of a parameter's name whose value ends a question behind a colon.
const LAST_VALUE: &[&str] = &["text", "content", "message", "body", "item", "task", "todo", "expression"];

/// Units, of which a value is a number.
const UNITS: &[&str] = &["seconds", "minutes", "hours", "days", "weeks"];

/// Two states that a description names, and what asks for the one and the other.
const STATES: &[(&str, &str, &str)] = &[(" on or off", " on", " off"), (" on/off", " on", " off")];

/// What is asked for, with the values where a person has them.
fn asked_with(mut asked: String, arguments: &Map<String, Value>) -> String {
    let is = |name: &str, words: &[&str]| words.iter().any(|word| name.eq_ignore_ascii_case(word));
    let (mut near, mut named, mut last) = (String::new(), Vec::new(), None);
    for (name, given) in arguments {
        let value = shown(given);
        let state = STATES.iter().find(|(both, ..)| given.is_boolean() && asked.contains(both));
        if let Some((both, on, off)) = state {
            asked = asked.replacen(both, if *given == true { on } else { off }, 1);
        } else if let Some(is_so) = given.as_bool() {
            near = format!("{near} {} {}", if is_so { "with" } else { "without" }, name.replace('_', " "));
        } else if let Some(in_place) = in_place(&asked, name, &value) {
            asked = in_place;
        } else if let Some((_, before)) = BEFORE_VALUE.iter().find(|(words, _)| is(name, words)) {
            near = format!("{near} {before} {value}");
        } else if is(name, UNITS) {
            let unit = if value == "1" { name.trim_end_matches('s') } else { name };
            near = format!("{near} for {value} {unit}");
        } else if last.is_none() && is(name, LAST_VALUE) {
            last = Some((name, value));
        } else {
            named.push(format!("the {} {value}", name.replace('_', " ")));
        }
    }
    // Behind a colon there is one value, and no other behind that.
    if let Some((name, value)) = last.take_if(|_| !named.is_empty()) {
        named.push(format!("the {} {value}", name.replace('_', " ")));
    }
    let named = match named.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" with {only}"),
        Some((last, first)) => format!(" with {} and {last}", first.join(", ")),
    };
    let last = last.map_or(String::new(), |(_, value)| format!(": {value}"));
    format!("{asked}{near}{named}{last}")
}

/// What is asked for, with the value in the place of its name: "the weather of a city" is that
/// of Berlin.
fn in_place(asked: &str, name: &str, value: &str) -> Option<String> {
    let name = name.replace('_', " ");
    let articles = ["a", "an", "the", "a given", "the given", "a specified", "the specified", "a specific"];
    let found = articles.iter().find_map(|article| {
        let words = format!(" {article} {name}");
        let at = asked.find(&words)?;
        let behind = asked[at + words.len()..].chars().next();
        behind.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '\'').then_some((at, words.len()))
    });
    let is_short = value.chars().count() <= MOST_IN_PLACE && value.parse::<f64>().is_err();
    let (at, length) = found.filter(|_| is_short)?;
    let (before, behind) = (&asked[..at], &asked[at + length..]);
    // "A city and its lakes": what is told of it would not fit.
    let next = behind.trim_start().split(' ').next().unwrap_or_default();
    (!TOLD_OF_IT.contains(&next)).then(|| format!("{before} {value}{behind}"))
}

/// Longest value, in characters, that stands in the place of its name.
const MOST_IN_PLACE: usize = 24;

/// Words behind a name that tell more of it.
const TOLD_OF_IT: &[&str] = &["and", "or", "of", "with", "that", "which", "by", "in", "from", "to"];

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
    let mut clean = |text: String| neutraliser.describe(&text, EXAMPLE_CHARS);
    match map_texts(Value::Object(arguments.clone()), &mut clean) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
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
    fn a_question_holds_each_value_of_its_call() {
        let schema = json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "note": {"const": "Why?"}},
                            "required": ["city", "days", "note"]});
        let tool = Tool::new("forecast").with_description("Gives a forecast. Slow.").with_schema(schema.clone());
        let question = |lang, tool: &Tool| example_question(lang, &Neutraliser::new(&Catalog::default()), tool);
        assert_eq!(question(Lang::En, &tool), "Give a forecast in Berlin for 1 day with the note Why?");
        assert_eq!(question(Lang::Zh, &tool), "Gives a forecast：city Berlin，days 1，note Why?");
        for (does, values, asked) in [
            (
                "Sends an email",
                &[("to", "kim@example.com"), ("subject", "New address"), ("body", "We have moved.")][..],
                "Send an email to kim@example.com with the subject New address and the body We have moved.",
            ),
            (
                "Translates a text",
                &[("text", "see you tomorrow"), ("language", "German")],
                "Translate see you tomorrow in German.",
            ),
            ("Translates a text", &[("text", "see you tomorrow")], "Translate see you tomorrow."),
            ("Gets the weather of a city", &[("city", "Berlin")], "Get the weather of Berlin."),
            (
                "Gets the weather of a city and its lakes",
                &[("city", "Berlin")],
                "Get the weather of a city and its lakes in Berlin.",
            ),
            (
                "Converts money",
                &[("amount", "40"), ("from", "EUR"), ("to", "GBP")],
                "Convert money from EUR to GBP with the amount 40.",
            ),
            ("Searches the web", &[("query", "coffee")], "Search the web for coffee."),
            (
                "Starts a timer",
                &[("minutes", "20"), ("label", "tea")],
                "Start a timer for 20 minutes with the label tea.",
            ),
            (
                "Puts an event into the calendar",
                &[("title", "Music lesson"), ("date", "2025-06-01"), ("time", "09:30")],
                "Put an event into the calendar on 2025-06-01 at 09:30 with the title Music lesson.",
            ),
        ] {
            let values = values.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
            assert_eq!(ending(asked_with(request(does, "t"), &values)), asked);
        }
        let lit = |on: bool| json!({"room": "dining room", "on": on}).as_object().unwrap().clone();
        let does = "Turn the light of a room on or off";
        assert_eq!(asked_with(does.to_owned(), &lit(false)), "Turn the light of dining room off");
        assert_eq!(asked_with("Set a lamp".to_owned(), &lit(true)), "Set a lamp in the dining room with on");
        let bare = Tool::new("open_door");
        assert_eq!(question(Lang::En, &bare), "open door.");
    }
}
