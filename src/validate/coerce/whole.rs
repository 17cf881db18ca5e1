//! Handles integers that were written with `.0`, and integers that exceed 64 bits.

use std::collections::HashSet;

use serde_json::Value;

use super::{Coercion, ask_with, integer};
use crate::event::Repair;
use crate::json::literal;
use crate::validate::work::nodes;

/// Fractions, each with an adjacent integer, that tell whether a schema accepts any number or only integers: one pair
/// of them is within any limits that a schema is likely to set.
const FRACTIONS: [(f64, f64); 4] =
    [(0.5, 0.0), (-0.5, -1.0), (100.5, 100.0), (4_503_599_627_370_495.5, 4_503_599_627_370_495.0)];

impl Coercion<'_> {
    /// Returns `true` if the schema refuses `value` with `other` at a place.
    fn refuses(&mut self, other: impl Into<Value>, place: &str, value: &mut Value) -> bool {
        ask_with(value, place, other.into(), |value| self.takes("", value)) == Some(false)
    }

    /// Returns an error for the first whole number with more than 64 bits, or with more digits than were kept, at a
    /// place where the schema accepts only integers or accepts anything. The number that would be sent differs from the
    /// one that was written, which may be an identifier.
    pub(super) fn lost_digits(&mut self, value: &mut Value) -> Option<String> {
        let mut places = Vec::new();
        if !integer::holds(value, &integer::may_be_lost) {
            return None;
        }
        let lossy: HashSet<_> = literal::lossy(self.raw).map(f64::to_bits).collect();
        integer::find(value, "", &|number| integer::is_lost(number, &lossy), &mut places);
        for (place, number) in places {
            if !self.work.spend((2 * FRACTIONS.len() + 4) * nodes(value)) {
                return Some(self.work.message());
            }
            // The schema is asked, since `integer` may be in a part that a reference or a branch leads to.
            let only_integer = FRACTIONS.iter().any(|(fraction, whole)| {
                self.refuses(*fraction, &place, value) && !self.refuses(*whole, &place, value)
            });
            let takes_anything = [Value::Null, true.into(), "".into(), Value::Array(Vec::new())];
            let is_exact = !number.as_f64().is_some_and(|float| lossy.contains(&float.to_bits()));
            let expected = if only_integer {
                "expected an integer of at most 64 bits"
            } else if is_exact || takes_anything.into_iter().any(|other| self.refuses(other, &place, value)) {
                continue;
            } else {
                "expected a text or a shorter number"
            };
            let found = literal::spelling(self.raw, &number).map_or_else(|| number.to_string(), str::to_owned);
            return Some(format!("{place}: {expected}, found {found}, whose digits would be lost"));
        }
        None
    }

    /// Writes `5.0` as `5` if only an integer is accepted: JSON Schema treats it as an integer, but many servers do
    /// not. Only an integer is accepted if the schema refuses both the number plus a half and the number minus a half.
    pub(super) fn write_whole_floats_as_integers(&mut self, value: &mut Value, repairs: &mut Vec<Repair>) {
        let mut places = Vec::new();
        integer::find(value, "", &integer::is_whole, &mut places);
        for (place, number) in places {
            let Some(float) = number.as_f64() else { continue };
            if !self.work.spend(2 * nodes(value)) {
                return;
            }
            // A limit at the number could explain one refusal, so both are required.
            if self.refuses(float + 0.5, &place, value)
                && self.refuses(float - 0.5, &place, value)
                && let Some(slot) = value.pointer_mut(&place)
                && let Some(integer) = integer::of(&number)
            {
                *slot = Value::Number(integer);
                repairs.push(Repair::Coerced(place));
            }
        }
    }
}
