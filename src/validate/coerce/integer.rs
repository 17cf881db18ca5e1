//! Converts whole numbers that were written with `.0`.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::place::member;

/// Limit on the numbers with `.0` that are converted in one call.
const MAX_WHOLE: usize = 64;

/// Returns the integer that a number with `.0` equals; `None` for any other number, and from 2^50 on.
pub(super) fn of(number: &Number) -> Option<Number> {
    // Above 2^50 halves cannot be represented reliably.
    const LIMIT: f64 = (1_i64 << 50) as f64;
    let float = number.as_f64().filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < LIMIT)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^50")]
    let integer = float as i64;
    Some(integer.into())
}

/// Returns `true` if a number was written with `.0` and can be converted to an integer.
pub(super) fn is_whole(number: &Number) -> bool {
    of(number).is_some()
}

/// Returns `true` if a number may be an integer that lost digits: below 2^53 floats keep all of them.
pub(super) fn may_be_lost(number: &Number) -> bool {
    const EXACT: f64 = (1_i64 << 53) as f64;
    number.is_f64() && number.as_f64().is_some_and(|float| float.abs() >= EXACT)
}

/// Returns `true` if a number may be an integer that lost digits: it is beyond 64 bits, or it had more digits in the
/// JSON text, as the numbers in `lossy` had.
pub(super) fn is_lost(number: &Number, lossy: &HashSet<u64>) -> bool {
    // Outside these limits a whole number exceeds `i64`, or `u64` if it is positive.
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    const MOST: f64 = 18_446_744_073_709_551_615.0;
    let whole = number.as_f64().filter(|float| may_be_lost(number) && float.fract() == 0.0);
    whole.is_some_and(|float| !(LEAST..MOST).contains(&float) || lossy.contains(&float.to_bits()))
}

/// Returns `true` if a value contains a number that `wanted` accepts.
pub(super) fn holds(value: &Value, wanted: &impl Fn(&Number) -> bool) -> bool {
    match value {
        Value::Number(number) => wanted(number),
        Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Value::Object(members) => members.values().any(|value| holds(value, wanted)),
        _ => false,
    }
}

/// Collects the numbers that `wanted` accepts with their places, at most [`MAX_WHOLE`].
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
