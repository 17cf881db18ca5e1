//! A headless Chromium: the machine's, or the one that `make set-up` unpacked.

#![allow(dead_code, reason = "each test uses its part")]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `require` makes a missing browser a failure, `skip` leaves one alone that is there.
fn asked() -> String {
    std::env::var("TOOLGRAFT_BROWSER").unwrap_or_default()
}

/// The browser, if there is one. The same rules stand in `tests/browser/set-up`.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut installed = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    // Some distributions have a command of that name that only says where to get one.
    let works = |path: &PathBuf| {
        let version = Command::new(path).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    let ours = Path::new(crate::process::ROOT).join("tests/browser");
    let unpacked = ours.join("unpacked/chromium").is_file();
    installed.find(works).or_else(|| unpacked.then(|| ours.join("chromium.mjs")))
}

/// The browser for this test; otherwise says that it is skipped, where that may be.
pub(crate) fn wanted(test: &str) -> Option<PathBuf> {
    let asked = asked();
    let found = if asked == "skip" { None } else { find() };
    if found.is_none() {
        let demanded = asked == "require" || (asked != "skip" && std::env::var("CI").is_ok_and(|ci| ci == "true"));
        assert!(!demanded, "no Chromium: `make set-up` finds or installs one");
        // Past the capture of the test harness.
        let _ = writeln!(std::io::stderr(), "note: {test} skipped: no Chromium; `make set-up` finds or installs one");
    }
    found
}

/// Returns the browser's output; it gets two minutes.
pub(crate) fn browse(browser: &Path, args: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).args(args);
    command.env("HOME", profile.path()).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let until = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("the browser did not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    reader.join().unwrap().unwrap()
}
