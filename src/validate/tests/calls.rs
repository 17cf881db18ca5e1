//! Calls against the catalog that they come from.

use serde_json::json;

use super::*;

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
        place: crate::event::Provenance::Plain,
        index: 0,
        result: Ok(call("t", arguments)),
        raw: "<raw>".to_owned(),
        deltas: String::new(),
        restated: false,
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

#[test]
fn a_correct_call_is_written_in_the_call_s_own_dialect() {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string", "default": "Ulm"}}, "required": ["city"]});
    let server = crate::tools::Server {
        name: Some("w".into()),
        tools: vec![Tool::new("forecast").with_schema(schema)],
        resources: vec![crate::tools::Resource { uri: "file:///a".into(), ..Default::default() }],
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

#[test]
fn a_read_only_tool_is_called_without_members_that_its_schema_does_not_know() {
    let reads = |hint: Option<bool>, schema: &Value, arguments: Value| {
        let annotations = Some(crate::tools::Annotations { read_only_hint: hint, ..Default::default() });
        let tool = Tool { annotations, ..Tool::new("t").with_schema(schema.clone()) };
        let checked = Validator::new(Arc::new(Catalog::from_tools([tool]))).check(call("t", arguments), "raw");
        checked.map(|call| (call.arguments, call.repairs.iter().map(ToString::to_string).collect::<Vec<_>>()))
    };
    let schema = json!({
        "type": "object", "properties": {"path": {"type": "string"}, "max_lines": {"type": "integer"}},
        "required": ["path"], "additionalProperties": false,
    });
    let written = json!({"path": "a.txt", "maxLines": "5", "encoding/x": "utf-8", "follow": {"deep": true}});
    assert_eq!(
        reads(Some(true), &schema, written.clone()).unwrap(),
        (
            json!({"path": "a.txt", "max_lines": 5}),
            ["unknown_dropped:/encoding~1x", "unknown_dropped:/follow", "key_renamed:/maxLines", "coerced:/max_lines"]
                .map(str::to_owned)
                .to_vec()
        )
    );
    for hint in [None, Some(false)] {
        let rejected = reads(hint, &schema, written.clone()).unwrap_err();
        assert!(rejected.message.contains("follow"), "{}", rejected.message);
    }
    // What is wrong beside it is told with it, of the call as it was written.
    let rejected = reads(Some(true), &schema, json!({"file": "a.txt"})).unwrap_err();
    assert!(rejected.message.contains("path") && rejected.message.contains("file"), "{}", rejected.message);
    // One that the schema takes stays.
    let open = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let both = json!({"path": "a", "x": 1});
    assert_eq!(reads(Some(true), &open, both.clone()).unwrap(), (both, vec![]));
}
