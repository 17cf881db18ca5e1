//! A schema, as an MCP server sent it, to validators.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jsonschema::{Draft, ValidationOptions, Validator, ValidatorMap};
use serde_json::{Value, json};

use super::depth::{Depth, MAX_DEPTH, references};
use super::nullable::nullable;
use super::parts::{Rules, is_plain, visits};
use super::work::nodes;
use crate::cause::Cause;
use crate::tools::schema::unescaped;

/// Schemas with more nodes than this have no validators for their branches,
/// which are then judged part by part: each takes kilobytes.
const MAX_BRANCH_NODES: usize = 2_000;

/// Nodes that are compiled for the branches of a schema, each time that a subschema or a
/// reference holds them: where all refer to each other it is the square of their number. A
/// node takes about a microsecond.
const MAX_BRANCH_WORK: usize = 100_000;

/// Schemas with more parts than this are not compiled. The largest of real servers have a few
/// thousand; one with a hundred thousand branches takes many seconds for one call.
const MAX_PARTS: usize = 20_000;

/// The same for everything in a schema, values that it lists included.
const MAX_NODES: usize = 200_000;

/// Bytes that a compiled schema takes for each of its nodes, about, and its branches beside that.
const NODE_BYTES: usize = 1 << 10;
const BRANCH_BYTES: usize = 4 << 10;

/// Error messages of the schema compiler are cut after this many characters:
/// some hold the whole schema.
const MAX_PROBLEM: usize = 300;

/// Subschemas that are held against a value to see whether the validator works.
const MAX_TRIED: usize = 2_000;

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) validator: Validator,
    draft: Draft,
    /// The schema that was compiled, where it is another one than the server's.
    read_as: Option<Value>,
    /// No reference of the schema is more than a pointer from its root.
    plain: bool,
    nodes: usize,
    /// How deep it is.
    pub(super) depth: Depth,
    /// Validators of all subschemas by pointer; built when a branch is first tried.
    branches: OnceLock<Option<ValidatorMap>>,
    /// What each subschema says about one value alone; built when many are asked.
    alone: OnceLock<Option<ValidatorMap>>,
}

/// What is wrong with a schema, and where in it.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) message: String,
    /// The error of the schema compiler, uncut.
    pub(super) source: Cause,
}

/// The validator panics over a schema.
#[derive(Debug, thiserror::Error)]
#[error("the validator panics")]
struct Broken;

/// A schema is too large to check calls by it.
#[derive(Debug, thiserror::Error)]
#[error("it has more than {0} parts, and calls are not checked by as many")]
struct TooLarge(usize);

/// The parts of a schema stand too deep in each other to check calls by it.
#[derive(Debug, thiserror::Error)]
#[error("its parts stand more than {MAX_DEPTH} levels deep in each other")]
struct TooDeep;

/// Parts of a schema: arrays and objects, but for those in values that it lists.
fn parts(schema: &Value) -> usize {
    1 + match schema {
        Value::Array(items) => items.iter().filter(|part| is_part(part)).map(parts).sum(),
        Value::Object(members) => members
            .iter()
            .filter(|(key, part)| !matches!(key.as_str(), "enum" | "const" | "default" | "examples") && is_part(part))
            .map(|(_, part)| parts(part))
            .sum(),
        _ => 0,
    }
}

fn is_part(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

impl Compiled {
    /// Compiles a schema.
    ///
    /// # Errors
    /// What is wrong with the schema, and where.
    pub(super) fn new(server: &Value) -> Result<Self, Unusable> {
        let nodes = nodes(server);
        if nodes > MAX_NODES || parts(server) > MAX_PARTS {
            let error = TooLarge(if nodes > MAX_NODES { MAX_NODES } else { MAX_PARTS });
            return Err(Unusable { message: error.to_string(), source: Cause::new(error) });
        }
        let depth = Depth::of(server);
        if depth.levels > MAX_DEPTH {
            return Err(Unusable { message: TooDeep.to_string(), source: Cause::new(TooDeep) });
        }
        depth.compile(|| Compiled::of(server, nodes, depth))
    }

    fn of(server: &Value, nodes: usize, depth: Depth) -> Result<Self, Unusable> {
        let read_as = nullable(server);
        let schema = read_as.as_ref().unwrap_or(server);
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
                let plain = is_plain(schema);
                let compiled = Compiled {
                    validator,
                    draft,
                    read_as,
                    plain,
                    nodes,
                    depth,
                    branches: OnceLock::new(),
                    alone: OnceLock::new(),
                };
                if compiled.breaks(compiled.schema(server)) {
                    let message = "the validator itself fails over it".to_owned();
                    return Err(Unusable { source: Cause::new(Broken), message });
                }
                Ok(compiled)
            }
            Err(error) => {
                let place = error.instance_path().as_str();
                let place = if place.is_empty() { "" } else { &format!("{place}: ") };
                let what = match error.instance().as_str().filter(|_| place.ends_with("type: ")) {
                    Some(name) => format!("{name:?} is no type: expected one of {}", TYPES.join(", ")),
                    None => error.to_string(),
                };
                let message = super::describe::cut(&format!("{place}{what}"), MAX_PROBLEM);
                Err(Unusable { message, source: Cause::new(error) })
            }
        }
    }

    /// Bytes that it takes, about.
    pub(super) fn weight(&self) -> usize {
        let built = |map: &OnceLock<Option<ValidatorMap>>| map.get().is_some_and(Option::is_some);
        let branches = if built(&self.branches) { BRANCH_BYTES } else { 0 };
        let alone = if built(&self.alone) { NODE_BYTES } else { 0 };
        self.nodes * (NODE_BYTES + branches + alone)
    }

    /// The schema that was compiled, of the one that a server sent.
    pub(super) fn schema<'s>(&'s self, server: &'s Value) -> &'s Value {
        self.read_as.as_ref().unwrap_or(server)
    }

    /// Whether the validator panics over one of the simplest values.
    fn breaks(&self, schema: &Value) -> bool {
        let rules = self.rules(schema);
        let mut asked = [json!(null), json!("x"), json!([]), json!({})].into_iter();
        asked.any(|value| {
            let ask = || (self.validator.is_valid(&value), self.validator.iter_errors(&value).count());
            visits(&rules, schema, &value, MAX_TRIED).is_some() && unbroken(ask).is_none()
        })
    }

    /// The schema as its draft reads it; `schema` is the one that was compiled.
    pub(super) fn rules<'s>(&self, schema: &'s Value) -> Rules<'s> {
        Rules::new(schema, self.draft, self.plain)
    }

    /// The validator of the subschema at a JSON Pointer, if it has one of its own.
    pub(super) fn branch(&self, schema: &Value, pointer: &str) -> Option<&Validator> {
        let map = self.branches.get_or_init(|| {
            let is_little = self.nodes <= MAX_BRANCH_NODES && branch_work(schema, MAX_BRANCH_WORK).is_some();
            is_little.then(|| options(self.draft).build_map(schema).ok()).flatten()
        });
        map.as_ref()?.get(&format!("#{pointer}"))
    }

    /// What the subschemas say about one value alone, by their numbers, all compiled together:
    /// one by one each takes a thousand times as long. `parts` gives them.
    pub(super) fn alone(&self, parts: impl FnOnce() -> Vec<Value>) -> Option<&ValidatorMap> {
        let map = self.alone.get_or_init(|| {
            // Under a name that no draft knows: they were looked at with the whole schema.
            let all = json!({ ALONE: parts() });
            options(self.draft).build_map(&all).ok()
        });
        map.as_ref()
    }

    /// Whether they are compiled.
    pub(super) fn has_alone(&self) -> bool {
        self.alone.get().is_some()
    }
}

