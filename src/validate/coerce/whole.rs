//! Integers that were written with `.0`, and those that no integer of 64 bits is.

use serde_json::{Number, Value};

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

    /// The first place where only an integer fits and the number has more digits than one of
    /// 64 bits, or than were kept of it: what would be sent is not what was written.
    pub(super) fn lost_digits(&mut self, value: &mut Value) -> Option<String> {
        let mut places = Vec::new();
        if !integer::any_lost(value) {
            return None;
        }
        let lossy = literal::lossy(self.raw).map(f64::to_bits).collect();
        integer::find_lost(value, "", &lossy, &mut places);
        for (place, number) in places {
            if !self.work.spend(2 * FRACTIONS.len() * nodes(value)) {
                return Some(self.work.message());
            }
            let only_integer = FRACTIONS.iter().any(|(fraction, whole)| {
                self.refuses(Number::from_f64(*fraction), &place, value)
                    && !self.refuses(Number::from_f64(*whole), &place, value)
            });
            if only_integer {
                let found = literal::spelling(self.raw, &number).map_or_else(|| number.to_string(), str::to_owned);
                return Some(format!(
                    "{place}: expected an integer of at most 64 bits, found {found}, whose digits would be lost"
                ));
            }
        }
        None
    }

    /// Writes `5.0` as `5` where only an integer fits: JSON Schema takes it for
    /// one, but many servers do not. Only an integer fits where the schema
    /// refuses the number when half is added, and also when half is taken away.
    pub(super) fn write_whole_floats_as_integers(&mut self, value: &mut Value, repairs: &mut Vec<Repair>) {
        let mut places = Vec::new();
        integer::find(value, "", &mut places);
        for (place, float) in places {
            if !self.work.spend(2 * nodes(value)) {
                return;
            }
            if self.refuses(Number::from_f64(float + 0.5), &place, value)
                && self.refuses(Number::from_f64(float - 0.5), &place, value)
                && let Some(slot) = value.pointer_mut(&place)
                && let Some(integer) = Number::from_f64(float).and_then(|n| integer::of(&n))
            {
                *slot = Value::Number(integer);
                repairs.push(Repair::Coerced(place));
            }
        }
    }
}
