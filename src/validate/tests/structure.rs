//! Text, arrays and keys that are not as the schema wants them.

use serde_json::json;

use super::*;

#[test]
fn whole_arguments_in_text_in_an_array_or_absent_are_unwrapped() {
    let schema = property(json!({"type": "integer"}));
    let five = || json!({"x": 5});
    coerces(&schema, json!("{\"x\": 5}"), five(), &["unwrapped_string:"]);
    coerces(&schema, json!("{\"x\": \"5\"}"), five(), &["unwrapped_string:", "coerced:/x"]);
    coerces(&schema, json!("\"{\\\"x\\\": 5}\""), five(), &["unwrapped_string:"]);
    coerces(&schema, json!([{"x": 5}]), five(), &["unwrapped_array:"]);
    coerces(&schema, json!(["{\"x\": 5}"]), five(), &["unwrapped_array:", "unwrapped_string:"]);
    coerces(&schema, json!("[{\"x\": 5}]"), five(), &["unwrapped_string:", "unwrapped_array:"]);
    coerces(&schema, json!(null), json!({}), &["coerced:"]);
    coerces(&schema, json!("  "), json!({}), &["coerced:"]);
    coerces(&schema, json!("null"), json!({}), &["unwrapped_string:", "coerced:"]);
    coerces(&json!(true), json!("{\"x\": 5}"), five(), &["unwrapped_string:"]);
    for (arguments, found) in [
        (json!("x = 5"), "string \"x = 5\""),
        (json!("[1]"), "string \"[1]\""),
        (json!("{\"x\": 1, \"x\": 2}"), "string \"{\\\"x\\\": 1, \\\"x\\\": 2}\""),
        (json!([]), "array of 0 items"),
        (json!([{"x": 5}, {}]), "array of 2 items"),
        (json!([[[{"x": 5}]]]), "array of 1 item"),
        (json!(5), "number 5"),
        (json!(false), "boolean false"),
    ] {
        refuses(&schema, arguments, &format!("expected a JSON object with the arguments, found {found}"));
    }
    let thrice = json!(json!(json!(json!({"x": 5}).to_string()).to_string()).to_string());
    assert!(check(&schema, thrice).is_err());
}

/// Checks that `found` is read as this value, with these repairs, where `wanted` is the schema; `None` if it is
/// refused.
#[track_caller]
fn reads(wanted: Value, found: Value, expected: Option<(Value, &[&str])>) {
    let said = format!("{found} for {wanted}");
    let checked = check(&needed(wanted), json!({"x": found}));
    match expected {
        Some((x, repairs)) => {
            let (arguments, named) = checked.unwrap_or_else(|message| panic!("{said}: {message}"));
            assert_eq!(
                (arguments, named),
                (json!({"x": x}), repairs.iter().map(|r| (*r).to_owned()).collect()),
                "{said}"
            );
        }
        None => assert!(checked.is_err(), "{said}: {checked:?}"),
    }
}

