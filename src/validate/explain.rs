//! Validation errors to a text that a model can act on: where, what was
//! expected, what was found.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::describe::{self, cut, list, quoted};

/// Errors that a message lists.
const MAX_ERRORS: usize = 5;

/// Errors that are looked at for a message.
const MAX_READ: usize = 100;

/// Forms of an `anyOf` or `oneOf` that a message lists.
const MAX_FORMS: usize = 3;

/// Characters of a place that a message shows.
const MAX_PLACE: usize = 120;

/// Names less alike than this (Jaro-Winkler, 0 to 1) are not suggested.
const NEAREST: f64 = 0.75;

/// `anyOf` inside `anyOf` is digested this deep.
const MAX_NESTING: usize = 4;

/// The message for arguments that are no object.
pub(super) fn not_an_object(found: &Value) -> String {
    format!("expected a JSON object with the arguments, found {}", describe::value(found))
}

/// The message for a schema's errors, most useful first, bounded.
pub(super) fn explain<'e>(schema: &Value, errors: impl Iterator<Item = ValidationError<'e>>) -> String {
    let errors: Vec<ValidationError<'e>> = errors.take(MAX_READ).collect();
    let findings = findings(schema, &errors, MAX_NESTING);
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
        let many = if errors.len() == MAX_READ { " or more" } else { "" };
        lines.push(format!("and {more}{many} further errors"));
    }
    lines.join("; ")
}

/// One thing that is wrong.
struct Finding {
    /// JSON Pointer; empty for the arguments as a whole.
    place: String,
    text: String,
    /// Says no more than that the type is wrong.
    type_only: bool,
}

impl Finding {
    fn line(&self) -> String {
        match self.place.as_str() {
            "" => self.text.clone(),
            place => format!("{}: {}", cut(place, MAX_PLACE), self.text),
        }
    }
}

fn findings(schema: &Value, errors: &[ValidationError<'_>], nesting: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = errors.iter().flat_map(|e| finding(schema, e, nesting)).collect();
    // An `enum` beside a `type` says all that the type says.
    let enums: Vec<String> = errors.iter().filter(|e| names_values(e)).map(|e| e.instance_path().to_string()).collect();
    findings.retain(|f| !(f.type_only && enums.contains(&f.place)));
    findings
}

fn names_values(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Enum { .. } | Kind::Constant { .. })
}

/// What one error says; several findings where it stands for those of a branch.
fn finding(schema: &Value, error: &ValidationError<'_>, nesting: usize) -> Vec<Finding> {
    let found = || describe::value(error.instance());
    let parent = || schema.pointer(error.schema_path().as_str().rsplit_once('/').map_or("", |(parent, _)| parent));
    let text = match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => return branches(schema, error, context, nesting),
        Kind::Type { kind } => format!("expected {}, found {}", types(kind), found()),
        Kind::Enum { options } if options.as_array().is_none_or(Vec::is_empty) => "no value is allowed here".to_owned(),
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("expected one of {}, found {}", list(options.iter().map(describe::literal)), found())
        }
        Kind::Constant { expected_value } => {
            format!("expected {}, found {}", describe::literal(expected_value), found())
        }
        Kind::Required { property } => missing(property.as_str().unwrap_or_default(), error, parent(), schema),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(unexpected, parent())
        }
        Kind::FalseSchema => "no value is allowed here".to_owned(),
        Kind::OneOfMultipleValid { .. } => {
            format!("expected exactly one of several forms, found {}, which fits more than one", found())
        }
        Kind::PropertyNames { error } => format!("a property's name is wrong: {}", inner(schema, error, nesting)),
        kind => bound(kind, error.instance()).unwrap_or_else(|| cut(&error.masked().to_string(), 200)),
    };
    let type_only = matches!(error.kind(), Kind::Type { .. });
    vec![Finding { place: error.instance_path().to_string(), text, type_only }]
}

fn inner(schema: &Value, error: &ValidationError<'_>, nesting: usize) -> String {
    finding(schema, error, nesting.saturating_sub(1)).iter().map(Finding::line).collect::<Vec<_>>().join("; ")
}

