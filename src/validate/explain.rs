//! Converts refusals to a text that a model can act on: the place, the expected value and the value found.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::describe::{self, list, quoted};
use crate::outcome::shortened;
use crate::tools;

/// Limit on the errors that a message lists.
const MAX_ERRORS: usize = 5;

/// Limit on the validation errors that are read for a message.
pub(super) const MAX_READ: usize = 100;

/// Limit on the forms of an `anyOf` or `oneOf` that a message lists.
const MAX_FORMS: usize = 3;

/// Limit on the characters of a JSON Pointer in a message.
const MAX_PLACE: usize = 120;

/// Message if no keyword by itself refuses anything. A schema that is the negation of itself (`{"$defs": {"a": {"not":
/// {"$ref": "#/$defs/a"}}}}`) neither accepts nor refuses a value: JSON Schema leaves such a circle undefined (2020-12,
/// section 9.4.1).
pub(super) const NO_PLACE: &str =
    "the schema does not accept this value: it refers to itself in a circle, which no value fits";

/// Levels of nested `anyOf` that are explained.
pub(super) const MAX_NESTING: usize = 4;

/// Returns the message for arguments that are not an object.
pub(super) fn not_an_object(found: &Value) -> String {
    format!("expected a JSON object with the arguments, found {}", describe::value(found))
}

/// Returns the message for a schema's validation errors, of which at most [`MAX_READ`] are passed in.
pub(super) fn explain(schema: &Value, refusals: &[ValidationError<'_>]) -> String {
    let findings = findings(schema, refusals, MAX_NESTING);
    let mut lines: Vec<String> = Vec::new();
    for finding in &findings {
        let line = finding.line();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(MAX_ERRORS);
    lines.truncate(MAX_ERRORS);
    if more > 0 {
        // The validator was asked for no more.
        let many = if refusals.len() == MAX_READ { " or more" } else { "" };
        lines.push(format!("and {more}{many} further errors"));
    }
    lines.join("; ")
}

/// Problem with one value of the arguments, as an error message lists it.
struct Finding {
    /// JSON Pointer to the wrong value; empty for the arguments as a whole.
    place: String,
    text: String,
    /// `true` if the problem is only that the type is wrong.
    type_only: bool,
}

impl Finding {
    fn line(&self) -> String {
        match self.place.as_str() {
            "" => self.text.clone(),
            place => format!("{}: {}", shortened(place.to_owned(), MAX_PLACE), self.text),
        }
    }
}

fn findings(schema: &Value, refusals: &[ValidationError<'_>], nesting: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = refusals.iter().flat_map(|r| finding(schema, r, nesting)).collect();
    // An `enum` with a `type` implies everything that the type says.
    let enums: Vec<&str> = refusals.iter().filter(|r| names_values(r)).map(place).collect();
    findings.retain(|f| !(f.type_only && enums.contains(&f.place.as_str())));
    findings
}

/// Returns the JSON Pointer to the value that a validation error is about.
fn place<'r>(refusal: &'r ValidationError<'_>) -> &'r str {
    refusal.instance_path().as_str()
}

fn names_values(refusal: &ValidationError<'_>) -> bool {
    matches!(refusal.kind(), Kind::Enum { .. } | Kind::Constant { .. })
}

/// Explains one validation error; it becomes several findings if it is about the branches of an `anyOf` or `oneOf`.
fn finding(schema: &Value, refusal: &ValidationError<'_>, nesting: usize) -> Vec<Finding> {
    let found = || describe::value(refusal.instance());
    let text = match refusal.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            return branches(schema, refusal, context, nesting);
        }
        // The refused value is the name itself, which is not a value in the arguments.
        Kind::PropertyNames { error: inner } => {
            let inner = finding(schema, inner, nesting.saturating_sub(1));
            format!("a property's name is wrong: {}", inner.iter().map(Finding::line).collect::<Vec<_>>().join("; "))
        }
        Kind::OneOfMultipleValid { .. } => {
            format!("expected exactly one of several forms, found {}, which fits more than one", found())
        }
        Kind::Not { .. } => format!("{} is excluded by the schema", found()),
        Kind::Contains => "no item is of the expected kind".to_owned(),
        Kind::FalseSchema => "no value is allowed here".to_owned(),
        Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::Custom { .. }
        | Kind::FromUtf8 { .. }
        | Kind::UnevaluatedItems { .. }
        | Kind::Referencing(_) => shortened(refusal.masked().to_string(), 200),
        kind => keyword(schema, refusal, kind),
    };
    let type_only = matches!(refusal.kind(), Kind::Type { .. });
    vec![Finding { place: place(refusal).to_owned(), text, type_only }]
}

/// Explains the validation error of a keyword that concerns one value alone.
fn keyword(schema: &Value, refusal: &ValidationError<'_>, kind: &Kind) -> String {
    let found = || describe::value(refusal.instance());
    let parent = || schema.pointer(refusal.schema_path().as_str().rsplit_once('/').map_or("", |(parent, _)| parent));
    match kind {
        Kind::Type { kind } => format!("expected {}, found {}", types(kind), found()),
        Kind::Enum { options } if options.as_array().is_none_or(Vec::is_empty) => "no value is allowed here".to_owned(),
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("expected one of {}, found {}", list(options.iter().map(describe::literal)), found())
        }
        Kind::Constant { expected_value } => {
            format!("expected {}, found {}", describe::literal(expected_value), found())
        }
        Kind::Required { property } => {
            missing(property.as_str().unwrap_or_default(), refusal.instance(), parent(), schema)
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(unexpected, parent())
        }
        kind => bound(kind, refusal.instance()).unwrap_or_else(|| format!("{} is refused by the schema", found())),
    }
}

