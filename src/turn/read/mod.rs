//! Reads the model's output: a message as it streams, its consequence, and the part of it that is kept.
//!
//! The input is deltas and native calls; the output is events for the caller while the message streams, then a message
//! for the history and its consequence ([`Next`]). The module owns the streaming message and the last answer. It runs
//! nothing: a settled call may be shown, all others wait for the end of the message.
//!
//! ```text
//!  Delta ─▶ parser ─▶ events ─▶ Draft ─────────────────▶ Message ─▶ Judge ─▶ Next: run, correct,
//!                                │  Collector: pieces,      │                 finish, …
//!  NativeCall ─▶ natives ────────┘  settled calls           ▼
//!                                                        history: ids, corrections
//! ```
//!
//! - `round`: the state, and the path of a message through the other files.
//! - `draft`: the valid parts of a streaming message, and the place where it is cut.
//! - `announced`: an action that is announced and not done.
//! - `doubt`: a call that may be an example, if there is no approver.
//! - `repeats`: a passage that is repeated again and again.
//! - `message`: a message that has ended, as the history keeps it.
//! - `judge`: its consequence.
//! - `stale`: an edit of a text that the conversation has not shown.
//! - `tail`: the rest of a malformed call, after its end.
//! - `output`: the value of an answer that must match a schema.

mod announced;
mod doubt;
mod draft;
mod ids;
mod judge;
mod message;
mod output;
mod repeats;
mod round;
mod stale;
mod tail;

pub(super) use judge::Next;
pub use judge::may_be_meant;
pub(super) use message::EndedMessage;
pub(super) use round::{Kept, Read, only_repeats_us};

#[cfg(test)]
pub(super) use {draft::READ_ON, judge::Judge, output::find};
