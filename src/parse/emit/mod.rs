//! The output side: events in order, and the verdict on each call.
//!
//! ```text
//!   text, markers ────────────────────────────┐
//!   UnresolvedCall ──verdict──▶ Call, Rejected ┴─▶ Emitter ─┬─judge─▶ sink(Event)
//!                                                          └─▶ Pending: fenced calls, and calls
//!                                                              without a marker, until decided
//! ```
//!
//! The emitter emits every byte once. Its three parts remember what later decisions need: `region` the current region
//! and what occurred in it, `budget` how many calls there may be, `drafts` the calls so far while their meaning is
//! undecided. `damage` says which calls may be text of one that cannot be read, `pending` which of the waiting calls are
//! all calls or all text, `command` decodes a shell's command that was written as XML text, `not_a_call`
//! reports why text that looked like a call is none.

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
pub(crate) mod sink;
pub(crate) mod unresolved;
pub(crate) mod verdict;
