//! Control tokens of chat templates in untrusted text: escaped on the way to the model, restored on the way back.
//!
//! A tokenizer turns `<|im_start|>` into a turn wherever it occurs. [`break_tokens`] inserts an invisible [`BREAK`]
//! after the first character of each such token, and one more where the text has some already; [`restore_tokens`]
//! removes one at the same places. So `restore(break(x)) == x` for every text, and neither changes text that is not a
//! token.
//!
//! The reason is that the places are the same in both texts: no token begins inside another one (except at its last
//! character), so nothing is inserted into the part by which a token is recognised.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::dialect::{CONTROL_FAMILIES, NUMBERED_TOKENS, template_tokens};

/// The word joiner, an invisible character without a line break, which is inserted into tokens to escape them.
pub const BREAK: char = '\u{2060}';

/// Limit on the bytes between the bars of `<|…|>`, and on the digits of a numbered token.
const MAX_INNER: usize = 64;

/// Escapes untrusted text: each control token gets a [`BREAK`] after its first character. All other text stays as it
/// is, byte for byte.
///
/// ```
/// use toolgraft::outcome::{break_tokens, restore_tokens};
///
/// let broken = break_tokens("<b>1</b> <|im_end|> [INST]");
/// assert_eq!(broken, "<b>1</b> <\u{2060}|im_end|> [\u{2060}INST]");
/// assert_eq!(restore_tokens(&broken), "<b>1</b> <|im_end|> [INST]");
/// ```
pub fn break_tokens(text: &str) -> Cow<'_, str> {
    with_breaks(text, |_| true)
}

/// Escapes the model's own text like [`break_tokens`]; a token that the model copied with a break stays as it is.
pub(crate) fn rebreak_tokens(text: &str) -> Cow<'_, str> {
    with_breaks(text, |breaks| breaks == 0)
}

/// Removes the invisible characters that [`break_tokens`] has inserted into a text.
pub fn restore_tokens(text: &str) -> Cow<'_, str> {
    if !text.contains(BREAK) {
        return Cow::Borrowed(text);
    }
    let mut restorer = Restorer::default();
    let mut restored = restorer.push(text);
    restored.push_str(&restorer.finish());
    Cow::Owned(restored)
}

