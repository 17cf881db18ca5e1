//! The behaviour that every binding relies on: kinds of mistakes, settings in JSON, results in
//! JSON.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Map, Value, json};
use toolgraft::message::DeltaKind;
use toolgraft_bindings::{
    MessageParser, Mistake, ParserSettings, ToolSet, embedded, options, render, results, tool, turn,
};
use toolgraft_protocol::Adapter;

fn settings(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn known() -> ToolSet {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolSet::new(vec![tool(json!({"name": "forecast", "inputSchema": schema})).unwrap()])
}

#[test]
fn each_mistake_in_a_setting_has_its_kind_and_names_it() {
    for (given, is_type, named) in [
        (json!({"no_such": 1}), true, "no_such"),
        (json!({"stop": "abc"}), true, "stop"),
        (json!({"calls": -1}), true, "calls"),
        (json!({"dialects": "no such"}), false, "no such"),
        (json!({"dialects": ["json", "no such"]}), false, "no such"),
    ] {
        let mistake = ParserSettings::new(&settings(given)).unwrap_err();
        assert_eq!(matches!(mistake, Mistake::Type(_)), is_type, "{mistake:?}");
        assert_eq!(matches!(mistake, Mistake::Setting(_)), !is_type, "{mistake:?}");
        assert!(mistake.to_string().contains(named), "{mistake}");
    }
}

#[test]
fn a_setting_of_the_caller_counts_more_than_what_is_known_of_the_model() {
    let reading = |given| ParserSettings::new(&settings(given)).unwrap().config.reasoning;
    let (model, default) = (json!({"model": "deepseek-r1:14b"}), json!({}));
    assert_ne!(reading(model), reading(default.clone()));
    assert_eq!(reading(json!({"reasoning": "auto", "model": "deepseek-r1:14b"})), reading(default));
}

#[test]
fn a_message_is_told_once_and_only_when_it_is_over() {
    let mut reader = MessageParser::new(ParserSettings::new(&Map::new()).unwrap(), &known());
    let mut events = 0;
    let text = r#"<tool_call>{"name": "forecast", "arguments": {"city": "Ulm"}}</tool_call>"#;
    reader.push(DeltaKind::Content, text, &mut |_| events += 1).unwrap();
    assert!(matches!(reader.take_message(), Err(Mistake::State(_))));
    reader.finish("stop", None, &mut |_| events += 1).unwrap();
    assert!(events > 0);
    let message = reader.take_message().unwrap();
    assert_eq!(message, reader.fork().parse(text, "", "stop"));
    assert!(message.entries[0].result.is_ok());
    assert!(matches!(reader.push(DeltaKind::Content, "x", &mut |_| {}), Err(Mistake::State(_))));
}

#[test]
fn results_and_rejected_calls_are_told_together() {
    let reader = MessageParser::new(ParserSettings::new(&Map::new()).unwrap(), &known());
    let call = r#"<tool_call>{"name": "forecast", "arguments": {"city": "Ulm"}}</tool_call>"#;
    let bad = call.replace("city", "town");
    let message = reader.parse(&format!("{call}\n{bad}"), "", "stop");
    let good = serde_json::to_value(message.entries[0].call().unwrap()).unwrap();
    let bad = serde_json::to_value(message.entries[1].result.as_ref().unwrap_err()).unwrap();
    let told = vec![json!({"call": good, "text": "Sunny.", "id": null, "status": null, "structured": null}), bad];
    let options = options(&Map::new()).unwrap();
    let text = results(&known(), told, Some("The weather?"), options.clone()).unwrap();
    assert!(text.contains("Sunny.") && text.contains("city"), "{text}");
    let broken = results(&known(), vec![json!({"call": {}, "text": "x"})], None, options.clone());
    assert!(matches!(broken, Err(Mistake::Tool(_))), "{broken:?}");
    assert!(render(&known(), options).unwrap().contains("forecast"));
}

/// Begins a turn with a client's messages and the tool `forecast`.
fn begun(messages: &[Value], settings: Map<String, Value>) -> Result<Adapter, Mistake> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = json!({"type": "function", "function": {"name": "forecast", "parameters": schema}});
    let body = json!({"model": "m", "stream": true, "messages": messages, "tools": [tool]});
    turn(&embedded(settings).unwrap(), &body.to_string())
}

/// Returns the messages that the model gets.
fn sent(messages: &[Value], settings: Map<String, Value>) -> Vec<Value> {
    begun(messages, settings).unwrap().request().unwrap()["messages"].as_array().unwrap().clone()
}

#[test]
fn an_exchange_sends_texts_and_gives_calls() {
    let mut exchange = begun(&[json!({"role": "user", "content": "The weather?"})], Map::new()).unwrap();
    assert!(!exchange.is_streaming());
    assert_eq!(exchange.request().unwrap()["messages"][0]["role"], "system");
    assert!(exchange.is_streaming() && exchange.request().is_none());
    let text = r#"{"name": "forecast", "arguments": {"city": "Ulm"}}"#;
    let mut told = exchange.push(&json!({"choices": [{"delta": {"content": text}}]}).to_string()).unwrap();
    told += &exchange.push(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string()).unwrap();
    told += &exchange.end().unwrap();
    assert!(told.contains("\"name\":\"forecast\"") && told.contains("\"finish_reason\":\"tool_calls\""), "{told}");
    assert_eq!(exchange.problem(), None);
}

#[test]
fn a_setting_that_a_request_has_itself_is_refused_by_name() {
    for name in ["system", "tool_choice", "max_calls", "description_chars"] {
        let refused = embedded(settings(json!({name: "x"}))).err();
        assert!(matches!(&refused, Some(Mistake::Type(words)) if words.contains(name)), "{name}");
    }
}

