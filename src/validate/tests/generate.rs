//! Arguments that a schema accepts, and the damage that models do to them.

use serde_json::{Map, Value, json};

use crate::tools::schema::resolve;

/// Generator of pseudo-random numbers, the same in every run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `sides`, which is at least 1.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'v, T>(&mut self, of: &'v [T]) -> Option<&'v T> {
        (!of.is_empty()).then(|| &of[self.roll(of.len())])
    }
}

/// Returns a random value that `schema` probably accepts.
pub(super) fn value(root: &Value, schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    const WORDS: &[&str] = &["a", "notes.txt", "two words", "5", "true", "null", "{\"a\": 1}", "[1]", " x ", "", "名"];
    let list = |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| resolve(root, r)) {
        return if depth == 0 { json!({}) } else { value(root, target, dice, depth - 1) };
    }
    if let Some(only) = schema.get("const").or(dice.pick(list("enum"))) {
        return only.clone();
    }
    if let Some(branch) = dice.pick(list("anyOf")).or(dice.pick(list("oneOf"))).or(list("allOf").first()) {
        return if depth == 0 { json!({}) } else { value(root, branch, dice, depth - 1) };
    }
    let kind = schema.get("type").map(|kind| match kind {
        Value::Array(kinds) => dice.pick(kinds).and_then(Value::as_str).unwrap_or("string"),
        kind => kind.as_str().unwrap_or("string"),
    });
    let low = schema.get("minimum").and_then(Value::as_i64).unwrap_or(0);
    let number = low + i64::try_from(dice.roll(9)).unwrap();
    match kind.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" }) {
        "integer" => json!(number),
        "number" if dice.roll(2) == 0 => json!(number),
        "number" => json!(number as f64 + 0.25),
        "boolean" => json!(dice.roll(2) == 0),
        "null" => Value::Null,
        "array" if depth == 0 => json!([]),
        "array" => {
            let any = json!({"type": "integer"});
            let items = schema.get("items").unwrap_or(&any);
            (0..dice.roll(4)).map(|_| value(root, items, dice, depth - 1)).collect()
        }
        "object" => object(root, schema, dice, depth),
        _ => json!(WORDS[dice.roll(WORDS.len())]),
    }
}

fn object(root: &Value, schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    let mut members = Map::new();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if depth > 0 && (required.contains(&json!(name)) || dice.roll(2) == 0) {
            members.insert(name.clone(), value(root, schema, dice, depth - 1));
        }
    }
    members.into()
}

/// Way in which a model may write a value wrongly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Damage {
    /// The value is written as JSON in a string.
    Text,
    /// The value is written inside an array.
    Array,
    /// An array of one item is written without its brackets.
    Bare,
    /// A key is written in another style, such as `fileName`.
    Key,
}

impl Damage {
    pub(super) const ALL: [Damage; 4] = [Damage::Text, Damage::Array, Damage::Bare, Damage::Key];
}

/// Damages one value inside `arguments`, or all of them, in this way. Returns its place; `None` if no value can be
/// damaged in this way.
pub(super) fn damage(arguments: &mut Value, how: Damage, dice: &mut Dice) -> Option<String> {
    let mut places = Vec::new();
    collect(arguments, "", &mut places);
    places.retain(|place| can(arguments.pointer(place).unwrap(), how));
    let place = dice.pick(&places)?.clone();
    let slot = arguments.pointer_mut(&place)?;
    match how {
        Damage::Text => *slot = slot.to_string().into(),
        Damage::Array => *slot = json!([slot.take()]),
        Damage::Bare => *slot = slot[0].take(),
        Damage::Key => {
            let members = slot.as_object_mut()?;
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = dice.pick(&keys)?;
            let other = [restyled(key), key.to_uppercase(), key.replace('_', "-")][dice.roll(3)].clone();
            if members.contains_key(&other) {
                return None;
            }
            *members = std::mem::take(members)
                .into_iter()
                .map(|(k, v)| if k == *key { (other.clone(), v) } else { (k, v) })
                .collect();
            return Some(format!("{place}/{other}"));
        }
    }
    Some(place)
}

fn can(value: &Value, how: Damage) -> bool {
    match how {
        Damage::Text => !value.is_string(),
        Damage::Array => !value.is_array(),
        // Text that holds JSON is read as that, and rightly.
        Damage::Bare => match value.as_array().map(Vec::as_slice) {
            Some([Value::String(text)]) => !text.starts_with(['{', '[']),
            Some([_]) => true,
            _ => false,
        },
        Damage::Key => value.as_object().is_some_and(|members| !members.is_empty()),
    }
}

fn collect(value: &Value, place: &str, places: &mut Vec<String>) {
    places.push(place.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| collect(item, &format!("{place}/{n}"), places));
        }
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            collect(value, &format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), places);
        }),
        _ => {}
    }
}

/// Returns a key in another style: `fileName` for `file_name`, and the other way round.
fn restyled(key: &str) -> String {
    let mut restyled = String::new();
    for c in key.chars() {
        match c {
            '_' | '-' => restyled.push('\0'),
            c if restyled.ends_with('\0') => {
                restyled.pop();
                restyled.extend(c.to_uppercase());
            }
            c if c.is_uppercase() => {
                restyled.push('_');
                restyled.extend(c.to_lowercase());
            }
            c => restyled.push(c),
        }
    }
    restyled.replace('\0', "_")
}
