//! Text as it is written in a JSON string.

use super::bytes::{HIGH, Kind, Places, any_zero, differs, of};

/// The kind of the bytes that are not plain inside a JSON string: a quote, a backslash, a control character.
#[derive(Clone, Copy)]
pub(crate) struct Special;

impl Kind for Special {
    const OTHER: u8 = b' ';

    #[inline]
    fn rest(self, byte: u8) -> u8 {
        (byte ^ b'"').min(byte ^ b'\\').min(byte & !0x1f)
    }

    #[inline]
    fn bits(self, word: u64) -> u64 {
        let no_control = differs(word & of(!0x1f), 0);
        !(differs(word, b'"') & differs(word, b'\\') & no_control) & HIGH
    }
}

/// Returns the character that a backslash followed by this byte denotes, or `None` if the two are not a whole escape.
#[inline]
pub(crate) fn short_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'"' | b'\\' | b'/' => char::from(byte),
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// Returns the text escaped for a JSON string: `text` itself where nothing needs an escape, else a copy in `scratch`.
pub(crate) fn escaped<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    if !any_zero(text.as_bytes(), |b| Special.rest(b)) {
        return text;
    }
    scratch.clear();
    push_escaped(text, scratch);
    scratch
}

/// Appends the text to `out`, escaped as inside a JSON string.
pub(crate) fn push_escaped(text: &str, out: &mut String) {
    let mut written = 0;
    out.reserve(text.len() + 8);
    for at in Places::new(Special, text.as_bytes()) {
        out.push_str(&text[written..at]);
        written = at + 1;
        match text.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\x08' => out.push_str("\\b"),
            b'\x0c' => out.push_str("\\f"),
            control => push_control(char::from(control), out),
        }
    }
    out.push_str(&text[written..]);
}

/// Appends a control character to `out`, escaped as in a JSON string.
pub(super) fn push_control(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{:04x}", c as u32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_in_a_string_is_found_at_every_place_in_every_length() {
        for length in 0..40 {
            let text: Vec<u8> =
                (0..length).map(|at| [b' ', b'#', b'!', 0x7f, 0x80, 0xa2, 0xdc, 0xff][at % 8]).collect();
            assert_eq!(Places::new(Special, &text).next(), None, "{length}");
            for at in 0..length {
                for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut text = text.clone();
                    text[at] = special;
                    assert!(Places::new(Special, &text).eq([at]), "{special} at {at} of {length}");
                }
            }
        }
    }
}
