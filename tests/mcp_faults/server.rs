//! An MCP server over standard input and output with one fault.
//!
//! Without a fault it has the tools `echo(text)`, `pid`, `hang`, which never
//! answers, `die`, which ends the server, `grow`, which adds a tool and says so
//! ten times, and `listed`, which counts its listings.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Serves until standard input ends.
pub(crate) fn serve(fault: &str, dir: &Path) {
    let mut server = Server { fault: fault.to_owned(), dir: dir.to_owned(), grown: 0, listed: 0 };
    server.note("starts", "");
    server.begin();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.receive(&message);
        }
    }
    if server.has("ignores-the-end") {
        linger();
    }
}

/// Waits to be killed.
pub(crate) fn linger() {
    loop {
        std::thread::park();
    }
}

struct Server {
    fault: String,
    dir: PathBuf,
    grown: usize,
    listed: usize,
}

impl Server {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// Adds a line to a file of the test's folder; returns how many it has.
    fn note(&self, file: &str, text: &str) -> usize {
        let path = self.dir.join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        writeln!(file, "{text}").unwrap();
        std::fs::read_to_string(path).unwrap().lines().count()
    }

    fn begin(&self) {
        match self.fault.as_str() {
            "exits" => self.dies("cannot open the database", 3),
            // Works the first time, and again when the test says so.
            "breaks" if self.dir.join("broken").exists() => self.dies("broken for now", 4),
            "has-children" | "ignores-the-end" => {
                let me = std::env::current_exe().unwrap();
                // One whose parent goes at once, and one of our own, which nobody waits for.
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

    fn receive(&mut self, message: &Value) {
        let id = message.get("id").cloned();
        let Some(method) = message["method"].as_str() else { return };
        if method.starts_with("notifications/") {
            self.note("notifications", method);
            return;
        }
        let Some(id) = id else { return };
        match method {
            _ if self.has("never-answers") => {}
            "initialize" => self.answer(
                &id,
                json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "faulty", "version": "1" },
                }),
            ),
            "tools/list" => self.list(&id),
            "tools/call" => self.call(&id, &message["params"]),
            _ => self
                .send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" } })),
        }
    }

    fn list(&mut self, id: &Value) {
        self.listed += 1;
        let names = ["echo", "pid", "hang", "die", "grow", "listed"].map(str::to_owned);
        let names = names.into_iter().chain((0..self.grown).map(|n| format!("grown_{n}")));
        let tools: Vec<Value> =
            names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
        self.answer(id, json!({ "tools": tools }));
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let tool = params["name"].as_str().unwrap();
        self.note("calls", tool);
        match tool {
            "echo" => self.say(id, params["arguments"]["text"].as_str().unwrap_or_default()),
            "pid" => self.say(id, &std::process::id().to_string()),
            "hang" => {}
            "die" => self.dies("fatal: out of luck", 7),
            "grow" => {
                self.grown += 1;
                self.say(id, "grown");
                for _ in 0..10 {
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                }
            }
            "listed" => self.say(id, &self.listed.to_string()),
            _ => self.say(id, "done"),
        }
    }

    fn say(&self, id: &Value, text: &str) {
        self.answer(id, json!({ "content": [{ "type": "text", "text": text }] }));
    }

    fn answer(&self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn send(&self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        // A client that has gone is none of a server's business.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }
}
