//! Call syntaxes as data, read by the prompt and by the parser alike.
//!
//! A dialect names its markers, the shape that its text has, and the template
//! that teaches it. Shapes are code (in [`parse`](crate::parse)); a further
//! dialect of a known shape is one more constant here.

mod builtin;
mod foreign;
mod introductions;
pub(crate) mod known;
mod profile;
mod reasoning;
mod spec;
mod tokens;
mod write;

#[cfg(feature = "prompt")]
pub(crate) use introductions::Introductions;
pub(crate) use introductions::{asks_as_example, introduces_example};
pub(crate) use known::Dialect;
pub use known::{DialectSet, UnknownDialect};
pub use profile::{COMPACT_BELOW, Lang, Profile, PromptStyle, SystemPlacement, parameters_in_name};
// Not a part of the interface: this repository's own command, tests and fuzzing read it.
#[doc(hidden)]
pub use reasoning::{REASONING_MARKS, ReasoningMark, THINK_TAGS};
#[doc(hidden)]
pub use spec::{
    Announcer, Block, CallKeys, Child, ChildRole, FUNCTION, Group, LineMarker, MarkedJson, Named, NamedArguments,
    NamedCall, Piece, React, Shape, Spec, Wrapper,
};
#[doc(hidden)]
pub use tokens::{
    CALL_TOKENS, OTHER_ROLES, OWN_LINES, OWN_ROLES, RESULT_LINES, RESULT_TAGS, SENTENCE_END, STRIKE_OPEN,
    TOKEN_FAMILIES, TemplateToken, TokenClass, TokenFamily, USER_LINES, template_tokens,
};
pub use write::{write_call, write_tool_call};
