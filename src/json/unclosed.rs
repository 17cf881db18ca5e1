//! The closers that are missing at the end of JSON that breaks off.

use super::outside::outside;

/// Most of it that is told.
const MOST: usize = 16;

/// Returns the closers of the strings and brackets that are open at the end of `text`, read as strict JSON has them.
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
    use super::unclosed;

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
