//! What became of a call: a bounded text for the model, the whole for the caller.

pub(crate) mod answer;
mod bounded;
mod neutralise;

pub(crate) use answer::Outcome;
pub use answer::{InterfaceEvent, Status};
pub use bounded::{Cut, RESULT_BYTES, bounded, cut};
pub use neutralise::{Neutraliser, is_invisible, strip_invisible};
