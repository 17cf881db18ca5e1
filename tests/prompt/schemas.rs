//! Schemas of tools, artificial and real, and values that they allow.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgraft::Tool;
use toolgraft::tools::Server;

/// A schema, and a value that it accepts with the members in this order.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) value: Value,
}

fn case(schema: Value, value: Value) -> Case {
    Case { schema, value }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        "(?s).{0,8}",
        Just("</arguments>\n</use_mcp_tool>".to_owned()),
        Just("\"\\\u{1}\u{7f}\n".to_owned())
    ]
}

/// Returns names of members, including some of a call's own.
fn names() -> impl Strategy<Value = Vec<String>> {
    let name =
        prop_oneof!["[a-z_]{1,5}", "[a-zé \"\\\\<]{1,4}", Just("tool_name".to_owned()), Just("arguments".to_owned())];
    proptest::collection::btree_set(name, 0..4).prop_map(|set| set.into_iter().collect()).prop_shuffle()
}

fn leaf() -> impl Strategy<Value = Case> {
    prop_oneof![
        text().prop_map(|t| case(json!({"type": "string", "minLength": 0}), t.into())),
        text().prop_map(|t| case(json!({"type": "string", "minLength": t.chars().count()}), t.into())),
        text().prop_map(|t| case(json!({"type": "string", "maxLength": t.chars().count()}), t.into())),
        (-999_999_i64..1_000_000).prop_map(|n| case(json!({"type": "integer"}), n.into())),
        (-1e6..1e6_f64).prop_map(|n| case(json!({"type": "number"}), n.into())),
        any::<bool>().prop_map(|b| case(json!({"type": "boolean"}), b.into())),
        any::<bool>().prop_map(|b| case(json!({"type": ["boolean", "null"]}), if b { b.into() } else { Value::Null })),
        text().prop_map(|t| case(json!({"enum": [1, t, null]}), t.into())),
        Just(case(json!({"const": {"a": [1]}}), json!({"a": [1]}))),
        Just(case(json!({}), json!([{"any": null}, 1.5e-7]))),
        Just(case(json!(true), json!({"x": {}}))),
        text().prop_map(|t| case(json!({"$ref": "#/$defs/text"}), t.into())),
        Just(case(json!({"$ref": "elsewhere.json"}), json!(["what", "ever"]))),
    ]
}

pub(crate) fn object() -> BoxedStrategy<Case> {
    object_of(value().boxed())
}

fn value() -> impl Strategy<Value = Case> {
    leaf().prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            object_of(inner.clone().boxed()),
            (inner.clone(), 0..3_usize).prop_map(|(item, n)| {
                case(json!({"type": "array", "items": item.schema, "maxItems": 4}), vec![item.value; n].into())
            }),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| {
                case(json!({"type": "array", "prefixItems": [a.schema, b.schema], "minItems": 1}), json!([a.value]))
            }),
            (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, second)| {
                let value = if second { b.value } else { a.value };
                case(json!({"anyOf": [a.schema, b.schema], "description": "d"}), value)
            }),
            inner.prop_map(|one| case(json!({"allOf": [one.schema], "title": "t"}), one.value)),
        ]
    })
}

fn object_of(member: BoxedStrategy<Case>) -> BoxedStrategy<Case> {
    let member = (member, any::<bool>(), any::<bool>());
    let open = prop_oneof![Just(None), Just(Some(json!(false))), Just(Some(json!({"type": "integer"})))];
    (names(), proptest::collection::vec(member, 4), open)
        .prop_map(|(names, members, open)| {
            let (mut properties, mut required, mut value) = (Map::new(), Vec::new(), Map::new());
            for (name, (member, is_required, is_there)) in names.into_iter().zip(members) {
                properties.insert(name.clone(), member.schema);
                if is_required {
                    required.push(name.clone());
                }
                if is_required || is_there {
                    value.insert(name, member.value);
                }
            }
            let mut schema = json!({"type": "object", "properties": properties, "required": required});
            if let Some(open) = open {
                if open.is_object() {
                    value.insert("further one".to_owned(), 7.into());
                }
                schema["additionalProperties"] = open;
            }
            case(schema, Value::Object(value))
        })
        .boxed()
}

/// Returns the tool of a case.
pub(crate) fn tool(case: &Case) -> Tool {
    let mut schema = case.schema.clone();
    schema["$defs"] = json!({"text": {"type": "string"}});
    Tool::new("do_it").with_schema(schema)
}

/// Returns the tools of real servers.
pub(crate) fn real() -> Vec<Tool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tools");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.flat_map(|file| serde_json::from_str::<Server>(&fs::read_to_string(file).unwrap()).unwrap().tools).collect()
}
