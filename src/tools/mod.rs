//! Tools as data: the offers of servers and programs, the names under which a model calls them, and the calls that may
//! run.
//!
//! The input is the tool lists of MCP servers and of programs; the output is a [`Catalog`] that the prompt prints and
//! the parser knows, and the `Decision` of a `Policy` about each call. Nothing here runs a tool: that is `route`.
//!
//! ```text
//! tools/list ─▶ Tool ─▶ Catalog ─┬─▶ prompt, requests      (every tool, in order)
//!                                └─▶ Catalog::resolve      (a model's name ─▶ one tool)
//! Catalog ─▶ Search ─▶ the tools that a question means
//! call ─▶ Policy ─▶ Decision                               (allow, ask, deny)
//! Catalog ─▶ wire_name ─▶ requests that carry tools         (one name for server and tool)
//! input_schema ─▶ schema::Walk ─▶ prompts, requests, examples, messages, tags
//! ```
//!
//! `schema` is the only reader of JSON Schema: it finds subschemas, resolves references, and limits the amount of an
//! untrusted schema that is read. `validate` decides whether a value matches a schema.

mod built_in;
pub(crate) mod catalog;
mod nearest;
#[cfg(feature = "agent")]
pub(crate) mod policy;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod tool;
pub(crate) mod wire_name;
pub(crate) mod words;

pub use built_in::{BuiltIn, DESCRIBE_TOOL, FIND_TOOL, READ_RESULT};
pub(crate) use catalog::Catalog;
pub use catalog::{Found, MAX_NEAREST, NotFound, Server};
pub use nearest::nearest;
#[cfg(feature = "agent")]
pub(crate) use policy::Policy;
#[cfg(feature = "agent")]
pub use policy::{
    AmbiguousPattern, Decision, Judgement, Rule, UnreadablePattern, conditions, exact_pattern, matches, server_pattern,
    wants_approval,
};
pub use schema::allow_null;
#[cfg(feature = "agent")]
pub(crate) use search::stem;
#[cfg(feature = "prompt")]
pub(crate) use search::{FOUND, LIKELIEST};
pub use search::{Said, Search};
pub(crate) use tool::Tool;
#[cfg(feature = "validate")]
pub(crate) use tool::example_value;
#[cfg(feature = "prompt")]
pub(crate) use tool::is_destructive;
pub use tool::{
    ACCESS_RESOURCE, Annotations, Definition, Parameter, Resource, ResourceTemplate, ToolChoice, ToolExample, ToolsMode,
};
#[cfg(feature = "agent")]
pub(crate) use tool::{changes_nothing, lists, looks_up, may_change};
#[cfg(feature = "agent")]
pub(crate) use words::name_words;