/// The errors about sizes, numbers and text.
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
        Kind::Pattern { pattern } => format!("expected text that matches {}, found {found}", cut(pattern, 80)),
        Kind::MinItems { limit } => format!("expected at least {limit} items, found {}", items()),
        Kind::MaxItems { limit } => format!("expected at most {limit} items, found {}", items()),
        Kind::AdditionalItems { limit } => format!("expected at most {limit} items, found {}", items()),
        Kind::UniqueItems => "expected items that differ, found equal ones".to_owned(),
        Kind::Contains => "no item is of the expected kind".to_owned(),
        Kind::MinProperties { limit } => format!("expected at least {limit} properties, found {found}"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} properties, found {found}"),
        Kind::Not { .. } => format!("{found} is excluded by the schema"),
        _ => return None,
    })
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(set) => join_or(set.iter().map(|t| t.to_string())),
    }
}

/// A required property that is not there, with the name that was perhaps
/// written instead.
fn missing(property: &str, error: &ValidationError<'_>, parent: Option<&Value>, root: &Value) -> String {
    let properties = parent.and_then(|p| p.get("properties")).and_then(Value::as_object);
    let wanted = properties.and_then(|p| p.get(property)).map(|s| describe::schema(s, root));
    let wanted = wanted.map_or(String::new(), |w| format!(" ({w})"));
    let written = error.instance().as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let unknown = written.filter(|key| properties.is_none_or(|p| !p.contains_key(*key)));
    let instead = match nearest(property, unknown) {
        Some(key) => format!("; {} is there, is {} meant?", quoted(key), quoted(property)),
        None => String::new(),
    };
    format!("missing required property {}{wanted}{instead}", quoted(property))
}

/// Properties that the schema does not have, with the names that it has.
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
    let wanted = wanted.to_lowercase();
    names
        .take(MAX_READ)
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= NEAREST)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// What is wrong with a value that fits none of several branches: the errors
/// of the one branch that was meant, if that can be told; else what each wants.
fn branches(
    schema: &Value,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    nesting: usize,
) -> Vec<Finding> {
    let place = error.instance_path();
    let here = |e: &&ValidationError<'_>| e.instance_path() == place;
    let of_type =
        |branch: &&Vec<ValidationError<'_>>| !branch.iter().any(|e| here(&e) && matches!(e.kind(), Kind::Type { .. }));
    let mut meant: Vec<&Vec<ValidationError<'static>>> = context.iter().filter(of_type).collect();
    // A member with a fixed value (`"kind": "circle"`) tells which branch was meant.
    let fixed = |branch: &&Vec<ValidationError<'_>>| !branch.iter().any(|e| !here(&e) && names_values(e));
    if meant.iter().any(fixed) {
        meant.retain(fixed);
    }
    match (meant.as_slice(), nesting.checked_sub(1)) {
        ([only], Some(nesting)) => findings(schema, only, nesting),
        (_, None) => vec![whole(
            error,
            format!("fits none of {} forms, found {}", context.len(), describe::value(error.instance())),
        )],
        ([], Some(_)) => vec![whole(error, wanted_types(context, error))],
        (several, Some(nesting)) => vec![whole(error, forms(schema, several, nesting, place.as_str()))],
    }
}

fn whole(error: &ValidationError<'_>, text: String) -> Finding {
    Finding { place: error.instance_path().to_string(), text, type_only: false }
}

/// The types of branches that all refuse the value's type.
fn wanted_types(context: &[Vec<ValidationError<'static>>], error: &ValidationError<'_>) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for branch in context {
        let at_place = branch.iter().filter(|e| e.instance_path() == error.instance_path());
        let form = at_place.clone().find_map(|e| match e.kind() {
            Kind::Enum { options } => options.as_array().map(|o| list(o.iter().map(describe::literal))),
            Kind::Constant { expected_value } => Some(describe::literal(expected_value)),
            _ => None,
        });
        let form = form.or_else(|| {
            at_place.clone().find_map(|e| match e.kind() {
                Kind::Type { kind } => Some(types(kind)),
                _ => None,
            })
        });
        wanted.extend(form.filter(|form| !wanted.contains(form)));
    }
    format!("expected {}, found {}", join_or(wanted), describe::value(error.instance()))
}

/// What several branches want, each by its first error.
fn forms(schema: &Value, several: &[&Vec<ValidationError<'static>>], nesting: usize, place: &str) -> String {
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
