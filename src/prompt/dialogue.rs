//! Example dialogues: a question, the calls that answer it one after another, and the answer.
//!
//! A tool's own examples come first, then those written for the tools of well-known servers, and last one that is
//! generated from its description and schema.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::example::clean_arguments;
use super::options::{NAME_CHARS, Options, SENTENCE_CHARS};
use super::sentence::first_sentence;
use crate::dialect::Lang;
use crate::outcome::Neutraliser;
use crate::tools::{Tool, ToolExample};

/// A question, the calls that answer it, and the answer to the user.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialogue<'t> {
    pub(super) question: String,
    pub(super) steps: Vec<DialogueStep<'t>>,
    pub(super) answer: String,
    /// `true` if the dialogue is generated rather than written by a person.
    pub(super) is_made: bool,
}

impl Dialogue<'_> {
    pub(super) fn shares_a_tool(&self, other: &Dialogue<'_>) -> bool {
        self.steps.iter().any(|step| other.steps.iter().any(|theirs| std::ptr::eq(step.tool, theirs.tool)))
    }
}

/// One step of an example dialogue: a call of a tool, and its result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DialogueStep<'t> {
    pub(super) tool: &'t Tool,
    pub(super) arguments: Map<String, Value>,
    pub(super) result: String,
}

/// The dialogues written for tools of well-known servers, in English and Chinese. A key joins the
/// [identities](identity) of the called tools; a dialogue is a list of its question, the arguments and the result of
/// each call, and the answer.
static WRITTEN: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../prompts/examples.json")).unwrap_or_default());

/// The separator between the tools in a key of the written dialogues.
const THEN: &str = " > ";

/// The keys of written dialogues with several calls, each as its list of tools.
static CHAINS: LazyLock<Vec<Vec<&'static str>>> =
    LazyLock::new(|| WRITTEN.keys().filter(|key| key.contains(THEN)).map(|key| key.split(THEN).collect()).collect());

/// Returns the tool's name and required parameters, without its server, as `name(a, b)`. Descriptions and optional
/// parameters differ between versions of a server, but a call with these arguments stays correct.
fn identity(tool: &Tool) -> String {
    let mut required: Vec<&str> = tool.parameters().filter(|p| p.required).map(|p| p.name).collect();
    required.sort_unstable();
    format!("{}({})", tool.name, required.join(", "))
}

/// Returns the dialogue written under this key, `None` if there is none or if a tool lacks one of its arguments.
fn written<'t>(key: &str, tools: &[&'t Tool], lang: Lang) -> Option<Dialogue<'t>> {
    let (question, rest) = WRITTEN.get(key)?.get(lang.as_str())?.as_array()?.split_first()?;
    let (answer, calls) = rest.split_last()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let step = |(tool, call): (&&'t Tool, &[Value])| {
        let arguments = call.first()?.as_object()?.clone();
        // Another version of the server may have renamed an optional parameter.
        let fits = arguments.keys().all(|name| tool.has_parameter(name));
        fits.then_some(DialogueStep { tool, arguments, result: text(call.get(1)?)? })
    };
    let steps = tools.iter().zip(calls.chunks(2)).map(step).collect::<Option<Vec<_>>>()?;
    Some(Dialogue { question: text(question)?, steps, answer: text(answer)?, is_made: false })
}

/// Returns the example dialogue of one tool: its own example, a written one, or a generated one.
pub(super) fn dialogue_of<'t>(tool: &'t Tool, options: &Options, neutraliser: &Neutraliser) -> Dialogue<'t> {
    let describe = |text: String| neutraliser.describe(&text, SENTENCE_CHARS);
    let made = |arguments: Map<String, Value>| made(tool, arguments, options.lang, neutraliser);
    if let Some(ToolExample { question, arguments, result, answer }) = tool.examples.first().cloned() {
        let mut dialogue = Dialogue { question: describe(question), ..made(arguments) };
        // An answer without its result, or the reverse, shows nothing.
        if let Some((result, answer)) = result.zip(answer) {
            dialogue.steps[0].result = describe(result);
            (dialogue.answer, dialogue.is_made) = (describe(answer), false);
        }
        return dialogue;
    }
    written(&identity(tool), &[tool], options.lang).unwrap_or_else(|| made(tool.example_arguments()))
}

