use std::fs;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::dialect::Dialect;

fn call(tool: &str, arguments: Value) -> Call {
    Call {
        server: None,
        tool: tool.to_owned(),
        raw_arguments: arguments.to_string(),
        arguments,
        dialect: Dialect::UseMcpTool,
        repairs: Vec::new(),
    }
}

fn validator(schema: &Value) -> Validator {
    Validator::new(Arc::new(Catalog::from_tools([Tool::new("t").with_schema(schema.clone())])))
}

/// The arguments after a check, and the places that were coerced; or the message.
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

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

#[test]
fn a_value_becomes_what_the_schema_wants_or_stays() {
    for (wanted, found, expected) in [
        (json!({"type": "integer"}), json!("5"), Some(json!(5))),
        (json!({"type": "integer"}), json!(" 5 "), Some(json!(5))),
        (json!({"type": "integer"}), json!("5.0"), Some(json!(5))),
        (json!({"type": "integer"}), json!("1e3"), Some(json!(1000))),
        (json!({"type": "integer"}), json!("+5"), None),
        (json!({"type": "integer"}), json!("05"), None),
        (json!({"type": "integer"}), json!("abc"), None),
        (json!({"type": "integer"}), json!(""), None),
        (json!({"type": "integer"}), json!("5.5"), None),
        (json!({"type": "integer"}), json!("true"), None),
        (json!({"type": "integer"}), json!(true), None),
        (json!({"type": "integer"}), json!(null), None),
        (json!({"type": "integer"}), json!(5.0), Some(json!(5))),
        (json!({"type": "integer"}), json!(5.5), None),
        (json!({"type": "integer"}), json!("9007199254740993"), Some(json!(9_007_199_254_740_993_i64))),
        (json!({"type": "integer"}), json!("123456789012345678901234567890"), None),
        (json!({"type": "number"}), json!("2.5"), Some(json!(2.5))),
        (json!({"type": "number"}), json!("5"), Some(json!(5))),
        (json!({"type": "number"}), json!("1e3"), Some(json!(1000.0))),
        (json!({"type": "number"}), json!("2,5"), None),
        (json!({"type": "number"}), json!("12345678901234567890123"), None),
        (json!({"type": "boolean"}), json!("true"), Some(json!(true))),
        (json!({"type": "boolean"}), json!("True"), Some(json!(true))),
        (json!({"type": "boolean"}), json!("false\n"), Some(json!(false))),
        (json!({"type": "boolean"}), json!("yes"), None),
        (json!({"type": "boolean"}), json!("1"), None),
        (json!({"type": "boolean"}), json!(1), None),
        (json!({"type": "object"}), json!("{\"a\": 1}"), Some(json!({"a": 1}))),
        (json!({"type": "object"}), json!("[1]"), None),
        (json!({"type": "object"}), json!("{'a': 1}"), None),
        (json!({"type": "object"}), json!("{\"a\": 1, \"a\": 2}"), None),
        (json!({"type": "object"}), json!(null), None),
        (json!({"type": "array"}), json!("[1, 2]"), Some(json!([1, 2]))),
        (json!({"type": "array"}), json!("a, b"), None),
        (json!({"type": "array"}), json!("{}"), None),
        (json!({"type": "string"}), json!(5), Some(json!("5"))),
        (json!({"type": "string"}), json!(-2.5), Some(json!("-2.5"))),
        (json!({"type": "string"}), json!(u64::MAX), Some(json!("18446744073709551615"))),
        (json!({"type": "string"}), json!(true), Some(json!("true"))),
        (json!({"type": "string"}), json!(null), None),
        (json!({"type": "string"}), json!({"a": 1}), None),
        (json!({"type": "string"}), json!([1]), None),
        (json!({"type": ["integer", "null"]}), json!("7"), Some(json!(7))),
        (json!({"type": ["integer", "null"]}), json!("null"), Some(json!(null))),
        (json!({"type": ["integer", "null"]}), json!("None"), None),
        (json!({"type": ["integer", "null"]}), json!(""), None),
        (json!({"type": ["boolean", "integer"]}), json!("1"), Some(json!(1))),
        (json!({"type": ["boolean", "integer"]}), json!("true"), Some(json!(true))),
        (json!({"type": ["array", "object"]}), json!("{}"), Some(json!({}))),
        (json!({"type": ["string", "null"]}), json!(5), Some(json!("5"))),
        (json!({"enum": ["metric", "imperial"]}), json!(" metric\n"), Some(json!("metric"))),
        (json!({"enum": ["metric", "imperial"]}), json!("Metric"), None),
        (json!({"enum": [1, 2]}), json!("2"), Some(json!(2))),
        (json!({"type": "integer", "enum": [1, 2]}), json!("2"), Some(json!(2))),
        (json!({"type": "integer", "enum": [1, 2]}), json!("3"), None),
        (json!({"enum": ["1", "2"]}), json!(2), Some(json!("2"))),
        (json!({"enum": [true, "x"]}), json!("true"), Some(json!(true))),
        (json!({"enum": ["a", null]}), json!("null"), Some(json!(null))),
        (json!({"const": "go"}), json!("go "), Some(json!("go"))),
        (json!({"const": 3}), json!("3"), Some(json!(3))),
        (json!({"type": "integer", "maximum": 10}), json!("11"), None),
    ] {
        let found_text = found.to_string();
        let checked = check(&property(wanted.clone()), json!({"x": found}));
        match expected {
            Some(x) => assert_eq!(checked, Ok((json!({"x": x}), vec!["coerced:/x".into()])), "{found_text} {wanted}"),
            None => assert!(checked.is_err(), "{found_text} is accepted for {wanted}: {checked:?}"),
        }
    }
}

