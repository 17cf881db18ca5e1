//! Openers that hold a name, matched piece by piece, and special tokens in
//! their spellings.

use crate::dialect::{HeaderPiece, Named, NamedArguments, NamedCall, React};
use crate::json::window::{Answer, Match, No, Undecided, begins, first_of, leading_space};
use crate::parse::marks::fence::fence_chars;

/// Maximum length in bytes of a name in an opener, as MCP recommends for tool names.
pub(crate) const MAX_NAME: usize = 128;

/// Maximum length in bytes of a run of white space, of further attributes or of an identifier in an opener.
const MAX_FILL: usize = 64;

/// Maximum length in bytes of an opener with its name; a text is not examined further.
const MAX_HEAD: usize = 512;

/// Assumed length in bytes of an identifier in an opener, for the number of bytes that are held back.
const LONG_ID: usize = 16;

/// An opener that was matched, with the name that it contains and its length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'t> {
    pub(crate) name: &'t str,
    pub(crate) length: usize,
    /// `true` if an attribute declares the value to be JSON rather than text: DeepSeek's `string="false"`, and Kimi's
    /// `type="number"`.
    pub(crate) is_json: bool,
}

/// Matches an opener that consists of `pieces` at the start of `text`; returns its name and length.
#[inline]
pub(crate) fn head<'t>(pieces: &[HeaderPiece], text: &'t str, more: bool) -> Match<Head<'t>> {
    // Nearly every text is another one, which its second byte tells.
    if let Some(HeaderPiece::Text(token)) = pieces.first()
        && let (Some(found), Some(wanted)) = (text.as_bytes().get(1), token.as_bytes().get(1))
        && wanted.is_ascii()
        && found != wanted
    {
        return Err(No);
    }
    this_head(pieces, text, more)
}

fn this_head<'t>(pieces: &[HeaderPiece], text: &'t str, more: bool) -> Match<Head<'t>> {
    let (text, more) =
        if text.len() > MAX_HEAD { (&text[..text.floor_char_boundary(MAX_HEAD)], false) } else { (text, more) };
    let (mut length, mut name, mut quote, mut is_json) = (0, "", None, false);
    for piece in pieces {
        let rest = &text[length..];
        let taken = match piece {
            HeaderPiece::Text(token) => begins_token(rest, token, more),
            HeaderPiece::Maybe(token) => Ok(begins_token(rest, token, more).decided()?.unwrap_or(0)),
            HeaderPiece::Space => run_of(leading_space(rest), 0, MAX_FILL, rest, more),
            HeaderPiece::Name => {
                let end = name_length(rest, quote);
                name = rest[..end].trim_end();
                run_of(end, 1, MAX_NAME, rest, more)
            }
            HeaderPiece::Index => {
                // `functions.search:0`: `kimi/one_call`.
                name = name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix(':').unwrap_or(name);
                Ok(0)
            }
            HeaderPiece::Any(set) => {
                run_of(rest.find(|c| !set.contains(c)).unwrap_or(rest.len()), 0, MAX_FILL, rest, more)
            }
            HeaderPiece::OneOf(set) => match rest.chars().next() {
                Some(c) if set.contains(c) => Ok(c.len_utf8()),
                None if more => Err(Undecided),
                _ => Err(No),
            },
            HeaderPiece::Id => run_of(name_length(rest, None), 1, MAX_FILL, rest, more),
            HeaderPiece::Quote => match rest.chars().next() {
                Some(c @ ('"' | '\'')) if quote.is_none_or(|open| open == c) => {
                    quote = if quote.is_none() { Some(c) } else { None };
                    Ok(1)
                }
                None if more => Err(Undecided),
                _ => Err(No),
            },
            HeaderPiece::Before => attributes_before(rest, more),
            // Text right after the name's quotation mark is no attribute (`invoke/broken_attribute`).
            HeaderPiece::Attributes if rest.starts_with(|c: char| !c.is_whitespace() && c != '>') => Err(No),
            HeaderPiece::Attributes => {
                let end = rest.find(['>', '<', '\n']).unwrap_or(rest.len());
                let end = run_of(end, 0, MAX_FILL, rest, more)?;
                if rest[end..].starts_with('>') { Ok(end + 1) } else { Err(No) }
            }
        };
        let taken = taken?;
        if let HeaderPiece::Any(_) | HeaderPiece::Before | HeaderPiece::Attributes = piece {
            is_json |= says_json(&rest[..taken]);
        }
        length += taken;
    }
    if name.is_empty() { Err(No) } else { Ok(Head { name, length, is_json }) }
}

