//! Call syntaxes as data, read by the prompt and by the parser alike.
//!
//! A dialect names its markers, the shape that its text has, and the template
//! that teaches it. Shapes are code (in [`parse`](crate::parse)); a further
//! dialect of a known shape is one more constant here.

mod builtin;
mod foreign;
mod spec;
mod tokens;
mod write;

pub use spec::{
    Block, Child, ChildRole, Group, Lead, LineMarker, MarkedJson, Named, NamedArguments, NamedCall, ObjectKeys, Piece,
    React, Shape, Spec, Wrapper,
};
pub use tokens::{ROLES, SENTENCE_END, STRIKE_OPEN, TEMPLATE_TOKENS, TemplateToken};
pub use write::{write_call, write_tool_call};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A call syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dialect {
    /// `<use_mcp_tool>` with `<server_name>`, `<tool_name>`, `<arguments>` in
    /// JSON, and `<access_mcp_resource>` with `<server_name>`, `<uri>`.
    UseMcpTool,
    /// `<tool><parameter>text</parameter></tool>` for known tools.
    ToolTag,
    /// A line `TYPE: MCP`, then JSON.
    TypeMarker,
    /// `<tool_call>` with JSON, as Hermes and Qwen write it.
    Hermes,
    /// `[TOOL_CALLS]` with JSON, or with a name and JSON, as Mistral's models write it.
    ToolCalls,
    /// `[TOOL_REQUEST]` with JSON, as LM Studio asks for it.
    ToolRequest,
    /// `<|python_tag|>` with JSON, as Llama writes it.
    PythonTag,
    /// `<function=NAME>`, then JSON or `<parameter=KEY>` tags; only read.
    FunctionTag,
    /// `<invoke name="NAME">` with `<parameter name="KEY">` tags; only read.
    Invoke,
    /// DeepSeek's special tokens around a name and JSON; only read.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// `[f(a=1), g(b='x')]` and, at a line's start, `f(a=1)`, for known tools; only read.
    Python,
    /// JSON as the whole message or alone in a fence, for known tools; only read.
    Json,
    /// `Action:` and `Action Input:` with JSON, for known tools; only read.
    React,
}

impl Dialect {
    /// All dialects, in order of precedence.
    pub const ALL: &'static [Dialect] = &[
        Dialect::UseMcpTool,
        Dialect::ToolTag,
        Dialect::TypeMarker,
        Dialect::Hermes,
        Dialect::ToolCalls,
        Dialect::ToolRequest,
        Dialect::PythonTag,
        Dialect::FunctionTag,
        Dialect::Invoke,
        Dialect::DeepSeek,
        Dialect::Python,
        Dialect::Json,
        Dialect::React,
    ];

    /// The dialects that the prompt can teach; the others are only read.
    pub fn taught() -> impl Iterator<Item = Dialect> {
        Dialect::ALL.iter().copied().filter(|dialect| dialect.spec().template.is_some())
    }

    /// The dialect's constant data.
    pub fn spec(self) -> &'static Spec {
        match self {
            Dialect::UseMcpTool => &builtin::USE_MCP_TOOL,
            Dialect::ToolTag => &builtin::TOOL_TAG,
            Dialect::TypeMarker => &builtin::TYPE_MARKER,
            Dialect::Hermes => &foreign::HERMES,
            Dialect::ToolCalls => &foreign::TOOL_CALLS,
            Dialect::ToolRequest => &foreign::TOOL_REQUEST,
            Dialect::PythonTag => &foreign::PYTHON_TAG,
            Dialect::FunctionTag => &foreign::FUNCTION_TAG,
            Dialect::Invoke => &foreign::INVOKE,
            Dialect::DeepSeek => &foreign::DEEPSEEK,
            Dialect::Python => &foreign::PYTHON,
            Dialect::Json => &foreign::JSON,
            Dialect::React => &foreign::REACT,
        }
    }

    /// Name on the command line, in recordings and in `extract`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no dialect's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect {found:?}: expected `auto` or some of {} joined by commas", names())]
pub struct UnknownDialect {
    /// The name.
    pub found: String,
}

fn names() -> String {
    Dialect::ALL.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = text.trim();
        Dialect::ALL
            .iter()
            .copied()
            .find(|d| d.name() == found)
            .ok_or_else(|| UnknownDialect { found: found.to_owned() })
    }
}

/// A set of dialects that a parser reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DialectSet(u32);

impl DialectSet {
    /// Every dialect (`auto`).
    pub const AUTO: DialectSet = DialectSet(u32::MAX);

    /// No dialect: everything is text.
    pub const NONE: DialectSet = DialectSet(0);

    /// Whether the set holds `dialect`.
    pub fn contains(self, dialect: Dialect) -> bool {
        self.0 & (1 << dialect as u32) != 0
    }

    /// The set with `dialect` in it.
    #[must_use]
    pub fn with(self, dialect: Dialect) -> Self {
        DialectSet(self.0 | 1 << dialect as u32)
    }

    /// The dialects of the set.
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL.iter().copied().filter(move |d| self.contains(*d))
    }
}

impl Default for DialectSet {
    fn default() -> Self {
        DialectSet::AUTO
    }
}

impl From<Dialect> for DialectSet {
    fn from(dialect: Dialect) -> Self {
        DialectSet::NONE.with(dialect)
    }
}

impl FromStr for DialectSet {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        if text.trim() == "auto" {
            return Ok(DialectSet::AUTO);
        }
        text.split(',').try_fold(DialectSet::NONE, |set, name| Ok(set.with(name.parse()?)))
    }
}

impl fmt::Display for DialectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == DialectSet::AUTO {
            return f.write_str("auto");
        }
        let names: Vec<_> = self.iter().map(Dialect::name).collect();
        f.write_str(&names.join(","))
    }
}
