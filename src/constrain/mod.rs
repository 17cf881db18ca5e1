//! Computes the structure of an answer, from a dialect, tools and a choice, or from a schema, in the forms that
//! endpoints accept.
//!
//! ```text
//! tools' schemas ─▶ Structure ─┬─▶ GBNF            (calls in the taught syntax; llama.cpp)
//!                              ├─▶ JSON Schema     (one call as the dialect `json` has it)
//!                              └─▶ structural tags (what a call's own opener begins; vLLM, SGLang)
//! an answer's schema ─────────────▶ JSON Schema    (as it is)
//! ```
//!
//! A [`Constraint`] has all available forms; its sender uses the one that the endpoint supports. The parser reads the
//! answer like any other text: a constraint makes it more likely that a call is valid, but nothing relies on it.
//!
//! A grammar fixes the form of an answer, not the decision to call, so it is used only where a structure is required: a
//! required or named tool, an answer that must match a schema, the round that corrects a rejected call. If the model
//! may also answer in prose, only tags are sent, which constrain the text after an opener that the model writes.
//!
//! The rules of a schema beyond its structure are left to validation; see `structure`. Calls are constrained to one
//! canonical form, that of [`write_call`](crate::dialect::write_call), with members in the schema's order.

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
pub(crate) use narrowed::{
    Narrowed, id_of, is_alike, is_bare_name, is_id, is_id_word, is_same_member, kind_of_id, kind_of_name, required,
};
#[cfg(feature = "agent")]
pub(crate) use structure::is_zone;