/// Returns `true` if one of `attributes` declares a value that is not text: `string="false"`, or `type` with a JSON
/// type other than string.
fn says_json(attributes: &str) -> bool {
    let mut parts = attributes.split(['"', '\'']);
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        match name.trim_start() {
            "string=" if value == "false" => return true,
            "type=" if ["number", "integer", "boolean", "object", "array", "null"].contains(&value) => return true,
            _ => {}
        }
    }
    false
}

/// Checks that a run of `length` bytes at the start of `rest` has `least` to `most` bytes; undecided if it reaches the
/// end of `rest` and more text may follow.
fn run_of(length: usize, least: usize, most: usize, rest: &str, more: bool) -> Match<usize> {
    if length > most {
        Err(No)
    } else if length == rest.len() && more {
        Err(Undecided)
    } else if length < least {
        Err(No)
    } else {
        Ok(length)
    }
}

/// Matches attributes at the start of `rest` that precede the attribute `name=`; returns their length, with the white
/// space after them.
fn attributes_before(rest: &str, more: bool) -> Match<usize> {
    let mut length = 0;
    loop {
        let attribute = &rest[length..];
        let word = attribute.bytes().take_while(is_plain).count();
        // A longer one is refused before it is over, so it is refused where all of it is there, too.
        if length > MAX_FILL || word > MAX_FILL {
            return Err(No);
        }
        if attribute.starts_with("name=") {
            return Ok(length);
        }
        let mut rest = attribute[word..].chars();
        match (rest.next(), rest.next()) {
            (Some('='), Some(quote @ ('"' | '\''))) if word > 0 => {
                let value = rest.as_str();
                match value.find([quote, '<', '>', '\n']) {
                    Some(end) if end <= MAX_FILL && value[end..].starts_with(quote) => {
                        let after = &value[end + 1..];
                        let space = leading_space(after);
                        // White space parts attributes.
                        if space == 0 && !(after.is_empty() && more) {
                            return Err(No);
                        }
                        length = attribute.len() + length - after.len() + space;
                        if after.len() == space && more {
                            return Err(Undecided);
                        }
                    }
                    None if more && value.len() <= MAX_FILL => return Err(Undecided),
                    _ => return Err(No),
                }
            }
            (None, _) | (Some('='), None) if more => return Err(Undecided),
            _ => return Err(No),
        }
    }
}

