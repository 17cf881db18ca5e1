//! Texts for the page: nothing hidden in them, nothing too long at once.

use serde::Serialize;
use serde_json::Value;

use crate::screen::visible::clean;

/// Maximum number of characters of a text that is not folded.
const LONG: usize = 2400;

/// Maximum number of characters of a folded text that stay visible.
const HEAD: usize = 2000;

/// A text for a page; if it has more than 2400 characters, the rest after its beginning is folded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Long {
    head: String,
    rest: Option<String>,
    rest_size: usize,
}

impl Long {
    pub(crate) fn new(text: &str) -> Self {
        let size = text.chars().count();
        if size <= LONG {
            return Long { head: text.to_owned(), rest: None, rest_size: 0 };
        }
        let end = text.char_indices().nth(HEAD).map_or(text.len(), |(at, _)| at);
        // At a line's end, if there is one in the second half.
        let at = text[..end].rfind('\n').map(|at| at + 1).filter(|at| *at > end / 2).unwrap_or(end);
        let (head, rest) = text.split_at(at);
        Long { head: head.to_owned(), rest: Some(rest.to_owned()), rest_size: rest.chars().count() }
    }

    /// Creates the text of a JSON value: one line if it has at most 60 bytes, else indented lines.
    pub(crate) fn json(value: &Value) -> Self {
        let line = value.to_string();
        Long::new(&if line.len() <= 60 { line } else { serde_json::to_string_pretty(value).unwrap_or(line) })
    }
}

/// Makes hidden characters visible in all strings of a JSON value, except for the keys of objects.
pub(crate) fn visible_in(value: &mut Value) {
    match value {
        Value::String(text) => *text = visible(text),
        Value::Array(items) => items.iter_mut().for_each(visible_in),
        Value::Object(fields) => fields.values_mut().for_each(visible_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Makes hidden characters of a text visible as [`clean`] does, but leaves tabs as they are.
fn visible(text: &str) -> String {
    text.split('\t').map(clean).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_shown() {
        for (text, shown) in [
            ("a\u{202e}b\u{2066}", "a⟨U+202E⟩b⟨U+2066⟩"),
            ("\x1b[2J\x07\x7f\u{9b}", "␛[2J␇␡⟨U+009B⟩"),
            ("a\r\nb\rc\td", "a\nb␍c\td"),
            ("zero\u{200b}width\u{feff}", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
            ("hid\u{e0041}den", "hid⟨U+E0041⟩den"),
            ("a\u{200d}b", "a⟨U+200D⟩b"),
            ("❤\u{fe0f} 👩\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f} 👩\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn a_long_text_is_folded_at_a_line_and_loses_nothing() {
        let lines = "武汉 line\n".repeat(600);
        let long = Long::new(&lines);
        assert!(long.head.ends_with('\n') && long.head.chars().count() <= HEAD);
        assert_eq!(long.rest_size, long.rest.as_ref().unwrap().chars().count());
        assert_eq!(format!("{}{}", long.head, long.rest.unwrap()), lines);
        let one = "字".repeat(LONG + 1);
        assert_eq!(Long::new(&one).head.chars().count(), HEAD);
        assert_eq!(Long::new(&"x".repeat(LONG)).rest, None);
    }
}
