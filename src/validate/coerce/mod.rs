//! Converts arguments as a model wrote them into arguments that the schema accepts.
//!
//! The validator's errors say which values it refuses and why, so every keyword, reference and draft counts as in
//! validation; only the names of properties are looked up separately (`keys`). Each round reads the errors, gives the
//! refused values another reading, and validates again: text that contained an object has members that need a round of
//! their own. `anyOf` and `oneOf` are settled by trying their branches on copies of the value; the result of a value in
//! a branch is cached, as an outer `anyOf` needs it once for each of its own branches.
//!
//! Arguments that are too much work for the validator from the start are accepted unchecked. A value that it has
//! refused, and whose other readings are too much work, is refused with a message that says so.

mod ask;
mod fault;
mod integer;
mod keys;
mod place;
mod reading;
mod whole;

use std::collections::{HashMap, HashSet};

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet};
use serde_json::Value;

use self::fault::SchemaFault;
use self::keys::DeclaredProperties;
use self::place::{ancestors, around, is_item, member};
use self::reading::ValueReading;
use super::compile::CompiledSchema;
use super::depth::nesting;
use super::explain;
use super::work::{Work, nodes};
use crate::event::Repair;
use crate::json::literal;

/// Limit on the rounds of coercing one value: text inside text inside text is followed this far.
const MAX_ROUNDS: usize = 8;

/// Limit on the nesting of branches of `anyOf` and `oneOf` that are tried: a few for each level of the deepest
/// arguments.
const MAX_BRANCHING: usize = 2 * MAX_DEPTH;

/// Limit on the validation errors that one round of coercion handles.
const MAX_FAULTS: usize = 100_000;

/// Limit on the nesting of arrays and objects, including those from text: the same as for JSON text.
const MAX_DEPTH: usize = 128;

/// Coerced value with its repairs.
type Coerced = (Value, Vec<Repair>);

/// Result of a coercion: new arguments, or `Ok(None)` if the schema accepts the arguments as they are. `Err`: the
/// problem, as a message to the model.
pub(super) type CoercionResult = Result<Option<Coerced>, String>;

/// Coerces arguments to an object that the schema accepts.
///
/// `raw` is the arguments' text as written, for the notation of numbers.
pub(super) fn coerce(compiled: &CompiledSchema, arguments: &Value, raw: &str, work: &Work) -> CoercionResult {
    if arguments.is_object() {
        let coerced = coerce_value(compiled, arguments, raw, work);
        return if work.is_unchecked() { unchecked(&compiled.schema, arguments).map(|()| None) } else { coerced };
    }
    let (value, readings) = ValueReading::arguments(arguments).ok_or_else(|| explain::not_an_object(arguments))?;
    let mut repairs = Vec::new();
    for reading in readings {
        reading.note("", &mut repairs);
    }
    let coerced = settle(Coercion::new(compiled, raw, work), value.clone(), repairs.clone());
    if work.is_unchecked() { unchecked(&compiled.schema, &value).map(|()| Some((value, repairs))) } else { coerced }
}

/// Accepts arguments that cannot be checked, because that is too much work or does not end, if they are an object with
/// the members that the schema itself requires: the server checks the rest.
///
/// # Errors
/// The problem, as a message to the model.
fn unchecked(schema: &Value, arguments: &Value) -> Result<(), String> {
    let Some(members) = arguments.as_object() else { return Err(explain::not_an_object(arguments)) };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !members.contains_key(*name));
    let missing: Vec<String> = missing.map(|name| explain::missing(name, arguments, Some(schema), schema)).collect();
    if missing.is_empty() { Ok(()) } else { Err(missing.join("; ")) }
}

/// Coerces arguments without the members that the schema does not know; `None` if there are no such members, or if the
/// schema refuses the others as well.
pub(super) fn coerce_known(compiled: &CompiledSchema, arguments: &Value, raw: &str, work: &Work) -> Option<Coerced> {
    let members = arguments.as_object()?;
    let (declared, steps) = DeclaredProperties::at(&compiled.schema, "");
    let declared = declared.filter(|declared| work.spend(steps + declared.len() + members.len()))?;
    let unknown = declared.unknown(members);
    if unknown.is_empty() {
        return None;
    }
    let known = members.iter().filter(|(key, _)| !unknown.contains(key));
    let known = Value::Object(known.map(|(key, value)| (key.clone(), value.clone())).collect());
    let mut repairs: Vec<Repair> = unknown.iter().map(|key| Repair::UnknownDropped(member("", key))).collect();
    let (known, further) = coerce(compiled, &known, raw, work).ok()?.unwrap_or((known, Vec::new()));
    repairs.extend(further);
    Some((known, repairs))
}

