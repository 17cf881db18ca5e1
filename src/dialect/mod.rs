//! Call syntaxes as data, read by the prompt and by the parser alike.
//!
//! A dialect names its markers, the shape that its text has, and the template
//! that teaches it. Shapes are code (in [`parse`](crate::parse)); a further
//! dialect of a known shape is one more constant here.

mod builtin;
mod by_name;
mod by_template;
mod contexts;
mod foreign;
mod introductions;
pub(crate) mod known;
mod profile;
mod reasoning;
mod spec;
mod tokens;
mod turns;
mod write;

#[cfg(feature = "agent")]
pub(crate) use by_name::ByName;
pub(crate) use by_name::named_by_element;
#[cfg(feature = "prompt")]
pub(crate) use introductions::Introductions;
pub(crate) use introductions::{asks_as_example, introduces_example};
pub(crate) use known::Dialect;
pub use known::{DialectSet, UnknownDialect};
pub use profile::{COMPACT_BELOW, Lang, Profile, PromptStyle, SystemPlacement, parameters_in_name};
// Not a part of the interface: this repository's own command, tests and fuzzing read it.
pub(crate) use contexts::COMMENT_SIGNS;
#[doc(hidden)]
pub use contexts::{BlockForm, QUOTING_BLOCKS, QuotingBlock};
#[doc(hidden)]
pub use reasoning::{REASONING_MARKS, ReasoningMark, THINK_TAGS};
#[doc(hidden)]
pub use spec::{
    Announcer, Block, CallKeys, Child, ChildRole, FUNCTION, Group, LineMarker, MarkedJson, Named, NamedArguments,
    NamedCall, Piece, React, Shape, Spec, Wrapper,
};
pub(crate) use tokens::{CALL_TOKENS, OWN_ROLES, SENTENCE_END, STRIKE_OPEN, template_tokens};
#[doc(hidden)]
pub use tokens::{
    CONTROL_FAMILIES, ControlFamily, NUMBERED_TOKENS, OTHER_ROLES, TOKEN_FAMILIES, TemplateToken, TokenClass,
    TokenFamily,
};
#[doc(hidden)]
pub use turns::{LineCounts, RESULT_LINES, RESULT_TAGS, TurnLine, USER_LINES};
pub(crate) use turns::{OTHERS_LINES, OthersLine, begins_line, others_lines_at};
pub use write::{write_call, write_tool_call};
