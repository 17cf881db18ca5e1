//! A recording, line by line, onto anything that takes bytes.

use std::io;

use serde::Serialize;

use super::recording::{
    Finish, RecordedCall, RecordedNotice, RecordedOutcome, Recording, Round, Sent, Session, TimedDelta, VERSION,
};
use crate::event::{Call, Rejected};
use crate::message::{DeltaKind, FinishReason, Message, NativeCall, Usage};
use crate::secrets::Secrets;
use crate::tools::Server;

/// Writes a recording, one line per method, each flushed.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    line: Vec<u8>,
    secrets: Secrets,
}

impl Recording {
    /// Writes all of it, the notes and the cut aside.
    ///
    /// # Errors
    /// Those of the writer below.
    pub fn write(&self, to: impl std::io::Write) -> std::io::Result<()> {
        let mut writer = Writer::new(to, &self.session)?;
        self.rounds.iter().try_for_each(|round| writer.round(round))
    }
}

/// A line: its type, then its fields.
#[derive(Serialize)]
struct Tagged<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

impl<W: io::Write> Writer<W> {
    /// Starts a recording: writes the `session` line.
    ///
    /// # Errors
    /// Those of the writer below; so in all methods.
    pub fn new(to: W, session: &Session) -> io::Result<Self> {
        let (writer, begun) = Writer::begin(to, session, Secrets::default());
        begun.map(|()| writer)
    }

    /// The same without these secrets, wherever one stands in one piece; and
    /// what became of the `session` line.
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

    /// A request begins.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn request(&mut self, sent: &Sent) -> io::Result<()> {
        self.write("request", sent)
    }

    /// The tools on offer from here on.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn tools(&mut self, servers: &[Server]) -> io::Result<()> {
        #[derive(Serialize)]
        struct ToolsLine<'a> {
            servers: &'a [Server],
        }
        self.write("tools", &ToolsLine { servers })
    }

    /// A message that was sent and was not part of the request before.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn message(&mut self, message: &Message) -> io::Result<()> {
        self.write("message", message)
    }

    /// A piece of the answer; `ms` counts from the request.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn delta(&mut self, kind: DeltaKind, text: &str, ms: Option<u64>) -> io::Result<()> {
        self.write("delta", &TimedDelta { kind, text: text.to_owned(), ms })
    }

    /// A call that the endpoint itself reported.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn native_call(&mut self, call: &NativeCall) -> io::Result<()> {
        self.write("native_call", call)
    }

    /// What the answer cost.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn usage(&mut self, usage: &Usage) -> io::Result<()> {
        self.write("usage", usage)
    }

    /// The answer's end; `ms` counts from the request.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn finish(&mut self, reason: &FinishReason, ms: Option<u64>) -> io::Result<()> {
        self.write("finish", &Finish { reason: reason.clone(), ms })
    }

    /// A call that was found in the answer.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn call(&mut self, index: u32, id: Option<&str>, call: &Call) -> io::Result<()> {
        #[derive(Serialize)]
        struct CallLine<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            index: u32,
            call: &'a Call,
        }
        self.write("call", &CallLine { id, index, call })
    }

    /// A call that must not run.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn rejected(&mut self, index: u32, id: Option<&str>, rejected: &Rejected) -> io::Result<()> {
        #[derive(Serialize)]
        struct RejectedLine<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            index: u32,
            rejected: &'a Rejected,
        }
        self.write("rejected", &RejectedLine { id, index, rejected })
    }

    /// What became of a call.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn outcome(&mut self, outcome: &RecordedOutcome) -> io::Result<()> {
        self.write("outcome", outcome)
    }

    /// Something that was said beside the answer and the outcomes.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn notice(&mut self, notice: &RecordedNotice) -> io::Result<()> {
        self.write("notice", notice)
    }

    /// A whole round.
    #[expect(clippy::missing_errors_doc, reason = "see `new`")]
    pub fn round(&mut self, round: &Round) -> io::Result<()> {
        if let Some(sent) = &round.sent {
            self.request(sent)?;
        }
        if let Some(tools) = &round.tools {
            self.tools(tools)?;
        }
        round.messages.iter().try_for_each(|message| self.message(message))?;
        round.deltas.iter().try_for_each(|delta| self.write("delta", delta))?;
        round.native_calls.iter().try_for_each(|call| self.native_call(call))?;
        if let Some(usage) = &round.usage {
            self.usage(usage)?;
        }
        if let Some(finish) = &round.finish {
            self.write("finish", finish)?;
        }
        for RecordedCall { index, id, result } in &round.calls {
            match result {
                Ok(call) => self.call(*index, id.as_deref(), call)?,
                Err(rejected) => self.rejected(*index, id.as_deref(), rejected)?,
            }
        }
        round.outcomes.iter().try_for_each(|outcome| self.outcome(outcome))?;
        round.notices.iter().try_for_each(|notice| self.notice(notice))
    }

    /// The writer below.
    pub fn into_inner(self) -> W {
        self.to
    }

    /// One `write` for the whole line, so that lines of a crashed program are not torn
    /// by a buffer's end.
    fn write(&mut self, r#type: &'static str, body: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        let line = Tagged { r#type, body };
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