fn with_breaks(text: &str, wants: impl Fn(usize) -> bool) -> Cow<'_, str> {
    let mut broken = String::new();
    let mut from = 0;
    for (at, first) in text.char_indices().filter(|(_, c)| is_first(*c)) {
        let end = at + first.len_utf8();
        let after = text[end..].trim_start_matches(BREAK);
        let breaks = (text.len() - end - after.len()) / BREAK.len_utf8();
        if matches!(token_after(first, after), TokenMatch::Token) && wants(breaks) {
            broken.push_str(&text[from..end]);
            broken.push(BREAK);
            from = end;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    broken.push_str(&text[from..]);
    Cow::Owned(broken)
}

/// Restores the tokens of a text that arrives in pieces. It holds back only a [`BREAK`] after a character that begins
/// tokens, and the following text while it may be the rest of a token.
#[derive(Debug, Clone, Default)]
pub struct Restorer {
    /// The last emitted character, if it begins tokens.
    first: Option<char>,
    /// A break that is held back, and the text that followed it.
    held: String,
}

impl Restorer {
    /// Appends a piece of the text and returns the restored text that is certain now.
    pub fn push(&mut self, text: &str) -> String {
        let all = std::mem::take(&mut self.held) + text;
        let mut rest = all.as_str();
        let mut restored = String::with_capacity(all.len());
        while !rest.is_empty() {
            if let Some(first) = self.first.filter(|_| rest.starts_with(BREAK)) {
                let after = rest.trim_start_matches(BREAK);
                let (breaks, one) = rest.split_at(rest.len() - after.len() - BREAK.len_utf8());
                restored.push_str(breaks);
                match token_after(first, after) {
                    TokenMatch::More => {
                        one.clone_into(&mut self.held);
                        return restored;
                    }
                    TokenMatch::Token => {}
                    TokenMatch::Other => restored.push(BREAK),
                }
                rest = after;
                self.first = None;
                continue;
            }
            let next = rest.char_indices().find(|(_, c)| is_first(*c));
            let end = next.map_or(rest.len(), |(at, c)| at + c.len_utf8());
            self.first = next.map(|(_, c)| c);
            restored.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        restored
    }

    /// Returns the text that is held back, at the end of the text or before an interruption of it.
    pub fn finish(&mut self) -> String {
        self.first = None;
        std::mem::take(&mut self.held)
    }
}

/// Result of comparing the text after a token's first character with the rests of the control tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenMatch {
    /// The text begins with the rest of a token.
    Token,
    /// The text is the beginning of a token's rest; it ends too early to decide.
    More,
    Other,
}

fn is_first(c: char) -> bool {
    matches!(c, '<' | '[' | ']' | '｜' | '◁')
}

/// Compares `text`, the text after a first character and its breaks, with the rests of all control tokens.
fn token_after(first: char, text: &str) -> TokenMatch {
    let Some(second) = text.bytes().next() else { return TokenMatch::More };
    if !SECOND[usize::from(second)] {
        return TokenMatch::Other;
    }
    let mut found = TokenMatch::Other;
    for token in rests(first, second) {
        if text.starts_with(token) {
            return TokenMatch::Token;
        }
        if token.starts_with(text) {
            found = TokenMatch::More;
        }
    }
    for (begin, close) in NUMBERED_TOKENS.iter().filter_map(|(token, close)| Some((token.strip_prefix(first)?, *close)))
    {
        match text.strip_prefix(begin) {
            Some(rest) => match closed(rest, close, |c| c.is_ascii_digit()) {
                TokenMatch::Token => return TokenMatch::Token,
                TokenMatch::More => found = TokenMatch::More,
                TokenMatch::Other => {}
            },
            None if begin.starts_with(text) => found = TokenMatch::More,
            None => {}
        }
    }
    let bar = text.chars().next();
    match bar {
        Some(bar @ ('|' | '｜')) if first == '<' => match barred(&text[bar.len_utf8()..], bar) {
            TokenMatch::Other => found,
            other => other,
        },
        _ => found,
    }
}

/// Compares `text` with the part of a token `<|…|>` after its first bar.
fn barred(text: &str, bar: char) -> TokenMatch {
    let is_inner = |c: char| !(c.is_whitespace() || is_first(c) || matches!(c, '>' | '|' | BREAK));
    match closed(text, bar, is_inner) {
        // `｜DSML｜` is a token of its own, which begins with this bar.
        TokenMatch::Token
            if bar == '｜'
                && text.bytes().next().is_some_and(|second| rests(bar, second).any(|rest| text.starts_with(rest))) =>
        {
            TokenMatch::Other
        }
        TokenMatch::Token => {
            let after = text.split_once(bar).map_or("", |(_, after)| after);
            match after.chars().next() {
                Some('>') => TokenMatch::Token,
                None => TokenMatch::More,
                Some(_) => TokenMatch::Other,
            }
        }
        found => found,
    }
}

/// Returns the result of comparing `text` with 1 to [`MAX_INNER`] bytes of a kind, followed by `close`.
fn closed(text: &str, close: char, is_inner: impl Fn(char) -> bool) -> TokenMatch {
    let end = text.find(|c| !is_inner(c)).unwrap_or(text.len());
    match text[end..].chars().next() {
        // First, so that a text without end is not held back as the beginning of a token.
        _ if end > MAX_INNER => TokenMatch::Other,
        None => TokenMatch::More,
        Some(c) if c == close && end > 0 => TokenMatch::Token,
        Some(_) => TokenMatch::Other,
    }
}

/// Returns all control tokens that are listed, each once. They include tokens of the forms `<|…|>` and `<｜…｜>`, which
/// are also recognised by their form.
pub fn control_tokens() -> impl Iterator<Item = &'static str> {
    let families = CONTROL_FAMILIES.iter().flat_map(|family| family.tokens.iter().copied());
    // Some templates' tokens enclose a word between two tokens.
    let single = |token: &&str| token.matches("|>").count() < 2;
    template_tokens().map(|token| token.text).filter(single).chain(families)
}

/// Returns the rests of the listed tokens that begin with `first` and `second` and are not of the form `<|…|>`.
fn rests(first: char, second: u8) -> impl Iterator<Item = &'static str> {
    let after = &RESTS[usize::from(second)];
    after.iter().filter(move |(own, _)| *own == first).map(|(_, rest)| rest.as_str())
}

