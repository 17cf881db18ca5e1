//! The faults of a value: the places that a schema refused, and its requirements there.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

/// A place where a schema refused a value, and the keyword that did.
pub(super) struct SchemaFault {
    pub(super) path: String,
    pub(super) kind: Kind,
    /// Pointer, in the whole schema, to the branches none of which matches; empty for other keywords.
    pub(super) branches: String,
}

impl SchemaFault {
    /// Converts an error from the validator of the subschema at `at` into a fault.
    pub(super) fn of(error: ValidationError<'_>, at: &str) -> Self {
        let branches = match error.kind() {
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => absolute(at, &error),
            _ => String::new(),
        };
        let path = error.instance_path().as_str().to_owned();
        SchemaFault { path, kind: error.into_parts().kind, branches }
    }
}

/// Returns the pointer of the error's keyword in the whole schema. The validator of a branch counts from the branch
/// until a reference was followed, then from the root.
fn absolute(at: &str, error: &ValidationError<'_>) -> String {
    let from = if error.schema_path() != error.evaluation_path() { "" } else { at };
    format!("{from}{}", error.schema_path().as_str())
}
