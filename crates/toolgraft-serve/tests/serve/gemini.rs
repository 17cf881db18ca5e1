//! Tests of Gemini's interface with an endpoint that has Chat Completions only.

use std::time::Duration;

use serde_json::{Value, json};
use toolgraft::Dialect;
use toolgraft::dialect::write_call;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops, thinks, usage};

use super::http::{Served, call, events, read, serve};

const WHOLE: &str = "/v1beta/models/org/gemma3:12b:generateContent";
const STREAM: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

fn request() -> Value {
    json!({
        "contents": [{"role": "user", "parts": [{"text": "Weather in Oslo?"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {"maxOutputTokens": 500, "temperature": 0.5, "topK": 3, "stopSequences": ["END"], "candidateCount": 1},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "tools": [{"functionDeclarations": [{"name": "weather", "description": "Weather.", "parameters":
            {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}}]}],
    })
}

fn with(change: Value) -> Value {
    let mut asked = request();
    asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    asked
}

async fn ask(served: &Served, path: &str, body: &Value) -> (u16, Value) {
    let (status, body) = read(served.post(path, body).send().await.unwrap()).await;
    (status.as_u16(), body)
}

async fn pieces(served: &Served, body: &Value) -> Vec<Value> {
    let response = served.post(STREAM, body).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    assert!(
        lines.clone().all(|line| line.starts_with("data: ")),
        "Google's client takes any other line for data: {text}"
    );
    events(&text).0.iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn scripted() -> Endpoint {
    Endpoint::answer(|_, _| {
        let text = format!("I look.\n\n{}", call());
        Reply::events(&[thinks("Hm."), says(&text), stops("stop"), usage(20, 7)]).done()
    })
}

#[tokio::test]
async fn text_and_call_are_parts_of_a_candidate() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let (status, answer) = ask(&served, WHOLE, &request()).await;
    assert_eq!(status, 200, "{answer:#}");
    let candidate = &answer["candidates"][0];
    let [text, call] = &candidate["content"]["parts"].as_array().unwrap()[..] else { panic!("{answer:#}") };
    assert_eq!(*text, json!({"text": "I look."}));
    assert_eq!(
        (&call["functionCall"]["name"], &call["functionCall"]["args"]),
        (&json!("weather"), &json!({"city": "Oslo"}))
    );
    assert_eq!((&candidate["finishReason"], &candidate["content"]["role"]), (&json!("STOP"), &json!("model")));
    assert!(answer["usageMetadata"]["totalTokenCount"].as_u64().unwrap() > 0);
    let body = &endpoint.seen()[0].body;
    assert_eq!((&body["model"], &answer["modelVersion"]), (&json!("org/gemma3:12b"), &json!("org/gemma3:12b")));
    assert_eq!((&body["max_tokens"], &body["stop"], &body["top_k"]), (&json!(500), &json!(["END"]), &json!(3)));
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n# Tools"), "{body:#}");
    for field in ["contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "n"] {
        assert_eq!(body.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn the_other_spelling_is_the_same() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request();
    for (from, to) in [("systemInstruction", "system_instruction"), ("generationConfig", "generation_config")] {
        asked[to] = asked.as_object_mut().unwrap().remove(from).unwrap();
    }
    asked["generation_config"]["max_output_tokens"] = asked["generation_config"]["maxOutputTokens"].take();
    asked["tools"] =
        json!([{"function_declarations": [{"name": "weather", "parameters_json_schema": {"type": "object"}}]}]);
    for body in [request(), asked] {
        ask(&served, WHOLE, &body).await;
    }
    let seen = endpoint.seen();
    for body in [&seen[0].body, &seen[1].body] {
        assert_eq!(body["max_tokens"], 500);
        assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n# Tools"));
    }
}

#[tokio::test]
async fn a_stream_has_a_piece_for_each_part_and_the_reason_at_the_end() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(1))).await;
    let asked = with(json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}));
    let pieces = pieces(&served, &asked).await;
    let parts: Vec<&Value> = pieces.iter().map(|piece| &piece["candidates"][0]["content"]["parts"][0]).collect();
    let [thought, text, call, end] = parts[..] else { panic!("{pieces:#?}") };
    assert_eq!(*thought, json!({"text": "Hm.", "thought": true}));
    assert_eq!((&text["text"], &call["functionCall"]["args"]["city"]), (&json!("I look."), &json!("Oslo")));
    assert_eq!((&end["text"], &pieces[3]["candidates"][0]["finishReason"]), (&json!(""), &json!("STOP")));
    assert!(pieces[3]["usageMetadata"]["candidatesTokenCount"].as_u64().unwrap() > 0);
    assert!(pieces[..3].iter().all(|piece| piece["candidates"][0].get("finishReason").is_none()));
    let without = self::pieces(&served, &request()).await;
    assert_eq!(without[0]["candidates"][0]["content"]["parts"][0], json!({"text": "I look."}));
}

#[tokio::test]
async fn the_history_of_parts_is_told_in_the_dialect() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Cold."));
    let served = serve(&endpoint, |config| config).await;
    let asked = with(json!({"contents": [
        {"role": "user", "parts": [{"text": "Look:"}, {"inlineData": {"mimeType": "image/png", "data": "-_8="}}]},
        {"role": "model", "parts": [{"text": "Hm.", "thought": true}, {"text": "I "}, {"text": "look.", "thoughtSignature": "s"},
            {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}, {"functionCall": {"id": "c2", "name": "weather", "args": {"city": "Rome"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c2", "name": "weather", "response": {"error": "no such city"}}},
            {"functionResponse": {"name": "weather", "response": {"result": "-3 degrees"}}}, {"text": "And?"}]},
    ]}));
    let (status, answer) = ask(&served, WHOLE, &asked).await;
    assert_eq!((status, &answer["candidates"][0]["content"]["parts"][0]["text"]), (200, &json!("Cold.")), "{answer:#}");
    let told = &endpoint.seen()[0].body["messages"];
    let roles: Vec<&str> = told.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(told[1]["content"][1]["image_url"]["url"], "data:image/png;base64,+/8=", "in the common alphabet");
    let written = told[2]["content"].as_str().unwrap();
    assert!(written.starts_with("I look.\n\n<use_mcp_tool>") && !written.contains("Hm."), "{written}");
    let results = told[3]["content"].as_str().unwrap();
    let places = ["-3 degrees", "id=\"c2\"", "no such city", "And?"].map(|text| results.find(text).expect(text));
    assert!(places.is_sorted(), "in the order of the calls: {results}");
}

#[tokio::test]
async fn mode_names_and_schema_are_held_to() {
    let two = json!([{"functionDeclarations": [request()["tools"][0]["functionDeclarations"][0], {"name": "now"}]}]);
    let mode =
        |mode: &str, names: Value| json!({"functionCallingConfig": {"mode": mode, "allowedFunctionNames": names}});
    let schema = json!({"type": "OBJECT", "properties": {"degrees": {"type": "INTEGER"}}, "required": ["degrees"]});
    let config = json!({"responseMimeType": "application/json", "responseSchema": schema});
    let now = call().replace("weather", "now").replace("{\"city\":\"Oslo\"}", "{}");
    for (asked, replies, expected) in [
        (with(json!({"toolConfig": mode("ANY", json!(null))})), vec!["Sunny.".to_owned(), call()], Some("weather")),
        (with(json!({"tools": two, "toolConfig": mode("ANY", json!(["now"]))})), vec![call(), now], Some("now")),
        (with(json!({"toolConfig": mode("NONE", json!(null))})), vec!["Sunny.".to_owned()], None),
        (with(json!({"generationConfig": config})), vec!["3?".to_owned(), "{\"degrees\": \"3\"}".to_owned()], None),
        (with(json!({"generationConfig": {"responseSchema": schema}})), vec!["{\"degrees\": \"3\"}".to_owned()], None),
    ] {
        let endpoint = Endpoint::start(replies.iter().map(|text| Reply::text(text)));
        let served = serve(&endpoint, |config| config).await;
        let (status, answer) = ask(&served, WHOLE, &asked).await;
        assert_eq!(status, 200, "{answer:#}");
        let parts = answer["candidates"][0]["content"]["parts"].as_array().unwrap();
        let called = parts.iter().find_map(|part| part["functionCall"]["name"].as_str());
        assert_eq!((called, endpoint.seen().len()), (expected, replies.len()), "{answer:#}");
        if asked["generationConfig"].get("responseSchema").is_some() {
            assert_eq!(parts[0]["text"], "{\"degrees\":3}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_had_is_named_in_the_shapes_own_form() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for (change, words) in [
        (json!({"cachedContent": "cachedContents/1"}), "cachedContent: "),
        (
            json!({"tools": [{}, {"functionDeclarations": [{"name": "a"}, {"name": ""}]}]}),
            "tools[1].functionDeclarations[1].name: ",
        ),
        (json!({"tools": [{"functionDeclarations": {"name": "a"}}]}), "tools[0].functionDeclarations: "),
        (json!({"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}}), "toolConfig.functionCallingConfig.mode: "),
        (json!({"generationConfig": {"candidateCount": 2}}), "generationConfig.candidateCount: "),
        (json!({"generationConfig": {"maxOutputTokens": 0}}), "generationConfig.maxOutputTokens: "),
        (json!({"generationConfig": {"responseModalities": ["AUDIO"]}}), "generationConfig.responseModalities: "),
        (json!({"generationConfig": {"responseMimeType": "text/x.enum"}}), "generationConfig.responseMimeType: "),
        (json!({"generationConfig": {"responseLogprobs": true}}), "generationConfig.responseLogprobs: "),
        (json!({"contents": []}), "contents: "),
        (json!({"contents": [{"role": "user", "parts": "Hi"}]}), "contents[0].parts: "),
        (json!({"contents": [{"role": "critic", "parts": []}]}), "contents[0].role: "),
    ] {
        let (status, body) = ask(&served, WHOLE, &with(change.clone())).await;
        let error = &body["error"];
        assert_eq!(
            (status, &error["code"], &error["status"]),
            (400, &json!(400), &json!("INVALID_ARGUMENT")),
            "{change} {body:#}"
        );
        assert!(error["message"].as_str().unwrap().starts_with(words), "{change} {body:#}");
    }
    for (path, status, kind) in [
        ("/v1beta/models/m:embedContent", 404, "NOT_FOUND"),
        ("/v1beta/models/m", 404, "NOT_FOUND"),
        ("/v1beta/files", 404, "NOT_FOUND"),
        ("/v1/models/m:streamGenerateContent", 400, "INVALID_ARGUMENT"),
    ] {
        let (found, body) = ask(&served, path, &request()).await;
        assert_eq!((found, &body["error"]["status"]), (status, &json!(kind)), "{path} {body:#}");
    }
    assert_eq!(endpoint.requests(), 0);
    let endpoint = Endpoint::answer(|_, _| Reply::refused(429, "slow down"));
    let served = serve(&endpoint, |config| config).await;
    let (status, body) = ask(&served, STREAM, &request()).await;
    assert_eq!((status, &body["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")), "{body:#}");
}

#[tokio::test]
async fn a_break_in_mid_stream_is_an_error_object() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("Once upon ")]).end(End::Break));
    let served = serve(&endpoint, |config| config).await;
    let pieces = pieces(&served, &request()).await;
    let last = pieces.last().unwrap();
    assert!(last["error"]["message"].as_str().unwrap().contains("was cut off"), "{last:#}");
    assert_eq!(last.to_string().find("{\"error\""), Some(0), "Google's client knows it by its beginning");
}

#[tokio::test]
async fn tokens_are_counted_without_the_model() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for body in [request(), json!({"generateContentRequest": with(json!({"model": "models/x"}))})] {
        let (status, count) = ask(&served, "/v1beta/models/m:countTokens", &body).await;
        assert_eq!(status, 200, "{count:#}");
        assert!(count["totalTokens"].as_u64().unwrap() > 100, "{count}");
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn a_key_in_the_url_is_a_header_from_the_door_on() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&call()));
    let with_key = |key: &str| format!("{WHOLE}?key={key}&alt=json");
    let served = serve(&endpoint, |config| config).await;
    served.post(&with_key("sk%2Durl"), &request()).send().await.unwrap();
    served.post(WHOLE, &request()).header("x-goog-api-key", "sk-header").send().await.unwrap();
    let seen = endpoint.seen();
    for (request, key) in seen.iter().zip(["Bearer sk-url", "Bearer sk-header"]) {
        assert_eq!((request.header("authorization"), request.header("x-goog-api-key")), (Some(key), None));
        assert_eq!(request.target(), "POST /v1/chat/completions", "no query goes on");
    }
    let served = serve(&endpoint, |config| config.with_api_key("door")).await;
    for (key, status) in [("door", 200), ("doo", 401), ("", 401)] {
        let (found, body) = ask(&served, &with_key(key), &request()).await;
        assert_eq!(found, status, "{body:#}");
    }
    let (_, wrong) = ask(&served, "/v1beta/models/m:nothing?key=sk-secret", &request()).await;
    let page = served.client.get(format!("{}/metrics", served.url)).bearer_auth("door").send().await.unwrap();
    let page = page.text().await.unwrap();
    assert!(page.contains("generate_content"), "{page}");
    assert!(!format!("{wrong}{page}").contains("sk-secret"), "{wrong} {page}");
}

#[tokio::test]
async fn models_are_listed_as_googles_clients_read_them() {
    let endpoint = Endpoint::setup().models(&["a", "org/b:1"]).start([]);
    let served = serve(&endpoint, |config| config).await;
    let get = async |path: &str| read(served.client.get(format!("{}{path}", served.url)).send().await.unwrap()).await;
    let (status, list) = get("/v1beta/models?pageSize=50").await;
    let names: Vec<&Value> = list["models"].as_array().unwrap().iter().map(|model| &model["name"]).collect();
    assert_eq!((status.as_u16(), names), (200, vec![&json!("models/a"), &json!("models/org/b:1")]));
    let (status, model) = get("/v1beta/models/org/b:1").await;
    assert_eq!((status.as_u16(), &model["displayName"]), (200, &json!("org/b:1")));
    let (status, error) = get("/v1beta/models/c").await;
    assert_eq!((status.as_u16(), &error["error"]["status"]), (404, &json!("NOT_FOUND")), "{error}");
}

#[tokio::test]
async fn a_name_of_a_function_may_have_dots_and_colons() {
    let long = "x".repeat(128);
    for dialect in [Dialect::UseMcpTool, Dialect::ToolTag, Dialect::TypeMarker] {
        for name in ["files.read_all", "ns:files.read-2", "a.b.c", &long] {
            let arguments = json!({"city": "Oslo"});
            let text = write_call(dialect, None, name, arguments.as_object().unwrap());
            let endpoint = Endpoint::answer(move |_, _| Reply::text(&text));
            let served = serve(&endpoint, |config| config.with_dialect(dialect)).await;
            let mut asked = request();
            asked["tools"][0]["functionDeclarations"][0]["name"] = json!(name);
            let (status, answer) = ask(&served, WHOLE, &asked).await;
            let call = &answer["candidates"][0]["content"]["parts"][0]["functionCall"];
            assert_eq!(
                (status, &call["name"], &call["args"]),
                (200, &json!(name), &arguments),
                "{dialect:?} {answer:#}"
            );
        }
    }
}
