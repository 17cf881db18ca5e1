//! MCP over standard input and output, as far as the demonstration needs it: one JSON-RPC message a line, in the version
//! of the protocol in which each request names it.

use std::io::{BufRead, Write, stdin, stdout};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolgraft::wire::set_member;

/// The version of the MCP protocol.
const VERSION: &str = "2026-07-28";

/// JSON-RPC error code for invalid parameters; the next ones are for an unknown method and for an internal error.
pub(super) const INVALID_PARAMS: i32 = -32_602;
pub(super) const UNKNOWN_METHOD: i32 = -32_601;
pub(super) const INTERNAL: i32 = -32_603;

/// The result of a request, or the code and message of a JSON-RPC error.
pub(super) type Reply = Result<Value, (i32, String)>;

/// Responds to the requests on standard input until it ends, with a `delay` before each tool call. Returns `false` if
/// no message was received.
pub(super) fn serve(delay: Duration, instructions: &str, answer: fn(&str, &Value) -> Reply) -> std::io::Result<bool> {
    let mut has_client = false;
    for line in stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_700, "message": "no JSON"}}))?;
            continue;
        };
        has_client = true;
        // A notification, and an answer to a request that was never sent, want none.
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { continue };
        let result = match method {
            "server/discover" => Ok(discovered(instructions)),
            "tools/call" => {
                thread::sleep(delay);
                answer(method, &message["params"])
            }
            _ => answer(method, &message["params"]),
        };
        send(&match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": complete(method, result)}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })?;
    }
    Ok(has_client)
}

/// Returns the response to the handshake `server/discover`.
fn discovered(instructions: &str) -> Value {
    let server = json!({"name": "toolgraft-demo", "version": env!("CARGO_PKG_VERSION")});
    json!({
        "capabilities": {"completions": {}, "prompts": {}, "resources": {}, "tools": {}},
        "instructions": instructions, "supportedVersions": [VERSION],
        "_meta": {"io.modelcontextprotocol/serverInfo": server},
    })
}

/// Adds to a result that it is complete, and to one that clients may cache that it must not be cached.
fn complete(method: &str, mut result: Value) -> Value {
    set_member(&mut result, "resultType", "complete");
    // In the version of 2026-07-28 these results say how long a client may keep them.
    if method.ends_with("/list") || matches!(method, "server/discover" | "resources/read") {
        set_member(&mut result, "ttlMs", 0);
        set_member(&mut result, "cacheScope", "private");
    }
    result
}

/// Writes a JSON-RPC message as one line to standard output.
fn send(message: &Value) -> std::io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
