//! The dialects by their names, and sets of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::spec::Spec;
use super::{builtin, foreign};

/// A call syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
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
    /// `<function=NAME>`, then JSON or `<parameter=KEY>` tags.
    FunctionTag,
    /// `<invoke name="NAME">` with `<parameter name="KEY">` tags.
    Invoke,
    /// DeepSeek's special tokens around a name and JSON.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Kimi K2's special tokens around a name and JSON.
    Kimi,
    /// `<tool_call>NAME` with `<arg_key>` and `<arg_value>` tags, as GLM-4.5 writes it.
    Glm,
    /// Harmony's channels, as gpt-oss writes them.
    Harmony,
    /// `<|START_ACTION|>` with JSON, as Cohere's Command writes it.
    Command,
    /// Solar Open's special tokens around a name and JSON.
    Solar,
    /// Kimi K3's elements of special tokens.
    KimiK3,
    /// `<|tool_call>call:NAME{…}` with bare keys and texts between tokens, as Gemma 4 writes it.
    Gemma,
    /// `[f(a=1), g(b='x')]` and, at a line's start, `f(a=1)`, for known tools.
    Python,
    /// JSON as the whole message or alone in a fence, for known tools.
    Json,
    /// `Action:` and `Action Input:` with JSON, for known tools.
    React,
}

/// Gives the dialects their constant data, in order of precedence.
macro_rules! dialects {
    ($($dialect:ident => $spec:path),+ $(,)?) => {
        impl Dialect {
            /// All dialects, in order of precedence.
            pub const ALL: &'static [Dialect] = &[$(Dialect::$dialect),+];

            /// The dialect's constant data; not a part of the interface.
            #[doc(hidden)]
            pub fn spec(self) -> &'static Spec {
                match self { $(Dialect::$dialect => &$spec),+ }
            }
        }
    };
}

dialects!(
    UseMcpTool => builtin::USE_MCP_TOOL,
    ToolTag => builtin::TOOL_TAG,
    TypeMarker => builtin::TYPE_MARKER,
    Hermes => foreign::HERMES,
    ToolCalls => foreign::TOOL_CALLS,
    ToolRequest => foreign::TOOL_REQUEST,
    PythonTag => foreign::PYTHON_TAG,
    FunctionTag => foreign::FUNCTION_TAG,
    Invoke => foreign::INVOKE,
    // Before DeepSeek, whose call without a separator would take `functions.` and
    // the number for parts of the name: `kimi/no_arguments`.
    Kimi => foreign::KIMI,
    DeepSeek => foreign::DEEPSEEK,
    Glm => foreign::GLM,
    Harmony => foreign::HARMONY,
    Command => foreign::COMMAND,
    Solar => foreign::SOLAR,
    KimiK3 => foreign::KIMI_K3,
    Gemma => foreign::GEMMA,
    Python => foreign::PYTHON,
    Json => foreign::JSON,
    React => foreign::REACT,
);

impl Dialect {
    /// The dialects that the prompt teaches in words of their own; of any other it shows an example,
    /// which is enough for a model that was trained on it.
    pub fn taught() -> impl Iterator<Item = Dialect> {
        Dialect::ALL.iter().copied().filter(|dialect| dialect.spec().template.is_some())
    }

    /// Whether something announces its calls; else they are known by their tools' names alone.
    pub(crate) fn has_marker(self) -> bool {
        use super::spec::Shape;
        !matches!(self.spec().shape, Shape::Python | Shape::Json(_))
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
#[non_exhaustive]
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

/// As text: `auto`, or names joined by commas.
impl Serialize for DialectSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DialectSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        // No dialect is written as no name.
        if text.is_empty() { Ok(DialectSet::NONE) } else { text.parse().map_err(serde::de::Error::custom) }
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
