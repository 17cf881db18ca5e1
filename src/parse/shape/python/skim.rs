//! Calls that are only counted: whether one is well formed, without its values.
//!
//! Past the limit on calls any number may come. What is plain (keywords that differ, numbers,
//! texts without escapes, words) is passed over here; all else is read as ever.

use super::literal::word;
use crate::json::window::{Match, No, Undecided};

/// Most bytes of a call that are waited for: what is longer is read as it comes.
const MOST: usize = 64;

/// Most keywords.
const KEYWORDS: usize = 8;

/// Whether the arguments that `text` begins with are plain; yields their length with the
/// closing parenthesis.
pub(super) fn arguments(text: &str, more: bool) -> Match<usize> {
    match read(text.as_bytes()) {
        Some(length) => Ok(length),
        None if more && text.len() < MOST && !text.contains([')', '\n']) => Err(Undecided),
        None => Err(No),
    }
}

fn read(text: &[u8]) -> Option<usize> {
    let mut keywords: [&[u8]; KEYWORDS] = [b""; KEYWORDS];
    let mut at = 0;
    for place in 0..=KEYWORDS {
        at += count(&text[at..], |byte| matches!(byte, b' ' | b'\t'));
        if *text.get(at)? == b')' {
            return Some(at + 1);
        }
        let length = count(&text[at..], |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let keyword = &text[at..at + length];
        let begins_well = keyword.first().is_some_and(|byte| !byte.is_ascii_digit());
        if !begins_well || place == KEYWORDS || is_word(keyword) || keywords[..place].contains(&keyword) {
            return None;
        }
        keywords[place] = keyword;
        at += length;
        if *text.get(at)? != b'=' {
            return None;
        }
        at += 1 + value(&text[at + 1..])?;
        at += count(&text[at..], |byte| matches!(byte, b' ' | b'\t'));
        match *text.get(at)? {
            b',' => at += 1,
            b')' => return Some(at + 1),
            _ => return None,
        }
    }
    None
}

/// The length of a plain value.
fn value(text: &[u8]) -> Option<usize> {
    let length = match *text.first()? {
        quote @ (b'"' | b'\'') => {
            let end = memchr::memchr3(quote, b'\\', b'\n', &text[1..])? + 1;
            let is_plain = text[end] == quote && end > 1 && !text[1..end].contains(&b'<');
            return is_plain.then_some(end + 1).filter(|end| matches!(text.get(*end), Some(b',' | b')' | b' ')));
        }
        b'0' => 1,
        b'1'..=b'9' => count(text, |byte| byte.is_ascii_digit()),
        _ => {
            let length = count(text, |byte| byte.is_ascii_alphabetic());
            return is_word(&text[..length]).then_some(length);
        }
    };
    // A number that loses digits is said, and a longer one is another form.
    let ends = matches!(text.get(length), Some(b',' | b')' | b' '));
    (ends && length < 16).then_some(length)
}

fn is_word(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| word(text).is_some())
}

fn count(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_arguments_are_passed_over_and_others_are_not() {
        for text in [")", "a=1)", "a=1, b_2='x y', c=True)", "a=\"(\",)", " a=0 )"] {
            assert_eq!(arguments(text, true), Ok(text.len()), "{text}");
        }
        for text in ["a=x)", "a=1, a=2)", "1)", "a='it's')", "a=007)", "a=1.5)", "a='x' 'y')", "a='\\n')", "True=1)"] {
            assert_eq!(arguments(text, true), Err(No), "{text}");
        }
        assert_eq!((arguments("a=1", true), arguments("a=1", false)), (Err(Undecided), Err(No)));
    }
}
