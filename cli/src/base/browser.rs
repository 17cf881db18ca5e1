//! Pages in the person's own browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::base::output;

/// Opens a page; whether that was begun. No shell is involved.
pub(crate) fn open(page: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()) {
        ("xdg-open", &[])
    } else {
        // It would start a browser for terminals in this one.
        return false;
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // It may stay as long as the browser; nobody waits for it but the system.
    std::thread::spawn(move || drop(child.wait()));
    true
}

/// Opens a page that was written to a file, or says where it stands.
pub(crate) fn open_file(file: &Path) {
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if !open(&whole.to_string_lossy()) {
        output::warn(&format!("no browser can be opened from here: open {} in one", whole.display()));
    }
}
