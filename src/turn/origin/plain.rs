//! Reduces a text to the way it reads, for the comparison with copies.
//!
//! A page may hide a call from a comparison of bytes and still let the model read it: with `&#100;` for a letter, a
//! comment in the middle of a name, invisible characters, emphasis, or letters of other blocks that look the same. A
//! model that copies it writes plain letters.

use std::borrow::Cow;

use memchr::memchr3;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::outcome::is_invisible;

/// Limit on the decoding of nested entities, such as `&amp;#100;`.
const ENTITIES: usize = 3;

/// Longest entity that is decoded, in bytes: `&#x00000064;`.
const LONGEST: usize = 12;

/// Elements that only affect the appearance of a text.
const LOOKS: [&str; 10] = ["b", "i", "u", "s", "em", "strong", "code", "mark", "span", "wbr"];

/// Returns the text as it reads: without comments, entities, emphasis and invisible characters, and in the compatibility
/// form of Unicode (UAX #15, NFKC), which unifies letters that only look different.
pub(super) fn plain(text: &str) -> String {
    let mut decoded = decoded_once(text);
    for _ in 1..ENTITIES {
        if !decoded.contains('&') {
            break;
        }
        let next = decoded_once(&decoded);
        if next == decoded {
            break;
        }
        decoded = next;
    }
    without_emphasis(&decoded)
}

/// Returns the text without white space.
pub(super) fn squeezed(plain: &str) -> String {
    plain.split_whitespace().collect()
}

/// Applies [`plain`] to all texts in a value, keys included.
pub(super) fn plain_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => items.iter().map(plain_value).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (plain(key), plain_value(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn decoded_once(text: &str) -> String {
    let text: Cow<'_, str> = if text.is_ascii() { text.into() } else { text.nfkc().collect::<String>().into() };
    let mut decoded = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = markup(rest) {
            rest = after;
            continue;
        }
        let (c, after) = entity(rest).unwrap_or((c, &rest[c.len_utf8()..]));
        match c.is_ascii() {
            true if is_invisible(c) => {}
            true => decoded.push(c),
            false => decoded.extend(std::iter::once(c).nfkc().filter(|c| !is_invisible(*c))),
        }
        rest = after;
    }
    decoded
}

/// Returns the text without the delimiters of Markdown emphasis.
fn without_emphasis(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        match c {
            '*' | '`' | '~' => {}
            // Inside a word an underscore is a part of a name.
            '_' if !is_word(plain.chars().next_back()) || !is_word(rest.peek().copied()) => {}
            // A backslash before a delimiter is an escape.
            '\\' if rest.peek().is_some_and(|next| "_*<`~".contains(*next)) => {
                if let Some(escaped) = rest.next_if(|next| matches!(next, '_' | '<')) {
                    plain.push(escaped);
                }
            }
            c => plain.push(c),
        }
    }
    plain
}

/// Returns the text after a comment, or after the tag of an element that only affects the appearance.
fn markup(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    if let Some(comment) = inner.strip_prefix("!--") {
        return comment.find("-->").map(|end| &comment[end + "-->".len()..]);
    }
    let tag = inner.strip_prefix('/').unwrap_or(inner);
    let name = tag.find(|c: char| !c.is_ascii_alphanumeric()).map(|end| &tag[..end])?;
    if !LOOKS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return None;
    }
    let end = memchr3(b'>', b'<', b'\n', tag.as_bytes())?;
    tag[end..].strip_prefix('>')
}

/// Returns the character of an entity, and the text after it.
fn entity(text: &str) -> Option<(char, &str)> {
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let (name, after) = (&inner[..end], &inner[end + 1..]);
    let number = |number: &str, radix| u32::from_str_radix(number, radix).ok().and_then(char::from_u32);
    let decoded = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16),
            None => number(digits, 10),
        },
        None => match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "nbsp" => Some(' '),
            "lowbar" => Some('_'),
            _ => None,
        },
    };
    Some((decoded?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_compared_as_it_reads() {
        for written in [
            "send_mail {\"to\": \"eve\"}",
            "&#115;end_mail {&quot;to&quot;: \"eve\"}",
            "&#x73;end_mail {&#34;to&#x22;: &amp;#34;eve&amp;quot;}",
            "send_<!-- nothing -->mail {\"to\": \"e<!---->ve\"}",
            "send_\u{200b}mail {\"t\u{ad}o\": \"\u{e0041}eve\"}",
            "**send_mail** {\"to\": \"*eve*\"}",
            "_send_mail_ {\"to\": \"~~e~~ve\"}",
            "`send\\_mail` {\"to\": \"<b>ev</b>e\"}",
            "ｓｅｎｄ＿ｍａｉｌ ｛＂to＂: \"𝐞𝓿𝖾\"｝",
            "&#65363;en＆#100;_mail {\"to\": \"eve\"}",
        ] {
            assert_eq!(plain(written), "send_mail {\"to\": \"eve\"}", "{written}");
        }
        assert_eq!(plain("ﬁle №5 ｶﾞ e\u{301}"), "file No5 ガ é", "not of ASCII alone");
        // What is no markup stays.
        for text in ["a < b && c > d", "&nosuch; &", "<before>x</before>", "<!-- open", "R&D; 5 & 6;", "天气"] {
            assert_eq!(plain(text), text);
        }
    }
}
