//! What the model says: a message as it streams, what it comes to, what of it is kept.
//!
//! In come deltas and native calls; out go events for the caller while the
//! message streams, then a message for the history and what follows from it
//! ([`Next`]). Owns the message that streams and the last answer. Runs nothing:
//! a call that is settled may be shown, all others wait for the message's end.
//!
//! ```text
//!  Delta ─▶ parser ─▶ events ─▶ Draft ─────────────────▶ Message ─▶ Judge ─▶ Next: run, correct,
//!                                │  Collector: pieces,      │                 finish, …
//!  NativeCall ─▶ natives ────────┘  settled calls           ▼
//!                                                        history: ids, corrections
//! ```
//!
//! - `round`: the state, and the way of a message through the files below.
//! - `draft`: what counts while it streams, where it is cut.
//! - `announced`: an act that is said and not done.
//! - `doubt`: a call that may be an example, where nobody can be asked.
//! - `repeats`: a passage that stands there again and again.
//! - `message`: one that is over, as the history keeps it.
//! - `judge`: what follows from it.
//! - `stale`: an edit of a text that the conversation has not shown.
//! - `tail`: what is left of a broken call behind it.
//! - `output`: the value of an answer that has to match a schema.

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
pub(super) use message::Message;
pub(super) use round::{Kept, Read};

#[cfg(test)]
pub(super) use {draft::READ_ON, judge::Judge, output::find};