/// Returns a dialogue for each tool, sorted so that the best examples come first: harmless tools with few parameters.
pub(super) fn by_worth<'a>(tools: &[&'a Tool], options: &Options, neutraliser: &Neutraliser) -> Vec<Dialogue<'a>> {
    let worth = |dialogue: &Dialogue<'_>| {
        let Some(step) = dialogue.steps.first() else { return Default::default() };
        let tool = step.tool;
        let required = tool.parameters().filter(|p| p.required).count();
        let text = Value::Object(step.arguments.clone()).to_string();
        // A server's own values may contain delimiters; such a tool is a bad example.
        let hostile = neutraliser.describe(&text, usize::MAX) != text
            || neutraliser.describe(&tool.name, NAME_CHARS) != tool.name;
        let nested = step.arguments.values().filter(|v| v.is_object() || v.is_array()).count();
        let deprecated = tool.description.as_ref().is_some_and(|d| d.to_lowercase().contains("deprecated"));
        // In this order: what returns nothing, a call without arguments, a deprecated tool, one
        // that may change something.
        let is_bare = [tool.display_only, step.arguments.is_empty(), deprecated, !tool.is_read_only()];
        // The first difference decides. One parameter is best: none shows no argument, several take space.
        (hostile, dialogue.is_made, is_bare, nested, required.abs_diff(1), text.len())
    };
    let mut all: Vec<_> = tools.iter().map(|tool| dialogue_of(tool, options, neutraliser)).collect();
    all.sort_by_cached_key(worth);
    all
}

/// Returns the first dialogue of several calls that these tools allow, in which each call uses a value from the
/// previous result: a written one, otherwise a generated one, else `None`.
pub(super) fn chain_of<'t>(tools: &[&'t Tool], lang: Lang, neutraliser: &Neutraliser) -> Option<Dialogue<'t>> {
    // Reversed, so that of tools with one identity the first stays.
    let by_identity: HashMap<String, &Tool> = tools.iter().rev().map(|tool| (identity(tool), *tool)).collect();
    let held = CHAINS.iter().filter_map(|keys| {
        let tools = keys.iter().map(|key| by_identity.get(*key).copied()).collect::<Option<Vec<_>>>()?;
        written(&keys.join(THEN), &tools, lang)
    });
    held.into_iter().next().or_else(|| linked(tools, lang, neutraliser))
}

/// The result of the last call in a generated dialogue.
const RESULT: &str = "OK, 7";

/// Returns the answer about [`RESULT`] in a generated dialogue. It fits no question and does not begin as answers to
/// questions do: after "the tool says seven" a small model answered questions instead of calling.
fn answer(lang: Lang) -> String {
    match lang {
        Lang::En => "Done: it gave 7.".to_owned(),
        Lang::Zh => "完成：得到 7。".to_owned(),
    }
}

/// Generates a dialogue with one call of the tool. The question contains the tool's purpose and each value, since a
/// model otherwise copies values whose origin it does not see.
fn made<'t>(tool: &'t Tool, arguments: Map<String, Value>, lang: Lang, neutraliser: &Neutraliser) -> Dialogue<'t> {
    let request = request(tool, neutraliser);
    let question = with_values(lang, &request, &clean_arguments(neutraliser, &arguments));
    let steps = vec![DialogueStep { tool, arguments, result: RESULT.to_owned() }];
    Dialogue { question, steps, answer: answer(lang), is_made: true }
}

/// Maximum number of tools that are considered for a dialogue of two calls, as each is compared with each.
const LINKED: usize = 16;

