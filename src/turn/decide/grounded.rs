//! Whether anybody said the values by which a call names things.
//!
//! A small model that is held to a call fills each gap: where it does not know an id it takes one of an
//! example, or the words of the question. Such a value stands neither in what the person said nor in a
//! result. What results have under the same name are then candidates; where there are none, something has
//! to be looked up first.

use std::collections::HashSet;

use serde_json::Value;

use crate::parse::find_values;
use crate::tools::Tool;
use crate::tools::schema::properties;

/// More candidates are no choice.
const MAX_CANDIDATES: usize = 32;

/// Shorter words without a digit say nothing of a value: an ending of a file's name, an article.
const MIN_WORD: usize = 4;

/// Deepest nesting of results in which candidates are looked for.
const MAX_DEPTH: usize = 16;

/// A value of a call that nobody said.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::turn) struct Ungrounded {
    /// The member of the arguments.
    pub(in crate::turn) member: String,
    /// What results have under that name, each once.
    pub(in crate::turn) candidates: Vec<Value>,
}

/// What was said that calls can name things by.
#[derive(Debug)]
pub(in crate::turn) struct Said {
    person: String,
    results: Vec<String>,
    /// The words of both, in lower case.
    words: HashSet<String>,
}

impl Said {
    pub(in crate::turn) fn new(person: String, results: Vec<String>) -> Self {
        let all = results.iter().chain([&person]);
        let words = all.flat_map(|text| words(text)).collect();
        Said { person, results, words }
    }

    /// The first value of the arguments that nobody said, of those that name a thing.
    pub(in crate::turn) fn ungrounded(&self, arguments: &Value, tool: &Tool) -> Option<Ungrounded> {
        let schema = tool.input_schema.as_ref();
        let mut members = arguments.as_object()?.iter();
        let (member, _) = members.find(|(name, value)| !self.is_grounded(name, value, schema))?;
        Some(Ungrounded { member: member.clone(), candidates: self.candidates(member) })
    }

    fn is_grounded(&self, name: &str, value: &Value, schema: Option<&Value>) -> bool {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) if is_id(name) => number.to_string(),
            Value::Array(items) => return items.iter().all(|item| self.is_grounded(name, item, schema)),
            _ => return true,
        };
        if !names_a_thing(name, &text) || is_in_schema(name, value, schema) {
            return true;
        }
        let holds = |said: &String| said.contains(&text);
        if self.results.iter().any(holds) {
            return true;
        }
        // An id is one word, and no day.
        let is_no_id = is_id(name) && (text.contains(char::is_whitespace) || is_day(&text));
        !is_no_id && words(&text).all(|word| !tells(&word) || self.words.contains(&word) || self.person.contains(&word))
    }

    /// The values that results have under a member's name.
    fn candidates(&self, member: &str) -> Vec<Value> {
        let values: Vec<_> = self.results.iter().rev().flat_map(|result| find_values(result).values).collect();
        let named = |is_named: &dyn Fn(&str) -> bool| {
            let mut found = Vec::new();
            values.iter().for_each(|value| collect(&value.value, is_named, MAX_DEPTH, &mut found));
            found
        };
        let found = named(&|name| name.eq_ignore_ascii_case(member));
        if found.is_empty() && is_id(member) { named(&|name| name.eq_ignore_ascii_case("id")) } else { found }
    }
}

fn collect(value: &Value, is_named: &dyn Fn(&str) -> bool, depth: usize, found: &mut Vec<Value>) {
    match value {
        Value::Array(items) if depth > 0 => items.iter().for_each(|item| collect(item, is_named, depth - 1, found)),
        Value::Object(members) if depth > 0 => {
            for (name, value) in members {
                if is_named(name) && (value.is_string() || value.is_number()) {
                    if found.len() < MAX_CANDIDATES && !found.contains(value) {
                        found.push(value.clone());
                    }
                } else {
                    collect(value, is_named, depth - 1, found);
                }
            }
        }
        _ => {}
    }
}

