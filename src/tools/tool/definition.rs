//! What an approval of a tool was given for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Tool;

/// Most characters of a description that a change quotes.
const QUOTED: usize = 160;

/// What people and models are told of a tool, beside its name. Somebody who
/// approves a tool approves this; a server that changes it later may mean something else.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Definition {
    description: Option<String>,
    input_schema: Option<Value>,
}

impl Definition {
    /// A tool's definition as it is now.
    pub fn of(tool: &Tool) -> Self {
        Definition { description: tool.description.clone(), input_schema: tool.input_schema.clone() }
    }

    /// What is different in a later definition, in words for people; empty where
    /// nothing is. Quotes the server, which is not to be trusted.
    pub fn changes(&self, now: &Definition) -> Vec<String> {
        let mut changes = Vec::new();
        if self.description != now.description {
            let (before, now) = (quoted(self.description.as_deref()), quoted(now.description.as_deref()));
            changes.push(format!("its description was {before} and is now {now}"));
        }
        if self.input_schema != now.input_schema {
            let parameters = parameters(self.input_schema.as_ref(), now.input_schema.as_ref());
            changes.extend(if parameters.is_empty() { vec!["its schema is another".to_owned()] } else { parameters });
        }
        changes
    }
}

fn quoted(text: Option<&str>) -> String {
    let Some(text) = text else { return "none".to_owned() };
    let cut: String = text.chars().take(QUOTED).collect();
    let rest = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{rest}")
}

fn parameters(before: Option<&Value>, now: Option<&Value>) -> Vec<String> {
    let none = Map::new();
    let properties = |schema: Option<&Value>| schema?.get("properties")?.as_object().cloned();
    let before = properties(before).unwrap_or_else(|| none.clone());
    let now = properties(now).unwrap_or(none);
    let is_other = |(name, schema): &(&String, &Value)| before.get(*name) != Some(*schema);
    let other = now.iter().filter(is_other).map(|(name, _)| match before.contains_key(name) {
        true => format!("its parameter {name:?} is another"),
        false => format!("its parameter {name:?} is new"),
    });
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    other.chain(gone.map(|name| format!("its parameter {name:?} is gone"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(description: &str, schema: Value) -> Definition {
        Definition::of(&Tool::new("t").with_description(description).with_schema(schema))
    }

    #[test]
    fn what_has_changed_is_told() {
        let before = definition("Adds", json!({ "properties": { "a": {}, "b": { "type": "number" } } }));
        assert!(before.changes(&before.clone()).is_empty());
        let now = definition("Adds, then mails", json!({ "properties": { "b": {}, "to": {} } }));
        assert_eq!(
            before.changes(&now),
            [
                "its description was \"Adds\" and is now \"Adds, then mails\"",
                "its parameter \"b\" is another",
                "its parameter \"to\" is new",
                "its parameter \"a\" is gone",
            ]
        );
        let required =
            definition("Adds", json!({ "properties": { "a": {}, "b": { "type": "number" } }, "required": ["a"] }));
        assert_eq!(before.changes(&required), ["its schema is another"]);
        assert_eq!(Definition::default().changes(&definition(&"x".repeat(500), json!({})))[0].chars().count(), 199);
    }
}
