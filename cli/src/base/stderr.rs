//! Standard error. Nobody may read it: a full disk, a reader that has gone and a closed stream are no
//! failure, and end no command.

use std::fmt::Display;
use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::Style;

/// Returns a text after a styled first word, such as `error:`, wrapped by `rows`.
pub(crate) fn headed((style, head): (Style, &str), text: &str, rows: impl Fn(&str) -> String) -> String {
    let rows = rows(&format!("{head} {text}"));
    format!("{style}{head}{style:#}{}", rows.strip_prefix(head).unwrap_or(&rows))
}

/// Writes a line to stderr and ignores errors.
pub(crate) fn tell_stderr(line: impl Display) {
    emit_stderr(format_args!("{line}\n"));
}

/// Writes a text to stderr and ignores errors.
pub(crate) fn emit_stderr(text: impl Display) {
    let _ = write!(anstream::stderr(), "{text}");
}

/// A writer to stderr that ignores all errors.
pub(crate) struct Stderr(AutoStream<io::Stderr>);

impl Stderr {
    pub(crate) fn new() -> Self {
        Stderr(anstream::stderr())
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}
