//! Call syntaxes as data, read by the prompt and by the parser alike.
//!
//! A dialect is a file, `dialects/NAME/dialect.json`: its markers, headers and
//! keys, and the template that teaches it. How such calls are read is code (in
//! [`parse`](crate::parse)). A program reads further files with [`Dialect::from_json`].

mod by_name;
mod by_template;
mod contexts;
mod file;
mod header;
mod introductions;
pub(crate) mod known;
mod loaded;
mod profile;
mod reasoning;
mod spec;
mod table;
mod tokens;
mod turns;
mod write;

#[cfg(feature = "agent")]
pub(crate) use by_name::ByName;
pub(crate) use by_name::named_by_element;
pub(crate) use by_template::by_template;
pub use file::{DialectError, MAX_FILE, MAX_ROWS, MAX_TEXT};
#[doc(hidden)]
pub use header::HeaderPiece;
#[cfg(feature = "prompt")]
pub(crate) use introductions::Introductions;
pub(crate) use introductions::{Doubt, asks_as_example, doubt_before, introduces_example, takes_back_call};
pub(crate) use known::Dialect;
pub use known::{DialectSet, UnknownDialect};
pub use loaded::{LoadedDialect, MAX_LOADED};
pub use profile::{COMPACT_BELOW, Lang, Profile, PromptStyle, SystemPlacement, parameters_in_name};
// Not a part of the interface: this repository's own command, tests and fuzzing read it.
#[doc(hidden)]
pub use contexts::{BlockForm, QUOTING_BLOCKS, QuotingBlock};
pub(crate) use contexts::{COMMENT_SIGNS, names_no_element};
#[doc(hidden)]
pub use reasoning::{REASONING_MARKS, ReasoningMark, THINK_TAGS};
#[doc(hidden)]
pub use spec::{
    ACTION, Announcer, Block, CallKeys, Child, ChildRole, FUNCTION, Group, LineMarker, MarkedJson, Named,
    NamedArguments, NamedCall, React, ReactHead, Shape, Spec, Wrapper,
};
#[doc(hidden)]
pub(crate) use spec::{IDLE, LIST};
pub(crate) use tokens::{CALL_TOKENS, OWN_ROLES, SENTENCE_END, STRIKE_OPEN, template_tokens};
#[doc(hidden)]
pub use tokens::{
    CONTROL_FAMILIES, ControlFamily, NUMBERED_TOKENS, OTHER_ROLES, TOKEN_FAMILIES, TemplateToken, TokenClass,
    TokenFamily,
};
#[doc(hidden)]
pub use turns::{LineCounts, RESULT_LINES, RESULT_TAGS, TurnLine, USER_LINES};
pub(crate) use turns::{OTHERS_LINES, OthersLine, begins_line};
pub use write::{write_call, write_tool_call};
