//! Calls as the parser found them, and calls that it rejected.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::reasoning::keyword_enum;

/// A complete call of a tool or resource, not yet checked against a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Server, as written or as resolved from the catalog.
    pub server: Option<String>,
    /// Tool; [`ACCESS_RESOURCE`](crate::tool::ACCESS_RESOURCE) for a resource.
    pub tool: String,
    /// Arguments: any JSON value until they are validated.
    pub arguments: Value,
    /// The arguments' text as the model wrote it.
    pub raw_arguments: String,
    /// Syntax that the call was written in.
    pub dialect: Dialect,
    /// Everything that had to be mended, in order.
    pub repairs: Vec<Repair>,
}

/// A call that must not run, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// Reason.
    pub kind: RejectedKind,
    /// The call's whole text, at most [`Limits::call_bytes`](crate::parse::Limits::call_bytes).
    pub raw: String,
    /// What was wrong and where, for people and for the model.
    pub message: String,
    /// Server, as far as it was known.
    pub server: Option<String>,
    /// Tool, as far as it was known.
    pub tool: Option<String>,
    /// Names of tools that the model may have meant (`unknown_tool` only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Syntax that the call was written in.
    pub dialect: Dialect,
    /// The call itself where it was complete: a draft, an example, or one with
    /// arguments that its schema refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Box<Call>>,
    /// How many calls more came past the limit on calls; they are not listed.
    /// Known at the message's end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Why a call was rejected, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectedKind {
    /// It stands in the reasoning.
    InReasoning,
    /// It stands in a code fence with other text: an example.
    Quoted,
    /// It passed a limit on size, depth or number.
    Limit,
    /// The stream ended before the call did.
    Truncated,
    /// It cannot be read.
    Malformed,
    /// No such tool.
    UnknownTool,
    /// The tool's schema refuses the arguments.
    InvalidArguments,
}

keyword_enum!(RejectedKind, "a kind of rejection",
    "in_reasoning" => RejectedKind::InReasoning,
    "quoted" => RejectedKind::Quoted,
    "limit" => RejectedKind::Limit,
    "truncated" => RejectedKind::Truncated,
    "malformed" => RejectedKind::Malformed,
    "unknown_tool" => RejectedKind::UnknownTool,
    "invalid_arguments" => RejectedKind::InvalidArguments);

/// Something that was mended in a call. Nothing is mended without one.
///
/// Serialised as its [`Display`](fmt::Display) form: a snake-case word, for
/// some followed by a colon and a place or a name (`coerced:/days`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// A code fence around the arguments was taken off.
    Fence,
    /// Text around an answer's JSON was left out.
    Prose,
    /// A CDATA section around a value was unwrapped.
    Cdata,
    /// XML entities were decoded.
    Entities,
    /// The whole JSON text was escaped once more, as if in a string (`{\"a\": 1}`).
    EscapedJson,
    /// Raw control characters in strings were escaped.
    ControlCharacters,
    /// Backslashes that begin no JSON escape were doubled, or dropped before an apostrophe.
    Backslashes,
    /// Strings in single, typographic or tripled quotes.
    Quotes,
    /// Quotation marks inside a string were escaped.
    InnerQuotes,
    /// Commas before a closing bracket were dropped.
    TrailingComma,
    /// A comma was missing between two members or items.
    MissingComma,
    /// Commas before the first member or after another comma were dropped.
    ExtraComma,
    /// A colon was missing between a key and its value.
    MissingColon,
    /// Full-width colons and commas outside strings.
    FullWidth,
    /// Spaces that JSON does not know, outside strings.
    WhiteSpace,
    /// `True`, `False`, `None` in any case, or a tuple.
    PythonLiterals,
    /// Numbers in a form that JSON does not know (`.5`, `5.`, `+5`, `1_000`).
    NumberForm,
    /// Comments were dropped.
    Comments,
    /// Keys without quotes.
    UnquotedKeys,
    /// Strings without quotes.
    UnquotedValues,
    /// Closing tags were missing after a complete call.
    MissingClose,
    /// A number was read with fewer digits than were written.
    NumberPrecision,
    /// The server was missing or unknown, and one server has the tool.
    ServerResolved,
    /// The name was written otherwise; this is how. See [`Catalog::resolve`](crate::catalog::Catalog::resolve).
    NameMatched(String),
    /// Another key stood for the dialect's own (`name` for `tool_name`).
    KeyAlias(String),
    /// A value was read as the type its schema wants; the place is a JSON Pointer.
    Coerced(String),
    /// Text held the value as JSON: an object or array, or text once more. The
    /// place is a JSON Pointer.
    UnwrappedString(String),
    /// An array held the one value that its schema wants there.
    UnwrappedArray(String),
    /// A single value was made an array, which its schema wants there.
    WrappedInArray(String),
    /// A key was written in another case or style than the schema's; the place
    /// is that of the key as it was written.
    KeyRenamed(String),
    /// Another repair, by its word.
    Other(String),
}

