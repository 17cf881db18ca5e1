//! Tests of features that endpoints refuse, name differently or drop silently, without an effect
//! for the client.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use toolgraft_testkit::endpoint::{Endpoint, Reply, delta, says, stops};

use super::http::serve;
use super::shapes::{Chat, ask};

/// Messages of endpoints without a system role or without `stream_options`.
#[tokio::test]
async fn an_endpoint_that_refuses_a_role_or_a_field_is_asked_without_and_from_then_on() {
    for (status, words, refused) in [
        (400, "System role not supported", "system"),
        (500, "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", "system"),
        (400, "Extra inputs are not permitted: stream_options", "stream_options"),
        // FastAPI's form has the field beside the message.
        (422, "Extra inputs are not permitted", "stream_options"),
        (400, "\"gemma3:12b\" does not support thinking", "reasoning_effort"),
    ] {
        let endpoint =
            Endpoint::answer(move |request, _| match request.body.to_string().contains(&format!("\"{refused}\"")) {
                true if status == 422 => {
                    let detail = json!({"detail": [{"loc": ["body", refused], "msg": words}]});
                    Reply::new(status, &detail.to_string())
                }
                true => Reply::refused(status, words),
                false => Reply::text("Fine."),
            });
        let served = serve(&endpoint, |config| config).await;
        for times in [2, 1] {
            let messages = json!([{"role": "system", "content": "one"}, Chat.says("user", "two")]);
            let mut body = Chat.request(messages, Chat.tools(&["f"]));
            body["reasoning_effort"] = json!("low");
            let (status, answer) = ask(&served, Chat, body.to_string()).await;
            assert_eq!(status, 200, "{answer:#}");
            let seen = endpoint.take_seen();
            assert_eq!(seen.len(), times, "{words}");
            let sent = seen.last().unwrap().messages();
            assert!(sent.contains("one") && sent.contains("two") && sent.contains("f("), "{sent}");
        }
    }
}

/// Reasoning is read from each field that endpoints use, and from several at once.
#[tokio::test]
async fn reasoning_is_read_from_each_field_that_endpoints_have_for_it() {
    let details = json!([{"type": "reasoning.text", "text": "deep", "index": 0}]);
    for thought in [
        json!({"reasoning": "deep"}),
        json!({"reasoning_content": "deep"}),
        json!({"thinking": "deep"}),
        json!({"reasoning_details": details}),
        json!({"reasoning": "deep", "reasoning_content": "deep", "reasoning_details": details}),
    ] {
        let thinks = delta(thought.clone());
        let events = [thinks.clone(), thinks, says("Hi."), stops("stop")];
        let endpoint = Endpoint::start([Reply::events(&events).done()]);
        let served = serve(&endpoint, |config| config).await;
        let body = Chat.request(json!([Chat.says("user", "Hi")]), Chat.tools(&["f"]));
        let (_, answer) = ask(&served, Chat, body.to_string()).await;
        let message = &answer["choices"][0]["message"];
        let told = (&message["reasoning_content"], &message["content"]);
        assert_eq!(told, (&json!("deepdeep"), &json!("Hi.")), "{thought}");
    }
}

/// A field of that name that is not text is ignored.
#[tokio::test]
async fn a_field_that_is_no_reasoning_costs_no_text() {
    let events = [delta(json!({"thinking": {"type": "enabled"}, "content": "Hi."})), stops("stop")];
    let endpoint = Endpoint::start([Reply::events(&events).done()]);
    let served = serve(&endpoint, |config| config).await;
    let body = Chat.request(json!([Chat.says("user", "Hi")]), Chat.tools(&["f"]));
    let (status, answer) = ask(&served, Chat, body.to_string()).await;
    assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("Hi.")), "{answer:#}");
}

/// A server that silently closes kept connections, as load balancers and llama.cpp do: it answers
/// the first request of each connection, and the second finds it closed.
#[tokio::test]
async fn a_kept_connection_that_was_closed_costs_no_request() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let mut read = Vec::new();
                for times in 0..2 {
                    // Reads one request: its head, and its body, which is JSON. Requests about the
                    // model have a head only.
                    loop {
                        let mut bytes = [0; 4096];
                        let n = stream.read(&mut bytes).await.unwrap_or_default();
                        read.extend_from_slice(&bytes[..n]);
                        let is_asked = read.starts_with(b"GET") && read.ends_with(b"\r\n\r\n");
                        // 0 bytes: the client has closed the connection.
                        if n == 0 || is_asked || read.ends_with(b"}") {
                            break;
                        }
                    }
                    if times == 1 {
                        return;
                    }
                    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Fine.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                    read.clear();
                }
            });
        }
    });
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |_| toolgraft_serve::Config::new(url).unwrap()).await;
    for tools in [json!(null), Chat.tools(&["f"]), json!(null), Chat.tools(&["f"])] {
        let mut body = Chat.request(json!([Chat.says("user", "Hi")]), tools);
        body["stream"] = json!(true);
        let sent = served.post(Chat.path(), &body).send().await.unwrap();
        let (status, text) = (sent.status(), sent.text().await.unwrap());
        assert!(status == 200 && text.contains("Fine."), "{status} {text}");
    }
}

