//! A server's form in words: all of it, the prompt of a field, and what was filled in.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::screen::boxes::clean;
use crate::terminal::shortened;
use toolgraft_mcp::{FieldChoice, FieldKind, Form, FormField};

/// Maximum width in columns of a server's text within a line.
const WORDS: usize = 60;

/// Words in a field's name that mean that it asks for a secret.
const SECRETS: &[&str] = &["password", "passphrase", "passcode", "secret", "api key", "api_key", "api-key", "apikey"];

/// Returns a server's text shortened to one line.
pub(super) fn line(text: &str) -> String {
    shortened(&clean(text).replace('\n', " "), WORDS)
}

/// A field of a server's form, for display in a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PageField {
    name: String,
    /// Title of the field and the kind of value it takes.
    label: String,
    /// Description of the field, if the server provides one; for some kinds also the choices.
    help: String,
    /// The choices, each with the value to send and the displayed text; empty if the field is not a selection.
    choices: Vec<(String, String)>,
}

/// Returns the server's message, followed by each field with its kind, description and choices.
pub(super) fn overview(message: &str, form: &Form) -> String {
    let mut text = message.trim_end().to_owned();
    text.push('\n');
    for field in &form.fields {
        text.push_str(&format!("\n{}", label_with_kind(field)));
        for line in details(field).lines() {
            text.push_str(&format!("\n    {line}"));
        }
    }
    text
}

/// Returns the description and the choices of a field, a line each.
fn details(field: &FormField) -> String {
    let choices = field.kind.choices().iter().enumerate().map(|(at, choice)| {
        let place = if field.kind.is_numbered() { (at + 1).to_string() } else { "-".to_owned() };
        format!("{place} {}", named(choice))
    });
    field.description.iter().cloned().chain(choices).collect::<Vec<_>>().join("\n")
}

/// Converts a field of a form for display in a page.
pub(super) fn of_page(field: &FormField) -> PageField {
    let choices: Vec<(String, String)> = match &field.kind {
        FieldKind::Choice(choices) => choices.iter().map(|one| (one.value.clone(), named(one))).collect(),
        FieldKind::Boolean => ["y", "n"].map(|word| (word.to_owned(), word.to_owned())).to_vec(),
        _ => Vec::new(),
    };
    let help = if choices.is_empty() { details(field) } else { field.description.clone().unwrap_or_default() };
    PageField { name: field.name.clone(), label: label_with_kind(field), help: clean(&help), choices }
}

/// Returns the prompt for the value of a field, in one line.
pub(super) fn prompt(field: &FormField) -> String {
    let default = field.default.as_ref().map(|default| format!(" [{}]", line(&shown(default)))).unwrap_or_default();
    format!("{} ({}){default}: ", label(field), what(field))
}

/// Returns a field's title, the kind of value it takes, and its default.
fn label_with_kind(field: &FormField) -> String {
    let head = format!("{}: {}", label(field), what(field));
    field.default.as_ref().map_or(head.clone(), |default| format!("{head}; proposed: {}", line(&shown(default))))
}

/// Returns a line with the entered value for each field of the form.
pub(super) fn review(form: &Form, content: &Map<String, Value>) -> String {
    let filled = form.fields.iter().map(|field| {
        let value = content.get(&field.name).map(shown);
        let value = value.unwrap_or_else(|| "(left out)".to_owned());
        format!("  {}: {value}", label(field))
    });
    filled.collect::<Vec<_>>().join("\n")
}

/// Returns a description of the values that a field accepts.
fn what(field: &FormField) -> String {
    let limited = |what: &str, limits| limited(what, &field.schema, limits);
    let what = match &field.kind {
        FieldKind::Text => {
            let kind = text_format(field.schema["format"].as_str());
            let what = limited(kind, ["minLength", "maxLength"]);
            if what == kind { what } else { format!("{what} characters") }
        }
        FieldKind::Number => limited("number", ["minimum", "maximum"]),
        FieldKind::Integer => limited("whole number", ["minimum", "maximum"]),
        FieldKind::Boolean => "y or n".to_owned(),
        FieldKind::Choice(_) => "one of the list".to_owned(),
        FieldKind::Choices(_) => limited("items of the list, separated by commas", ["minItems", "maxItems"]),
        _ => "anything".to_owned(),
    };
    if field.required { format!("{what}; required") } else { what }
}

/// Returns a description of a string format of JSON Schema.
fn text_format(format: Option<&str>) -> &'static str {
    match format {
        Some("email") => "e-mail address",
        Some("uri") => "URI",
        Some("date") => "date, YYYY-MM-DD",
        Some("date-time") => "date and time, YYYY-MM-DDTHH:MM:SSZ",
        _ => "text",
    }
}

/// Returns a description of a kind of value, extended with the minimum and maximum of its schema.
fn limited(what: &str, schema: &Value, limits: [&str; 2]) -> String {
    match limits.map(|limit| schema.get(limit).filter(|limit| limit.is_number())) {
        [None, None] => what.to_owned(),
        [Some(least), None] => format!("{what}, at least {least}"),
        [None, Some(most)] => format!("{what}, at most {most}"),
        [Some(least), Some(most)] => format!("{what}, {least} to {most}"),
    }
}

/// Returns `true` if the name or title of a field suggests that it asks for a secret.
pub(super) fn wants_secret(form: &Form) -> bool {
    let names = form.fields.iter().flat_map(|field| [Some(&field.name), field.title.as_ref()]).flatten();
    names.map(|name| name.to_lowercase()).any(|name| SECRETS.iter().any(|secret| name.contains(secret)))
}

pub(super) fn label(field: &FormField) -> String {
    line(field.title.as_ref().unwrap_or(&field.name))
}

fn named(choice: &FieldChoice) -> String {
    match &choice.title {
        Some(title) if *title != choice.value => format!("{} ({})", line(title), line(&choice.value)),
        _ => line(&choice.value),
    }
}

/// Returns a value in the form in which a user would type it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "y" } else { "n" }.to_owned(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