/// Generates a dialogue of two calls, in which the second tool gets a value from the result of the first. It prefers a
/// parameter that the first tool's name mentions (`list_channels`, `channel_id`). `None` if no two tools fit.
fn linked<'t>(tools: &[&'t Tool], lang: Lang, neutraliser: &Neutraliser) -> Option<Dialogue<'t>> {
    let tools = || tools.iter().take(LINKED);
    let mut pairs = Vec::new();
    for second in tools() {
        let arguments = second.example_arguments();
        let is_required =
            |name: &str| second.parameters().any(|parameter| parameter.required && parameter.name == name);
        // The value is a placeholder, so nothing is known about it.
        let is_open = |(name, value): &(&String, &Value)| {
            value.as_str() == Some(&format!("{name}-1")) && is_required(name.as_str())
        };
        let Some((name, _)) = arguments.iter().find(is_open) else { continue };
        let about = name.trim_end_matches("_id").trim_end_matches("Id").to_lowercase();
        // A tool that takes the same parameter does not give it.
        let others = tools().filter(|first| !std::ptr::eq(**first, *second) && !first.has_parameter(name));
        for first in others.filter(|first| first.server == second.server && !first.display_only) {
            // Two letters are in too many names.
            let tells = about.len() > 2 && first.name.to_lowercase().contains(&about);
            let length = Value::from(first.example_arguments()).to_string().len()
                + Value::from(arguments.clone()).to_string().len();
            pairs.push(((!tells, length), *first, *second, name.clone(), arguments.clone()));
        }
    }
    let (_, first, second, name, mut arguments) = pairs.into_iter().min_by_key(|(rank, ..)| *rank)?;
    let mut dialogue = made(first, first.example_arguments(), lang, neutraliser);
    let (name_shown, value) = (neutraliser.describe(&name, NAME_CHARS), format!("{name}-2"));
    let mut others = arguments.clone();
    others.shift_remove(&name);
    let request = request(second, neutraliser);
    let then = with_values(lang, &request, &clean_arguments(neutraliser, &others));
    let words = name_shown.replace('_', " ");
    dialogue.question = match lang {
        Lang::En => format!("{} Then, with the {words} that it says: {then}", dialogue.question),
        Lang::Zh => format!("{}然后用结果中的 {words}：{then}", dialogue.question),
    };
    dialogue.steps[0].result = format!("{name_shown}: {}", neutraliser.describe(&value, NAME_CHARS));
    arguments.insert(name, value.into());
    dialogue.steps.push(DialogueStep { tool: second, arguments, result: RESULT.to_owned() });
    dialogue.answer = answer(lang);
    Some(dialogue)
}

/// Maximum length in characters of a description from which a question is generated; else the tool's name is used.
const REQUEST_CHARS: usize = 80;

/// Returns the tool's purpose as a request, from its description, with the verb as in the tool's name: `search_web`
/// "Searches the web" becomes "Search the web".
fn request(tool: &Tool, neutraliser: &Neutraliser) -> String {
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let does = neutraliser.describe(first_sentence(description), SENTENCE_CHARS);
    let does = match does.trim_end_matches(['.', '。', ' ', ':', '：', '!', '！', '?', '？']) {
        does if does.is_empty() || does.chars().count() > REQUEST_CHARS => {
            neutraliser.describe(&tool.name, NAME_CHARS).replace(['_', '-'], " ")
        }
        does => does.to_owned(),
    };
    let first = does.split(' ').next().unwrap_or_default();
    let is_verb = |part: &&str| {
        let ending = first.len().checked_sub(part.len()).and_then(|_| first.get(part.len()..));
        ending.is_some_and(|ending| ["s", "es"].contains(&ending))
            && first.to_lowercase().starts_with(&part.to_lowercase())
    };
    match tool.name.split(['_', '-', '.']).find(is_verb) {
        Some(verb) => format!("{}{}", &first[..verb.len()], &does[first.len()..]),
        None => does,
    }
}

/// Returns the request followed by each argument as `name value`, or as `value` if that begins with the name.
fn with_values(lang: Lang, request: &str, arguments: &Map<String, Value>) -> String {
    let value = |(name, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if text.starts_with(name.as_str()) { text } else { format!("{} {text}", name.replace('_', " ")) }
    };
    let values: Vec<String> = arguments.iter().map(value).collect();
    match (lang, values.is_empty()) {
        (Lang::En, true) => format!("{request}."),
        (Lang::En, false) => format!("{request}: {}.", values.join(", ")),
        (Lang::Zh, true) => format!("{request}。"),
        (Lang::Zh, false) => format!("{request}：{}。", values.join("，")),
    }
}
