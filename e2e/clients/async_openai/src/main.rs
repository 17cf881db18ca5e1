//! async-openai: every case of cases.json, as a whole and as a stream. The client must get the
//! right message, or an error of its own that explains the failure.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    CreateChatCompletionRequest, CreateChatCompletionResponse, CreateChatCompletionStreamResponse,
};
use futures::StreamExt;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

const CASES: &str = include_str!("../../cases.json");

fn tools() -> Value {
    let weather = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    json!([
        {"type": "function", "function": {"name": "weather", "parameters": weather}},
        {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
    ])
}

/// Returns the message of an answer in the form of the API, and its finish reason.
async fn ask(
    client: &Client<OpenAIConfig>,
    name: &str,
    messages: &[Value],
    streams: bool,
) -> Result<(Value, Value), Failure> {
    let request = json!({"model": name, "messages": messages, "tools": tools()});
    let request: CreateChatCompletionRequest = serde_json::from_value(request)?;
    if !streams {
        let answer: CreateChatCompletionResponse = client.chat().create(request).await?;
        let choice = serde_json::to_value(&answer.choices[0])?;
        return Ok((choice["message"].clone(), choice["finish_reason"].clone()));
    }
    let mut chunks = client.chat().create_stream(request).await?;
    let (mut content, mut calls, mut reason) = (String::new(), Vec::<Value>::new(), Value::Null);
    while let Some(chunk) = chunks.next().await {
        let chunk: CreateChatCompletionStreamResponse = chunk?;
        let chunk = serde_json::to_value(&chunk)?;
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        content.push_str(delta["content"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(piece["index"].as_u64().ok_or("a piece without an index")?)?;
            match calls.get_mut(index) {
                None => {
                    calls.push(json!({"id": piece["id"], "type": "function", "function": piece["function"]}));
                }
                Some(call) => {
                    let text = call["function"]["arguments"].as_str().unwrap_or_default().to_owned();
                    let more = piece["function"]["arguments"].as_str().unwrap_or_default();
                    call["function"]["arguments"] = format!("{text}{more}").into();
                }
            }
        }
        if choice["finish_reason"].is_string() {
            reason = choice["finish_reason"].clone();
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    Ok((message, reason))
}

/// Runs a case to its last answer. Returns the number of answers.
async fn run(client: &Client<OpenAIConfig>, name: &str, expect: &Value, streams: bool) -> Result<usize, Failure> {
    let mut messages = vec![json!({"role": "user", "content": "What is the weather?"})];
    let asked = ask(client, name, &messages, streams).await;
    if let Some(words) = expect["error"].as_str() {
        return match asked {
            Ok(answer) => Err(format!("no error came, but {answer:?}").into()),
            Err(error) if format!("{error} {error:?}").contains(words) => Ok(1),
            Err(error) => Err(format!("it does not say {words}: {error} {error:?}").into()),
        };
    }
    let (message, reason) = asked?;
    let mut calls = Vec::new();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().ok_or("arguments are a text")?;
        calls.push(json!([call["function"]["name"], serde_json::from_str::<Value>(arguments)?]));
    }
    let content = message["content"].as_str().unwrap_or_default();
    if (&json!(content), &json!(calls), &reason) != (&expect["content"], &expect["calls"], &expect["finish"]) {
        return Err(format!("{message}, {reason}, and should be {expect}").into());
    }
    let Some(then) = expect["then"].as_str() else { return Ok(1) };
    messages.push(message.clone());
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "-3 degrees"}));
    }
    let (answer, _) = ask(client, name, &messages, streams).await?;
    match answer["content"] == then {
        true => Ok(2),
        false => Err(format!("{answer}, and should be {then}").into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let config = OpenAIConfig::new().with_api_base(std::env::var("TOOLGRAFT_URL")?).with_api_key("none");
    let client = Client::with_config(config);
    let cases: Value = serde_json::from_str(CASES)?;
    let mut done = 0;
    for (case, script) in cases.as_object().ok_or("cases are an object")? {
        let sizes = if script["rounds"][0]["content"].is_string() { &[1, 7, 0][..] } else { &[0] };
        for size in sizes {
            for streams in [false, true] {
                let name = format!("{case}@{size}@rust{streams}");
                let ran = run(&client, &name, &script["expect"], streams).await;
                done += ran.map_err(|error| format!("{name}: {error}"))?;
            }
        }
    }
    println!("{done} answers");
    Ok(())
}