#[test]
fn json_in_text_is_read_where_the_schema_wants_no_text() {
    const TEXT: &[&str] = &["unwrapped_string:/x"];
    let object = || json!({"type": "object"});
    let array = || json!({"type": "array"});
    reads(object(), json!("{\"a\": 1}"), Some((json!({"a": 1}), TEXT)));
    reads(object(), json!("\"{\\\"a\\\": 1}\""), Some((json!({"a": 1}), TEXT)));
    reads(array(), json!("[1, 2]"), Some((json!([1, 2]), TEXT)));
    reads(json!({"type": ["array", "object"]}), json!("{}"), Some((json!({}), TEXT)));
    reads(json!({"type": "integer"}), json!("\"5\""), Some((json!(5), &["unwrapped_string:/x", "coerced:/x"])));
    reads(json!({"type": "string", "enum": ["C", "F"]}), json!("\"C\""), Some((json!("C"), TEXT)));
    let nested = json!({"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}});
    reads(
        nested,
        json!("{\"n\": \"[\\\"1\\\"]\"}"),
        Some((json!({"n": [1]}), &["unwrapped_string:/x", "unwrapped_string:/x/n", "coerced:/x/n/0"])),
    );
    for text in ["[1]", "{'a': 1}", "{\"a\": 1, \"a\": 2}", "{\"a\": 1", "a"] {
        reads(object(), json!(text), None);
    }
    // Text stays text where text is wanted.
    accepts(&property(json!({"type": "string"})), json!({"x": "{\"a\": 1}"}));
    accepts(&property(json!({"anyOf": [{"type": "object"}, {"type": "string"}]})), json!({"x": "{\"a\": 1}"}));
}

#[test]
fn an_array_of_one_is_its_item_where_no_array_fits() {
    const ARRAY: &[&str] = &["unwrapped_array:/x"];
    let integer = || json!({"type": "integer"});
    reads(integer(), json!([5]), Some((json!(5), ARRAY)));
    reads(integer(), json!(["5"]), Some((json!(5), &["unwrapped_array:/x", "coerced:/x"])));
    reads(integer(), json!("[5]"), None);
    reads(json!({"type": "object"}), json!([{"a": 1}]), Some((json!({"a": 1}), ARRAY)));
    reads(json!({"enum": ["C", "F"]}), json!(["C"]), Some((json!("C"), ARRAY)));
    reads(json!({"const": "go"}), json!(["go"]), Some((json!("go"), ARRAY)));
    for found in [json!([]), json!([5, 6]), json!([null]), json!(["five"])] {
        reads(integer(), found, None);
    }
    accepts(&property(json!({"type": ["integer", "array"]})), json!({"x": [5]}));
}

#[test]
fn a_single_value_is_an_array_of_one_where_only_an_array_fits() {
    const WRAPPED: &[&str] = &["wrapped_in_array:/x"];
    let of = |items: &str| json!({"type": "array", "items": {"type": items}});
    reads(of("string"), json!("a.txt"), Some((json!(["a.txt"]), WRAPPED)));
    reads(of("string"), json!("two words"), Some((json!(["two words"]), WRAPPED)));
    reads(of("integer"), json!(5), Some((json!([5]), WRAPPED)));
    reads(of("integer"), json!("5"), Some((json!([5]), &["wrapped_in_array:/x", "coerced:/x/0"])));
    reads(of("string"), json!(5), Some((json!(["5"]), &["wrapped_in_array:/x", "coerced:/x/0"])));
    reads(of("boolean"), json!(true), Some((json!([true]), WRAPPED)));
    reads(of("object"), json!({"a": 1}), Some((json!([{"a": 1}]), WRAPPED)));
    reads(
        of("object"),
        json!("{\"a\": 1}"),
        Some((json!([{"a": 1}]), &["wrapped_in_array:/x", "unwrapped_string:/x/0"])),
    );
    reads(json!({"type": ["array", "null"], "items": {"type": "string"}}), json!("a"), Some((json!(["a"]), WRAPPED)));
    reads(
        json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
        json!("a"),
        Some((json!(["a"]), WRAPPED)),
    );
    // One or several, none, broken JSON, or two readings.
    for found in [
        json!("a, b"),
        json!("a\nb"),
        json!("a；b"),
        json!(""),
        json!("none"),
        json!("[a]"),
        json!("[\"a\""),
        json!("{a}"),
        json!(null),
        json!(false),
    ] {
        reads(of("string"), found, None);
    }
    reads(json!({"type": "array"}), json!("{\"a\": 1}"), None);
    reads(json!({"type": "array", "minItems": 2}), json!("a"), None);
    reads(of("integer"), json!("five"), None);
    // An item is not made an array: one pair, or two halves of pairs?
    let pairs = json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}});
    reads(pairs, json!([1, 2]), None);
    let either = json!({"type": "array", "items": {"anyOf": [{"type": "array"}, {"type": "null"}]}});
    reads(either, json!([1]), None);
    accepts(&property(json!({"type": ["string", "array"]})), json!({"x": "a"}));
}

#[test]
fn keys_in_another_case_or_style_are_renamed() {
    for (wanted, found) in [
        ("file_name", "fileName"),
        ("file_name", "File-Name"),
        ("file_name", "FILE_NAME"),
        ("file_name", "file name"),
        ("fileName", "file_name"),
        ("fileName", "filename"),
        ("file-name", "file.name"),
        ("path", "Path"),
        ("größe", "Größe"),
        ("url2", "URL_2"),
    ] {
        let value = json!({"type": "object", "properties": {wanted: {"type": "string"}}});
        let mut required = value.clone();
        required["required"] = json!([wanted]);
        let mut closed = value.clone();
        closed["additionalProperties"] = json!(false);
        for schema in [required, closed] {
            coerces(&schema, json!({found: "a"}), json!({wanted: "a"}), &[&format!("key_renamed:/{found}")]);
        }
        // What the schema accepts as it stands is not touched.
        accepts(&value, json!({found: "a"}));
    }
}

