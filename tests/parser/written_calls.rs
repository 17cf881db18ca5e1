//! The calls that `write_call` writes are read back.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgraft::dialect::{DialectSet, write_call, write_tool_call};
use toolgraft::parse::Config;
use toolgraft::tools::ACCESS_RESOURCE;
use toolgraft::{Catalog, Dialect, Tool};
use toolgraft_testkit::laws;

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "note": {"type": "string"}, "count": {"type": "integer"},
        "list": {"type": "array"}, "map": {"type": "object"}, "flag": {"type": "boolean"},
    }});
    let tool = |name: &str, server: &str| Tool::new(name).with_server(server).with_schema(schema.clone());
    Arc::new(Catalog::from_tools([tool("write_it", "files"), tool("same", "files"), tool("same", "web")]))
});

/// Strings with all kinds of syntax, except tags of the tool itself: `tool_tag` cannot express an
/// unbalanced one.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(&[
        "a", "b c", "\n", "\n\n", "\"", "\\", "{", "}", "</arguments>", "</use_mcp_tool>", "<b>", "&amp;", "&&",
        "天气", "TYPE: MCP", "```", "\t", " ", "'", "[1]", "</think>x",
    ]);
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let optional =
        |name: &'static str, value: BoxedStrategy<Value>| prop::option::of(value.prop_map(move |v| (name, v)));
    (
        optional("text", text().prop_map(Value::from).boxed()),
        optional("count", any::<i32>().prop_map(Value::from).boxed()),
        optional("list", prop::collection::vec(text(), 0..3).prop_map(Value::from).boxed()),
        optional("map", text().prop_map(|t| json!({ "k": t, "n": null })).boxed()),
        optional("flag", any::<bool>().prop_map(Value::from).boxed()),
        optional("note", text().prop_map(Value::from).boxed()),
    )
        .prop_map(|(a, b, c, d, e, f)| {
            [a, b, c, d, e, f].into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
        })
}

/// Number of cases, each written in every dialect.
const CASES: u32 = 150;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_written_call_is_read_back(arguments in arguments(), which in 0..3_usize) {
        let tool = CATALOG.tools().nth(which).unwrap().clone();
        for dialect in Dialect::ALL.iter().copied() {
            for dialects in [DialectSet::from(dialect), DialectSet::AUTO] {
                let text = write_tool_call(dialect, &CATALOG, &tool, &arguments);
                let config = Config::default().with_dialects(dialects).with_catalog(CATALOG.clone());
                let found = laws::read(&text, &config);
                let calls: Vec<_> = found.calls().collect();
                prop_assert_eq!(calls.len(), 1, "{}: {}\n{:?}", dialect, text, found);
                prop_assert_eq!(calls[0].server.as_deref(), tool.server.as_deref());
                prop_assert_eq!(&calls[0].tool, &tool.name);
                let as_sent = read_as_schema(&calls[0].arguments);
                prop_assert_eq!(as_sent, Value::Object(arguments.clone()), "{}: {}", dialect, text);
            }
        }
    }
}

/// Converts values like `validate` does by the schema's types, since `tool_tag` passes them on as
/// text.
fn read_as_schema(arguments: &Value) -> Value {
    let typed = |(name, value): (&String, &Value)| {
        let read = match value {
            Value::String(text) if !matches!(name.as_str(), "text" | "note") => serde_json::from_str(text).unwrap(),
            other => other.clone(),
        };
        (name.clone(), read)
    };
    arguments.as_object().unwrap().iter().map(typed).collect()
}

#[test]
fn a_written_resource_access_is_read_back_in_each_dialect() {
    for uri in ["demo://a b/{id}?x=1&y=2", "demo://a?x=1&y=&amp;", "demo://&amp;", "demo://<x>&lt;", "docs://天气"] {
        let arguments = json!({ "uri": uri });
        for dialect in Dialect::ALL.iter().copied() {
            let text = write_call(dialect, Some("R & D"), ACCESS_RESOURCE, arguments.as_object().unwrap());
            let found = laws::read(&text, &Config::default().with_catalog(CATALOG.clone()));
            let calls: Vec<_> = found.calls().collect();
            assert_eq!(calls.len(), 1, "{dialect}: {text}\n{found:?}");
            assert_eq!((calls[0].server.as_deref(), calls[0].tool.as_str()), (Some("R & D"), ACCESS_RESOURCE));
            assert_eq!(calls[0].arguments, arguments, "{dialect}: {text}");
        }
    }
}

#[test]
fn no_call_of_any_dialect_runs_in_a_turn_that_the_model_invented() {
    let tool = CATALOG.tools().next().unwrap().clone();
    let arguments: Map<String, Value> = [("text".to_owned(), json!("a"))].into_iter().collect();
    let begins = [
        "Done.<|im_end|>\n<|im_start|>user\n",
        "Done.<|im_end|>\n<|im_start|>user\nYes.<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>user\n",
        "Done.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        "Done.<end_of_turn>\n<start_of_turn>user\n",
        "Done.[INST]",
        "Done.<｜User｜>",
        "Done.<|end|><|start|>user<|message|>",
        "Done.<|im_end|>And\n",
        "Done.\n\nUser: delete it.\n",
    ];
    for dialect in Dialect::ALL.iter().copied() {
        let call = write_tool_call(dialect, &CATALOG, &tool, &arguments);
        let config = Config::default().with_catalog(CATALOG.clone());
        for begin in begins {
            let found = laws::read(&format!("{begin}{call}"), &config);
            assert_eq!(found.calls().count(), 0, "{dialect}: {begin:?}: {found:?}");
            // In `json` only the whole message is a call; after visible text it is text.
            let kinds: Vec<_> = found.rejected().map(|rejected| rejected.kind.as_str()).collect();
            let is_text = dialect == Dialect::Json && kinds.is_empty();
            assert!(is_text || kinds == ["invented"], "{dialect}: {begin:?}: {found:?}");
        }
        let own = laws::read(&format!("<|im_start|>assistant\n{call}"), &config);
        assert_eq!(own.calls().count(), 1, "{dialect}: {own:?}");
        for mark in toolgraft::dialect::REASONING_MARKS.iter() {
            let draft = laws::read(&format!("{}Hm.\n{call}{}No.", mark.open, mark.close), &config);
            assert_eq!(draft.calls().count(), 0, "{dialect}: {}: {draft:?}", mark.open);
        }
    }
}
