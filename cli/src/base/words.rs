//! `NAME=VALUE` words of a command line as the arguments of a tool or a prompt.

use serde_json::{Map, Value};

use crate::base::input;
use crate::screen::excerpt::names as shown_names;
use toolgraft::tools::nearest;
use toolgraft_mcp::McpPrompt;

/// Words as a tool's arguments. What a word becomes is the schema's say: `count=3` is a
/// number where the schema wants one, and a text where it wants a text. `NAME:=JSON` is
/// always JSON; a NAME that is given several times is a list.
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
    Ok(arguments)
}

/// A parameter's schema; `None` where nothing is known of it.
fn property<'a>(name: &str, schema: Option<&'a Value>) -> Result<Option<&'a Value>, String> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else { return Ok(None) };
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

/// The name that is most like this one.
pub(crate) fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, names).first().copied()
}

/// A value as its schema wants it.
fn value(name: &str, written: &str, schema: Option<&Value>) -> Result<Value, String> {
    let mut kinds = Vec::new();
    if let Some(schema) = schema {
        collect(schema, &mut kinds);
    }
    let json = serde_json::from_str::<Value>(written).ok();
    let is = |kind: &str| kinds.iter().any(|known| known == kind);
    if kinds.is_empty() {
        // Nothing is known: what reads as JSON is JSON.
        return Ok(json.unwrap_or_else(|| written.into()));
    }
    if is("string") {
        return Ok(written.into());
    }
    let fits = |value: &Value| match value {
        Value::Null => is("null"),
        Value::Bool(_) => is("boolean"),
        Value::Number(number) => is("number") || is("integer") && !number.to_string().contains(['.', 'e', 'E']),
        Value::String(_) => false,
        Value::Array(_) => is("array"),
        Value::Object(_) => is("object"),
    };
    match json.filter(fits) {
        Some(value) => Ok(value),
        // One item of a list.
        None if is("array") => {
            let item = schema.and_then(|schema| schema.get("items"));
            Ok(Value::Array(vec![value(name, written, item)?]))
        }
        None => {
            let wanted: Vec<String> = kinds.iter().map(|kind| wanted(name, kind)).collect();
            Err(format!("{name}={written}: expected {}", wanted.join(" or ")))
        }
    }
}

/// A type in words, and how it is written.
fn wanted(name: &str, kind: &str) -> String {
    match kind {
        "integer" => format!("an integer, such as {name}=3"),
        "number" => format!("a number, such as {name}=1.5"),
        "boolean" => format!("{name}=true or {name}=false"),
        "array" => format!("a list, such as {name}='[1, 2]'"),
        "object" => format!("an object, such as {name}='{{\"a\": 1}}'"),
        other => other.to_owned(),
    }
}

/// The types that a schema takes, as far as it says so in plain words.
fn collect(schema: &Value, kinds: &mut Vec<String>) {
    match schema.get("type") {
        Some(Value::String(kind)) => kinds.push(kind.clone()),
        Some(Value::Array(all)) => kinds.extend(all.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => {}
    }
    for key in ["anyOf", "oneOf"] {
        schema.get(key).and_then(Value::as_array).into_iter().flatten().for_each(|schema| collect(schema, kinds));
    }
    if kinds.is_empty()
        && schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.iter().all(Value::is_string))
    {
        kinds.push("string".to_owned());
    }
}

/// Words as a prompt's arguments; a prompt with one argument takes the words as they are.
pub(crate) fn of_prompt(prompt: &McpPrompt, words: &[String]) -> Result<Map<String, Value>, String> {
    let known = |name: &str| prompt.arguments.iter().any(|a| a.name == name);
    let names = || prompt.arguments.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut arguments = Map::new();
    if let [only] = prompt.arguments.as_slice()
        && !words.is_empty()
        && !words[0].starts_with(&format!("{}=", only.name))
    {
        arguments.insert(only.name.clone(), Value::String(words.join(" ")));
        return Ok(arguments);
    }
    for word in words {
        match word.split_once('=') {
            Some((name, value)) if known(name) => {
                arguments.insert(name.to_owned(), Value::String(value.to_owned()));
            }
            _ if prompt.arguments.is_empty() => return Err("this prompt takes no arguments".to_owned()),
            _ => return Err(format!("{word}: expected NAME=VALUE with a name of: {}", names())),
        }
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            (&["count=x"][..], "count=x: expected an integer, such as count=3"),
            (&["deep=yes"], "expected deep=true or deep=false"),
            (&["where=3"], "expected an object, such as where='{\"a\": 1}'"),
            (&["count=1.5"], "expected an integer"),
            (&["count=1", "count=2"], "count is given twice"),
            (&["txet=x"], "no parameter txet; nearest: text"),
            (&["text"], "expected NAME=VALUE"),
            (&["=x"], "expected NAME=VALUE"),
            (&["any:=x"], "not JSON"),
            (&["ids=x"], "expected an integer, such as ids=3"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn an_open_schema_takes_every_name() {
        let words = ["b=1".to_owned()];
        let open = json!({ "properties": { "a": {} }, "additionalProperties": true });
        assert_eq!(of_tool(&words, Some(&open)).unwrap()["b"], 1);
        assert_eq!(of_tool(&words, None).unwrap()["b"], 1);
    }
}
