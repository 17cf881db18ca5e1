use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::message::NativeCall;
use crate::tools::{ACCESS_RESOURCE, Catalog, Resource, Server, Tool};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((any::<String>(), value()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #[test]
    fn the_arguments_of_a_call_are_read_back(arguments in object()) {
        prop_assert_eq!(NativeCall::new("c1", "get", &arguments).object().unwrap(), arguments);
    }

    #[test]
    fn arguments_of_any_text_are_sent_as_they_are(arguments in any::<String>(), name in any::<String>()) {
        let call = NativeCall { id: None, name, arguments };
        let sent = call.tool_call();
        prop_assert_eq!(&sent["function"], &json!({"name": call.name, "arguments": call.arguments}));
    }

    #[test]
    fn every_name_fits_the_wire_and_leads_back(tools in prop::collection::vec((prop::option::of(".{0,40}"), ".{1,80}"), 1..8)) {
        let catalog = Catalog::from_tools(tools.iter().map(|(server, tool)| Tool { server: server.clone(), ..Tool::new(tool) }));
        let names = Names::new(&catalog);
        for (server, tool) in &tools {
            let name = wire_name(server.as_deref(), tool);
            let fits = name.len() <= MAX_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            prop_assert!(fits && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
            prop_assert_eq!(names.find(&name), Some((server.as_deref(), tool.as_str())));
        }
    }

    #[test]
    fn any_schema_becomes_an_object_at_its_root(schema in value()) {
        let root = parameters(Some(&schema));
        prop_assert!(root["type"] == "object" && root["properties"].is_object(), "{root}");
        for key in ["oneOf", "anyOf", "enum", "not", "$schema"] {
            prop_assert!(root.get(key).is_none());
        }
    }
}

#[test]
fn calls_and_tools_are_sent_as_chat_completions_has_them() {
    let call = NativeCall::new("c1", "get", json!({"city": "Oslo"}).as_object().unwrap());
    let sent = json!({"id": "c1", "type": "function",
        "function": {"name": "get", "arguments": "{\"city\":\"Oslo\"}"}});
    assert_eq!(call.tool_call(), sent);

    let tool = ToolDefinition::from(&Tool::new("get").with_server("weather").with_description("Weather"));
    let schema = json!({"type": "object", "properties": {}});
    let sent = json!({"type": "function",
        "function": {"name": "weather__get", "description": "Weather", "parameters": schema}});
    assert_eq!(tool.function(), sent);
}

#[test]
fn arguments_that_are_no_object_are_an_error() {
    for arguments in ["[1]", "\"x\"", "{\"city\":", "nonsense"] {
        let call = NativeCall { id: None, name: "get".into(), arguments: arguments.into() };
        assert!(call.object().is_err(), "{arguments}");
    }
    let none = NativeCall { id: None, name: "get".into(), arguments: " ".into() };
    assert!(none.object().unwrap().is_empty());
}

#[test]
fn names_are_readable_where_they_can_be_and_never_mean_two_tools() {
    let (long, own) = ("x".repeat(70), "x".repeat(64));
    for (server, tool, start) in [
        (Some("weather"), "get", "weather__get"),
        (Some("weather"), "_get", "weather___get"),
        (None, "get_weather", "get_weather"),
        (None, "read-file", "read-file"),
        (Some("my files"), "read.all", "myfiles__readall_"),
        (Some("a__b"), "c", "a__b__c_"),
        (Some("a"), "b__c", "a__b__c"),
        (Some("a_"), "c", "a___c_"),
        (None, "a__c", "a__c"),
        (None, &own, &own),
        (Some("1st"), "get", "_1st__get_"),
        (None, &long, "xxxx"),
    ] {
        let name = wire_name(server, tool);
        assert!(name.starts_with(start), "{server:?} {tool}: {name}");
        assert_eq!(name == start, !start.ends_with('_') && start != "xxxx", "{server:?} {tool}: {name}");
    }
    assert_ne!(wire_name(Some("a__b"), "c"), wire_name(Some("a"), "b__c"));
    assert_ne!(wire_name(None, "读"), wire_name(None, "写"));
    assert_ne!(wire_name(None, &"x".repeat(70)), wire_name(None, &"x".repeat(71)));
}

#[test]
fn a_name_that_fits_is_kept_and_a_servers_tool_gives_way() {
    let catalog = Catalog::from_tools([Tool::new("c").with_server("a"), Tool::new("a__c"), Tool::new("a__d")]);
    let definitions: Vec<String> = ToolDefinition::all(&catalog).into_iter().map(|tool| tool.name).collect();
    let names = Names::new(&catalog);
    assert_eq!(definitions.len(), 3);
    assert_eq!(names.find("a__c"), Some((None, "a__c")));
    assert_eq!(names.find("a__d"), Some((None, "a__d")));
    let other = definitions.iter().find(|name| name.starts_with("a__c_")).unwrap();
    assert_eq!(names.find(other), Some((Some("a"), "c")));
}

#[test]
fn a_catalogs_tools_are_defined_once_each_with_the_resource_access() {
    let tool = || Tool::new("read").with_server("files");
    let resource = Resource { uri: "docs://start".into(), ..Resource::default() };
    let server = Server { name: Some("docs".into()), resources: vec![resource], ..Server::default() };
    let files = Server { name: Some("files".into()), tools: vec![tool(), tool()], ..Server::default() };
    let catalog = Catalog::new([files.clone(), server]);
    let names: Vec<String> = ToolDefinition::all(&catalog).into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["files__read", ACCESS_RESOURCE]);
    assert_eq!(Names::new(&catalog).find(ACCESS_RESOURCE), Some((None, ACCESS_RESOURCE)));
    assert_eq!(Names::new(&Catalog::new([files])).find(ACCESS_RESOURCE), None);
}

#[test]
fn a_schema_stays_as_it_is_but_for_what_endpoints_refuse() {
    let good = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["a"], "additionalProperties": false, "$defs": {"x": {"enum": [1]}}});
    assert_eq!(parameters(Some(&good)), good);
    assert_eq!(parameters(None), json!({"type": "object", "properties": {}}));
    assert_eq!(parameters(Some(&json!({"type": ["object", "null"]}))), json!({"type": "object", "properties": {}}));

    let union = json!({"$schema": "x", "properties": {"a": {}}, "required": ["a"], "oneOf": [
        {"properties": {"b": {"type": "string"}, "c": {}}, "required": ["b", "c"], "additionalProperties": false},
        {"$ref": "#/$defs/d"}], "$defs": {"d": {"$ref": "#/$defs/e"}, "e": {"properties": {"b": {}}, "required": ["b"]}}});
    let flat = parameters(Some(&union));
    assert_eq!(flat["properties"], json!({"a": {}, "b": {"type": "string"}, "c": {}}));
    assert_eq!(flat["required"], json!(["a", "b"]));
    assert!(flat.get("additionalProperties").is_none() && flat.get("oneOf").is_none(), "{flat}");

    let both =
        json!({"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]});
    assert_eq!(parameters(Some(&both))["required"], json!(["a", "b"]));
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(parameters(Some(&circle))["type"], "object");
}

#[test]
fn a_description_is_bounded_and_visible() {
    let tool = Tool::new("f").with_description(format!("a\u{200b}b{}", "x".repeat(2000)));
    let description = ToolDefinition::from(&tool).description;
    assert!(description.starts_with("abx") && description.ends_with('…'), "{description}");
    assert_eq!(description.chars().count(), MAX_DESCRIPTION);
}