/// Where the keywords stand that are compiled together.
const ALONE: &str = "alone";

/// The name of the subschema with this number in [`Compiled::alone`].
pub(super) fn alone_at(number: usize) -> String {
    format!("#/{ALONE}/{number}")
}

/// Nodes that are compiled for validators of all subschemas, as [`MAX_BRANCH_WORK`] counts them;
/// `None` where it is more than `limit`.
pub(super) fn branch_work(schema: &Value, limit: usize) -> Option<usize> {
    // Subschemas that are referred to, with what they refer to.
    let mut targets: Vec<(&str, usize, Vec<usize>)> = Vec::new();
    let mut waiting = references(schema);
    while let Some(reference) = waiting.pop() {
        if targets.iter().any(|(known, ..)| *known == reference) {
            continue;
        }
        // What is more than a pointer may mean anything.
        let target = reference.strip_prefix('#').and_then(|at| schema.pointer(&unescaped(at))).unwrap_or(schema);
        targets.push((reference, nodes(target), Vec::new()));
        waiting.extend(references(target));
        if targets.len() > limit {
            return None;
        }
    }
    let index = |reference: &str, targets: &[(&str, usize, Vec<usize>)]| {
        targets.iter().position(|(known, ..)| *known == reference)
    };
    for at in 0..targets.len() {
        let target = targets[at].0.strip_prefix('#').and_then(|at| schema.pointer(&unescaped(at))).unwrap_or(schema);
        targets[at].2 = references(target).into_iter().filter_map(|next| index(next, &targets)).collect();
    }
    let mut work = 0;
    let mut inner = vec![schema];
    while let Some(value) = inner.pop() {
        match value {
            Value::Object(members) => {
                inner.extend(members.values());
                let mut reached: Vec<usize> = Vec::new();
                let mut next: Vec<usize> =
                    references(value).into_iter().filter_map(|reference| index(reference, &targets)).collect();
                work += nodes(value);
                while let Some(target) = next.pop() {
                    if !reached.contains(&target) {
                        reached.push(target);
                        work += targets[target].1;
                        next.extend(&targets[target].2);
                    }
                }
            }
            Value::Array(items) => inner.extend(items),
            _ => {}
        }
        if work > limit {
            return None;
        }
    }
    Some(work)
}

/// What the validator says; `None` where it panics. Version 0.60 does over some schemas
/// that recur and say `unevaluatedProperties` (its "pending schema target dropped"), and
/// a schema is whatever a server sends.
pub(super) fn unbroken<T>(ask: impl FnOnce() -> T) -> Option<T> {
    // It keeps nothing from one question to the next.
    catch_unwind(AssertUnwindSafe(ask)).ok()
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
        let problem = Compiled::new(&schema).unwrap_err().message;
        assert!(problem.starts_with("/properties/x/type: "), "{problem}");
        assert!(problem.chars().count() <= MAX_PROBLEM + 1, "{problem}");
    }

    /// Version 0.60 panics over this one, whatever the value.
    #[test]
    fn a_schema_that_the_validator_panics_over_is_unusable() {
        let again = json!({"patternProperties": {"^x": {"allOf": [{"$ref": "#/$defs/c"}, {"$ref": "#/$defs/a"}]}}});
        let parts = json!({"a": {"$ref": "#/$defs/c"}, "c": {"patternProperties": {"^x": again}}});
        let schema = json!({"unevaluatedProperties": false, "$defs": parts, "$ref": "#/$defs/a"});
        assert_eq!(Compiled::new(&schema).unwrap_err().message, "the validator itself fails over it");
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
