//! What a server is told that asks back for input while a tool runs (elicitation).

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

/// What a server is told that asks back for input while a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Elicitation {
    /// Nobody is there to ask, and it is declined. Servers are told beforehand.
    #[default]
    Decline,
    /// A form is accepted with the defaults that it proposes; one that demands
    /// anything else is declined.
    Defaults,
}

/// The answer to a request for input.
pub(super) fn answer(elicitation: Elicitation, request: &ElicitRequestParams) -> ElicitResult {
    let filled = match (elicitation, request) {
        (Elicitation::Defaults, ElicitRequestParams::FormElicitationParams { requested_schema, .. }) => {
            serde_json::to_value(requested_schema).ok().and_then(|schema| defaults(&schema))
        }
        _ => None,
    };
    match filled {
        Some(filled) => ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(filled)),
        None => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// A form's fields with their defaults; `None` where a required one has none.
fn defaults(schema: &Value) -> Option<Map<String, Value>> {
    let fields = schema.get("properties").and_then(Value::as_object)?;
    let filled = fields.iter().filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())));
    let filled: Map<String, Value> = filled.collect();
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let complete = required.iter().filter_map(Value::as_str).all(|name| filled.contains_key(name));
    complete.then_some(filled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(schema: &Value) -> ElicitRequestParams {
        serde_json::from_value(json!({ "mode": "form", "message": "?", "requestedSchema": schema })).unwrap()
    }

    #[test]
    fn a_form_is_filled_with_its_defaults_or_declined() {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "default": "Ada" }, "age": { "type": "integer" },
            "sure": { "type": "boolean", "default": true }
        } });
        let accepted = answer(Elicitation::Defaults, &asked(&schema));
        assert_eq!(accepted.action, ElicitationAction::Accept);
        assert_eq!(accepted.content, Some(json!({ "name": "Ada", "sure": true })));
        assert_eq!(answer(Elicitation::Decline, &asked(&schema)).action, ElicitationAction::Decline);
        let demanding =
            json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } });
        assert_eq!(answer(Elicitation::Defaults, &asked(&demanding)).action, ElicitationAction::Decline);
    }
}
