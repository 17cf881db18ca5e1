//! Arguments in another spelling to arguments that the schema accepts.
//!
//! The validator itself says what it refuses and what it wanted there, so
//! every keyword, reference and draft counts as it does in validation; no
//! schema is walked by hand. Each round reads the errors, respells the values
//! that can be respelt, and asks again: text that held an object has members
//! that need a round of their own. `anyOf` and `oneOf` are settled by trying
//! their branches in order on a copy of the value.

use std::collections::HashSet;
use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::Location;
use jsonschema::{JsonType, JsonTypeSet, ValidationError, Validator};
use serde_json::{Number, Value};

use super::compile::{Compiled, nodes};
use super::{explain, literal};
use crate::call::Repair;

/// Rounds for one value: text inside text inside text is followed this far.
const MAX_ROUNDS: usize = 8;

/// Nesting of branches that are tried inside branches.
const MAX_BRANCHING: usize = 8;

/// Values looked at for one call, over all rounds and branches. Arguments that
/// need more are refused as they are.
const MAX_WORK: usize = 2_000_000;

/// Errors that one round acts on.
const MAX_FAULTS: usize = 100_000;

/// Nesting of arrays and objects, those from text included: as deep as JSON
/// text is read.
const MAX_DEPTH: usize = 128;

/// Numbers with `.0` that are tried as integers in one call.
const MAX_WHOLE: usize = 64;

/// Arguments as text are unwrapped this often: some models write JSON in a
/// string in a string.
const MAX_UNWRAPS: usize = 2;

/// New arguments and what was done to them; `None` where the schema accepts
/// the arguments as they are.
pub(super) type Coerced = Option<(Value, Vec<Repair>)>;

/// Coerces arguments to an object that the schema accepts.
///
/// `raw` is the arguments' text as written, for the spelling of numbers.
///
/// # Errors
/// What is wrong, for the model.
pub(super) fn coerce(compiled: &Compiled, schema: &Value, arguments: &Value, raw: &str) -> Result<Coerced, String> {
    if arguments.is_object() && compiled.validator.is_valid(arguments) && !has_whole_float(arguments) {
        return Ok(None);
    }
    let mut repairs = Vec::new();
    let value = unwrap(arguments, &mut repairs).ok_or_else(|| explain::not_an_object(arguments))?;
    respell(compiled, schema, value, raw, repairs)
}

/// Coerces any value to one that the schema accepts.
///
/// # Errors
/// What is wrong, for the model.
pub(super) fn coerce_value(compiled: &Compiled, schema: &Value, value: &Value, raw: &str) -> Result<Coerced, String> {
    if compiled.validator.is_valid(value) && !has_whole_float(value) {
        return Ok(None);
    }
    respell(compiled, schema, value.clone(), raw, Vec::new())
}

fn respell(
    compiled: &Compiled,
    schema: &Value,
    mut value: Value,
    raw: &str,
    mut repairs: Vec<Repair>,
) -> Result<Coerced, String> {
    let mut run = Run { compiled, schema, raw, work: MAX_WORK };
    if !run.settle(&compiled.validator, "", &mut value, "", &mut repairs, MAX_BRANCHING) {
        return Err(explain::explain(schema, compiled.validator.iter_errors(&value)));
    }
    run.write_whole_floats_as_integers(&mut value, &mut repairs);
    let mut seen = HashSet::new();
    repairs.retain(|repair| seen.insert(repair.clone()));
    Ok((!repairs.is_empty()).then_some((value, repairs)))
}

/// The object that the arguments are or spell.
fn unwrap(arguments: &Value, repairs: &mut Vec<Repair>) -> Option<Value> {
    let mut value = arguments.clone();
    for _ in 0..=MAX_UNWRAPS {
        let lossy = match value {
            Value::Object(_) => return Some(value),
            Value::Null => {
                value = Value::Object(serde_json::Map::new());
                false
            }
            Value::String(text) if text.trim().is_empty() => {
                value = Value::Object(serde_json::Map::new());
                false
            }
            Value::String(text) => match literal::compound(&text) {
                Some((compound, lossy)) => {
                    value = compound;
                    lossy
                }
                None => {
                    value = serde_json::from_str::<String>(text.trim()).ok().map(Value::String)?;
                    false
                }
            },
            _ => return None,
        };
        note(repairs, "", lossy);
    }
    None
}

/// What a schema wanted where it refused a value.
enum Need {
    Types(JsonTypeSet),
    /// One of these values (an array).
    Options(Arc<Value>),
    /// This value.
    Only(Arc<Value>),
    /// To fit one of this many branches, whose array stands at this pointer.
    Branch(String, usize),
}

