//! `NAME=VALUE` words of a command line as the arguments of a tool or a prompt.

use serde_json::{Map, Value, json};

use crate::base::input;
use crate::screen::excerpt::names as shown_names;
use toolgraft::tools::nearest;
use toolgraft::validate::OutputSchema;
use toolgraft_mcp::McpPrompt;

/// Converts command-line words to a tool's arguments. The schema decides the type: `count=3` is a number if the schema
/// requires one, and a text if it requires a text. `NAME:=JSON` is always parsed as JSON; a NAME given several times is
/// a list.
pub(crate) fn of_tool(words: &[String], schema: Option<&Value>) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for word in words {
        let (name, written) = word
            .split_once('=')
            .filter(|(name, _)| !name.trim_end_matches(':').is_empty())
            .ok_or_else(|| format!("{word:?}: expected NAME=VALUE, or one JSON object instead of all words"))?;
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => {
                let value = serde_json::from_str(written)
                    .map_err(|e| format!("{word:?}: not JSON after :=: {}", input::json_problem(&e)))?;
                (name, value)
            }
            None => (name, value(name, written, property(name, schema)?)?),
        };
        match arguments.get_mut(name) {
            None => drop(arguments.insert(name.to_owned(), value)),
            Some(Value::Array(items)) => items.extend(match value {
                Value::Array(more) => more,
                one => vec![one],
            }),
            Some(_) => return Err(format!("{name} is given twice, and takes one value")),
        }
    }
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array).into_iter().flatten();
    let missing: Vec<&str> = required.filter_map(Value::as_str).filter(|name| !arguments.contains_key(*name)).collect();
    match missing.is_empty() {
        true => Ok(arguments),
        false => Err(format!("a required parameter is missing: {}", shown_names(&missing))),
    }
}

/// Returns a parameter's schema; `None` if the tool's schema does not describe it but allows it; an error if it is
/// unknown.
fn property<'a>(name: &str, schema: Option<&'a Value>) -> Result<Option<&'a Value>, String> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    // A schema without properties says nothing of the names that it takes.
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else { return Ok(None) };
    // JSON Schema takes other names unless it says `false`, but without a word on it `ctiy=Oslo` is a
    // misspelling.
    let is_open =
        schema.and_then(|schema| schema.get("additionalProperties")).is_some_and(|more| *more != Value::Bool(false));
    match properties.get(name) {
        Some(property) => Ok(Some(property)),
        None if is_open => Ok(None),
        None => {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let near = near(name, names.iter().copied()).map(|near| format!("; nearest: {near}")).unwrap_or_default();
            Err(format!("no parameter {name}{near}; there are: {}", shown_names(&names)))
        }
    }
}

/// Returns the name that is most similar to this one; `None` if none is similar.
pub(crate) fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, names).first().copied()
}

/// Keywords of JSON Schema that determine the accepted type or values.
const SAYS: [&str; 6] = ["type", "enum", "const", "anyOf", "oneOf", "allOf"];

/// Converts a word to the type that its schema requires; for a list, a single item becomes a list of one.
fn value(name: &str, written: &str, schema: Option<&Value>) -> Result<Value, String> {
    let schema = schema.filter(|schema| SAYS.iter().any(|key| schema.get(key).is_some()));
    let Some(schema) = schema.and_then(|schema| OutputSchema::new(schema.clone()).ok()) else {
        // Nothing is known: what reads as JSON is JSON.
        return Ok(serde_json::from_str(written).unwrap_or_else(|_| written.into()));
    };
    let as_it_is = schema.check(&written.into(), written);
    // The error is that of the value as it was written, not that of the list made of it.
    let found = as_it_is.or_else(|wrong| schema.check(&json!([written]), written).map_err(|_| wrong));
    found.map(|(value, _)| value).map_err(|wrong| format!("{name}={written}: {wrong}"))
}

