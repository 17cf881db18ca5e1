//! A schema and a value for it: the check ends within its number of steps, and accepts an accepted
//! value again unchanged.
//!
//! Each byte is a choice. The schema's three named parts refer to each other, so that the work may
//! double with each level of the value.

#![cfg_attr(fuzzing, no_main)]

use std::panic;
use std::sync::Once;

use serde_json::{Map, Value, json};
use toolgraft::validate::{OutputSchema, max_steps};

const PARTS: [&str; 3] = ["a", "b", "c"];

/// A panic ends the run, except for those in the validator's crate, which are caught.
static ONLY_OUR_PANICS: Once = Once::new();

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    ONLY_OUR_PANICS.call_once(|| {
        let end = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !panic.location().is_some_and(|place| place.file().contains("/jsonschema-")) {
                end(panic);
            }
        }));
    });
    let mut bytes = data.iter().copied();
    let bytes = &mut bytes;
    let mut whole = schema(bytes, 4);
    let parts: Map<String, Value> = PARTS.iter().map(|part| ((*part).to_owned(), schema(bytes, 3).into())).collect();
    whole.insert("$defs".to_owned(), parts.into());
    let Ok(schema) = OutputSchema::new(Value::Object(whole)) else { return };
    let levels = usize::from(choose(bytes, 120));
    let value = value(bytes, levels);
    let (checked, steps) = schema.check_counted(&value, &value.to_string());
    assert!(steps <= max_steps(&value), "{steps} steps: {value} for {}", schema.schema());
    match checked {
        Ok((value, _)) => {
            let again = schema.check(&value, &value.to_string());
            assert_eq!(again, Ok((value, Vec::new())), "for {}", schema.schema());
        }
        Err(mismatch) => assert!(!mismatch.message.is_empty(), "{value} for {}", schema.schema()),
    }
}

fn choose(bytes: &mut impl Iterator<Item = u8>, of: u8) -> u8 {
    bytes.next().unwrap_or(0) % of
}

fn schema(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> Map<String, Value> {
    let mut schema = Map::new();
    for _ in 0..1 + choose(bytes, 3) {
        let part = |bytes: &mut _| Value::Object(self::schema(bytes, depth - 1));
        let (keyword, said) = match choose(bytes, if depth == 0 { 5 } else { 20 }) {
            0 => ("type", json!(["integer", "string", "object", "array", "boolean"][usize::from(choose(bytes, 5))])),
            1 | 2 => ("$ref", json!(format!("#/$defs/{}", PARTS[usize::from(choose(bytes, 3))]))),
            3 => ("required", json!([if choose(bytes, 2) == 0 { "x" } else { "y" }])),
            4 => ("enum", json!([1, "s", true, null, {"x": 1}])),
            5..=7 => (["anyOf", "oneOf", "allOf"][usize::from(choose(bytes, 3))], json!([part(bytes), part(bytes)])),
            8..=11 => ("properties", json!({"x": part(bytes), "yY": part(bytes)})),
            12 => ("patternProperties", json!({"^x": part(bytes)})),
            13 => ("additionalProperties", json!(choose(bytes, 2) == 0)),
            14 => ("additionalProperties", part(bytes)),
            15 => ("items", part(bytes)),
            16 => ("not", part(bytes)),
            17 => (["if", "then", "else"][usize::from(choose(bytes, 3))], part(bytes)),
            18 => ("contains", part(bytes)),
            _ => ("unevaluatedProperties", json!(false)),
        };
        schema.insert(keyword.to_owned(), said);
    }
    schema
}

/// Returns a value with this many levels, and with other values next to them.
fn value(bytes: &mut impl Iterator<Item = u8>, levels: usize) -> Value {
    let mut value = leaf(bytes);
    for _ in 0..levels {
        value = match choose(bytes, 8) {
            0 => json!([value]),
            1 => json!([value, leaf(bytes)]),
            2 => json!({"y_y": value}),
            3 => json!({"x": value, "yY": leaf(bytes)}),
            4 if levels < 8 => json!(value.to_string()),
            _ => json!({"x": value}),
        };
    }
    value
}

fn leaf(bytes: &mut impl Iterator<Item = u8>) -> Value {
    match choose(bytes, 9) {
        0 => json!("5"),
        1 => json!(5.0),
        2 => json!("true"),
        3 => json!(null),
        4 => json!([1]),
        5 => json!("{\"x\": \"1\"}"),
        6 => json!("s"),
        7 => json!({"X": 1}),
        _ => json!(1),
    }
}