/// Explains a violated limit on a size or a number, or a violated rule for text; `None` for any other
/// refusal.
fn bound(kind: &Kind, instance: &Value) -> Option<String> {
    let found = describe::value(instance);
    let characters = || instance.as_str().map_or(0, |s| s.chars().count());
    let items = || instance.as_array().map_or(0, Vec::len);
    Some(match kind {
        Kind::Minimum { limit } => format!("expected at least {limit}, found {found}"),
        Kind::Maximum { limit } => format!("expected at most {limit}, found {found}"),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}, found {found}"),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}, found {found}"),
        Kind::MultipleOf { multiple_of } => format!("expected a multiple of {multiple_of}, found {found}"),
        Kind::MinLength { limit } => format!("expected at least {limit} characters, found {}", characters()),
        Kind::MaxLength { limit } => format!("expected at most {limit} characters, found {}", characters()),
        Kind::Pattern { pattern } => {
            format!("expected text that matches {}, found {found}", shortened(pattern.clone(), 80))
        }
        Kind::Format { format } => format!("expected text of the format {format}, found {found}"),
        Kind::MinItems { limit } => format!("expected at least {limit} items, found {}", items()),
        Kind::MaxItems { limit } => format!("expected at most {limit} items, found {}", items()),
        Kind::AdditionalItems { limit } => format!("expected at most {limit} items, found {}", items()),
        Kind::UniqueItems => "expected items that differ, found equal ones".to_owned(),
        Kind::MinProperties { limit } => format!("expected at least {limit} properties, found {found}"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} properties, found {found}"),
        _ => return None,
    })
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(set) => join_or(set.iter().map(|t| t.to_string())),
    }
}

/// Returns the message for a missing required property, with the name that may have been written instead.
pub(super) fn missing(property: &str, found: &Value, parent: Option<&Value>, root: &Value) -> String {
    let properties = parent.and_then(|p| p.get("properties")).and_then(Value::as_object);
    let wanted = properties.and_then(|p| p.get(property)).map(|s| describe::schema(s, root));
    let wanted = wanted.map_or(String::new(), |w| format!(" ({w})"));
    let written = found.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let unknown = written.filter(|key| properties.is_none_or(|p| !p.contains_key(*key)));
    let instead = match nearest(property, unknown) {
        Some(key) => format!("; {} was given, is {} meant?", quoted(key), quoted(property)),
        None => String::new(),
    };
    format!("missing required property {}{wanted}{instead}", quoted(property))
}

