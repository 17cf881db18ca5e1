//! The names of all that may be mended in a call, so that nothing is mended unsaid.

use std::fmt;

use crate::json::text_type;

/// Defines the repairs with their words; after `;` those that hold a name or a place.
macro_rules! repairs {
    ($($(#[$doc:meta])* $repair:ident = $word:literal,)+; $($(#[$held_doc:meta])* $held:ident = $lead:literal,)+) => {
        /// Something that was mended in a call. Nothing is mended without one.
        ///
        /// Serialised as its [`Display`](fmt::Display) form: a snake-case word, for
        /// some followed by a colon and a place or a name (`coerced:/days`).
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Repair {
            $($(#[$doc])* $repair,)+
            $($(#[$held_doc])* $held(String),)+
            /// Another repair, by its word.
            Other(String),
        }

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

repairs! {
    /// A code fence around the arguments was taken off.
    Fence = "fence",
    /// Text around an answer's JSON was left out.
    Prose = "prose",
    /// A CDATA section around a value was unwrapped.
    Cdata = "cdata",
    /// XML entities were decoded.
    Entities = "entities",
    /// The whole JSON text was escaped once more, as if in a string (`{\"a\": 1}`).
    EscapedJson = "escaped_json",
    /// Backslashes that begin no JSON escape were doubled, or dropped before an apostrophe.
    Backslashes = "backslashes",
    /// Quotation marks inside a string were escaped.
    InnerQuotes = "inner_quotes",
    /// The syntax around values was mended: other quotation marks, keys without any, raw control characters in
    /// strings, a comma too many before a closing bracket, one too few between two members or calls, `True`, `False`
    /// and `None` in any case.
    Syntax = "syntax",
    /// Closing tags were missing after a complete call.
    MissingClose = "missing_close",
    /// The closing tag is missing because a declared stop string took it.
    StopSequence = "stop_sequence",
    /// The arguments stood beside the tool's name, without a key of their own.
    FlatArguments = "flat_arguments",
    /// A number was read with fewer digits than were written.
    NumberPrecision = "number_precision",
    /// Control tokens that the prompt had broken ([`break_tokens`](crate::outcome::break_tokens))
    /// are whole again.
    TokensRestored = "tokens_restored",
    /// The server was missing or unknown, and one server has the tool.
    ServerResolved = "server_resolved",
    ;
    /// The name was written otherwise; this is how. See [`Catalog::resolve`](crate::tools::Catalog::resolve).
    NameMatched = "name_matched",
    /// Another key stood for the dialect's own (`name` for `tool_name`).
    KeyAlias = "key_alias",
    /// A value was read as the type its schema wants; the place is a JSON Pointer.
    Coerced = "coerced",
    /// Text held the value as JSON: an object or array, or text once more. The
    /// place is a JSON Pointer.
    UnwrappedString = "unwrapped_string",
    /// An array held the one value that its schema wants there.
    UnwrappedArray = "unwrapped_array",
    /// A single value was made an array, which its schema wants there.
    WrappedInArray = "wrapped_in_array",
    /// A key was written in another case or style than the schema's; the place
    /// is that of the key as it was written.
    KeyRenamed = "key_renamed",
    /// A member that may be left out said nothing (`null`, an empty text), which its schema refuses, or, in a
    /// call that was held to its form, something that nobody spoke of: it was left out. The place is a
    /// JSON Pointer.
    LeftOut = "left_out",
    /// A call that was held to its form got the one value of a choice that the user named. The place
    /// is a JSON Pointer.
    AsSaid = "as_said",
    /// A value of such a call was a result with the frame in which the model had read it, which was taken off.
    /// The place is a JSON Pointer.
    Unframed = "unframed",
    /// A read-only tool was given a member that its schema does not know and refuses: it was
    /// dropped. The place is a JSON Pointer.
    UnknownDropped = "unknown_dropped",
}

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