/// Returns `true` for an ASCII letter, an ASCII digit or `_`.
fn is_plain(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Returns the length in bytes of the name, or the beginning of one, at the start of `text`; `quote` is the quotation
/// mark around it.
fn name_length(text: &str, quote: Option<char>) -> usize {
    // Most names are these bytes alone.
    let plain = text.bytes().take_while(is_plain).count();
    text[plain..].find(|c| ends_name(c, quote)).map_or(text.len(), |end| plain + end)
}

/// Returns `true` if a name ends before `c`; in quotation marks, `quote`, a name may contain more characters.
fn ends_name(c: char, quote: Option<char>) -> bool {
    match quote {
        Some(quote) => c == quote || c.is_control() || matches!(c, '<' | '>'),
        None => {
            c.is_whitespace()
                || c.is_control()
                || matches!(
                    c,
                    '*' | '<' | '>' | '"' | '\'' | '`' | '=' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | '｜' | '|'
                )
        }
    }
}

/// Checks whether `text`, which follows the opener of `call`, begins with arguments or a closer that fit the call.
pub(crate) fn gate(call: &NamedCall, text: &str, more: bool) -> Match<()> {
    if matches!(call.arguments, NamedArguments::None) {
        return Ok(());
    }
    let inner = &text[leading_space(text)..];
    if inner.is_empty() {
        return if more { Err(Undecided) } else { Err(No) };
    }
    let arguments = match &call.arguments {
        NamedArguments::None => Ok(()),
        NamedArguments::Json | NamedArguments::FencedJson => match begins(inner, "{", more) {
            Ok(()) => Ok(()),
            _ => unit(fence_chars(inner, more)),
        },
        NamedArguments::Tags { open, .. } => unit(head(open, inner, more)),
        // Without braces Gemma's tokens hold no call: no reader that was looked at takes one.
        NamedArguments::Elements(token) => begins(inner, token, more),
        // Between the call's own tokens round brackets mean nothing else.
        NamedArguments::Delimited(_) if !call.close.is_empty() => {
            return begins(inner, "{", more).either(begins(inner, "(", more));
        }
        NamedArguments::Delimited(_) | NamedArguments::Arrows => return begins(inner, "{", more),
    };
    arguments.either(unit(ends(&call.close, inner, more)))
}

/// Matches the closer `close` at the start of `text`; returns its length. An empty closer never matches.
pub(crate) fn ends(close: &str, text: &str, more: bool) -> Match<usize> {
    if close.is_empty() { Err(No) } else { begins_token(text, close, more) }
}

/// Matches the special token `token` at the start of `text`, also with ASCII characters in place of `｜` and `▁`;
/// returns the length in `text`.
#[inline]
pub(crate) fn begins_token(text: &str, token: &str, more: bool) -> Match<usize> {
    let same = token.bytes().zip(text.bytes()).take_while(|(wanted, found)| wanted == found).count();
    match token.as_bytes().get(same) {
        None => Ok(same),
        // Nearly always: only other characters have spellings.
        Some(next) if next.is_ascii() => {
            if more && same == text.len() {
                Err(Undecided)
            } else {
                Err(No)
            }
        }
        Some(_) if text.as_bytes().get(same).is_some_and(|byte| begins_no_spelling(*byte)) => Err(No),
        Some(_) => begins_spelling(text, token, token.floor_char_boundary(same), more),
    }
}

/// Returns `true` if `byte` is an ASCII character, and none that may replace `｜` or `▁` in a special token.
fn begins_no_spelling(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'|' | b'_' | b'\\' | b' ')
}

/// Matches the rest of the special token `token`, of which `text` begins with the first `length` bytes, in any
/// spelling; returns the whole length in `text`.
fn begins_spelling(text: &str, token: &str, mut length: usize, more: bool) -> Match<usize> {
    for c in token[length..].chars() {
        let rest = &text[length..];
        let mut buffer = [0; 4];
        let plain = [&*c.encode_utf8(&mut buffer)];
        let spellings: &[&str] = match c {
            '｜' => &["｜", "|"],
            '▁' => &["▁", "_", "\\_", " "],
            _ => &plain,
        };
        match spellings.iter().find(|spelling| rest.starts_with(**spelling)) {
            Some(found) => length += found.len(),
            None if more && spellings.iter().any(|spelling| spelling.starts_with(rest)) => return Err(Undecided),
            None => return Err(No),
        }
    }
    Ok(length)
}

/// Returns the length in bytes of an opener whose name has `name` bytes, counting one byte for each run of white space
/// or attributes.
pub(crate) fn longest_head(pieces: &[HeaderPiece], name: usize) -> usize {
    let length = |piece: &HeaderPiece| match piece {
        HeaderPiece::Text(text) | HeaderPiece::Maybe(text) => text.len(),
        HeaderPiece::Name => name,
        HeaderPiece::Id => LONG_ID,
        HeaderPiece::Space
        | HeaderPiece::Quote
        | HeaderPiece::Attributes
        | HeaderPiece::Before
        | HeaderPiece::Any(_) => 1,
        HeaderPiece::Index => ":0".len(),
        HeaderPiece::OneOf(set) => set.chars().map(char::len_utf8).max().unwrap_or(0),
    };
    pieces.iter().map(length).sum()
}

