//! Checks values against a field, and converts text that the user typed.

use reqwest::Url;
use serde_json::{Number, Value};

use super::form::{FieldChoice, FieldKind, FormField, TextFormat};

/// The reason that a value does not fit a field, as a message for the user who typed it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// A required field is empty.
    #[error("this must be filled in")]
    Required,
    /// The value is not a text.
    #[error("write a text")]
    NotAText,
    /// The value is not a number.
    #[error("write a number, such as 1.5")]
    NotANumber,
    /// The value is not a whole number.
    #[error("write a whole number, such as 3")]
    NotAnInteger,
    /// The value is neither yes nor no.
    #[error("write y or n")]
    NotABoolean,
    /// The number is below this minimum.
    #[error("at least {0}")]
    TooSmall(Number),
    /// The number is above this maximum.
    #[error("at most {0}")]
    TooGreat(Number),
    /// The text has fewer characters than this minimum.
    #[error("at least {} long", counted(*.0, "character"))]
    TooShort(u64),
    /// The text has more characters than this maximum.
    #[error("at most {} long", counted(*.0, "character"))]
    TooLong(u64),
    /// The text does not have this format.
    #[error("write {0}")]
    Format(TextFormat),
    /// The value is not one of the choices.
    #[error("{given:?} is none of: {}", .choices.join(", "))]
    #[non_exhaustive]
    NotAChoice {
        /// The given value.
        given: String,
        /// The allowed values.
        choices: Vec<String>,
    },
    /// Fewer choices than this minimum.
    #[error("choose at least {0}")]
    TooFew(u64),
    /// More choices than this maximum.
    #[error("choose at most {0}")]
    TooMany(u64),
}

impl std::fmt::Display for TextFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TextFormat::Email => "an e-mail address, such as ada@example.org",
            TextFormat::Uri => "a URI, such as https://example.org/a",
            TextFormat::Date => "a date, such as 2026-03-14",
            TextFormat::DateTime => "a date and time with its zone, such as 2026-03-14T09:26:53Z",
        })
    }
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

impl FormField {
    /// Converts text that the user typed. Empty text is the default; without a default, an optional
    /// field is omitted (`None`). A choice may be given by its value, by its title or, if no choice
    /// is itself a number, by its position in the list, from 1. Several choices are separated by
    /// commas.
    ///
    /// # Errors
    /// The text does not fit the field.
    pub fn read(&self, typed: &str) -> Result<Option<Value>, FieldError> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match &self.default {
                None if self.required => Err(FieldError::Required),
                default => Ok(default.clone()),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Value::from(typed),
            FieldKind::Number { .. } => Value::Number(number(typed).ok_or(FieldError::NotANumber)?),
            FieldKind::Integer { .. } => Value::from(typed.parse::<i64>().map_err(|_| FieldError::NotAnInteger)?),
            FieldKind::Boolean => match typed.to_lowercase().as_str() {
                "y" | "yes" | "true" | "是" => Value::Bool(true),
                "n" | "no" | "false" | "否" => Value::Bool(false),
                _ => return Err(FieldError::NotABoolean),
            },
            FieldKind::Choice(_) => Value::from(chosen(&self.kind, typed)?),
            FieldKind::Choices { .. } => several(&self.kind, typed)?.into(),
        };
        self.check(&value)?;
        Ok(Some(value))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The value does not fit the field.
    pub fn check(&self, value: &Value) -> Result<(), FieldError> {
        match &self.kind {
            FieldKind::Text { format, min_length, max_length } => {
                let text = value.as_str().ok_or(FieldError::NotAText)?;
                let length = text.chars().count() as u64;
                fits(*min_length, |least| length >= *least, FieldError::TooShort)?;
                fits(*max_length, |most| length <= *most, FieldError::TooLong)?;
                fits(*format, |format| format.fits(text), FieldError::Format)
            }
            FieldKind::Number { minimum, maximum } => {
                let number = value.as_f64().ok_or(FieldError::NotANumber)?;
                fits(*minimum, |least| number >= *least, |least| FieldError::TooSmall(shown(least)))?;
                fits(*maximum, |most| number <= *most, |most| FieldError::TooGreat(shown(most)))
            }
            FieldKind::Integer { minimum, maximum } => {
                let number = value.as_i64().ok_or(FieldError::NotAnInteger)?;
                fits(*minimum, |least| number >= *least, |least| FieldError::TooSmall(least.into()))?;
                fits(*maximum, |most| number <= *most, |most| FieldError::TooGreat(most.into()))
            }
            FieldKind::Boolean => value.as_bool().map(drop).ok_or(FieldError::NotABoolean),
            FieldKind::Choice(choices) => is_choice(choices, value),
            FieldKind::Choices { choices, min_items, max_items } => {
                let values = value.as_array().ok_or_else(|| no_choice(choices, &value.to_string()))?;
                values.iter().try_for_each(|value| is_choice(choices, value))?;
                let count = values.len() as u64;
                fits(*min_items, |least| count >= *least, FieldError::TooFew)?;
                fits(*max_items, |most| count <= *most, FieldError::TooMany)
            }
        }
    }
}