#[test]
fn what_the_schema_accepts_is_not_touched() {
    for (wanted, found) in [
        (json!({"type": "string"}), json!("5")),
        (json!({"type": "string"}), json!(" padded ")),
        (json!({"type": ["string", "integer"]}), json!("5")),
        (json!({"type": ["integer", "string"]}), json!(5)),
        (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), json!("5")),
        (json!({"type": "number"}), json!(5.0)),
        (json!({"type": "number", "maximum": 5}), json!(5.0)),
        (json!({}), json!("5")),
        (json!(true), json!("[1]")),
        (json!({"enum": ["a", " a"]}), json!(" a")),
        (json!({"type": "string", "format": "date"}), json!("tomorrow")),
        (json!({"type": "string", "format": "no-such-format"}), json!("x")),
        (json!({"type": "string", "nullable": true}), json!("x")),
    ] {
        accepts(&property(wanted), json!({"x": found}));
    }
}

#[test]
fn whole_floats_become_integers_only_where_only_an_integer_fits() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "f": {"type": "number"}, "m": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "a": {"type": "array", "items": {"type": "integer"}}, "k/~": {"type": "integer"},
    }});
    coerces(
        &schema,
        json!({"n": 3.0, "f": 3.0, "m": -2.0, "a": [1, 2.0], "k/~": 1e3, "other": 7.0}),
        json!({"n": 3, "f": 3.0, "m": -2, "a": [1, 2], "k/~": 1000, "other": 7.0}),
        &["coerced:/n", "coerced:/m", "coerced:/a/1", "coerced:/k~1~0"],
    );
    let draft4 =
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"x": {"type": "integer"}}});
    coerces(&draft4, json!({"x": 3.0}), json!({"x": 3}), &["coerced:/x"]);
}

