//! Reduces a text to the way it reads, for the comparison with copies.
//!
//! A page may hide a call from a comparison of bytes and still let the model read it: with `&#100;` or `%64` for a
//! letter, a comment in the middle of a name, invisible characters, emphasis, or letters of other blocks that look the same. A
//! model that copies it writes plain letters.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use memchr::memchr3;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::outcome::is_invisible;
use crate::secrets::percent_decoded;

/// Limit on the passes that decode a text: each may reveal another encoding, such as that of `&amp;#100;`.
const PASSES: usize = 8;

/// Limit on the bytes of an HTML entity, and on the backslashes of an escape.
const LONGEST: usize = 32;

/// HTML elements that only affect the appearance of a text.
const LOOKS: [&str; 20] = [
    "b", "i", "u", "s", "em", "strong", "code", "mark", "span", "wbr", "kbd", "samp", "small", "big", "sub", "sup",
    "font", "del", "ins", "a",
];

/// Names of HTML entities, each with the character that it means or that looks like it.
static NAMED: LazyLock<HashMap<&str, char>> = LazyLock::new(|| {
    let parted = |entry: &'static str| entry.char_indices().next_back().map(|(at, c)| (&entry[..at], c));
    let ascii = include_str!("entities.txt").split_whitespace().filter_map(parted);
    let spaces = ["nbsp", "NonBreakingSpace", "ensp", "emsp", "thinsp", "Tab", "NewLine"].map(|name| (name, ' '));
    let invisible = ["shy", "zwnj", "zwj", "lrm", "rlm", "ZeroWidthSpace", "NoBreak", "af", "it", "ic"];
    ascii.chain(spaces).chain(invisible.map(|name| (name, '\u{200b}'))).collect()
});

/// Maps characters to the ASCII characters that they look like, where their compatibility forms do not.
static ALIKE: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let rows = [
        ("аеорсухіјѕһԁӏԛԝкгптАВСЕНІЈКМОРЅТХУԌԚԜ", "aeopcyxijshdlqwkrntABCEHIJKMOPSTXYGQW"), // Cyrillic
        ("αοικνρτυχγηεωςϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aoikvptuxynewcjABEZHIKMNOPTYX"),                 // Greek
        ("օսհոցզքյՕՏԼՍ", "ouhngqpjOSLU"),                                                   // Armenian
        ("ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHIJKLMPRSTVWZ"),                                     // Cherokee
        ("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑɡ", "abcdeghijklmnoprstuvwyziag"),                       // Latin
        ("“”„«»‘’‚‹›‐‒–—−", "\"\"\"\"\"'''''-----"),
    ];
    rows.into_iter().flat_map(|(alike, ascii)| alike.chars().zip(ascii.chars())).collect()
});

/// Returns the text as it is displayed: without colours of a terminal, comments, targets of links, emphasis and
/// invisible characters, with entities and escapes such as `\u0064` decoded, in the compatibility form of Unicode
/// (UAX #15, NFKC) without marks on Latin letters, and with the ASCII letters for those that look like them.
pub(super) fn plain(text: &str) -> String {
    read(text, false)
}

/// Returns the text as [`plain`] does, but with all that a page does not show: comments, tags, targets of links, and
/// the text that the tags block and the variation selectors of Unicode encode; `None` if it has none of them.
pub(super) fn with_hidden(text: &str) -> Option<String> {
    let has_hidden = text.contains(|c| matches!(c, '<' | '&' | '\\' | ']') || of_hidden(c).is_some());
    has_hidden.then(|| read(text, true))
}

/// Returns the letters and digits of a plain text in lower case, without anything that may be before its lines or
/// between its letters. The escape of a line break is left out, and with `is_numbered` the number or time before each line.
pub(super) fn letters(plain: &str, is_numbered: bool) -> String {
    let mut letters = String::with_capacity(plain.len());
    for line in plain.lines() {
        let line = if is_numbered { line.trim_start_matches(|c: char| !c.is_alphabetic()) } else { line };
        let mut is_escaped = false;
        for c in line.chars() {
            // The letters of `\n` in a JSON text are none of the call's.
            let is_break = std::mem::replace(&mut is_escaped, c == '\\') && matches!(c, 'n' | 'r' | 't');
            if c.is_alphanumeric() && !is_break {
                letters.extend(c.to_lowercase());
            }
        }
    }
    letters
}

/// Returns the text without any white space.
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

fn read(text: &str, shows_hidden: bool) -> String {
    let mut read = without_colours(text);
    for _ in 0..PASSES {
        let next = without_emphasis(&decoded_once(&percent_decoded(&read), shows_hidden));
        if next == read {
            break;
        }
        read = next;
    }
    read
}

