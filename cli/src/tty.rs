//! The terminal's own settings: echo, what was typed ahead, and how it was found.

#[cfg(unix)]
pub(crate) use unix::Tty;

#[cfg(not(unix))]
pub(crate) use other::Tty;

#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions};

    use rustix::process::getpgrp;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
    };

    /// The terminal that the program was started from. Its settings are put back
    /// when this is dropped, whoever has changed them.
    pub(crate) struct Tty {
        file: File,
        found: Termios,
    }

    impl Tty {
        /// The terminal, if there is one and it listens to this program.
        pub(crate) fn open() -> Option<Self> {
            let file = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
            // A program in the background is stopped when it touches the terminal.
            if tcgetpgrp(&file).ok()? != getpgrp() {
                return None;
            }
            let found = tcgetattr(&file).ok()?;
            Some(Tty { file, found })
        }

        /// Shows what is typed, or does not. It can be read later all the same.
        pub(crate) fn echo(&self, on: bool) {
            let mut modes = self.found.clone();
            if !on {
                modes.local_modes.remove(LocalModes::ECHO);
            }
            // Without it the display is less tidy; nothing else depends on it.
            let _ = tcsetattr(&self.file, OptionalActions::Now, &modes);
        }

        /// Forgets what was typed and not yet read.
        pub(crate) fn forget_typed(&self) {
            let _ = tcflush(&self.file, QueueSelector::IFlush);
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

        pub(crate) fn forget_typed(&self) {}
    }
}