#[test]
fn coercion_reaches_every_nested_place() {
    let schema = json!({
        "type": "object",
        "$defs": {"count": {"type": "integer"}},
        "properties": {
            "list": {"type": "array", "items": {"type": "integer"}},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}]},
            "map": {"type": "object", "additionalProperties": {"type": "number"}},
            "ref": {"$ref": "#/$defs/count"},
            "all": {"allOf": [{"type": "object"}, {"properties": {"n": {"$ref": "#/$defs/count"}}}]},
            "any": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/count"}]},
            "one": {"oneOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
                              {"type": "object", "required": ["b"], "properties": {"b": {"type": "boolean"}}}]},
            "名/前": {"type": "integer"},
        },
        "patternProperties": {"^n_": {"type": "integer"}},
    });
    coerces(
        &schema,
        json!({
            "list": "[1, \"2\"]", "pair": ["1", "true", "x"], "map": {"k": "1.5", "l": 2}, "ref": "4",
            "all": {"n": "5"}, "any": "6", "one": {"b": "true"}, "名/前": "7", "n_1": "8",
        }),
        json!({
            "list": [1, 2], "pair": [1, true, "x"], "map": {"k": 1.5, "l": 2}, "ref": 4,
            "all": {"n": 5}, "any": 6, "one": {"b": true}, "名/前": 7, "n_1": 8,
        }),
        &[
            "coerced:/list",
            "coerced:/pair/0",
            "coerced:/pair/1",
            "coerced:/map/k",
            "coerced:/ref",
            "coerced:/all/n",
            "coerced:/any",
            "coerced:/one/b",
            "coerced:/名~1前",
            "coerced:/n_1",
            "coerced:/list/1",
        ],
    );
}

