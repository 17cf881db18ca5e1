//! The text of input that was typed before a question.

/// Returns typed input without the keys that a terminal sends as escape sequences (ECMA-48): arrows, function keys, and
/// the marks around pasted text. A letter after Escape stays: whoever waits presses Escape, and then types, more often
/// than Alt with a letter.
pub(crate) fn text_of(typed: &str) -> String {
    let mut text = String::new();
    let mut chars = typed.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                // Alt with an arrow has a second one.
                while chars.next_if_eq(&'\u{1b}').is_some() {}
                match chars.peek() {
                    Some('[') => {
                        chars.next();
                        // Linux's own console sends F1 to F5 with a second bracket.
                        chars.next_if_eq(&'[');
                        while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
                        chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
                    }
                    Some('O') => {
                        let mut sequence = chars.clone();
                        sequence.next();
                        while sequence.next_if(char::is_ascii_digit).is_some() {}
                        // The keys that send it: arrows, Home and End, Enter, F1 to F4.
                        if sequence.next_if(|c| matches!(c, 'A'..='F' | 'H' | 'M' | 'P'..='S')).is_some() {
                            chars = sequence;
                        }
                    }
                    _ => {}
                }
            }
            c => text.push(c),
        }
    }
    text
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
