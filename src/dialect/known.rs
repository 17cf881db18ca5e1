//! The dialects by their names, and sets of them.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::file::DialectError;
use super::loaded::{self, LoadedDialect, MAX_LOADED};
use super::spec::Spec;

/// A dialect: a syntax of tool calls. In JSON and as text it is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Dialect {
    /// Calls as `<use_mcp_tool>` with `<server_name>`, `<tool_name>` and `<arguments>` in JSON; reads of resources as
    /// `<access_mcp_resource>` with `<server_name>` and `<uri>`.
    UseMcpTool,
    /// Calls as elements with the names of the tool and its parameters, `<tool><parameter>text</parameter></tool>`;
    /// only for known tools.
    ToolTag,
    /// Calls in JSON after a line `TYPE: MCP`.
    TypeMarker,
    /// Calls in JSON inside `<tool_call>`, as Hermes and Qwen write them.
    Hermes,
    /// Calls after `[TOOL_CALLS]`, in JSON or as a name and JSON, as Mistral's models write them.
    ToolCalls,
    /// Calls in JSON after `[TOOL_REQUEST]`, as the prompt of LM Studio asks for them.
    ToolRequest,
    /// Calls in JSON after `<|python_tag|>`, as Llama writes them.
    PythonTag,
    /// Calls as `<function=NAME>` with arguments in JSON or in `<parameter=KEY>` tags.
    FunctionTag,
    /// Calls as `<invoke name="NAME">` with arguments in `<parameter name="KEY">` tags.
    Invoke,
    /// Calls as a name and JSON between the special tokens of DeepSeek's models.
    #[cfg_attr(feature = "typed", schemars(rename = "deepseek"))]
    DeepSeek,
    /// Calls as a name and JSON between the special tokens of Kimi K2.
    Kimi,
    /// Calls as `<tool_call>NAME` with arguments in `<arg_key>` and `<arg_value>` tags, as GLM-4.5 writes them.
    Glm,
    /// Calls in messages of Harmony's channels, as gpt-oss writes them.
    Harmony,
    /// Calls in JSON after `<|START_ACTION|>`, as Cohere's Command writes them.
    Command,
    /// Calls as a name and JSON between the special tokens of Solar Open.
    Solar,
    /// Calls as elements whose tags are special tokens, as Kimi K3 writes them.
    KimiK3,
    /// Calls as `<|tool_call>call:NAME{…}` with keys without quotes and strings between special tokens, as Gemma 4
    /// writes them.
    Gemma,
    /// Calls as in Python: `[f(a=1), g(b='x')]` and, at the start of a line, `f(a=1)`; only for known tools.
    Python,
    /// Calls in JSON that is the whole message or alone in a code fence; only for known tools.
    Json,
    /// Calls as a line `Action:` with the tool's name and a line `Action Input:` with JSON; only for known tools.
    React,
    /// A dialect that was loaded from a file ([`Dialect::from_json`]).
    #[cfg_attr(feature = "typed", schemars(untagged, with = "String"))]
    Loaded(LoadedDialect),
}

/// Defines the built-in dialects from their variants and files, in order of precedence.
macro_rules! dialects {
    ($($dialect:ident => $file:literal),+ $(,)?) => {
        impl Dialect {
            /// The built-in dialects, in order of precedence.
            pub const ALL: &'static [Dialect] = &[$(Dialect::$dialect),+];

            /// Returns the data of the dialect's file; not a part of the API.
            #[doc(hidden)]
            pub fn spec(self) -> &'static Spec {
                match self {
                    $(Dialect::$dialect => {
                        static SPEC: LazyLock<Spec> = LazyLock::new(|| {
                            own(include_str!(concat!("../../dialects/", $file, "/dialect.json")))
                        });
                        &SPEC
                    })+
                    Dialect::Loaded(loaded) => loaded.spec(),
                }
            }
        }
    };
}

dialects!(
    UseMcpTool => "use_mcp_tool",
    ToolTag => "tool_tag",
    TypeMarker => "type_marker",
    Hermes => "hermes",
    ToolCalls => "tool_calls",
    ToolRequest => "tool_request",
    PythonTag => "python_tag",
    FunctionTag => "function_tag",
    Invoke => "invoke",
    // Before DeepSeek, whose call without a separator would take `functions.` and
    // the number for parts of the name: `kimi/no_arguments`.
    Kimi => "kimi",
    DeepSeek => "deepseek",
    Glm => "glm",
    Harmony => "harmony",
    Command => "command",
    Solar => "solar",
    KimiK3 => "kimi_k3",
    Gemma => "gemma",
    Python => "python",
    Json => "json",
    React => "react",
);

fn own(file: &str) -> Spec {
    super::file::own(file).expect("a test reads the files of this program")
}

