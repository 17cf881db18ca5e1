//! What the structure of an answer has to be: from a dialect, tools and a choice, or from a
//! schema, to the forms in which endpoints take it.
//!
//! ```text
//! tools' schemas ─▶ Structure ─┬─▶ GBNF            (calls in the taught syntax; llama.cpp)
//!                              ├─▶ JSON Schema     (one call as the dialect `json` has it)
//!                              └─▶ structural tags (what a call's own opener begins; vLLM, SGLang)
//! an answer's schema ─────────────▶ JSON Schema    (as it is)
//! ```
//!
//! A [`Constraint`] holds all forms that there are; whoever sends it takes the one that its
//! endpoint knows. The parser reads the answer as any other text: a constraint makes a call
//! likely to be read, and nothing relies on it.
//!
//! A grammar fixes the form and not the decision, so it is for where a structure is due: a
//! required or named tool, an answer after a schema, the round that corrects a rejected call.
//! Where the model may as well answer in prose only tags are sent, which bind what the model
//! itself begins.
//!
//! What a schema says beyond its structure is left to validation; see `structure`. Calls are
//! held to one canonical spelling, that of [`write_call`](crate::dialect::write_call), with
//! members in the schema's order.

mod calls;
mod constraint;
mod form;
mod gbnf;
mod json_schema;
#[cfg(feature = "agent")]
mod narrowed;
mod structure;

pub use constraint::{Constraint, MAX_CALLS};
pub use form::{Constrain, Constrained, StructuralTag, StructuralTags, Thinking, Way};
#[cfg(feature = "agent")]
pub(crate) use narrowed::{Narrowed, is_id, required};
#[cfg(feature = "agent")]
pub(crate) use structure::is_zone;
