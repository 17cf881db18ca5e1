//! What goes to a model and how its answer arrives: messages, deltas, finish reasons.
//!
//! Values alone, below every stage: a request is a list of [`Message`]s, each with
//! a role, text, images and, in native mode, calls; an answer is [`Delta`]s of content and
//! reasoning, then a [`FinishReason`] and a [`Usage`]. How a message looks on the wire of an
//! interface is [`wire`](crate::wire)'s matter, and how a conversation grows that of
//! [`conversation`](crate::conversation). Out of scope: what a text means. What a program may set
//! about reading it ([`ReasoningMode`], [`ReasoningCalls`], [`FencedCalls`]) stands here only since
//! settings and recordings name it as well.

mod answer;
mod audio;
pub(crate) mod chat;
pub(crate) mod chunk;
pub(crate) mod image;
mod keyword;
mod reads;
mod reasoning;
mod setters;
mod tokens;

pub use answer::{Delta, DeltaKind, FinishReason, Usage};
pub use audio::Audio;
pub(crate) use chat::Message;
pub use chat::{NativeCall, Role};
pub use image::{Image, ImageError, MAX_IMAGE_BYTES};
pub use keyword::UnknownKeyword;
pub(crate) use keyword::keyword_enum;
pub use reads::Reads;
pub use reasoning::{CarryReasoning, FencedCalls, ReasoningCalls, ReasoningMode};
#[cfg(feature = "prompt")]
pub(crate) use setters::opaque_debug;
pub(crate) use setters::setters;
pub use tokens::TokenCounter;
