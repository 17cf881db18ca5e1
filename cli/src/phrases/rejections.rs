//! Why a call was rejected, in Chinese. The library says it in English, and the model reads
//! it so; here a sentence is recognised by its fixed words, and what stands between them is
//! kept, or translated in its turn. A sentence that is not known stays as it is.

use super::Phrases;

impl Phrases {
    /// A rejected call's message in this language.
    pub(crate) fn reason(self, message: &str) -> String {
        if self.is_chinese() { chinese(message) } else { message.to_owned() }
    }
}

/// English with `{}` for each value, and the Chinese with them in the same order, or by number.
/// The first that fits counts.
const SENTENCES: &[(&str, &str)] = &[
    // What a probe found wrong.
    ("the call was rejected: {}", "调用被拒绝：{}"),
    ("no call; {} was wanted", "没有调用；需要的是 {}"),
    ("no call of {}", "缺少调用 {}"),
    ("called {} too; {} was wanted", "还调用了 {}；需要的是 {}"),
    ("called {}; no call was wanted", "调用了 {}；这里不需要调用"),
    ("called {}; {} was wanted", "调用了 {}；需要的是 {}"),
    ("arguments {}; wanted were {}", "参数是 {}；需要的是 {}"),
    ("the answer does not hold {} of the result", "回答中没有结果里的 {}"),
    ("the arguments are not valid JSON: {}", "参数不是有效的 JSON：{}"),
    ("a bracket or a token stands where the arguments should go on", "参数还没有写完，就出现了不该出现的括号或标记"),
    ("something stands between the arguments and the closing token", "参数和结束标记之间还有其他内容"),
    ("the key {} stands twice in one object{}", "同一个对象中键 {} 出现了两次{}"),
    ("the call stands in the reasoning; only the answer's calls are run", "调用在推理中；只有回答中的调用才会运行"),
    (
        "the call stands behind the end of your message, in a turn that is not yours; only calls of your own message are \
         run",
        "调用在模型消息结束之后、不属于它的轮次中；只有它自己消息中的调用才会运行",
    ),
    (
        "the call stands in a code fence with other text in or after it, so it is an example; a call stands outside fences",
        "调用所在的代码块中或之后还有其他文本，所以是示例；调用要写在代码块之外",
    ),
    (
        "the call stands in a code span, so it is an example; a call stands outside backticks",
        "调用在代码片段中，所以是示例；调用要写在反引号之外",
    ),
    (
        "the call stands between quotation marks, so it is an example; a call stands outside them",
        "调用在引号之间，所以是示例；调用要写在引号之外",
    ),
    (
        "the call follows the words that introduce an example in the prompt, so it is one",
        "调用紧跟在提示词中引出示例的话之后，所以是示例",
    ),
    (
        "the call stands in indented code, so it is an example; a call begins its line",
        "调用在缩进的代码中，所以是示例；调用要从行首开始",
    ),
    ("the call stands in a comment, so it is an example", "调用在注释中，所以是示例"),
    (
        "the call stands in a block quote, so it is an example; its line begins with {}",
        "调用在引用块中，所以是示例；这一行以 {} 开头",
    ),
    (
        "the call stands behind one that cannot be read, before its end, so it may be a part of that one's text and was \
         not run",
        "调用在一个无法读取的调用之后、在它结束之前，可能只是它文本的一部分，因此没有运行",
    ),
    (
        "behind the call stands once more what closes an earlier one, and it closes nothing: a value may have ended too \
         early, and what follows be a part of it, so none of these calls was run",
        "调用之后又出现了前面某个调用的结束标记，它没有结束任何调用：某个值可能结束得太早，后面的内容可能是它的一部分，因此这些调用都没有运行",
    ),
    ("{} stands in the arguments and is no parameter", "参数中出现了 {}，它不是参数"),
    ("{} is missing, or damaged, before {}", "{1} 之前缺少 {0}，或者它已损坏"),
    (
        "this looks like a call of {} and cannot be read as one: a marker, a bracket or a name in it is missing or \
         misspelt",
        "这看起来是对 {} 的调用，却无法读取：其中缺少某个标记、括号或名称，或者拼写有误",
    ),
    ("the output ended inside the call: {} is missing", "输出在调用中间结束：缺少 {}"),
    ("the output ended inside the call", "输出在调用中间结束"),
    ("the reasoning ended inside the call", "推理在调用中间结束"),
    ("the call has no arguments, and what closes it is missing", "调用没有参数，也没有结束标记"),
    ("another call of the series is cut off, so none is run", "同一组中有一个调用不完整，所以都不运行"),
    ("another call of the series cannot be read, so none is run", "同一组中有一个调用无法读取，所以都不运行"),
    (
        "the calls stand next to each other and one cannot be read, so none is run: {}",
        "这些调用相邻，其中一个无法读取，所以都不运行：{}",
    ),
    (
        "a value is no literal (a text stands in quotes; names, expressions and calls have no value)",
        "有一个值不是字面值（文本要加引号；名字、表达式和调用没有值）",
    ),
    ("its JSON is damaged", "其中的 JSON 已损坏"),
    ("it is nested too deep, or stands behind more calls than are read", "嵌套太深，或者排在可读取的调用数量之后"),
    ("a value has no keyword, and its tool has several parameters", "有一个值没有写参数名，而该工具有多个参数"),
    ("it is not whole", "它不完整"),
    (
        "a closing bracket stands too early: what follows the last one belongs inside",
        "右括号出现得太早：最后一个右括号之后的内容应在括号之内",
    ),
    (
        "a comma is missing, and a bracket too many follows: which members belong where is not certain",
        "缺少逗号，后面又多一个括号：无法确定各成员属于哪里",
    ),
    (
        "a bracket too many follows: which of the keys belong to the arguments is not certain",
        "后面多一个括号：无法确定哪些键属于参数",
    ),
    (
        "a further object follows the arguments: one object holds them all",
        "参数之后还有一个对象：所有参数应在同一个对象中",
    ),
    ("a broken tag stands behind the closing tag of {}", "{} 的结束标签后面有损坏的标签"),
    ("the parameter {} is given twice", "参数 {} 给出了两次"),
    ("the call does not name a tool", "调用没有写出工具名"),
    ("a call is a JSON object", "调用必须是 JSON 对象"),
    ("{} and {} mean the same and say different things", "{} 和 {} 含义相同，内容却不同"),
    ("{} is missing in {}", "{1} 中缺少 {0}"),
    ("{} is missing", "缺少 {}"),
    ("{} stands twice in {}", "{1} 中出现了两次 {0}"),
    ("{} is not closed by {}", "{} 没有以 {} 结束"),
    ("{} is empty", "{} 是空的"),
    ("{} is damaged", "{} 已损坏"),
    ("the value of {} has no quotes", "{} 的值没有加引号"),
    ("{} has no quotes", "{} 没有加引号"),
    ("{} is not a text", "{} 不是文本"),
    ("{} found beside the tool's name: arguments stand in {}", "工具名旁边出现了 {}：参数应放在 {} 中"),
    ("a schema stands in {}: it defines the tool and does not call it", "{} 中是 schema：这是定义工具，不是调用工具"),
    ("{} is a parameter, but stands beside the arguments", "{} 是参数，却写在参数对象之外"),
    ("the arguments are missing: the {} is open and empty", "缺少参数：{}没有结束，内容为空"),
    ("code fence", "代码块"),
    ("CDATA section", "CDATA 段"),
    ("expected {} in {}, found {}", "{1} 中应为 {0}，实际是 {2}"),
    ("a message holds at most {} calls; this is call {}", "一条消息最多 {} 个调用；这是第 {} 个"),
    ("a call holds at most {} bytes", "一个调用最多 {} 字节"),
    ("JSON may be nested {} deep; this is deeper", "JSON 最多嵌套 {} 层；这里更深"),
    ("no tool {} on server {}; nearest: {}", "服务器 {1} 上没有工具 {0}；最接近的是 {2}"),
    ("no tool {} on server {}", "服务器 {1} 上没有工具 {0}"),
    ("no tool {}; nearest: {}", "没有工具 {}；最接近的是 {}"),
    ("no tool {}", "没有工具 {}"),
    ("no server {}; nearest: {}", "没有服务器 {}；最接近的是 {}"),
    ("no server {}", "没有服务器 {}"),
    ("expected a JSON object with the arguments, found {}", "参数应为 JSON 对象，实际是 {}"),
    ("missing required property {}", "缺少必需的属性 {}"),
    ("{}: expected {}, found {}", "{}：应为 {}，实际是 {}"),
    ("array of {} items", "有 {} 项的数组"),
    ("array of {} item", "有 {} 项的数组"),
    ("array of {}", "{} 的数组"),
    ("empty object", "空对象"),
    ("object with {}", "含有 {} 的对象"),
    ("one of {}", "{} 之一"),
    ("any value", "任意值"),
    // What the JSON reader says, and behind it what helps.
    ("{}; a value is missing here{}", "{}；这里缺少值{}"),
    ("{}; a word without quotes is no value{}", "{}；没有引号的词不是值{}"),
    ("{}; the text ends before the value is closed{}", "{}；文本在值结束之前就结束了{}"),
    ("{}; a string is not closed{}", "{}；字符串没有结束{}"),
    ("{}; a member begins inside a string that is not closed{}", "{}；上一个字符串没有结束就开始了新成员{}"),
    ("{}; a quotation mark inside a string is not escaped{}", "{}；字符串中的引号没有转义{}"),
    ("{}; backslashes in a string are not escaped{}", "{}；字符串中的反斜杠没有转义{}"),
    ("{}; neither a comma nor the closing bracket follows the value{}", "{}；值的后面既没有逗号也没有右括号{}"),
    ("{}; this bracket does not close the one that is open{}", "{}；这个括号与打开的括号不匹配{}"),
    ("{}; a colon is missing{}", "{}；缺少冒号{}"),
    ("expected value{}", "此处应为值{}"),
    ("EOF while parsing an object{}", "文本在对象中间结束{}"),
    ("EOF while parsing a list{}", "文本在列表中间结束{}"),
    ("EOF while parsing a string{}", "文本在字符串中间结束{}"),
    ("EOF while parsing a value{}", "文本在值中间结束{}"),
    ("key must be a string{}", "键必须是字符串{}"),
    ("invalid escape{}", "转义无效{}"),
    ("invalid number{}", "数字无效{}"),
    ("trailing characters{}", "后面有多余的字符{}"),
    ("trailing comma{}", "多余的逗号{}"),
    ("control character (\\u0000-\\u001F) found while parsing a string{}", "字符串中有控制字符{}"),
    ("expected {} or {} at line {} column {}", "此处应为 {} 或 {}，第 {} 行第 {} 列"),
    ("expected {} at line {} column {}", "此处应为 {}，第 {} 行第 {} 列"),
    (", at line {} column {}", "，第 {} 行第 {} 列"),
    (" at line {} column {}", "，第 {} 行第 {} 列"),
];

fn chinese(message: &str) -> String {
    let found = SENTENCES.iter().find_map(|(english, chinese)| Some((values(english, message)?, chinese)));
    let Some((values, chinese)) = found else { return message.to_owned() };
    let mut said = String::new();
    let mut next = 0;
    let mut rest = *chinese;
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
        for (english, chinese) in SENTENCES {
            let places = |text: &str| text.matches('{').count();
            assert_eq!(places(english), places(chinese), "{english}");
        }
    }
}
