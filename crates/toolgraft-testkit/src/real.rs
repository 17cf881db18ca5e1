//! MCP servers of other projects, which `make set-up` installs.
//!
//! `make test` sets `TOOLGRAFT_REAL_SERVERS=1`, and a missing server is then a failure. Otherwise
//! [`wanted`] reports that the test was skipped.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

/// Returns the folder in which `make set-up` installs the MCP servers of other projects.
pub fn servers() -> PathBuf {
    crate::root().join("tests/servers")
}

/// Returns `true` if tests with real MCP servers should run. Otherwise writes a note directly to standard error,
/// which the test harness does not capture.
pub fn wanted(test: &str) -> bool {
    let wanted = std::env::var("TOOLGRAFT_REAL_SERVERS").is_ok_and(|v| v == "1");
    if !wanted {
        let _ = writeln!(std::io::stderr(), "note: {test} skipped: real servers run with `make test`");
    }
    wanted
}

/// Returns the configuration of a real MCP server for Node, with these arguments.
pub fn node(name: &str, args: &[&str]) -> Value {
    let script = servers().join(format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    assert!(script.is_file(), "{} is missing: run `make set-up`", script.display());
    let mut all = vec![script.display().to_string()];
    all.extend(args.iter().map(|&a| a.to_owned()));
    json!({ "command": "node", "args": all, "connectTimeout": 120 })
}

/// Returns the path of a program in a Python environment: `venv`, or `venv-v1` with the first
/// version of the SDK.
pub fn program(venv: &str, name: &str) -> PathBuf {
    let program = servers().join(venv).join("bin").join(name);
    assert!(program.is_file(), "{} is missing: run `make set-up`", program.display());
    program
}

/// Returns the configuration of a real MCP server in the Python environment, with these arguments.
pub fn python(name: &str, args: &[&str]) -> Value {
    json!({ "command": program("venv", name), "args": args, "connectTimeout": 120 })
}
