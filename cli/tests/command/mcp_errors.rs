//! Messages of `toolgraft mcp check` on servers that are not MCP servers, or refuse: what is wrong, where, and what
//! helps, without the names of libraries.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use crate::process::Place;
use serde_json::{Value, json};

/// A server on any free port that answers each request with these bytes, until the program ends;
/// with `greets ` before them it says them unasked.
fn answers(head: &str, body: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port());
    let length = body.len();
    let (greeting, head) = match head.strip_prefix("greets ") {
        Some(greeting) => (greeting.to_owned(), "raw "),
        None => (String::new(), head),
    };
    let answer = match head.strip_prefix("raw ") {
        Some(raw) => raw.to_owned(),
        None => format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"),
    };
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = answer.clone();
            let _ = stream.write_all(greeting.as_bytes());
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut line, mut length) = (String::new(), 0);
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    line.clear();
                }
                let _ = reader.read_exact(&mut vec![0; length]);
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    url
}

fn http(head: &str, body: &str) -> Value {
    json!({ "type": "http", "url": answers(head, body), "connectTimeout": 5 })
}

fn sh(script: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", script], "connectTimeout": 4 })
}

/// A port where nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port())
}

/// Entries of servers that fail, each with a name and the message about it: what is wrong, and what helps.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    let html = |status: &str| format!("{status}\r\nContent-Type: text/html");
    let in_json = |status: &str| format!("{status}\r\nContent-Type: application/json");
    let foreign = r#"{"jsonrpc":"2.0","id":"abc","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}"#;
    let no_tls = answers("200 OK", "").replace("http://", "https://");
    let redirect = |place: &str| http(&format!("301 Moved Permanently\r\nLocation: {place}"), "");
    vec![
        (
            "500",
            http(&html("500 Internal Server Error"), "<h1>Oops</h1>"),
            "HTTP 500: the server failed: its own log says why",
        ),
        (
            "502",
            http("502 Bad Gateway", ""),
            "HTTP 502: the gateway cannot reach the server: is the server itself running?",
        ),
        (
            "503",
            http("503 Service Unavailable\r\nRetry-After: 7", ""),
            "HTTP 503: the server is not ready, or is overloaded: try again later (it says in 7 s)",
        ),
        ("429", http("429 Too Many Requests", ""), "HTTP 429: too many requests: wait, then try again"),
        (
            "400",
            http(&html("400 Bad Request"), "<b>no</b>"),
            "HTTP 400 Bad Request: <b>no</b>: check the URL and the headers",
        ),
        ("403", http("403 Forbidden", ""), "HTTP 403: access is refused: check the token under \"headers\""),
        ("404", http("404 Not Found", ""), "HTTP 404: not found: check the URL's path"),
        (
            "404-any",
            json!({ "url": answers("404 Not Found", "") }),
            "not found: check the URL's path; nor is there legacy HTTP+SSE",
        ),
        (
            "405",
            http("405 Method Not Allowed", ""),
            "HTTP 405: the server does not accept this request: check the URL's path",
        ),
        ("410", http("410 Gone", ""), "HTTP 410 Gone: the page is gone: check the URL"),
        (
            "301",
            redirect("https://other.example/mcp"),
            "HTTP 301: the server redirects to another origin, or without a target: write the final URL",
        ),
        (
            "204",
            http("204 No Content", ""),
            "HTTP 204 No Content without a body: a request must have an answer: check the URL's path",
        ),
        (
            "202",
            http("202 Accepted", ""),
            "HTTP 202 Accepted without a body: a request must have an answer: check the URL's path",
        ),
        (
            "page",
            http(&html("200 OK"), "<p>Hello</p>"),
            "the answer is not MCP (content type text/html): check the URL's path",
        ),
        (
            "empty",
            http(&in_json("200 OK"), ""),
            "its answer is not MCP, or is truncated: <empty>: check the URL's path",
        ),
        (
            "half",
            http(&in_json("200 OK"), "{\"jsonrpc\":\"2.0\""),
            "its answer is not MCP, or is truncated: {\"jsonrpc\":\"2.0\": check the URL's path",
        ),
        (
            "cut-off",
            http("raw HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{", ""),
            "the request failed: its answer was cut off: the server's own log may say why",
        ),
        (
            "foreign-id",
            http(&in_json("200 OK"), foreign),
            "no answer to `initialize` within 5 s, but one to a request that was never sent (id abc)",
        ),
        (
            "ssh",
            http("raw SSH-2.0-OpenSSH_9.6\r\n", ""),
            "the request failed: the answer is not HTTP: is this its port, or must the URL begin with https://?",
        ),
        (
            "ssh-first",
            http("greets SSH-2.0-OpenSSH_9.6\r\n", ""),
            "the request failed: the answer is not HTTP: is this its port, or must the URL begin with https://?",
        ),
        (
            "hangs-up",
            http("raw ", ""),
            "the request failed: the connection was closed without an answer: is this an MCP server's port, or must \
             the URL begin with https://?",
        ),
        (
            "no-tls",
            json!({ "url": no_tls }),
            "cannot connect: the server does not use TLS there: write http:// instead of https://",
        ),
        (
            "nobody",
            json!({ "url": nobody() }),
            "cannot connect: nothing listens there: is the server running, and is this its port?",
        ),
        ("repeats", sh("cat"), "the program echoes its input, as no MCP server does: check \"command\" and \"args\""),
        (
            "half-a-line",
            sh("read l; printf '{\"jsonrpc\":\"2.0\",'; exec sleep 9"),
            "the server wrote to stdout what is not MCP, once; the last was \"{\\\"jsonrpc\\\":\\\"2.0\\\",\", \
             without its end",
        ),
        (
            "other-ids",
            sh("while read l; do echo '{\"jsonrpc\":\"2.0\",\"id\":\"abc\",\"result\":{}}'; done"),
            "within 4 s, but one to a request that was never sent (id abc)",
        ),
        (
            "talks",
            sh("while read l; do echo hello; done"),
            "the server wrote to stdout what is not MCP, once; the last was \"hello\"",
        ),
        (
            "silent",
            sh("exec sleep 9"),
            "set \"connectTimeout\" if it needs longer; else check that it is an MCP server",
        ),
        ("ends", sh("exit 0"), "it closed the connection before the handshake was done (exit status: 0)"),
        (
            "missing",
            json!({ "command": "toolgraft-no-such-program" }),
            "not found in PATH: install it, or write its full path as \"command\"",
        ),
    ]
}

#[test]
fn each_fault_is_said_in_plain_words_with_what_helps() {
    let place = Place::new();
    let cases = cases();
    let servers = cases.iter().map(|(name, server, _)| ((*name).to_owned(), server.clone()));
    place.servers(servers.collect::<serde_json::Map<_, _>>().into());
    let run = place.run(&["mcp", "check", "--mcp-config", "mcp.json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let mut wrong = Vec::new();
    for (name, server, said) in &cases {
        let line = run.err.lines().find(|line| line.contains(&format!("server {name:?} failed: "))).unwrap_or_default();
        let place = server["url"].as_str().unwrap_or_default();
        if !(line.contains(said) && line.contains(place)) {
            wrong.push(format!("{name}: {said}\n  is: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for library in
        ["hyper", "reqwest", "rustls", "rmcp", "serde", "tokio", "client error", "os error", "InvalidContentType"]
    {
        assert!(!run.err.contains(library), "{library}: {}", run.err);
    }
}
