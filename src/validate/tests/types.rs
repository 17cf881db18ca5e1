//! Values as another type.

use serde_json::json;

use super::*;

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
        (json!({"type": "string"}), json!(5), Some(json!("5"))),
        (json!({"type": "string"}), json!(-2.5), Some(json!("-2.5"))),
        (json!({"type": "string"}), json!(u64::MAX), Some(json!("18446744073709551615"))),
        (json!({"type": "string"}), json!(true), Some(json!("true"))),
        (json!({"type": "string"}), json!(null), None),
        (json!({"type": ["integer", "null"]}), json!("7"), Some(json!(7))),
        (json!({"type": ["integer", "null"]}), json!("null"), Some(json!(null))),
        (json!({"type": ["integer", "null"]}), json!("None"), None),
        (json!({"type": ["integer", "null"]}), json!(""), None),
        (json!({"type": ["boolean", "integer"]}), json!("1"), Some(json!(1))),
        (json!({"type": ["boolean", "integer"]}), json!("true"), Some(json!(true))),
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
        // What may be left out is another matter.
        let checked = check(&needed(wanted.clone()), json!({"x": found}));
        match expected {
            Some(x) => assert_eq!(checked, Ok((json!({"x": x}), vec!["coerced:/x".into()])), "{found_text} {wanted}"),
            None => assert!(checked.is_err(), "{found_text} is accepted for {wanted}: {checked:?}"),
        }
    }
}

#[test]
fn what_says_nothing_is_left_out_where_it_need_not_be_there() {
    let schema = json!({"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]},
        "at": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "place": {"type": "object", "properties": {"zip": {"type": "string"}}}, "note": {"type": "string"},
        "alarm": {"type": "integer", "nullable": true},
    }});
    let left_out = |place: &str| format!("left_out:{place}");
    for (found, expected, repairs) in [
        (json!({"city": "Ulm", "days": null}), json!({"city": "Ulm"}), vec![left_out("/days")]),
        (
            json!({"city": "Ulm", "days": "", "unit": " "}),
            json!({"city": "Ulm"}),
            vec![left_out("/days"), left_out("/unit")],
        ),
        (json!({"at": null, "city": "Ulm"}), json!({"city": "Ulm"}), vec![left_out("/at")]),
        (
            json!({"city": "Ulm", "place": {"zip": null}}),
            json!({"city": "Ulm", "place": {}}),
            vec![left_out("/place/zip")],
        ),
        (json!({"city": "Ulm", "place": null}), json!({"city": "Ulm"}), vec![left_out("/place")]),
        // The schema takes these as they are.
        (json!({"city": "", "note": "", "alarm": null}), json!({"city": "", "note": "", "alarm": null}), vec![]),
    ] {
        assert_eq!(check(&schema, found.clone()), Ok((expected, repairs)), "{found}");
    }
    for refused in [json!({"city": null}), json!({"city": "Ulm", "at": [null]}), json!({"city": "Ulm", "days": "x"})] {
        assert!(check(&schema, refused.clone()).is_err(), "{refused}");
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
            "unwrapped_string:/list", "coerced:/pair/0", "coerced:/pair/1", "coerced:/map/k", "coerced:/ref",
            "coerced:/all/n", "coerced:/any", "coerced:/one/b", "coerced:/名~1前", "coerced:/n_1", "coerced:/list/1",
        ],
    );
}

