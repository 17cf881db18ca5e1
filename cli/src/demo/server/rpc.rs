//! MCP over standard input and output, as far as the demonstration needs it: one JSON-RPC message a line.
//!
//! It speaks both eras of the protocol: `server/discover` of 2026-07-28, where each request names its version,
//! and `initialize` of the versions before.

use std::collections::BTreeSet;
use std::io::{BufRead, Write, stdin, stdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgraft::wire::set_member;

/// The versions of the protocol that are spoken, in their order.
const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];

/// The version since which each request names its version, and results have fields about caching.
const MODERN: &str = "2026-07-28";

/// JSON-RPC's code for parameters that do not fit.
pub(super) const INVALID_PARAMS: i32 = -32_602;

/// The result of a request, or why there is none.
pub(super) type Reply = Result<Value, Refusal>;

/// An error of JSON-RPC.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn invalid(message: String) -> Self {
        Refusal { code: INVALID_PARAMS, message }
    }

    pub(super) fn internal(message: String) -> Self {
        Refusal { code: -32_603, message }
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        Refusal { code: -32_601, message: method.to_owned() }
    }
}

/// Reads the parameters of a request.
pub(super) fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal::invalid(format!("the parameters cannot be read: {error}")))
}

/// A server of requests, each of which is answered by itself.
#[derive(Debug, Clone)]
pub(super) struct Server {
    /// The capabilities and instructions.
    pub(super) info: fn() -> Value,
    /// Answers a method with its parameters; the flag is `true` in the era of 2026-07-28.
    pub(super) answer: fn(&str, Value, bool) -> Reply,
    /// The time before a tool answers.
    pub(super) delay: Duration,
}

/// The requests that the client no longer wants an answer to.
type Cancelled = Arc<Mutex<BTreeSet<String>>>;

impl Server {
    /// Answers the messages on standard input until it ends. Returns `false` if there was none.
    pub(super) fn run(&self) -> std::io::Result<bool> {
        let cancelled = Cancelled::default();
        let mut has_client = false;
        for line in stdin().lock().lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_700, "message": "no JSON"}}))?;
                continue;
            };
            has_client = true;
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let params = message.get_mut("params").map_or_else(|| json!({}), Value::take);
            match message.get_mut("id").map(Value::take) {
                None if method == "notifications/cancelled" => {
                    cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(params["requestId"].to_string());
                }
                // A notification, or an answer to a request that was never sent.
                None => {}
                Some(_) if method.is_empty() => {}
                // The next messages do not wait for a slow tool.
                Some(id) if method == "tools/call" && !self.delay.is_zero() => {
                    let (server, cancelled) = (self.clone(), Arc::clone(&cancelled));
                    thread::spawn(move || {
                        thread::sleep(server.delay);
                        if !cancelled.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string()) {
                            // A client that has gone wants no answer.
                            let _ = send(&server.reply(&id, &method, params));
                        }
                    });
                }
                Some(id) => send(&self.reply(&id, &method, params))?,
            }
        }
        Ok(has_client)
    }

    /// The answer to a request as a message.
    fn reply(&self, id: &Value, method: &str, params: Value) -> Value {
        let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN;
        let result = match method {
            "initialize" => Ok(self.initialize(&params["protocolVersion"])),
            "server/discover" => Ok(self.discover()),
            _ => (self.answer)(method, params, is_modern),
        };
        match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": complete(method, result, is_modern)}),
            Err(Refusal { code, message }) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        }
    }

    /// The handshake of the versions before 2026-07-28: the version that the client asked for, or the last of them.
    fn initialize(&self, asked: &Value) -> Value {
        let known = VERSIONS.into_iter().rfind(|version| asked == version && *version != MODERN);
        let mut result = (self.info)();
        set_member(&mut result, "protocolVersion", known.unwrap_or(VERSIONS[3]));
        set_member(&mut result, "serverInfo", implementation());
        result
    }

    fn discover(&self) -> Value {
        let mut result = (self.info)();
        set_member(&mut result, "supportedVersions", json!(VERSIONS));
        set_member(&mut result, "_meta", json!({"io.modelcontextprotocol/serverInfo": implementation()}));
        result
    }
}

fn implementation() -> Value {
    json!({"name": "toolgraft-demo", "version": env!("CARGO_PKG_VERSION")})
}

/// Adds the fields that results have since 2026-07-28: that it is all, and that nothing of a list is kept.
fn complete(method: &str, mut result: Value, is_modern: bool) -> Value {
    if is_modern && method != "ping" {
        set_member(&mut result, "resultType", "complete");
        if method.ends_with("/list") || matches!(method, "server/discover" | "resources/read") {
            set_member(&mut result, "ttlMs", 0);
            set_member(&mut result, "cacheScope", "private");
        }
    }
    result
}

/// Writes one message as a line.
fn send(message: &Value) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
