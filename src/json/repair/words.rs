//! Words: literals, numbers, keys without quotes.

use std::borrow::Cow;

use super::name::Repair;
use super::pass::{Pass, Stop};

/// Length of the word that `rest` begins with.
pub(super) fn length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | '$'))).unwrap_or(rest.len())
}

/// A literal or number as JSON has it, and what was mended.
pub(super) fn read(word: &str) -> Option<(Cow<'_, str>, Option<Repair>)> {
    match word {
        "true" | "false" | "null" => return Some((word.into(), None)),
        _ if word.eq_ignore_ascii_case("true") => return Some(("true".into(), Some(Repair::PythonLiterals))),
        _ if word.eq_ignore_ascii_case("false") => return Some(("false".into(), Some(Repair::PythonLiterals))),
        _ if word.eq_ignore_ascii_case("none") || word.eq_ignore_ascii_case("null") => {
            return Some(("null".into(), Some(Repair::PythonLiterals)));
        }
        _ if is_number(word) => return Some((word.into(), None)),
        _ => {}
    }
    let plain = word.strip_prefix('+').unwrap_or(word);
    let (minus, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    let mut number =
        format!("{minus}{}{}", if digits.starts_with('.') { "0" } else { "" }, without_underscores(digits)?);
    if number.ends_with('.') {
        number.push('0');
    }
    is_number(&number).then(|| (number.into(), Some(Repair::NumberForm)))
}

/// Digits without the underscores between them.
fn without_underscores(digits: &str) -> Option<String> {
    let parts: Vec<_> = digits.split('_').collect();
    let inner =
        |part: &&str| part.starts_with(|c: char| c.is_ascii_digit()) && part.ends_with(|c: char| c.is_ascii_digit());
    (parts.len() == 1 || parts.iter().all(inner)).then(|| parts.concat())
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok()
}

/// Length of a key without quotes: letters, digits, `_`, `$` and, inside, `-`.
pub(super) fn key_length(rest: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
    let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
    let first = rest.chars().next();
    let number = rest[..length].bytes().all(|b| b.is_ascii_digit());
    if number || first.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$')) { length } else { 0 }
}

impl Pass<'_> {
    pub(super) fn word(&mut self) -> Result<(), Stop> {
        let word = &self.rest()[..length(self.rest())];
        if word.is_empty() {
            return self.stop("a value is missing here");
        }
        let Some((json, repair)) = read(word) else { return self.stop("a word without quotes is no value") };
        self.out.push_str(&json);
        self.at += word.len();
        if let Some(repair) = repair {
            self.note(repair);
        }
        Ok(())
    }

    pub(super) fn bare_key(&mut self) -> Result<(), Stop> {
        let key = &self.rest()[..key_length(self.rest())];
        if key.is_empty() {
            return self.stop("a key is missing here");
        }
        self.note(Repair::UnquotedKeys);
        self.out.push('"');
        self.out.push_str(key);
        self.out.push('"');
        self.at += key.len();
        Ok(())
    }
}
