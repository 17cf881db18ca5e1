//! Integers that were written with `.0`, and those that no integer of 64 bits is.

use std::collections::HashSet;

use serde_json::Value;

use super::Run;
use super::integer;
use crate::event::Repair;
use crate::json::literal;
use crate::validate::work::nodes;

/// Fractions that a schema takes where it takes any number there, each beside an integer: one of
/// them is within the bounds that a schema may set.
const FRACTIONS: [(f64, f64); 4] =
    [(0.5, 0.0), (-0.5, -1.0), (100.5, 100.0), (4_503_599_627_370_495.5, 4_503_599_627_370_495.0)];

impl Run<'_> {
    /// Whether the schema refuses another value at a place.
    fn refuses(&mut self, other: impl Into<Value>, place: &str, value: &mut Value) -> bool {
        let Some(slot) = value.pointer_mut(place) else { return false };
        let old = std::mem::replace(slot, other.into());
        let taken = self.takes("", value);
        if let Some(slot) = value.pointer_mut(place) {
            *slot = old;
        }
        taken == Some(false)
    }

    /// The first place where the number is whole and has more digits than one of 64 bits, or than
    /// were kept of it, and the schema does not say that a fraction fits: only an integer does, or
    /// anything. What would be sent is not what was written, and may be an identifier.
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

    /// Writes `5.0` as `5` where only an integer fits: JSON Schema takes it for
    /// one, but many servers do not. Only an integer fits where the schema
    /// refuses the number when half is added, and also when half is taken away.
    pub(super) fn write_whole_floats_as_integers(&mut self, value: &mut Value, repairs: &mut Vec<Repair>) {
        let mut places = Vec::new();
        integer::find(value, "", &integer::is_whole, &mut places);
        for (place, number) in places {
            let Some(float) = number.as_f64() else { continue };
            if !self.work.spend(2 * nodes(value)) {
                return;
            }
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
