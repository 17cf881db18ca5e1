//! Checks values against a field, and converts text that the user typed.

use serde_json::{Number, Value};

use super::form::{FieldChoice, FieldError, FieldKind, FormField, fitted};

impl FormField {
    /// Converts text that the user typed into a value of the field. Empty text is the default; without a default, an
    /// optional field is omitted (`None`). A choice may be named by its value, by its title or, if no choice is itself
    /// a number, by its position in the list, from 1. Several choices are separated by commas.
    ///
    /// # Errors
    /// The text is not a valid value of the field.
    pub fn read(&self, typed: &str) -> Result<Option<Value>, FieldError> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match &self.default {
                None if self.required => Err(FieldError("this must be filled in".to_owned())),
                default => Ok(default.clone()),
            };
        }
        let value = match &self.kind {
            FieldKind::Text => typed.into(),
            FieldKind::Number | FieldKind::Integer => number(typed).map_or_else(|| typed.into(), Value::Number),
            FieldKind::Boolean => match typed.to_lowercase().as_str() {
                "y" | "yes" | "true" | "是" => Value::Bool(true),
                "n" | "no" | "false" | "否" => Value::Bool(false),
                _ => return Err(FieldError("write y or n".to_owned())),
            },
            FieldKind::Choice(_) => Value::from(chosen(&self.kind, typed)?),
            FieldKind::Choices(_) => several(&self.kind, typed)?.into(),
        };
        self.check(&value).map(Some)
    }

    /// Checks a value of the field, and returns it converted to the field's type.
    ///
    /// # Errors
    /// The value does not fit the field.
    pub fn check(&self, value: &Value) -> Result<Value, FieldError> {
        fitted(self.schema.clone(), value)
    }
}

/// Parses a number that the user typed; `None` for other text. JSON has no `.5` and `+1`, but users type them.
fn number(typed: &str) -> Option<Number> {
    serde_json::from_str(typed).ok().or_else(|| typed.parse().ok().and_then(Number::from_f64))
}

impl FieldChoice {
    /// Returns `true` if the choice's value or title equals `name`, by the comparison `same`.
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
    found.map(|choice| choice.value.clone()).ok_or_else(|| {
        let values: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
        FieldError(format!("{typed:?} is none of: {}", values.join(", ")))
    })
}

/// Returns the values of the choices that were typed, separated by commas; each value once.
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

    /// Checks that each typed text is read as the expected value, or refused with the expected message.
    fn reads(schema: &Value, all: &[(&str, Result<Value, &str>)]) {
        for (typed, expected) in all {
            match (field(schema, true).read(typed).map(Option::unwrap), expected) {
                (Err(error), Err(expected)) => {
                    assert!(error.to_string().starts_with(expected), "{typed:?} for {schema}: {error}");
                }
                (read, expected) => assert_eq!(read.ok(), expected.clone().ok(), "{typed:?} for {schema}"),
            }
        }
    }

    #[test]
    fn texts() {
        reads(
            &json!({ "type": "string", "minLength": 2, "maxLength": 3 }),
            &[
                (" 天空 ", Ok(json!("天空"))),
                ("12", Ok(json!("12"))),
                ("a", Err("expected at least 2 characters, found 1")),
                ("abcd", Err("expected at most 3 characters, found 4")),
                ("", Err("this must be filled in")),
            ],
        );
        let no_email = Err("expected text of the format email");
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
        let no_uri = Err("expected text of the format uri");
        reads(
            &json!({ "type": "string", "format": "uri" }),
            &[("mailto:a@b", Ok(json!("mailto:a@b"))), ("example.org", no_uri.clone()), ("http://a b", no_uri)],
        );
    }

    #[test]
    fn dates_are_of_the_calendar() {
        let no_date = Err("expected text of the format date");
        let mut all: Vec<_> = ["2024-02-29", "2000-02-29", "2026-12-31"].map(|d| (d, Ok(json!(d)))).into();
        all.extend(
            [
                "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-4-1", "14.03.2026",
                "2026-03-00",
            ]
            .map(|d| (d, no_date.clone())),
        );
        reads(&json!({ "type": "string", "format": "date" }), &all);
        let no_time = Err("expected text of the format date-time");
        let good = ["2026-03-14T09:26:53Z", "2026-07-01T05:29:60.25+05:30", "2026-03-14t23:59:59-00:00"];
        let mut all: Vec<_> = good.map(|d| (d, Ok(json!(d)))).into();
        all.extend(
            ["2026-03-14", "2026-03-14T09:26:53", "2026-03-14T24:00:00Z", "2026-03-14T09:26Z", "2026-03-14T09:26:53.Z"]
                .map(|d| (d, no_time.clone())),
        );
        reads(&json!({ "type": "string", "format": "date-time" }), &all);
    }

    #[test]
    fn numbers() {
        let no_number = Err("expected number");
        reads(
            &json!({ "type": "number", "minimum": 0, "maximum": 2.5 }),
            &[
                ("1", Ok(json!(1))),
                ("2.50", Ok(json!(2.5))),
                (".5", Ok(json!(0.5))),
                ("-1", Err("expected at least 0")),
                ("2.6", Err("expected at most 2.5")),
                ("1,5", no_number.clone()),
                ("NaN", no_number.clone()),
                ("two", no_number),
            ],
        );
        reads(
            &json!({ "type": "integer", "minimum": 1, "maximum": 3 }),
            &[
                ("3", Ok(json!(3))),
                ("0", Err("expected at least 1")),
                ("4", Err("expected at most 3")),
                ("1.5", Err("expected integer")),
                ("99999999999999999999", Err("expected at most 3")),
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
                ("1,2,3", Err("expected at most 2 items, found 3")),
                (",", Err("expected at least 1 items, found 0")),
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
        assert_eq!(read(json!({ "type": "string" }), true), Err(FieldError("this must be filled in".to_owned())));
    }

    #[test]
    fn a_value_of_another_type_fits_no_field() {
        for (schema, value) in [
            (json!({ "type": "string" }), json!([])),
            (json!({ "type": "number" }), json!("one")),
            (json!({ "type": "integer" }), json!(1.5)),
            (json!({ "type": "boolean" }), json!("maybe")),
            (json!({ "type": "string", "enum": ["a"] }), json!(["a", "b"])),
            (json!({ "type": "array", "items": { "enum": ["a"] } }), json!("b")),
            (json!({ "type": "array", "items": { "enum": ["a"] } }), json!([1])),
        ] {
            assert!(field(&schema, false).check(&value).is_err(), "{value} for {schema}");
        }
    }
}
