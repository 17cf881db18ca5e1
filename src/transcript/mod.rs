//! Recordings of model sessions: line-based JSON to a [`Recording`], and back.
//!
//! A recording is a file with one JSON object a line, each with a `type`. The
//! first line is a `session` and names the format's version; then, round by
//! round, what was sent (`tools`, `message`), what came back as it was streamed
//! (`delta`, `native_call`, `usage`, `finish`), what was found in it (`call`,
//! `rejected`), what became of it (`outcome`) and what was said about it
//! (`notice`). `docs/replay.md` shows each line.
//!
//! - A recording that is read back equals the written one; the deltas byte for byte.
//! - A [`Writer`] flushes every line, so that a crash leaves a readable prefix; such a recording is read up to the
//!   [`CutPlace`].
//! - An unknown version is refused; unknown line types are skipped and noted, unknown fields skipped.
//!
//! With the feature `agent`, a `Recorder` writes a recording while a model and its agent work, and a `Recorded` replays
//! one as a model. [`import`](mod@import)
//! converts recordings of other programs into the same type, and `Recording::from(&conversation)` converts a stored
//! conversation of a session that was not recorded.
//!
//! ```
//! use toolgraft::Message;
//! use toolgraft::message::{DeltaKind, FinishReason};
//! use toolgraft::transcript::{Finish, Round, Session, TimedDelta, Writer, self};
//!
//! let session = Session::default().with_model("deepseek-r1:14b".to_owned());
//! let mut writer = Writer::new(Vec::new(), &session)?;
//! let pieces = [("It is ", 12_u64), ("noon.", 40)];
//! let deltas = pieces.map(|(text, ms)| TimedDelta::new(DeltaKind::Content, text).with_ms(ms));
//! let round = Round::default()
//!     .with_messages([Message::user("What time is it?")])
//!     .with_deltas(deltas)
//!     .with_finish(Finish::new(FinishReason::Stop).with_ms(41_u64));
//! writer.round(&round)?;
//!
//! let recording = transcript::read(&*writer.into_inner())?;
//! assert_eq!(recording.rounds[0].said(DeltaKind::Content), "It is noon.");
//! assert!(recording.cut.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod history;
pub mod import;
mod read;
#[cfg(feature = "agent")]
mod record;
#[cfg(feature = "agent")]
mod recorded;
mod recording;
mod write;

pub(crate) use crate::message::NativeCall;
pub use read::{ReadError, parse, read};
#[cfg(feature = "agent")]
pub use record::Recorder;
#[cfg(feature = "agent")]
pub use recorded::Recorded;
pub use recording::{
    CutPlace, CutReason, Finish, Note, RecordedCall, RecordedNotice, RecordedOutcome, Recording, Round, Sent, Session,
    TimedDelta, VERSION,
};
pub use write::Writer;
