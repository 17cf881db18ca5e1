//! Text that the prompt escaped is restored in the arguments.

use super::*;
use crate::outcome::{Neutraliser, break_tokens};

const NAMES: &[&str] = &["<think>", "[INST]", "action", "<t>", "<|im_end|>", "TYPE: MCP", "t(x=1)", "a"];

#[test]
fn names_and_values_come_back_as_the_prompt_shows_them() {
    let properties: serde_json::Map<String, Value> =
        NAMES.iter().map(|name| ((*name).to_owned(), json!({"enum": NAMES}))).collect();
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let catalog = Arc::new(Catalog::from_tools([Tool::new("t").with_schema(schema)]));
    let neutraliser = Neutraliser::new(&catalog);
    let validator = Validator::new(catalog);
    let shown = |text: &str| neutraliser.neutralise(text).into_owned();
    for name in NAMES {
        let call = Call::new(Dialect::UseMcpTool, "t", json!({shown(name): shown(name)}));
        let once = validator.check(call, "").unwrap();
        assert_eq!(once.arguments, json!({*name: name}));
        assert_eq!(once.repairs.contains(&Repair::TokensRestored), shown(name) != *name, "{name}");
        assert_eq!(validator.check(once.clone(), "").unwrap(), once, "a second time");
    }
}

#[test]
fn a_text_that_was_broken_before_is_restored_once() {
    let validator = Validator::new(Arc::new(Catalog::default()));
    let text = "<\u{2060}|im_end|> a\u{2060}b <|im_end|>";
    let call = Call::new(Dialect::Json, "t", json!({"list": [break_tokens(text)]}));
    let once = validator.check(call, "").unwrap();
    assert_eq!(once.arguments, json!({"list": [text]}));
    assert_eq!(validator.check(once.clone(), "").unwrap(), once);
    let escaped = Call {
        raw_arguments: "{\"a\": \"<\\u2060|x|>\"}".into(),
        ..Call::new(Dialect::Json, "t", json!({"a": "<\u{2060}|x|>"}))
    };
    assert_eq!(validator.check(escaped, "").unwrap().arguments, json!({"a": "<|x|>"}));
}
