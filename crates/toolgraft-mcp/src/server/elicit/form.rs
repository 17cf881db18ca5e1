//! The fields of a form, read from the schema that a server sends.
//!
//! A form is a flat object whose fields are texts, numbers, booleans and choices
//! (modelcontextprotocol.io/specification/2025-11-25/client/elicitation). The form of optional
//! fields in SDKs is accepted too: a type together with `null`.

use serde_json::{Map, Value, json};

use toolgraft::validate::OutputSchema;

/// A form with which a server asks the user for input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Form {
    /// The fields of the form, in the server's order.
    pub fields: Vec<FormField>,
}

/// A field of a form. All texts in it come from the server and are untrusted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// The key of the field in the answer to the form.
    pub name: String,
    /// A label to show instead of the name or value; `None` if the server sent none.
    pub title: Option<String>,
    /// An explanation of the field to show; `None` if the server sent none.
    pub description: Option<String>,
    /// `true` if the answer to the form must have the field.
    pub required: bool,
    /// The type of the field's value.
    pub kind: FieldKind,
    /// The JSON Schema of the field's value, with its limits and its format.
    pub schema: Value,
    /// The value that the server proposes for the field; `None` if it proposes none, or one that does not fit the
    /// field.
    pub default: Option<Value>,
}

/// The type of the value of a form's field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string.
    Text,
    /// A number, with or without a fraction.
    Number,
    /// A whole number.
    Integer,
    /// A boolean, asked as yes or no.
    Boolean,
    /// One value of a list of choices.
    Choice(Vec<FieldChoice>),
    /// Any number of values of a list of choices.
    Choices(Vec<FieldChoice>),
}

/// A value that the user can choose for a field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChoice {
    /// The value that the answer to the form contains if the user chooses it.
    pub value: String,
    /// A label to show instead of the name or value; `None` if the server sent none.
    pub title: Option<String>,
}

impl FieldKind {
    /// Returns the choices of a field; empty if the field has another type.
    pub fn choices(&self) -> &[FieldChoice] {
        match self {
            FieldKind::Choice(choices) | FieldKind::Choices(choices) => choices,
            _ => &[],
        }
    }

    /// Returns `true` if a choice may be typed as its position in the list, from 1, because no
    /// choice is itself a number.
    pub fn is_numbered(&self) -> bool {
        let names = self.choices().iter().flat_map(|choice| [Some(&choice.value), choice.title.as_ref()]);
        names.flatten().all(|name| name.parse::<usize>().is_err())
    }
}

impl Form {
    /// Reads a form from the JSON Schema that a server sends. An `Err` names the field of a type that a form cannot
    /// have.
    pub(super) fn read(schema: &Value) -> Result<Form, String> {
        let fields = schema.get("properties").and_then(Value::as_object);
        let fields = fields.ok_or("its schema has no object \"properties\"")?;
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let field = |(name, schema): (&String, &Value)| {
            let required = required.iter().any(|one| one == name);
            field(name, schema, required)
                .ok_or_else(|| format!("the field {name:?} is not a text, number, boolean or choice"))
        };
        Ok(Form { fields: fields.iter().map(field).collect::<Result<_, _>>()? })
    }

    /// Checks the user's answer to a form, and returns it with its values converted to the types of the fields. An
    /// `Err` names the field that does not fit.
    pub(super) fn check(&self, content: Map<String, Value>) -> Result<Value, FieldError> {
        let properties: Map<String, Value> =
            self.fields.iter().map(|field| (field.name.clone(), field.schema.clone())).collect();
        let required: Vec<&str> =
            self.fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        fitted(schema, &content.into())
    }
}

fn field(name: &str, schema: &Value, required: bool) -> Option<FormField> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    let own = beside_null(schema).unwrap_or(schema);
    let field = FormField {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        required,
        kind: kind(own)?,
        schema: own.clone(),
        default: None,
    };
    // A default that the server itself would refuse is ignored.
    let default = schema.get("default").and_then(|default| field.check(default).ok());
    Some(FormField { default, ..field })
}

fn kind(schema: &Value) -> Option<FieldKind> {
    if ["enum", "oneOf", "anyOf"].iter().any(|key| schema.get(*key).is_some()) {
        return choices(schema).map(FieldKind::Choice);
    }
    match type_of(schema)? {
        "string" => Some(FieldKind::Text),
        "number" => Some(FieldKind::Number),
        "integer" => Some(FieldKind::Integer),
        "boolean" => Some(FieldKind::Boolean),
        "array" => choices(schema.get("items")?).map(FieldKind::Choices),
        _ => None,
    }
}

/// Returns the type in a field's schema, without the `null` of an optional field; `None` if it names several.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(one) => Some(one),
        Value::Array(several) => {
            let mut named = several.iter().filter_map(Value::as_str).filter(|one| *one != "null");
            // With two types it is not known how typed text is to be read.
            named.next().filter(|_| named.next().is_none())
        }
        _ => None,
    }
}

/// Returns the schema beside `null` in the `anyOf` of an optional field; `None` if the schema has another form.
fn beside_null(schema: &Value) -> Option<&Value> {
    let all = schema.get("anyOf")?.as_array()?;
    match all.as_slice() {
        [inner, null] | [null, inner] if null["type"] == "null" => Some(inner),
        _ => None,
    }
}

