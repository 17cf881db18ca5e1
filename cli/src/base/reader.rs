//! Detects that nobody reads standard output any more.
//!
//! A failed write shows this only when there is something to write: a model that thinks for minutes, or a tool that
//! runs, would go on for nobody.

use std::sync::OnceLock;

use tokio::sync::watch;

/// Waits until the reader of standard output has gone; for a terminal or a file, forever.
pub(crate) async fn gone() {
    static GONE: OnceLock<watch::Receiver<bool>> = OnceLock::new();
    let mut gone = GONE.get_or_init(watch_out).clone();
    if gone.wait_for(|gone| *gone).await.is_err() {
        std::future::pending().await
    }
}

/// Starts a thread that watches standard output, and returns the receiver of its finding.
fn watch_out() -> watch::Receiver<bool> {
    let (tell, gone) = watch::channel(false);
    #[cfg(unix)]
    std::thread::spawn(move || {
        if reader_went() {
            let _ = tell.send(true);
        }
    });
    #[cfg(not(unix))]
    drop(tell);
    gone
}

/// Blocks until the reader of standard output has gone; `false` if it is not a pipe or socket, or on an error.
#[cfg(unix)]
fn reader_went() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{FileType, fstat};

    let out = std::io::stdout();
    let is_pipe = fstat(&out)
        .is_ok_and(|found| matches!(FileType::from_raw_mode(found.st_mode), FileType::Fifo | FileType::Socket));
    if !is_pipe {
        return false;
    }
    loop {
        // Errors and hang-ups are told whether they are asked for or not.
        let mut fds = [PollFd::new(&out, PollFlags::empty())];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        }
    }
}
