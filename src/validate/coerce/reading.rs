//! Other readings of one value: as another type, as one of some values.

use jsonschema::{JsonType, JsonTypeSet};
use serde_json::{Map, Number, Value};

use super::integer;
use crate::event::Repair;
use crate::json::literal;

/// Limit on the levels of text and of one-item arrays around the arguments that are unwrapped.
const MAX_UNWRAPS: usize = 2;

/// Words that mean "nothing", which are not an item of a list.
const NOTHING: &[&str] = &["", "null", "none", "nil", "undefined"];

/// Another reading of a value that the schema refuses, such as the number that a text spells.
pub(super) struct ValueReading {
    pub(super) value: Value,
    /// Function that creates the repair for this reading from the place of the value.
    repair: fn(String) -> Repair,
    /// `true` if digits of a number were lost.
    lossy: bool,
}

impl ValueReading {
    /// Returns the value and records its repair at a place.
    pub(super) fn note(self, place: &str, repairs: &mut Vec<Repair>) -> Value {
        repairs.push((self.repair)(place.to_owned()));
        if self.lossy {
            repairs.push(Repair::NumberPrecision);
        }
        self.value
    }

    fn coerced(value: impl Into<Value>) -> Self {
        ValueReading { value: value.into(), repair: Repair::Coerced, lossy: false }
    }

    fn unwrapped(value: Value) -> Self {
        ValueReading { value, repair: Repair::UnwrappedString, lossy: false }
    }

    /// Reads whole arguments as an object. Returns the object and the readings that led to it.
    pub(super) fn arguments(arguments: &Value) -> Option<(Value, Vec<ValueReading>)> {
        let mut readings: Vec<ValueReading> = Vec::new();
        for _ in 0..=MAX_UNWRAPS {
            let found = readings.last().map_or(arguments, |reading| &reading.value);
            let next = match found {
                Value::Object(_) => return Some((found.clone(), readings)),
                Value::Null => ValueReading::coerced(Map::new()),
                // Some models write an empty text for no arguments.
                Value::String(text) if text.trim().is_empty() => ValueReading::coerced(Map::new()),
                Value::String(text) if text.trim() == "null" => ValueReading::unwrapped(Value::Null),
                Value::String(text) => ValueReading::in_text(text)?,
                Value::Array(items) => ValueReading::only_item(items)?,
                _ => return None,
            };
            readings.push(next);
        }
        None
    }

    /// Returns another reading of the value that is of one of the types; `None` if there is none.
    pub(super) fn as_type(value: &Value, types: JsonTypeSet, raw: &str) -> Option<Self> {
        let has = |t| types.contains(t);
        match value {
            Value::String(text) => ValueReading::of_text(text, types),
            Value::Number(number) if has(JsonType::Integer) => integer::of(number).map(ValueReading::coerced),
            // A number that lost digits is not turned into text either, since its original digits are uncertain.
            Value::Number(number) if has(JsonType::String) && !literal::loses_digits(raw, number) => {
                digits(number, raw).map(ValueReading::coerced)
            }
            Value::Bool(b) if has(JsonType::String) => Some(ValueReading::coerced(b.to_string())),
            Value::Array(items) if !has(JsonType::Array) => ValueReading::only_item(items),
            _ => None,
        }
    }

    /// Returns the value of an `enum` or `const` that the value spells, if there is exactly one.
    pub(super) fn as_option(value: &Value, options: &[Value], raw: &str) -> Option<Self> {
        let spelt = |option: &&Value| match (value, option) {
            (Value::String(text), Value::String(option)) => text.trim() == option,
            (Value::String(text), Value::Number(option)) => {
                literal::integer(text).as_ref() == Some(option)
                    || literal::number(text).is_some_and(|(n, lossy)| n == *option && !lossy)
            }
            (Value::String(text), Value::Bool(option)) => literal::boolean(text) == Some(*option),
            (Value::String(text), Value::Null) => text.trim() == "null",
            (Value::Number(number), Value::String(option)) => digits(number, raw).as_ref() == Some(option),
            (Value::Bool(b), Value::String(option)) => b.to_string() == *option,
            _ => false,
        };
        let mut found = options.iter().filter(spelt);
        match (found.next(), found.next(), value) {
            // Of two options that the value spells none is certain: `1` and `"1"`.
            (Some(option), None, _) => Some(ValueReading::coerced(option.clone())),
            (None, _, Value::Array(items)) => ValueReading::only_item(items),
            (None, _, Value::String(text)) => ValueReading::in_text(text).filter(|r| r.value.is_string()),
            _ => None,
        }
    }

