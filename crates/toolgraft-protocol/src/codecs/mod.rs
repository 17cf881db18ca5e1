//! The client interfaces: each reads requests, and writes answers and errors.

mod chat;
mod functions;
mod gemini;
mod interfaces;
mod messages;
mod ollama;
mod pending_calls;
mod responses;
pub(crate) mod shape;
pub(crate) mod vendor;

pub(crate) use chat::Chat;
pub use chat::usage_text;
pub use interfaces::{GOOGLE_KEY, INTERFACES, Interface, OLLAMA_PATHS, is_doubled, shape_of};
pub use shape::{Hosted, Link, Places, Read, Results, Shape, Writer};