#[test]
fn branches_inside_branches_and_behind_references_are_found() {
    let schema = json!({
        "$defs": {
            "leaf": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "node": {"oneOf": [
                {"type": "object", "required": ["v"], "properties": {"v": {"$ref": "#/$defs/leaf"}}},
                {"type": "object", "required": ["kids"],
                 "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
            ]},
        },
        "properties": {"tree": {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/node"}]}},
    });
    coerces(
        &schema,
        json!({"tree": {"kids": [{"v": "1"}, {"kids": [{"v": "null"}, {"v": 3}]}]}}),
        json!({"tree": {"kids": [{"v": 1}, {"kids": [{"v": null}, {"v": 3}]}]}}),
        &["coerced:/tree/kids/0/v", "coerced:/tree/kids/1/kids/0/v"],
    );
}

#[test]
fn the_first_branch_that_fits_is_taken() {
    let any = |branches: Value| property(json!({"anyOf": branches}));
    coerces(
        &any(json!([{"type": "boolean"}, {"type": "integer"}])),
        json!({"x": "1"}),
        json!({"x": 1}),
        &["coerced:/x"],
    );
    coerces(
        &any(json!([{"type": "integer", "maximum": 5}, {"type": "array", "items": {"type": "integer"}}])),
        json!({"x": "[7]"}),
        json!({"x": [7]}),
        &["coerced:/x"],
    );
    refuses(
        &any(json!([{"type": "integer"}, {"type": "null"}])),
        json!({"x": "soon"}),
        "/x: expected integer or null, found string \"soon\"",
    );
}

#[test]
fn numbers_become_text_with_the_digits_that_were_written() {
    let validator = validator(&property(json!({"type": "string"})));
    for (raw, expected) in [
        (r#"{"x": 1.10}"#, Some("1.10")),
        (r#"{"x": 12345678901234567890123}"#, Some("12345678901234567890123")),
        (r#"{"x": 1e3}"#, Some("1e3")),
        (r#"{"x": 7}"#, Some("7")),
    ] {
        let arguments: Value = serde_json::from_str(raw).unwrap();
        let call = Call { raw_arguments: raw.to_owned(), ..call("t", arguments) };
        assert_eq!(validator.check(call, "").unwrap().arguments["x"].as_str(), expected);
    }
    // Which spelling it had is not known: nothing is guessed.
    let call = Call { raw_arguments: String::new(), ..call("t", json!({"x": 1.1})) };
    assert!(validator.check(call, "").is_err());
}

#[test]
fn lost_digits_are_named() {
    let schema = property(json!({"type": "number"}));
    let precise = "2.24159265358979323846";
    coerces(&schema, json!({"x": precise}), json!({"x": 2.241_592_653_589_793}), &["coerced:/x", "number_precision"]);
    let object = property(json!({"type": "object"}));
    let (_, repairs) = check(&object, json!({"x": "{\"id\": 12345678901234567890123}"})).unwrap();
    assert_eq!(repairs, ["coerced:/x", "number_precision"]);
}

#[test]
fn whole_arguments_as_text_or_null_are_unwrapped() {
    let schema = property(json!({"type": "integer"}));
    coerces(&schema, json!("{\"x\": 5}"), json!({"x": 5}), &["coerced:"]);
    coerces(&schema, json!("{\"x\": \"5\"}"), json!({"x": 5}), &["coerced:", "coerced:/x"]);
    coerces(&schema, json!("\"{\\\"x\\\": 5}\""), json!({"x": 5}), &["coerced:"]);
    coerces(&schema, json!(null), json!({}), &["coerced:"]);
    coerces(&schema, json!("  "), json!({}), &["coerced:"]);
    coerces(&json!(true), json!("{\"x\": 5}"), json!({"x": 5}), &["coerced:"]);
    for (arguments, found) in [
        (json!("x = 5"), "string \"x = 5\""),
        (json!("[1]"), "string \"[1]\""),
        (json!("{\"x\": 1, \"x\": 2}"), "string \"{\\\"x\\\": 1, \\\"x\\\": 2}\""),
        (json!([{"x": 5}]), "array of 1 item"),
        (json!(5), "number 5"),
        (json!(false), "boolean false"),
    ] {
        refuses(&schema, arguments, &format!("expected a JSON object with the arguments, found {found}"));
    }
    let thrice = json!(json!(json!(json!({"x": 5}).to_string()).to_string()).to_string());
    assert!(check(&schema, thrice).is_err());
}

#[test]
fn arguments_are_an_object_even_if_the_schema_takes_more() {
    for schema in [json!(true), json!({}), json!({"type": ["object", "array"]})] {
        refuses(&schema, json!([1]), "expected a JSON object with the arguments, found array of 1 item");
        accepts(&schema, json!({"anything": 1}));
    }
    refuses(&json!(false), json!({}), "no value is allowed here");
}

#[test]
fn without_a_schema_an_object_is_demanded_and_nothing_else() {
    let tools = [Tool::new("bare"), Tool::new("broken").with_schema(json!({"type": "nonsense"}))];
    let validator = Validator::new(Arc::new(Catalog::from_tools(tools)));
    for tool in ["bare", "broken", "nobody_knows"] {
        let fine = call(tool, json!({"x": "5"}));
        assert_eq!(validator.check(fine.clone(), "").unwrap(), fine);
        for arguments in [json!("{\"x\": 5}"), json!(null), json!([]), json!(1)] {
            let rejected = validator.check(call(tool, arguments), "").unwrap_err();
            assert_eq!(rejected.kind, RejectedKind::InvalidArguments);
        }
    }
}

#[test]
fn a_resource_needs_a_uri() {
    let validator = Validator::new(Arc::default());
    let uri = call(ACCESS_RESOURCE, json!({"uri": "file:///a b"}));
    assert_eq!(validator.check(uri.clone(), "").unwrap(), uri);
    let missing = validator.check(call(ACCESS_RESOURCE, json!({})), "").unwrap_err();
    assert_eq!(missing.message, "missing required property \"uri\" (string)");
    let wrong = validator.check(call(ACCESS_RESOURCE, json!({"uri": null})), "").unwrap_err();
    assert_eq!(wrong.message, "/uri: expected string, found null");
}

#[test]
fn the_schema_is_that_of_the_call_s_server() {
    let tools = [
        Tool::new("get").with_server("a").with_schema(property(json!({"type": "integer"}))),
        Tool::new("get").with_server("b").with_schema(property(json!({"type": "boolean"}))),
        Tool::new("only").with_server("b").with_schema(property(json!({"type": "integer"}))),
    ];
    let validator = Validator::new(Arc::new(Catalog::from_tools(tools)));
    let on = |server: &str, tool: &str, x: &str| {
        let call = Call { server: Some(server.to_owned()), ..call(tool, json!({"x": x})) };
        validator.check(call, "").map(|c| c.arguments["x"].clone()).map_err(|r| r.message)
    };
    assert_eq!(on("a", "get", "1"), Ok(json!(1)));
    assert_eq!(on("b", "get", "true"), Ok(json!(true)));
    assert!(on("b", "get", "1").is_err());
    assert_eq!(on("unknown", "only", "1"), Ok(json!(1)));
    let nowhere = validator.check(call("only", json!({"x": "1"})), "").unwrap();
    assert_eq!((nowhere.server, nowhere.arguments), (None, json!({"x": 1})));
}

#[test]
fn a_rejection_holds_the_call_as_it_was() {
    let validator = validator(&json!({"properties": {"n": {"type": "integer"}}, "required": ["m"]}));
    let written = Call { server: Some("s".into()), ..call("t", json!({"n": "5"})) };
    let rejected = validator.check(written.clone(), "<the call>").unwrap_err();
    assert_eq!(rejected.kind, RejectedKind::InvalidArguments);
    assert_eq!(rejected.raw, "<the call>");
    assert_eq!((rejected.server.as_deref(), rejected.tool.as_deref()), (Some("s"), Some("t")));
    assert_eq!(rejected.dialect, written.dialect);
    // What could be read is not complained of.
    assert_eq!(rejected.message, "missing required property \"m\"");
    assert_eq!(*rejected.call.unwrap(), written);
    assert_eq!(validator.check(written.clone(), "").unwrap_err().raw, written.raw_arguments);
}

#[test]
fn entries_are_checked_in_place() {
    let entry = |arguments| Entry {
        index: 0,
        result: Ok(call("t", arguments)),
        raw: "<raw>".to_owned(),
        deltas: String::new(),
        restated: false,
        promoted: false,
    };
    let mut assembled =
        Assembled { entries: vec![entry(json!({"x": "5"})), entry(json!({"x": "y"}))], ..Assembled::default() };
    validator(&property(json!({"type": "integer"}))).check_all(&mut assembled);
    assert_eq!(assembled.calls().map(|c| &c.arguments).collect::<Vec<_>>(), [&json!({"x": 5})]);
    assert_eq!(assembled.rejected().map(|r| r.raw.as_str()).collect::<Vec<_>>(), ["<raw>"]);
    validator(&property(json!({"type": "integer"}))).check_all(&mut assembled);
    assert_eq!(assembled.rejected().count(), 1);
}

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
            "/when: missing required property \"hour\" (integer); \"huor\" is there, is \"hour\" meant?",
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
        message.contains("missing required property \"city\" (string); \"citi\" is there, is \"city\" meant?"),
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

#[test]
fn draft_7_and_2020_12_differ_as_they_should() {
    let draft7 = |mut schema: Value| {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    // Tuples: an array under `items`, or `prefixItems`.
    let tuple7 = draft7(property(
        json!({"type": "array", "items": [{"type": "integer"}, {"type": "boolean"}], "additionalItems": false}),
    ));
    let tuple20 =
        property(json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": false}));
    for schema in [&tuple7, &tuple20] {
        coerces(schema, json!({"x": ["1", "true"]}), json!({"x": [1, true]}), &["coerced:/x/0", "coerced:/x/1"]);
        assert!(check(schema, json!({"x": [1, true, 2]})).is_err());
    }
    accepts(&draft7(property(json!({"prefixItems": [{"type": "integer"}]}))), json!({"x": ["a"]}));
    // Beside `$ref`, draft 7 ignores everything.
    let sibling = json!({"definitions": {"s": {"type": "string"}}, "properties": {"x": {"$ref": "#/definitions/s", "minLength": 5}}});
    accepts(&draft7(sibling.clone()), json!({"x": "abc"}));
    refuses(&sibling, json!({"x": "abc"}), "/x: expected at least 5 characters, found 3");
    // Both containers of definitions are read in both.
    for container in ["definitions", "$defs"] {
        let schema =
            json!({container: {"n": {"type": "integer"}}, "properties": {"x": {"$ref": format!("#/{container}/n")}}});
        for schema in [draft7(schema.clone()), schema] {
            coerces(&schema, json!({"x": "1"}), json!({"x": 1}), &["coerced:/x"]);
        }
    }
    // A tuple of draft 7 without `$schema` is meant as one.
    let mut undeclared = tuple7.clone();
    undeclared.as_object_mut().unwrap().remove("$schema");
    coerces(&undeclared, json!({"x": ["1", "true"]}), json!({"x": [1, true]}), &["coerced:/x/0", "coerced:/x/1"]);
    // `if` and `then`, `dependentRequired`.
    let conditional =
        json!({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}});
    refuses(&conditional, json!({"a": 1}), "missing required property \"b\"");
    accepts(&conditional, json!({"a": 2}));
}

#[test]
fn a_schema_that_cannot_be_used_is_named_and_leaves_its_tool_callable() {
    let tools = [
        Tool::new("fine").with_schema(property(json!({"type": "integer"}))),
        Tool::new("remote").with_server("s").with_schema(property(json!({"$ref": "https://example.com/x.json"}))),
        Tool::new("file").with_server("s").with_schema(property(json!({"$ref": "file:///etc/passwd"}))),
        Tool::new("dangling").with_server("s").with_schema(property(json!({"$ref": "#/$defs/none"}))),
        Tool::new("any").with_server("s").with_schema(property(json!({"type": "any"}))),
        Tool::new("pattern").with_server("s").with_schema(property(json!({"pattern": "(?<"}))),
        Tool::new("text").with_server("s").with_schema(json!("string")),
    ];
    let validator = Validator::new(Arc::new(Catalog::from_tools(tools)));
    let named: Vec<(&str, &str)> = validator.problems().iter().map(|p| (p.tool.as_str(), p.message.as_str())).collect();
    assert_eq!(
        named.iter().map(|(tool, _)| *tool).collect::<Vec<_>>(),
        ["remote", "file", "dangling", "any", "pattern", "text"]
    );
    assert!(named[0].1.contains("https://example.com/x.json"), "{}", named[0].1);
    assert!(named[3].1.starts_with("/properties/x/type: "), "{}", named[3].1);
    let shown = validator.problems()[0].to_string();
    assert!(shown.starts_with("the schema of s.remote cannot be used, so any object is accepted: "), "{shown}");
    for (tool, _) in named {
        let call = call(tool, json!({"x": "5"}));
        assert_eq!(validator.check(call.clone(), "").unwrap(), call);
        assert!(validator.problem(Some("s"), tool).is_some());
    }
    assert_eq!(validator.problem(None, "fine"), None);
    assert_eq!(validator.problem(None, "nobody_knows"), None);
}

#[test]
fn recursive_and_circular_schemas_end() {
    let tree = json!({"type": "object", "additionalProperties": {"$ref": "#"}, "maxProperties": 1});
    let mut value = json!({});
    for _ in 0..120 {
        value = json!({"a": value});
    }
    accepts(&tree, value);
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
        json!({"$dynamicRef": "#a", "$dynamicAnchor": "a"}),
    ] {
        let _ = check(&schema, json!({"a": "1"}));
    }
}

#[test]
fn text_inside_text_is_not_followed_without_end() {
    let schema =
        json!({"$defs": {"n": {"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"});
    let mut text = "{}".to_owned();
    for _ in 0..3 {
        text = (0..60).fold(Value::from(text), |value, _| json!({"a": value})).to_string();
    }
    // 180 levels in all: deeper than JSON text is read.
    assert!(check(&schema, json!({"a": text})).is_err());
}

#[test]
fn large_arguments_are_coerced_in_linear_time() {
    let schema = property(json!({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}));
    let texts: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let (coerced, repairs) = check(&schema, json!({"x": texts})).unwrap();
    assert_eq!(coerced["x"][19_999], json!(19_999));
    assert_eq!(repairs.len(), 20_000);
}

#[test]
fn a_validator_is_shared_between_threads() {
    let validator = validator(&property(json!({"type": "integer"})));
    std::thread::scope(|scope| {
        for n in 0..4 {
            let validator = &validator;
            scope.spawn(move || {
                let checked = validator.check(call("t", json!({"x": n.to_string()})), "").unwrap();
                assert_eq!(checked.arguments, json!({"x": n}));
            });
        }
    });
}

/// Schemas of real servers, where the public corpus lies beside the checkout.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn schemas_of_real_servers_compile_and_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora/tools");
    let Ok(files) = fs::read_dir(&folder) else {
        eprintln!("skipped: no corpus of tools at {}", folder.display());
        return;
    };
    let (mut checked, mut examples) = (0, 0);
    for file in files {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let tools: Vec<Tool> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let validator = Validator::new(Arc::new(Catalog::from_tools(tools.iter().cloned())));
        for problem in validator.problems() {
            assert!(!problem.message.is_empty());
            eprintln!("{problem}");
        }
        assert!(validator.problems().len() * 100 <= tools.len(), "{} problems", validator.problems().len());
        for tool in &tools {
            for arguments in [json!({}), json!(null), json!("{}"), json!({"query": 5, "limit": "ten"}), guess(tool)] {
                let call = Call { server: tool.server.clone(), ..call(&tool.name, arguments) };
                if let Err(rejected) = validator.check(call, "") {
                    assert!(!rejected.message.is_empty() && rejected.message.len() < 4000, "{}", rejected.message);
                }
            }
            let example = Call { server: tool.server.clone(), ..call(&tool.name, tool.example_arguments().into()) };
            match validator.check(example, "") {
                Ok(_) => examples += 1,
                Err(rejected) => eprintln!("no example for {}: {}", tool.name, rejected.message),
            }
            checked += 1;
        }
    }
    assert!(checked > 2000, "{checked}");
    assert!(examples * 100 >= checked * 99, "{examples} of {checked} examples are valid");
}

/// Every parameter as text.
fn guess(tool: &Tool) -> Value {
    tool.parameters().map(|p| (p.name.to_owned(), json!("1"))).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_correct_call_is_written_in_the_call_s_own_dialect() {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string", "default": "Ulm"}}, "required": ["city"]});
    let server = crate::catalog::Server {
        name: Some("w".into()),
        tools: vec![Tool::new("forecast").with_schema(schema)],
        resources: vec![crate::tool::Resource { uri: "file:///a".into(), ..Default::default() }],
        ..Default::default()
    };
    let validator = Validator::new(Arc::new(Catalog::new([server])));
    for dialect in Dialect::ALL {
        let written = validator.correct_call(*dialect, None, "forecast").unwrap();
        assert!(written.contains("Ulm"), "{written}");
        let written = validator.correct_call(*dialect, Some("w"), ACCESS_RESOURCE).unwrap();
        assert!(written.contains("file:///a"), "{written}");
    }
    assert_eq!(validator.correct_call(Dialect::TypeMarker, None, "nobody_knows"), None);
    assert_eq!(validator.correct_call(Dialect::TypeMarker, Some("other"), ACCESS_RESOURCE), None);
    let long = Tool::new("long")
        .with_schema(json!({"properties": {"x": {"default": "x".repeat(MAX_CORRECT_CALL)}}, "required": ["x"]}));
    let validator = Validator::new(Arc::new(Catalog::from_tools([long])));
    assert_eq!(validator.correct_call(Dialect::TypeMarker, None, "long"), None);
}
