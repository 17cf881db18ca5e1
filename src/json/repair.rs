//! The names of all that may be mended in a call, so that nothing is mended unsaid.

use std::fmt;

use crate::json::text_type;

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
    /// Backslashes that begin no JSON escape were doubled, or dropped before an apostrophe.
    Backslashes,
    /// Quotation marks inside a string were escaped.
    InnerQuotes,
    /// The syntax around values was mended: other quotation marks, keys without any, raw control characters in
    /// strings, a comma too many before a closing bracket, one too few between two members or calls, `True`, `False`
    /// and `None` in any case.
    Syntax,
    /// A call's names were escaped as Markdown does it (`get\_weather`), and so were its texts.
    MarkdownEscapes,
    /// Closing tags were missing after a complete call.
    MissingClose,
    /// The closing tag is missing because a declared stop string took it.
    StopSequence,
    /// The arguments stood beside the tool's name, without a key of their own.
    FlatArguments,
    /// A number was read with fewer digits than were written.
    NumberPrecision,
    /// Control tokens that the prompt had broken ([`break_tokens`](crate::outcome::break_tokens))
    /// are whole again.
    TokensRestored,
    /// The server was missing or unknown, and one server has the tool.
    ServerResolved,
    /// The name was written otherwise; this is how. See [`Catalog::resolve`](crate::tools::Catalog::resolve).
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
    /// A member that may be left out said nothing (`null`, an empty text), which its schema refuses, or, in a
    /// call that was held to its form, something that nobody spoke of: it was left out. The place is a
    /// JSON Pointer.
    LeftOut(String),
    /// A call that was held to its form got the one value of a choice that the person named. The place
    /// is a JSON Pointer.
    AsSaid(String),
    /// A value of such a call was a result with the frame in which the model had read it, which was taken off.
    /// The place is a JSON Pointer.
    Unframed(String),
    /// A read-only tool was given a member that its schema does not know and refuses: it was
    /// dropped. The place is a JSON Pointer.
    UnknownDropped(String),
    /// Another repair, by its word.
    Other(String),
}

/// Implements the conversions of repairs to and from their words; after `;` those that hold a name or a place.
macro_rules! repair_words {
    ($($word:literal => $repair:ident),+; $($lead:literal => $held:ident),+ $(,)?) => {
        impl fmt::Display for Repair {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Repair::$repair => f.write_str($word),)+
                    $(Repair::$held(held) => write!(f, concat!($lead, ":{}"), held),)+
                    Repair::Other(word) => f.write_str(word),
                }
            }
        }

        impl From<&str> for Repair {
            fn from(word: &str) -> Self {
                match (word, word.split_once(':')) {
                    $(($word, _) => Repair::$repair,)+
                    $((_, Some(($lead, held))) => Repair::$held(held.to_owned()),)+
                    _ => Repair::Other(word.to_owned()),
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
    "backslashes" => Backslashes,
    "inner_quotes" => InnerQuotes,
    "syntax" => Syntax,
    "markdown_escapes" => MarkdownEscapes,
    "missing_close" => MissingClose,
    "stop_sequence" => StopSequence,
    "flat_arguments" => FlatArguments,
    "number_precision" => NumberPrecision,
    "tokens_restored" => TokensRestored,
    "server_resolved" => ServerResolved;
    "name_matched" => NameMatched,
    "key_alias" => KeyAlias,
    "coerced" => Coerced,
    "unwrapped_string" => UnwrappedString,
    "unwrapped_array" => UnwrappedArray,
    "wrapped_in_array" => WrappedInArray,
    "key_renamed" => KeyRenamed,
    "left_out" => LeftOut,
    "as_said" => AsSaid,
    "unframed" => Unframed,
    "unknown_dropped" => UnknownDropped,
);

impl Repair {
    /// Names it among these, once.
    pub(crate) fn note(self, repairs: &mut Vec<Repair>) {
        if !repairs.contains(&self) {
            repairs.push(self);
        }
    }
}

text_type!(
    Repair,
    std::convert::identity,
    "Something that was mended: a word, for some followed by a colon and a place or a name (`coerced:/days`)."
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repair_is_read_as_it_is_written_and_documented() {
        let named = [
            "name_matched:a.b", "key_alias:name", "coerced:/days", "left_out:/days", "as_said:/days", "unframed:/text",
            "unknown_dropped:/x", "ignored_key:x",
        ];
        for word in REPAIR_WORDS.iter().chain(&named) {
            assert_eq!(Repair::from(*word).to_string(), *word);
            let row = word.split(':').next().unwrap_or_default();
            let documented =
                include_str!("../../docs/parser.md").lines().any(|line| line.starts_with(&format!("| `{row}")));
            assert!(documented || *word == "prose", "{word} is missing in docs/parser.md");
        }
    }
}