/// Whether a member holds an identifier, by its name.
fn is_id(member: &str) -> bool {
    member.eq_ignore_ascii_case("id") || member.ends_with("_id") || member.ends_with("Id") || member.ends_with("ID")
}

/// Whether a value names a thing: an id, a path, an address. Texts, patterns and times do not.
fn names_a_thing(member: &str, text: &str) -> bool {
    let has = |c: &[char]| text.contains(c);
    let is_word = !text.contains(char::is_whitespace) && has(&['/', '\\', '@', '-', '_', '#', '.', ':']);
    let has_digit = text.contains(|c: char| c.is_ascii_digit()) && text.contains(char::is_alphabetic);
    let is_thing = is_id(member) || !text.contains(char::is_whitespace) && (is_word || has_digit);
    is_thing && text.len() > 1 && !has(&['*', '?', '{']) && (is_id(member) || !is_day(text))
}

/// Whether a text is a date or a time of day.
fn is_day(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || "-:/.TZ+".contains(c))
}

fn is_in_schema(member: &str, value: &Value, schema: Option<&Value>) -> bool {
    let own = schema.into_iter().flat_map(properties).filter(|(name, _)| *name == member);
    let mut texts = own.map(|(_, property)| property.to_string());
    texts.any(|text| value.as_str().is_some_and(|value| text.contains(value)))
}

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a word says what is meant.
fn tells(word: &str) -> bool {
    word.len() >= MIN_WORD || word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> Tool {
        Tool::new("act").with_schema(json!({"properties": {
            "mode": {"type": "string", "description": "one of a-1, b-2"}, "path": {"type": "string"},
        }}))
    }

    fn said() -> Said {
        let result = r#"[{"order_id": "O-1057", "id": 7, "name": "Planning"}, {"order_id": "O-1063", "id": 8}]"#;
        Said::new("把 Close T-198 和 /home/kim/notes.txt, and greet kim@example.com".into(), vec![result.into()])
    }

    #[test]
    fn a_value_that_nobody_said_is_found_where_it_names_a_thing() {
        for (arguments, member) in [
            (json!({"ticket_id": "T-198"}), None),
            (json!({"ticket_id": "t198"}), Some("ticket_id")),
            (json!({"ticket_id": "T-100"}), Some("ticket_id")),
            (json!({"order_id": "O-1063"}), None),
            // The words of the question are no id, and a day is none.
            (json!({"event_id": "Close notes"}), Some("event_id")),
            (json!({"event_id": "2026-12-04"}), Some("event_id")),
            (json!({"event_id": "Planning"}), None),
            (json!({"event_id": 9}), Some("event_id")),
            (json!({"count": 9}), None),
            (json!({"path": "/home/kim/notes.txt"}), None),
            (json!({"path": "/home/kim/other.txt"}), Some("path")),
            (json!({"path": "kim/notes.md"}), None),
            (json!({"paths": ["/home/kim/notes.txt", "docs/plan.txt"]}), Some("paths")),
            (json!({"to": "anna@example.com"}), Some("to")),
            (json!({"mode": "b-2"}), None),
            // What is no thing's name is the model's to write.
            (
                json!({"pattern": "**/*.rs2", "date": "2026-12-04", "time": "14:00", "text": "See you at 8, Anna."}),
                None,
            ),
        ] {
            let found = said().ungrounded(&arguments, &tool());
            assert_eq!(found.as_ref().map(|found| found.member.as_str()), member, "{arguments}");
        }
    }

    #[test]
    fn candidates_are_what_results_have_under_the_same_name() {
        let of = |member: &str| said().candidates(member);
        assert_eq!(of("order_id"), [json!("O-1057"), json!("O-1063")]);
        assert_eq!(of("id"), [json!(7), json!(8)]);
        assert_eq!(of("event_id"), [json!(7), json!(8)]);
        assert_eq!(of("path"), Vec::<Value>::new());
    }
}
