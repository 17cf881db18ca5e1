//! A text as it reads, whatever it is written with: what a copy is compared by.
//!
//! A page may hide a call from a comparison of bytes and still have the model read it: with `&#100;` for a letter, a
//! comment in the middle of a name, characters that nobody sees, emphasis, or letters of other blocks that look the
//! same. A model that copies it writes plain letters.

use std::borrow::Cow;

use memchr::memchr3;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::outcome::is_invisible;

/// Most times that entities are decoded: `&amp;#100;` is one of an entity.
const ENTITIES: usize = 3;

/// Longest entity that is decoded, in bytes: `&#x00000064;`.
const LONGEST: usize = 12;

/// Elements that only say how a text looks.
const LOOKS: [&str; 10] = ["b", "i", "u", "s", "em", "strong", "code", "mark", "span", "wbr"];

/// Returns the text as it reads: in the compatibility form of Unicode (UAX #15, NFKC), which writes letters that only
/// look different alike, without comments, entities, emphasis, and characters that nobody sees.
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

/// Returns the text without white space, too.
pub(super) fn squeezed(plain: &str) -> String {
    plain.split_whitespace().collect()
}

/// Returns the same of all texts in a value, keys included.
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

/// Returns the text without the signs of Markdown around its words.
fn without_emphasis(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        match c {
            '*' | '`' | '~' => {}
            // Inside a word it is a part of a name.
            '_' if !is_word(plain.chars().next_back()) || !is_word(rest.peek().copied()) => {}
            // An escape.
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

/// Returns what follows a comment, or the tag of an element that only says how a text looks.
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

/// Returns the character of an entity, and what follows it.
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
