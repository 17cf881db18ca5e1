//! Why a call was rejected, in Chinese. The library says it in English, and the model reads
//! it so; here a sentence is recognised by its fixed words, and what stands between them is
//! kept, or translated in its turn. A sentence that is not known stays as it is.

use super::{Phrases, pairs};

impl Phrases {
    /// A rejected call's message in this language.
    pub(crate) fn reason(self, message: &str) -> String {
        if self.is_chinese() { chinese(message) } else { message.to_owned() }
    }
}

/// English with `{}` for each value, and the Chinese with them in the same order, or by number.
/// The first that fits counts.
fn sentences() -> impl Iterator<Item = (&'static str, &'static str)> {
    pairs(include_str!("rejections.zh.txt"))
}

fn chinese(message: &str) -> String {
    let found = sentences().find_map(|(english, chinese)| Some((values(english, message)?, chinese)));
    let Some((values, chinese)) = found else { return message.to_owned() };
    let mut said = String::new();
    let mut next = 0;
    let mut rest = chinese;
    while let Some((before, behind)) = rest.split_once('{') {
        let (place, behind) = behind.split_once('}').unwrap_or_default();
        let at = place.parse().unwrap_or(next);
        next += 1;
        said.push_str(before);
        said.push_str(&self::chinese(values.get(at).copied().unwrap_or_default()));
        rest = behind;
    }
    said + rest
}

/// What stands in the places of a sentence, if the text is this sentence. The first value ends
/// at the first occurrence of what follows it, the last one is the rest.
fn values<'a>(sentence: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = sentence.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let at = match (part, parts.peek()) {
            ("", None) => rest.len(),
            (part, None) => rest.strip_suffix(part)?.len(),
            (part, Some(_)) => rest.find(part)?,
        };
        values.push(&rest[..at]);
        rest = &rest[at + part.len()..];
    }
    rest.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_translated_with_what_stands_in_it() {
        for (english, expected) in [
            ("no tool \"f\" on server \"s\"; nearest: g", "服务器 \"s\" 上没有工具 \"f\"；最接近的是 g"),
            (
                "the arguments are not valid JSON: expected `,` or `}` at line 1 column 5; a string is not closed, at line 1 \
                 column 9",
                "参数不是有效的 JSON：此处应为 `,` 或 `}`，第 1 行第 5 列；字符串没有结束，第 1 行第 9 列",
            ),
            ("<tool_name> is missing in <use_mcp_tool>", "<use_mcp_tool> 中缺少 <tool_name>"),
            ("a sentence of tomorrow", "a sentence of tomorrow"),
        ] {
            assert_eq!(chinese(english), expected);
        }
    }

    #[test]
    fn each_value_of_a_sentence_has_its_place_in_the_other_language() {
        for (english, chinese) in sentences() {
            let places = |text: &str| text.matches('{').count();
            assert_eq!(places(english), places(chinese), "{english}");
        }
    }
}
