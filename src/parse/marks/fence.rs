//! Fence lines, runs of fence characters, and what ends a message or its reasoning.

use super::tokens::tokens_at;
use crate::dialect::{SENTENCE_END, THINK_TAGS};
use crate::json::window::{Answer, Match, No, Undecided, begins, begins_tag, begins_tag_any_case, first_of};

/// Language of the code fences in which Gemma 3 writes calls.
pub(crate) const TOOL_CODE: &str = "tool_code";
pub(crate) const PRINT: &str = "print(";

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    byte: u8,
    /// Length in bytes of the fence's run of characters, or of its opening tag with a line break after it.
    pub(crate) length: usize,
    /// Name of the HTML tag that the fence is, `pre` or `code`; `None` for a run of fence characters.
    tag: Option<&'static str>,
}

/// Names of HTML tags that count as code fences at a line's start: the text in them is quoted.
pub(crate) const FENCE_TAGS: [&str; 2] = ["pre", "code"];

/// Upper limit, exclusive, on the bytes between the name and the closing bracket of an opening tag.
const MAX_TAG: usize = 64;

impl Fence {
    /// Returns `true` if the fence is an HTML tag, whose closing tag may be anywhere on a line.
    pub(crate) fn is_tag(self) -> bool {
        self.tag.is_some()
    }
}

/// Minimum number of fence characters (backticks, tildes or apostrophes) of a code fence.
const MIN_FENCE: usize = 3;

/// Matches a line that opens a code fence, where `text` is at a line's start: ```` ``` ````, `~~~` or `'''`, then at
/// most two words; or a `<pre>` or `<code>` tag.
///
/// Returns the fence and the line's length with its line break.
pub(crate) fn fence_open(text: &str, more: bool) -> Match<(Fence, usize)> {
    if text.starts_with('<') {
        let opens = |tag: &'static str| {
            let length = open_tag(text, tag, more);
            length.map(|length| (Fence { byte: b'<', length, tag: Some(tag) }, length))
        };
        let (fence, length) = first_of(FENCE_TAGS.into_iter().map(opens))?;
        // `<pre><code>` is one.
        let code = open_tag(&text[length..], "code", more).decided()?;
        return Ok((fence, length + code.unwrap_or(0)));
    }
    let fence = fence_chars(text, more)?;
    let info = &text[fence.length..];
    if info.starts_with('\n') {
        return Ok((fence, fence.length + 1));
    }
    match memchr::memchr(b'\n', info.as_bytes()) {
        Some(end) if is_info(&info[..end]) => Ok((fence, fence.length + end + 1)),
        None if more && is_info(info) => Err(Undecided),
        _ => Err(No),
    }
}

/// Matches an opening tag of this name at the start of `text`; returns its length with a line break after it.
fn open_tag(text: &str, name: &str, more: bool) -> Match<usize> {
    with_line_break(tag_with_attributes(text, '<', name, more)?, text, more)
}

/// Matches an opening tag of this name in any case, with attributes or not, at the start of `text`: between angle
/// brackets, or between square ones, where a value may be assigned to the name. Returns its length.
pub(crate) fn tag_with_attributes(text: &str, bracket: char, name: &str, more: bool) -> Match<usize> {
    let (close, assigns) = if bracket == '<' { ('>', None) } else { (']', Some('=')) };
    let Some(rest) = text.strip_prefix(bracket) else {
        return if text.is_empty() && more { Err(Undecided) } else { Err(No) };
    };
    begins_any_case(rest, name, more)?;
    let rest = &rest[name.len()..];
    match rest.chars().next() {
        // With anything else the name is longer, and the tag another one.
        Some(next) if next == close || next == ' ' || Some(next) == assigns => {}
        None if more => return Err(Undecided),
        _ => return Err(No),
    }
    // A tag is on one line and holds no other.
    match rest.find([close, '\n', bracket]) {
        Some(end) if end < MAX_TAG && rest[end..].starts_with(close) => Ok(1 + name.len() + end + 1),
        None if more && rest.len() < MAX_TAG => Err(Undecided),
        _ => Err(No),
    }
}

