//! The terminal's own settings: echo, what was typed ahead, and how it was found.

#[cfg(unix)]
pub(crate) use unix::Tty;

#[cfg(not(unix))]
pub(crate) use other::Tty;

#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions};
    use std::io::Read;
    use std::sync::{Mutex, PoisonError};

    use crate::terminal::typed::text_of;
    use rustix::process::getpgrp;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
    };

    /// The controlling terminal of the process. Its original settings are restored when this value is dropped.
    pub(crate) struct Tty {
        file: File,
        found: Termios,
        /// Input that was typed before a question and set aside.
        ahead: Mutex<Vec<u8>>,
    }

    impl Tty {
        /// Opens the controlling terminal; `None` if there is none or this process is in the background.
        pub(crate) fn open() -> Option<Self> {
            let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
            // A program in the background is stopped when it touches the terminal.
            if tcgetpgrp(&file).ok()? != getpgrp() {
                return None;
            }
            let found = tcgetattr(&file).ok()?;
            Some(Tty { file, found, ahead: Mutex::default() })
        }

        /// Turns the echo of typed characters on or off. Input typed without echo can still be read later.
        pub(crate) fn echo(&self, on: bool) {
            let mut modes = self.found.clone();
            if !on {
                modes.local_modes.remove(LocalModes::ECHO);
            }
            // Without it the display is less tidy; nothing else depends on it.
            let _ = tcsetattr(&self.file, OptionalActions::Now, &modes);
        }

        /// Reads the pending input and sets it aside, since it cannot be an answer to a question that is shown later.
        pub(crate) fn put_typed_aside(&self) {
            let Ok(before) = tcgetattr(&self.file) else { return };
            let mut modes = before.clone();
            // A line that is not finished can be read, and nothing is waited for.
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            if tcsetattr(&self.file, OptionalActions::Now, &modes).is_ok() {
                let mut bytes = [0; 4096];
                let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
                while let Ok(read @ 1..) = (&self.file).read(&mut bytes) {
                    ahead.extend(&bytes[..read]);
                }
            }
            let _ = tcsetattr(&self.file, OptionalActions::Now, &before);
            let _ = tcflush(&self.file, QueueSelector::IFlush);
        }

        /// Returns the input that was set aside, without control characters and escape sequences.
        pub(crate) fn typed_ahead(&self) -> String {
            let bytes = std::mem::take(&mut *self.ahead.lock().unwrap_or_else(PoisonError::into_inner));
            let text = String::from_utf8_lossy(&bytes).replace('\r', "\n");
            let text: String = text_of(&text).chars().filter(|c| *c == '\n' || !c.is_control()).collect();
            text.trim().to_owned()
        }
    }

    impl Drop for Tty {
        fn drop(&mut self) {
            self.echo(true);
        }
    }
}

#[cfg(not(unix))]
mod other {
    use std::io::{IsTerminal, stdin};

    /// A terminal whose settings are left to the line editor.
    pub(crate) struct Tty;

    impl Tty {
        pub(crate) fn open() -> Option<Self> {
            stdin().is_terminal().then_some(Tty)
        }

        pub(crate) fn echo(&self, _: bool) {}

        pub(crate) fn put_typed_aside(&self) {}

        pub(crate) fn typed_ahead(&self) -> String {
            String::new()
        }
    }
}
