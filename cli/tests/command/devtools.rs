//! A browser that is told what to do over its own protocol, for what no command line of it
//! can: keys, the width of a phone, a dark system, and what the page came to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use toolgraft_testkit::real::{servers, wanted};

/// Longest time for one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page in a browser, which ends with it.
pub(crate) struct Page {
    child: Child,
    socket: TcpStream,
    session: Option<String>,
    last: u64,
    /// Events of the browser, as opposed to answers to requests.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Page {
    pub(crate) fn open(browser: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--hide-scrollbars", "--disable-background-networking", "--disable-component-update"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.args(["--remote-debugging-port=0", "about:blank"]);
        command.env("HOME", profile.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("DevTools listening on ws://").map(str::to_owned)).unwrap();
        std::thread::spawn(move || lines.count());
        let (address, path) = url.split_once('/').unwrap();
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let ask = format!(
            "GET /{path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        socket.write_all(ask.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        let mut page = Page { child, socket, session: None, last: 0, events: Vec::new(), _profile: profile };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = page.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        page.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Log", "Runtime"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page
    }

    /// Sends a command; its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.write(message.to_string().as_bytes());
        loop {
            let answer = self.read();
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// A text frame, with a mask of zeros.
    fn write(&mut self, text: &[u8]) {
        let mut frame = vec![0x81];
        match text.len() {
            short @ 0..126 => frame.push(0x80 | u8::try_from(short).unwrap()),
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text);
        self.socket.write_all(&frame).unwrap();
    }

    /// The next message, which may come in several frames.
    fn read(&mut self) -> Value {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.socket.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7f {
                126 => {
                    let mut long = [0; 2];
                    self.socket.read_exact(&mut long).unwrap();
                    u64::from(u16::from_be_bytes(long))
                }
                127 => {
                    let mut long = [0; 8];
                    self.socket.read_exact(&mut long).unwrap();
                    u64::from_be_bytes(long)
                }
                short => u64::from(short),
            };
            let mut part = vec![0; usize::try_from(length).unwrap()];
            self.socket.read_exact(&mut part).unwrap();
            // Pings and pongs say nothing.
            if head[0] & 0x0f <= 1 {
                text.extend(part);
                if head[0] & 0x80 != 0 {
                    return serde_json::from_slice(&text).unwrap();
                }
            }
        }
    }

    /// Does something that loads a page, and waits until it is there.
    pub(crate) fn load(&mut self, act: impl FnOnce(&mut Self)) {
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
        act(self);
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.read();
            self.events.push(event);
        }
    }

    pub(crate) fn go(&mut self, url: &str) {
        self.load(|page| {
            page.call("Page.navigate", json!({"url": url}));
        });
    }

    /// A value that the page's own JavaScript computes.
    pub(crate) fn find(&mut self, expression: &str) -> Value {
        let found = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(found.get("exceptionDetails").is_none(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Waits until the page's own JavaScript finds this to be true.
    pub(crate) fn until(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.find(&format!("Boolean({expression})")) != true {
            assert!(Instant::now() < until, "{expression}: {}", self.find("document.body.innerText"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A key: `Tab`, `Enter` or `Escape`.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Escape" => 27,
            _ => 13,
        };
        let mut event = json!({"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if key == "Enter" {
            (event["type"], event["text"]) = (json!("keyDown"), json!("\r"));
        }
        self.call("Input.dispatchKeyEvent", event);
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    pub(crate) fn write_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// So wide in CSS pixels, on a light or a dark system.
    pub(crate) fn look(&mut self, width: u32, scheme: &str) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    /// Keeps a picture of the whole page.
    pub(crate) fn screenshot(&mut self, to: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        let bytes = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, bytes).unwrap();
    }

    /// Returns the rules of axe-core that the page breaks, each with the elements that do.
    pub(crate) fn violations(&mut self) -> Value {
        if !wanted("axe-core") {
            return json!([]);
        }
        if self.find("typeof axe") == "undefined" {
            let file = servers().join("node_modules/axe-core/axe.min.js");
            self.find(&std::fs::read_to_string(file).expect("axe-core is missing: run `make set-up`"));
        }
        let run = "axe.run().then((found) => found.violations.map((broken) => \
            [broken.id, broken.help, ...broken.nodes.map((node) => node.html.slice(0, 200))]))";
        let found =
            self.call("Runtime.evaluate", json!({"expression": run, "awaitPromise": true, "returnByValue": true}));
        assert!(found.get("exceptionDetails").is_none(), "{found}");
        found["result"]["value"].clone()
    }

    /// Returns the browser's complaints: rules that a page broke, scripts that failed.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let is_one =
            |event: &&Value| event["method"] == "Log.entryAdded" || event["method"] == "Runtime.exceptionThrown";
        self.events.iter().filter(is_one).map(|event| event["params"].to_string()).collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.session = None;
        self.write(json!({"id": 0, "method": "Browser.close", "params": {}}).to_string().as_bytes());
        // The program that stands in front of it ends with its input.
        drop(self.child.stdin.take());
        let until = Instant::now() + Duration::from_secs(10);
        while self.child.try_wait().unwrap().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
