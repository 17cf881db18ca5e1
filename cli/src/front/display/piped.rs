//! Writes the model's answer to a standard output that is not a terminal, as it arrives.
//!
//! If tools are offered, a call may follow, and then the text before it ("Let me look.") is not the answer. So the
//! first words of a message wait: a line or two of them, for a moment.

use std::io::{self, Write, stdout};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum size in bytes of a message's first text that is delayed for a possible call; a longer one is an answer.
const WORDS: usize = 200;

/// Maximum time for which the first text of a message is delayed.
const MOMENT: Duration = Duration::from_secs(2);

/// The time at which the text of a message is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// At the end of the turn, for an answer that must match a schema.
    AtTheEnd,
    /// As it arrives, except that the first text is delayed for a possible call.
    AfterFirstWords,
    AsItComes,
}

/// The answer of a turn as written to a pipe or file. Each message starts on a new line.
pub(super) struct Piped {
    sends: Sends,
    /// The text of the current message so far.
    said: String,
    /// Number of bytes of `said` that were written. Trailing white space is written only when more text follows.
    written: usize,
    /// Time at which the delayed first text arrived; `None` if no text is delayed.
    waits_since: Option<Instant>,
    /// `true` if the last written line has no line break yet.
    open: bool,
    /// `true` if no text of this message is written before the end of the turn.
    held: bool,
}

impl Piped {
    pub(super) fn new(has_schema: bool) -> Self {
        let sends = if has_schema { Sends::AtTheEnd } else { Sends::AsItComes };
        Piped { sends, said: String::new(), written: 0, waits_since: None, open: false, held: false }
    }

    /// Starts a turn. If it offers tools, the first text of a message is delayed, since a call may follow it.
    pub(super) fn begin_turn(&mut self, with_tools: bool) {
        if self.sends != Sends::AtTheEnd {
            self.sends = if with_tools { Sends::AfterFirstWords } else { Sends::AsItComes };
        }
    }

    /// Starts a message, on a new line.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.said.clear();
        (self.written, self.waits_since, self.held) = (0, None, false);
        Ok(())
    }

    /// Appends the text of a finished message that was classified as reasoning. It is written only if the end of the
    /// turn shows that it is the answer, since calls inside it are reported later.
    pub(super) fn was_said(&mut self, text: &str) {
        self.held = true;
        self.said.push_str(text);
    }

    /// Appends text to the message. Returns `true` if text was written.
    pub(super) fn text(&mut self, text: &str) -> io::Result<bool> {
        let text = if self.said.is_empty() { text.trim_start() } else { text };
        self.said.push_str(text);
        if self.said.is_empty() {
            return Ok(false);
        }
        match self.sends {
            Sends::AtTheEnd => return Ok(false),
            _ if self.held => return Ok(false),
            Sends::AfterFirstWords if self.written == 0 && self.said.len() <= WORDS => {
                self.waits_since.get_or_insert_with(Instant::now);
                return Ok(false);
            }
            Sends::AfterFirstWords | Sends::AsItComes => {}
        }
        self.send().map(|()| true)
    }

    /// Returns the time at which the delayed text is due to be written; `None` if no text is delayed.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waits_since.map(|since| since + MOMENT)
    }

    /// Writes the text received so far.
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.waits_since = None;
        let end = self.said.trim_end().len();
        if end <= self.written {
            return Ok(());
        }
        let mut out = stdout().lock();
        out.write_all(&self.said.as_bytes()[self.written..end])?;
        (self.written, self.open) = (end, true);
        out.flush()
    }

    /// Ends the current line, since other output follows. Returns the text if none of it was written.
    pub(super) fn end_line(&mut self) -> io::Result<Option<String>> {
        self.waits_since = None;
        if self.written == 0 {
            return Ok(Some(std::mem::take(&mut self.said)));
        }
        if std::mem::take(&mut self.open) {
            self.written = self.said.len();
            let mut out = stdout().lock();
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(None)
    }

    /// Removes and returns the text of this message, which turned out not to be the answer.
    pub(super) fn take(&mut self) -> io::Result<String> {
        if let Some(said) = self.end_line()? {
            return Ok(said);
        }
        self.written = 0;
        Ok(std::mem::take(&mut self.said))
    }

    /// Ends the turn: writes its answer, unless that was already written.
    pub(super) fn finish(&mut self, output: Option<String>, answer: &str) -> io::Result<()> {
        if self.written > 0 {
            return self.end_line().map(drop);
        }
        let answer = if self.sends == Sends::AtTheEnd { "" } else { answer };
        match output.as_deref().unwrap_or(answer) {
            "" => Ok(()),
            answer => {
                let mut out = stdout().lock();
                writeln!(out, "{answer}")?;
                out.flush()
            }
        }
    }
}