/// The repairs that are one word, both ways.
macro_rules! repair_words {
    ($($word:literal => $repair:ident),+ $(,)?) => {
        impl Repair {
            /// Its word; `None` for one that holds a name, a place or a word.
            fn word(&self) -> Option<&'static str> {
                match self {
                    $(Repair::$repair => Some($word),)+
                    Repair::NameMatched(_)
                    | Repair::KeyAlias(_)
                    | Repair::Coerced(_)
                    | Repair::UnwrappedString(_)
                    | Repair::UnwrappedArray(_)
                    | Repair::WrappedInArray(_)
                    | Repair::KeyRenamed(_)
                    | Repair::Other(_) => None,
                }
            }

            fn of_word(word: &str) -> Option<Repair> {
                match word {
                    $($word => Some(Repair::$repair),)+
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const REPAIR_WORDS: &[&str] = &[$($word),+];
    };
}

repair_words!(
    "fence" => Fence,
    "prose" => Prose,
    "cdata" => Cdata,
    "entities" => Entities,
    "escaped_json" => EscapedJson,
    "control_characters" => ControlCharacters,
    "backslashes" => Backslashes,
    "quotes" => Quotes,
    "inner_quotes" => InnerQuotes,
    "trailing_comma" => TrailingComma,
    "missing_comma" => MissingComma,
    "extra_comma" => ExtraComma,
    "missing_colon" => MissingColon,
    "full_width" => FullWidth,
    "white_space" => WhiteSpace,
    "python_literals" => PythonLiterals,
    "number_form" => NumberForm,
    "comments" => Comments,
    "unquoted_keys" => UnquotedKeys,
    "unquoted_values" => UnquotedValues,
    "missing_close" => MissingClose,
    "number_precision" => NumberPrecision,
    "server_resolved" => ServerResolved,
);

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::NameMatched(name) => write!(f, "name_matched:{name}"),
            Repair::KeyAlias(key) => write!(f, "key_alias:{key}"),
            Repair::Coerced(place) => write!(f, "coerced:{place}"),
            Repair::UnwrappedString(place) => write!(f, "unwrapped_string:{place}"),
            Repair::UnwrappedArray(place) => write!(f, "unwrapped_array:{place}"),
            Repair::WrappedInArray(place) => write!(f, "wrapped_in_array:{place}"),
            Repair::KeyRenamed(place) => write!(f, "key_renamed:{place}"),
            Repair::Other(word) => f.write_str(word),
            plain => f.write_str(plain.word().unwrap_or_default()),
        }
    }
}

impl From<&str> for Repair {
    fn from(word: &str) -> Self {
        match word.split_once(':') {
            Some(("name_matched", name)) => Repair::NameMatched(name.to_owned()),
            Some(("key_alias", key)) => Repair::KeyAlias(key.to_owned()),
            Some(("coerced", place)) => Repair::Coerced(place.to_owned()),
            Some(("unwrapped_string", place)) => Repair::UnwrappedString(place.to_owned()),
            Some(("unwrapped_array", place)) => Repair::UnwrappedArray(place.to_owned()),
            Some(("wrapped_in_array", place)) => Repair::WrappedInArray(place.to_owned()),
            Some(("key_renamed", place)) => Repair::KeyRenamed(place.to_owned()),
            _ => Repair::of_word(word).unwrap_or_else(|| Repair::Other(word.to_owned())),
        }
    }
}

impl Serialize for Repair {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Repair {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Repair::from(word.as_ref()))
    }
}

/// Why a call must not run, without the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What is wrong with it.
    pub kind: RejectedKind,
    /// The same in words, with the place.
    pub message: String,
    /// Known names that are near an unknown one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

impl Rejected {
    /// Why it must not run.
    pub fn reason(&self) -> Reason {
        Reason { kind: self.kind, message: self.message.clone(), nearest: self.nearest.clone() }
    }

    /// The same call, rejected for another reason.
    pub fn set_reason(&mut self, reason: Reason) {
        let Reason { kind, message, nearest } = reason;
        (self.kind, self.message, self.nearest) = (kind, message, nearest);
    }

    /// A call that is complete and must not run all the same; `raw` is its text.
    pub(crate) fn of(call: Call, kind: RejectedKind, raw: impl Into<String>, message: impl Into<String>) -> Self {
        Rejected {
            kind,
            raw: raw.into(),
            message: message.into(),
            server: call.server.clone(),
            tool: Some(call.tool.clone()),
            nearest: Vec::new(),
            dialect: call.dialect,
            call: Some(Box::new(call)),
            count: 0,
        }
    }

    /// A call that was only drafted in the reasoning.
    pub fn draft(call: Call, raw: impl Into<String>) -> Self {
        Rejected::of(call, RejectedKind::InReasoning, raw, RejectedKind::in_reasoning_message())
    }
}

impl RejectedKind {
    /// The message of every `in_reasoning` rejection.
    pub fn in_reasoning_message() -> &'static str {
        "the call stands in the reasoning; only the answer's calls are run"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repair_is_read_as_it_is_written_and_documented() {
        let named = ["name_matched:a.b", "key_alias:name", "coerced:/days", "ignored_key:x"];
        for word in REPAIR_WORDS.iter().chain(&named) {
            assert_eq!(Repair::from(*word).to_string(), *word);
            let row = word.split(':').next().unwrap_or_default();
            let documented =
                include_str!("../docs/parser.md").lines().any(|line| line.starts_with(&format!("| `{row}")));
            assert!(documented || *word == "prose", "{word} is missing in docs/parser.md");
        }
    }
}
