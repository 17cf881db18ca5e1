//! The bytes outside of the strings of JSON, which need not be valid.

/// Returns the length of the string at the start of `text`, both quotation marks included; `None` if it is not
/// closed.
pub(crate) fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..)?) {
        match text[at + found] {
            b'"' => return Some(at + found + 1),
            // The backslash and the byte that it escapes.
            _ => at += found + 2,
        }
    }
    None
}

/// Iterator over the bytes of a JSON text outside strings, with their offsets; of each string it yields only the
/// closing quotation mark.
pub(crate) struct Outside<'t> {
    text: &'t [u8],
    at: usize,
    is_in_string: bool,
}

/// Returns an iterator over the bytes of `text` outside its strings.
pub(crate) fn outside(text: &str) -> Outside<'_> {
    Outside { text: text.as_bytes(), at: 0, is_in_string: false }
}

impl Outside<'_> {
    /// Returns `true` if the iterator has reached the end of the text inside a string that is not closed.
    pub(crate) fn is_in_string(&self) -> bool {
        self.is_in_string
    }
}

impl Iterator for Outside<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        let rest = self.text.get(self.at..)?;
        let byte = *rest.first()?;
        let length = if byte == b'"' { string_length(rest) } else { Some(1) };
        self.is_in_string = length.is_none();
        self.at += length.unwrap_or(rest.len());
        length.map(|_| (self.at - 1, byte))
    }
}

/// Maximum number of missing closers that are reported.
const MOST: usize = 16;

/// Returns the closing quotation mark and brackets that are missing at the end of `text`, innermost first, 16 at most.
pub(crate) fn unclosed(text: &str) -> String {
    let (mut open, mut bytes) = (Vec::new(), outside(text));
    for (_, byte) in bytes.by_ref() {
        match byte {
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    let quote = Some('"').filter(|_| bytes.is_in_string());
    quote.into_iter().chain(open.into_iter().rev()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_passed_to_the_mark_that_closes_them() {
        for (text, found, in_string) in [
            (r#"{"a":"}\"]"}"#, "{\":\"}", false),
            (r#"["\\",1]"#, "[\",1]", false),
            (r#"[\"a"#, "[\\", true),
            (r#"{"a\"#, "{", true),
            (r#"""#, "", true),
            ("", "", false),
        ] {
            let mut bytes = outside(text);
            let all: Vec<(usize, u8)> = bytes.by_ref().collect();
            assert!(all.iter().all(|(at, byte)| text.as_bytes()[*at] == *byte), "{text}");
            let told: String = all.iter().map(|(_, byte)| char::from(*byte)).collect();
            assert_eq!((told.as_str(), bytes.is_in_string()), (found, in_string), "{text}");
            assert_eq!(bytes.next(), None);
        }
    }

    #[test]
    fn open_strings_and_brackets_are_told_from_the_inside() {
        for (text, missing) in [
            (r#"{"a": [1, {"b": "x"#, "\"}]}"),
            (r#"{"a": "\"}"#, "\"}"),
            (r#"{"a": "[{""#, "}"),
            ("{}", ""),
            ("]", ""),
        ] {
            assert_eq!(unclosed(text), missing, "{text}");
        }
    }
}
