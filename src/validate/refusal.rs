//! One thing that a schema has against a value, whoever found it.

use std::borrow::Cow;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

/// A place where a schema refuses a value, and why.
#[derive(Debug)]
pub(super) struct Refusal<'e> {
    /// JSON Pointer into the value.
    pub(super) place: String,
    /// JSON Pointer to the keyword that refuses it.
    pub(super) keyword: String,
    /// The value that is refused.
    pub(super) found: Cow<'e, Value>,
    pub(super) why: Why<'e>,
}

#[derive(Debug)]
pub(super) enum Why<'e> {
    /// A keyword that looks at the value alone.
    Keyword(Kind),
    /// The same, in the validator's words.
    Words(String),
    /// None of so many branches fits; what each has against it, as far as that was asked.
    NoBranch(usize, Vec<Vec<Refusal<'e>>>),
    /// A property's name is refused.
    Name(Box<Refusal<'e>>),
    /// More than one branch of `oneOf` fits.
    Several,
    /// What `not` names fits.
    Excluded,
    /// Too few items are of the kind that `contains` names.
    NoItem,
    /// The schema is `false`.
    Never,
}

impl<'e> Refusal<'e> {
    /// An error of the validator of the subschema at `at`, which was asked about
    /// `value`, the value at `place`.
    pub(super) fn of(error: ValidationError<'_>, value: &'e Value, place: &str, at: &str) -> Self {
        let found = match value.pointer(error.instance_path().as_str()) {
            Some(found) => Cow::Borrowed(found),
            None => Cow::Owned(Value::Null),
        };
        let here = format!("{place}{}", error.instance_path().as_str());
        let keyword = format!("{at}{}", error.schema_path().as_str());
        let words = match error.kind() {
            Kind::BacktrackLimitExceeded { .. }
            | Kind::RegexEngineFailure { .. }
            | Kind::ContentEncoding { .. }
            | Kind::ContentMediaType { .. }
            | Kind::Custom { .. }
            | Kind::Format { .. }
            | Kind::FromUtf8 { .. }
            | Kind::UnevaluatedItems { .. }
            | Kind::Referencing(_) => Some(error.masked().to_string()),
            _ => None,
        };
        let why = match (error.into_parts().kind, words) {
            (_, Some(words)) => Why::Words(words),
            (Kind::AnyOf { context } | Kind::OneOfNotValid { context }, _) => {
                let inner =
                    |branch: Vec<_>| branch.into_iter().map(|error| Refusal::of(error, value, place, at)).collect();
                Why::NoBranch(context.len(), context.into_iter().map(inner).collect())
            }
            (Kind::PropertyNames { error }, _) => {
                // What it found is the name, which stands nowhere in the value.
                let name = error.instance().as_ref().clone();
                let inner = Refusal::of(*error, value, place, at);
                Why::Name(Box::new(Refusal { found: Cow::Owned(name), ..inner }))
            }
            (Kind::OneOfMultipleValid { .. }, _) => Why::Several,
            (Kind::Not { .. }, _) => Why::Excluded,
            (Kind::Contains, _) => Why::NoItem,
            (Kind::FalseSchema, _) => Why::Never,
            (kind, _) => Why::Keyword(kind),
        };
        Refusal { place: here, keyword, found, why }
    }

    /// What a keyword says that looks at the value alone.
    pub(super) fn kind(&self) -> Option<&Kind> {
        match &self.why {
            Why::Keyword(kind) => Some(kind),
            _ => None,
        }
    }
}
