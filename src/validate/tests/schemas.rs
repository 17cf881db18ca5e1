//! Drafts, and schemas that cannot be used.

use serde_json::json;

use super::*;

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
    assert!(validator.problems().iter().all(|problem| std::error::Error::source(problem).is_some()));
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
    for _ in 0..40 {
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