/// Matches `word`, in any case, at the start of `text`.
pub(crate) fn begins_any_case(text: &str, word: &str, more: bool) -> Match<()> {
    let there = text.len().min(word.len());
    match text.as_bytes()[..there].eq_ignore_ascii_case(&word.as_bytes()[..there]) {
        true if there == word.len() => Ok(()),
        true if more => Err(Undecided),
        _ => Err(No),
    }
}

/// Matches the closing tag of a fence that is an HTML tag, such as `</pre>` or `</code></pre>`, at the start of `text`.
///
/// Returns its length with a line break after it.
fn tag_close(text: &str, tag: &str, more: bool) -> Match<usize> {
    let code = if tag == "code" { Err(No) } else { begins_tag(text, "code", true, more) };
    let code = code.decided()?.unwrap_or(0);
    with_line_break(code + begins_tag(&text[code..], tag, true, more)?, text, more)
}

/// Returns `length`, that of a tag at the start of `text`, plus one if a line break follows the tag.
fn with_line_break(length: usize, text: &str, more: bool) -> Match<usize> {
    match &text[length..] {
        "" if more => Err(Undecided),
        after => Ok(length + usize::from(after.starts_with('\n'))),
    }
}

/// Returns `true` if `info` may follow the opening characters of a code fence: a language and attributes, but neither
/// fence characters nor tags and tokens nor prose.
fn is_info(info: &str) -> bool {
    !info.contains(['`', '\'', '~', '<']) && info.split_whitespace().count() <= 2
}

/// Matches a line that closes `fence` at the start of `text`; returns its length with its line break.
pub(crate) fn fence_close(text: &str, fence: Fence, more: bool) -> Match<usize> {
    if let Some(tag) = fence.tag {
        return tag_close(text, tag, more);
    }
    let length = text.bytes().take_while(|b| *b == fence.byte).count();
    // The run may be longer.
    if length == text.len() && more && length > 0 {
        return Err(Undecided);
    }
    if length < fence.length {
        return Err(No);
    }
    let rest = &text[length..];
    let space = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match rest.as_bytes().get(space) {
        Some(b'\n') => Ok(length + space + 1),
        Some(_) => Err(No),
        None if more => Err(Undecided),
        None => Ok(text.len()),
    }
}

/// Matches a line that closes `fence`, or closing characters that a message-ending token or, with `think_tags`, a
/// closing think tag follows on their line, where models omit the break. Returns the length up to that token or tag.
pub(crate) fn fence_end(text: &str, fence: Fence, think_tags: bool, more: bool) -> Match<usize> {
    let ends = |rest: &str| ends_message(rest, think_tags, more);
    fence_close(text, fence, more).else_try(|| fence_close_before(text, fence, ends))
}

