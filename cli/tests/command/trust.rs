//! Endpoints with a certificate of their own (`openssl req -x509`, as in `tests/tls`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use toolgraft::http::Trust;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::process::{Place, Run};

const CERTIFICATE: &str = include_str!("../tls/own.pem");
const KEY: &str = include_str!("../tls/key.pem");

/// A server that answers each request, for as long as the test runs; its port.
fn serving(reply: fn(&str) -> (&'static str, String)) -> u16 {
    let chain = CertificateDer::pem_slice_iter(CERTIFICATE.as_bytes()).collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = config.clone();
            std::thread::spawn(move || answer(StreamOwned::new(ServerConnection::new(config).unwrap(), stream), reply));
        }
    });
    port
}

/// An endpoint that answers each request alike; its port.
fn endpoint() -> u16 {
    serving(|_| {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "It works."}, "finish_reason": "stop"}]});
        ("text/event-stream", format!("data: {chunk}\n\ndata: [DONE]\n\n"))
    })
}

fn answer(stream: impl Read + Write, reply: fn(&str) -> (&'static str, String)) {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).is_err() {
        return;
    }
    let (kind, body) = reply(&String::from_utf8(body).unwrap());
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.get_mut().write_all(format!("{head}{body}").as_bytes());
    let _ = stream.get_mut().flush();
}

fn ask(place: &Place, url: &str, args: &[&str], cert_file: Option<&str>) -> Run {
    let args = [&["chat", "--no-session", "--base-url", url, "--model", "m"], args, &["Hello"]].concat();
    place.run_with(&args, |command| {
        command.env_remove("OPENAI_API_KEY").env_remove("SSL_CERT_FILE").write_stdin("");
        match cert_file {
            Some(file) => command.env("SSL_CERT_FILE", file),
            None => command,
        }
    })
}

#[test]
fn a_certificate_of_its_own_is_trusted_where_it_is_named() {
    let place = Place::new();
    place.write("own.pem", CERTIFICATE);
    place.write("key.pem", KEY);
    let port = endpoint();
    let url = format!("https://localhost:{port}/v1");

    let run = ask(&place, &url, &[], None);
    run.fails_with(1, &["certificate", "SSL_CERT_FILE"]);
    for args in [&["--ca", "own.pem"][..], &["--ca=own.pem", "--insecure", "other.example"]] {
        assert_eq!(ask(&place, &url, args, None).ok().out, "It works.\n", "{args:?}");
    }
    assert_eq!(ask(&place, &url, &[], Some("own.pem")).ok().out, "It works.\n");
    let by_address = format!("https://127.0.0.1:{port}/v1");
    assert_eq!(ask(&place, &by_address, &["--ca", "own.pem"], None).ok().out, "It works.\n");

    // Among many, of which some cannot be read.
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    place.write("many.pem", format!("{broken}{CERTIFICATE}{broken}"));
    assert_eq!(ask(&place, &url, &["--ca", "many.pem"], None).ok().out, "It works.\n");
    // It is trusted for the names that stand in it.
    let run = ask(&place, &format!("https://[::ffff:127.0.0.1]:{port}/v1"), &["--ca", "own.pem"], None);
    run.fails_with(1, &["certificate"]);
    // A key is no certificate.
    ask(&place, &url, &["--ca", "key.pem"], None).fails_with(2, &["--ca: key.pem: no certificate in PEM"]);
    ask(&place, &url, &["--ca", "none.pem"], None).fails_with(2, &["--ca: cannot read none.pem: "]);
}

#[test]
fn a_machine_without_authorities_speaks_plain_http_and_trusts_whom_it_is_told() {
    let place = Place::new();
    place.write("none.pem", "");
    place.write("own.pem", CERTIFICATE);
    let plain = Endpoint::start([Reply::text("It works.")]);
    let run = ask(&place, &plain.url(), &[], Some("none.pem")).ok();
    assert_eq!(run.out, "It works.\n", "{run:?}");

    let url = format!("https://localhost:{}/v1", endpoint());
    let nobody = "its certificate is from no authority that this machine trusts";
    ask(&place, &url, &[], Some("none.pem")).fails_with(1, &[nobody]);
    for args in [["--ca", "own.pem"], ["--insecure", "localhost"]] {
        assert_eq!(ask(&place, &url, &args, Some("none.pem")).ok().out, "It works.\n", "{args:?}");
    }
}

#[test]
fn a_host_may_be_left_unchecked_by_its_name_and_no_other() {
    let place = Place::new();
    let port = endpoint();
    let url = format!("https://localhost:{port}/v1");
    let run = ask(&place, &url, &["--insecure", "localhost"], None).ok();
    assert_eq!(run.out, "It works.\n");
    assert!(run.err.contains("the certificate of localhost is not verified"), "{run:?}");
    ask(&place, &url, &["--insecure", "127.0.0.1"], None).fails_with(1, &["certificate"]);
    let by_address = format!("https://127.0.0.1:{port}/v1");
    assert_eq!(ask(&place, &by_address, &["--insecure", "127.0.0.1"], None).ok().out, "It works.\n");
}

/// An MCP server with one tool; its port.
fn mcp() -> u16 {
    serving(|body| {
        let asked: Value = serde_json::from_str(body).unwrap_or_default();
        let result = match asked["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                                          "serverInfo": { "name": "s", "version": "1" } }),
            Some("tools/list") => json!({ "tools": [{ "name": "guarded", "inputSchema": { "type": "object" } }] }),
            _ => {
                return (
                    "application/json",
                    json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "no" } })
                        .to_string(),
                );
            }
        };
        ("application/json", json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string())
    })
}

