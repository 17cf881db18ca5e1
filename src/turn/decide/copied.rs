//! Calls that a model took over from an example of the prompt.

use serde_json::Value;

/// Whether a call, as the prompt spells it, stands in one of the examples, and none of its values
/// in what was said: then nobody asked for it.
pub(in crate::turn) fn is_copied<'t>(
    spelled: &str,
    arguments: &Value,
    mut examples: impl Iterator<Item = &'t str>,
    said: &str,
) -> bool {
    let mut values = Vec::new();
    leaves(arguments, &mut values);
    let said = said.to_lowercase();
    let is_said = |value: &String| said.contains(&value.to_lowercase());
    !values.is_empty() && !values.iter().any(is_said) && examples.any(|example| example.contains(spelled))
}

/// The texts and numbers of a value.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(members) => members.values().for_each(|member| leaves(member, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_copied_that_an_example_makes_and_nobody_asked_for() {
        let examples = ["<weather><city>Berlin</city></weather>", "It is done."];
        let berlin = "<weather><city>Berlin</city></weather>";
        let copied =
            |spelled: &str, arguments: Value, said: &str| is_copied(spelled, &arguments, examples.into_iter(), said);
        assert!(copied(berlin, json!({"city": "Berlin"}), "Tell me a joke."));
        assert!(!copied(berlin, json!({"city": "Berlin"}), "Is it cold in berlin?"));
        assert!(!copied(&berlin.replace("Berlin", "Oslo"), json!({"city": "Oslo"}), "Tell me a joke."));
        // A call without a value may be meant by anything.
        assert!(!copied("<weather>", json!({"on": true, "list": []}), "Tell me a joke."));
        assert!(copied(berlin, json!({"at": {"city": ["Berlin", 7]}}), "Tell me a joke."));
    }
}
