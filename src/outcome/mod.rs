//! What became of a call: a bounded text for the model, the whole for the caller.
//!
//! In comes what a tool gave or why it did not run; out goes an [`Outcome`] with
//! a [`Status`], the text that the model reads, and what only the program sees (structured
//! values, media, events for a user interface). A failure is an outcome too, never an error.
//!
//! On its way to the model a text passes two things: [`bounded`] cuts a long one to head and
//! tail ([`Part`] and [`Places`] are what the model may read on), and [`break_tokens`] breaks the
//! control tokens of chat templates, which [`restore_tokens`] takes back in what the model writes.
//! All else arrives byte for byte, in a frame with a [`boundary`]; what the program itself says has
//! a frame of its own ([`noted`]). What describes tools is
//! neutralised further: a [`Neutraliser`] breaks in it what a dialect could read as a call.

pub(crate) mod answer;
mod boundary;
mod bounded;
mod media;
mod neutralise;
mod part;
mod tokens;

pub(crate) use answer::Outcome;
pub use answer::{InterfaceEvent, Status};
pub(crate) use boundary::framed;
pub use boundary::{
    FILE, RESULT, STATUS, boundary, foreign_in_frames, holds_frame, named_files, noted, told_apart, unnoted,
};
pub use bounded::{Cut, RESULT_BYTES, bounded, cut};
pub use media::{MEDIA_EVENT, MEDIUM_SHOWN, MODEL_MEDIUM_BYTES};
pub(crate) use media::{MODEL_MEDIA, MODEL_MEDIA_BYTES};
#[cfg(feature = "prompt")]
pub(crate) use neutralise::shortened;
pub(crate) use neutralise::strip_invisible;
pub use neutralise::{Neutraliser, is_invisible};
pub use part::{Part, Places};
pub(crate) use tokens::rebreak_tokens;
pub use tokens::{BREAK, Restorer, break_tokens, control_tokens, restore_tokens};
