//! The same object gives the same call in a tag and alone.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgraft::event::Repair;
use toolgraft::parse::Config;
use toolgraft::{Call, Catalog, Tool};
use toolgraft_testkit::laws;

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "input": {"type": "string"}}});
    Arc::new(Catalog::from_tools([Tool::new("get_weather").with_server("weather").with_schema(schema)]))
});

fn call(text: &str) -> Option<Call> {
    let config = Config::default().with_catalog(Some(CATALOG.clone()));
    laws::read(text, &config).calls().next().cloned()
}

#[test]
fn what_stands_under_function_is_read_beside_another_name() {
    for function in [json!("get_weather"), json!({"name": "get_weather", "arguments": {"city": "Oslo"}})] {
        let object = json!({"function": function, "arguments": {"city": "Oslo"}, "tool": "get_weather"});
        for text in [object.to_string(), format!("<tool_call>{object}</tool_call>")] {
            let read = call(&text).map(|call| (call.tool, call.arguments));
            assert_eq!(read, Some(("get_weather".to_owned(), json!({"city": "Oslo"}))), "{text}");
        }
        let other = object.to_string().replace("\"tool\":\"get_weather\"", "\"tool\":\"delete\"");
        assert_eq!(call(&format!("<tool_call>{other}</tool_call>")), None, "{other}");
    }
}

/// Returns members of a call object, the name first.
fn members() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let keys = |keys: &'static [&'static str]| prop::sample::select(keys);
    let name = (
        keys(&["name", "tool_name", "tool", "function_name", "function"]),
        prop::sample::select(vec![
            json!("get_weather"),
            json!("weather.get_weather"),
            json!(" get_weather"),
            json!("get_wether"),
            json!(7),
            json!(""),
            json!({"name": "get_weather", "arguments": {"city": "Oslo"}}),
        ]),
    );
    let given = (
        keys(&["arguments", "parameters", "args", "params", "input"]),
        prop::sample::select(vec![
            json!({"city": "Oslo"}),
            json!("{\"city\": \"Oslo\"}"),
            json!({}),
            json!({"type": "object", "properties": {"city": {"type": "string"}}}),
        ]),
    );
    let beside = (
        keys(&["server", "id", "type", "index", "city", "days", "input", "reason", "tool"]),
        prop::sample::select(vec![json!("weather"), json!("get_weather"), json!("Oslo"), json!(1)]),
    );
    (name, prop::option::weighted(0.8, given), prop::collection::vec(beside, 0..3))
        .prop_map(|(name, given, beside)| [name].into_iter().chain(given).chain(beside).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn an_object_says_the_same_in_a_tag_and_alone(members in members(), keyed in prop::bool::weighted(0.2)) {
        let object: Map<String, Value> = match keyed {
            true => Map::from_iter([("get_weather".to_owned(), members.into_iter().map(|(_, value)| value).next_back().unwrap_or_default())]),
            false => members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        };
        let object = Value::Object(object).to_string();
        let tagged = call(&format!("<tool_call>{object}</tool_call>"));
        let says = |call: &Call| (call.server.clone(), call.tool.clone(), call.arguments.clone());
        if let Some(alone) = call(&object) {
            prop_assert_eq!(tagged.as_ref().map(says), Some(says(&alone)), "{}", object);
        } else if let Some(tagged) = tagged {
            // Without a marker, an object with a member that is not part of a call is no call.
            let is_loose = |repair: &Repair| matches!(repair, Repair::Other(name) if name.starts_with("ignored_key"));
            let is_whole = !tagged.repairs.iter().any(is_loose) && tagged.arguments != json!({});
            let is_exact = object.contains("\"get_weather\"") || object.contains("\"weather.get_weather\"");
            // The name is misspelt, and the correct one is a value.
            let is_exact = is_exact && !object.contains("\" get_weather\"") && !object.contains("get_wether");
            let is_fit = tagged.arguments.as_object().is_some_and(|arguments| arguments.contains_key("city"));
            prop_assert!(!(is_whole && is_exact && is_fit), "{}", object);
        }
    }
}