/// Returns the choices of a field's schema: the values of `enum`, with optional `enumNames`, or the constants of
/// `oneOf` or `anyOf` with titles; `None` if it has none.
fn choices(schema: &Value) -> Option<Vec<FieldChoice>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let title = |at: usize| schema.get("enumNames")?.get(at).and_then(text);
        let choice = |(at, value): (usize, &Value)| Some(FieldChoice { value: text(value)?, title: title(at) });
        return values.iter().enumerate().map(choice).collect();
    }
    let values = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)?;
    let choice =
        |one: &Value| Some(FieldChoice { value: text(one.get("const")?)?, title: one.get("title").and_then(text) });
    values.iter().map(choice).collect()
}

/// The reason that a value does not fit a field of a form, as a message for the user who typed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldError(pub(super) String);

/// Checks a value against a JSON Schema, formats included, and returns it converted to the schema's types.
pub(super) fn fitted(schema: Value, value: &Value) -> Result<Value, FieldError> {
    let schema = OutputSchema::with_formats(schema).map_err(|error| FieldError(error.to_string()))?;
    let checked = schema.check(value, "").map_err(|mismatch| FieldError(mismatch.message))?;
    Ok(checked.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(schema: Value) -> FormField {
        let form = Form::read(&json!({ "type": "object", "properties": { "x": schema } })).unwrap();
        form.fields.into_iter().next().unwrap()
    }

    fn choices(values: &[(&str, Option<&str>)]) -> Vec<FieldChoice> {
        let choice = |(value, title): &(&str, Option<&str>)| FieldChoice {
            value: (*value).to_owned(),
            title: title.map(str::to_owned),
        };
        values.iter().map(choice).collect()
    }

    #[test]
    fn each_kind_of_field_is_read() {
        for (schema, kind) in [
            (json!({ "type": "string", "minLength": 2 }), FieldKind::Text),
            (json!({ "type": "string", "format": "phone" }), FieldKind::Text),
            (json!({ "type": ["string", "null"] }), FieldKind::Text),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null }), FieldKind::Text),
            (json!({ "type": "number", "maximum": 1.5 }), FieldKind::Number),
            (json!({ "type": "integer", "minimum": 0.5, "maximum": 3 }), FieldKind::Integer),
            (json!({ "type": "boolean" }), FieldKind::Boolean),
            (
                json!({ "type": "string", "enum": ["r", "g"], "enumNames": ["Red"] }),
                FieldKind::Choice(choices(&[("r", Some("Red")), ("g", None)])),
            ),
            (
                json!({ "type": "string", "oneOf": [{ "const": "r", "title": "Red" }] }),
                FieldKind::Choice(choices(&[("r", Some("Red"))])),
            ),
            (
                json!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": ["a"] } }),
                FieldKind::Choices(choices(&[("a", None)])),
            ),
            (
                json!({ "type": "array", "maxItems": 2, "items": { "anyOf": [{ "const": "a", "title": "A" }] } }),
                FieldKind::Choices(choices(&[("a", Some("A"))])),
            ),
        ] {
            let field = only(schema.clone());
            assert_eq!((field.kind, field.default), (kind, None), "{schema}");
        }
    }

    #[test]
    fn fields_keep_their_order_and_what_is_said_of_them() {
        let form = Form::read(&json!({ "required": ["z"], "properties": {
            "z": { "type": "string", "title": "Zed", "description": "last", "default": "x" },
            "a": { "type": "integer", "maximum": 3, "default": 4 },
        } }));
        let [z, a] = <[FormField; 2]>::try_from(form.unwrap().fields).unwrap();
        assert_eq!((z.name.as_str(), z.title.as_deref(), z.description.as_deref()), ("z", Some("Zed"), Some("last")));
        assert_eq!((z.required, z.default), (true, Some(json!("x"))));
        assert_eq!((a.required, a.default), (false, None), "a default that does not fit is none");
    }

    #[test]
    fn what_is_no_form_is_refused_with_the_field() {
        for schema in [
            json!({ "type": "object", "properties": {} }),
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "string", "enum": [1] }),
            json!({ "type": ["string", "number"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
            json!(true),
        ] {
            let error = Form::read(&json!({ "properties": { "deep": schema } })).unwrap_err();
            assert!(error.contains("\"deep\""), "{error}");
        }
        assert!(Form::read(&json!({})).unwrap_err().contains("properties"));
    }

    #[test]
    fn an_answer_has_the_fields_of_the_form() {
        let form = Form::read(&json!({ "required": ["n"], "properties": {
            "n": { "type": "integer", "minimum": 1 }, "o": { "type": "string" } } }));
        let form = form.unwrap();
        let check = |content: Value| form.check(content.as_object().unwrap().clone());
        assert_eq!(check(json!({ "n": 1 })), Ok(json!({ "n": 1 })));
        assert_eq!(check(json!({ "n": "2" })), Ok(json!({ "n": 2 })), "in the type of the field");
        for (content, named) in [
            (json!({ "o": "x" }), "missing required property \"n\""),
            (json!({ "n": 0 }), "/n: expected at least 1"),
            (json!({ "n": 1, "o": [] }), "/o: expected string"),
            (json!({ "n": 1, "p": 2 }), "unknown property \"p\""),
        ] {
            let error = check(content).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
