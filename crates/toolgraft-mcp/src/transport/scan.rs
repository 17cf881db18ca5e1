//! Splits JSON that may be invalid into its parts, and finds the invalid word.
//!
//! A parser for all of JSON loses a whole message because of one wrong number. This module only
//! knows strings and brackets, so that a fault only affects its own part. Nothing recurses, so that
//! deep nesting costs no stack.

use std::borrow::Cow;

use serde_json::Value;
use toolgraft::wire::mend_surrogates;

/// Maximum number of members or elements that are kept of one JSON value, to bound the memory for a hostile message; no
/// real list is so long.
const MAX_PARTS: usize = 100_000;

/// Token of JSON text: a bracket, comma or colon; a string with its quotes; or a word, such as a number or `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'t> {
    text: &'t str,
    at: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let rest = text.get(end..)?.trim_ascii_start();
        let at = text.len() - rest.len();
        let length = match rest.bytes().next()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_length(rest),
            _ => rest.find(['"', '{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n', '\x0c']).unwrap_or(rest.len()),
        };
        end = at + length;
        Some(Token { text: &rest[..length], at })
    })
}

/// Returns the length in bytes of a JSON string from its opening up to its closing quote, or to the end of the text.
fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        match bytes[at + found] {
            b'"' => return at + found + 1,
            _ => at += found + 2,
        }
    }
    text.len()
}

/// The direct members of a JSON object, or the elements of an array, as unparsed text.
#[derive(Debug)]
pub(crate) struct JsonParts<'t> {
    /// Pairs of a member's name with its quotes (empty in an array) and the text of its value.
    pub(crate) all: Vec<(&'t str, &'t str)>,
    pub(crate) is_array: bool,
    /// `true` if the closing bracket of the object or array was found. If not, the last member of an object is missing,
    /// and the last element of an array may be incomplete.
    pub(crate) closed: bool,
    /// The text of the object or array up to and including the closing bracket, or the whole text if that is missing.
    pub(crate) text: &'t str,
    /// The text after the closing bracket of the object or array.
    pub(crate) rest: &'t str,
}

impl<'t> JsonParts<'t> {
    /// Returns the text of the values of all members of this name, in their order.
    pub(crate) fn all_named<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'t str> + use<'t, 'p> {
        let is = move |key: &str| key.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name);
        self.all.iter().filter(move |(key, _)| is(key)).map(|(_, value)| *value)
    }

    /// Returns the text of the value of a member; of several of this name, the last; `None` if there is none.
    pub(crate) fn get(&self, name: &str) -> Option<&'t str> {
        self.all_named(name).last()
    }
}

/// Splits the text of a JSON object or array into its members or elements; `None` for anything else.
pub(crate) fn parts(text: &str) -> Option<JsonParts<'_>> {
    let mut tokens = tokens(text);
    let is_array = match tokens.next()?.text {
        "{" => false,
        "[" => true,
        _ => return None,
    };
    let mut parts = JsonParts { all: Vec::new(), is_array, closed: false, text, rest: "" };
    let (mut depth, mut key) = (1_usize, "");
    // The range of the current value.
    let mut value: Option<(usize, usize)> = None;
    for token in tokens {
        match token.text {
            "}" | "]" => depth -= 1,
            "{" | "[" => depth += 1,
            _ => {}
        }
        // Commas of nested brackets belong to the current value.
        let ends = depth == 0 || (depth == 1 && token.text == ",");
        if ends {
            if let Some((from, to)) = value.take().filter(|_| parts.all.len() < MAX_PARTS) {
                parts.all.push((std::mem::take(&mut key), &text[from..to]));
            }
        // A second colon is a fault of the value (`{"id": 1: 2}`), and must not replace the key.
        } else if depth == 1 && token.text == ":" && !is_array && key.is_empty() {
            key = value.take().map(|(from, to)| &text[from..to]).unwrap_or_default();
        } else {
            value = Some((value.map_or(token.at, |(from, _)| from), token.end()));
        }
        if depth == 0 {
            parts.closed = true;
            parts.text = &text[..token.end()];
            parts.rest = text[token.end()..].trim_ascii();
            break;
        }
    }
    // The last element of a truncated array is kept, since it may be a complete message; a nested
    // value is truncated itself.
    if let Some((from, to)) = value.filter(|_| is_array && depth == 1 && parts.all.len() < MAX_PARTS) {
        parts.all.push(("", &text[from..to]));
    }
    Some(parts)
}

/// Returns JSON text without lone surrogates, and with numbers that overflow a 64-bit float, such as `1e400`, as
/// strings of their digits.
pub(crate) fn mended(text: &str) -> Cow<'_, str> {
    let text = mend_surrogates(text);
    let (mut mended, mut copied) = (String::new(), 0);
    for token in tokens(&text).filter(|token| is_number(token.text) && is_huge(token.text)) {
        mended.push_str(&format!("{}\"{}\"", &text[copied..token.at], token.text));
        copied = token.end();
    }
    match copied {
        0 => text,
        _ => Cow::Owned(mended + &text[copied..]),
    }
}

/// Returns `true` if a token of JSON text is a number.
fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok()
}

fn is_huge(number: &str) -> bool {
    number.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Parses JSON text, with overflowing numbers as strings of their digits. An `Err` names the unreadable part.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let text = mended(text);
    serde_json::from_str(&text).map_err(|error| match error.to_string() {
        deep if deep.starts_with("recursion limit") => "it is nested too deeply, more than 127 levels".to_owned(),
        other => culprit(&text).unwrap_or(other),
    })
}

