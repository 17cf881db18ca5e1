//! An endpoint that says the same message to everybody, as fast as it can be said.
//!
//! A model's name is `CHUNK-PAUSE-END`: bytes of a chunk, milliseconds between two, and
//! `whole` or `wait`, which says one chunk and then nothing more.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// 272 bytes: 17 chunks of 16.
pub(crate) const MESSAGE: &str = "I will look up the weather in Oslo for you now, since you asked me for it there.\n\n\
    <use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n\
    {\"city\": \"Oslo\", \"unit\": \"celsius\", \"note\": \"what to wear in the evening, by the fjord, by bike now.\"}\n\
    </arguments>\n</use_mcp_tool>\n";

pub(crate) async fn serve() -> std::io::Result<()> {
    assert_eq!(MESSAGE.len(), 272);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream));
    }
}

async fn connection(mut stream: TcpStream) {
    let mut buffer = Vec::with_capacity(64 << 10);
    while let Some((head, body)) = crate::http::message(&mut stream, &mut buffer).await {
        // What else is asked about a model (Ollama's `/api/show`) nobody knows here.
        let answered = match head.split(' ').nth(1).unwrap_or_default() {
            "/v1/chat/completions" => answer(&mut stream, model(&body)).await,
            "/v1/models" => whole(&mut stream, "200 OK", r#"{"object":"list","data":[]}"#).await,
            _ => whole(&mut stream, "404 Not Found", r#"{"error":"404 page not found"}"#).await,
        };
        if answered.is_err() {
            return;
        }
    }
}

fn model(body: &[u8]) -> &str {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let at = text.find("\"model\":\"").map_or(text.len(), |at| at + 9);
    text[at..].split('"').next().unwrap_or_default()
}

async fn whole(stream: &mut TcpStream, status: &str, body: &str) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await
}

async fn answer(stream: &mut TcpStream, model: &str) -> std::io::Result<()> {
    let mut words = model.split('-');
    let mut number = |or| words.next().and_then(|word| word.parse().ok()).unwrap_or(or);
    let (size, pause) = (number(16), number(0));
    let waits = model.ends_with("wait");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut text = String::new();
    for piece in MESSAGE.as_bytes().chunks(size) {
        let piece = std::str::from_utf8(piece).expect("the message is ASCII");
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause as u64)).await;
        }
        event(stream, &mut text, &format!(r#"{{"content":{}}}"#, quoted(piece)), "null").await?;
        if waits {
            // Until the client goes.
            let _ = stream.read(&mut [0; 16]).await?;
            return Err(std::io::ErrorKind::ConnectionReset.into());
        }
    }
    event(stream, &mut text, "{}", "\"stop\"").await?;
    stream.write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n").await
}

async fn event(stream: &mut TcpStream, text: &mut String, delta: &str, reason: &str) -> std::io::Result<()> {
    use std::fmt::Write;
    text.clear();
    let data = format!(
        r#"data: {{"id":"u1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
    );
    let _ = write!(text, "{:x}\r\n{data}\n\n\r\n", data.len() + 2);
    stream.write_all(text.as_bytes()).await
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
