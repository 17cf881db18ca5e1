//! Turns and results in plain text: the beginnings of another's lines, and of the lines of results.
//!
//! Tokens that a chat template has for them are in [`tokens`](super::tokens). These rows are for turns and results that
//! are written as text: the formats of completion models, of agents' prompts and of our own. In a row that begins with
//! `[`, `#` is a number and `@` a name in small letters.

use std::sync::LazyLock;

use super::introductions::Introductions;
use crate::json::window::{Match, No, Undecided, begins};

/// The places at which a line counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineCounts {
    /// After a call: elsewhere an answer may begin so.
    AfterCall,
    /// After a call, and where the message begins.
    AtTheStart,
    /// At each line's start.
    Everywhere,
}

/// The beginning of a line of another's.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnLine {
    /// The words; after a `[`, `#` is a number and `@` a name in small letters.
    pub text: &'static str,
    /// The places at which it counts.
    pub counts: LineCounts,
    /// Who writes it, and where that is written down.
    pub source: &'static str,
}

const fn user(text: &'static str, source: &'static str) -> TurnLine {
    TurnLine { text, counts: LineCounts::AtTheStart, source }
}

/// A line that is no prose, as a token of a chat template is none.
const fn token(text: &'static str, source: &'static str) -> TurnLine {
    TurnLine { text, counts: LineCounts::Everywhere, source }
}

/// A line in front of a result, which prose may have as well.
const fn after(text: &'static str, source: &'static str) -> TurnLine {
    TurnLine { text, counts: LineCounts::AfterCall, source }
}

const TRANSLATED: &str = "`User:` in a transcript of another language";
const FASTCHAT: &str = "lm-sys/FastChat fastchat/conversation.py";

/// Beginnings of a turn that is not the model's.
///
/// One counts after a call, where the message begins, and after text and a blank line; a token counts at each line's
/// start.
pub const USER_LINES: &[TurnLine] = &[
    user("User:", FASTCHAT),
    user("USER:", FASTCHAT),
    user("Human:", "Anthropic, text completions API: prompts are `\\n\\nHuman: … \\n\\nAssistant:`"),
    user("HUMAN:", "WizardLM, as Vicuna: lm-sys/FastChat"),
    user("用户：", "Baichuan, Chinese prompts of agents"),
    user("用户:", "as before, with an ASCII colon"),
    user("问：", "ChatGLM: lm-sys/FastChat fastchat/conversation.py"),
    user("Benutzer:", TRANSLATED),
    user("Utilisateur :", TRANSLATED),
    user("Usuario:", TRANSLATED),
    user("Пользователь:", TRANSLATED),
    user("사용자:", TRANSLATED),
    user("ユーザー：", TRANSLATED),
    user("## User\n", "transcripts in Markdown"),
    user("### Instruction:", "Alpaca: tatsu-lab/stanford_alpaca train.py"),
    user("### Human:", "Guanaco, StableVicuna: lm-sys/FastChat fastchat/conversation.py"),
    user("### User:", "StableBeluga, SOLAR: lm-sys/FastChat fastchat/conversation.py"),
    user("### System:", "StableBeluga: huggingface.co/stabilityai/StableBeluga-7B"),
    user("**User:**", "transcripts in Markdown"),
    user("**User**:", "transcripts in Markdown"),
    user("**Human:**", "transcripts in Markdown"),
    user("**Human**:", "transcripts in Markdown"),
    user("<human>:", "RedPajama-INCITE: togethercomputer/OpenChatKit"),
    user("<user>:", "prompts of agents"),
    user("[Round #] USER:", "transcripts with numbers"),
    user("[Round #]", "ChatGLM2: lm-sys/FastChat fastchat/conversation.py"),
    token("<extra_id_1>User", "Nemotron-4: huggingface.co/nvidia/Nemotron-4-340B-Instruct"),
    token("<_user>", "TeleChat: LLaMA-Factory template.py (telechat)"),
    token("<role>HUMAN</role>", "Ling 2, Ring: LLaMA-Factory template.py (bailing_v2)"),
    token("<role>OBSERVATION</role>", "Ling 2, Ring: LLaMA-Factory template.py (bailing_v2)"),
    token("<reserved_102>", "Baichuan: LLaMA-Factory template.py (baichuan)"),
    token("<reserved_106>", "Baichuan 2: LLaMA-Factory template.py (baichuan2)"),
    user("GPT4 User:", "OpenChat 3: imoneoi/openchat"),
    user("GPT4 Correct User:", "OpenChat 3.5: imoneoi/openchat"),
];

