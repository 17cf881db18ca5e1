//! Tests of images and sound in tools' results, in each interface.

use serde_json::{Map, Value, json};
use toolgraft::message::{Image, Reads};
use toolgraft::outcome::MEDIA_EVENT;
use toolgraft::tools::Decision;
use toolgraft::{Functions, Outcome, Policy, Tool};
use toolgraft_serve::Config;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::http::{read, request, serve};

/// The smallest possible image.
const DOT: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
const DATA: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";
const MP3: &str = "SUQzBAAAAAAAAA==";

fn part() -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{DATA}")}})
}

fn sound() -> Value {
    json!({"type": "input_audio", "input_audio": {"data": MP3, "format": "mp3"}})
}

/// Returns the parts other than text of the message with the results.
fn shown(endpoint: &Endpoint, at: usize) -> Vec<Value> {
    let seen = endpoint.seen();
    let told = seen[at].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(told["role"], "user");
    let Value::Array(parts) = &told["content"] else { return Vec::new() };
    assert!(parts[0]["text"].as_str().unwrap().contains("a dot"), "{told:#}");
    parts.iter().filter(|part| part["type"] != "text").cloned().collect()
}

#[tokio::test]
async fn a_client_s_results_show_their_images_in_each_interface_byte_for_byte() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Black."));
    let served = serve(&endpoint, |config| config).await;
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}});
    let text = json!({"type": "text", "text": "a dot"});
    let mut chat = request(false);
    chat["messages"] = json!([{"role": "user", "content": "Look."}, {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [text, part(), sound()]}]);

    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let messages = json!({"model": "m", "max_tokens": 100, "tools": [{"name": "weather", "input_schema": schema}], "messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [text,
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": DATA}}]}]}]});

    let responses = json!({"model": "m", "tools": [{"type": "function", "name": "weather", "parameters": schema}], "input": [
        {"role": "user", "content": "Look."},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a dot"},
            {"type": "input_image", "image_url": format!("data:image/gif;base64,{DATA}")}]}]});

    let gemini = json!({"tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": schema}]}], "contents": [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "a dot"}, "parts": [
            {"inlineData": {"mimeType": "image/gif", "data": DATA}}, {"inlineData": {"mimeType": "audio/mp3", "data": MP3}}]}}]}]});

    for (at, (path, body, expected)) in [
        ("/v1/chat/completions", chat, vec![part(), sound()]),
        ("/v1/messages", messages, vec![part()]),
        ("/v1/responses", responses, vec![part()]),
        ("/v1beta/models/m:generateContent", gemini, vec![part(), sound()]),
    ]
    .into_iter()
    .enumerate()
    {
        let (status, answer) = read(served.post(path, &body).send().await.unwrap()).await;
        assert_eq!(status, 200, "{path}: {answer:#}");
        assert_eq!(shown(&endpoint, at), expected, "{path}");
    }
}

/// Adds a toolbox with a tool that returns a picture and sound.
fn with_camera(config: Config) -> Config {
    let shoot = |_: Map<String, Value>| async {
        let image = Image::new(DOT).map_err(|error| error.to_string())?;
        let sound = json!({"kind": "audio", "mimeType": "audio/mpeg", "data": MP3});
        let outcome = Outcome::result("a dot [image image/gif, 43 bytes]").with_image(&image);
        Ok::<_, String>(outcome.with_event(MEDIA_EVENT, sound))
    };
    let functions = Functions::new("camera").with(Tool::new("shoot"), shoot);
    config.with_toolbox(functions, false).with_policy(Policy::new(Decision::Deny).allow("camera.shoot"))
}

/// Returns what the model was shown of the camera's result, with an endpoint that reports these
/// modalities.
async fn shown_of_the_camera(modalities: Value, set: impl FnOnce(Config) -> Config) -> Vec<Value> {
    let props = json!({"default_generation_settings": {"n_ctx": 8192}, "chat_template": "", "modalities": modalities});
    let endpoint = Endpoint::setup().serves("/props", props).answer(|_, number| match number {
        0 => Reply::text(&mcp_call("camera", "shoot", &json!({}))),
        _ => Reply::text("Black."),
    });
    let served = serve(&endpoint, |config| set(with_camera(config))).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "Black.");
    let told = endpoint.seen()[1].body["messages"].to_string();
    assert!(told.contains("[image image/gif, 43 bytes]"), "the note stands there in any case");
    shown(&endpoint, 1)
}

#[tokio::test]
async fn pictures_of_the_servers_own_tools_go_to_a_model_that_reads_them_and_to_no_other() {
    let (asked, images) = (|config| config, |config: Config| config.with_reads(Reads::default().with_images(true)));
    assert_eq!(shown_of_the_camera(json!({}), images).await, [part()]);
    assert_eq!(shown_of_the_camera(json!({"vision": false, "audio": false}), asked).await, [Value::Null; 0]);
    // The endpoint's report about the model counts as well, unless media are kept from the model.
    let both = json!({"vision": true, "audio": true});
    assert_eq!(shown_of_the_camera(both.clone(), asked).await, [part(), sound()]);
    assert_eq!(shown_of_the_camera(json!({"audio": true}), asked).await, [sound()]);
    assert_eq!(shown_of_the_camera(both, Config::without_media).await, [Value::Null; 0]);
}
