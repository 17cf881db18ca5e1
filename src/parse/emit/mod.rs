//! What goes out: events in order, and the verdict on each call.
//!
//! ```text
//!   text, markers ────────────────────────────┐
//!   UnresolvedCall ──verdict──▶ Call, Rejected ┴─▶ Emitter ─┬─▶ sink(Event)
//!                                                          └─▶ Pending: fenced calls, and calls
//!                                                              without a marker, until decided
//! ```
//!
//! The emitter hands every byte on once and remembers what later decisions need: the
//! region, what the user has seen, the calls so far. `damage` says which calls may be text of
//! one that cannot be read, `series` says which of the calls that
//! wait stand or fall together, `not_a_call` says why text that
//! looked like a call is none, to whoever asked.

pub(crate) mod damage;
pub(crate) mod emitter;
pub(crate) mod not_a_call;
pub(crate) mod pending;
pub(crate) mod prose;
pub(crate) mod series;
pub(crate) mod unresolved;
pub(crate) mod verdict;
