//! An MCP server over standard input and output with one fault.
//!
//! Some faults only concern one answer; these are tools of every server. The test program is also
//! the server: it starts itself with arguments that lead to [`serve`], and the children of a server
//! with `linger FOLDER`, which leads to [`linger`].

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Serves MCP on standard input and output, with this fault, until standard input ends. Only the server named `s`
/// records its requests, in `dir`.
pub fn serve(fault: &str, dir: &Path, name: &str) {
    // Only the faulty server's actions are recorded.
    let noting = name == "s";
    let mut server = FaultyServer {
        fault: fault.to_owned(),
        dir: dir.to_owned(),
        noting,
        grown: 0,
        pages: 0,
        looks: 0,
        task: String::new(),
        listed: 0,
        subscription: None,
    };
    server.note("starts", &std::process::id().to_string());
    server.begin();
    while let Some(line) = hear() {
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.receive(&message);
        }
    }
    if server.has("ignores-the-end") {
        linger();
    }
}

/// Reads the next line of standard input; `None` at its end.
fn hear() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

fn key() -> String {
    std::env::var("API_KEY").unwrap_or_default()
}

/// Waits forever, until the process is killed.
pub fn linger() {
    loop {
        std::thread::park();
    }
}

/// A JSON Schema with its keys in an unusual order, and with unknown keywords.
pub const SCHEMA: &str = r#"{"zeta":1.0,"type":"object","properties":{"b":{"type":"string","default":null},"a":{"enum":[1,"1",true]}},"x-own":{"deep":[{}]},"required":["b"],"$schema":"https://json-schema.org/draft/2020-12/schema"}"#;

/// Returns a JSON text that is nested too deeply to be parsed.
pub fn deep() -> String {
    format!("{}1{}", "[".repeat(300), "]".repeat(300))
}

/// Returns a JSON list of tools, some of which cannot be read.
pub fn odd_tools() -> String {
    let deep = deep();
    format!(
        r#"[{{"name":"half","description":"cut \ud83d"}},{{"name":"nan","inputSchema":{{"default":NaN}}}},{{"name":"huge","inputSchema":{{"maximum":1e400}}}},{{"name":"deep","inputSchema":{{"default":{deep}}}}},{{"name":"echo"}},{{"name":"raw"}}]"#
    )
}

const TOOLS: &[&str] = &[
    "echo", "pid", "hang", "die", "grow", "grow_first", "listed", "meta", "version", "refuse", "work", "big", "latin1",
    "nameless", "odd", "stop_listening", "hologram", "environment", "stdin", "last", "raw", "ask", "elicit",
    "page_first", "task",
];

struct FaultyServer {
    fault: String,
    dir: PathBuf,
    noting: bool,
    grown: usize,
    /// Number of web pages that the server has asked the user to open.
    pages: usize,
    /// Kind of the current MCP task; `looks` is the number of its polls.
    task: String,
    looks: usize,
    listed: usize,
    /// Id of the request that subscribed to notifications.
    subscription: Option<Value>,
}

/// Declares in its description that the tool `task` only runs as an MCP task.
fn as_task(mut tool: Value) -> Value {
    if tool["name"] == "task" {
        tool["execution"] = json!({ "taskSupport": "required" });
    }
    tool
}

impl FaultyServer {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// Appends a line to a file in the test's folder, if this is the server that records.
    fn note(&self, file: &str, text: &str) {
        if !self.noting {
            return;
        }
        let path = self.dir.join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{text}").unwrap();
    }

