//! async-openai: a call and its result, whole and streamed.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    CreateChatCompletionRequest, CreateChatCompletionResponse, CreateChatCompletionStreamResponse,
};
use futures::StreamExt;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// The message of an answer in the interface's own form.
async fn ask(client: &Client<OpenAIConfig>, name: &str, messages: &[Value], streams: bool) -> Result<Value, Failure> {
    let request = json!({"model": name, "messages": messages, "tools": [{"type": "function", "function": {
        "name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }}]});
    let request: CreateChatCompletionRequest = serde_json::from_value(request)?;
    if !streams {
        let answer: CreateChatCompletionResponse = client.chat().create(request).await?;
        return Ok(serde_json::to_value(&answer.choices[0].message)?);
    }
    let mut chunks = client.chat().create_stream(request).await?;
    let (mut content, mut call) = (String::new(), Value::Null);
    while let Some(chunk) = chunks.next().await {
        let chunk: CreateChatCompletionStreamResponse = chunk?;
        let chunk = serde_json::to_value(&chunk)?;
        let delta = &chunk["choices"][0]["delta"];
        content.push_str(delta["content"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            match call["function"]["arguments"].as_str().map(str::to_owned) {
                None => call = json!({"id": piece["id"], "type": "function", "function": piece["function"]}),
                Some(text) => {
                    let more = piece["function"]["arguments"].as_str().unwrap_or_default();
                    call["function"]["arguments"] = format!("{text}{more}").into();
                }
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !call.is_null() {
        message["tool_calls"] = json!([call]);
    }
    Ok(message)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let config = OpenAIConfig::new().with_api_base(std::env::var("TOOLGRAFT_URL")?).with_api_key("none");
    let client = Client::with_config(config);
    let mut done = 0;
    for (case, city) in [("call", "Oslo \"east\""), ("field", "Oslo"), ("damaged", "Oslo")] {
        for size in [1, 7, 0] {
            for streams in [false, true] {
                let name = format!("{case}@{size}@rust{streams}");
                let mut messages = vec![json!({"role": "user", "content": "What is the weather?"})];
                let message = ask(&client, &name, &messages, streams).await?;
                let call = &message["tool_calls"][0];
                let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap_or("null"))?;
                if arguments != json!({"city": city}) {
                    return Err(format!("{name}: {message}").into());
                }
                done += 1;
                if case == "damaged" {
                    continue;
                }
                let id = call["id"].clone();
                messages
                    .extend([message.clone(), json!({"role": "tool", "tool_call_id": id, "content": "-3 degrees"})]);
                let answer = ask(&client, &name, &messages, streams).await?;
                if !answer["content"].as_str().unwrap_or_default().contains("old.") {
                    return Err(format!("{name}: {answer}").into());
                }
                done += 1;
            }
        }
    }
    println!("{done} answers");
    Ok(())
}
