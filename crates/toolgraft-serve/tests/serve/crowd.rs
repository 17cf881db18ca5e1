//! Tests with many clients at once: fast and slow readers, and clients that disconnect. They count
//! what is left afterwards.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::runtime::Handle;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops};

use super::http::{call, events, request, serve};

const STREAMS: usize = 60;

/// Maximum time until everything has to be cleaned up.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Reads,
    ReadsSlowly,
    Goes,
}

/// Of five clients one reads slowly and one disconnects.
fn kind(number: usize) -> Kind {
    match number % 5 {
        3 => Kind::ReadsSlowly,
        4 => Kind::Goes,
        _ => Kind::Reads,
    }
}

/// Returns a text that is longer than the socket buffers of a slow reader.
fn long(number: usize) -> String {
    (0..20_000).map(|word| format!("{number}.{word} ")).collect()
}

/// Returns the endpoint's reply. Its connections end with their answers, so one that remains is the
/// server's.
fn reply(number: usize) -> Reply {
    let reply = match kind(number) {
        Kind::Reads => Reply::events(&[says("I look.\n"), says(&call()), stops("stop")]).done(),
        Kind::ReadsSlowly => {
            let mut pieces: Vec<Value> =
                long(number).as_bytes().chunks(4_000).map(|text| says(&String::from_utf8_lossy(text))).collect();
            pieces.push(stops("stop"));
            Reply::events(&pieces).done()
        }
        Kind::Goes => Reply::events(&[says("I look. ")]).end(End::Stall),
    };
    reply.header("connection", "close")
}

async fn client(address: &str, number: usize) -> String {
    let mut body = request(true);
    body["model"] = number.to_string().into();
    let body = body.to_string();
    let socket = TcpSocket::new_v4().unwrap();
    if kind(number) == Kind::ReadsSlowly {
        socket.set_recv_buffer_size(4 << 10).unwrap();
    }
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let (mut text, mut piece) = (Vec::new(), vec![0; 8 << 10]);
    loop {
        let read = stream.read(&mut piece).await.unwrap();
        text.extend_from_slice(&piece[..read]);
        if read == 0 || kind(number) == Kind::Goes {
            return String::from_utf8(text).unwrap();
        }
        if kind(number) == Kind::ReadsSlowly {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Returns the text of the chunks, however HTTP divided them.
fn said(text: &str) -> String {
    let (chunks, _) = events(text);
    let chunks = chunks.iter().filter_map(|chunk| serde_json::from_str::<Value>(chunk).ok());
    chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn nothing_is_left_over_of_a_crowd_of_which_some_go_away() {
    let mut endpoint = Endpoint::setup().lists().answer(|request, _| match request.body["model"].as_str() {
        Some(number) => reply(number.parse().unwrap()),
        None => Reply::refused(404, "there is no list").header("connection", "close"),
    });
    let served = serve(&endpoint, |config| config).await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let address = served.url.trim_start_matches("http://");
    for _ in 0..2 {
        let texts = futures::future::join_all((0..STREAMS).map(|number| client(address, number))).await;
        for (number, text) in texts.iter().enumerate() {
            match kind(number) {
                Kind::Reads => assert!(text.contains("tool_calls") && text.contains("[DONE]"), "{text}"),
                Kind::ReadsSlowly => assert_eq!(said(text), long(number)),
                Kind::Goes => endpoint.gone().await,
            }
        }
    }
    let asked = endpoint.seen().iter().filter(|request| request.target().starts_with("POST")).count();
    assert_eq!(asked, 2 * STREAMS);
    // The tasks of its connections to clients and to the endpoint end as well.
    let begun = Instant::now();
    while tasks() > before {
        assert!(begun.elapsed() < PATIENCE, "{} tasks are left, {before} were there before", tasks());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    for budget in ["max_requests\",unit=\"requests", "max_body_bytes\",unit=\"bytes"] {
        assert!(page.contains(&format!("\ntoolgraft_budget_used{{budget=\"{budget}\"}} 0\n")), "{page}");
    }
    assert!(page.contains(&format!("\ntoolgraft_tool_calls_total {}\n", 2 * STREAMS / 5 * 3)), "{page}");
}
