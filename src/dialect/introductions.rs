//! Our own words: the lines with which the prompts introduce a call that is not one.
//!
//! The templates print them, and the parser knows by them that a model repeats its prompt.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

#[cfg(feature = "prompt")]
use super::Lang;
use super::table::{leaked, read};
use crate::json::window::last_char;

/// The lines of one language, as the templates name them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introductions {
    /// Of the form of a call (`use_mcp_tool`).
    pub(crate) form: &'static str,
    /// The same, where tags are named by the tool (`tool_tag`).
    pub(crate) tag_form: &'static str,
    /// Of an example.
    pub(crate) example: &'static str,
    /// Of an example of a call, beside one of an answer.
    pub(crate) call: &'static str,
    /// Of an example of an answer.
    pub(crate) answer: &'static str,
    /// Of the form that reads a resource.
    pub(crate) read: &'static str,
    /// Of what a model wrote that was wrong.
    pub(crate) written: &'static str,
    /// Of the same call without the mistake.
    pub(crate) correct: &'static str,
    /// Of an answer that fits a schema.
    pub(crate) output: &'static str,
    /// The beginning of the line with an example's question, with the call right after it.
    pub(crate) question: &'static str,
    /// Of the results of calls, in prompts of before.
    pub(crate) results: &'static str,
    /// Of one result, before its colon, in the compact style.
    pub(crate) result: &'static str,
    /// Of the calls that were made before.
    pub(crate) earlier: &'static str,
    /// Of the calls that the user was shown.
    pub(crate) shown: &'static str,
    /// Of what the person asked for, before results in the compact style.
    pub(crate) asked: &'static str,
    /// Of what is wrong with a call, there.
    pub(crate) wrong: &'static str,
    /// Of what is missing in one, there.
    pub(crate) incomplete: &'static str,
    /// Of a call that asks for a tool's parameters; the tool's name follows it, then a colon.
    pub(crate) describe: &'static str,
    /// Of a call that looks for tools, in the same way.
    pub(crate) find: &'static str,
    /// Of a call that reads on in a long result.
    #[serde(deserialize_with = "leaked")]
    pub(crate) read_on: &'static str,
    /// The sentence after results in the compact style, which asks for the next step.
    pub(crate) next: &'static str,
}

