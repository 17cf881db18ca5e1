//! Translates the reasons of rejections and failures into the prompt's language.
//!
//! The stages report in English. For a Chinese prompt a sentence is recognised by its fixed words, and the values
//! between them are copied, or translated recursively. An unknown sentence, such as a program's own, stays as it is.
//!
//! A table (`prompts/zh/reasons.txt`, `failures.txt`) has an English sentence with `{}` for each value, and on the next
//! line the Chinese one with the values in the same order, or by number. The value of a `{=}` is copied. The first
//! sentence that matches is used. Text in quotation marks or backticks does not end a value.

use std::borrow::Cow;

use crate::dialect::Lang;

const REASONS: &str = include_str!("../../prompts/zh/reasons.txt");
const FAILURES: &str = include_str!("../../prompts/zh/failures.txt");

/// Returns the reason why a call or an answer was rejected, translated into a language.
pub fn reason_in(lang: Lang, message: &str) -> Cow<'_, str> {
    match lang {
        Lang::En => Cow::Borrowed(message),
        Lang::Zh => Cow::Owned(message.lines().map(chinese).collect::<Vec<_>>().join("\n")),
    }
}

/// Returns the text of a failed call, translated, if it is a message of this program, such as that a server did not
/// answer; `None` for English, and for the text of a server or a tool.
pub(super) fn failure_in(lang: Lang, text: &str) -> Option<String> {
    // The end of a server's standard error follows on separate lines.
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let is_chinese = lang == Lang::Zh;
    is_chinese.then(|| translated(first, pairs(FAILURES)))?.map(|first| first + rest)
}

/// Returns each sentence of a table with its translation; empty lines and comments (`#`) are skipped.
fn pairs(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

fn chinese(sentence: &str) -> String {
    // Findings are joined by semicolons, but some sentences contain a semicolon themselves: these come first.
    let is_joined = |english: &str| english.contains("; ");
    translated(sentence, pairs(REASONS).filter(|(english, _)| is_joined(english)))
        .or_else(|| parted(sentence, "; ", "；"))
        .or_else(|| translated(sentence, pairs(REASONS).filter(|(english, _)| !is_joined(english))))
        .or_else(|| parted(sentence, ": ", "："))
        .unwrap_or_else(|| sentence.to_owned())
}

/// Translates the sentence by the first row that matches; `None` if none does.
fn translated(sentence: &str, mut rows: impl Iterator<Item = (&'static str, &'static str)>) -> Option<String> {
    let (values, mut rest) = rows.find_map(|(english, chinese)| Some((values(english, sentence)?, chinese)))?;
    let mut said = String::new();
    let mut next = 0;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').unwrap_or_default();
        let kept = place.strip_prefix('=');
        // `{}` is the next value, `{2}` one by its number.
        let value = values.get(kept.unwrap_or(place).parse().unwrap_or(next)).copied().unwrap_or_default();
        next += 1;
        said.push_str(before);
        said.push_str(&kept.map_or_else(|| chinese(value), |_| value.to_owned()));
        rest = after;
    }
    Some(said + rest)
}

/// Translates the two parts of a sentence around a separator; `None` if neither is known.
fn parted(sentence: &str, between: &str, in_chinese: &str) -> Option<String> {
    let at = find_outside(sentence, between)?;
    let (one, two) = (&sentence[..at], &sentence[at + between.len()..]);
    let (first, second) = (chinese(one), chinese(two));
    (first != one || second != two).then(|| format!("{first}{in_chinese}{second}"))
}

/// Returns the values in `text` at the placeholders `{}` of `sentence`; `None` if `text` does not match. A value ends
/// at the first occurrence of the text that follows its placeholder.
fn values<'a>(sentence: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = sentence.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let at = match (part, parts.peek()) {
            ("", None) => rest.len(),
            (part, None) => rest.strip_suffix(part)?.len(),
            (part, Some(_)) => find_outside(rest, part)?,
        };
        values.push(&rest[..at]);
        rest = &rest[at + part.len()..];
    }
    rest.is_empty().then_some(values)
}

/// Returns the first offset of `wanted` outside quotation marks and backticks, `None` if there is none.
fn find_outside(text: &str, wanted: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if text[at..].starts_with(wanted) => return Some(at),
            None => quote = Some(c).filter(|c| matches!(c, '"' | '`')),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_translated_with_what_is_in_it() {
        for (english, expected) in [
            ("no tool \"f\" on server \"s\"; nearest: g", "服务器 \"s\" 上没有工具 \"f\"；最接近的是 g"),
            (
                "the arguments are not valid JSON: a string is not closed, at line 1 column 9",
                "参数不是有效的 JSON：字符串没有结束，第 1 行第 9 列",
            ),
            ("<tool_name> is missing in <use_mcp_tool>", "<use_mcp_tool> 中缺少 <tool_name>"),
            (
                "/a: expected integer or null, found string \"x; y: or z\"; unknown property \"b\"; allowed: \"a\"",
                "/a：应为 integer 或 null，实际是 字符串 \"x; y: or z\"；未知的属性 \"b\"；允许的是 \"a\"",
            ),
            (
                "/old_string: this text is not in what the conversation has shown of \"a.toml\"; the nearest lines are:",
                "/old_string：这段文字不在对话中显示过的 \"a.toml\" 的内容里；最接近的行是：",
            ),
            ("a sentence: of tomorrow; of a program", "a sentence: of tomorrow; of a program"),
        ] {
            assert_eq!(reason_in(Lang::Zh, english), expected);
            assert_eq!(reason_in(Lang::En, english), english);
        }
    }

    #[test]
    fn only_the_first_line_of_our_own_sentence_about_a_failure_is_translated() {
        let ended =
            "server \"s\": tool \"t\": the connection broke (exit status: 3); the end of its stderr:\n  no call; it";
        let said = "服务器 \"s\"，工具 \"t\"：连接中断（退出码：3）；其标准错误的末尾：\n  no call; it";
        assert_eq!(failure_in(Lang::Zh, ended).as_deref(), Some(said));
        let refused = "server \"s\": tool \"t\": no such row; try again (JSON-RPC error -32000)";
        let said = "服务器 \"s\"，工具 \"t\"：no such row; try again（JSON-RPC 错误 -32000）";
        assert_eq!(failure_in(Lang::Zh, refused).as_deref(), Some(said));
        assert_eq!(failure_in(Lang::En, refused), None);
        assert_eq!(failure_in(Lang::Zh, "missing required property \"x\""), None, "a tool may say so itself");
    }

    #[test]
    fn each_value_of_a_sentence_has_its_place_in_the_other_language() {
        assert!(pairs(REASONS).count() > 150);
        for (english, chinese) in pairs(REASONS).chain(pairs(FAILURES)) {
            let places = |text: &str| text.matches('{').count();
            assert_eq!(places(english), places(chinese), "{english}");
            assert!(!chinese.is_ascii() || english.starts_with('('), "{english} is followed by {chinese}");
        }
    }
}
