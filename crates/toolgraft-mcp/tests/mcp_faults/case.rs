//! The fixture of every test: a folder, servers whose command lines contain it, and a search for
//! remaining processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolgraft::Outcome;
use toolgraft::outcome::Status;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft_mcp::{Config, Hub, HubBuilder, InputAnswer, InputKind, InputRequest, Retry, ServerConfig, ServerState};
use toolgraft_testkit::faulty_mcp::deep;

/// Time after which an expected event counts as missing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder of one test. Its path is in the command line of every process that the test's servers
/// start.
pub(crate) struct Case {
    dir: PathBuf,
    _own: Option<tempfile::TempDir>,
}

/// Creates a test that also fails if a process remains.
pub(crate) fn trial<Fut: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce(Arc<Case>) -> Fut + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let own = tempfile::tempdir()?;
        let case = Arc::new(Case { dir: own.path().to_owned(), _own: Some(own) });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(test(case.clone()));
        drop(runtime);
        match eventually(|| case.running().is_empty()) {
            true => Ok(()),
            false => Err(Failed::from(format!("left over: {:?}", case.running()))),
        }
    })
}

/// Waits until a condition holds, at most for [`PATIENCE`]. Returns `false` after that.
pub(crate) fn eventually(holds: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Does the same as [`eventually`], in a task.
pub(crate) async fn soon(holds: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if holds() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

impl Case {
    /// Creates a case with the folder of another process.
    pub(crate) fn at(dir: &Path) -> Self {
        Case { dir: dir.to_owned(), _own: None }
    }

    /// Returns a server with a fault, named `s`.
    pub(crate) fn server(&self, fault: &str) -> ServerConfig {
        self.named("s", fault)
    }

    /// Returns a server with a fault.
    pub(crate) fn named(&self, name: &str, fault: &str) -> ServerConfig {
        let me = std::env::current_exe().unwrap();
        ServerConfig::stdio(name, me.to_str().unwrap(), ["serve", fault, self.path(), name])
    }

    /// Returns a server that `sh` starts, as `npx` and scripts do; the shell runs `before` first.
    pub(crate) fn by_shell(&self, before: &str, fault: &str) -> ServerConfig {
        let me = std::env::current_exe().unwrap();
        let script = format!("{before}\n\"$0\" serve {fault} \"$1\"; true");
        ServerConfig::stdio("s", "sh", ["-c", &script, me.to_str().unwrap(), self.path()])
    }

    pub(crate) fn path(&self) -> &str {
        self.dir.to_str().unwrap()
    }

    /// Counts the lines of a file that servers write: `starts`, `lists`, `calls`.
    pub(crate) fn count(&self, file: &str) -> usize {
        fs::read_to_string(self.dir.join(file)).unwrap_or_default().lines().count()
    }

    /// Returns the lines of a file that servers write.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        fs::read_to_string(self.dir.join(file)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Returns the text of a file that servers write.
    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.dir.join(file)).unwrap_or_default()
    }

    /// Returns `true` if a file that servers write has this line.
    pub(crate) fn has(&self, file: &str, line: &str) -> bool {
        fs::read_to_string(self.dir.join(file)).unwrap_or_default().lines().any(|l| l == line)
    }

    /// Returns the process id of the server `s` that was started last.
    pub(crate) fn pid(&self) -> String {
        fs::read_to_string(self.dir.join("starts")).unwrap().lines().last().unwrap().to_owned()
    }

    /// Returns the process id of the server of this name; `None` if it does not run.
    pub(crate) fn process(&self, name: &str) -> Option<String> {
        let last = format!("{} {name}", self.path());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let found = entries.map(|entry| entry.path()).find(|path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").trim_end().ends_with(&last)
        });
        Some(found?.file_name()?.to_str()?.to_owned())
    }

    /// Creates a file that servers check for.
    pub(crate) fn write(&self, file: &str) {
        fs::write(self.dir.join(file), "").unwrap();
    }

    /// Returns the command lines of processes that contain the folder's path; empty without
    /// `/proc`.
    pub(crate) fn running(&self) -> Vec<String> {
        running(&self.dir)
    }
}

