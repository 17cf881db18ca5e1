//! Compiles a schema from an MCP server into validators.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jsonschema::{Draft, ValidationOptions, Validator, ValidatorMap};
use serde_json::{Value, json};

use super::depth::levels;
use super::nullable::nullable;
use super::parts::visits;
use super::references::{MAX_SCHEMA_REFERENCES, Targets};
use super::work::{nodes, sum};
use crate::cause::Cause;
use crate::outcome::shortened;

/// A schema with more nodes than this has no validators for its branches, so that values in them are not coerced: each
/// validator takes kilobytes.
const MAX_BRANCH_NODES: usize = 2_000;

/// Limit on the nodes that are compiled for the branches of a schema, each time a subschema or a reference contains
/// them: if all refer to each other, it is the square of their number. A node takes about a microsecond.
const MAX_BRANCH_WORK: usize = 100_000;

/// Limit on the nodes (objects, arrays and values) of a schema. Calls are not checked against a larger one: the schemas
/// of 2,800 public tools have at most 660.
pub const MAX_SCHEMA_NODES: usize = 20_000;

/// Limit on the nesting of a schema's arrays and objects, with references followed. Calls are not checked against a
/// deeper one, which takes more stack than a thread has: the schemas of 2,800 public tools have at most 19 levels.
pub const MAX_SCHEMA_DEPTH: usize = 100;

/// Approximate bytes of a compiled schema for each of its nodes; `BRANCH_BYTES` are added for its branches.
const NODE_BYTES: usize = 1 << 10;
const BRANCH_BYTES: usize = 4 << 10;

/// Characters after which error messages of the schema compiler are cut: some contain the whole schema.
const MAX_PROBLEM: usize = 300;

/// Limit on the subschemas that are evaluated to test whether the validator panics.
const MAX_TRIED: usize = 2_000;

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// Compiled JSON Schema with its validators.
#[derive(Debug)]
pub(super) struct CompiledSchema {
    pub(super) validator: Validator,
    draft: Draft,
    /// The schema that was compiled: the server's, in which `nullable` is a type.
    pub(super) schema: Value,
    nodes: usize,
    /// Validators of all subschemas, by pointer; built when a branch is first tried.
    branches: OnceLock<Option<ValidatorMap>>,
}

/// Error for a JSON value that is not a usable JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not a usable JSON Schema: {message}")]
#[non_exhaustive]
pub struct OutputSchemaError {
    /// Problem with the schema, and its place.
    pub message: String,
    /// Underlying error, of the schema compiler or the validator, or for an exceeded limit.
    pub source: Option<Cause>,
}

/// Error for a schema on which the validator panics.
#[derive(Debug, thiserror::Error)]
#[error("the validator panics")]
struct ValidatorPanic;

