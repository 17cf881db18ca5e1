//! What goes out: events in order, and the verdict on each call.
//!
//! ```text
//!   text, markers ────────────────────────────┐
//!   UnresolvedCall ──verdict──▶ Call, Rejected ┴─▶ Emitter ─┬─judge─▶ sink(Event)
//!                                                          └─▶ Pending: fenced calls, and calls
//!                                                              without a marker, until decided
//! ```
//!
//! The emitter hands every byte on once. Its three parts remember what later decisions need:
//! `region` where the text stands and what came there, `budget` how many calls there may be,
//! `drafts` the calls so far as far as it is open what they are. `damage` says which calls may be text of
//! one that cannot be read, `series` says which of the calls that
//! wait stand or fall together, `command` decodes a shell's command that was written as XML text,
//! `not_a_call` says why text that looked like a call is none, to whoever asked.

pub(crate) mod budget;
pub(crate) mod command;
pub(crate) mod damage;
pub(crate) mod drafts;
pub(crate) mod emitter;
pub(crate) mod judge;
pub(crate) mod not_a_call;
pub(crate) mod pending;
pub(crate) mod prose;
pub(crate) mod region;
pub(crate) mod series;
pub(crate) mod sink;
pub(crate) mod unresolved;
pub(crate) mod verdict;
