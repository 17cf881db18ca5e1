//! Writes the model's answer to a standard output that is not a terminal, as it arrives.
//!
//! If tools are offered, a call may follow, and then the text before it ("Let me look.") is not the answer. So the
//! first words of a message wait: a line or two of them, for a moment.

use std::io::{self, Write, stdout};
use std::time::Duration;

use tokio::time::Instant;

/// Bytes of a message that wait for a call; more is an answer.
const WORDS: usize = 200;

/// So long they wait.
const MOMENT: Duration = Duration::from_secs(2);

/// The time at which the text of a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// Only at the end of the turn: an answer that must match a schema.
    AtTheEnd,
    /// First words wait, the rest goes out as it comes.
    AfterFirstWords,
    AsItComes,
}

/// The text of a turn on a pipe or in a file. Each message begins a line and ends one.
pub(super) struct Piped {
    sends: Sends,
    /// The text of this message so far.
    said: String,
    /// Number of bytes of `said` that were written; only white space that waits for further text follows them.
    written: usize,
    /// The time at which the first words came, as long as they wait.
    waits_since: Option<Instant>,
    /// A line is open.
    open: bool,
    /// Nothing of this message is written before the turn is over.
    held: bool,
}

impl Piped {
    pub(super) fn new(has_schema: bool) -> Self {
        let sends = if has_schema { Sends::AtTheEnd } else { Sends::AsItComes };
        Piped { sends, said: String::new(), written: 0, waits_since: None, open: false, held: false }
    }

    /// Begins a turn. If it offers tools, the first words of a message wait, since a call may follow them.
    pub(super) fn begin_turn(&mut self, with_tools: bool) {
        if self.sends != Sends::AtTheEnd {
            self.sends = if with_tools { Sends::AfterFirstWords } else { Sends::AsItComes };
        }
    }

    /// Begins a message, on a new line.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.said.clear();
        (self.written, self.waits_since, self.held) = (0, None, false);
        Ok(())
    }

    /// Appends text of a finished message that was taken for reasoning. The end of the turn decides whether it is the
    /// answer: calls inside it are reported later.
    pub(super) fn was_said(&mut self, text: &str) {
        self.held = true;
        self.said.push_str(text);
    }

    /// Appends text of the message. Returns `true` if some was written.
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

    /// Returns the time at which the first words have waited long enough, if they wait.
    pub(super) fn due(&self) -> Option<Instant> {
        self.waits_since.map(|since| since + MOMENT)
    }

    /// Sends what came so far.
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

    /// Ends the line that text is on: what follows is something else. Returns the words that
    /// have not gone out.
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

    /// The text of this message was something else; what it was.
    pub(super) fn take(&mut self) -> io::Result<String> {
        if let Some(said) = self.end_line()? {
            return Ok(said);
        }
        self.written = 0;
        Ok(std::mem::take(&mut self.said))
    }

    /// The turn is over: its answer, unless that went out as it came.
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
