mod calls;
mod corpus;
mod generate;
mod messages;
mod restored;
mod schemas;
mod structure;
mod types;
mod work;

use serde_json::json;

use super::*;
use crate::dialect::Dialect;
use crate::event::Repair;

fn call(tool: &str, arguments: Value) -> Call {
    Call {
        server: None,
        tool: tool.to_owned(),
        raw_arguments: arguments.to_string(),
        arguments,
        dialect: Dialect::UseMcpTool,
        repairs: Vec::new(),
        provenance: crate::event::Provenance::Plain,
    }
}

fn validator(schema: &Value) -> Validator {
    Validator::new(Arc::new(Catalog::from_tools([Tool::new("t").with_schema(schema.clone())])))
}

/// Returns the arguments after a check, and the places that were coerced; or the message.
fn check(schema: &Value, arguments: Value) -> Result<(Value, Vec<String>), String> {
    match validator(schema).check(call("t", arguments), "raw") {
        Ok(call) => Ok((call.arguments, call.repairs.iter().map(ToString::to_string).collect())),
        Err(rejected) => Err(rejected.message),
    }
}

#[track_caller]
fn accepts(schema: &Value, arguments: Value) {
    assert_eq!(check(schema, arguments.clone()), Ok((arguments, vec![])), "{schema}");
}

#[track_caller]
fn coerces(schema: &Value, arguments: Value, expected: Value, places: &[&str]) {
    let places = places.iter().map(|p| (*p).to_owned()).collect();
    assert_eq!(check(schema, arguments), Ok((expected, places)), "{schema}");
}

#[track_caller]
fn refuses(schema: &Value, arguments: Value, message: &str) {
    assert_eq!(check(schema, arguments), Err(message.to_owned()), "{schema}");
}

/// Returns the schema of an object that requires the member `x` with this schema.
fn needed(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}, "required": ["x"]})
}

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}
