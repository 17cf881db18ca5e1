//! The messages to the model about refused arguments.

use serde_json::json;

use super::*;

#[test]
fn messages_name_the_place_the_wanted_and_the_found() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"type": "string", "enum": ["metric", "imperial"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
            "when": {"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]},
            "exact": {"const": "yes"},
            "never": false,
            "even": {"multipleOf": 2},
            "none": {"enum": []},
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    for (arguments, message) in [
        (json!({}), "missing required property \"city\" (string)"),
        (json!({"city": "Ulm", "days": "soon"}), "/days: expected integer, found string \"soon\""),
        (json!({"city": "Ulm", "days": "15"}), "/days: expected at most 14, found number 15"),
        (json!({"city": "Ulm", "days": 0}), "/days: expected at least 1, found number 0"),
        (json!({"city": "U"}), "/city: expected at least 2 characters, found 1"),
        (json!({"city": null}), "/city: expected string, found null"),
        (
            json!({"city": "Ulm", "unit": "kelvin"}),
            "/unit: expected one of \"metric\", \"imperial\", found string \"kelvin\"",
        ),
        (json!({"city": "Ulm", "unit": []}), "/unit: expected one of \"metric\", \"imperial\", found array of 0 items"),
        (
            json!({"city": "Ulm", "tags": ["a", "a", "b"]}),
            "/tags: expected at most 2 items, found 3; /tags: expected items that differ, found equal ones",
        ),
        (json!({"city": "Ulm", "tags": ["a", {}]}), "/tags/1: expected string, found empty object"),
        (json!({"city": "Ulm", "code": "abc"}), "/code: expected text that matches ^[A-Z]+$, found string \"abc\""),
        (
            json!({"city": "Ulm", "when": {"huor": 5}}),
            "/when: missing required property \"hour\" (integer); \"huor\" was given, is \"hour\" meant?",
        ),
        (json!({"city": "Ulm", "exact": "no"}), "/exact: expected \"yes\", found string \"no\""),
        (json!({"city": "Ulm", "never": 1}), "/never: no value is allowed here"),
        (json!({"city": "Ulm", "none": 3}), "/none: no value is allowed here"),
        (json!({"city": "Ulm", "even": 3}), "/even: expected a multiple of 2, found number 3"),
        (
            json!({"city": "Ulm", "day": 3}),
            "unknown property \"day\" (nearest: \"days\"); allowed: \"city\", \"days\", \"unit\", \"tags\", \"code\", \"when\", \"exact\", \"never\", \"even\", \"none\"",
        ),
    ] {
        refuses(&schema, arguments, message);
    }
}

#[test]
fn a_misnamed_required_property_is_pointed_out() {
    let schema =
        json!({"properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    let message = check(&schema, json!({"citi": "Ulm"})).unwrap_err();
    assert!(
        message.contains("missing required property \"city\" (string); \"citi\" was given, is \"city\" meant?"),
        "{message}"
    );
    assert!(message.contains("unknown property \"citi\" (nearest: \"city\"); allowed: \"city\""), "{message}");
    let none = json!({"properties": {}, "additionalProperties": false});
    refuses(&none, json!({"a": 1, "b": 2}), "unknown properties \"a\", \"b\"; none is allowed");
}

#[test]
fn branches_are_digested() {
    let shapes = property(json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
    ]}));
    refuses(&shapes, json!({"x": {"kind": "square"}}), "/x: missing required property \"a\" (number)");
    refuses(&shapes, json!({"x": {"kind": "square", "a": "wide"}}), "/x/a: expected number, found string \"wide\"");
    refuses(&shapes, json!({"x": 5}), "/x: expected object, found number 5");
    refuses(
        &shapes,
        json!({"x": {"kind": "star"}}),
        "/x: fits none of the allowed forms: (1) missing required property \"r\" (number), (2) missing required property \"a\" (number)",
    );
    let either = json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}]});
    refuses(
        &either,
        json!({}),
        "fits none of the allowed forms: (1) missing required property \"id\", (2) missing required property \"name\"",
    );
    let words = property(json!({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all", "none"]}]}));
    refuses(&words, json!({"x": "some"}), "/x: expected one of \"all\", \"none\", found string \"some\"");
    refuses(&words, json!({"x": []}), "/x: expected integer or \"all\", \"none\", found array of 0 items");
    let two = property(json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}));
    refuses(
        &two,
        json!({"x": 1}),
        "/x: expected exactly one of several forms, found number 1, which fits more than one",
    );
}

#[test]
fn messages_are_bounded() {
    let schema = json!({"additionalProperties": {"type": "integer"}});
    let many: serde_json::Map<String, Value> =
        (0..300).map(|n| (format!("{n}{}", "k".repeat(999)), json!("y".repeat(9999)))).collect();
    let message = check(&schema, Value::Object(many)).unwrap_err();
    assert!(message.len() < 2000, "{}", message.len());
    assert!(message.ends_with("and 95 or more further errors"), "{message}");
    let options: Vec<String> = (0..5000).map(|n| format!("option {n}")).collect();
    let message = check(&property(json!({"enum": options})), json!({"x": "z"})).unwrap_err();
    assert!(message.len() < 300, "{message}");
    let forms: Vec<Value> = (0..500).map(|n| json!({"required": [format!("p{n}")]})).collect();
    let message = check(&json!({"anyOf": forms}), json!({})).unwrap_err();
    assert!(message.len() < 300 && message.ends_with("or 497 other forms"), "{message}");
}