/// Error for a schema that exceeds a limit.
#[derive(Debug, thiserror::Error)]
#[error("it has more than {0} {1}, which is too many to check calls")]
struct PastLimit(usize, &'static str);

impl CompiledSchema {
    /// Compiles a schema; its formats are only hints.
    ///
    /// # Errors
    /// The problem with the schema, and its place.
    pub(super) fn new(server: &Value) -> Result<Self, OutputSchemaError> {
        CompiledSchema::with_formats(server, false)
    }

    /// Compiles a schema; with `formats`, a text that violates its `format` is refused.
    pub(super) fn with_formats(server: &Value, formats: bool) -> Result<Self, OutputSchemaError> {
        let nodes = nodes(server);
        // Counting nodes is cheap; the depth is only measured for a schema that is not too large.
        let past = if nodes > MAX_SCHEMA_NODES {
            Some(PastLimit(MAX_SCHEMA_NODES, "nodes"))
        } else {
            match levels(server) {
                None => Some(PastLimit(MAX_SCHEMA_REFERENCES, "references")),
                Some(levels) if levels > MAX_SCHEMA_DEPTH => Some(PastLimit(MAX_SCHEMA_DEPTH, "levels")),
                Some(_) => None,
            }
        };
        if let Some(past) = past {
            return Err(OutputSchemaError { message: past.to_string(), source: Some(Cause::new(past)) });
        }
        let schema = nullable(server).unwrap_or_else(|| server.clone());
        let (draft, declared) = draft_of(&schema);
        let options = |draft| options(draft).should_validate_formats(formats);
        let built = match options(draft).build(&schema) {
            // Servers that leave out `$schema` often mean draft 7, for example its tuples.
            Err(error) if !declared => {
                options(Draft::Draft7).build(&schema).map(|v| (v, Draft::Draft7)).map_err(|_| error)
            }
            built => built.map(|v| (v, draft)),
        };
        match built {
            Ok((validator, draft)) => {
                let compiled = CompiledSchema { validator, draft, schema, nodes, branches: OnceLock::new() };
                if compiled.breaks() {
                    let message = "the validator itself fails over it".to_owned();
                    return Err(OutputSchemaError { source: Some(Cause::new(ValidatorPanic)), message });
                }
                Ok(compiled)
            }
            Err(error) => {
                let place = error.instance_path().as_str();
                let place = if place.is_empty() { "" } else { &format!("{place}: ") };
                let what = match error.instance().as_str().filter(|_| place.ends_with("type: ")) {
                    Some(name) => format!("{name:?} is not a type: expected one of {}", TYPES.join(", ")),
                    None => error.to_string(),
                };
                let message = shortened(format!("{place}{what}"), MAX_PROBLEM);
                Err(OutputSchemaError { message, source: Some(Cause::new(error)) })
            }
        }
    }

    /// Returns the approximate number of bytes that the compiled schema takes.
    pub(super) fn weight(&self) -> usize {
        let has_branches = self.branches.get().is_some_and(Option::is_some);
        self.nodes * (NODE_BYTES + if has_branches { BRANCH_BYTES } else { 0 })
    }

    /// Returns `true` if the validator panics on one of the simplest values.
    fn breaks(&self) -> bool {
        let mut asked = [json!(null), json!("x"), json!([]), json!({})].into_iter();
        asked.any(|value| {
            let ask = || (self.validator.is_valid(&value), self.validator.iter_errors(&value).count());
            // A value that would take too long is not tried.
            self.visits(&self.schema, &value, MAX_TRIED).is_some() && unbroken(ask).is_none()
        })
    }

    /// Returns an upper bound on the evaluations of subschemas when `value` is validated against `part` of the schema;
    /// see [`visits`].
    pub(super) fn visits(&self, part: &Value, value: &Value, limit: usize) -> Option<usize> {
        visits(&self.schema, self.draft, part, value, limit)
    }

    /// Returns the validator of the subschema at a JSON Pointer, if it has one of its own.
    pub(super) fn branch(&self, pointer: &str) -> Option<&Validator> {
        let map = self.branches.get_or_init(|| {
            let schema = &self.schema;
            let is_little = self.nodes <= MAX_BRANCH_NODES && branch_work(schema) <= MAX_BRANCH_WORK;
            is_little.then(|| options(self.draft).build_map(schema).ok()).flatten()
        });
        map.as_ref()?.get(&format!("#{pointer}"))
    }
}

/// Returns an upper bound on the nodes that are compiled for validators of all subschemas, as [`MAX_BRANCH_WORK`] counts
/// them: each may lead to all targets of references.
pub(super) fn branch_work(schema: &Value) -> usize {
    let Some(targets) = Targets::in_schema(schema) else { return usize::MAX };
    let of_targets: usize = targets.parts.into_iter().map(nodes).sum();
    sum(schema, &|part| if part.is_object() { nodes(part) + of_targets } else { 0 })
}

/// Calls the validator and returns its answer; `None` if it panics. Version 0.60 panics on some recursive schemas with
/// `unevaluatedProperties` ("pending schema target dropped"), and a server can send any schema.
pub(super) fn unbroken<T>(ask: impl FnOnce() -> T) -> Option<T> {
    // The validator keeps no state from one question to the next.
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

pub(super) fn options(draft: Draft) -> ValidationOptions<'static> {
    jsonschema::options().with_draft(draft).offline().should_validate_formats(false)
}

/// Returns the draft of JSON Schema that `$schema` names, and `true` if it names one.
fn draft_of(schema: &Value) -> (Draft, bool) {
    let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    // Servers write the draft's URI with and without these endings.
    let name = uri.trim().trim_end_matches('#').trim_end_matches('/');
    let name = name.split_once("json-schema.org/").map_or("", |(_, name)| name);
    match name {
        "draft-04/schema" => (Draft::Draft4, true),
        "draft-06/schema" => (Draft::Draft6, true),
        "draft-07/schema" => (Draft::Draft7, true),
        "draft/2019-09/schema" => (Draft::Draft201909, true),
        "draft/2020-12/schema" => (Draft::Draft202012, true),
        _ => (Draft::Draft202012, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_uri_decides_the_draft() {
        for (uri, draft) in [
            ("http://json-schema.org/draft-04/schema#", Draft::Draft4),
            ("http://json-schema.org/draft-06/schema", Draft::Draft6),
            ("http://json-schema.org/draft-07/schema#", Draft::Draft7),
            ("https://json-schema.org/draft-07/schema", Draft::Draft7),
            ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
            ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
            ("https://example.com/my-own", Draft::Draft202012),
            ("http://json-schema.org/schema#", Draft::Draft202012),
        ] {
            assert_eq!(draft_of(&json!({"$schema": uri})).0, draft, "{uri}");
            assert!(CompiledSchema::new(&json!({"$schema": uri, "type": "object"})).is_ok(), "{uri}");
        }
        assert_eq!(draft_of(&json!({"type": "object"})).0, Draft::Draft202012);
        assert_eq!(draft_of(&json!({"$schema": 7})).0, Draft::Draft202012);
    }

    #[test]
    fn a_problem_names_the_place_and_is_bounded() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "x".repeat(10_000)}}});
        let problem = CompiledSchema::new(&schema).unwrap_err().message;
        assert!(problem.starts_with("/properties/x/type: "), "{problem}");
        assert!(problem.chars().count() <= MAX_PROBLEM + 1, "{problem}");
    }

    /// Version 0.60 of the validator panics on the schema of this test, whatever the value.
    #[test]
    fn a_schema_that_the_validator_panics_over_is_unusable() {
        let again = json!({"patternProperties": {"^x": {"allOf": [{"$ref": "#/$defs/c"}, {"$ref": "#/$defs/a"}]}}});
        let parts = json!({"a": {"$ref": "#/$defs/c"}, "c": {"patternProperties": {"^x": again}}});
        let schema = json!({"unevaluatedProperties": false, "$defs": parts, "$ref": "#/$defs/a"});
        assert_eq!(CompiledSchema::new(&schema).unwrap_err().message, "the validator itself fails over it");
    }

    #[test]
    fn a_huge_schema_has_no_branches_and_still_checks() {
        let options: Vec<Value> = (0..MAX_BRANCH_NODES).map(Value::from).collect();
        let schema = json!({"properties": {"x": {"anyOf": [{"enum": options}]}}});
        let compiled = CompiledSchema::new(&schema).unwrap();
        assert!(compiled.branch("/properties/x/anyOf/0").is_none());
        assert!(!compiled.validator.is_valid(&json!({"x": "1"})));
    }
}
