//! Pages in the user's own browser.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::base::{output, state};
use toolgraft_files::Mode;

/// Returns the program that opens a page in the user's browser, and its first arguments; `None` where there
/// is none to be seen.
fn opener() -> Option<(&'static str, &'static [&'static str])> {
    if cfg!(target_os = "macos") {
        Some(("open", &[]))
    } else if cfg!(windows) {
        // `start` is built into cmd.exe, a shell.
        Some(("rundll32", &["url.dll,FileProtocolHandler"]))
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()) {
        Some(("xdg-open", &[]))
    } else {
        // It would start a browser for terminals in this one.
        None
    }
}

/// Opens a page; whether that was begun. No shell is involved.
pub(crate) fn open(page: &str) -> bool {
    let Some((program, arguments)) = opener() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // It may stay as long as the browser; nobody waits for it but the system.
    std::thread::spawn(move || drop(child.wait()));
    true
}

/// A file of the user's own that leads to an address; it is removed when this is dropped.
pub(crate) struct Way(PathBuf);

impl Drop for Way {
    fn drop(&mut self) {
        // If the file stays, its address was used already, or leads nowhere any more.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens an address that only the user may know. Every user of this machine can read the arguments of a
/// program, so the browser is given a file of mode 0600 that leads there. `None` where no browser
/// can be opened.
pub(crate) fn open_privately(url: &str) -> Option<Way> {
    opener()?;
    let way = Way::to(url).ok()?;
    open(&way.0.to_string_lossy()).then_some(way)
}

impl Way {
    /// Writes the file. The address must be ASCII without quotation marks and `&`.
    fn to(url: &str) -> io::Result<Self> {
        let name = format!("open-{}.html", std::process::id());
        let file = state::file(&name).ok_or_else(|| io::Error::other("there is no home directory"))?;
        let page = format!(
            "<!doctype html>\n<meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>toolgraft</title>\n<a href=\"{url}\">toolgraft</a>\n"
        );
        toolgraft_files::replace(&file, page.as_bytes(), Mode::Private)?;
        Ok(Way(file))
    }
}

/// Opens a page that was written to a file, or says where it is.
pub(crate) fn open_file(file: &Path) {
    // A browser that runs already has another working directory.
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if !open(&whole.to_string_lossy()) {
        output::warn(&format!("no browser can be opened from here: open {} in one", whole.display()));
    }
}
