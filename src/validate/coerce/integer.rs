//! Numbers that are whole and were written with `.0`.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::place::member;

/// Numbers with `.0` that are tried as integers in one call.
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

/// Whether a number with `.0` stands anywhere in a value.
pub(super) fn any(value: &Value) -> bool {
    match value {
        Value::Number(number) => of(number).is_some(),
        Value::Array(items) => items.iter().any(any),
        Value::Object(members) => members.values().any(any),
        _ => false,
    }
}

/// Whether a number may be an integer that was not kept whole: past 64 bits, or with more digits
/// in the JSON text, as those have that `lossy` holds.
fn is_lost(number: &Number, lossy: &HashSet<u64>) -> bool {
    // From here on a whole number is past `i64`, or past `u64` if it is positive.
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    const MOST: f64 = 18_446_744_073_709_551_615.0;
    let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
    whole.is_some_and(|float| !(LEAST..MOST).contains(&float) || lossy.contains(&float.to_bits()))
}

/// Whether such a number may stand anywhere in a value.
pub(super) fn any_lost(value: &Value) -> bool {
    // Below 2^53 floats keep every digit of an integer.
    const EXACT: f64 = (1_i64 << 53) as f64;
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= EXACT),
        Value::Array(items) => items.iter().any(any_lost),
        Value::Object(members) => members.values().any(any_lost),
        _ => false,
    }
}

/// Their places, and what was read there; at most [`MAX_WHOLE`].
pub(super) fn find_lost(value: &Value, place: &str, lossy: &HashSet<u64>, found: &mut Vec<(String, Number)>) {
    match value {
        Value::Number(number) if found.len() < MAX_WHOLE && any_lost(value) && is_lost(number, lossy) => {
            found.push((place.to_owned(), number.clone()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| any_lost(item)) {
                find_lost(item, &format!("{place}/{index}"), lossy, found);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(_, value)| any_lost(value)) {
                find_lost(value, &member(place, key), lossy, found);
            }
        }
        _ => {}
    }
}

/// Places of the numbers with `.0`, at most [`MAX_WHOLE`].
pub(super) fn find(value: &Value, place: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => {
            if let (Some(_), Some(float), true) = (of(number), number.as_f64(), found.len() < MAX_WHOLE) {
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