/// Converts command-line words to a prompt's arguments; for a prompt with one argument, the words are its value.
pub(crate) fn of_prompt(prompt: &McpPrompt, words: &[String]) -> Result<Map<String, Value>, String> {
    let names: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name.as_str()).collect();
    let pair = |word: &String| match word.split_once('=') {
        Some((name, value)) if names.contains(&name) => Ok((name.to_owned(), value.into())),
        _ if names.is_empty() => Err("this prompt takes no arguments".to_owned()),
        _ => Err(format!("{word}: expected NAME=VALUE with a name of: {}", names.join(", "))),
    };
    match (names.as_slice(), words) {
        ([only], [first, ..]) if !first.starts_with(&format!("{only}=")) => {
            Ok(Map::from_iter([((*only).to_owned(), words.join(" ").into())]))
        }
        _ => words.iter().map(pair).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Value, String> {
        let schema = json!({ "properties": {
            "text": { "type": "string" }, "count": { "type": "integer" }, "ratio": { "type": ["number", "null"] },
            "deep": { "type": "boolean" }, "tags": { "type": "array", "items": { "type": "string" } },
            "ids": { "type": "array", "items": { "type": "integer" } }, "where": { "type": "object" },
            "either": { "anyOf": [{ "type": "integer" }, { "type": "string" }] }, "any": {},
        } });
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        of_tool(&words, Some(&schema)).map(Value::Object)
    }

    #[test]
    fn the_schema_says_what_a_word_becomes() {
        for (word, value) in [
            ("text=3", json!({ "text": "3" })),
            ("text=a=b c", json!({ "text": "a=b c" })),
            ("text=", json!({ "text": "" })),
            ("count=-3", json!({ "count": -3 })),
            ("ratio=null", json!({ "ratio": null })),
            ("deep=true", json!({ "deep": true })),
            ("tags=7", json!({ "tags": ["7"] })),
            ("tags=[\"a\",\"b\"]", json!({ "tags": ["a", "b"] })),
            ("where={\"a\":1}", json!({ "where": { "a": 1 } })),
            ("either=3", json!({ "either": "3" })),
            ("either:=3", json!({ "either": 3 })),
            ("any=3", json!({ "any": 3 })),
            ("any=x", json!({ "any": "x" })),
        ] {
            assert_eq!(read(&[word]).unwrap(), value, "{word}");
        }
        assert_eq!(
            read(&["tags=a", "tags=b", "ids=1", "ids=2"]).unwrap(),
            json!({ "tags": ["a", "b"], "ids": [1, 2] })
        );
    }

    #[test]
    fn what_does_not_fit_is_said_with_its_name() {
        for (words, text) in [
            (&["count=x"][..], "count=x: expected integer, found string \"x\""),
            (&["deep=maybe"], "deep=maybe: expected boolean"),
            (&["where=3"], "where=3: expected object"),
            (&["count=1.5"], "count=1.5: expected integer"),
            (&["count=1", "count=2"], "count is given twice"),
            (&["txet=x"], "no parameter txet; nearest: text"),
            (&["text"], "expected NAME=VALUE"),
            (&["=x"], "expected NAME=VALUE"),
            (&["any:=x"], "not JSON"),
            (&["ids=x"], "ids=x: /0: expected integer"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn each_required_parameter_is_demanded() {
        let schema = json!({ "properties": { "a": {}, "b": {} }, "required": ["a", "b"] });
        assert_eq!(of_tool(&["b=1".to_owned()], Some(&schema)).unwrap_err(), "a required parameter is missing: a");
        assert!(of_tool(&[], Some(&schema)).unwrap_err().ends_with("missing: a, b"));
    }

    #[test]
    fn an_open_schema_takes_every_name() {
        let words = ["b=1".to_owned()];
        let open = json!({ "properties": { "a": {} }, "additionalProperties": true });
        assert_eq!(of_tool(&words, Some(&open)).unwrap()["b"], 1);
        assert_eq!(of_tool(&words, None).unwrap()["b"], 1);
    }
}