const RESULT: &str = "`Result:` in a transcript of another language";

/// Texts that results of calls follow; those of our own prompts are in `Introductions` (`dialect/introductions.rs`).
pub const RESULT_LINES: &[TurnLine] = &[
    after("Observation:", "ReAct: ysymyth/ReAct; langchain"),
    after("观察：", "ReAct in Chinese"),
    token("✿RESULT✿", "Qwen-Agent qwen_agent/llm/fncall_prompts/qwen_fncall_prompt.py"),
    after("Tool result:", "prompts of agents"),
    after("Tool Result:", "prompts of agents"),
    after("Tool output:", "prompts of agents"),
    after("Tool Output:", "prompts of agents"),
    after("Tool response:", "prompts of agents"),
    after("Tool Response:", "prompts of agents"),
    after("Function result:", "prompts of agents"),
    after("Function output:", "prompts of agents"),
    after("[Tool Output]", "prompts of agents"),
    after("[Tool Result]", "prompts of agents"),
    after("[Tool Response]", "prompts of agents"),
    after("Output:", "prompts of agents; transcripts"),
    after("Result:", "prompts of agents; transcripts"),
    after("Response:", "prompts of agents; transcripts"),
    after("Response from ", "prompts of agents"),
    after("Tool returned", "prompts of agents"),
    after("[Result]", "prompts of agents"),
    after("<output>", "prompts of agents; elsewhere a model may put its answer into such a tag"),
    after("<result>", "prompts of agents; as before"),
    after("<response>", "prompts of agents; as before"),
    after("### Tool Output", "transcripts in Markdown"),
    after("**Tool result:**", "transcripts in Markdown"),
    after("```output", "transcripts in Markdown"),
    after("Ergebnis:", RESULT),
    after("Ausgabe:", RESULT),
    after("Résultat :", RESULT),
    after("Resultado:", RESULT),
    after("Результат:", RESULT),
    after("結果：", RESULT),
    after("**Output:**", "transcripts in Markdown"),
    after("**Result:**", "transcripts in Markdown"),
    after("**Output**:", "transcripts in Markdown"),
    after("**Result**:", "transcripts in Markdown"),
    after("结果：", "Chinese prompts of agents"),
    after("返回：", "Chinese prompts of agents"),
    after("返回结果：", "Chinese prompts of agents"),
    after("输出：", "Chinese prompts of agents"),
    after("工具调用结果：", "Chinese prompts of agents"),
    after("执行结果：", "Chinese prompts of agents"),
    after("工具结果：", "Chinese prompts of agents"),
    after("工具返回：", "Chinese prompts of agents"),
    after("FUNCTION RESPONSE:", "Glaive: huggingface.co/datasets/glaiveai/glaive-function-calling-v2"),
    token("[@ for '", "Cline, Roo Code: cline/cline src/core/task (`[use_mcp_tool for 'x'] Result:`)"),
    token("[@] Result:", "Cline, Roo Code, of tools without parameters"),
];

/// Tags that results of calls stand in: `<TAG>` or `<TAG ` with attributes.
/// With no call before it, one counts at a line's start.
pub const RESULT_TAGS: &[(&str, &str)] = &[
    ("tool_response", "Qwen, Hermes: templates"),
    ("tool_result", "our own prompts"),
    ("tool_status", "our own prompts"),
    ("tool_error", "prompts of agents"),
    ("tool_results", "Command R: documents of the template; prompts of agents"),
    ("tool_output", "prompts of agents"),
    ("tool_outputs", "DeepSeek's tokens as tags; prompts of agents"),
    ("function_results", "Anthropic, tools in text"),
    ("function_result", "prompts of agents"),
    ("function_response", "LC/meetkai-functionary; Gemma prompts"),
    ("observation", "ReAct in tags; OpenHands"),
];