    fn begin(&self) {
        match self.fault.as_str() {
            "exits" => self.dies("cannot open the database", 3),
            // Works the first time, and again once the test removes the file.
            "breaks" if self.dir.join("broken").exists() => self.dies("broken for now", 4),
            // Like `uvx` while it downloads.
            "downloads" => {
                let mut stderr = std::io::stderr().lock();
                for n in 1..=12 {
                    writeln!(stderr, "Downloading part {n} of 12").unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            }
            "banner" => self.write(b"*** Welcome to the server ***\n\n[INFO] listening {\n"),
            // A process in its own session, without a parent.
            "has-strays" => {
                let me = std::env::current_exe().unwrap();
                let setsid = Command::new("setsid").arg("-f").arg(me).arg("linger").arg(&self.dir).status();
                assert!(setsid.unwrap().success());
            }
            "has-children" | "ignores-the-end" => {
                let me = std::env::current_exe().unwrap();
                // One whose parent exits at once, and a child of this process, which nobody waits
                // for.
                let script = "(\"$0\" linger \"$1\" &)";
                let family = Command::new("sh").args(["-c", script]).args([&me, &self.dir]).status();
                assert!(family.unwrap().success());
                std::mem::forget(Command::new(&me).arg("linger").arg(&self.dir).spawn().unwrap());
            }
            _ => {}
        }
    }

    fn dies(&self, last_words: &str, code: i32) {
        let mut stderr = std::io::stderr().lock();
        writeln!(stderr, "{last_words}").unwrap();
        std::process::exit(code);
    }

    /// Writes half an answer, ending within a line, and ends the process: with an exit status, or by a signal.
    fn dies_in_an_answer(&self, id: &Value) {
        self.write(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"te"#).as_bytes());
        if self.fault.ends_with(":3") {
            self.dies("fatal: out of luck", 3);
        }
        std::io::stderr().write_all(b"fatal: out of luck\n").unwrap();
        let _ = Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
        linger();
    }

    fn receive(&mut self, message: &Value) {
        let id = message.get("id").cloned();
        let Some(method) = message["method"].as_str() else { return };
        if method.starts_with("notifications/") {
            self.note("notifications", method);
            return;
        }
        let Some(id) = id else { return };
        if self.has(&format!("half:{method}:3")) || self.has(&format!("half:{method}:KILL")) {
            return self.dies_in_an_answer(&id);
        }
        match method {
            _ if self.has("never-answers") => {}
            "server/discover" => match self.fault.as_str() {
                "exits-when-asked" => self.dies("what is server/discover?", 1),
                "ignores-the-question" => {}
                "hangs-when-asked" => linger(),
                // Supports one version, and says so in the form of the 2026-07-28 revision.
                "speaks-2025-03-26" => self.does_not_speak(&id),
                "modern" => self.answer(&id, &json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                    "capabilities": { "tools": { "listChanged": true } },
                    "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "modern", "version": "1" } },
                })),
                _ => self.refuse(&id, -32601, "no such method"),
            },
            "subscriptions/listen" if self.has("modern") => {
                let params = json!({ "notifications": message["params"]["notifications"] });
                self.subscription = Some(id);
                self.notify("notifications/subscriptions/acknowledged", params);
            }
            "initialize" if self.has("modern") => self.refuse(&id, -32601, "no such method"),
            "initialize" if self.has("not-mcp") => self.write(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "initialize" => {
                let version = &message["params"]["protocolVersion"];
                self.note("versions", version.as_str().unwrap_or_default());
                self.note("elicitation", &message["params"]["capabilities"]["elicitation"].to_string());
                if self.fault.starts_with("speaks-") && version != "2025-03-26" {
                    return self.does_not_speak(&id);
                }
                let mut result = json!({
                    "protocolVersion": version,
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "faulty", "version": "1" },
                });
                match self.fault.as_str() {
                    "has-no-version" => result["serverInfo"] = json!({ "name": "faulty" }),
                    "hung-resources" => {
                        result["capabilities"]["resources"] = json!({});
                        result["capabilities"]["prompts"] = json!({});
                    }
                    _ => {}
                }
                self.answer(&id, &result);
            }
            "resources/list" if self.has("hung-resources") => {}
            "resources/templates/list" if self.has("hung-resources") => {
                self.answer(&id, &json!({ "resourceTemplates": [{ "uriTemplate": "a:{b}", "name": "t" }] }));
            }
            "prompts/list" if self.has("hung-resources") => {
                let prompts = r#"{"prompts":[{"name":"p"},{"name":"q","arguments":NaN}]}"#;
                self.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{prompts}}}\n").as_bytes());
            }
            "tools/list" => self.list(&id, &message["params"]),
            "tools/call" => self.call(&id, &message["params"]),
            _ if method.starts_with("tasks/") => self.task(&id, method, &message["params"]),
            _ => self.refuse(&id, -32601, "no such method"),
        }
    }

    fn list(&mut self, id: &Value, params: &Value) {
        self.listed += 1;
        match self.fault.as_str() {
            "slow-list" => return,
            "endless-cursor" | "same-cursor" => {
                let page = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
                let next = if self.has("same-cursor") { key() } else { (page + 1).to_string() };
                return self.answer(id, &json!({ "tools": [], "nextCursor": next }));
            }
            "exits-at-the-list" => std::process::exit(0),
            "unreadable-tools" => {
                let tools = odd_tools();
                return self.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":{tools}}}}}\n").as_bytes(),
                );
            }
            "odd-tools" => {
                let tools = format!(
                    r#"[{{"name":"broken","inputSchema":"none"}},{{"name":"echo"}},{{"name":"schema","inputSchema":{SCHEMA}}}]"#
                );
                return self.write(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":{tools}}}}}\n").as_bytes(),
                );
            }
            _ => {}
        }
        let names = TOOLS.iter().map(|&name| name.to_owned());
        let names = names.chain((0..self.grown).map(|n| format!("grown_{n}")));
        let tools: Vec<Value> =
            names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).map(as_task).collect();
        self.answer(id, &json!({ "tools": tools }));
    }

    /// Answers a call with a new MCP task, in the form of the server's protocol revision. In the earlier revision, a
    /// call that does not request a task is refused.
    fn ticket(&mut self, id: &Value, params: &Value) {
        self.task = params["arguments"]["kind"].as_str().unwrap_or("plain").to_owned();
        self.looks = 0;
        let task = json!({ "taskId": "t1", "status": "working", "createdAt": "2026-11-01T00:00:00Z",
                           "lastUpdatedAt": "2026-11-01T00:00:00Z", "ttl": null, "ttlMs": null,
                           "pollInterval": 20, "pollIntervalMs": 20 });
        match self.has("modern") {
            true => {
                let mut task = task;
                task["resultType"] = "task".into();
                self.answer(id, &task);
            }
            false if params["task"]["ttl"].is_u64() => self.answer(id, &json!({ "task": task })),
            false => self.refuse(id, -32601, "it runs as a task alone"),
        }
    }

    /// Answers a request about the MCP task: it is working at the first poll, and finished at the second.
    fn task(&mut self, id: &Value, method: &str, params: &Value) {
        assert_eq!(params["taskId"], "t1");
        self.note("tasks", method);
        let (modern, content) = (self.has("modern"), json!([{ "type": "text", "text": "it took 1.10 s" }]));
        let mut task = json!({ "resultType": "complete", "taskId": "t1", "createdAt": "2026-11-01T00:00:00Z",
                               "lastUpdatedAt": "2026-11-01T00:00:00Z", "ttlMs": null, "pollInterval": 20, "pollIntervalMs": 20 });
        match method {
            "tasks/get" => {
                self.looks += 1;
                let status = match (self.task.as_str(), self.looks) {
                    ("hangs", _) | (_, 1) => "working",
                    ("asks", 2) => "input_required",
                    ("fails", _) if modern => "failed",
                    _ => "completed",
                };
                task["status"] = status.into();
                match status {
                    "working" => task["statusMessage"] = "half of it".into(),
                    "input_required" if modern => {
                        let form = json!({ "type": "object", "properties": { "name": { "type": "string", "default": "Ada" } } });
                        let asks = json!({ "method": "elicitation/create",
                                           "params": { "mode": "form", "message": "who?", "requestedSchema": form } });
                        task["inputRequests"] = json!({ "q": asks });
                    }
                    "failed" => task["error"] = json!({ "code": -32000, "message": "it broke" }),
                    "completed" if modern => task["result"] = json!({ "content": content }),
                    _ => {}
                }
                self.answer(id, &task);
            }
            "tasks/result" => self.answer(id, &json!({ "content": content, "isError": self.task == "fails" })),
            "tasks/update" => {
                self.note("updates", &params["inputResponses"].to_string());
                self.answer(id, &json!({ "resultType": "complete" }));
            }
            _ => self.answer(id, &task),
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let tool = params["name"].as_str().unwrap();
        let arguments = &params["arguments"];
        self.note("calls", tool);
        match tool {
            "echo" => self.echo(id, arguments["text"].as_str().unwrap_or_default()),
            "raw" => {
                let text = arguments["text"].as_str().unwrap().replace("$ID", &id.to_string());
                self.write(format!("{text}\n").as_bytes());
            }
            "ask" => self.ask(id, params),
            "elicit" => self.elicit(id, arguments),
            "task" => self.ticket(id, params),
            "pid" => self.say(id, &std::process::id().to_string()),
            "hang" => {}
            "meta" => self.say(id, &params["_meta"].to_string()),
            "die" if self.has("tells-its-key") => self.dies(&format!("died of {}", key()), 7),
            "page_first" if arguments["pages"] == self.pages => self.say(id, "granted"),
            "page_first" => {
                self.pages += 1;
                let wanted = json!([{ "mode": "url", "elicitationId": "1", "url": "https://example.com/grant", "message": "Grant access" }]);
                let error =
                    json!({ "code": -32042, "message": "access is needed", "data": { "elicitations": wanted } });
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                self.notify("notifications/elicitation/complete", json!({ "elicitationId": "1" }));
            }
            "refuse" => self.refuse(id, -32000, &format!("no: {}", key())),
            "die" => self.dies("fatal: out of luck", 7),
            "grow" => {
                self.grown += 1;
                self.say(id, "grown");
                for _ in 0..10 {
                    self.notify("notifications/tools/list_changed", json!({}));
                }
            }
            "grow_first" => {
                self.grown += 1;
                self.notify("notifications/tools/list_changed", json!({}));
                self.say(id, "grown");
            }
            "version" => {
                let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
                self.say(id, version.as_str().unwrap_or("none"));
            }
            "listed" => self.say(id, &self.listed.to_string()),
            "work" => self.work(id, &params["_meta"]["progressToken"]),
            "big" => {
                let mebibytes = arguments["mebibytes"].as_u64().unwrap();
                self.say(id, &"x".repeat(usize::try_from(mebibytes).unwrap() * 1024 * 1024));
            }
            "latin1" => {
                let answer = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf?"}}]}}}}"#
                );
                let bytes: Vec<u8> = answer.bytes().map(|b| if b == b'?' { 0xe9 } else { b }).chain([b'\n']).collect();
                self.write(&bytes);
            }
            "nameless" => {
                self.send(&json!({ "jsonrpc": "2.0", "result": { "content": [], "about": "nobody knows whose" } }));
            }
            "odd" => self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": "it did not work" })),
            "last" => {
                let result = json!({ "content": [{ "type": "text", "text": "the last" }] });
                self.write(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().as_bytes());
                std::process::exit(0);
            }
            "stop_listening" => {
                self.say(id, "done");
                linger();
            }
            "hologram" => self.answer(
                id,
                &json!({
                    "content": [{ "type": "hologram", "size": 3 }, { "type": "text", "text": "and text" }]
                }),
            ),
            "environment" => {
                let all: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                self.say(id, &all.join("\n"));
            }
            "stdin" => {
                let target = std::fs::read_link("/proc/self/fd/0").map(|path| path.display().to_string());
                self.say(id, target.as_deref().unwrap_or("pipe:").split(':').next().unwrap());
            }
            _ => self.say(id, "done"),
        }
    }

    /// Answers a call with two requests for the user's input, in the form of the 2026-07-28 revision, and then with
    /// that input.
    fn ask(&self, id: &Value, params: &Value) {
        let form = json!({ "type": "object", "properties": { "name": { "type": "string", "default": "Ada" } } });
        let requests = json!({ "who": { "method": "elicitation/create",
            "params": { "mode": "form", "message": "who?", "requestedSchema": form } } });
        let mut question = json!({ "resultType": "input_required", "requestState": "1" });
        match params["requestState"].as_str() {
            None => question["inputRequests"] = requests,
            Some("1") if params["arguments"]["endless"] == true => {}
            Some("1") => question["requestState"] = params["inputResponses"]["who"].to_string().into(),
            Some(told) => return self.say(id, told),
        }
        self.answer(id, &question);
    }

    /// Sends a question for the user, in the form of the earlier revisions, and answers the call with the user's
    /// reply.
    fn elicit(&self, id: &Value, arguments: &Value) {
        let asked = json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
            "params": arguments["params"] });
        if arguments["unasked"] == true {
            self.say(id, "done");
        }
        self.send(&asked);
        match arguments["then"].as_str() {
            Some("die") => {
                while !self.dir.join("asked").exists() {
                    std::thread::yield_now();
                }
                self.dies("out of patience", 7);
            }
            Some("withdraw") => {
                while !self.dir.join("asked").exists() {
                    std::thread::yield_now();
                }
                let cancelled = json!({ "requestId": "q" });
                self.notify("notifications/cancelled", cancelled);
                return self.say(id, "never mind");
            }
            _ => {}
        }
        while let Some(line) = hear() {
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == "q" {
                let told = answer.get("result").unwrap_or(&answer["error"]).to_string();
                self.note("told", &told);
                if arguments["unasked"] != true {
                    self.say(id, &told);
                }
                return;
            }
            self.note("notifications", answer["method"].as_str().unwrap_or_default());
        }
    }

    fn does_not_speak(&self, id: &Value) {
        let data = json!({ "supported": ["2031-01-01", "2025-03-26", "2024-11-05"], "requested": "?" });
        let error = json!({ "code": -32022, "message": "unsupported protocol version", "data": data });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    /// Reports progress of a call for two seconds, and then answers it; with the fault `endless-progress`, never
    /// ends.
    fn work(&self, id: &Value, token: &Value) {
        let mut progress = 0;
        while progress < 10 || self.has("endless-progress") {
            std::thread::sleep(std::time::Duration::from_millis(200));
            progress += 1;
            let params = json!({ "progressToken": token, "progress": progress });
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
        }
        self.say(id, "done");
    }

    fn echo(&self, id: &Value, text: &str) {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } });
        match self.fault.as_str() {
            "talks" => {
                let mut stderr = std::io::stderr().lock();
                stderr.write_all("so many words\n".repeat(200_000).as_bytes()).unwrap();
            }
            "logs" => {
                let mut stderr = std::io::stderr().lock();
                writeln!(stderr, "\u{1b}[31mlooked\u{1b}[0m with {}", key()).unwrap();
                let rows = json!({ "level": "warning", "logger": "db", "data": format!("no rows for {}", key()) });
                self.notify("notifications/message", rows);
                self.notify("notifications/message", json!({ "level": "chatty", "data": { "rows": 3 } }));
            }
            "text-ids" => {
                let mut answer = answer;
                answer["id"] = json!(id.to_string());
                return self.send(&answer);
            }
            "twice" => self.send(&answer),
            "asks" => {
                for method in ["sampling/createMessage", "elicitation/create", "roots/list", "ping", "no/such/method"] {
                    self.send(
                        &json!({ "jsonrpc": "2.0", "id": format!("my {method}"), "method": method, "params": {} }),
                    );
                    let answered: Value = serde_json::from_str(&hear().unwrap()).unwrap();
                    assert_eq!(answered["id"], format!("my {method}"), "{answered}");
                }
            }
            _ => {}
        }
        self.send(&answer);
    }

    fn say(&self, id: &Value, text: &str) {
        self.answer(id, &json!({ "content": [{ "type": "text", "text": text }] }));
    }

    /// Sends a notification, with the id of the subscription if there is one.
    fn notify(&self, method: &str, mut params: Value) {
        if let Some(subscription) = &self.subscription {
            params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": subscription });
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn refuse(&self, id: &Value, code: i32, message: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn send(&self, message: &Value) {
        match self.fault.as_str() {
            "pretty" => self.write(format!("{message:#}\n").as_bytes()),
            _ => self.write(format!("{message}\n").as_bytes()),
        }
    }

    fn write(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        // The client may have exited.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }
}