    /// Returns an array with the value as its only item; `None` if the value may mean no item or several.
    pub(super) fn as_item(value: &Value) -> Option<Self> {
        let one = match value {
            // `null` may mean no list, and an array is none of its own items.
            Value::Null | Value::Array(_) => false,
            Value::String(text) => is_one(text.trim()),
            _ => true,
        };
        one.then(|| ValueReading { value: vec![value.clone()].into(), repair: Repair::WrappedInArray, lossy: false })
    }

    /// Returns the value of one of these types that a text spells; `None` if there is none.
    fn of_text(text: &str, types: JsonTypeSet) -> Option<Self> {
        let has = |t| types.contains(t);
        // The narrower type comes first: `5` for `["integer", "number"]` is an integer.
        if has(JsonType::Integer)
            && let Some(integer) = literal::integer(text)
        {
            return Some(ValueReading::coerced(integer));
        }
        if has(JsonType::Number)
            && let Some((number, lossy)) = literal::number(text)
        {
            return Some(ValueReading { lossy, ..ValueReading::coerced(number) });
        }
        if has(JsonType::Boolean)
            && let Some(boolean) = literal::boolean(text)
        {
            return Some(ValueReading::coerced(boolean));
        }
        if has(JsonType::Null) && text.trim() == "null" {
            return Some(ValueReading::coerced(Value::Null));
        }
        ValueReading::in_text(text).filter(|reading| match &reading.value {
            Value::Array(_) => has(JsonType::Array),
            Value::Object(_) => has(JsonType::Object),
            // Text inside text is read in a further round.
            _ => true,
        })
    }

    /// Returns the object, array or string whose JSON the text is.
    fn in_text(text: &str) -> Option<Self> {
        if let Some((value, lossy)) = literal::compound(text) {
            return Some(ValueReading { lossy, ..ValueReading::unwrapped(value) });
        }
        let text = text.trim();
        let inner = text.starts_with('"').then(|| serde_json::from_str::<String>(text).ok())??;
        Some(ValueReading::unwrapped(inner.into()))
    }

    fn only_item(items: &[Value]) -> Option<Self> {
        match items {
            [item] => Some(ValueReading { value: item.clone(), repair: Repair::UnwrappedArray, lossy: false }),
            _ => None,
        }
    }
}

/// Returns `true` if a text can be the only item of an array: a JSON object, or text that does not begin like
/// a JSON array, object or string, is no word for nothing, and has no separators and no elements of markup.
fn is_one(text: &str) -> bool {
    const BETWEEN: &[char] = &[',', ';', '\n', '，', '、', '；'];
    let json = text.starts_with(['[', '{', '"']);
    if json {
        return literal::compound(text).is_some_and(|(value, _)| value.is_object());
    }
    // Elements may be several items.
    let has_elements = text.starts_with('<') && text.contains("</");
    !NOTHING.iter().any(|word| text.eq_ignore_ascii_case(word)) && !text.contains(BETWEEN) && !has_elements
}

/// Returns a number's digits as written; `None` for a fraction or exponent whose notation is unknown, as `1.10` would
/// become `1.1`.
fn digits(number: &Number, raw: &str) -> Option<String> {
    if number.is_f64() {
        return literal::spelling(raw, number).map(str::to_owned);
    }
    Some(number.to_string())
}