/// Checks a limit, if there is one.
fn fits<L>(limit: Option<L>, is_kept: impl Fn(&L) -> bool, error: impl Fn(L) -> FieldError) -> Result<(), FieldError> {
    match limit {
        Some(limit) if !is_kept(&limit) => Err(error(limit)),
        _ => Ok(()),
    }
}

/// Formats a limit in its shortest form: `3`, not `3.0`.
fn shown(limit: f64) -> Number {
    let whole = (limit.fract() == 0.0 && limit.abs() < 1e15).then_some(limit as i64);
    whole.map(Number::from).or_else(|| Number::from_f64(limit)).unwrap_or_else(|| 0.into())
}

/// Parses a number. JSON has no `.5` and `+1`, but users type them.
fn number(typed: &str) -> Option<Number> {
    serde_json::from_str(typed).ok().or_else(|| typed.parse().ok().and_then(Number::from_f64))
}

fn is_choice(choices: &[FieldChoice], value: &Value) -> Result<(), FieldError> {
    match value.as_str() {
        Some(text) if choices.iter().any(|choice| choice.value == text) => Ok(()),
        _ => Err(no_choice(choices, value.as_str().unwrap_or(&value.to_string()))),
    }
}

fn no_choice(choices: &[FieldChoice], given: &str) -> FieldError {
    FieldError::NotAChoice {
        given: given.to_owned(),
        choices: choices.iter().map(|choice| choice.value.clone()).collect(),
    }
}

impl FieldChoice {
    /// Returns `true` if the choice's value or title is `name`.
    fn is_called(&self, name: &str, same: impl Fn(&str, &str) -> bool) -> bool {
        same(&self.value, name) || self.title.as_deref().is_some_and(|title| same(title, name))
    }
}

/// Returns the value of the choice that was typed: by value, by title, by either without regard to
/// case if that is unique, or by position.
fn chosen(kind: &FieldKind, typed: &str) -> Result<String, FieldError> {
    let choices = kind.choices();
    let exact = choices.iter().find(|choice| choice.value == typed);
    let called = |same: fn(&str, &str) -> bool| {
        let mut found = choices.iter().filter(move |choice| choice.is_called(typed, same));
        found.next().filter(|_| found.next().is_none())
    };
    let by_place = || typed.parse::<usize>().ok().filter(|_| kind.is_numbered())?.checked_sub(1);
    let found = exact
        .or_else(|| called(|a, b| a == b))
        .or_else(|| called(|a, b| a.to_lowercase() == b.to_lowercase()))
        .or_else(|| choices.get(by_place()?));
    found.map(|choice| choice.value.clone()).ok_or_else(|| no_choice(choices, typed))
}

/// Returns the values of the choices that were typed, each once.
fn several(kind: &FieldKind, typed: &str) -> Result<Vec<String>, FieldError> {
    // The name of a choice may contain a comma.
    if let Ok(one) = chosen(kind, typed) {
        return Ok(vec![one]);
    }
    let mut values = Vec::new();
    for part in typed.split([',', '，']).map(str::trim).filter(|part| !part.is_empty()) {
        let value = chosen(kind, part)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values)
}