#[test]
fn branches_inside_branches_and_references_are_found() {
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
fn the_branch_that_takes_the_lightest_repairs_is_taken() {
    let any = |branches: Value| property(json!({"anyOf": branches}));
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    for (branches, found, expected, repairs) in [
        (json!([{"type": "boolean"}, {"type": "integer"}]), json!("1"), json!(1), &["coerced:/x"][..]),
        (json!([{"type": "integer", "maximum": 5}, integers]), json!("[7]"), json!([7]), &["unwrapped_string:/x"]),
        (json!([texts, integers]), json!("[1, 2]"), json!([1, 2]), &["unwrapped_string:/x"]),
        (json!([integers, {"type": "integer"}]), json!("5"), json!(5), &["coerced:/x"]),
        (json!([integers, {"type": "integer"}]), json!(["5"]), json!([5]), &["coerced:/x/0"]),
        (json!([texts, {"type": "object"}]), json!("{\"a\": 1}"), json!({"a": 1}), &["unwrapped_string:/x"]),
        (json!([{"type": "integer"}, {"type": "number"}]), json!("5.0"), json!(5), &["coerced:/x"]),
    ] {
        coerces(&any(branches), json!({"x": found}), json!({"x": expected}), repairs);
    }
    refuses(
        &any(json!([{"type": "integer"}, {"type": "null"}])),
        json!({"x": "soon"}),
        "/x: expected integer or null, found string \"soon\"",
    );
}

#[test]
fn a_value_that_two_branches_read_in_two_ways_is_refused() {
    let kinds = [("a", "b"), ("b", "a")].map(|(number, text)| {
        json!({"type": "object", "properties": {number: {"type": "integer"}, text: {"type": "string"}}})
    });
    let schema = property(json!({"anyOf": kinds}));
    assert!(check(&schema, json!({"x": {"a": "1", "b": 2}})).is_ok(), "as it stands, or as the branches say");
    // Either number may be the one that was meant as text.
    assert!(check(&schema, json!({"x": {"a": 1, "b": 2}})).is_err());
    coerces(&schema, json!({"x": {"a": 1, "b": true}}), json!({"x": {"a": 1, "b": "true"}}), &["coerced:/x/b"]);
}

#[test]
fn numbers_become_text_with_the_digits_that_were_written() {
    let validator = validator(&property(json!({"type": "string"})));
    for (raw, expected) in
        [(r#"{"x": 1.10}"#, Some("1.10")), (r#"{"x": 1e3}"#, Some("1e3")), (r#"{"x": 7}"#, Some("7"))]
    {
        let arguments: Value = serde_json::from_str(raw).unwrap();
        let call = Call { raw_arguments: raw.to_owned(), ..call("t", arguments) };
        assert_eq!(validator.check(call, "").unwrap().arguments["x"].as_str(), expected);
    }
    // One that lost digits was no text: it is refused, as it is where an integer is wanted.
    let raw = r#"{"x": 12345678901234567890123}"#;
    let lost = Call { raw_arguments: raw.to_owned(), ..call("t", serde_json::from_str(raw).unwrap()) };
    assert!(validator.check(lost.clone(), "").is_err());
    let integer = self::validator(&property(json!({"type": "integer"})));
    let message = integer.check(lost.clone(), "").unwrap_err().message;
    assert!(message.contains("/x: expected an integer of at most 64 bits, found 12345678901234567890123"), "{message}");
    let nullable = self::validator(&property(json!({"type": ["integer", "null"], "minimum": 10})));
    assert!(nullable.check(lost.clone(), "").is_err());
    let number = self::validator(&property(json!({"type": ["number", "string"]})));
    assert!(number.check(lost.clone(), "").is_ok(), "a fraction fits there");
    // Where the schema says nothing of it, it may be an identifier.
    let message = self::validator(&json!({"type": "object"})).check(lost, "").unwrap_err().message;
    assert!(message.contains("/x: expected a text or a shorter number, found 12345678901234567890123"), "{message}");
    let raw = r#"{"x": 1.50000000000000000000001, "y": {"z": 1e30}}"#;
    let fraction = Call { raw_arguments: raw.to_owned(), ..call("t", serde_json::from_str(raw).unwrap()) };
    assert!(self::validator(&property(json!({}))).check(fraction, "").is_ok(), "neither is an integer");
    // Which spelling it had is not known: nothing is guessed.
    let call = Call { raw_arguments: String::new(), ..call("t", json!({"x": 1.1})) };
    assert!(validator.check(call, "").is_err());
}

#[test]
fn lost_digits_are_named() {
    let schema = property(json!({"type": "number"}));
    let precise = "2.24159265358979323846";
    coerces(&schema, json!({"x": precise}), json!({"x": 2.241_592_653_589_793}), &["coerced:/x", "number_precision"]);
    let object = property(json!({"type": "object", "properties": {"id": {"type": "number"}}}));
    let (_, repairs) = check(&object, json!({"x": "{\"id\": 12345678901234567890123}"})).unwrap();
    assert_eq!(repairs, ["unwrapped_string:/x", "number_precision"]);
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
