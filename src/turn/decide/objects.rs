//! Finds the objects in results: those of JSON, and lines of text that name a thing by an identifier.

use serde_json::{Map, Value};

use crate::constrain::{id_of, is_id_word};
use crate::parse::find_values;

/// Limit on the nesting of a JSON value in which objects are searched for.
const MAX_DEPTH: usize = 16;

/// Limit on the lines of a result that are searched; `MAX_LINE` limits the bytes of each.
const MAX_LINES: usize = 500;
const MAX_LINE: usize = 2_000;

/// Minimum length of an identifier that begins with a digit, such as a hash; in a shorter word it is an amount
/// (`12km`).
const MIN_HASH: usize = 7;

/// Values that are found in the text of a result.
pub(super) enum Given {
    /// JSON values in the result's text.
    Json(Vec<Value>),
    /// Lines of the result that name something by an identifier, as objects.
    Lines(Vec<Value>),
}

impl Given {
    pub(super) fn values(self) -> Vec<Value> {
        match self {
            Given::Json(values) | Given::Lines(values) => values,
        }
    }
}

/// Returns the JSON values in a text; without any, an object for each line that has an identifier: the identifiers by the
/// words before them, `{"id": "A-1", "supplier_id": "S-7"}` for "A-1 mug, supplier S-7", and the line itself under an empty
/// name.
pub(super) fn given_in(text: &str) -> Given {
    let values: Vec<Value> = find_values(text).values.into_iter().map(|found| found.value).collect();
    if !values.is_empty() {
        return Given::Json(values);
    }
    let lines = text.lines().take(MAX_LINES).filter(|line| line.len() <= MAX_LINE);
    Given::Lines(lines.filter_map(line).collect())
}

/// Returns the objects in a JSON value, each before those inside it.
pub(super) fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    add(value, MAX_DEPTH, &mut found);
    found
}

fn add<'v>(value: &'v Value, depth: usize, found: &mut Vec<&'v Map<String, Value>>) {
    match value {
        Value::Array(items) if depth > 0 => items.iter().for_each(|item| add(item, depth - 1, found)),
        Value::Object(members) if depth > 0 => {
            found.push(members);
            members.values().for_each(|value| add(value, depth - 1, found));
        }
        _ => {}
    }
}

fn line(line: &str) -> Option<Value> {
    let mut found = Map::new();
    let mut noun = String::new();
    for word in ids_in(line) {
        noun = match word {
            Word::Id(id) => {
                found.entry(id_of(&noun)).or_insert_with(|| id.into());
                id.to_lowercase()
            }
            Word::Other(word) => word.to_lowercase(),
        };
    }
    (!found.is_empty()).then(|| {
        found.insert(String::new(), line.into());
        Value::Object(found)
    })
}

/// Word of a text: an identifier, or any other word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Word<'t> {
    /// Word with the form of an identifier.
    Id(&'t str),
    Other(&'t str),
}

impl<'t> Word<'t> {
    pub(super) fn of(word: &'t str) -> Self {
        if names_one(word) { Word::Id(word) } else { Word::Other(word) }
    }
}

/// Returns the words of a text without those that announce an identifier ("number", "no.").
pub(super) fn ids_in(text: &str) -> impl Iterator<Item = Word<'_>> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@')));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words = words.filter(|word| !word.is_empty() && !is_id_word(word));
    words.map(Word::of)
}

/// Returns `true` if a word has the form of an identifier: letters and digits, beginning with a letter (`a1`) or as
/// long as a hash, unless it begins with a date.
fn names_one(word: &str) -> bool {
    let has = |is_so: fn(char) -> bool| word.contains(is_so);
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let is_mixed = is_plain && has(|c| c.is_ascii_digit()) && has(|c| c.is_ascii_alphabetic());
    let is_day = || {
        // `2026-12-04T10` has the characters of an identifier.
        word.len() > 4
            && word.is_char_boundary(4)
            && word[..4].bytes().all(|b| b.is_ascii_digit())
            && word[4..].starts_with('-')
    };
    // `d3` is an identifier, `12km` is an amount; a hash may begin with a digit: `9f3a21c`.
    is_mixed && (word.starts_with(|c: char| c.is_ascii_alphabetic()) || word.len() >= MIN_HASH && !is_day())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_that_names_a_thing_is_an_object() {
        for (text, found) in [
            ("ev-31: Dentist 10:00", vec![json!({"id": "ev-31", "": "ev-31: Dentist 10:00"})]),
            ("Oslo: location key L-2", vec![json!({"location_id": "L-2", "": "Oslo: location key L-2"})]),
            (
                "A-1 mug: 4 left, 6.80 EUR, supplier S-7",
                vec![json!({"id": "A-1", "supplier_id": "S-7", "": "A-1 mug: 4 left, 6.80 EUR, supplier S-7"})],
            ),
            ("- d3: fan (Bedroom)", vec![json!({"id": "d3", "": "- d3: fan (Bedroom)"})]),
            ("commit 9f3a21c", vec![json!({"commit_id": "9f3a21c", "": "commit 9f3a21c"})]),
            ("11 °C, wind 5 km/h until 2026-12-04T10:00, 12km, a/b2.txt", Vec::new()),
            ("ev-31 ".repeat(400).as_str(), Vec::new()),
        ] {
            assert!(matches!(given_in(text), Given::Lines(lines) if lines == found), "{text}");
        }
        assert!(matches!(given_in(r#"{"id": "ev-31"}"#), Given::Json(_)));
    }
}
