//! Cuts long texts to head and tail.

use std::borrow::Cow;

/// Limit on the bytes of a result that the model reads, unless configured otherwise.
pub const RESULT_BYTES: usize = 50 * 1024;

/// The parts that remain of a text that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut<'a> {
    /// The text's beginning: two thirds of the limit.
    pub head: &'a str,
    /// Number of bytes that are left out between head and tail.
    pub missing: usize,
    /// The text's end.
    pub tail: &'a str,
}

/// Cuts a text longer than `limit` bytes at character boundaries, so that head and tail together fit; `None` if it fits
/// whole.
pub fn cut(text: &str, limit: usize) -> Option<Cut<'_>> {
    if text.len() <= limit {
        return None;
    }
    // The division's remainder of one or two bytes goes to the head.
    let tail_bytes = limit / 3;
    let head = &text[..text.floor_char_boundary(limit - tail_bytes)];
    let from = text.ceil_char_boundary(text.len() - tail_bytes);
    Some(Cut { head, missing: from - head.len(), tail: &text[from..] })
}

/// Returns the text, or its head and tail with a note between them that says how many bytes are missing. The note does
/// not count towards `limit`.
pub fn bounded(text: &str, limit: usize) -> Cow<'_, str> {
    match cut(text, limit) {
        None => Cow::Borrowed(text),
        Some(Cut { head, missing, tail }) => Cow::Owned(format!("{head}\n[… {missing} bytes left out …]\n{tail}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_at_the_limit_is_whole_and_one_byte_more_is_cut() {
        assert_eq!(bounded("123456789", 9), "123456789");
        assert_eq!(bounded("1234567890", 9), "123456\n[… 1 bytes left out …]\n890");
    }

    #[test]
    fn cuts_fall_between_characters() {
        let text = "天气预报很好"; // three bytes each
        for limit in 0..text.len() {
            let cut = cut(text, limit).unwrap();
            assert!(cut.head.len() + cut.tail.len() <= limit);
            assert_eq!(cut.head.len() + cut.missing + cut.tail.len(), text.len());
        }
    }
}
