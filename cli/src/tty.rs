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

    use rustix::process::getpgrp;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
    };

    /// The terminal that the program was started from. Its settings are put back
    /// when this is dropped, whoever has changed them.
    pub(crate) struct Tty {
        file: File,
        found: Termios,
        /// What was typed before somebody was asked something else.
        ahead: Mutex<Vec<u8>>,
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
            Some(Tty { file, found, ahead: Mutex::default() })
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

        /// Puts what was typed and not yet read aside: it is no answer to a question that
        /// was not there yet.
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

        /// What was put aside, without what is no text.
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

    /// What was typed without the keys that a terminal sends as escape sequences (ECMA-48):
    /// arrows, function keys, Alt with a letter, and the marks around what is pasted.
    fn text_of(typed: &str) -> String {
        let mut text = String::new();
        let mut chars = typed.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\u{1b}' => {
                    // Alt with an arrow has a second one.
                    while chars.next_if_eq(&'\u{1b}').is_some() {}
                    match chars.peek() {
                        Some('[') => {
                            chars.next();
                            // Linux's own console sends F1 to F5 with a second bracket.
                            chars.next_if_eq(&'[');
                            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
                            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
                        }
                        Some('O') => {
                            chars.next();
                            while chars.next_if(char::is_ascii_digit).is_some() {}
                            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
                        }
                        // Escape alone, and then a line's end, is two keys.
                        Some('\n') | None => {}
                        Some(_) => {
                            chars.next();
                        }
                    }
                }
                c => text.push(c),
            }
        }
        text
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn keys_that_are_escape_sequences_leave_nothing_in_the_text() {
            for (typed, text) in [
                ("ab\u{1b}[A\u{1b}[Dc", "abc"),
                ("\u{1b}OA\u{1b}OP\u{1b}[15~\u{1b}[1;5C\u{1b}[3~x", "x"),
                ("\u{1b}[200~pasted text\u{1b}[201~", "pasted text"),
                ("\u{1b}\u{1b}[Aword\u{1b}bs", "words"),
                ("\u{1b}[[Ax", "x"),
                ("cut\u{1b}[1;", "cut"),
                ("cut\u{1b}", "cut"),
                ("one\u{1b}\ntwo", "one\ntwo"),
                ("奥斯陆\u{1b}[B的天气", "奥斯陆的天气"),
                ("array[A]", "array[A]"),
            ] {
                assert_eq!(text_of(typed), text, "{typed:?}");
            }
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
