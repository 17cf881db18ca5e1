//! What a server is told that asks back for input while a tool runs (elicitation).
//!
//! Until 2025-11-25 it asks with a request of its own; since 2026-07-28 the answer to the
//! call is what it wants to know (`input_required`), and the call is sent again with that
//! (modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, InputResponses};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a server is told that asks back for input while a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    let request = serde_json::to_value(request).unwrap_or_default();
    let filled = (elicitation == Elicitation::Defaults).then(|| filled(&request)).flatten();
    match filled {
        Some(filled) => ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(filled)),
        None => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// What a form is filled with.
fn filled(request: &Value) -> Option<Map<String, Value>> {
    let is_form = request.get("mode").is_none_or(|mode| mode == "form");
    request.get("requestedSchema").filter(|_| is_form).and_then(defaults)
}

/// Whether a result is a question.
pub(super) fn is_question(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// The answers to what a result asks for; an `Err` says what nobody here can answer.
pub(super) fn responses(question: &Value) -> Result<InputResponses, String> {
    let requests = match question.get("inputRequests") {
        None | Some(Value::Null) => return Ok(InputResponses::new()),
        Some(Value::Object(requests)) => requests,
        Some(_) => return Err("its \"inputRequests\" are no object".to_owned()),
    };
    let response = |(key, request): (&String, &Value)| {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        if method != "elicitation/create" {
            return Err(format!("it asks for {method:?} in between, which is not supported"));
        }
        let response = match request.get("params").and_then(filled) {
            Some(filled) => serde_json::json!({ "action": "accept", "content": filled }),
            None => serde_json::json!({ "action": "decline" }),
        };
        Ok((key.clone(), response))
    };
    requests.iter().map(response).collect()
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

    #[test]
    fn what_a_result_asks_for_is_answered_with_defaults() {
        let form = |properties: Value| {
            let schema = json!({ "type": "object", "required": ["a"], "properties": properties });
            json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": schema } })
        };
        let question = json!({ "resultType": "input_required", "inputRequests": {
            "one": form(json!({ "a": { "type": "number", "default": 1.5 } })),
            "two": form(json!({ "a": { "type": "string" } })),
            "url": { "method": "elicitation/create", "params": { "mode": "url", "url": "https://x", "requestedSchema":
                { "properties": {} } } },
        } });
        let responses = Value::from_iter(responses(&question).unwrap());
        let expected = json!({ "one": { "action": "accept", "content": { "a": 1.5 } },
            "two": { "action": "decline" }, "url": { "action": "decline" } });
        assert_eq!(responses, expected);
        let other = json!({ "inputRequests": { "x": { "method": "sampling/createMessage" } } });
        assert!(super::responses(&other).unwrap_err().contains("sampling/createMessage"));
        assert_eq!(super::responses(&json!({ "requestState": "s" })), Ok(InputResponses::new()));
    }

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
