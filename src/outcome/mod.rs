//! The outcome of a call: a bounded text for the model, the whole for the caller.
//!
//! The input is a tool's answer or the reason why it did not run; the output is an [`Outcome`] with a [`Status`], the
//! text that the model reads, and the parts that only the program sees (structured values, media, events for a user
//! interface). A failure is an outcome too, never an error.
//!
//! Two functions change a text on its way to the model: [`bounded`] cuts a long one to head and tail ([`TextPart`] and
//! [`TextPlaces`] let the model read the rest), and [`break_tokens`] escapes the control tokens of chat templates, which
//! [`restore_tokens`] reverses in the model's output. The text otherwise arrives byte for byte, in a frame with a
//! [`boundary`]; the program's own notes have a frame of their own ([`noted`]). Descriptions of tools are escaped
//! further: a [`Neutraliser`] breaks every text in them that a dialect could read as a call.

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
    FILE, RESULT, STATUS, boundary, foreign_in_frames, foreign_in_message, holds_frame, named_files, noted, told_apart,
    unnoted,
};
pub use bounded::{Cut, RESULT_BYTES, bounded, cut};
pub(crate) use media::MODEL_MEDIA_BYTES;
pub use media::{MEDIA_EVENT, MEDIUM_SHOWN, MODEL_MEDIA, MODEL_MEDIUM_BYTES};
#[cfg(any(feature = "prompt", feature = "validate"))]
pub(crate) use neutralise::shortened;
pub(crate) use neutralise::strip_invisible;
pub use neutralise::{Neutraliser, is_invisible};
pub use part::{TextPart, TextPlaces};
pub(crate) use tokens::rebreak_tokens;
pub use tokens::{BREAK, Restorer, break_tokens, control_tokens, restore_tokens};