/// Matches the closing characters of `fence` at the start of `text` if `follows` matches the text after them and after
/// spaces. Never matches for a fence that is an HTML tag.
///
/// Returns the length up to the text that `follows` matched.
pub(crate) fn fence_close_before<T>(text: &str, fence: Fence, follows: impl FnOnce(&str) -> Match<T>) -> Match<usize> {
    // What follows a closing tag on its line does not matter: `fence_close` has looked for it.
    if fence.is_tag() {
        return Err(No);
    }
    let length = text.bytes().take_while(|b| *b == fence.byte).count();
    if length < fence.length {
        return Err(No);
    }
    let length = length + text[length..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
    follows(&text[length..]).map(|_| length)
}

/// Matches a run of fence characters, then perhaps a language; returns the length of both.
///
/// Used for the fences that a dialect's call syntax demands.
pub(crate) fn fence_run(text: &str, more: bool) -> Match<usize> {
    let fence = fence_chars(text, more)?;
    let word = text[fence.length..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let length = fence.length + word;
    if length == text.len() && more { Err(Undecided) } else { Ok(length) }
}

/// Matches a run of at least three backticks, tildes or apostrophes at the start of `text`; returns it as a fence.
pub(crate) fn fence_chars(text: &str, more: bool) -> Match<Fence> {
    let Some(&byte) = text.as_bytes().first().filter(|b| matches!(b, b'`' | b'~' | b'\'')) else {
        return Err(No);
    };
    let length = text.bytes().take_while(|b| *b == byte).count();
    if length == text.len() && more {
        Err(Undecided)
    } else if length >= MIN_FENCE {
        Ok(Fence { byte, length, tag: None })
    } else {
        Err(No)
    }
}

/// Matches a closing think tag at the start of `text`; returns its length.
#[inline]
pub(crate) fn think_close(text: &str, more: bool) -> Match<usize> {
    match text.as_bytes() {
        // Nearly every tag is another one: all of these begin with the same letter.
        [first, second, third, ..] if (*first, *second, third.to_ascii_lowercase()) != (b'<', b'/', b't') => Err(No),
        _ => closes_think(text, more),
    }
}

fn closes_think(text: &str, more: bool) -> Match<usize> {
    THINK_TAGS.iter().map(|tag| begins_tag_any_case(text, tag, true, more)).fold(Err(No), Answer::either)
}

/// Matches the end of a message or of its reasoning at the start of `text`: a token of a chat template or, with
/// `think_tags`, a closing think tag.
pub(crate) fn ends_message(text: &str, think_tags: bool, more: bool) -> Match<()> {
    let think = if think_tags { think_close(text, more).map(|_| ()) } else { Err(No) };
    let tokens = tokens_at(text).iter().map(|token| begins(text, token.text, more));
    think.either(sentence_end(text, more)).either(first_of(tokens))
}

/// Matches the end-of-sentence token `</s>` at the start of `text` if nothing but white space follows it.
pub(crate) fn sentence_end(text: &str, more: bool) -> Match<()> {
    begins(text, SENTENCE_END, more)?;
    match text[SENTENCE_END.len()..].trim_ascii() {
        "" if more => Err(Undecided),
        "" => Ok(()),
        _ => Err(No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_lines_open_and_close() {
        let open = |text| match fence_open(text, true) {
            Ok((fence, length)) => Some((fence, length)),
            _ => None,
        };
        let (fence, length) = open("```json\nx").unwrap();
        assert_eq!(length, 8);
        assert_eq!(fence_close("```\n", fence, true), Ok(4));
        assert_eq!(fence_close("````  \r\n", fence, true), Ok(8));
        assert_eq!(fence_close("``", fence, true), Err(Undecided));
        assert_eq!(fence_close("``", fence, false), Err(No));
        assert_eq!(fence_close("```", fence, false), Ok(3));
        assert_eq!(fence_close("```json\n", fence, true), Err(No));
        assert_eq!(fence_end("```\n</think>", fence, true, true), Ok(4));
        for (text, found) in [
            ("``` </think>a", Ok(4)),
            ("```</thi", Err(Undecided)),
            ("```<|im_end|>a", Ok(3)),
            ("````<|im_e", Err(Undecided)),
            ("```</s>\n", Err(Undecided)),
            ("```</s>a", Err(No)),
            ("```<b>", Err(No)),
            ("``</think>", Err(No)),
        ] {
            assert_eq!(fence_end(text, fence, true, true), found, "{text}");
        }
        assert_eq!(fence_end("```</think>", fence, false, true), Err(No));
        assert_eq!(fence_end("```</s>\n", fence, false, false), Ok(3));
        assert!(open("'''\n").is_some() && open("~~~~ py\n").is_some());
        assert!(open("```a``` b\n").is_none() && open("''' is how he began to speak\n").is_none());
        assert!(open("```</think>\n").is_none() && open("```<|im_end|>\n").is_none());
        assert_eq!(fence_open("```js", true), Err(Undecided));
        assert_eq!(fence_open("''", true), Err(Undecided));
        assert_eq!(fence_open("''x", true), Err(No));
    }

    #[test]
    fn a_run_takes_its_language() {
        assert_eq!(fence_run("```json {", true), Ok(7));
        assert_eq!(fence_run("'''{", true), Ok(3));
        assert_eq!(fence_run("```js", true), Err(Undecided));
    }
}