/// Returns a message about the first token that makes JSON text unreadable, as in `NaN is no JSON`; `None` if there is
/// none.
fn culprit(text: &str) -> Option<String> {
    let is_known = |word: &str| matches!(word, "true" | "false" | "null") || is_number(word);
    let is_word = |word: &str| !word.starts_with(['"', '{', '}', '[', ']', ',', ':']);
    let word = tokens(text).find(|token| is_word(token.text) && !is_known(token.text))?;
    Some(format!("{} is no JSON", word.text.chars().take(40).collect::<String>()))
}

/// Returns the first 200 characters of a text in one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    const MAX: usize = 200;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(MAX).collect()
}

/// Returns JSON text without white space between tokens. Strings are replaced by the result of `change`, except for
/// member names of letters and underscores only. Numbers keep their digits.
pub(crate) fn compact(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut compact = String::with_capacity(text.len());
    let mut tokens = tokens(text).peekable();
    while let Some(token) = tokens.next() {
        let string = serde_json::from_str::<String>(token.text).ok();
        let Some(string) = string else {
            compact.push_str(token.text);
            continue;
        };
        let is_name = tokens.peek().is_some_and(|next| next.text == ":");
        let is_word = string.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
        let changed = if is_name && is_word { string } else { change(&string) };
        compact.push_str(&Value::from(changed).to_string());
    }
    compact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_whatever_stands_in_them() {
        let text = r#" { "a" : {"id": [1, "}"]}, "id":NaN ,"c\"":"x,y" , "d": [ ] } rest "#;
        let found = parts(text).unwrap();
        assert_eq!(
            found.all,
            [("\"a\"", r#"{"id": [1, "}"]}"#), ("\"id\"", "NaN"), ("\"c\\\"\"", "\"x,y\""), ("\"d\"", "[ ]")]
        );
        assert!(found.closed && !found.is_array && found.rest == "rest" && found.get("id") == Some("NaN"));
        let cut = parts(r#"{"id":5,"result":{"id":6,"text":"unfini"#).unwrap();
        assert!(!cut.closed && cut.all == [("\"id\"", "5")], "{cut:?}");
        let list = parts("[1, {\"a\":[2,3]},\n-Infinity]").unwrap();
        assert_eq!(list.all.iter().map(|(_, part)| *part).collect::<Vec<_>>(), ["1", "{\"a\":[2,3]}", "-Infinity"]);
        let cut = parts("[{\"a\":1},{\"b\":2}").unwrap();
        assert!(!cut.closed && cut.all.len() == 2, "an element that is there counts: {cut:?}");
        assert!(parts("").is_none() && parts("x{}").is_none() && parts("[").is_some_and(|parts| !parts.closed));
        // Deep nesting costs no stack.
        assert!(parts(&"[".repeat(1_000_000)).is_some_and(|parts| parts.all.is_empty()));
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_stay() {
        for (text, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDE00b""#, r#""\ufffdb""#),
            (r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#"{"\ud83d":"\ud83dx","k":1}"#, r#"{"\ufffd":"\ufffdx","k":1}"#),
            (r#""\\ud83d \ud83d\ude00 \u00e9""#, r#""\\ud83d \ud83d\ude00 \u00e9""#),
            (r#""\ud83"#, r#""\ud83"#),
            ("\"\\", "\"\\"),
        ] {
            assert_eq!(mended(text), expected);
        }
    }

    #[test]
    fn numbers_that_are_too_large_are_quoted() {
        let text = r#"{"a":[1e400,-1E999,1e308,123456789012345678901234567890,"1e400"]}"#;
        let quoted = r#"{"a":["1e400","-1E999",1e308,123456789012345678901234567890,"1e400"]}"#;
        assert_eq!(mended(text), quoted);
    }

    #[test]
    fn a_culprit_is_named() {
        for (text, expected) in [
            (r#"{"a":{"b":[1,{"c":2},NaN]}}"#, "NaN is no JSON"),
            (r#"[{"x":"NaN"},-Infinity]"#, "-Infinity is no JSON"),
            ("undefined", "undefined is no JSON"),
        ] {
            assert_eq!(culprit(text).as_deref(), Some(expected));
        }
        assert_eq!(culprit(r#"{"a":[true,null,-1.5e3]}"#), None);
    }

    #[test]
    fn a_compact_text_keeps_its_digits() {
        let text =
            "{ \"a\" : [ 0.1000000000000000055, 12345678901234567890123,\n 1E2, 1.0 ], \"b c\": \"\\u00e9\\/\" }";
        let compacted = r#"{"a":[0.1000000000000000055,12345678901234567890123,1E2,1.0],"b c":"é/"}"#;
        assert_eq!(compact(text, str::to_owned), compacted);
        let hide = |text: &str| if text.contains('é') { "x".to_owned() } else { text.to_owned() };
        assert_eq!(compact(text, hide), compacted.replace("é/", "x"));
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics_and_what_is_json_stays_so(text in r#"([{}\[\],:" \\]|\\u[dD][89cC][0-9]{2}|-?1e?[0-9]{0,3}|NaN|null|é|"[a-z]*"){0,40}"#) {
            let mended = mended(&text);
            let value = serde_json::from_str::<serde_json::Value>(&mended).ok();
            let compacted = compact(&mended, str::to_owned);
            let again = serde_json::from_str::<serde_json::Value>(&compacted).ok();
            proptest::prop_assert!(value.is_none() || again == value, "{} {}", mended, compacted);
            let found = parts(&text);
            proptest::prop_assert!(found.is_none_or(|parts| text.starts_with(parts.text) && text.trim_ascii_end().ends_with(parts.rest)));
            let _ = culprit(&text);
        }
    }
}