/// A place where a schema refused a value, and what it wanted there.
struct Fault {
    path: String,
    need: Need,
}

/// The coercion of one call.
struct Run<'a> {
    compiled: &'a Compiled,
    schema: &'a Value,
    raw: &'a str,
    /// What is left of [`MAX_WORK`].
    work: usize,
}

impl Run<'_> {
    /// Respells what `validator` refuses in `value` and can be respelt; whether
    /// it accepts the value in the end.
    ///
    /// `at` is the place of the validator's schema, `base` that of the value.
    fn settle(
        &mut self,
        validator: &Validator,
        at: &str,
        value: &mut Value,
        base: &str,
        repairs: &mut Vec<Repair>,
        branching: usize,
    ) -> bool {
        for _ in 0..MAX_ROUNDS {
            if !self.spend(nodes(value)) {
                return validator.is_valid(value);
            }
            let mut errors = validator.iter_errors(value).peekable();
            if errors.peek().is_none() {
                return true;
            }
            let faults: Vec<Fault> = errors.take(MAX_FAULTS).filter_map(|e| fault(&e, at)).collect();
            let mut changed = false;
            for Fault { path, need } in faults {
                let Some(slot) = value.pointer_mut(&path) else { continue };
                let place = format!("{base}{path}");
                changed |= match need {
                    Need::Branch(pointer, count) => self.branch(&pointer, count, slot, &place, repairs, branching),
                    need => self.respell(&need, slot, &place, repairs),
                };
            }
            if !changed {
                return false;
            }
        }
        validator.is_valid(value)
    }

    /// Tries the branches of `anyOf` or `oneOf` in order; the first that the
    /// value can be made to fit is taken.
    fn branch(
        &mut self,
        pointer: &str,
        count: usize,
        value: &mut Value,
        place: &str,
        repairs: &mut Vec<Repair>,
        branching: usize,
    ) -> bool {
        let Some(branching) = branching.checked_sub(1) else { return false };
        let compiled = self.compiled;
        for index in 0..count {
            let at = format!("{pointer}/{index}");
            let Some(validator) = compiled.branch(self.schema, &at) else { continue };
            if !self.spend(nodes(value)) {
                return false;
            }
            let mut candidate = value.clone();
            let mut done = Vec::new();
            if self.settle(validator, &at, &mut candidate, place, &mut done, branching) && !done.is_empty() {
                *value = candidate;
                repairs.extend(done);
                return true;
            }
        }
        false
    }

    /// Puts another spelling of the value in its place, if there is one that fits.
    fn respell(&self, need: &Need, value: &mut Value, place: &str, repairs: &mut Vec<Repair>) -> bool {
        let respelt = match need {
            Need::Types(types) => self.as_type(value, *types),
            Need::Options(options) => {
                self.as_option(value, options.as_array().map(Vec::as_slice).unwrap_or_default()).map(|v| (v, false))
            }
            Need::Only(only) => self.as_option(value, std::slice::from_ref(&**only)).map(|v| (v, false)),
            Need::Branch(..) => None,
        };
        let Some((respelt, lossy)) = respelt else { return false };
        if place.matches('/').count() + depth(&respelt) > MAX_DEPTH {
            return false;
        }
        *value = respelt;
        note(repairs, place, lossy);
        true
    }

    /// The value in a type of the set, and whether digits were lost.
    fn as_type(&self, value: &Value, types: JsonTypeSet) -> Option<(Value, bool)> {
        let has = |t| types.contains(t);
        match value {
            Value::String(text) => from_text(text, types),
            Value::Number(number) if has(JsonType::Integer) => whole(number).map(|n| (Value::Number(n), false)),
            Value::Number(number) if has(JsonType::String) => Some((Value::String(self.digits(number)?), false)),
            Value::Bool(b) if has(JsonType::String) => Some((Value::String(b.to_string()), false)),
            _ => None,
        }
    }

    /// The one of the options that the value spells.
    fn as_option(&self, value: &Value, options: &[Value]) -> Option<Value> {
        let spelt = |option: &&Value| match (value, option) {
            (Value::String(text), Value::String(option)) => text.trim() == option,
            (Value::String(text), Value::Number(option)) => {
                literal::integer(text).as_ref() == Some(option)
                    || literal::number(text).is_some_and(|(n, lossy)| n == *option && !lossy)
            }
            (Value::String(text), Value::Bool(option)) => literal::boolean(text) == Some(*option),
            (Value::String(text), Value::Null) => text.trim() == "null",
            (Value::Number(number), Value::String(option)) => self.digits(number).as_ref() == Some(option),
            (Value::Bool(b), Value::String(option)) => b.to_string() == *option,
            _ => false,
        };
        let mut found = options.iter().filter(spelt);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// A number's digits as written. A fraction or exponent whose spelling is
    /// not known has none: `1.10` would become `1.1`.
    fn digits(&self, number: &Number) -> Option<String> {
        if number.is_f64() {
            return literal::spelling(self.raw, number).map(str::to_owned);
        }
        Some(number.to_string())
    }

    /// Writes `5.0` as `5` where only an integer fits: JSON Schema takes it for
    /// one, but many servers do not. Only an integer fits where the schema
    /// refuses the number when half is added, and also when half is taken away.
    fn write_whole_floats_as_integers(&mut self, value: &mut Value, repairs: &mut Vec<Repair>) {
        let mut places = Vec::new();
        whole_floats(value, "", &mut places);
        for (place, float) in places {
            if !self.spend(2 * nodes(value)) {
                return;
            }
            let mut refused = |changed: Option<Number>| {
                let Some(slot) = value.pointer_mut(&place) else { return false };
                let old = std::mem::replace(slot, changed.map_or(Value::Null, Value::Number));
                let refused = !self.compiled.validator.is_valid(value);
                if let Some(slot) = value.pointer_mut(&place) {
                    *slot = old;
                }
                refused
            };
            if refused(Number::from_f64(float + 0.5))
                && refused(Number::from_f64(float - 0.5))
                && let Some(slot) = value.pointer_mut(&place)
                && let Some(integer) = Number::from_f64(float).and_then(|n| whole(&n))
            {
                *slot = Value::Number(integer);
                note(repairs, &place, false);
            }
        }
    }

    fn spend(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or(0);
        left.is_some()
    }
}

