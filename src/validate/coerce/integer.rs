//! Numbers that are whole and were written with `.0`.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::place::member;

/// Numbers that are looked at in one call.
const MAX_WHOLE: usize = 64;

/// The integer that a number with `.0` is.
pub(super) fn of(number: &Number) -> Option<Number> {
    // Beyond 2^50 halves cannot be told apart.
    const LIMIT: f64 = (1_i64 << 50) as f64;
    let float = number.as_f64().filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < LIMIT)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^50")]
    let integer = float as i64;
    Some(integer.into())
}

/// Whether a number was written with `.0`.
pub(super) fn is_whole(number: &Number) -> bool {
    of(number).is_some()
}

/// Whether a number may be an integer of which not every digit was kept: below 2^53 floats keep all.
pub(super) fn may_be_lost(number: &Number) -> bool {
    const EXACT: f64 = (1_i64 << 53) as f64;
    number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= EXACT)
}

/// Whether it may be an integer that was not kept whole: past 64 bits, or with more digits
/// in the JSON text, as those have that `lossy` holds.
pub(super) fn is_lost(number: &Number, lossy: &HashSet<u64>) -> bool {
    // From here on a whole number is past `i64`, or past `u64` if it is positive.
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    const MOST: f64 = 18_446_744_073_709_551_615.0;
    let whole = number.as_f64().filter(|float| may_be_lost(number) && float.fract() == 0.0);
    whole.is_some_and(|float| !(LEAST..MOST).contains(&float) || lossy.contains(&float.to_bits()))
}

/// Whether a number that is wanted stands anywhere in a value.
pub(super) fn holds(value: &Value, wanted: &impl Fn(&Number) -> bool) -> bool {
    match value {
        Value::Number(number) => wanted(number),
        Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Value::Object(members) => members.values().any(|value| holds(value, wanted)),
        _ => false,
    }
}

/// Numbers that are wanted, and their places; at most [`MAX_WHOLE`].
pub(super) fn find(value: &Value, place: &str, wanted: &impl Fn(&Number) -> bool, found: &mut Vec<(String, Number)>) {
    match value {
        Value::Number(number) if found.len() < MAX_WHOLE && wanted(number) => {
            found.push((place.to_owned(), number.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| holds(item, wanted)) {
                find(item, &format!("{place}/{index}"), wanted, found);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(_, value)| holds(value, wanted)) {
                find(value, &member(place, key), wanted, found);
            }
        }
        _ => {}
    }
}