impl TextFormat {
    /// Returns `true` if a text may have this format. The check is loose: the server may be
    /// stricter.
    fn fits(self, text: &str) -> bool {
        match self {
            TextFormat::Email => text.split_once('@').is_some_and(|(user, host)| {
                let is_plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
                is_plain(user) && is_plain(host) && host.split('.').all(|label| !label.is_empty())
            }),
            TextFormat::Uri => Url::parse(text).is_ok(),
            TextFormat::Date => is_date_time(&format!("{text}T00:00:00Z")),
            TextFormat::DateTime => is_date_time(text),
        }
    }
}

/// Returns `true` for a time of RFC 3339, as in `2026-03-14T09:26:53Z`, with or without a fraction.
fn is_date_time(text: &str) -> bool {
    chrono::DateTime::parse_from_rfc3339(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::form::Form;
    use super::*;

    fn field(schema: &Value, required: bool) -> FormField {
        let required = if required { json!(["x"]) } else { json!([]) };
        let form = Form::read(&json!({ "properties": { "x": schema }, "required": required }));
        form.unwrap().fields.remove(0)
    }

    /// Checks typed texts against the values that they are read as, or the messages of refusal.
    fn reads(schema: &Value, all: &[(&str, Result<Value, &str>)]) {
        for (typed, expected) in all {
            let read = field(schema, true).read(typed).map(Option::unwrap).map_err(|error| error.to_string());
            assert_eq!(read, expected.clone().map_err(str::to_owned), "{typed:?} for {schema}");
        }
    }

    #[test]
    fn texts() {
        reads(
            &json!({ "type": "string", "minLength": 2, "maxLength": 3 }),
            &[
                (" 天空 ", Ok(json!("天空"))),
                ("12", Ok(json!("12"))),
                ("a", Err("at least 2 characters long")),
                ("abcd", Err("at most 3 characters long")),
                ("", Err("this must be filled in")),
            ],
        );
        let no_email = Err("write an e-mail address, such as ada@example.org");
        reads(
            &json!({ "type": "string", "format": "email" }),
            &[
                ("ada@example.org", Ok(json!("ada@example.org"))),
                ("ada", no_email.clone()),
                ("@example.org", no_email.clone()),
                ("ada@example..org", no_email.clone()),
                ("a b@example.org", no_email.clone()),
                ("a@b@c", no_email),
            ],
        );
        let no_uri = Err("write a URI, such as https://example.org/a");
        reads(
            &json!({ "type": "string", "format": "uri" }),
            &[("mailto:a@b", Ok(json!("mailto:a@b"))), ("example.org", no_uri.clone()), ("http://", no_uri)],
        );
    }

    #[test]
    fn dates_are_of_the_calendar() {
        let no_date = Err("write a date, such as 2026-03-14");
        let mut all: Vec<_> = ["2024-02-29", "2000-02-29", "2026-12-31"].map(|d| (d, Ok(json!(d)))).into();
        all.extend(
            [
                "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-4-1", "14.03.2026",
                "2026-03-00",
            ]
            .map(|d| (d, no_date.clone())),
        );
        reads(&json!({ "type": "string", "format": "date" }), &all);
        let no_time = Err("write a date and time with its zone, such as 2026-03-14T09:26:53Z");
        let good = ["2026-03-14T09:26:53Z", "2026-03-14T09:26:60.25+05:30", "2026-03-14t23:59:59-00:00"];
        let mut all: Vec<_> = good.map(|d| (d, Ok(json!(d)))).into();
        all.extend(
            ["2026-03-14", "2026-03-14T09:26:53", "2026-03-14T24:00:00Z", "2026-03-14T09:26Z", "2026-03-14T09:26:53.Z"]
                .map(|d| (d, no_time.clone())),
        );
        reads(&json!({ "type": "string", "format": "date-time" }), &all);
    }

    #[test]
    fn numbers() {
        let no_number = Err("write a number, such as 1.5");
        reads(
            &json!({ "type": "number", "minimum": 0, "maximum": 2.5 }),
            &[
                ("1", Ok(json!(1))),
                ("2.50", Ok(json!(2.5))),
                (".5", Ok(json!(0.5))),
                ("-1", Err("at least 0")),
                ("2.6", Err("at most 2.5")),
                ("1,5", no_number.clone()),
                ("NaN", no_number.clone()),
                ("two", no_number),
            ],
        );
        reads(
            &json!({ "type": "integer", "minimum": 1, "maximum": 3 }),
            &[
                ("3", Ok(json!(3))),
                ("0", Err("at least 1")),
                ("4", Err("at most 3")),
                ("1.5", Err("write a whole number, such as 3")),
                ("99999999999999999999", Err("write a whole number, such as 3")),
            ],
        );
        reads(
            &json!({ "type": "boolean" }),
            &[("Y", Ok(json!(true))), ("no", Ok(json!(false))), ("是", Ok(json!(true))), ("1", Err("write y or n"))],
        );
    }

    #[test]
    fn one_of_a_list_is_named_by_value_title_or_place() {
        let colours = json!({ "type": "string", "oneOf": [
            { "const": "r", "title": "Red" }, { "const": "g", "title": "Green" }, { "const": "R2", "title": "red 2" } ] });
        reads(
            &colours,
            &[
                ("r", Ok(json!("r"))),
                ("Green", Ok(json!("g"))),
                ("RED", Ok(json!("r"))),
                ("3", Ok(json!("R2"))),
                ("0", Err("\"0\" is none of: r, g, R2")),
                ("4", Err("\"4\" is none of: r, g, R2")),
                ("blue", Err("\"blue\" is none of: r, g, R2")),
            ],
        );
        // If choices are numbers, a typed number is a choice, not a position.
        reads(
            &json!({ "type": "string", "enum": ["10", "20", "3"] }),
            &[("3", Ok(json!("3"))), ("1", Err("\"1\" is none of: 10, 20, 3"))],
        );
    }

    #[test]
    fn some_of_a_list_stand_with_commas_between() {
        let schema = json!({ "type": "array", "minItems": 1, "maxItems": 2,
            "items": { "type": "string", "enum": ["a", "b", "c, d"] } });
        reads(
            &schema,
            &[
                ("a", Ok(json!(["a"]))),
                ("a, 2,a", Ok(json!(["a", "b"]))),
                ("c, d", Ok(json!(["c, d"]))),
                ("1,2,3", Err("choose at most 2")),
                (",", Err("choose at least 1")),
                ("a,x", Err("\"x\" is none of: a, b, c, d")),
            ],
        );
    }

    #[test]
    fn nothing_is_the_default_or_left_out() {
        let read = |schema: Value, required| field(&schema, required).read("  ");
        assert_eq!(read(json!({ "type": "integer", "default": 3 }), true), Ok(Some(json!(3))));
        assert_eq!(read(json!({ "type": "boolean", "default": false }), false), Ok(Some(json!(false))));
        assert_eq!(read(json!({ "type": "integer" }), false), Ok(None));
        assert_eq!(read(json!({ "type": "string" }), true), Err(FieldError::Required));
    }

    #[test]
    fn a_value_of_another_type_fits_no_field() {
        for (schema, value) in [
            (json!({ "type": "string" }), json!(1)),
            (json!({ "type": "number" }), json!("1")),
            (json!({ "type": "integer" }), json!(1.5)),
            (json!({ "type": "boolean" }), json!("true")),
            (json!({ "type": "string", "enum": ["a"] }), json!(["a"])),
            (json!({ "type": "array", "items": { "enum": ["a"] } }), json!("a")),
            (json!({ "type": "array", "items": { "enum": ["a"] } }), json!([1])),
        ] {
            assert!(field(&schema, false).check(&value).is_err(), "{value} for {schema}");
        }
    }
}
