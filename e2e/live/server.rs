//! llama.cpp's server with the model: one for most tests, others for tests that end it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time after which an expected event counts as missing; machines are slow and shared.
pub(crate) const PATIENCE: Duration = Duration::from_secs(200);

/// The port that servers of this kind are looked for at.
const USUAL_PORT: u16 = 8080;

/// Returns `true` if tests with the real model should run. Otherwise writes a note directly to
/// standard error, which the test harness does not capture.
pub(crate) fn wanted(test: &str) -> bool {
    let wanted = std::env::var("TOOLGRAFT_LIVE").is_ok_and(|v| v == "1");
    if !wanted {
        let _ = writeln!(std::io::stderr(), "note: {test} skipped: a real model runs with `make e2e SUITES=live`");
    }
    wanted
}

/// A running server. It ends when this value is dropped or the test process ends.
pub(crate) struct Server {
    child: Child,
    /// The server ends when this pipe is closed.
    _open: Option<ChildStdin>,
    port: u16,
}

impl Server {
    /// Starts a server and waits until its model is loaded.
    pub(crate) fn start(port: u16, options: &[&str]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/live");
        let python = folder.join("venv/bin/python");
        assert!(python.is_file(), "{} is missing: run `make e2e SUITES=live`", python.display());
        let mut command = Command::new(python);
        command.arg(folder.join("server.py")).args(["--port", &port.to_string()]).args(options);
        command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let open = child.stdin.take();
        let start = Instant::now();
        while !is_ready(port) {
            assert_eq!(child.try_wait().unwrap(), None, "the server ended before it had its model");
            assert!(start.elapsed() < PATIENCE, "the server on port {port} has no model");
            std::thread::sleep(Duration::from_millis(100));
        }
        Server { child, _open: open, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Ends the server as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Returns `true` if it is on the port that is looked for.
    pub(crate) fn has_usual_port(&self) -> bool {
        self.port == USUAL_PORT
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns `true` if a server listens and its model is loaded; before, it answers 503.
fn is_ready(port: u16) -> bool {
    let asked = || -> std::io::Result<String> {
        let mut server = TcpStream::connect(("127.0.0.1", port))?;
        server.write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        server.read_to_string(&mut answer)?;
        Ok(answer)
    };
    asked().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Returns an unused port.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the server of most tests, on the usual port if that is free.
pub(crate) fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let usual = TcpListener::bind(("127.0.0.1", USUAL_PORT)).is_ok();
        Server::start(if usual { USUAL_PORT } else { free_port() }, &[])
    })
}