#[test]
fn keys_keep_their_place_and_their_values_are_read_too() {
    let schema = json!({
        "type": "object",
        "$defs": {"edit": {"type": "object", "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                            "required": ["oldText", "newText"]}},
        "properties": {"a/b": {"type": "integer"}, "edits": {"type": "array", "items": {"$ref": "#/$defs/edit"}},
                       "max_lines": {"type": "integer"}},
        "required": ["a/b", "edits"],
    });
    let found =
        json!({"A/B": "1", "other": 0, "Edits": "[{\"old_text\": \"x\", \"newText\": \"y\"}]", "maxLines": "3"});
    let (arguments, repairs) = check(&schema, found).unwrap();
    let expected = json!({"a/b": 1, "other": 0, "edits": [{"oldText": "x", "newText": "y"}], "max_lines": 3});
    assert_eq!(arguments.to_string(), expected.to_string());
    assert_eq!(
        repairs,
        [
            "key_renamed:/A~1B",
            "key_renamed:/Edits",
            "key_renamed:/maxLines",
            "coerced:/a~1b",
            "unwrapped_string:/edits",
            "coerced:/max_lines",
            "key_renamed:/edits/0/old_text",
        ]
    );
}

#[test]
fn keys_are_renamed_in_branches_and_through_every_applicator() {
    let one = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "sideLength": {"type": "number"}}, "required": ["kind", "sideLength"]},
    ]});
    let shape = property(one);
    coerces(
        &shape,
        json!({"x": {"Kind": "square", "side_length": "2.5"}}),
        json!({"x": {"kind": "square", "sideLength": 2.5}}),
        &["key_renamed:/x/Kind", "key_renamed:/x/side_length", "coerced:/x/sideLength"],
    );
    // Declared in one part, wanted in another.
    let parted = json!({"allOf": [{"properties": {"userId": {"type": "integer"}}}, {"required": ["userId"]}]});
    coerces(&parted, json!({"user_id": 1}), json!({"userId": 1}), &["key_renamed:/user_id"]);
    let unevaluated =
        json!({"allOf": [{"properties": {"userId": {"type": "integer"}}}], "unevaluatedProperties": false});
    coerces(&unevaluated, json!({"user_id": 1}), json!({"userId": 1}), &["key_renamed:/user_id"]);
    let undescribed = json!({"required": ["userId"]});
    coerces(&undescribed, json!({"user_id": 1}), json!({"userId": 1}), &["key_renamed:/user_id"]);
    let either = json!({"properties": {"id": {}, "name": {}}, "anyOf": [{"required": ["id"]}, {"required": ["name"]}]});
    coerces(&either, json!({"ID": 1}), json!({"id": 1}), &["key_renamed:/ID"]);
}

#[test]
fn the_one_unknown_key_takes_the_missing_name_that_ends_as_it_does() {
    let schema = |name: &str| {
        json!({"type": "object", "properties": {name: {"type": "string"}, "offset": {}},
        "required": [name], "additionalProperties": false})
    };
    for (found, wanted) in [("path", "file_path"), ("file_path", "path"), ("Path", "filePath"), ("targetFile", "file")]
    {
        let repairs = [format!("key_renamed:/{found}")];
        coerces(&schema(wanted), json!({found: "a", "offset": 1}), json!({wanted: "a", "offset": 1}), &[&repairs[0]]);
    }
    let two = json!({"properties": {"old_path": {}, "new_path": {}}, "required": ["old_path"]});
    for (schema, arguments) in [
        (schema("file_path"), json!({"pattern": "a"})),
        (schema("file_path"), json!({"path": "a", "name": "b"})),
        (schema("file_path"), json!({"path": {}})),
        (schema("file"), json!({"profile": "a"})),
        (two, json!({"path": "a"})),
    ] {
        assert!(check(&schema, arguments.clone()).is_err(), "{arguments} for {schema}");
    }
}

#[test]
fn a_key_that_may_mean_two_things_is_not_renamed() {
    let closed = |properties: Value| {
        let wanted: Vec<_> = properties.as_object().unwrap().keys().take(1).cloned().collect();
        json!({"type": "object", "properties": properties, "required": wanted, "additionalProperties": false})
    };
    for (schema, arguments) in [
        // Two properties, or two keys, of one name.
        (closed(json!({"fileName": {}, "file_name": {}})), json!({"FileName": 1})),
        (closed(json!({"fileName": {}})), json!({"FileName": 1, "file_name": 2})),
        // Given already.
        (closed(json!({"fileName": {}})), json!({"fileName": 1, "file_name": 2})),
        // A property of its own.
        (closed(json!({"fileName": {}, "file_name": {}})), json!({"file_name": 2})),
        // Digits that are parted are other digits.
        (closed(json!({"a_1_2": {}})), json!({"a_12": 1})),
        (closed(json!({"path": {}})), json!({"paths": 1})),
        (closed(json!({"path": {}})), json!({"_": 1})),
        // The schema takes the key by a pattern, or says more than can be followed.
        (json!({"properties": {"id": {}}, "patternProperties": {"^I": {}}, "required": ["id"]}), json!({"ID": 1})),
        (json!({"properties": {"id": {}}, "patternProperties": {"(?!x)": {}}, "required": ["id"]}), json!({"ID": 1})),
        (
            json!({"properties": {"id": {}}, "required": ["id"], "anyOf": [{"$dynamicRef": "#a"}], "$dynamicAnchor": "a"}),
            json!({"ID": 1}),
        ),
        // The value would be refused.
        (json!({"properties": {"id": {"type": "integer"}}, "required": ["id"]}), json!({"ID": "x"})),
    ] {
        assert!(check(&schema, arguments.clone()).is_err(), "{arguments} for {schema}");
    }
}

#[test]
fn arguments_are_an_object_even_if_the_schema_takes_more() {
    for schema in [json!(true), json!({}), json!({"type": ["object", "array"]})] {
        refuses(&schema, json!([1]), "expected a JSON object with the arguments, found array of 1 item");
        accepts(&schema, json!({"anything": 1}));
    }
    refuses(&json!(false), json!({}), "no value is allowed here");
}
