//! What one request or one answer may take, in counts: never in time.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, says};

use super::http::{read, request, serve};

/// An endpoint that says the same pieces for as long as anybody listens, up to so many bytes.
fn endless(begin: &str, piece: impl Fn(usize) -> Value, bytes: usize) -> Reply {
    let mut events = vec![says(begin)];
    let mut total = 0;
    while total < bytes {
        let event = piece(events.len());
        total += event.to_string().len();
        events.push(event);
    }
    Reply::events(&events).at_once().end(End::Stall)
}

/// A text that never repeats itself.
fn unique(number: usize) -> String {
    let words: Vec<String> =
        (0..200).map(|at| format!("{:x}", (number * 200 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    words.join(" ")
}

#[tokio::test]
async fn a_call_that_repeats_itself_without_end_is_stopped() {
    let begin = "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": \"";
    let endpoint = Endpoint::answer(move |_, _| endless(begin, |_| says("Oslo, "), 8 << 20));
    let served = serve(&endpoint, |config| config).await;
    let (_, answer) = served.chat(&request(false)).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length", "{answer:#}");
    assert_eq!(endpoint.seen().len(), 1);
    // Of what was said, not of what would have been.
    assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() < 50_000, "{answer:#}");
}

#[tokio::test]
async fn a_clients_limit_holds_whatever_the_endpoint_makes_of_it() {
    let begins = ["", "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": \""];
    for (begin, field) in begins.iter().flat_map(|begin| ["content", "reasoning_content"].map(|field| (*begin, field)))
    {
        let endpoint =
            Endpoint::answer(move |_, _| endless(begin, |number| delta(json!({field: unique(number)})), 4 << 20));
        let served = serve(&endpoint, |config| config).await;
        let mut asked = request(false);
        asked["max_tokens"] = json!(100);
        let (_, answer) = served.chat(&asked).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "length", "{field}: {answer:.2000}");
        let said = answer["choices"][0]["message"].to_string().len();
        assert!(said < 20_000, "{field}: {said} bytes for 100 tokens");
        assert_eq!(endpoint.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off_where_no_answer_gets() {
    for field in ["content", "reasoning_content"] {
        let endpoint = Endpoint::answer(move |_, _| {
            endless("", |number| delta(json!({field: unique(number).repeat(10)})), 40 << 20)
        });
        let served = serve(&endpoint, |config| config).await;
        let (_, answer) = served.chat(&request(false)).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "length", "{field}: {:.200}", answer.to_string());
        let said = answer["choices"][0]["message"].to_string().len();
        assert!(said < 10 << 20, "{field}: {said} bytes");
    }
}

#[tokio::test]
async fn a_stream_that_says_nothing_has_an_end() {
    for quiet in [
        "data: {\"choices\": []}\n\n",
        ": ping\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n",
    ] {
        let endpoint = Endpoint::answer(move |_, _| {
            let mut reply = Reply::events(&[]).at_once().end(End::Stall);
            reply.pieces = vec![quiet.repeat((1 << 20) / quiet.len()).into_bytes(); 20];
            reply
        });
        let served = serve(&endpoint, |config| config).await;
        let (status, answer) = served.chat(&request(false)).await;
        assert_eq!(status, 502, "{quiet}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("say nothing"), "{answer:#}");
    }
}

#[tokio::test]
async fn native_calls_without_end_have_one() {
    let piece = json!({"tool_calls": [{"index": 0, "function": {"arguments": "x".repeat(64 << 10)}}]});
    let endpoint = Endpoint::answer(move |_, _| endless("", |_| delta(piece.clone()), 20 << 20));
    let served = serve(&endpoint, |config| config).await;
    let (status, answer) = served.chat(&request(false)).await;
    assert_eq!(status, 502);
    assert!(answer["error"]["message"].as_str().unwrap().contains("calls of more than"), "{answer:#}");
}

/// So many values would take a hundred times their text once they are read.
#[tokio::test]
async fn a_request_holds_so_many_values_and_no_more() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hello."));
    let served = serve(&endpoint, |config| config).await;
    let values: Vec<u32> = (0..600_000).collect();
    let mut in_a_schema = request(false);
    in_a_schema["tools"][0]["function"]["parameters"]["properties"]["city"] = json!({"enum": values});
    let mut in_a_call = request(false);
    let call =
        json!({"id": "call_1", "function": {"name": "weather", "arguments": json!({"city": values}).to_string()}});
    in_a_call["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "1"}),
    ]);
    for asked in [in_a_schema, in_a_call] {
        let (status, answer) = served.chat(&asked).await;
        let came = (status.as_u16(), &answer["error"]["code"]);
        assert_eq!(came, (413, &json!("too_many_values")), "{:.200}", answer.to_string());
    }
    assert!(endpoint.seen().is_empty());
}

/// Each level doubles the branches, and a value that fits none would be held against all of them.
#[tokio::test]
async fn a_schema_too_large_to_check_by_takes_any_object() {
    fn nested(depth: usize, leaf: &mut usize) -> Value {
        if depth == 0 {
            *leaf += 1;
            return json!({"type": "object", "properties": {format!("p{leaf}"): {"type": "string"}}, "required": [format!("p{leaf}")]});
        }
        json!({"anyOf": [nested(depth - 1, leaf), nested(depth - 1, leaf)]})
    }
    let endpoint = Endpoint::answer(|_, _| Reply::text(&super::http::call()));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    asked["tools"][0]["function"]["parameters"]["properties"]["city"] = nested(13, &mut 0);
    let (status, answer) = read(served.post("/v1/chat/completions", &asked).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call, &json!({"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}), "{answer:#}");
}
