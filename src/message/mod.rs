//! The messages of a request and the parts of an answer: messages, deltas, finish reasons.
//!
//! These types are plain values, below every stage: a request is a list of [`Message`]s, each with a role, text, images
//! and, in native mode, calls; an answer is [`Delta`]s of content and reasoning, then a [`FinishReason`] and a
//! [`Usage`]. The JSON of an API is written in [`wire`](crate::wire), and a conversation grows in
//! [`conversation`](crate::conversation). Out of scope: the meaning of a text. The parser's options [`ReasoningMode`],
//! [`ReasoningCalls`] and [`FencedCalls`] are here only because settings and recordings use them as well.

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
pub(crate) use setters::opaque_debug;
pub(crate) use setters::setters;
pub use tokens::TokenCounter;
