//! Repairs escapes in JSON texts that encode no character.

use std::borrow::Cow;

/// Returns the JSON text with each unpaired surrogate escape (`\ud83d` alone) replaced by `\ufffd`.
///
/// Such an escape encodes no character; writers that cut text in UTF-16 units (`slice` through an emoji in JavaScript)
/// produce it. The replacement has the same length, so columns stay the same.
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                changed = true;
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    if changed { Cow::Owned(mended) } else { Cow::Borrowed(text) }
}

/// Returns the UTF-16 code unit of the `\uXXXX` escape at the start of a text, `None` if there is none.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_half_surrogate_pairs_are_replaced() {
        for (text, mended) in [
            (r"a\ud83d\ude00b", r"a\ud83d\ude00b"),
            (r"a\ud83db", r"a\ufffdb"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\uD83D\n", r"\ufffd\n"),
            (r"\ud8", r"\ud8"),
            (r"\ud83d\", r"\ufffd\"),
            (r"\ud中文字", r"\ud中文字"),
        ] {
            assert_eq!(mend_surrogates(text), mended, "{text}");
        }
    }
}
