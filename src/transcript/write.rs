//! Writes a recording line by line.

use std::io;

use serde::Serialize;

use super::recording::{RecordedCall, Recording, Round, Session, VERSION};
use crate::secrets::Secrets;
use crate::tools::Server;

/// Writes a recording round by round, each line flushed.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    line: Vec<u8>,
    secrets: Secrets,
}

impl Recording {
    /// Writes the whole recording, except the notes and the cut.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn write(&self, to: impl std::io::Write) -> std::io::Result<()> {
        let mut writer = Writer::new(to, &self.session)?;
        self.rounds.iter().try_for_each(|round| writer.round(round))
    }
}

/// A line: its type and its fields.
#[derive(Serialize)]
struct TaggedLine<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

impl<W: io::Write> Writer<W> {
    /// Starts a recording: writes the `session` line.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn new(to: W, session: &Session) -> io::Result<Self> {
        let (writer, begun) = Writer::begin(to, session, Secrets::default());
        begun.map(|()| writer)
    }

    /// Like [`new`](Writer::new), but hides these secrets, each where it occurs in one piece. Returns the result of the
    /// `session` line separately.
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

    /// Writes the tools on offer from here on.
    pub(super) fn tools(&mut self, servers: &[Server]) -> io::Result<()> {
        #[derive(Serialize)]
        struct ToolsLine<'a> {
            servers: &'a [Server],
        }
        self.write("tools", &ToolsLine { servers })
    }

    /// Writes a call in the answer, or one that must not run.
    pub(super) fn call(&mut self, call: &RecordedCall) -> io::Result<()> {
        self.write(if call.result.is_ok() { "call" } else { "rejected" }, call)
    }

    /// Writes a whole round.
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

    /// Writes a line of this type. It is one `write` for the whole line, so that lines of a crashed program are not torn
    /// by a buffer's end.
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