/// Matches the beginning of a line that this row describes at the start of `text`.
#[inline]
pub(crate) fn begins_line(row: &str, text: &str, more: bool) -> Match<()> {
    // Only rows in brackets hold a number or a name.
    if row.starts_with('[') { begins_row(row, text, more) } else { begins(text, row, more) }
}

fn begins_row(row: &str, text: &str, more: bool) -> Match<()> {
    let Some(at) = row.find(['#', '@']) else {
        return begins(text, row, more);
    };
    begins(text, &row[..at], more)?;
    let is_number = row.as_bytes()[at] == b'#';
    let fits = |b: &u8| {
        if is_number { b.is_ascii_digit() } else { b.is_ascii_lowercase() || *b == b'_' || b.is_ascii_digit() }
    };
    let length = text.bytes().skip(at).take(MAX_NAME).take_while(fits).count();
    match &text[at + length..] {
        "" if more && length < MAX_NAME => Err(Undecided),
        rest if length > 0 => begins_row(&row[at + 1..], rest, more),
        _ => Err(No),
    }
}

/// Longest number or name in such a line.
const MAX_NAME: usize = 48;

/// The words of all results' lines, with where they count: the table's, and those of our prompts.
fn result_lines() -> impl Iterator<Item = (&'static str, LineCounts)> {
    let ours = Introductions::results()
        .map(|(text, alone)| (text, if alone { LineCounts::AtTheStart } else { LineCounts::AfterCall }));
    RESULT_LINES.iter().map(|row| (row.text, row.counts)).chain(ours)
}

/// A line of another's: its words, where it counts, and whether it is a user's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OthersLine {
    pub(crate) text: &'static str,
    pub(crate) counts: LineCounts,
    pub(crate) is_user: bool,
}

/// All lines of others, in the order of their first bytes.
pub(crate) static OTHERS_LINES: LazyLock<Vec<OthersLine>> = LazyLock::new(|| {
    let users = USER_LINES.iter().map(|row| OthersLine { text: row.text, counts: row.counts, is_user: true });
    let results = result_lines().map(|(text, counts)| OthersLine { text, counts, is_user: false });
    let mut lines: Vec<_> = users.chain(results).collect();
    lines.sort_by_key(|line| line.text.bytes().next());
    lines
});

/// The lines of others whose first byte is that of `text`; all, where there is no text.
pub(crate) fn others_lines_at(text: &str) -> &'static [OthersLine] {
    let Some(first) = text.bytes().next() else { return &OTHERS_LINES };
    let begin = OTHERS_LINES.partition_point(|line| line.text.bytes().next() < Some(first));
    let length = OTHERS_LINES[begin..].iter().take_while(|line| line.text.bytes().next() == Some(first)).count();
    &OTHERS_LINES[begin..begin + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_lines_with_numbers_and_names() {
        for (row, text, found) in [
            ("[Round #] USER:", "[Round 12] USER: hi", Ok(())),
            ("[Round #] USER:", "[Round x] USER: hi", Err(No)),
            ("[Round #] USER:", "[Round ] USER:", Err(No)),
            ("[@ for '", "[use_mcp_tool for 'w'] Result:", Ok(())),
            ("[@ for '", "[link](for 'w')", Err(No)),
            ("[@] Result:", "[list_files] Result:", Ok(())),
            ("[Round #]", "(Round 1)", Err(No)),
            ("### User:", "### User: hi", Ok(())),
            ("### User:", "### Users", Err(No)),
        ] {
            assert_eq!(begins_line(row, text, false), found, "{row}: {text}");
            for (end, _) in text.char_indices() {
                let so_far = begins_line(row, &text[..end], true);
                assert!(so_far == Err(Undecided) || so_far == found, "{row}: {}", &text[..end]);
            }
        }
    }

    #[test]
    fn each_row_stands_once_and_has_a_source() {
        let rows: Vec<_> = USER_LINES.iter().chain(RESULT_LINES).collect();
        for (at, row) in rows.iter().enumerate() {
            assert!(!row.source.is_empty() && row.text.len() > 3, "{}", row.text);
            assert!(rows[..at].iter().all(|other| other.text != row.text), "{}", row.text);
        }
        assert!(RESULT_TAGS.iter().all(|(tag, source)| !tag.is_empty() && !source.is_empty()));
    }
}