#[test]
fn an_mcp_server_is_trusted_by_the_certificate_that_its_entry_names() {
    let (place, port) = (Place::new(), mcp());
    place.write("own.pem", CERTIFICATE);
    place.write("key.pem", KEY);
    let tools = |entry: Value, variables: &[(&str, &str)]| {
        place.servers(json!({ "far": entry }));
        place.run_with(&["mcp", "tools", "--mcp-config", "mcp.json"], |command| {
            command.env_remove("SSL_CERT_FILE").envs(variables.iter().copied())
        })
    };
    let url = format!("https://localhost:{port}/mcp");
    let refused = tools(json!({ "url": url }), &[]);
    refused.fails_with(
        1,
        &["its certificate is from no authority that this machine trusts: set \"ca\" in its entry to the file"],
    );
    let run = tools(json!({ "url": url }), &[("SSL_CERT_FILE", "own.pem")]).ok();
    assert!(run.out.contains("guarded()"), "{run:?}");
    let run = tools(json!({ "url": url, "ca": "own.pem" }), &[("NO_PROXY", "*")]).ok();
    assert!(run.out.contains("guarded()"), "{run:?}");
    tools(json!({ "url": url, "ca": "none.pem" }), &[]).fails_with(1, &["its \"ca\": cannot read none.pem: "]);
    tools(json!({ "url": url, "ca": "key.pem" }), &[]).fails_with(1, &["its \"ca\": key.pem: no certificate in PEM"]);
    let login = ["mcp", "login", "far", "--mcp-config", "mcp.json"];
    place.servers(json!({ "far": { "url": url } }));
    place
        .run(&login)
        .fails_with(1, &["cannot connect: its certificate is from no authority that this machine trusts: set \"ca\""]);
}

#[test]
fn what_the_command_trusts_counts_for_mcp_servers() {
    let place = Place::new();
    place.write("own.pem", CERTIFICATE);
    place.servers(json!({ "far": { "url": format!("https://localhost:{}/mcp", mcp()) } }));
    let run = |args: &[&str]| {
        let endpoint = Endpoint::start([Reply::text("It works.")]);
        let url = endpoint.url();
        let run = ask(&place, &url, &[&["--mcp-config", "mcp.json"], args].concat(), None);
        let is_listed = endpoint.seen().iter().any(|seen| seen.body.to_string().contains("guarded"));
        (is_listed, run.ok().err.contains("that this machine trusts"))
    };
    assert_eq!(run(&[]), (false, true));
    assert_eq!(run(&["--ca", "own.pem"]), (true, false));
    assert_eq!(run(&["--insecure", "localhost"]), (true, false));
}

#[tokio::test]
async fn two_clients_of_one_process_trust_different_servers() {
    let url = format!("https://localhost:{}/v1/models", endpoint());
    let trusting = Trust::default().with_pem(CERTIFICATE.as_bytes()).unwrap();
    for (trust, answers) in [(&trusting, true), (&Trust::default(), false), (&trusting, true)] {
        let client = trust.client().no_proxy().build().unwrap();
        assert_eq!(client.get(&url).send().await.is_ok(), answers, "{trust:?}");
    }
}

#[test]
fn a_dead_proxy_is_told_from_a_dead_server() {
    let place = Place::new();
    place.servers(json!({ "far": { "url": "https://far.example/mcp", "type": "http" } }));
    let run = place.run_with(&["mcp", "tools", "--mcp-config", "mcp.json"], |command| {
        command.env("HTTPS_PROXY", "http://127.0.0.1:1").env_remove("ALL_PROXY").env("NO_PROXY", "")
    });
    run.fails_with(
        1,
        &["the proxy cannot be reached: correct HTTPS_PROXY (or ALL_PROXY), or name this host in NO_PROXY"],
    );
    // Of a name that nobody has: only the proxy is asked for it.
    place.servers(json!({ "far": { "url": "http://far.example/mcp" } }));
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let run = place.run_with(&["mcp", "tools", "--mcp-config", "mcp.json"], |command| {
            command.env_remove("HTTP_PROXY").env_remove("http_proxy").env_remove("ALL_PROXY");
            command.env(variable, "http://me:secret-pw@127.0.0.1:1").env("NO_PROXY", "")
        });
        run.fails_with(1, &["the proxy cannot be reached: correct HTTP_PROXY (or ALL_PROXY), which is http://"]);
        assert!(run.err.contains("127.0.0.1:1") && !run.err.contains("secret-pw"), "{run:?}");
    }
}

#[test]
fn no_proxy_is_asked_for_this_machine() {
    let place = Place::new();
    place.write("own.pem", CERTIFICATE);
    let tools = |url: &str| {
        place.servers(json!({ "here": { "url": url, "ca": "own.pem" } }));
        place.run_with(&["mcp", "tools", "--mcp-config", "mcp.json"], |command| {
            let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, "http://127.0.0.1:1"));
            command.envs(proxies).env("NO_PROXY", "").env("no_proxy", "")
        })
    };
    for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "mcp.localhost"] {
        for scheme in ["http", "https"] {
            let run = tools(&format!("{scheme}://{host}:2/mcp"));
            assert!(run.err.contains("cannot connect") && !run.err.contains("proxy"), "{run:?}");
        }
    }
    let run = tools(&format!("https://localhost:{}/mcp", mcp())).ok();
    assert!(run.out.contains("guarded()"), "{run:?}");
}