/// The content encodings that are supported.
const ENCODINGS: [&str; 2] = ["gzip", "deflate"];

async fn compressed(encoding: &str, text: &str) -> Vec<u8> {
    macro_rules! by {
        ($encoder:ident) => {{
            let mut encoder = async_compression::tokio::write::$encoder::new(Vec::new());
            encoder.write_all(text.as_bytes()).await.unwrap();
            encoder.shutdown().await.unwrap();
            encoder.into_inner()
        }};
    }
    match encoding {
        "gzip" => by!(GzipEncoder),
        _ => by!(ZlibEncoder),
    }
}

/// A gateway that compresses the answer to every request that accepts it.
#[tokio::test]
async fn an_answer_that_is_compressed_unasked_is_read() {
    for encoding in ENCODINGS {
        let mut answer = Reply::text("Fine.").header("content-encoding", encoding);
        answer.pieces = compressed(encoding, &String::from_utf8(answer.pieces.concat()).unwrap())
            .await
            .chunks(7)
            .map(<[u8]>::to_vec)
            .collect();
        let endpoint = Endpoint::answer(move |_, _| answer.clone());
        let served = serve(&endpoint, |config| config).await;
        for tools in [json!(null), Chat.tools(&["f"])] {
            for stream in [false, true] {
                let mut body = Chat.request(json!([Chat.says("user", "Hi")]), tools.clone());
                body["stream"] = json!(stream);
                let sent = served.post(Chat.path(), &body).send().await.unwrap();
                assert!(!sent.headers().contains_key("content-encoding"));
                let (status, text) = (sent.status(), sent.text().await.unwrap());
                assert!(status == 200 && text.contains("Fine."), "{encoding} {stream}: {status} {text}");
            }
        }
        let asked = endpoint.seen();
        assert!(asked.iter().all(|request| request.header("accept-encoding") == Some("identity")));
    }
}

#[tokio::test]
async fn an_encoding_of_an_answer_that_nobody_knows_is_named() {
    for encoding in ["compress", "br", "zstd"] {
        let endpoint = Endpoint::answer(move |_, _| Reply::text("Fine.").header("content-encoding", encoding));
        let served = serve(&endpoint, |config| config).await;
        let body = Chat.request(json!([Chat.says("user", "Hi")]), Chat.tools(&["f"]));
        let (status, answer) = ask(&served, Chat, body.to_string()).await;
        let named = format!("compressed ({encoding})");
        assert!(status == 502 && answer.to_string().contains(&named), "{status} {answer}");
    }
}

#[tokio::test]
async fn a_request_may_be_compressed_and_what_cannot_be_read_is_named() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config.with_max_body(100_000)).await;
    let post = |encoding: &'static str, body: Vec<u8>| {
        let request = served.post(Chat.path(), &json!(null)).header("content-encoding", encoding).body(body);
        async move {
            let sent = request.send().await.unwrap();
            (sent.status().as_u16(), sent.text().await.unwrap())
        }
    };
    let body = |says: &str| Chat.request(json!([Chat.says("user", says)]), Chat.tools(&["f"])).to_string();
    for encoding in ENCODINGS {
        let (status, text) = post(encoding, compressed(encoding, &body("Hi")).await).await;
        assert!(status == 200 && text.contains("Fine."), "{encoding}: {status} {text}");
        assert!(endpoint.take_seen()[0].messages().contains("Hi"));
        let (status, text) = post(encoding, compressed(encoding, &body(&"z".repeat(1_000_000))).await).await;
        assert!(status == 413 && text.contains("100000 bytes"), "{encoding}: {status} {text}");
        let (status, text) = post(encoding, b"{\"model\":\"m\"}".to_vec()).await;
        assert!(status == 400 && text.contains("content-encoding"), "{encoding}: {status} {text}");
    }
    for encoding in ["compress", "br", "zstd"] {
        let (status, text) = post(encoding, body("Hi").into_bytes()).await;
        assert!(status == 415 && text.contains("send gzip, deflate, or no content-encoding"), "{status} {text}");
    }
}