/// The words that introduce examples, as in the file.
#[derive(Debug, Deserialize)]
struct Words {
    /// The lines of our prompts.
    en: Introductions,
    zh: Introductions,
    /// Wordings of earlier prompts, and what other prompts use alone on its line.
    #[serde(borrow)]
    further: Box<[&'static str]>,
    /// Beginnings of a sentence that ends with a colon and introduces an example, in small letters.
    #[serde(borrow)]
    shows: Box<[&'static str]>,
    /// Phrases in such a line that forbid running what follows, or say in its midst that it is an example.
    #[serde(borrow)]
    forbids: Box<[&'static str]>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| read(include_str!("../../prompts/introductions.json")));

/// Bytes by which a line is known that is longer than what is kept of one.
const KNOWN_BY: usize = 96;

impl Introductions {
    /// Returns all of them.
    fn all() -> [&'static Introductions; 2] {
        [&WORDS.en, &WORDS.zh]
    }

    /// Those of a language.
    #[cfg(feature = "prompt")]
    pub(crate) fn of(lang: Lang) -> &'static Introductions {
        match lang {
            Lang::En => &WORDS.en,
            Lang::Zh => &WORDS.zh,
        }
    }

    fn lines(&self) -> [&'static str; 10] {
        let Introductions { form, tag_form, example, call, answer, read, written, correct, output, read_on, .. } =
            *self;
        [form, tag_form, example, call, answer, read, written, correct, output, read_on]
    }

    /// Returns the texts that results follow in our prompts, each with `true` if a message that begins so begins with a
    /// result: the word of the compact style may begin an answer.
    pub(crate) fn results() -> impl Iterator<Item = (&'static str, bool)> {
        let words = [("Result:", false), ("Result of ", false), ("结果：", false), ("结果（", false)];
        let lines = Introductions::all()
            .into_iter()
            .flat_map(|set| [set.results, set.earlier, set.shown, set.asked, set.wrong, set.incomplete]);
        lines.map(|line| (line, true)).chain(words)
    }
}

/// Returns `true` if a line introduces an example; `line` is its last bytes, and all of it if `is_whole`.
///
/// Emphasis around it and a heading's sign before it are ignored.
pub(crate) fn introduces_example(line: &[u8], is_whole: bool) -> bool {
    let skipped = line.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let Ok(line) = std::str::from_utf8(&line[skipped..]) else { return false };
    let emphasis = |c: char| c.is_whitespace() || matches!(c, '*' | '_');
    let line = line.trim_end_matches(emphasis).trim_start_matches(|c| emphasis(c) || matches!(c, '#' | '>'));
    let is = |known: &str| {
        if is_whole || known.len() < KNOWN_BY {
            return is_whole && line == known;
        }
        let end = (known.len() - KNOWN_BY..known.len()).find_map(|at| known.get(at..));
        end.is_some_and(|end| line.ends_with(end))
    };
    let describes =
        |set: &&Introductions| line.ends_with([':', '：']) && (line.contains(set.describe) || line.contains(set.find));
    Introductions::all().iter().any(|set| set.lines().into_iter().any(is) || describes(set))
        || WORDS.further.iter().any(|l| is(l))
        || (is_whole && line.ends_with([':', '：']) && shows_example(&line.to_lowercase()))
}

fn shows_example(line: &str) -> bool {
    let sentence = line.rsplit(['.', '!', '?', '。']).next().unwrap_or(line).trim_start();
    WORDS.shows.iter().any(|begin| sentence.starts_with(begin))
        || WORDS.forbids.iter().any(|words| line.contains(words))
}

/// Returns `true` if a line ends with the mark that ends a sentence, closing marks and emphasis aside, or with a closing
/// tag.
pub(crate) fn ends_as_sentence(line: &[u8]) -> bool {
    let is_closer = |c: &char| matches!(c, '*' | '_' | '"' | '\'' | ')' | ']' | '”' | '’' | '」' | '』' | '）' | '»');
    let mut line = line.trim_ascii_end();
    while let Some(closer) = last_char(line).filter(is_closer) {
        line = &line[..line.len() - closer.len_utf8()];
    }
    let is_ended = matches!(last_char(line), Some('.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।'));
    let is_tag = || memchr::memrchr(b'<', line).is_some_and(|at| line[at..].starts_with(b"</"));
    line.ends_with(b">") && is_tag()
        || is_ended && line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0xc0)
}

/// Returns `true` if a line, after its indent, begins as the question of an example does.
///
/// `Question:` alone, as other prompts have it, introduces nothing.
pub(crate) fn asks_as_example(line: &[u8]) -> bool {
    let asks = |set: &&Introductions| {
        let question = set.question.as_bytes();
        // Nearly all lines begin with another letter.
        line.first() == question.first()
            && line.strip_prefix(question).is_some_and(|rest| !rest.trim_ascii().is_empty())
    };
    Introductions::all().iter().any(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_lines_introduce_examples_and_others_do_not() {
        for set in Introductions::all() {
            for line in set.lines() {
                assert!(introduces_example(line.as_bytes(), true), "{line}");
                assert!(introduces_example(format!("### **{line}** ").as_bytes(), true), "{line}");
                assert!(!introduces_example(format!("And {line}").as_bytes(), true), "{line}");
                assert_eq!(introduces_example(line.as_bytes(), false), line.len() >= KNOWN_BY, "{line}");
            }
            let asks = format!("{} describe_tool:", set.describe);
            assert!(introduces_example(asks.as_bytes(), false), "{asks}");
            let looks = format!("3 further tools are not listed. {} find_tool:", set.find);
            assert!(introduces_example(looks.as_bytes(), false), "{looks}");
        }
        for line in ["An example, do not run it:", "It is XML. Here is an example:", "I don't run this:", "例如这样："]
        {
            assert!(introduces_example(line.as_bytes(), true), "{line}");
        }
        for line in ["Question: What is new?", "问题：有什么新闻？"] {
            assert!(asks_as_example(line.as_bytes()), "{line}");
        }
        for line in ["Question:", "问题： ", "A Question: why?", "Questions: two"] {
            assert!(!asks_as_example(line.as_bytes()), "{line}");
        }
        for line in ["", "Let me look:", "An Example: it is", "示例", "I call the tool:"] {
            assert!(!introduces_example(line.as_bytes(), true), "{line}");
        }
    }
}
