//! A server's form in words: all of it, the prompt of a field, and what was filled in.

use serde_json::{Map, Value};

use crate::screen::boxes::{clean, fit};
use toolgraft::route::mcp::{FieldChoice, FieldKind, Form, FormField, TextFormat};

/// Most columns of a server's words in a line of ours.
const WORDS: usize = 60;

/// Words in the name of a field that no form should have.
const SECRETS: &[&str] = &["password", "passphrase", "passcode", "secret", "api key", "api_key", "api-key", "apikey"];

/// A server's words for one line.
pub(super) fn line(text: &str) -> String {
    fit(&clean(text).replace('\n', " "), WORDS)
}

/// The server's message, and each field with all that is said of it.
pub(super) fn overview(message: &str, form: &Form) -> String {
    let mut text = message.trim_end().to_owned();
    text.push('\n');
    for field in &form.fields {
        text.push_str(&format!("\n{}: {}", label(field), what(field)));
        if let Some(default) = &field.default {
            text.push_str(&format!("; proposed: {}", shown(default)));
        }
        if let Some(description) = &field.description {
            text.push_str(&format!("\n    {}", description.replace('\n', "\n    ")));
        }
        for (at, choice) in field.kind.choices().iter().enumerate() {
            let place = if field.kind.is_numbered() { (at + 1).to_string() } else { "-".to_owned() };
            text.push_str(&format!("\n    {place} {}", named(choice)));
        }
    }
    text
}

/// What is asked for a field, in one line.
pub(super) fn prompt(field: &FormField) -> String {
    let default = field.default.as_ref().map(|default| format!(" [{}]", line(&shown(default)))).unwrap_or_default();
    format!("{} ({}){default}: ", label(field), what(field))
}

/// What was filled in.
pub(super) fn review(form: &Form, content: &Map<String, Value>) -> String {
    let filled = form.fields.iter().map(|field| match content.get(&field.name) {
        Some(value) => format!("  {}: {}", label(field), shown(value)),
        None => format!("  {}: (left out)", label(field)),
    });
    filled.collect::<Vec<_>>().join("\n")
}

/// The field with what was filled in before as its default.
pub(super) fn proposing(field: &FormField, before: Option<Value>) -> FormField {
    let mut field = field.clone();
    field.default = before.or(field.default);
    field
}

/// Whether a field asks for what only its owner should know.
pub(super) fn wants_secret(form: &Form) -> bool {
    let names = form.fields.iter().flat_map(|field| [Some(&field.name), field.title.as_ref()]).flatten();
    names.map(|name| name.to_lowercase()).any(|name| SECRETS.iter().any(|secret| name.contains(secret)))
}

fn label(field: &FormField) -> String {
    line(field.title.as_ref().unwrap_or(&field.name))
}

fn named(choice: &FieldChoice) -> String {
    match &choice.title {
        Some(title) if *title != choice.value => format!("{} ({})", line(title), line(&choice.value)),
        _ => line(&choice.value),
    }
}

/// A value as somebody would type it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "y" } else { "n" }.to_owned(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What a field wants.
fn what(field: &FormField) -> String {
    let what = match &field.kind {
        FieldKind::Text { format, min_length, max_length, .. } => {
            let what = match format {
                Some(TextFormat::Email) => "e-mail address",
                Some(TextFormat::Uri) => "URI",
                Some(TextFormat::Date) => "date, YYYY-MM-DD",
                Some(TextFormat::DateTime) => "date and time, YYYY-MM-DDTHH:MM:SSZ",
                _ => "text",
            };
            limited(what, (*min_length, *max_length), " characters")
        }
        FieldKind::Number { minimum, maximum, .. } => limited("number", (*minimum, *maximum), ""),
        FieldKind::Integer { minimum, maximum, .. } => limited("whole number", (*minimum, *maximum), ""),
        FieldKind::Boolean => "y or n".to_owned(),
        FieldKind::Choice(_) => "one of the list".to_owned(),
        FieldKind::Choices { min_items, max_items, .. } => {
            limited("some of the list, with commas between", (*min_items, *max_items), "")
        }
        _ => "anything".to_owned(),
    };
    if field.required { format!("{what}; required") } else { what }
}

/// Something with its limits in words.
fn limited(what: &str, limits: (Option<impl std::fmt::Display>, Option<impl std::fmt::Display>), unit: &str) -> String {
    match limits {
        (None, None) => what.to_owned(),
        (Some(least), None) => format!("{what}, at least {least}{unit}"),
        (None, Some(most)) => format!("{what}, at most {most}{unit}"),
        (Some(least), Some(most)) => format!("{what}, {least} to {most}{unit}"),
    }
}
