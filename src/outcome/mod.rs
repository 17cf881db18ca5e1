//! What became of a call: a bounded text for the model, the whole for the caller.
//!
//! In comes what a tool gave or why it did not run; out goes an [`Outcome`] with
//! a [`Status`], the text that the model reads, and what only the program sees (structured
//! values, media, events for a user interface). A failure is an outcome too, never an error.
//!
//! On its way to the model a text passes two things: [`bounded`] cuts a long one to head and
//! tail, and a [`Neutraliser`] breaks what a dialect could read as a call or a chat template as
//! a turn, since a tool's text is foreign. Out of scope: the frame around it, which is the
//! prompt's.

pub(crate) mod answer;
mod bounded;
mod neutralise;

pub(crate) use answer::Outcome;
pub use answer::{InterfaceEvent, Status};
pub use bounded::{Cut, RESULT_BYTES, bounded, cut};
pub use neutralise::{Neutraliser, is_invisible, strip_invisible};
