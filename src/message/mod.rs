//! What goes to a model and how its answer arrives: messages, deltas, finish reasons.

mod answer;
pub(crate) mod chat;
pub(crate) mod chunk;
pub(crate) mod image;
mod keyword;
mod reasoning;
mod setters;
mod tokens;

pub use answer::{Delta, DeltaKind, FinishReason, Usage};
pub(crate) use chat::Message;
pub use chat::{NativeCall, Role};
pub use image::{Image, ImageError, MAX_IMAGE_BYTES};
pub use keyword::UnknownKeyword;
pub(crate) use keyword::keyword_enum;
pub use reasoning::{CarryReasoning, FencedCalls, ReasoningCalls, ReasoningMode};
pub(crate) use setters::setters;
pub use tokens::TokenCounter;
