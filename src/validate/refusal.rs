//! A refusal of a value by a schema, independent of the validator's types.

use std::borrow::Cow;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

/// A place where a schema refuses a value, and the reason.
#[derive(Debug)]
pub(super) struct Refusal<'e> {
    /// JSON Pointer into the value.
    pub(super) place: String,
    /// JSON Pointer to the keyword that refuses it.
    pub(super) keyword: String,
    /// The refused value.
    pub(super) found: Cow<'e, Value>,
    pub(super) why: Why<'e>,
}

#[derive(Debug)]
pub(super) enum Why<'e> {
    /// A keyword that concerns one value alone refuses it.
    Keyword(Kind),
    /// As `Keyword`, in the validator's own words.
    Words(String),
    /// None of so many branches matches; with the refusals of each branch, as far as they are known.
    NoBranch(usize, Vec<Vec<Refusal<'e>>>),
    /// A property's name is refused.
    Name(Box<Refusal<'e>>),
    /// More than one branch of `oneOf` fits.
    Several,
    /// The value matches the schema in `not`.
    Excluded,
    /// Too few items match the schema in `contains`.
    NoItem,
    /// The schema is `false`.
    Never,
}

impl<'e> Refusal<'e> {
    /// Converts an error of the validator, which was asked about `value`.
    pub(super) fn of(error: ValidationError<'_>, value: &'e Value) -> Self {
        let found = match value.pointer(error.instance_path().as_str()) {
            Some(found) => Cow::Borrowed(found),
            None => Cow::Owned(Value::Null),
        };
        let place = error.instance_path().as_str().to_owned();
        let keyword = error.schema_path().as_str().to_owned();
        let words = match error.kind() {
            Kind::BacktrackLimitExceeded { .. }
            | Kind::RegexEngineFailure { .. }
            | Kind::ContentEncoding { .. }
            | Kind::ContentMediaType { .. }
            | Kind::Custom { .. }
            | Kind::FromUtf8 { .. }
            | Kind::UnevaluatedItems { .. }
            | Kind::Referencing(_) => Some(error.masked().to_string()),
            _ => None,
        };
        let why = match (error.into_parts().kind, words) {
            (_, Some(words)) => Why::Words(words),
            (Kind::AnyOf { context } | Kind::OneOfNotValid { context }, _) => {
                let inner = |branch: Vec<_>| branch.into_iter().map(|error| Refusal::of(error, value)).collect();
                Why::NoBranch(context.len(), context.into_iter().map(inner).collect())
            }
            (Kind::PropertyNames { error }, _) => {
                // The refused value is the name itself, which is not a value in the arguments.
                let name = error.instance().as_ref().clone();
                let inner = Refusal::of(*error, value);
                Why::Name(Box::new(Refusal { found: Cow::Owned(name), ..inner }))
            }
            (Kind::OneOfMultipleValid { .. }, _) => Why::Several,
            (Kind::Not { .. }, _) => Why::Excluded,
            (Kind::Contains, _) => Why::NoItem,
            (Kind::FalseSchema, _) => Why::Never,
            (kind, _) => Why::Keyword(kind),
        };
        Refusal { place, keyword, found, why }
    }

    /// Returns the error of a keyword that concerns one value alone.
    pub(super) fn kind(&self) -> Option<&Kind> {
        match &self.why {
            Why::Keyword(kind) => Some(kind),
            _ => None,
        }
    }
}
