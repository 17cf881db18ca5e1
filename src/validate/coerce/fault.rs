//! The faults of a value: the places that a schema refused, and its requirements there.

use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::Location;
use jsonschema::{JsonTypeSet, ValidationError};
use serde_json::Value;

/// The requirement of a schema that refused a value.
pub(super) enum Requirement {
    Types(JsonTypeSet),
    /// One of these values (an array).
    Options(Arc<Value>),
    /// This value.
    Only(Arc<Value>),
    /// A missing property.
    Property(String),
    /// No properties other than the declared ones.
    OtherKeys,
    /// A match of one of this many branches, whose array is at this pointer.
    Branch(String, usize),
    /// Any other requirement, which no other reading of the value can meet.
    Other,
}

/// A place where a schema refused a value, and its requirement there.
pub(super) struct SchemaFault {
    pub(super) path: String,
    pub(super) need: Requirement,
}

impl SchemaFault {
    /// Converts an error of the validator of the subschema at `at`.
    pub(super) fn of(error: &ValidationError<'_>, at: &str) -> Self {
        let need = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                Requirement::Branch(absolute(at, error.schema_path(), error.evaluation_path()), context.len())
            }
            kind => Requirement::of(kind),
        };
        SchemaFault { path: error.instance_path().as_str().to_owned(), need }
    }
}

impl Requirement {
    /// Returns the requirement of a keyword that concerns one value alone.
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Type { kind: TypeKind::Single(one) } => Requirement::Types(JsonTypeSet::empty().insert(*one)),
            Kind::Type { kind: TypeKind::Multiple(types) } => Requirement::Types(*types),
            Kind::Enum { options } => Requirement::Options(Arc::clone(options)),
            Kind::Constant { expected_value } => Requirement::Only(Arc::clone(expected_value)),
            Kind::Required { property } => Requirement::Property(property.as_str().unwrap_or_default().to_owned()),
            Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => Requirement::OtherKeys,
            _ => Requirement::Other,
        }
    }
}

/// Returns the pointer of a keyword in the whole schema. The validator of a branch counts from the branch until a
/// reference was followed, then from the root.
fn absolute(at: &str, schema_path: &Location, evaluation_path: &Location) -> String {
    let followed = schema_path != evaluation_path;
    let from = if followed { "" } else { at };
    format!("{from}{}", schema_path.as_str())
}