/// First characters and rests of the listed tokens that are not of the form `<|…|>`, indexed by the first byte of the
/// rest, since every bracket of a conversation is looked up here.
static RESTS: LazyLock<Vec<Vec<(char, String)>>> = LazyLock::new(|| {
    let split = |token: &'static str| {
        let first = token.chars().next().filter(|c| is_first(*c))?;
        Some((first, token[first.len_utf8()..].to_owned()))
    };
    let has_form = |rest: &str| {
        rest.chars()
            .next()
            .filter(|c| matches!(c, '|' | '｜'))
            .is_some_and(|bar| barred_only(&rest[bar.len_utf8()..], bar))
    };
    let mut rests = vec![Vec::new(); 256];
    for (first, rest) in control_tokens().filter_map(split).filter(|(first, rest)| *first != '<' || !has_form(rest)) {
        if let Some(second) = rest.bytes().next() {
            rests[usize::from(second)].push((first, rest));
        }
    }
    rests
});

/// The bytes that can follow the first character of a token. They rule out most brackets of a text at once.
static SECOND: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let mut second = [false; 256];
    let numbered = NUMBERED_TOKENS.iter().filter_map(|(token, _)| token.as_bytes().get(1).copied());
    let rests = (0..=u8::MAX).filter(|byte| !RESTS[usize::from(*byte)].is_empty());
    // 0xef is the first byte of the wide bar.
    rests.chain(numbered).chain([b'|', 0xef]).for_each(|byte| second[usize::from(byte)] = true);
    second
});

/// Returns `true` if `text` is the rest of `<|…|>` and nothing else.
fn barred_only(text: &str, bar: char) -> bool {
    text.strip_suffix('>').and_then(|text| text.strip_suffix(bar)).is_some_and(|inner| !inner.contains(['<', '>', bar]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_begins_inside_another() {
        let tokens: Vec<&str> = control_tokens().collect();
        for token in &tokens {
            assert!(token.starts_with(is_first), "{token}");
            let last = token.char_indices().last().unwrap().0;
            for (at, _) in token.char_indices().skip(1).filter(|(at, c)| *at < last && is_first(*c)) {
                let first = token[at..].chars().next().unwrap();
                // Whatever follows the token.
                assert_eq!(token_after(first, &token[at + first.len_utf8()..]), TokenMatch::Other, "{token} at {at}");
            }
        }
    }

    #[test]
    fn the_documentations_tokens_are_broken() {
        let docs = include_str!("../../docs/appendix/template-tokens.md");
        let cells = docs.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let tokens = cells.map(|(token, _)| token.replace("\\|", "|")).filter(|token| token.starts_with(is_first));
        let tokens: Vec<String> = tokens.chain(control_tokens().map(str::to_owned)).collect();
        assert!(tokens.len() > 300, "{}", tokens.len());
        for token in tokens {
            let first = token.chars().next().unwrap();
            let begin = format!("{first}{BREAK}");
            let broken = break_tokens(&token);
            assert!(broken.starts_with(&begin), "{token}: {broken}");
            assert_eq!(restore_tokens(&broken), token);
            assert_eq!(restore_tokens(&break_tokens(&broken)), broken, "{token}, broken twice");
            assert_eq!(rebreak_tokens(&broken), broken);
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "<b>1 < 2</b> a[0][1] x <| y |> z",
            "<think>a</think><tool_call>{}</tool_call>",
            "action: keep\n<function=x>",
            "[1, [2]] [INST [inst] <S>",
            "a\u{2060}b <\u{2060}b>",
            "<|a b|> <|> <||> <|",
            "天气｜预报◁",
        ] {
            assert!(matches!(break_tokens(text), Cow::Borrowed(same) if same == text), "{text}");
            assert_eq!(restore_tokens(text), text);
        }
    }

    #[test]
    fn a_restored_stream_waits_for_no_more_than_a_token() {
        let mut restorer = Restorer::default();
        assert_eq!(restorer.push("a <"), "a <");
        assert_eq!(restorer.push("\u{2060}"), "");
        assert_eq!(restorer.push("|im_"), "");
        assert_eq!(restorer.push("end|> b"), "|im_end|> b");
        assert_eq!(restorer.push("<\u{2060}"), "<");
        assert_eq!(restorer.push("b>"), "\u{2060}b>");
        assert_eq!(restorer.push("[\u{2060}IN"), "[");
        assert_eq!(restorer.finish(), "\u{2060}IN");
    }
}
