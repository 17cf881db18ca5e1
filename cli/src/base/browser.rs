//! Pages in the user's own browser.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::base::{output, state};
use toolgraft_files::Mode;

/// Returns the program that opens a page in the user's browser, and its first arguments; `None` without a graphical
/// desktop.
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

/// Opens a page in the user's browser, without a shell. Returns `true` if the program was started.
pub(crate) fn open(page: &str) -> bool {
    let Some((program, arguments)) = opener() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // It may stay as long as the browser; nobody waits for it but the system.
    std::thread::spawn(move || drop(child.wait()));
    true
}

/// A private HTML file that redirects to an address; it is deleted when this value is dropped.
pub(crate) struct Way(PathBuf);

impl Drop for Way {
    fn drop(&mut self) {
        // If the file stays, its address was used already, or leads nowhere any more.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens an address that must stay secret. Since all users of this computer can read a program's arguments, the browser
/// opens a file of mode 0600 that redirects to it. Returns `None` if no browser can be opened.
pub(crate) fn open_privately(url: &str) -> Option<Way> {
    opener()?;
    let way = Way::to(url).ok()?;
    open(&way.0.to_string_lossy()).then_some(way)
}

impl Way {
    /// Writes the file that redirects to an address. The address must be ASCII without quotation marks and `&`.
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

/// Opens an HTML file in the browser, or prints a warning with its path.
pub(crate) fn open_file(file: &Path) {
    // A browser that runs already has another working directory.
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if !open(&whole.to_string_lossy()) {
        output::warn(&format!("no browser can be opened from here: open {} in one", whole.display()));
    }
}
