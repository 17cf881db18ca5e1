//! Writes a recording line by line.

use std::io;

use serde::Serialize;

use super::recording::{RecordedCall, Recording, Round, Session, VERSION};
use crate::secrets::Secrets;
use crate::tools::Server;

/// Writer of a recording, which writes round by round and flushes each line.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    line: Vec<u8>,
    secrets: Secrets,
}

impl Recording {
    /// Writes the whole recording, without its notes and its cut.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn write(&self, to: impl std::io::Write) -> std::io::Result<()> {
        let mut writer = Writer::new(to, &self.session)?;
        self.rounds.iter().try_for_each(|round| writer.round(round))
    }
}

/// A line of a recording: its type and its fields.
#[derive(Serialize)]
struct TaggedLine<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

impl<W: io::Write> Writer<W> {
    /// Begins a recording by writing the `session` line.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn new(to: W, session: &Session) -> io::Result<Self> {
        let (writer, begun) = Writer::begin(to, session, Secrets::default());
        begun.map(|()| writer)
    }

    /// Begins a recording as [`new`](Writer::new) does, and redacts these secrets where they are within one line. The
    /// result of writing the `session` line is returned separately.
    pub(super) fn begin(to: W, session: &Session, secrets: Secrets) -> (Self, io::Result<()>) {
        #[derive(Serialize)]
        struct SessionLine<'a> {
            toolgraft: u64,
            #[serde(flatten)]
            session: &'a Session,
        }
        let mut writer = Writer { to, line: Vec::new(), secrets };
        let begun = writer.write("session", &SessionLine { toolgraft: VERSION, session });
        (writer, begun)
    }

    /// Writes a line with the tools that are offered from this point on.
    pub(super) fn tools(&mut self, servers: &[Server]) -> io::Result<()> {
        #[derive(Serialize)]
        struct ToolsLine<'a> {
            servers: &'a [Server],
        }
        self.write("tools", &ToolsLine { servers })
    }

    /// Writes a line with a call or a rejected call of the answer.
    pub(super) fn call(&mut self, call: &RecordedCall) -> io::Result<()> {
        self.write(if call.result.is_ok() { "call" } else { "rejected" }, call)
    }

    /// Writes all lines of a round.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn round(&mut self, round: &Round) -> io::Result<()> {
        if let Some(sent) = &round.sent {
            self.write("request", sent)?;
        }
        if let Some(tools) = &round.tools {
            self.tools(tools)?;
        }
        round.messages.iter().try_for_each(|message| self.write("message", message))?;
        round.deltas.iter().try_for_each(|delta| self.write("delta", delta))?;
        round.native_calls.iter().try_for_each(|call| self.write("native_call", call))?;
        if let Some(usage) = &round.usage {
            self.write("usage", usage)?;
        }
        if let Some(finish) = &round.finish {
            self.write("finish", finish)?;
        }
        round.calls.iter().try_for_each(|call| self.call(call))?;
        round.outcomes.iter().try_for_each(|outcome| self.write("outcome", outcome))?;
        round.notices.iter().try_for_each(|notice| self.write("notice", notice))
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.to
    }

    /// Writes a line of this type with one `write`, so that a crash of the program does not leave a partial line in the
    /// buffer.
    pub(super) fn write(&mut self, r#type: &'static str, body: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        let line = TaggedLine { r#type, body };
        if self.secrets.is_empty() {
            serde_json::to_writer(&mut self.line, &line)?;
        } else {
            let mut line = serde_json::to_value(&line)?;
            self.secrets.hide_in(&mut line);
            serde_json::to_writer(&mut self.line, &line)?;
        }
        self.line.push(b'\n');
        self.to.write_all(&self.line)?;
        self.to.flush()
    }
}
