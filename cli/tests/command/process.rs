//! The built program as a process, in a folder of the test's own.
//!
//! ```text
//! use crate::process::{Place, demo_server};
//!
//! let place = Place::new();                            // HOME and working directory
//! place.servers(json!({ "demo": demo_server() }));     // writes mcp.json
//! let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]).ok();
//! place.run_with(&["extract"], |c| c.write_stdin("…").env("A", "b")).fails_with(2, &["what stderr says"]);
//! ```

#![allow(dead_code, reason = "each test uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};

/// The repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The built program.
pub(crate) const TOOLGRAFT: &str = env!("CARGO_BIN_EXE_toolgraft");

/// After this time a process that should have ended has failed.
const PATIENCE: Duration = Duration::from_secs(200);

/// Waits until something is so, for a minute.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The result of a process: its exit code and output.
#[derive(Debug)]
pub(crate) struct Run {
    /// Exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Run {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.timeout(PATIENCE).output().unwrap();
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// It succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// It came to an answer: the exit code says whether the last call before it was allowed.
    #[track_caller]
    pub(crate) fn answered(self) -> Self {
        let expected = i32::from(self.err.contains("was not run, and no call followed it"));
        assert_eq!(self.code, Some(expected), "{self:#?}");
        self
    }

    /// It succeeded and had nothing to say on standard error.
    #[track_caller]
    pub(crate) fn quiet(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        self
    }

    /// It ended with this code, and standard error holds these texts.
    #[track_caller]
    pub(crate) fn fails_with(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for text in texts {
            assert!(self.err.contains(text), "{text:?} is not in the stderr of {self:?}");
        }
    }

    /// It ended with this code and this text, and nothing is on standard output.
    #[track_caller]
    pub(crate) fn refuses(&self, code: i32, text: &str) {
        self.fails_with(code, &[text]);
        assert_eq!(self.out, "", "{self:?}");
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    /// The JSON lines of one `type`.
    #[track_caller]
    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }
}

/// The program in a folder that is its working directory and its home.
pub(crate) fn command_in(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(TOOLGRAFT);
    command.args(args).current_dir(dir).env("HOME", dir).env("NO_PROXY", "127.0.0.1");
    command.env_remove("COLUMNS").env_remove("XDG_STATE_HOME");
    // What is said is in the language of the locale.
    command
}

/// A folder of the test's own.
pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
}

impl Place {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    /// The folder's path without links, as servers compare it.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes `mcp.json` with these servers.
    pub(crate) fn servers(&self, servers: Value) -> PathBuf {
        self.write("mcp.json", json!({ "mcpServers": servers }).to_string())
    }

    /// Runs the program with these arguments to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut command_in(self.dir.path(), args))
    }

    /// As [`run`](Self::run), with input, variables or whatever else is to be changed.
    pub(crate) fn run_with(&self, args: &[&str], change: impl FnOnce(&mut Command) -> &mut Command) -> Run {
        Run::of(change(&mut command_in(self.dir.path(), args)))
    }
}

/// The demonstration server, as a configuration writes it.
pub(crate) fn demo_server() -> Value {
    json!({ "command": TOOLGRAFT, "args": ["demo-server"] })
}

/// An MCP server of 2025-11-25 that gives these answers, `METHOD: RESULT`, whatever it is asked,
/// as a configuration writes it.
pub(crate) fn answering_server(answers: &Value) -> Value {
    let cases = answers.as_object().unwrap().iter().enumerate().map(|(n, (method, _))| {
        format!(
            "*'\"{method}\"'*) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" \"$ANSWER_{n}\" ;;"
        )
    });
    let script = format!(
        r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}},"resources":{{}},"prompts":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}\n' "$id" ;;
        {}
        *) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no"}}}}\n' "$id" ;;
        esac
        done"#,
        cases.collect::<Vec<_>>().join("\n")
    );
    let answers = answers.as_object().unwrap().values().enumerate();
    let env: serde_json::Map<String, Value> =
        answers.map(|(n, answer)| (format!("ANSWER_{n}"), answer.to_string().into())).collect();
    json!({ "command": "sh", "args": ["-c", script.replace("${", "$${")], "env": env })
}
