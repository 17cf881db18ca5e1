//! Arguments in braces as Ruby or a command line has them, made JSON.
//!
//! ```text
//! {--path "a", limit => 3}  ──▶  {"path":"a","limit":3}
//! ```
//!
//! Values are JSON; what is wrong with them is found, mended and named where all JSON is read.

use std::sync::LazyLock;

use regex::Regex;

use crate::json::outside;

/// Pattern of a flag or a key, with the sign after it.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:--([\w.-]+)\s*(?:=>|[:=])?|"?([\w.-]+)"?\s*(?:=>|[:=]))\s*"#).expect("the pattern is tested")
});

/// Converts an object of `--key value`, `key => value` or `"key": value`, separated by white space or commas, to JSON.
/// Text from the first member of another form on stays as it is.
pub(super) fn json(text: &str) -> String {
    let (mut json, mut rest) = (String::new(), text);
    let mut sign = "{";
    loop {
        let members =
            rest.strip_prefix(sign).unwrap_or(rest).trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        // Something must part a key from the value before it.
        let Some(key) = KEY.captures(members).filter(|_| members.len() < rest.len()) else { break };
        let name = key.get(1).or(key.get(2)).map_or("", |name| name.as_str());
        let value = &members[key[0].len()..];
        let (value, after) = value.split_at(value_end(value));
        json += &format!("{sign}\"{name}\":{value}");
        (rest, sign) = (after, ",");
    }
    json + rest
}

/// Returns the length in bytes of the value that `text` begins with: a string, an object, a list, or a word.
fn value_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (i, byte) in outside(text) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return i,
            b'}' | b']' => depth -= 1,
            b'"' => {}
            byte if depth == 0 && (byte == b',' || byte.is_ascii_whitespace()) => return i,
            _ => continue,
        }
        if depth == 0 {
            return i + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::json;
    use crate::json::read;

    #[test]
    fn flags_arrows_and_json_are_members() {
        let members = |text: &str| read(&json(text)).ok().map(|found| found.value);
        for (text, expected) in [
            ("{}", json!({})),
            (r#"{ --path "a b" --all true }"#, json!({"path": "a b", "all": true})),
            (r#"{--pattern: "**/*.ts", --n: 3}"#, json!({"pattern": "**/*.ts", "n": 3})),
            (r#"{query => "t\"}", k => [1, {"a": "]"}]}"#, json!({"query": "t\"}", "k": [1, {"a": "]"}]})),
            (r#"{"query": "t", "k": null}"#, json!({"query": "t", "k": null})),
        ] {
            assert_eq!(members(text), Some(expected), "{text}");
        }
        for text in
            [r"{--all}", r#"{--a "x" y}"#, r#"{--a "x"--b "y"}"#, r#"{"a" "b"}"#, "{--a x}", "{--a 1 --a 2}", "a"]
        {
            assert_eq!(members(text).filter(Value::is_object), None, "{text}");
        }
    }
}
