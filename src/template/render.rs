//! Renders chat templates with artificial calls.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value as JinjaValue};
use minijinja::{Environment, Error, ErrorKind, context};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::json::{common_prefix, spaced};

/// Maximum size in bytes of a chat template; the longest known ones have a tenth of that.
const MAX_TEMPLATE: usize = 256 << 10;

/// Maximum number of instructions of one rendering; real templates take some thousands.
const FUEL: u64 = 2_000_000;

/// Name of the tool in rendered calls: like the following constants, a word that occurs in no template.
pub(super) const TOOL: &str = "zqtool";
pub(super) const KEY: &str = "zqkey";
pub(super) const OTHER_KEY: &str = "zqother";
pub(super) const VALUE: &str = "zqvalue";
pub(super) const OTHER_VALUE: &str = "zqsecond";
const ASKED: &str = "zqasked";
const ANSWER: &str = "zqanswer";

/// The calls that a template writes, without the text around every message.
#[derive(Debug)]
pub(super) struct RenderedCalls {
    /// One call with the argument [`KEY`].
    pub(super) one: String,
    /// One call with the arguments [`KEY`] and [`OTHER_KEY`], both texts.
    pub(super) two_arguments: String,
    /// Two calls, the second with [`OTHER_VALUE`]; `None` if the template writes only one.
    pub(super) two_calls: Option<String>,
}

/// Returns arguments with these names and text values.
pub(super) fn arguments(members: &[(&str, &str)]) -> Map<String, Value> {
    members.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect()
}

/// Renders calls with the template; `None` if it writes no calls or cannot be rendered.
pub(super) fn written(template: &str) -> Option<RenderedCalls> {
    if template.len() > MAX_TEMPLATE {
        return None;
    }
    let source = GENERATION_MARK.replace_all(template, "$1 if true $2$1 endif $2");
    let mut environment = environment();
    environment.set_fuel(Some(FUEL));
    let template = environment.template_from_str(&source).ok()?;
    // Some templates write arguments as they get them, and others convert them to JSON.
    [true, false].into_iter().find_map(|as_object| {
        let of = |calls: &[Map<String, Value>]| {
            let body = body(|message| template.render(input(message)).ok(), calls, as_object)?;
            body.contains(TOOL).then_some(body)
        };
        let one = arguments(&[(KEY, VALUE)]);
        Some(RenderedCalls {
            one: of(std::slice::from_ref(&one))?,
            two_arguments: of(&[arguments(&[(KEY, VALUE), (OTHER_KEY, OTHER_VALUE)])])?,
            two_calls: of(&[one, arguments(&[(KEY, OTHER_VALUE)])]).filter(|text| text.contains(OTHER_VALUE)),
        })
    })
}

/// Returns the text of the calls in a rendered message: from the end of its content, or its beginning, to its end.
fn body(render: impl Fn(Value) -> Option<String>, calls: &[Map<String, Value>], as_object: bool) -> Option<String> {
    let calls: Vec<Value> = calls.iter().enumerate().map(|(at, call)| made_up(at, call, as_object)).collect();
    let message = |content: &str, calls: &[Value]| {
        let mut message = json!({"role": "assistant", "content": content});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let text = render(message)?;
        let at = text.rfind(ASKED)? + ASKED.len();
        Some(text[at..].to_owned())
    };
    let plain = message(ANSWER, &[])?;
    let (before, after) = plain.split_once(ANSWER)?;
    // Some templates write the content or the calls of a message, but not both.
    let with_content = message(ANSWER, &calls).filter(|text| text.contains(TOOL));
    let body = match with_content.as_deref().and_then(|text| text.split_once(ANSWER)) {
        Some((_, body)) => body.to_owned(),
        None => {
            let text = message("", &calls)?;
            text[text.floor_char_boundary(common_prefix(before, &text))..].to_owned()
        }
    };
    Some(without_end(&body, after).trim().to_owned())
}

/// Returns the text of the calls without the text at its end that is common to all messages. If it has only a part of
/// that, it is cut at the first token in that part.
fn without_end<'t>(body: &'t str, end: &str) -> &'t str {
    let same = common_end(body, end);
    let at = body.len() - same.len();
    if same == end {
        return &body[..at];
    }
    same.find(['<', '[']).map_or(body, |token| &body[..at + token])
}

/// Returns the longest common suffix of two texts.
pub(super) fn common_end<'t>(text: &'t str, other: &str) -> &'t str {
    let same = text.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count();
    &text[text.ceil_char_boundary(text.len() - same)..]
}

fn made_up(at: usize, arguments: &Map<String, Value>, as_object: bool) -> Value {
    let arguments = if as_object { Value::Object(arguments.clone()) } else { spaced(arguments).into() };
    // Mistral's templates require an identifier of nine letters and digits.
    json!({"id": format!("call0000{at}"), "type": "function", "function": {"name": TOOL, "arguments": arguments}})
}

fn input(message: Value) -> JinjaValue {
    let text = json!({"type": "string", "description": "a text"});
    let parameters = json!({"type": "object", "required": [], "properties": {KEY: text, OTHER_KEY: text}});
    let tool =
        json!({"type": "function", "function": {"name": TOOL, "description": "a tool", "parameters": parameters}});
    let messages = JinjaValue::from(Serde(json!([{"role": "user", "content": ASKED}, message])));
    let tools = JinjaValue::from(Serde(json!([tool])));
    context! {
        messages, tools, functions => "", datetime => "", add_generation_prompt => false, bos_token => "",
        eos_token => "",
    }
}

/// Creates a template environment with the functions and filters that `transformers` gives to chat templates.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<(), Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |_: String| "29 Nov 2026");
    environment.add_filter("tojson", |value: JinjaValue, _: Kwargs| -> Result<JinjaValue, Error> {
        let value = serde_json::to_value(&value).map_err(|error| {
            Error::new(ErrorKind::BadSerialization, "it cannot be written as JSON").with_source(error)
        })?;
        Ok(JinjaValue::from_safe_string(spaced(&value)))
    });
    environment
}

/// Matches the statements `generation` and `endgeneration`, which only `transformers` knows.
static GENERATION_MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(\{%-?) (?:end)?generation (-?%\})").expect("the pattern is constant"));