/// Coerces any value to one that the schema accepts.
pub(super) fn coerce_value(compiled: &CompiledSchema, value: &Value, raw: &str, work: &Work) -> CoercionResult {
    let run = Coercion::new(compiled, raw, work);
    match run.takes("", value) {
        // `5.0` is valid for an integer, but many servers refuse it; a number that lost digits is not the one
        // that was written.
        Some(true) if !integer::holds(value, &|n| integer::is_whole(n) || integer::may_be_lost(n)) => Ok(None),
        Some(_) => settle(run, value.clone(), Vec::new()),
        None => Err(work.message()),
    }
}

/// Returns `true` if a schema accepts a value as it is.
pub(super) fn takes(compiled: &CompiledSchema, value: &Value) -> bool {
    Coercion::new(compiled, "", &Work::on(value)).takes("", value) == Some(true)
}

fn settle(mut run: Coercion<'_>, mut value: Value, mut repairs: Vec<Repair>) -> CoercionResult {
    let spot = ValuePosition { at: "", base: "", item: false, branching: MAX_BRANCHING };
    if !run.settle(spot, &mut value, &mut repairs) {
        let refusals = run.refusals(&value).filter(|_| !run.work.stopped.get());
        let message =
            refusals.map_or_else(|| run.work.message(), |refusals| explain::explain(&run.compiled.schema, &refusals));
        return Err(if message.is_empty() { explain::NO_PLACE.to_owned() } else { message });
    }
    if let Some(message) = run.lost_digits(&mut value) {
        return Err(message);
    }
    run.write_whole_floats_as_integers(&mut value, &mut repairs);
    // Each round may note the same repair.
    let mut seen = HashSet::new();
    repairs.retain(|repair| seen.insert(repair.clone()));
    Ok((!repairs.is_empty()).then_some((value, repairs)))
}

/// Position of a value that is being coerced.
#[derive(Clone, Copy)]
struct ValuePosition<'a> {
    /// Pointer, in the whole schema, to the subschema that the value must match.
    at: &'a str,
    /// JSON Pointer to the value in the arguments.
    base: &'a str,
    /// `true` if the value is an item of an array.
    item: bool,
    /// Remaining levels of nested branches, at first [`MAX_BRANCHING`].
    branching: usize,
}

/// State of the coercion of one call's arguments.
struct Coercion<'a> {
    compiled: &'a CompiledSchema,
    raw: &'a str,
    work: &'a Work,
    /// Cached results of coercing values to the branches of `anyOf` and `oneOf`.
    tried: HashMap<BranchQuestion, Vec<TriedValue>>,
    /// The properties that the schema declares, by place; `None` if the schema cannot be followed there.
    declared: HashMap<String, Option<DeclaredProperties<'a>>>,
}

/// Key of a cached result: the pointer to the branches of `anyOf` or `oneOf`, the value's place, and `true` if the
/// value is an item of an array.
type BranchQuestion = (String, String, bool);

/// Value and its result in branches; `None` while the branches are being tried, and if none accepts the value.
type TriedValue = (Value, Option<Coerced>);

impl<'a> Coercion<'a> {
    fn new(compiled: &'a CompiledSchema, raw: &'a str, work: &'a Work) -> Self {
        Coercion { compiled, raw, work, tried: HashMap::new(), declared: HashMap::new() }
    }

    /// Converts the refused parts of `value` to other readings. Returns `true` if the schema accepts it in the end.
    fn settle(&mut self, spot: ValuePosition<'_>, value: &mut Value, repairs: &mut Vec<Repair>) -> bool {
        for _ in 0..MAX_ROUNDS {
            if !self.work.spend(nodes(value)) {
                return false;
            }
            let Some(faults) = self.faults(spot, value) else { return false };
            if faults.is_empty() {
                return true;
            }
            if !self.round(spot, value, faults, repairs) {
                return false;
            }
        }
        self.takes(spot.at, value) == Some(true)
    }

