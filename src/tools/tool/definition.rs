//! The definition of a tool that an approval was given for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Annotations, Tool};

/// Maximum number of characters of a description that the text about a change quotes.
const QUOTED: usize = 160;

/// Number of characters that are quoted before the first difference of two descriptions.
const CONTEXT: usize = 40;

/// The content of a tool that users and models see, besides its name. An approval of a tool is an approval of this; if
/// a server changes it later, the tool may do something else.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Definition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
}

impl Definition {
    /// Returns a tool's current definition.
    pub fn of(tool: &Tool) -> Self {
        let Tool { description, input_schema, annotations, .. } = tool.clone();
        Definition { description, input_schema, annotations }
    }

    /// Returns texts for people about the differences of a later definition; empty if there are none. The texts quote
    /// the server, which is untrusted.
    pub fn changes(&self, now: &Definition) -> Vec<String> {
        let mut changes = Vec::new();
        if self.description != now.description {
            let (before, now) = (self.description.as_deref(), now.description.as_deref());
            let from = before.zip(now).map_or(0, |(before, now)| first_difference(before, now));
            changes.push(format!("its description was {} and is now {}", quoted(before, from), quoted(now, from)));
        }
        if self.input_schema != now.input_schema {
            // Something else than the parameters may have changed, such as `required`.
            let parameters = parameters(self.input_schema.as_ref(), now.input_schema.as_ref());
            changes.extend(if parameters.is_empty() { vec!["its schema has changed".to_owned()] } else { parameters });
        }
        // Missing annotations are equal to annotations without any hint.
        let [before, now] = [self, now].map(|one| one.annotations.clone().unwrap_or_default());
        changes
            .extend((before != now).then(|| format!("its hints were {} and are now {}", hints(&before), hints(&now))));
        changes
    }
}

/// Returns the server's hints about its tool as text, such as `read-only, not destructive`; `none` without hints.
fn hints(annotations: &Annotations) -> String {
    let said = [
        ("read-only", annotations.read_only_hint),
        ("destructive", annotations.destructive_hint),
        ("idempotent", annotations.idempotent_hint),
        ("open world", annotations.open_world_hint),
    ];
    let said: Vec<String> = said
        .into_iter()
        .filter_map(|(name, says)| says.map(|says| if says { name.to_owned() } else { format!("not {name}") }))
        .collect();
    if said.is_empty() { "none".to_owned() } else { said.join(", ") }
}

/// Returns the index of the character from which two texts are quoted, so that their first difference is visible.
fn first_difference(before: &str, now: &str) -> usize {
    let same = before.chars().zip(now.chars()).take_while(|(before, now)| before == now).count();
    // A difference near the beginning is visible without a cut.
    if same < QUOTED / 2 { 0 } else { same - CONTEXT }
}

fn quoted(text: Option<&str>, from: usize) -> String {
    let Some(text) = text else { return "none".to_owned() };
    let rest = text.char_indices().nth(from).map_or("", |(at, _)| &text[at..]);
    let cut: String = rest.chars().take(QUOTED).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if cut.len() < rest.len() { "…" } else { "" });
    format!("{before}{cut:?}{after}")
}

fn parameters(before: Option<&Value>, now: Option<&Value>) -> Vec<String> {
    let none = Map::new();
    let properties = |schema: Option<&Value>| schema?.get("properties")?.as_object().cloned();
    let before = properties(before).unwrap_or_else(|| none.clone());
    let now = properties(now).unwrap_or(none);
    let is_other = |(name, schema): &(&String, &Value)| before.get(*name) != Some(*schema);
    let other = now.iter().filter(is_other).map(|(name, _)| match before.contains_key(name) {
        true => format!("its parameter {name:?} has changed"),
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
                "its parameter \"b\" has changed",
                "its parameter \"to\" is new",
                "its parameter \"a\" is gone",
            ]
        );
        let required =
            definition("Adds", json!({ "properties": { "a": {}, "b": { "type": "number" } }, "required": ["a"] }));
        assert_eq!(before.changes(&required), ["its schema has changed"]);
        let hints = |reads| Some(Annotations::default().with_read_only_hint(reads));
        let hinted = |annotations| Definition { annotations, ..before.clone() };
        assert_eq!(
            hinted(hints(Some(true))).changes(&hinted(hints(Some(false)))),
            ["its hints were read-only and are now not read-only"]
        );
        assert!(before.changes(&hinted(hints(None))).is_empty());
        let long = "x".repeat(300);
        let more = definition(&format!("{long} and mails"), json!({}));
        let changes = definition(&long, json!({})).changes(&more);
        assert!(
            changes[0].ends_with("and is now …\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and mails\""),
            "{changes:?}"
        );
        assert_eq!(Definition::default().changes(&definition(&"x".repeat(500), json!({})))[0].chars().count(), 199);
    }
}