/// What an error asks for, if a respelling may answer it.
fn fault(error: &ValidationError<'_>, at: &str) -> Option<Fault> {
    let need = match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => Need::Types(JsonTypeSet::empty().insert(*one)),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(types) } => Need::Types(*types),
        ValidationErrorKind::Enum { options } => Need::Options(Arc::clone(options)),
        ValidationErrorKind::Constant { expected_value } => Need::Only(Arc::clone(expected_value)),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            Need::Branch(absolute(at, error.schema_path(), error.evaluation_path()), context.len())
        }
        _ => return None,
    };
    Some(Fault { path: error.instance_path().as_str().to_owned(), need })
}

/// Place of a keyword in the whole schema. The validator of a branch counts
/// from the branch, until a reference has been followed: then from the root.
fn absolute(at: &str, schema_path: &Location, evaluation_path: &Location) -> String {
    let followed = schema_path != evaluation_path;
    let from = if followed { "" } else { at };
    format!("{from}{}", schema_path.as_str())
}

/// The value of one of the types that a text spells, and whether digits were lost.
fn from_text(text: &str, types: JsonTypeSet) -> Option<(Value, bool)> {
    let has = |t| types.contains(t);
    let exact = |value| Some((value, false));
    if has(JsonType::Integer)
        && let Some(integer) = literal::integer(text)
    {
        return exact(Value::Number(integer));
    }
    if has(JsonType::Number)
        && let Some((number, lossy)) = literal::number(text)
    {
        return Some((Value::Number(number), lossy));
    }
    if has(JsonType::Boolean)
        && let Some(boolean) = literal::boolean(text)
    {
        return exact(Value::Bool(boolean));
    }
    if has(JsonType::Null) && text.trim() == "null" {
        return exact(Value::Null);
    }
    if !has(JsonType::Array) && !has(JsonType::Object) {
        return None;
    }
    literal::compound(text).filter(|(value, _)| has(if value.is_array() { JsonType::Array } else { JsonType::Object }))
}

/// The integer that a number with `.0` is.
fn whole(number: &Number) -> Option<Number> {
    // Beyond 2^50 halves cannot be told apart.
    const LIMIT: f64 = (1_i64 << 50) as f64;
    let float = number.as_f64().filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < LIMIT)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^50")]
    let integer = float as i64;
    Some(integer.into())
}

fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(members) => members.values().any(has_whole_float),
        _ => false,
    }
}

/// Places of the numbers with `.0`, at most [`MAX_WHOLE`].
fn whole_floats(value: &Value, place: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => {
            if let (Some(_), Some(float), true) = (whole(number), number.as_f64(), found.len() < MAX_WHOLE) {
                found.push((place.to_owned(), float));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| has_whole_float(item)) {
                whole_floats(item, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter().filter(|(_, member)| has_whole_float(member)) {
                whole_floats(member, &format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// Nesting of arrays and objects in a value.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn note(repairs: &mut Vec<Repair>, place: &str, lossy: bool) {
    repairs.push(Repair::Coerced(place.to_owned()));
    if lossy {
        repairs.push(Repair::NumberPrecision);
    }
}
