//! The names of all that may be mended in a call, so that nothing is mended unsaid.

use std::fmt;

use crate::json::text_type;

/// Defines the repairs with their names; those after `;` carry a name or a JSON Pointer.
macro_rules! repairs {
    ($($(#[$doc:meta])* $repair:ident = $word:literal,)+; $($(#[$held_doc:meta])* $held:ident = $lead:literal,)+) => {
        /// A change that made a call readable. Every change to a call is recorded as one.
        ///
        /// Serialised as its [`Display`](fmt::Display) form: a snake-case word, for
        /// some followed by a colon and a JSON Pointer or a name (`coerced:/days`).
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Repair {
            $($(#[$doc])* $repair,)+
            $($(#[$held_doc])* $held(String),)+
            /// A repair that this version does not know, by its serialised form.
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
    /// A code fence around the arguments was removed.
    Fence = "fence",
    /// Text around the JSON of an answer was removed.
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
    /// The arguments were beside the tool's name, without a key of their own.
    FlatArguments = "flat_arguments",
    /// A number was read with fewer digits than were written.
    NumberPrecision = "number_precision",
    /// Control tokens that the prompt had escaped ([`break_tokens`](crate::outcome::break_tokens))
    /// were restored.
    TokensRestored = "tokens_restored",
    /// The server's name was missing or unknown, and was replaced by the only server that has the tool.
    ServerResolved = "server_resolved",
    ;
    /// The tool's name was matched to a similar name in the catalog; carries the name as the model wrote it. See
    /// [`Catalog::resolve`](crate::tools::Catalog::resolve).
    NameMatched = "name_matched",
    /// Another key was used in place of the dialect's own key (`name` for `tool_name`); carries the key that was used.
    KeyAlias = "key_alias",
    /// A value was converted to the type that its schema wants; carries its JSON Pointer.
    Coerced = "coerced",
    /// A text contained the value as JSON: an object or array, or text that was encoded once more.
    /// Carries its JSON Pointer.
    UnwrappedString = "unwrapped_string",
    /// A value was taken out of the array of one item that contained it, as its schema wants; carries its JSON Pointer.
    UnwrappedArray = "unwrapped_array",
    /// A single value was wrapped in an array, which its schema wants; carries its JSON Pointer.
    WrappedInArray = "wrapped_in_array",
    /// A key was written in another case or style than in the schema; carries the JSON Pointer
    /// of the key as it was written.
    KeyRenamed = "key_renamed",
    /// An optional member was removed: it was empty (`null`, an empty text), which its schema refuses, or it was in a
    /// constrained call (one whose output was held to a grammar or schema) and had a value that no one mentioned.
    /// Carries its JSON Pointer.
    LeftOut = "left_out",
    /// A member of a constrained call was set to the only value of its `enum` that the user named, in place of another
    /// value or none. Carries its JSON Pointer.
    AsSaid = "as_said",
    /// A value of a constrained call was a tool result with the frame around it in the prompt; the frame was removed.
    /// Carries its JSON Pointer.
    Unframed = "unframed",
    /// An unknown member, which the schema refuses, was dropped from a call of a read-only tool. Carries its JSON
    /// Pointer.
    UnknownDropped = "unknown_dropped",
}

impl Repair {
    /// Adds the repair to the list unless it is there already.
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
