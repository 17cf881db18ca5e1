//! The schema that an answer must match.

use serde_json::Value;

use super::coerce;
use super::compile::{CompiledSchema, OutputSchemaError};
use super::work::Work;
use crate::event::Repair;
use crate::tools::example_value;

/// A compiled JSON Schema that an answer must match.
///
/// Drafts and references are handled as in a tool's schema (see the [module](super#schemas)), and so is the
/// [coercion](super#coercion) of values in another notation.
///
/// ```
/// use serde_json::json;
/// use toolgraft::validate::OutputSchema;
///
/// let schema = OutputSchema::new(json!({"type": "object", "properties": {"days": {"type": "integer"}}}))?;
/// let (value, repairs) = schema.check(&json!({"days": "3"}), "").unwrap();
/// assert_eq!((value, repairs[0].to_string()), (json!({"days": 3}), "coerced:/days".to_owned()));
/// assert_eq!(
///     schema.check(&json!({"days": "three"}), "").unwrap_err().to_string(),
///     "/days: expected integer, found string \"three\""
/// );
/// # Ok::<(), toolgraft::validate::OutputSchemaError>(())
/// ```
#[derive(Debug)]
pub struct OutputSchema {
    schema: Value,
    compiled: CompiledSchema,
}

/// Error for a value that does not match the schema of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Mismatch {
    /// The expected values and their places, as a message to the model.
    pub message: String,
}

impl OutputSchema {
    /// Compiles the JSON Schema of an answer; its formats are only hints.
    ///
    /// # Errors
    /// The value is not a schema, or refers to another document.
    pub fn new(schema: Value) -> Result<Self, OutputSchemaError> {
        OutputSchema::compiled(schema, false)
    }

    /// Compiles the JSON Schema of an answer whose formats (`email`, `date`) are checked.
    ///
    /// # Errors
    /// The value is not a schema, or refers to another document.
    pub fn with_formats(schema: Value) -> Result<Self, OutputSchemaError> {
        OutputSchema::compiled(schema, true)
    }

    fn compiled(schema: Value, formats: bool) -> Result<Self, OutputSchemaError> {
        if !schema.is_object() && !schema.is_boolean() {
            let message = format!("expected an object, found {}", super::describe::value(&schema));
            return Err(OutputSchemaError { message, source: None });
        }
        let compiled = CompiledSchema::with_formats(&schema, formats)?;
        Ok(OutputSchema { schema, compiled })
    }

    /// Returns the JSON Schema that was compiled.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Generates a value that the schema accepts, if possible.
    pub fn example(&self) -> Option<Value> {
        Some(example_value(&self.schema)).filter(|value| coerce::takes(&self.compiled, value))
    }

    /// Checks an answer, and returns its value in the form that the schema requires, with the repairs.
    ///
    /// `raw` is the value's text as written, for the notation of numbers.
    ///
    /// # Errors
    /// [`Mismatch`] with the expected values and their places, as a message to the model.
    pub fn check(&self, value: &Value, raw: &str) -> Result<(Value, Vec<Repair>), Mismatch> {
        self.check_counted(value, raw).0
    }

    /// Checks an answer as [`check`](Self::check) does, and returns the number of steps as well: at most
    /// [`max_steps`](super::max_steps) of the value.
    pub fn check_counted(&self, value: &Value, raw: &str) -> (Result<(Value, Vec<Repair>), Mismatch>, usize) {
        let work = Work::on(value);
        let checked = coerce::coerce_value(&self.compiled, value, raw, &work)
            .map(|coerced| coerced.unwrap_or_else(|| (value.clone(), Vec::new())))
            .map_err(|message| Mismatch { message });
        (checked, work.done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_schema_is_an_error_that_names_the_place() {
        for (schema, words) in [
            (json!({"type": "objekt"}), "/type"),
            (json!({"properties": {"a": {"minimum": "x"}}}), "/properties/a/minimum"),
            (json!({"$ref": "https://schema.example/a.json"}), "https://schema.example/a.json"),
            (json!([1]), "expected an object, found array of 1 item"),
            (json!("object"), "expected an object, found string"),
        ] {
            let error = OutputSchema::new(schema.clone()).unwrap_err();
            assert_eq!(std::error::Error::source(&error).is_some(), schema.is_object(), "{schema}");
            let error = error.to_string();
            assert!(
                error.starts_with("this is not a usable JSON Schema: ") && error.contains(words),
                "{schema}: {error}"
            );
        }
    }

    #[test]
    fn any_type_can_be_wanted_and_drafts_are_those_of_tools() {
        for (schema, value) in [
            (json!({"type": "array", "items": {"type": "integer"}}), json!([1, 2])),
            (json!({"enum": ["red", "green"]}), json!("red")),
            (json!({"type": "number"}), json!(1.5)),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}),
                json!(["a"]),
            ),
            (json!(true), json!(null)),
        ] {
            assert_eq!(OutputSchema::new(schema).unwrap().check(&value, "").unwrap(), (value, vec![]));
        }
    }

    #[test]
    fn values_are_coerced_at_any_depth_and_named() {
        let schema = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}});
        let schema = OutputSchema::new(schema).unwrap();
        let (value, repairs) = schema.check(&json!([{"n": "1"}, {"n": 2.0}]), r#"[{"n": "1"}, {"n": 2.0}]"#).unwrap();
        assert_eq!(value, json!([{"n": 1}, {"n": 2}]));
        assert_eq!(repairs, [Repair::Coerced("/0/n".into()), Repair::Coerced("/1/n".into())]);
    }

    #[test]
    fn the_example_is_one_that_the_schema_accepts() {
        for (schema, example) in [
            (
                json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}),
                Some(json!({"city": "city-1", "days": 1})),
            ),
            (json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}), Some(json!(["a", "b"]))),
            (json!({"type": "boolean"}), Some(json!(true))),
            (json!({"type": "string", "pattern": "^x{40}$"}), None),
        ] {
            assert_eq!(OutputSchema::new(schema.clone()).unwrap().example(), example, "{schema}");
        }
    }
}
