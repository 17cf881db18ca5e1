//! Tests that a result of a client's tool reaches the model byte for byte in every interface, and
//! comes back in the arguments of a model that repeats it.

use serde_json::{Value, json};
use toolgraft::Dialect;
use toolgraft::dialect::{TOKEN_FAMILIES, write_call};
use toolgraft::outcome::{break_tokens, control_tokens};
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen};
use toolgraft_testkit::nasty::NASTY;

use super::http::{read, serve};

/// An interface: its path, and a function that makes the request of a client whose tool returned
/// this text.
type Interface = (&'static str, fn(&str) -> Value);

const INTERFACES: [Interface; 4] = [
    ("/v1/chat/completions", chat),
    ("/v1/responses", responses),
    ("/v1/messages", messages),
    ("/v1beta/models/m:generateContent", gemini),
];

fn schema() -> Value {
    json!({"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]})
}

fn chat(said: &str) -> Value {
    json!({"model": "m", "tools": [{"type": "function", "function": {"name": "write", "parameters": schema()}}], "messages": [
        {"role": "system", "content": said}, {"role": "user", "content": said},
        {"role": "assistant", "content": said, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "write", "arguments": json!({"content": said}).to_string()}}]},
        {"role": "tool", "tool_call_id": "c1", "content": said},
    ]})
}

fn responses(said: &str) -> Value {
    json!({"model": "m", "tools": [{"type": "function", "name": "write", "parameters": schema()}], "instructions": said, "input": [
        {"type": "message", "role": "user", "content": said}, {"type": "message", "role": "assistant", "content": said},
        {"type": "function_call", "call_id": "c1", "name": "write", "arguments": json!({"content": said}).to_string()},
        {"type": "function_call_output", "call_id": "c1", "output": said},
    ]})
}

fn messages(said: &str) -> Value {
    json!({"model": "m", "max_tokens": 500, "tools": [{"name": "write", "input_schema": schema()}], "system": said, "messages": [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [{"type": "text", "text": said}, {"type": "tool_use", "id": "c1", "name": "write", "input": {"content": said}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": said}]}]},
    ]})
}

fn gemini(said: &str) -> Value {
    json!({"tools": [{"functionDeclarations": [{"name": "write", "parameters": schema()}]}],
        "systemInstruction": {"parts": [{"text": said}]}, "contents": [
        {"role": "user", "parts": [{"text": said}]},
        {"role": "model", "parts": [{"text": said}, {"functionCall": {"name": "write", "args": {"content": said}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "write", "response": {"result": said}}}]},
    ]})
}

fn last(seen: &Seen) -> &str {
    seen.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

/// Returns the text of the last result, in the frame that the message begins with.
fn framed(message: &str) -> &str {
    let (_, after) = message.split_once(" end=\"").unwrap();
    let (code, after) = after.split_once("\">\n").unwrap();
    // An empty result has no line.
    after.split_once(&format!("\n</tool_result {code}>")).map_or("", |(text, _)| text)
}

/// Returns the content that the client is told to write.
fn written(answer: &Value) -> String {
    let arguments = |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
    let first = |list: &Value, of: &str| {
        let found = list.as_array().unwrap().iter().find(|item| item.get(of).is_some());
        found.unwrap_or_else(|| panic!("{answer:#}"))[of].clone()
    };
    let arguments = match answer {
        _ if answer.get("choices").is_some() => {
            arguments(&answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
        }
        _ if answer.get("output").is_some() => arguments(&first(&answer["output"], "arguments")),
        _ if answer.get("candidates").is_some() => {
            first(&answer["candidates"][0]["content"]["parts"], "functionCall")["args"].clone()
        }
        _ => first(&answer["content"], "input"),
    };
    arguments["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_result_that_is_repeated_is_the_argument() {
    let endpoint = Endpoint::answer(|seen, _| {
        // A further argument, since a call equal to the one just answered would not be handed out.
        let shown = json!({"content": framed(last(seen)), "again": true});
        Reply::text(&write_call(Dialect::UseMcpTool, None, "write", shown.as_object().unwrap()))
    });
    let served = serve(&endpoint, |config| config).await;
    let mut wrong = Vec::new();
    for (path, request) in INTERFACES {
        for text in NASTY {
            let (status, answer) = read(served.post(path, &request(text)).send().await.unwrap()).await;
            assert_eq!(status, 200, "{path} {text:?}: {answer:#}");
            let seen = endpoint.take_seen();
            let told = last(&seen[0]);
            assert!(told.starts_with("<tool_result end="), "that it went well is not said: {told}");
            if framed(told) != break_tokens(text) || written(&answer) != *text {
                wrong.push(format!("{path} {text:?}: {told}, {answer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn no_text_of_a_client_holds_a_control_token() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Well."));
    let served = serve(&endpoint, |config| config).await;
    let tokens: Vec<&str> = control_tokens().collect();
    assert!(tokens.len() > TOKEN_FAMILIES.len());
    let all = tokens.join(" x ");
    for (path, request) in INTERFACES {
        let mut asked = request(&all);
        // Titles, descriptions, names and values of parameters.
        let hostile = json!({"type": "object", "title": all, "description": all, "properties": {
            &all: {"type": "string", "title": all, "description": all, "enum": [all], "default": all},
            "list": {"type": "array", "items": {"enum": [all]}}}});
        let place = match path {
            "/v1/chat/completions" => "/tools/0/function/parameters",
            "/v1/responses" => "/tools/0/parameters",
            "/v1/messages" => "/tools/0/input_schema",
            _ => "/tools/0/functionDeclarations/0/parametersJsonSchema",
        };
        let (tool, key) = place.rsplit_once('/').unwrap();
        let tool = asked.pointer_mut(tool).unwrap();
        tool["description"] = json!(all);
        tool.as_object_mut().unwrap().remove("parameters");
        tool[key] = hostile;
        if path == "/v1/chat/completions" {
            let messages = asked["messages"].as_array_mut().unwrap();
            messages.iter_mut().for_each(|message| message["name"] = json!(all));
            let file = json!({"type": "file", "file": {"filename": all, "file_data": "data:text/plain;base64,QQ=="}});
            messages.extend([
                json!({"role": "user", "content": [file]}),
                json!({"role": "assistant", "content": "No.", "refusal": all, "annotations": [{"title": all}]}),
                json!({"role": "user", "content": "Go on."}),
            ]);
        }
        let (status, answer) = read(served.post(path, &asked).send().await.unwrap()).await;
        assert_eq!(status, 200, "{path}: {answer:#}");
        let sent = endpoint.take_seen()[0].body["messages"].to_string();
        let sent = sent.replace("\\\"", "\"");
        let whole: Vec<&&str> = tokens.iter().filter(|token| sent.contains(**token)).collect();
        assert!(whole.is_empty(), "{path}: {whole:?}");
    }
}