/// Discards the value of a match, and keeps its decision.
pub(crate) fn unit<T>(found: Match<T>) -> Match<()> {
    found.map(|_| ())
}

/// Matches the closer of a group of calls of the dialect `named` at the start of `text`; returns its length.
pub(crate) fn group_close(named: &Named, text: &str, more: bool) -> Match<usize> {
    first_of(named.groups.iter().map(|group| begins_token(text, &group.close, more)))
}

/// Matches the words that begin a ReAct call at the start of `text`; returns them, and `true` if brackets enclose the
/// arguments.
pub(crate) fn react_head<'t>(spec: &React, text: &'t str, more: bool) -> Match<(Head<'t>, bool)> {
    first_of(spec.heads.iter().map(|form| head(&form.head, text, more).map(|found| (found, form.in_brackets))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Dialect, Named, Shape};

    fn named(dialect: Dialect) -> &'static Named {
        match &dialect.spec().shape {
            Shape::Named(named) => named,
            _ => unreachable!("a dialect of this shape"),
        }
    }

    #[test]
    fn heads_are_found_held_and_refused_at_every_cut() {
        for (dialect, text, name) in [
            (Dialect::FunctionTag, "<function=get_weather>", "get_weather"),
            (Dialect::FunctionTag, "<function=查询天气>", "查询天气"),
            (Dialect::Invoke, "<invoke name=\"a b\">", "a b"),
            (Dialect::Invoke, "<invoke  name='f' id=\"1\">", "f"),
            (Dialect::Invoke, "<invoke id=\"1\" n='2' name=\"f\">", "f"),
        ] {
            let pieces = &named(dialect).calls[0].head;
            assert_eq!(head(pieces, text, true), Ok(Head { name, length: text.len(), is_json: false }), "{text}");
            for (end, _) in text.char_indices() {
                assert_eq!(head(pieces, &text[..end], true), Err(Undecided), "{}", &text[..end]);
                assert_eq!(head(pieces, &text[..end], false), Err(No), "{}", &text[..end]);
            }
        }
        let long = format!("<function={}", "f".repeat(MAX_NAME + 1));
        for text in ["<function=>", "<function=a b>", "<functional=f>", "<function=f\n>", &long] {
            assert_eq!(head(&named(Dialect::FunctionTag).calls[0].head, text, true), Err(No), "{text}");
        }
        assert_eq!(head(&named(Dialect::Invoke).calls[0].head, "<invoke name=\"f'>", true), Err(No));
    }

    #[test]
    fn attributes_that_are_too_long_are_refused_whole_and_at_every_cut() {
        let (value, pair) = ("1".repeat(MAX_FILL + 1), "2".repeat(MAX_FILL / 2));
        for attributes in [format!("id=\"{value}\""), format!("{value}=\"\""), format!("a=\"{pair}\" b=\"{pair}\"")] {
            let text = format!("<invoke {attributes} name=\"f\">");
            let pieces = &named(Dialect::Invoke).calls[0].head;
            assert_eq!(head(pieces, &text, true), Err(No), "{text}");
            let cuts = (0..text.len()).map(|end| head(pieces, &text[..end], true));
            assert!(cuts.filter(Result::is_ok).count() == 0, "{text}");
            assert_eq!(head(pieces, &text[..text.len() - 1], true), Err(No), "{text}");
        }
    }

    #[test]
    fn special_tokens_are_read_in_each_spelling() {
        let token = "<｜tool▁call▁end｜>";
        for text in [token, "<|tool_call_end|>", "<|tool▁call▁end|>", "<｜tool\\_call\\_end｜>", "<｜tool call end｜>"]
        {
            assert_eq!(begins_token(text, token, true), Ok(text.len()), "{text}");
            for (end, _) in text.char_indices() {
                assert_eq!(begins_token(&text[..end], token, true), Err(Undecided), "{}", &text[..end]);
            }
        }
        assert_eq!(begins_token("<|tool_calls_end|>", token, true), Err(No));
    }
}
