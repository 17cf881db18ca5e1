//! Fence lines, and runs of fence characters.

use super::tentative::ends_message;
use super::window::Match;

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    byte: u8,
    length: usize,
}

impl Fence {
    /// Number of its characters, in bytes.
    pub(super) fn length(self) -> usize {
        self.length
    }
}

/// Fewest characters of a fence.
const MIN_FENCE: usize = 3;

/// Whether `text`, at a line's start, is a line that opens a fence: ```` ``` ````,
/// `~~~` or `'''`, then at most two words. Yields the fence and the line's
/// length with its line break.
pub(super) fn fence_open(text: &str, more: bool) -> Match<(Fence, usize)> {
    let fence = match fence_chars(text, more) {
        Match::Yes(fence) => fence,
        Match::Undecided => return Match::Undecided,
        Match::No => return Match::No,
    };
    let info = &text[fence.length..];
    match memchr::memchr(b'\n', info.as_bytes()) {
        Some(end) if is_info(&info[..end]) => Match::Yes((fence, fence.length + end + 1)),
        None if more && is_info(info) => Match::Undecided,
        _ => Match::No,
    }
}

/// What may stand behind the opening characters: a language and attributes, but
/// neither the fence's own characters nor tags and tokens nor prose.
fn is_info(info: &str) -> bool {
    !info.contains(['`', '\'', '~', '<']) && info.split_whitespace().count() <= 2
}

/// Whether `text` is a line that closes `fence`; yields its length with its line break.
pub(super) fn fence_close(text: &str, fence: Fence, more: bool) -> Match<usize> {
    let length = text.bytes().take_while(|b| *b == fence.byte).count();
    if length == text.len() && more && length > 0 {
        return Match::Undecided;
    }
    if length < fence.length {
        return Match::No;
    }
    let rest = &text[length..];
    let space = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match rest.as_bytes().get(space) {
        Some(b'\n') => Match::Yes(length + space + 1),
        Some(_) => Match::No,
        None if more => Match::Undecided,
        None => Match::Yes(text.len()),
    }
}

/// The same of a fence between calls, whose line may also go on with what ends
/// the message or, with `think_tags`, its reasoning: models break no line there.
/// Yields the length up to that.
pub(super) fn fence_end(text: &str, fence: Fence, think_tags: bool, more: bool) -> Match<usize> {
    let ends = |rest: &str| ends_message(rest, think_tags, more);
    fence_close(text, fence, more).or_else(|| fence_close_before(text, fence, ends))
}

/// Whether `text` begins with what closes `fence`, and its line goes on with
/// something that `follows`. Yields the length up to that.
pub(super) fn fence_close_before<T>(text: &str, fence: Fence, follows: impl FnOnce(&str) -> Match<T>) -> Match<usize> {
    let length = text.bytes().take_while(|b| *b == fence.byte).count();
    if length < fence.length {
        return Match::No;
    }
    let length = length + text[length..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
    follows(&text[length..]).map(|_| length)
}

/// Whether `text` begins with a run of fence characters, then perhaps a
/// language; yields the length of both. For fences that a dialect expects.
pub(super) fn fence_run(text: &str, more: bool) -> Match<usize> {
    match fence_chars(text, more) {
        Match::Yes(fence) => {
            let word = text[fence.length..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            let length = fence.length + word;
            if length == text.len() && more { Match::Undecided } else { Match::Yes(length) }
        }
        Match::Undecided => Match::Undecided,
        Match::No => Match::No,
    }
}

/// The fence that `text` begins with, for [`fence_close`].
pub(super) fn fence_chars(text: &str, more: bool) -> Match<Fence> {
    let Some(&byte) = text.as_bytes().first().filter(|b| matches!(b, b'`' | b'~' | b'\'')) else {
        return Match::No;
    };
    let length = text.bytes().take_while(|b| *b == byte).count();
    if length == text.len() && more {
        Match::Undecided
    } else if length >= MIN_FENCE {
        Match::Yes(Fence { byte, length })
    } else {
        Match::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_lines_open_and_close() {
        let open = |text| match fence_open(text, true) {
            Match::Yes((fence, length)) => Some((fence, length)),
            _ => None,
        };
        let (fence, length) = open("```json\nx").unwrap();
        assert_eq!(length, 8);
        assert_eq!(fence_close("```\n", fence, true), Match::Yes(4));
        assert_eq!(fence_close("````  \r\n", fence, true), Match::Yes(8));
        assert_eq!(fence_close("``", fence, true), Match::Undecided);
        assert_eq!(fence_close("``", fence, false), Match::No);
        assert_eq!(fence_close("```", fence, false), Match::Yes(3));
        assert_eq!(fence_close("```json\n", fence, true), Match::No);
        assert_eq!(fence_end("```\n</think>", fence, true, true), Match::Yes(4));
        for (text, found) in [
            ("``` </think>a", Match::Yes(4)),
            ("```</thi", Match::Undecided),
            ("```<|im_end|>a", Match::Yes(3)),
            ("````<|im_e", Match::Undecided),
            ("```</s>\n", Match::Undecided),
            ("```</s>a", Match::No),
            ("```<b>", Match::No),
            ("``</think>", Match::No),
        ] {
            assert_eq!(fence_end(text, fence, true, true), found, "{text}");
        }
        assert_eq!(fence_end("```</think>", fence, false, true), Match::No);
        assert_eq!(fence_end("```</s>\n", fence, false, false), Match::Yes(3));
        assert!(open("'''\n").is_some() && open("~~~~ py\n").is_some());
        assert!(open("```a``` b\n").is_none() && open("''' is how he began to speak\n").is_none());
        assert!(open("```</think>\n").is_none() && open("```<|im_end|>\n").is_none());
        assert_eq!(fence_open("```js", true), Match::Undecided);
        assert_eq!(fence_open("''", true), Match::Undecided);
        assert_eq!(fence_open("''x", true), Match::No);
    }

    #[test]
    fn a_run_takes_its_language() {
        assert_eq!(fence_run("```json {", true), Match::Yes(7));
        assert_eq!(fence_run("'''{", true), Match::Yes(3));
        assert_eq!(fence_run("```js", true), Match::Undecided);
    }
}
