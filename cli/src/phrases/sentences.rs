//! Sentences of the library in Chinese. The library says them in English, and a model reads
//! them so; here a sentence is recognised by its fixed words, and what stands between them is
//! kept, or translated in its turn. A sentence that is not known stays as it is.
//!
//! A table has English with `{}` for each value, and on the next line the Chinese with them in the
//! same order, or by number. `{=}` and `{=1}` are the words of a model, an endpoint or a server,
//! which stay as they are. The first sentence that fits counts.

use super::Phrases;

/// Why a call was rejected.
const REJECTIONS: &str = include_str!("rejections.zh.txt");

/// Why a turn ended, and what is said beside it.
pub(super) const STOPS: &str = include_str!("stops.zh.txt");

/// Why what was typed does not fit its field.
pub(super) const FIELDS: &str = include_str!("fields.zh.txt");

impl Phrases {
    /// A rejected call's message in this language.
    pub(crate) fn reason(self, message: &str) -> String {
        if self.is_chinese() { chinese(REJECTIONS, message) } else { message.to_owned() }
    }
}

/// Each text of a table with its translation, which stands on the next line. Empty lines, and
/// lines that begin with `#`, say nothing.
pub(crate) fn pairs(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

/// A sentence in Chinese, as the table has it.
pub(super) fn chinese(table: &'static str, sentence: &str) -> String {
    let found = pairs(table).find_map(|(english, chinese)| Some((values(english, sentence)?, chinese)));
    let Some((values, chinese)) = found else { return sentence.to_owned() };
    let mut said = String::new();
    let mut next = 0;
    let mut rest = chinese;
    while let Some((before, behind)) = rest.split_once('{') {
        let (place, behind) = behind.split_once('}').unwrap_or_default();
        let others = place.strip_prefix('=');
        let value = values.get(others.unwrap_or(place).parse().unwrap_or(next)).copied().unwrap_or_default();
        next += 1;
        said.push_str(before);
        said.push_str(&others.map_or_else(|| self::chinese(table, value), |_| value.to_owned()));
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
            assert_eq!(chinese(REJECTIONS, english), expected);
        }
    }

    #[test]
    fn each_value_of_a_sentence_has_its_place_in_the_other_language() {
        for (english, chinese) in [REJECTIONS, STOPS, FIELDS].into_iter().flat_map(pairs) {
            let places = |text: &str| text.matches('{').count();
            // One sentence leaves a value out, and names the other by its number.
            assert!(places(english) == places(chinese) || chinese.contains("{=1}"), "{english}");
        }
    }
}