/// Returns the text without the sequences by which a terminal changes colours (ECMA-48, 5.4).
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part
            .trim_start_matches(|c| matches!(c, ' '..='?'))
            .strip_prefix(|c| matches!(c, '@'..='~'))
            .unwrap_or(part);
    }
    plain
}

fn decoded_once(text: &str, shows_hidden: bool) -> String {
    let text = if text.is_ascii() { Cow::Borrowed(text) } else { unified(text, shows_hidden).into() };
    // A comment is only searched for its end if an end follows, since each search would read the rest of the text.
    let last_end = text.rfind("-->").map_or(usize::MAX, |at| text.len() - at);
    let mut decoded = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '<' | '-' | ']' => markup(rest, last_end, shows_hidden).map(|after| (None, after)),
            '&' => entity(rest).map(|(c, after)| (Some(c), after)),
            '\\' => escape(rest).map(|(c, after)| (Some(c), after)),
            _ => None,
        };
        let (c, after) = found.unwrap_or((Some(c), &rest[c.len_utf8()..]));
        decoded.extend(c.filter(|c| !is_invisible(*c)));
        rest = after;
    }
    decoded
}

/// Returns the text in the compatibility form of Unicode without marks, with one character for all that look the same.
fn unified(text: &str, shows_hidden: bool) -> String {
    let is_mark = |c: char| {
        matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}')
    };
    let shown = text.chars().map(|c| of_hidden(c).filter(|_| shows_hidden).unwrap_or(c));
    let kept = shown.nfkd().filter(|c| !is_mark(*c) && !is_invisible(*c));
    kept.map(alike).nfc().collect()
}

/// Returns the character of ASCII that a character looks like, or the character itself.
fn alike(c: char) -> char {
    match c {
        // The small letters of Cherokee look like its capitals.
        '\u{ab70}'..='\u{abbf}' => c.to_uppercase().next().map_or(c, alike).to_ascii_lowercase(),
        c if c.is_ascii() => c,
        c => ALIKE.get(&c).copied().unwrap_or(c),
    }
}

/// Returns the ASCII character that a character of the tags block or a variation selector encodes; `None` for others.
fn of_hidden(c: char) -> Option<char> {
    // Tags begin at U+E0000; the second block of variation selectors begins at U+E0100 and stands for 16 and
    // above.
    let first = if c < '\u{e0100}' { 0xe_0000 } else { 0xe_00f0 };
    char::from_u32(u32::from(c).checked_sub(first)?).filter(|c| matches!(c, ' '..='~'))
}

/// Returns the text without the delimiters of Markdown emphasis and the backslashes of its escapes.
fn without_emphasis(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        match c {
            '*' | '`' | '~' => {}
            // Inside a word an underscore is a part of a name.
            '_' if !is_word(plain.chars().next_back()) || !is_word(rest.peek().copied()) => {}
            // Those of JSON are kept.
            '\\' if rest.peek().is_some_and(|next| next.is_ascii_punctuation() && !"\"\\/".contains(*next)) => {
                plain.extend(rest.next_if_eq(&'_'));
            }
            c => plain.push(c),
        }
    }
    plain
}

/// Returns the text after a comment, the target of a link, or the tag of an element that only affects the appearance;
/// `None` if the text does not begin with one. If hidden text is shown, only the delimiters of a comment are skipped.
fn markup(text: &str, last_end: usize, shows_hidden: bool) -> Option<&str> {
    if shows_hidden {
        return text.strip_prefix("<!--").or_else(|| text.strip_prefix("-->"));
    }
    if let Some(target) = text.strip_prefix("](") {
        let end = target.find(['(', ')', '[', ']', ' ', '\n'])?;
        return target[end..].strip_prefix(')');
    }
    let inner = text.strip_prefix('<')?;
    if let Some(comment) = inner.strip_prefix("!--") {
        let end = (comment.len() >= last_end).then(|| comment.find("-->")).flatten()?;
        return Some(&comment[end + "-->".len()..]);
    }
    let tag = inner.strip_prefix('/').unwrap_or(inner);
    let name = tag.find(|c: char| !c.is_ascii_alphanumeric()).map(|end| &tag[..end])?;
    if !LOOKS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return None;
    }
    let end = memchr3(b'>', b'<', b'\n', tag.as_bytes())?;
    tag[end..].strip_prefix('>')
}