/// Returns the command lines of processes that contain the folder's path.
fn running(dir: &Path) -> Vec<String> {
    let mark = dir.to_str().unwrap();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
    let lines = processes.filter(|entry| entry.file_name().to_str().is_some_and(is_process)).map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// Returns a builder for tests: with this process's environment, and short waits.
pub(crate) fn builder() -> HubBuilder {
    Hub::builder().inherit_env().retry(retry(|_| {}))
}

/// Returns retry rules with short waits and these changes.
pub(crate) fn retry(change: impl FnOnce(&mut Retry)) -> Retry {
    let mut retry = Retry::default();
    retry.first = Duration::from_millis(10);
    change(&mut retry);
    retry
}

/// Connects to these servers.
pub(crate) async fn connect(builder: HubBuilder, servers: impl IntoIterator<Item = ServerConfig>) -> Hub {
    builder.config(Config::from_iter(servers)).connect().await.unwrap()
}

/// Accepts forms with the defaults that their server proposes.
pub(crate) async fn defaults(request: InputRequest) -> InputAnswer {
    let InputKind::Form(form) = request.kind else { return InputAnswer::Decline };
    let filled = form.fields.into_iter().filter(|field| field.required || field.default.is_some());
    let filled: Option<_> = filled.map(|field| Some((field.name, field.default?))).collect();
    filled.map_or(InputAnswer::Decline, InputAnswer::Accept)
}

/// Connects to these servers.
pub(crate) async fn hub(servers: impl IntoIterator<Item = ServerConfig>) -> Hub {
    connect(builder(), servers).await
}

/// Calls a tool of the server `s`.
pub(crate) async fn call(hub: &Hub, tool: &str) -> Outcome {
    call_with(hub, tool, json!({})).await
}

/// Calls a tool of the server `s`.
pub(crate) async fn call_with(hub: &Hub, tool: &str, arguments: Value) -> Outcome {
    hub.call(Invocation::new(tool).with_server("s").with_arguments(arguments)).await
}

/// Checks that the unreadable ones of the odd tools of server `s` are left out, with notes.
pub(crate) fn odd_tools_are_left_out(hub: &Hub) {
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::Ready, "{status:?}");
    for note in
        ["the tool \"nan\" is left out: NaN is no JSON", "the tool \"deep\" is left out: it is nested too deeply"]
    {
        assert!(status.notes.iter().any(|n| n.starts_with(note)), "{note}: {:?}", status.notes);
    }
    let catalog = hub.catalog();
    assert_eq!(catalog.tools().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["half", "huge", "echo", "raw"]);
    assert_eq!(catalog.find(Some("s"), "half").unwrap().tool.description.as_deref(), Some("cut \u{fffd}"));
}

/// Lets the server `s` answer calls in odd ways, through its tool `raw`. No call waits for its
/// time-out, and none is an empty success.
pub(crate) async fn odd_answers_are_read_or_errors(hub: &Hub) {
    let deep = deep();
    let answer = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":$ID,{rest}}}"#);
    let said = |text: &str| format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    let structured = |json: &str| answer(&format!(r#""result":{{"content":[],"structuredContent":{json}}}"#));
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    for (raw, expected) in [
        (answer(&said("cut \\ud83d here")), Ok("cut \u{fffd} here")),
        (structured(r#"{"mean":[1,NaN]}"#), Err("NaN is no JSON")),
        (
            r#"{"result":{"id":1,"content":[-Infinity]},"id":$ID,"jsonrpc":"2.0"}"#.to_owned(),
            Err("-Infinity is no JSON"),
        ),
        (structured(r#"{"big":1e400,"n":1.10}"#), Ok(r#"{"big":1e400,"n":1.10}"#)),
        (
            structured("[0.1000000000000000055, 12345678901234567890123, 1E2, 1.0]"),
            Ok("[0.1000000000000000055,12345678901234567890123,1E2,1.0]"),
        ),
        (structured(&deep), Err("nested too deeply")),
        (format!("[{notice},{}]", answer(&said("in a batch"))), Ok("in a batch")),
        (format!("[{}]", answer(r#""result":NaN"#)), Err("NaN is no JSON")),
        (answer(r#""results":{}"#), Err("neither \"result\" nor \"error\"")),
        (answer(r#""result":"just text""#), Ok("just text")),
        (answer(r#""result":{"content":"just text"}"#), Ok("just text")),
        (answer(r#""result":null"#), Err("no array \"content\": null")),
        (answer(r#""result":{"content":null}"#), Err("no array \"content\": {\"content\":null}")),
        (
            answer(r#""error":{"code":-32000,"message":"half \ud83d","data":NaN}"#),
            Err("half \u{fffd} (JSON-RPC error -32000): NaN"),
        ),
        (
            answer(r#""error":{"code":-32602,"message":"no","data":{"a":["b\u0007"]}}"#),
            Err(r#"no (JSON-RPC error -32602): {"a":["b"]}"#),
        ),
        (answer(&format!(r#""error":{{"code":1,"message":"no","data":{deep}}}"#)), Err("no (JSON-RPC error 1): [[[")),
        (answer(r#""result":{"isError":"true","content":[{"type":"text","text":"no"}]}"#), Err("no")),
        (
            answer(r#""result":{"content":[{"type":"text","text":"4 items"}],"structuredContent":{"n":1.10}}"#),
            Ok("4 items\n{\"n\":1.10}"),
        ),
    ] {
        let outcome = call_with(hub, "raw", json!({ "text": raw })).await;
        match expected {
            Ok(text) => assert_eq!((outcome.status, outcome.text.as_str()), (Status::Result, text), "{raw}"),
            Err(why) => {
                assert_eq!(outcome.status, Status::ToolError, "{raw}: {outcome:?}");
                assert!(outcome.text.contains(why), "{why}: {outcome:?}");
            }
        }
    }
}
