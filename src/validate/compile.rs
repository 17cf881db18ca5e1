//! A schema, as an MCP server sent it, to validators.

use std::sync::OnceLock;

use jsonschema::{Draft, ValidationOptions, Validator, ValidatorMap};
use serde_json::Value;

use super::parts::{Rules, is_plain};

/// Schemas with more nodes than this have no validators for their branches,
/// which are then judged part by part: compiling every subschema takes time in
/// the square of their number.
const MAX_BRANCH_NODES: usize = 2_000;

/// Error messages of the schema compiler are cut after this many characters:
/// some hold the whole schema.
const MAX_PROBLEM: usize = 300;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) validator: Validator,
    draft: Draft,
    /// No reference of the schema is more than a pointer from its root.
    plain: bool,
    /// Validators of all subschemas by pointer; built when a branch is first tried.
    branches: OnceLock<Option<ValidatorMap>>,
}

impl Compiled {
    /// Compiles a schema.
    ///
    /// # Errors
    /// What is wrong with the schema, and where.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let (draft, declared) = draft_of(schema);
        let built = match options(draft).build(schema) {
            // Servers that leave `$schema` out often mean draft 7 (tuples, for one).
            Err(error) if !declared => {
                options(Draft::Draft7).build(schema).map(|v| (v, Draft::Draft7)).map_err(|_| error)
            }
            built => built.map(|v| (v, draft)),
        };
        match built {
            Ok((validator, draft)) => {
                Ok(Compiled { validator, draft, plain: is_plain(schema), branches: OnceLock::new() })
            }
            Err(error) => {
                let place = error.instance_path().as_str();
                let place = if place.is_empty() { "" } else { &format!("{place}: ") };
                Err(super::describe::cut(&format!("{place}{error}"), MAX_PROBLEM))
            }
        }
    }

    /// The schema as its draft reads it; `schema` is the one that was compiled.
    pub(super) fn rules<'s>(&self, schema: &'s Value) -> Rules<'s> {
        Rules::new(schema, self.draft, self.plain)
    }

    /// The validator of the subschema at a JSON Pointer, if it has one of its own.
    pub(super) fn branch(&self, schema: &Value, pointer: &str) -> Option<&Validator> {
        let map = self.branches.get_or_init(|| {
            (nodes(schema) <= MAX_BRANCH_NODES).then(|| options(self.draft).build_map(schema).ok()).flatten()
        });
        map.as_ref()?.get(&format!("#{pointer}"))
    }
}

/// Values in a value, itself included.
pub(super) fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

pub(super) fn options(draft: Draft) -> ValidationOptions<'static> {
    jsonschema::options().with_draft(draft).offline().should_validate_formats(false)
}

/// The draft that `$schema` names, and whether it named one.
fn draft_of(schema: &Value) -> (Draft, bool) {
    let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
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
    use serde_json::json;

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
            assert!(Compiled::new(&json!({"$schema": uri, "type": "object"})).is_ok(), "{uri}");
        }
        assert_eq!(draft_of(&json!({"type": "object"})).0, Draft::Draft202012);
        assert_eq!(draft_of(&json!({"$schema": 7})).0, Draft::Draft202012);
    }

    #[test]
    fn a_problem_names_the_place_and_is_bounded() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "x".repeat(10_000)}}});
        let problem = Compiled::new(&schema).unwrap_err();
        assert!(problem.starts_with("/properties/x/type: "), "{problem}");
        assert!(problem.chars().count() <= MAX_PROBLEM + 1, "{problem}");
    }

    #[test]
    fn a_huge_schema_has_no_branches_and_still_checks() {
        let options: Vec<Value> = (0..MAX_BRANCH_NODES).map(Value::from).collect();
        let schema = json!({"properties": {"x": {"anyOf": [{"enum": options}]}}});
        let compiled = Compiled::new(&schema).unwrap();
        assert!(compiled.branch(&schema, "/properties/x/anyOf/0").is_none());
        assert!(!compiled.validator.is_valid(&json!({"x": "1"})));
    }
}
