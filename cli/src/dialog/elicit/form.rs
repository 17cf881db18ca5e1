//! A server's form in words: all of it, the prompt of a field, and what was filled in.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::phrases::Phrases;
use crate::screen::boxes::{clean, fit};
use toolgraft_mcp::{FieldChoice, FieldKind, Form, FormField};

/// Most columns of a server's words in a line of ours.
const WORDS: usize = 60;

/// Words in the name of a field that no form should have.
const SECRETS: &[&str] = &["password", "passphrase", "passcode", "secret", "api key", "api_key", "api-key", "apikey"];

/// A server's words for one line.
pub(super) fn line(text: &str) -> String {
    fit(&clean(text).replace('\n', " "), WORDS)
}

/// A field of a form in a page.
#[derive(Debug, Serialize)]
pub(crate) struct PageField {
    name: String,
    /// Its name and what it wants.
    label: String,
    /// What it is for, if the server says so.
    help: String,
    /// What can be chosen, if it is one of few: what is sent, and what is shown.
    choices: Vec<(String, String)>,
}

/// The words around a form, in a language.
#[derive(Clone, Copy)]
pub(super) struct Words {
    say: Phrases,
}

impl Words {
    pub(super) fn of(say: Phrases) -> Self {
        Words { say }
    }

    /// The server's message, and each field with all that is said of it.
    pub(super) fn overview(self, message: &str, form: &Form) -> String {
        let mut text = message.trim_end().to_owned();
        text.push('\n');
        for field in &form.fields {
            let mut head = self.say.headed(label(field), self.what(field));
            if let Some(default) = &field.default {
                head = self.say.field_proposed(head, shown(default));
            }
            text.push_str(&format!("\n{head}"));
            for line in self.details(field).lines() {
                text.push_str(&format!("\n    {line}"));
            }
        }
        text
    }

    /// What a field is for, and what can be chosen.
    fn details(self, field: &FormField) -> String {
        let choices = field.kind.choices().iter().enumerate().map(|(at, choice)| {
            let place = if field.kind.is_numbered() { (at + 1).to_string() } else { "-".to_owned() };
            format!("{place} {}", named(choice))
        });
        field.description.iter().cloned().chain(choices).collect::<Vec<_>>().join("\n")
    }

    /// A field for a page.
    pub(super) fn of_page(self, field: &FormField) -> PageField {
        let choices: Vec<(String, String)> = match &field.kind {
            FieldKind::Choice(choices) => choices.iter().map(|one| (one.value.clone(), named(one))).collect(),
            FieldKind::Boolean => ["y", "n"].map(|word| (word.to_owned(), word.to_owned())).to_vec(),
            _ => Vec::new(),
        };
        let help = if choices.is_empty() { self.details(field) } else { field.description.clone().unwrap_or_default() };
        PageField { name: field.name.clone(), label: self.label_with_kind(field), help: clean(&help), choices }
    }

    /// What is asked for a field, in one line.
    pub(super) fn prompt(self, field: &FormField) -> String {
        let default = field.default.as_ref().map(|default| format!(" [{}]", line(&shown(default)))).unwrap_or_default();
        self.say.field_prompt(label(field), self.what(field), default)
    }

    /// A field's name and what it wants, with what is proposed.
    fn label_with_kind(self, field: &FormField) -> String {
        let head = self.say.headed(label(field), self.what(field));
        field.default.as_ref().map_or(head.clone(), |default| self.say.field_proposed(head, line(&shown(default))))
    }

    /// What was filled in.
    pub(super) fn review(self, form: &Form, content: &Map<String, Value>) -> String {
        let filled = form.fields.iter().map(|field| {
            let value = content.get(&field.name).map(shown);
            let value = value.unwrap_or_else(|| self.say.field_left_out().to_owned());
            format!("  {}", self.say.headed(label(field), value))
        });
        filled.collect::<Vec<_>>().join("\n")
    }

    /// What a field wants.
    fn what(self, field: &FormField) -> String {
        let say = self.say;
        let what = match &field.kind {
            FieldKind::Text { format, min_length, max_length, .. } => {
                let what = say.limited(say.text_format(*format), (*min_length, *max_length));
                let has_limits = min_length.is_some() || max_length.is_some();
                if has_limits { say.counted_in_characters(what) } else { what }
            }
            FieldKind::Number { minimum, maximum, .. } => say.limited(say.a_number(), (*minimum, *maximum)),
            FieldKind::Integer { minimum, maximum, .. } => say.limited(say.a_whole_number(), (*minimum, *maximum)),
            FieldKind::Boolean => say.a_yes_or_no().to_owned(),
            FieldKind::Choice(_) => say.one_of_list().to_owned(),
            FieldKind::Choices { min_items, max_items, .. } => {
                say.limited(say.some_of_list(), (*min_items, *max_items))
            }
            _ => say.anything().to_owned(),
        };
        if field.required { say.field_required(what) } else { what }
    }
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

pub(super) fn label(field: &FormField) -> String {
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
