//! Integers that were written with `.0`.

use serde_json::{Number, Value};

use super::{Run, member};
use crate::call::Repair;
use crate::validate::compile::nodes;

/// Numbers with `.0` that are tried as integers in one call.
const MAX_WHOLE: usize = 64;

impl Run<'_> {
    /// Whether the schema refuses another number at a place.
    fn refuses(&mut self, other: Option<Number>, place: &str, value: &mut Value) -> bool {
        let Some(slot) = value.pointer_mut(place) else { return false };
        let old = std::mem::replace(slot, other.map_or(Value::Null, Value::Number));
        let taken = self.takes("", value);
        if let Some(slot) = value.pointer_mut(place) {
            *slot = old;
        }
        taken == Some(false)
    }

    /// Writes `5.0` as `5` where only an integer fits: JSON Schema takes it for
    /// one, but many servers do not. Only an integer fits where the schema
    /// refuses the number when half is added, and also when half is taken away.
    pub(super) fn write_whole_floats_as_integers(&mut self, value: &mut Value, repairs: &mut Vec<Repair>) {
        let mut places = Vec::new();
        find(value, "", &mut places);
        for (place, float) in places {
            if !self.work.spend(2 * nodes(value)) {
                return;
            }
            if self.refuses(Number::from_f64(float + 0.5), &place, value)
                && self.refuses(Number::from_f64(float - 0.5), &place, value)
                && let Some(slot) = value.pointer_mut(&place)
                && let Some(integer) = Number::from_f64(float).and_then(|n| integer(&n))
            {
                *slot = Value::Number(integer);
                repairs.push(Repair::Coerced(place));
            }
        }
    }
}

/// The integer that a number with `.0` is.
pub(super) fn integer(number: &Number) -> Option<Number> {
    // Beyond 2^50 halves cannot be told apart.
    const LIMIT: f64 = (1_i64 << 50) as f64;
    let float = number.as_f64().filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < LIMIT)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^50")]
    let integer = float as i64;
    Some(integer.into())
}

/// Whether a number with `.0` stands anywhere in a value.
pub(super) fn any(value: &Value) -> bool {
    match value {
        Value::Number(number) => integer(number).is_some(),
        Value::Array(items) => items.iter().any(any),
        Value::Object(members) => members.values().any(any),
        _ => false,
    }
}

/// Places of the numbers with `.0`, at most [`MAX_WHOLE`].
fn find(value: &Value, place: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => {
            if let (Some(_), Some(float), true) = (integer(number), number.as_f64(), found.len() < MAX_WHOLE) {
                found.push((place.to_owned(), float));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| any(item)) {
                find(item, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(_, value)| any(value)) {
                find(value, &member(place, key), found);
            }
        }
        _ => {}
    }
}
