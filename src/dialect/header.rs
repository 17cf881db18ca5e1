//! The header of a call, written as it looks: text, with placeholders in braces.
//!
//! | written | matches |
//! |---|---|
//! | `{name}` | the name of the tool, or in a tag of the parameter |
//! | `{_}` | white space, if any |
//! | `{quote}` | `"` or `'`; the second one like the first |
//! | `{index}` | after the name: `:` and a number, which are no part of it |
//! | `{id}` | a word that means nothing |
//! | `{attributes}` | attributes before `name=` |
//! | `{attributes>}` | further attributes, and the `>` of the tag |
//! | `{maybe:TEXT}` | the text, if it is there |
//! | `{any:CHARACTERS}` | any number of these characters |
//! | `{one:CHARACTERS}` | one of these characters |
//! | `{}` | nothing: it ends the text by which the call is known |
//! | `{{`, `}}` | a brace |

use serde::{Deserialize, Deserializer, de::Error};

/// A piece of the header of a call or of a parameter's tag.
///
/// In a [`Text`](HeaderPiece::Text) of special tokens `｜` also stands for `|`, and
/// `▁` for `_`, `\_` or a space, as models and servers spell them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderPiece {
    /// This literal text.
    Text(String),
    /// This literal text, which may be missing.
    Maybe(String),
    /// White space, which may be missing.
    Space,
    /// The name of the tool, or of the parameter in a tag.
    Name,
    /// A `:` and a number after the name, which may be missing.
    Index,
    /// A word that is ignored, such as a call's id.
    Id,
    /// A single or double quotation mark; a second one in the header must be the same as the first.
    Quote,
    /// Any number, zero included, of characters of this set.
    Any(String),
    /// One character of this set.
    OneOf(String),
    /// Attributes before the one whose value is the name, each with the space after it.
    Before,
    /// The rest of a tag: further attributes and its `>`.
    Attributes,
}

const PLACEHOLDERS: &str = "{name}, {_}, {quote}, {index}, {id}, {attributes}, {attributes>}, {maybe:…}, {any:…}, \
                            {one:…} and {}; a brace itself is written twice";

/// Deserialises a header from its text form, for serde.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HeaderPiece>, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    pieces(&text).map_err(D::Error::custom)
}

fn pieces(header: &str) -> Result<Vec<HeaderPiece>, String> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), header);
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text += brace;
            rest = after;
            continue;
        }
        // A closing brace alone ends no placeholder.
        let end = after.find('}').filter(|_| brace == "{");
        let (placeholder, after) = end
            .map(|end| (&after[..end], &after[end + 1..]))
            .ok_or_else(|| format!("the brace at byte {} is alone: write it twice", header.len() - rest.len() + at))?;
        if !text.is_empty() {
            pieces.push(HeaderPiece::Text(std::mem::take(&mut text)));
        }
        pieces.extend(piece(placeholder)?);
        rest = after;
    }
    text += rest;
    if !text.is_empty() {
        pieces.push(HeaderPiece::Text(text));
    }
    Ok(pieces)
}

/// Returns the piece that a placeholder denotes; `None` for `{}`, which only separates two texts.
fn piece(placeholder: &str) -> Result<Option<HeaderPiece>, String> {
    let (word, of) = placeholder.split_once(':').map_or((placeholder, ""), |(word, of)| (word, of));
    Ok(Some(match (word, of) {
        ("", "") => return Ok(None),
        ("name", "") => HeaderPiece::Name,
        ("_", "") => HeaderPiece::Space,
        ("quote", "") => HeaderPiece::Quote,
        ("index", "") => HeaderPiece::Index,
        ("id", "") => HeaderPiece::Id,
        ("attributes", "") => HeaderPiece::Before,
        ("attributes>", "") => HeaderPiece::Attributes,
        ("maybe", of) if !of.is_empty() => HeaderPiece::Maybe(of.to_owned()),
        ("any", of) if !of.is_empty() => HeaderPiece::Any(of.to_owned()),
        ("one", of) if !of.is_empty() => HeaderPiece::OneOf(of.to_owned()),
        _ => return Err(format!("{{{placeholder}}} is not a placeholder: expected {PLACEHOLDERS}")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_looks() {
        let text = |text: &str| HeaderPiece::Text(text.to_owned());
        assert_eq!(pieces("<f={name}>"), Ok(vec![text("<f="), HeaderPiece::Name, text(">")]));
        assert_eq!(
            pieces("[C]{{{_}{{}}{any:,}"),
            Ok(vec![text("[C]{"), HeaderPiece::Space, text("{}"), HeaderPiece::Any(",".into())])
        );
        assert_eq!(pieces("<a>{}b{one::}"), Ok(vec![text("<a>"), text("b"), HeaderPiece::OneOf(":".into())]));
        for wrong in ["<f={nam}>", "<f={name", "}{name}", "{any:}", "{name:x}"] {
            assert!(pieces(wrong).is_err(), "{wrong}");
        }
    }
}