/// Returns the message for unknown properties, with the names that the schema has.
fn unknown(unexpected: &[String], parent: Option<&Value>) -> String {
    let properties = parent.and_then(|p| p.get("properties")).and_then(Value::as_object);
    let names: Vec<&str> = properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let unknown = list(unexpected.iter().map(|key| match nearest(key, names.iter().copied()) {
        Some(name) => format!("{} (nearest: {})", quoted(key), quoted(name)),
        None => quoted(key),
    }));
    let noun = if unexpected.len() == 1 { "property" } else { "properties" };
    let allowed = match names.as_slice() {
        [] => "none is allowed".to_owned(),
        names => format!("allowed: {}", list(names.iter().map(|n| quoted(n)))),
    };
    format!("unknown {noun} {unknown}; {allowed}")
}

fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    tools::nearest(wanted, names.take(MAX_READ)).first().copied()
}

/// Validation errors of a branch of `anyOf` or `oneOf`.
type Branch = Vec<ValidationError<'static>>;

/// Explains a value that matches none of several branches: by the errors of the intended branch if it can be
/// determined, otherwise by the requirement of each.
fn branches(schema: &Value, refusal: &ValidationError<'_>, context: &[Branch], nesting: usize) -> Vec<Finding> {
    let here = |r: &ValidationError<'_>| place(r) == place(refusal);
    let of_type = |branch: &&Branch| !branch.iter().any(|r| here(r) && matches!(r.kind(), Kind::Type { .. }));
    let mut meant: Vec<&Branch> = context.iter().filter(of_type).collect();
    // A member with a fixed value (`"kind": "circle"`) identifies the intended branch.
    let fixed = |branch: &&Branch| !branch.iter().any(|r| !here(r) && names_values(r));
    // If every branch refuses its fixed value, it says nothing about the intended one.
    if meant.iter().any(fixed) {
        meant.retain(fixed);
    }
    let whole = |text| vec![Finding { place: place(refusal).to_owned(), text, type_only: false }];
    match (meant.as_slice(), nesting.checked_sub(1)) {
        ([only], Some(nesting)) => findings(schema, only, nesting),
        (_, None) => {
            let found = describe::value(refusal.instance());
            whole(format!("fits none of {} forms, found {found}", context.len()))
        }
        ([], Some(_)) => whole(wanted_types(context, refusal)),
        (several, Some(nesting)) => whole(forms(schema, several, nesting, place(refusal))),
    }
}

/// Lists the types of branches that all refuse the value's type.
fn wanted_types(context: &[Branch], refusal: &ValidationError<'_>) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for branch in context {
        // Only what a branch says of the value itself, not of its members.
        let at_place = branch.iter().filter(|r| place(r) == place(refusal));
        let form = at_place.clone().find_map(|r| match r.kind() {
            Kind::Enum { options } => options.as_array().map(|o| list(o.iter().map(describe::literal))),
            Kind::Constant { expected_value } => Some(describe::literal(expected_value)),
            _ => None,
        });
        let form = form.or_else(|| {
            at_place.clone().find_map(|r| match r.kind() {
                Kind::Type { kind } => Some(types(kind)),
                _ => None,
            })
        });
        wanted.extend(form.filter(|form| !wanted.contains(form)));
    }
    format!("expected {}, found {}", join_or(wanted), describe::value(refusal.instance()))
}

/// Lists the requirements of several branches, each by its first error.
fn forms(schema: &Value, several: &[&Branch], nesting: usize, place: &str) -> String {
    let mut forms: Vec<String> = Vec::new();
    for branch in several {
        let Some(first) = findings(schema, branch, nesting).into_iter().next() else { continue };
        let form = match first.place.strip_prefix(place) {
            Some("") => first.text,
            _ => first.line(),
        };
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    if let [only] = forms.as_slice() {
        return only.clone();
    }
    let numbered = forms.iter().take(MAX_FORMS).enumerate().map(|(n, form)| format!("({}) {form}", n + 1));
    let mut listed: Vec<String> = numbered.collect();
    if forms.len() > MAX_FORMS {
        listed.push(format!("or {} other forms", forms.len() - MAX_FORMS));
    }
    format!("fits none of the allowed forms: {}", listed.join(", "))
}

fn join_or(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<String> = texts.into_iter().collect();
    texts.join(" or ")
}