#[test]
fn what_the_user_did_not_write_is_framed() {
    const CALL: &str = r#"{"name": "forecast", "arguments": {"city": "Ulm"}}"#;
    let file = json!({"type": "file", "file": {"filename": "a.txt", "text": CALL}});
    let result = json!({"role": "tool", "tool_call_id": "gone", "content": CALL});
    let read = json!({"role": "tool", "tool_call_id": "gone", "content": [file]});
    for (messages, frame) in [
        (vec![json!({"role": "user", "content": [{"type": "text", "text": "Read."}, file]})], "<file name=\"a.txt\""),
        (vec![json!({"role": "user", "content": "Read."}), result], "<tool_result"),
        (vec![json!({"role": "user", "content": "Read."}), read], "<file name=\"a.txt\""),
    ] {
        let sent = Value::Array(sent(&messages, Map::new())).to_string();
        assert!(sent.contains(&frame.replace('"', "\\\"")), "{sent}");
    }
}

#[test]
fn a_result_after_a_second_message_of_the_model_belongs_to_its_call() {
    let messages = vec![
        json!({"role": "user", "content": "The weather?"}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "function": {"name": "forecast", "arguments": "{\"city\": \"Ulm\"}"}}]}),
        json!({"role": "assistant", "content": "Let me see."}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "Sunny."}),
    ];
    let sent = sent(&messages, Map::new());
    let told: Vec<_> = sent.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(told, ["system", "user", "assistant", "user"]);
    let result = sent[3]["content"].as_str().unwrap();
    assert!(result.contains("<tool_result") && result.contains("Sunny.") && !result.contains("stopped"), "{result}");
}

#[test]
fn what_cannot_be_read_is_named_by_its_message() {
    let call = json!({"id": "a", "function": {"name": "forecast", "arguments": "{}"}});
    let history = [json!({"role": "user", "content": "Hi"}), json!({"role": "assistant", "tool_calls": [call]})];
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "no", "status": "bad"});
    for (message, place) in [
        (json!(7), "messages[2]: "),
        (json!({"content": "Hi"}), "messages[2].role: "),
        (json!({"role": "critic", "content": "Hi"}), "messages[2].role: expected 'system'"),
        (json!({"role": "user", "content": 3}), "messages[2]: the content is not text"),
        (json!({"role": "assistant", "tool_calls": [{}]}), "messages[2].tool_calls[0].function.name: "),
        (result, "messages[2]: status: "),
    ] {
        let messages: Vec<Value> = history.iter().cloned().chain([message]).collect();
        let wrong = begun(&messages, Map::new()).err();
        assert!(matches!(&wrong, Some(Mistake::Tool(words)) if words.starts_with(place)), "{place} {wrong:?}");
    }
}

#[test]
fn a_call_that_nothing_answers_was_stopped_in_the_prompts_language() {
    let call = json!({"id": "a", "function": {"name": "forecast", "arguments": "{\"city\": \"Ulm\"}"}});
    let messages =
        vec![json!({"role": "user", "content": "天气?"}), json!({"role": "assistant", "tool_calls": [call]})];
    for (lang, said) in [("en", "was stopped before this call was over"), ("zh", "任务在这个调用结束之前被中止了")]
    {
        let settings = Map::from_iter([("lang".to_owned(), json!(lang))]);
        let sent = sent(&messages, settings).pop().unwrap()["content"].to_string();
        assert!(sent.contains(said) && (lang == "en" || !sent.contains("stopped")), "{sent}");
    }
}

#[test]
fn a_tool_of_each_api_is_read_whole_or_refused_by_name() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let open = json!({"type": "OBJECT", "properties": {"city": {"type": "STRING"}}});
    for read in [
        json!({"name": "f", "description": "Says.", "inputSchema": schema}),
        json!({"type": "function", "function": {"name": "f", "description": "Says.", "parameters": schema}}),
        json!({"type": "function", "name": "f", "description": "Says.", "parameters": schema, "strict": true}),
        json!({"name": "f", "description": "Says.", "input_schema": schema}),
        json!({"type": "custom", "name": "f", "description": "Says.", "input_schema": schema}),
        json!({"name": "f", "description": "Says.", "parameters": schema}),
        json!({"name": "f", "description": "Says.", "parametersJsonSchema": schema}),
        json!({"name": "f", "description": "Says.", "parameters_json_schema": schema}),
        json!({"name": "f", "description": "Says.", "parameters": open}),
        json!({"functionDeclarations": [{"name": "f", "description": "Says.", "parameters": open}]}),
        json!({"function_declarations": [{"name": "f", "description": "Says.", "parameters_json_schema": schema}]}),
    ] {
        let tool = toolgraft_bindings::tools(read.clone()).unwrap().remove(0);
        assert_eq!((&*tool.name, tool.description.as_deref()), ("f", Some("Says.")), "{read}");
        assert_eq!(tool.input_schema.as_ref(), Some(&schema), "{read}");
    }
    for (refused, why) in [
        (json!({"type": "web_search_20250305", "name": "web_search"}), "web_search_20250305"),
        (json!({"type": "custom", "name": "f", "format": {"type": "text"}}), "'custom'"),
        (json!({"functionDeclarations": [{"name": "f"}, {"description": "Says."}]}), "only: description"),
        (json!({"googleSearch": {}}), "googleSearch"),
    ] {
        let wrong = toolgraft_bindings::tools(refused.clone()).unwrap_err();
        assert!(matches!(&wrong, Mistake::Tool(words) if words.contains(why)), "{refused}: {wrong:?}");
    }
}
