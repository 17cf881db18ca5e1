//! The MCP servers of other people that `make set-up` installs.
//!
//! `make test` sets `TOOLGRAFT_REAL_SERVERS=1`, with which a missing server is a
//! failure; without it [`wanted`] says that the test was skipped.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

/// Where `make set-up` puts them.
pub fn servers() -> PathBuf {
    crate::root().join("tests/servers")
}

/// Whether to run; otherwise says so past the test harness's capture.
pub fn wanted(test: &str) -> bool {
    let wanted = std::env::var("TOOLGRAFT_REAL_SERVERS").is_ok_and(|v| v == "1");
    if !wanted {
        let _ = writeln!(std::io::stderr(), "note: {test} skipped: real servers run with `make test`");
    }
    wanted
}

/// A server that runs in Node, as a configuration writes it.
pub fn node(name: &str, args: &[&str]) -> Value {
    let script = servers().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    assert!(script.is_file(), "{} is missing: run `make set-up`", script.display());
    let mut all = vec![script.display().to_string()];
    all.extend(args.iter().map(|&a| a.to_owned()));
    json!({ "command": "node", "args": all, "connectTimeout": 120 })
}

/// A program of a Python environment: `venv`, or `venv-v1` with the first version of the SDK.
pub fn program(venv: &str, name: &str) -> PathBuf {
    let program = servers().join(venv).join("bin").join(name);
    assert!(program.is_file(), "{} is missing: run `make set-up`", program.display());
    program
}

/// A server of the Python environment, as a configuration writes it.
pub fn python(name: &str, args: &[&str]) -> Value {
    json!({ "command": program("venv", name), "args": args, "connectTimeout": 120 })
}