    /// Handles the validation errors of one round of coercion. Returns `true` if anything changed.
    fn round(
        &mut self,
        spot: ValuePosition<'_>,
        value: &mut Value,
        faults: Vec<SchemaFault>,
        repairs: &mut Vec<Repair>,
    ) -> bool {
        let mut renamed = false;
        // Faults of a value that has changed since are obsolete.
        let mut changed: HashSet<String> = HashSet::new();
        for SchemaFault { path, kind, branches } in faults {
            if !changed.is_empty() && ancestors(&path).any(|place| changed.contains(place)) {
                continue;
            }
            let place = format!("{}{path}", spot.base);
            match kind {
                Kind::Required { property } => {
                    renamed |= self.rename(property.as_str(), value, &path, &place, repairs);
                }
                Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
                    renamed |= self.rename(None, value, &path, &place, repairs);
                }
                Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                    let item = is_item(value, &path, spot.item);
                    let Some(slot) = value.pointer_mut(&path) else { continue };
                    match self.branch(&branches, context.len(), slot, ValuePosition { base: &place, item, ..spot }) {
                        Some((new, done)) => {
                            *slot = new;
                            repairs.extend(done);
                        }
                        // A blank member that no branch accepts may only mean that there is none.
                        None if self.leave_out(spot, value, &path) => repairs.push(Repair::LeftOut(place)),
                        None => continue,
                    }
                    changed.insert(path);
                }
                kind => {
                    let Some(reading) = self.reading(&kind, spot, value, &path) else {
                        if self.leave_out(spot, value, &path) {
                            repairs.push(Repair::LeftOut(place));
                            changed.insert(path);
                        }
                        continue;
                    };
                    // Text may hold nested text; each reading adds levels.
                    if place.matches('/').count() + nesting(&reading.value) > MAX_DEPTH {
                        continue;
                    }
                    let Some(slot) = value.pointer_mut(&path) else { continue };
                    *slot = reading.note(&place, repairs);
                    changed.insert(path);
                }
            }
        }
        renamed || !changed.is_empty()
    }

    /// Returns the value coerced to one of the branches at `pointer`; the branches are tried only once for each value.
    fn branch(&mut self, pointer: &str, count: usize, value: &Value, spot: ValuePosition<'_>) -> Option<Coerced> {
        if !self.work.spend(nodes(value)) {
            return None;
        }
        let question = (pointer.to_owned(), spot.base.to_owned(), spot.item);
        let tried = self.tried.entry(question.clone()).or_default();
        if let Some((_, became)) = tried.iter().find(|(tried, _)| tried == value) {
            return became.clone();
        }
        let index = tried.len();
        // The entry is there before the branches are tried: a schema that refers to itself asks again for the
        // same value.
        tried.push((value.clone(), None));
        let became = self.try_branches(pointer, count, value, spot);
        if let Some(tried) = self.tried.get_mut(&question).and_then(|tried| tried.get_mut(index)) {
            tried.1.clone_from(&became);
        }
        became
    }

    /// Tries the branches of `anyOf` or `oneOf` and returns the value of the branch with the lightest repairs. If two
    /// branches with equally light repairs give different values, the meaning is ambiguous, and the result is `None`.
    fn try_branches(&mut self, pointer: &str, count: usize, value: &Value, spot: ValuePosition<'_>) -> Option<Coerced> {
        let branching = spot.branching.checked_sub(1)?;
        let mut best: Option<(usize, Value, Vec<Repair>)> = None;
        let mut ambiguous = false;
        for index in 0..count {
            let at = format!("{pointer}/{index}");
            if !self.work.spend(nodes(value)) {
                return None;
            }
            let (mut candidate, mut done) = (value.clone(), Vec::new());
            let spot = ValuePosition { at: &at, branching, ..spot };
            // A value that a branch accepts as it is would not have been refused.
            if !self.settle(spot, &mut candidate, &mut done) || done.is_empty() {
                continue;
            }
            let weight = done.iter().map(weight).sum();
            match &best {
                Some((least, ..)) if *least < weight => {}
                Some((least, other, _)) if *least == weight => ambiguous |= !same(other, &candidate),
                _ => {
                    ambiguous = false;
                    best = Some((weight, candidate, done));
                }
            }
        }
        best.filter(|_| !ambiguous).map(|(_, value, done)| (value, done))
    }

    /// Returns another reading of the value at a path that may match the schema.
    fn reading(&mut self, kind: &Kind, spot: ValuePosition<'_>, value: &mut Value, path: &str) -> Option<ValueReading> {
        let found = value.pointer(path)?;
        let types = match kind {
            Kind::Type { kind: TypeKind::Single(one) } => JsonTypeSet::empty().insert(*one),
            Kind::Type { kind: TypeKind::Multiple(types) } => *types,
            Kind::Enum { options } => return ValueReading::as_option(found, options.as_array()?, self.raw),
            Kind::Constant { expected_value: only } => {
                return ValueReading::as_option(found, std::slice::from_ref(&**only), self.raw);
            }
            // No other reading of the value meets any other requirement.
            _ => return None,
        };
        match ValueReading::as_type(found, types, self.raw) {
            // Another reading of the value itself comes first: text may contain the whole array.
            None if types.contains(JsonType::Array) => self.wrapped(spot, value, path),
            reading => reading,
        }
    }

    /// Wraps a single value in an array. An item of an array is not wrapped: if the schema requires pairs, `[1, 2]` may
    /// be one pair or the items of two.
    fn wrapped(&mut self, spot: ValuePosition<'_>, value: &mut Value, path: &str) -> Option<ValueReading> {
        if is_item(value, path, spot.item) {
            return None;
        }
        let found = value.pointer(path)?;
        let reading = ValueReading::as_item(found)?;
        let fits = match found {
            // `false` for a list of texts may mean that there is none.
            Value::Bool(_) => self.takes_at(spot, value, path, &reading.value),
            Value::String(text) => match literal::compound(text) {
                // The text itself and the value that it contains are both possible items, so only one may fit.
                Some((inner, _)) => {
                    !(self.takes_at(spot, value, path, &Value::from(vec![inner]))
                        && self.takes_at(spot, value, path, &reading.value))
                }
                None => true,
            },
            _ => true,
        };
        fits.then_some(reading)
    }

    /// Returns `true` if `value`, with `other` at this path, violates the schema neither there nor inside it;
    /// `false` also if the limit on work is reached. `value` itself is not changed.
    fn takes_at(&mut self, spot: ValuePosition<'_>, value: &mut Value, path: &str, other: &Value) -> bool {
        if !self.work.spend(nodes(value) + nodes(other)) {
            return false;
        }
        let within = |fault: &SchemaFault| {
            // `/ab` is not inside `/a`.
            fault.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let faults = ask_with(value, path, other.clone(), |value| self.faults(spot, value));
        faults.is_some_and(|faults| !faults.iter().any(within))
    }

    /// Removes a blank member (null or blank text) from its object, unless the schema requires it. Returns `true` if it
    /// was removed.
    fn leave_out(&mut self, spot: ValuePosition<'_>, value: &mut Value, path: &str) -> bool {
        let says_nothing = match value.pointer(path) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.trim().is_empty(),
            _ => false,
        };
        // The arguments as a whole cannot be left out.
        let Some((parent, key)) = around(path).filter(|_| says_nothing) else { return false };
        if !self.work.spend(nodes(value)) {
            return false;
        }
        let Some(Value::Object(members)) = value.pointer_mut(parent) else { return false };
        let before = members.clone();
        members.shift_remove(&key);
        let is_needed = |fault: &SchemaFault| {
            fault.path == parent && matches!(&fault.kind, Kind::Required { property } if *property == key)
        };
        let may_go = self.faults(spot, value).is_some_and(|faults| !faults.iter().any(is_needed));
        if !may_go && let Some(slot) = value.pointer_mut(parent) {
            *slot = Value::Object(before);
        }
        may_go
    }

    /// Renames keys of the object at a path that are in another style than the schema's. `wanted` must be one of the
    /// new names. Returns `true` if any was renamed.
    fn rename(
        &mut self,
        wanted: Option<&str>,
        value: &mut Value,
        path: &str,
        place: &str,
        repairs: &mut Vec<Repair>,
    ) -> bool {
        let Some(Value::Object(members)) = value.pointer_mut(path) else { return false };
        // Cached, because each branch that is tried asks about the same place.
        if !self.declared.contains_key(place) {
            let (declared, work) = DeclaredProperties::at(&self.compiled.schema, place);
            if !self.work.spend(work) {
                return false;
            }
            self.declared.insert(place.to_owned(), declared);
        }
        let Some(Some(declared)) = self.declared.get(place) else { return false };
        if !self.work.spend(declared.len() + members.len()) {
            return false;
        }
        let mut renames = declared.renames(wanted, members);
        if let Some(wanted) = wanted.filter(|wanted| !renames.iter().any(|(_, new)| new == wanted)) {
            renames = declared.ending(wanted, members).into_iter().collect();
        }
        if renames.is_empty() {
            return false;
        }
        keys::rename(members, &renames);
        repairs.extend(renames.iter().map(|(old, _)| Repair::KeyRenamed(member(place, old))));
        true
    }
}

/// Returns the result of `ask` for the value with `other` at a path. The value itself is not changed.
fn ask_with<T>(value: &mut Value, path: &str, other: Value, ask: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let old = std::mem::replace(value.pointer_mut(path)?, other);
    let answer = ask(value);
    if let Some(slot) = value.pointer_mut(path) {
        *slot = old;
    }
    answer
}

/// Returns the weight of a repair: 1 for the same value in another notation, 2 for another structure.
fn weight(repair: &Repair) -> usize {
    match repair {
        Repair::UnwrappedArray(_) | Repair::WrappedInArray(_) | Repair::KeyRenamed(_) | Repair::LeftOut(_) => 2,
        _ => 1,
    }
}

/// Returns `true` if two values are equal; numbers are compared by value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(m), Value::Number(n)) => {
            m == n || integer::of(m).as_ref() == Some(n) || integer::of(n).as_ref() == Some(m)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
