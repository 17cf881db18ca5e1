//! The text of input that was typed before a question.

use regex::Regex;

/// Removes from typed input the escape sequences of keys (ECMA-48): arrows, function keys, and the delimiters of pasted
/// text. A letter after Escape is preserved, since waiting users more often press Escape and then type than use Alt
/// with a letter.
pub(crate) fn text_of(typed: &str) -> String {
    // Alt with an arrow has a second Escape; Linux's own console sends F1 to F5 with a second bracket; `O` and a letter
    // are arrows, Home and End, Enter, F1 to F4.
    let keys = Regex::new(r"\x1b+(?:\[\[?[\x20-\x3f]*[\x40-\x7e]?|O[0-9]*[A-FHMP-S])?").expect("it is tested");
    keys.replace_all(typed, "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_escape_sequences_leave_nothing_in_the_text() {
        for (typed, text) in [
            ("ab\u{1b}[A\u{1b}[Dc", "abc"),
            ("\u{1b}OA\u{1b}OP\u{1b}[15~\u{1b}[1;5C\u{1b}[3~x", "x"),
            ("\u{1b}[200~pasted text\u{1b}[201~", "pasted text"),
            ("\u{1b}\u{1b}[Awords", "words"),
            ("\u{1b}[[Ax", "x"),
            ("cut\u{1b}[1;", "cut"),
            ("cut\u{1b}", "cut"),
            ("one\u{1b}\ntwo", "one\ntwo"),
            ("奥斯陆\u{1b}[B的天气", "奥斯陆的天气"),
            ("array[A]", "array[A]"),
            // Escape, and then a question.
            ("\u{1b}And Oslo?", "And Oslo?"),
            ("\u{1b}Oslo?", "Oslo?"),
            ("\u{1b}天气", "天气"),
        ] {
            assert_eq!(text_of(typed), text, "{typed:?}");
        }
    }
}