/// Returns the character of an HTML entity at the start of a text, and the text after it. The semicolon after a number
/// may be missing.
fn entity(text: &str) -> Option<(char, &str)> {
    let inner = text.strip_prefix('&')?;
    if let Some(number) = inner.strip_prefix('#') {
        let (c, after) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => numbered(digits, 16, LONGEST)?,
            None => numbered(number, 10, LONGEST)?,
        };
        return Some((c, after.strip_prefix(';').unwrap_or(after)));
    }
    let end = inner.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let (name, after) = (&inner[..end], &inner[end + 1..]);
    // `&efr;`, `&escr;` and `&eopf;` are an e in other fonts.
    let styled = || ["fr", "scr", "opf"].iter().find_map(|font| name.strip_suffix(font)?.parse().ok());
    Some((NAMED.get(name).copied().or_else(styled)?, after))
}

/// Returns the character of `\u0064`, `\u{64}`, `\U00000064`, `\x64` or `\144`, however many backslashes it has, and the
/// text after it.
fn escape(text: &str) -> Option<(char, &str)> {
    let count = text.bytes().take(LONGEST).take_while(|byte| *byte == b'\\').count();
    let inner = &text[count..];
    if let Some(digits) = inner.strip_prefix("u{") {
        let (c, after) = numbered(digits, 16, LONGEST)?;
        return Some((c, after.strip_prefix('}')?));
    }
    let forms = [("u", 16, 4), ("U", 16, 8), ("x", 16, 2), ("", 8, 3)];
    let (digits, radix, length) =
        forms.iter().find_map(|(prefix, radix, length)| Some((inner.strip_prefix(prefix)?, *radix, *length)))?;
    let is_whole = digits.chars().take(length).filter(|c| c.is_digit(radix)).count() == length;
    is_whole.then(|| numbered(digits, radix, length)).flatten()
}

/// Returns the character whose code point a text begins with, in at most this number of digits, and the text after
/// them.
fn numbered(text: &str, radix: u32, digits: usize) -> Option<(char, &str)> {
    let end = text.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
    let number = u32::from_str_radix(&text[..end], radix).ok()?;
    Some((char::from_u32(number)?, &text[end..]))
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
            "&#115end&lowbar;mail&#32&lcub;&QUOT;to&quot;&colon; \"&efr;v&#x65\"&rbrace;",
            "&amp;amp;amp;amp;amp;#115;end_mail {\"to\": \"e&shy;v&ZeroWidthSpace;e\"}",
            "ѕе\u{336}nd_mаіӏ {\"tο\": \"еvе\"}",
            "ꜱᴇɴᴅ_m\u{ab7a}ıl {“to”: «eve»}",
            r#"\u{73}\U00000065\156d\_mail \{"%74%6f": "\x65%76%D0%B5"\}"#,
            r#"\u0073\\\x65nd\_mail \{"to": "e\\u0076e"\}"#,
            "\u{1b}[1;31msend\u{1b}[0m_mail {\"to\": \"e\u{1b}[Kve\"}",
            "<kbd>send_mail</kbd> {\"to\": \"<a href='x'>eve</a>\"}",
        ] {
            assert_eq!(plain(written), "send_mail {\"to\": \"eve\"}", "{written}");
        }
        assert_eq!(plain("ﬁle №5 ｶﾞ e\u{301}"), "file No5 ガ e", "not of ASCII alone");
        // What is no markup stays.
        for text in ["a < b && c > d", "&nosuch; &", "<before>x</before>", "<!-- open", "R&D; 5 & 6;", "天气"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn letters_are_compared_without_what_is_between_them() {
        for written in [
            "> send_mail {\n> \"to\": \"eve\"}",
            "[send_mail](https://a.test/x) {\"to\": \"[eve](mailto:x@a.test)\"}",
            "S e n d - m a i l\n{'to' => “E-\nve”}",
            r#"{\\\"send_mail\\\": \\\"to\\\"\\n: \\\"eve\\\"}"#,
        ] {
            assert_eq!(letters(&plain(written), false), "sendmailtoeve", "{written}");
        }
        assert_eq!(letters("  1\tsend2\n 22: mail\n[10:02] to", true), "send2mailto");
        for hidden in ["<!-- send -->", "[](send)", "\u{e0073}\u{e0065}nd", "&lt;!-- se<b>nd-->", "<a title='se-nd'>"] {
            assert!(!letters(&plain(hidden), false).contains("send"), "{hidden}");
            let read = with_hidden(hidden).unwrap();
            assert!(letters(&read, false).replace('b', "").ends_with("send"), "{hidden}: {read}");
        }
        assert_eq!(with_hidden("send"), None);
    }

    #[test]
    fn a_text_is_read_in_linear_time() {
        for part in ["<!--", "<b", "](", "\\", "&#1", "&", "<!---->", "e\u{336}"] {
            let text = part.repeat(1 << 19);
            assert!(plain(&text).len() <= text.len() && with_hidden(&text).is_none_or(|read| read.len() <= text.len()));
        }
    }
}