impl Dialect {
    /// Returns the dialect that a file describes; `docs/dialects.md` defines the format. The parser reads its calls if
    /// its [`DialectSet`](super::DialectSet) contains it; [`AUTO`](super::DialectSet::AUTO) does not. If two files have
    /// the same name, the name denotes the dialect of the later one.
    ///
    /// ```
    /// use toolgraft::dialect::{DialectSet, write_call};
    /// use toolgraft::parse::Config;
    /// use toolgraft::{Dialect, Parser};
    ///
    /// let file = r#"{"name": "moon", "calls": [{"header": "<moon:{name}>", "close": "</moon>"}]}"#;
    /// let moon = Dialect::from_json(file)?;
    ///
    /// let call = write_call(moon, None, "f", &Default::default());
    /// assert_eq!(call, "<moon:f>{}</moon>");
    /// let mut parser = Parser::new(Config::default().with_dialects(DialectSet::AUTO.with(moon)));
    /// let message = parser.parse(&call);
    /// assert_eq!(message.calls().next().map(|call| call.tool.as_str()), Some("f"));
    /// # Ok::<(), toolgraft::dialect::DialectError>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be used (the error has the path in it), its name is that of a built-in dialect, or
    /// [`MAX_LOADED`](super::MAX_LOADED) other files were loaded before.
    pub fn from_json(text: &str) -> Result<Dialect, DialectError> {
        loaded::load(text, Dialect::ALL.iter().map(|own| own.name())).map(Dialect::Loaded)
    }

    /// Returns the dialects that were loaded from files, then the built-in ones, in order of precedence.
    pub fn known() -> impl Iterator<Item = Dialect> {
        Dialect::loaded().chain(Dialect::ALL.iter().copied())
    }

    /// Returns the dialects that were loaded from files, in the order in which they were loaded.
    pub(crate) fn loaded() -> impl DoubleEndedIterator<Item = Dialect> {
        loaded::all().map(Dialect::Loaded)
    }

    /// Returns the dialects that have a prompt template of their own; any other is taught by an example alone,
    /// which is enough for a model that was trained on it.
    pub fn taught() -> impl Iterator<Item = Dialect> {
        Dialect::ALL.iter().copied().filter(|dialect| dialect.spec().template.is_some())
    }

    /// Returns `true` if a marker announces the dialect's calls; else they are recognised by known tools' names alone.
    pub(crate) fn has_marker(self) -> bool {
        use super::spec::Shape;
        !matches!(self.spec().shape, Shape::Python | Shape::Json(_))
    }

    /// Returns the dialect's name on the command line, in recordings and in the output of `extract`.
    pub fn name(self) -> &'static str {
        &self.spec().name
    }

    /// Returns the dialect's bit in a [`DialectSet`].
    fn bit(self) -> u64 {
        match self {
            Dialect::Loaded(loaded) => 1 << (OWN_BITS + loaded.slot()),
            // Each is one of them.
            own => Dialect::ALL.iter().position(|known| *known == own).map_or(0, |at| 1 << at),
        }
    }
}

/// Number of bits of a [`DialectSet`] for the built-in dialects.
const OWN_BITS: usize = u64::BITS as usize - MAX_LOADED;

const _: () = assert!(Dialect::ALL.len() <= OWN_BITS, "each dialect has a bit of its own");

impl Serialize for Dialect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that is not a dialect's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown dialect {found:?}: expected `auto` or some of {} joined by commas; one of a file is known once the file is read",
    names()
)]
#[non_exhaustive]
pub struct UnknownDialect {
    /// The unknown name.
    pub found: String,
}

fn names() -> String {
    Dialect::known().map(Dialect::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = text.trim();
        // The latest file counts among those with the same name.
        let mut known = Dialect::loaded().rev().chain(Dialect::ALL.iter().copied());
        known.find(|d| d.name() == found).ok_or_else(|| UnknownDialect { found: found.to_owned() })
    }
}

/// A set of dialects that a parser reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DialectSet(u64);

impl DialectSet {
    /// Every built-in dialect (`auto`); dialects loaded from files are added by name.
    pub const AUTO: DialectSet = DialectSet((1 << Dialect::ALL.len()) - 1);

    /// The empty set: no text is read as a call.
    pub const NONE: DialectSet = DialectSet(0);

    /// Returns `true` if the set contains `dialect`.
    pub fn contains(self, dialect: Dialect) -> bool {
        self.0 & dialect.bit() != 0
    }

    /// Returns the set with `dialect` added.
    #[must_use]
    pub fn with(self, dialect: Dialect) -> Self {
        DialectSet(self.0 | dialect.bit())
    }

    /// Returns the set with all dialects of `others` added.
    #[must_use]
    pub fn and(self, others: DialectSet) -> Self {
        DialectSet(self.0 | others.0)
    }

    /// Returns the dialects of the set in order of precedence: those loaded from files first.
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::known().filter(move |d| self.contains(*d))
    }
}

/// Serialises the set as text: `auto`, or names joined by commas.
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
        text.split(',').try_fold(DialectSet::NONE, |set, name| match name.trim() {
            "auto" => Ok(set.and(DialectSet::AUTO)),
            name => Ok(set.with(name.parse()?)),
        })
    }
}

impl fmt::Display for DialectSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_auto = self.0 & DialectSet::AUTO.0 == DialectSet::AUTO.0;
        let named = self.iter().filter(|dialect| !is_auto || matches!(dialect, Dialect::Loaded(_)));
        let names: Vec<_> = is_auto.then_some("auto").into_iter().chain(named.map(Dialect::name)).collect();
        f.write_str(&names.join(","))
    }
}
