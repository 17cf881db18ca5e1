//! The words around a call: the lines with which the prompts introduce a call that is not one, and words of sentences
//! that announce a call, or put one in doubt.
//!
//! The templates print the former, and the parser knows by them that a model repeats its prompt.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

#[cfg(feature = "prompt")]
use super::Lang;
use super::table::{leaked, read};

/// The lines of one language that introduce forms, examples and results in the prompt, under the names of the
/// templates.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introductions {
    /// Line that introduces the form of a call (`use_mcp_tool`).
    pub(crate) form: &'static str,
    /// Line that introduces the form of a call whose tag is the name of the tool (`tool_tag`).
    pub(crate) tag_form: &'static str,
    /// Line that introduces an example.
    pub(crate) example: &'static str,
    /// Line that introduces an example of a call, beside an example of an answer.
    pub(crate) call: &'static str,
    /// Line that introduces an example of an answer.
    pub(crate) answer: &'static str,
    /// Line that introduces the form of a call that reads a resource.
    pub(crate) read: &'static str,
    /// Line that introduces a faulty call as the model wrote it.
    pub(crate) written: &'static str,
    /// Line that introduces the corrected version of a faulty call.
    pub(crate) correct: &'static str,
    /// Line that introduces an example of an answer that fits a schema.
    pub(crate) output: &'static str,
    /// Beginning of the line with an example's question, which the call follows directly.
    pub(crate) question: &'static str,
    /// Line that introduced the results of calls in earlier versions of the prompt.
    pub(crate) results: &'static str,
    /// Beginning of the line that introduces one result in the compact style, without its colon.
    pub(crate) result: &'static str,
    /// Line that introduces the calls that were made earlier.
    pub(crate) earlier: &'static str,
    /// Line that introduces the calls of display-only tools, which were shown to the user.
    pub(crate) shown: &'static str,
    /// Line that introduces the user's request, before results in the compact style.
    pub(crate) asked: &'static str,
    /// Beginning of the line with the error message of a rejected call that is not truncated, in the compact style.
    pub(crate) wrong: &'static str,
    /// Beginning of the line with the error message of a truncated call, in the compact style.
    pub(crate) incomplete: &'static str,
    /// Beginning of the line that introduces an example call of `describe_tool`, whose name and a colon follow.
    pub(crate) describe: &'static str,
    /// Beginning of the line that introduces an example call of `find_tool`, whose name and a colon follow.
    pub(crate) find: &'static str,
    /// Line that introduces a call that reads on in a long result.
    #[serde(deserialize_with = "leaked")]
    pub(crate) read_on: &'static str,
    /// The sentence after results in the compact style, which asks for the next step.
    pub(crate) next: &'static str,
}

/// The phrases around calls and examples, as `prompts/introductions.json` has them.
#[derive(Debug, Deserialize)]
struct Words {
    /// The English lines of the program's own prompts.
    en: Introductions,
    zh: Introductions,
    /// Lines of earlier prompts and of other programs' prompts that introduce an example if they are the whole line.
    #[serde(borrow)]
    further: Box<[&'static str]>,
    /// Beginnings of a sentence that ends with a colon and introduces an example, in lower case.
    #[serde(borrow)]
    shows: Box<[&'static str]>,
    /// Phrases that forbid running the call after the line, or that call it an example in the midst of the line.
    #[serde(borrow)]
    forbids: Box<[&'static str]>,
    /// Beginnings of a sentence in which a model announces what it does itself.
    #[serde(borrow)]
    begins_announcing: Box<[&'static str]>,
    /// Phrases anywhere in a sentence in which a model announces what it does itself.
    #[serde(borrow)]
    announces: Box<[&'static str]>,
    /// Phrases of a sentence that shows a call, only proposes it, or speaks of another's call.
    #[serde(borrow)]
    hedges: Box<[&'static str]>,
    /// Words of negation: one of them and one of `runs` in the same clause say that nothing is run.
    #[serde(borrow)]
    negations: Box<[&'static str]>,
    #[serde(borrow)]
    runs: Box<[&'static str]>,
    /// Last words of a line before its colon if text that somebody else wrote follows.
    #[serde(borrow)]
    reports: Box<[&'static str]>,
    /// Phrases in a line that ends with a colon and introduces a form, another's words or an error, unless the line
    /// also announces an act.
    #[serde(borrow)]
    labels: Box<[&'static str]>,
    /// Beginnings of a line after a call that speaks of that call and withdraws it.
    #[serde(borrow)]
    takes_back: Box<[&'static str]>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| read(include_str!("../../prompts/introductions.json")));

/// Number of bytes at the end of a known line that are compared where only the end of a line is buffered.
const KNOWN_BY: usize = 96;

impl Introductions {
    /// Returns the introductory lines of all languages.
    fn all() -> [&'static Introductions; 2] {
        [&WORDS.en, &WORDS.zh]
    }

    /// Returns the introductory lines of a language.
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

    /// Returns the texts that results follow in the program's prompts. The boolean is `true` if a message that begins
    /// with the text begins with a result; it is `false` for the words of the compact style, with which an answer may
    /// begin.
    pub(crate) fn results() -> impl Iterator<Item = (&'static str, bool)> {
        let words = [("Result:", false), ("Result of ", false), ("结果：", false), ("结果（", false)];
        let lines = Introductions::all()
            .into_iter()
            .flat_map(|set| [set.results, set.earlier, set.shown, set.asked, set.wrong, set.incomplete]);
        lines.map(|line| (line, true)).chain(words)
    }
}

/// Returns `true` if a line introduces an example; `line` is its last bytes, or all of it if `is_whole`.
///
/// Emphasis around the line, and `#` or `>` before it, are ignored.
pub(crate) fn introduces_example(line: &[u8], is_whole: bool) -> bool {
    let skipped = line.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let Ok(line) = std::str::from_utf8(&line[skipped..]) else { return false };
    let emphasis = |c: char| c.is_whitespace() || matches!(c, '*' | '_');
    let line = line.trim_end_matches(emphasis).trim_start_matches(|c| emphasis(c) || matches!(c, '#' | '>'));
    let is = |known: &str| {
        // Of a line that is longer than what is kept, only its end can be compared.
        if is_whole || known.len() < KNOWN_BY {
            return is_whole && line == known;
        }
        // The cut may fall inside a character.
        let end = (known.len() - KNOWN_BY..known.len()).find_map(|at| known.get(at..));
        end.is_some_and(|end| line.ends_with(end))
    };
    let describes =
        |set: &&Introductions| line.ends_with([':', '：']) && (line.contains(set.describe) || line.contains(set.find));
    // Lines of the prompts count also by their end alone. Words that any prose has count only in a whole line
    // with a colon.
    Introductions::all().iter().any(|set| set.lines().into_iter().any(is) || describes(set))
        || WORDS.further.iter().any(|l| is(l))
        || (is_whole && line.ends_with([':', '：']) && shows_example(&line.to_lowercase()))
}

fn shows_example(line: &str) -> bool {
    let sentence = line.rsplit(['.', '!', '?', '。']).next().unwrap_or(line).trim_start();
    WORDS.shows.iter().any(|begin| sentence.starts_with(begin))
        || WORDS.forbids.iter().any(|words| line.contains(words))
}

/// The doubt about a call that the line before it raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Doubt {
    /// No doubt.
    #[default]
    None,
    /// The call may be an example if prose follows it.
    IfProseFollows,
    /// The call is probably not meant to run.
    Certain,
}

/// Returns the doubt about a call that the line before it raises; `line` is its last bytes. The doubt is certain if the
/// line asks, speaks of an example, a proposal or another's call, or says that nothing is run. An unfinished sentence
/// that does not announce what the model does itself raises doubt if prose follows the call. After an earlier call only
/// an announcement or a label is free of certain doubt, since the text may be what the model takes for the result.
pub(crate) fn doubt_before(line: &[u8], follows_call: bool) -> Doubt {
    let line = lower(line);
    let line = line.trim_end();
    // A sentence may end inside emphasis, a quotation or brackets: `**Shall I?**`.
    let closed = line.trim_end_matches(['*', '_', ' ', '"', '\'', ')', ']', '”', '」', '』', '）', '»']);
    let is_finished = closed.ends_with(is_sentence_end);
    let sentence = last_sentence(closed);
    let phrased = Phrased::of(sentence);
    if phrased.is_doubtful || closed.ends_with(['?', '？', '؟']) {
        return Doubt::Certain;
    }
    let (label, is_label) = closed.strip_suffix([':', '：']).map_or((closed, false), |label| (label, true));
    let is_of_another = || {
        // `The log reads:` reports another's words, and a label such as `Expected format:` shows a form,
        // unless the line announces an act. `### User` needs no colon (`hedges/heading_before`).
        let introduces =
            || phrased.labels && !phrased.announces || WORDS.reports.iter().any(|word| label.ends_with(word));
        is_label && introduces() || OTHERS.contains(&sentence)
    };
    let has_words = line.contains(char::is_alphanumeric);
    // A tag around the call is no line of prose.
    let is_tag = line.trim_start().starts_with('<') && line.ends_with('>');
    // A rule between paragraphs says nothing; other signs open a block, as `{#` does (`hedges/sign_before`).
    let opens_block =
        || !has_words && line.contains(|c: char| !c.is_whitespace() && !RULES.contains(&c) && !is_sentence_end(c));
    match phrased.announces {
        _ if is_of_another() || opens_block() => Doubt::Certain,
        true => Doubt::None,
        // Other text after a call may be what the model takes for its result (`hedges/text_between_calls`).
        false if follows_call && !is_label => Doubt::Certain,
        // `The old file:` with prose after the call frames what is shown (`hedges/label_and_prose_after`).
        false if has_words && !is_finished && !is_tag => Doubt::IfProseFollows,
        false => Doubt::None,
    }
}

/// Returns `true` if the line after a call, of which `line` is the first bytes, withdraws it: the line speaks of the
/// call itself, asks, or continues the sentence that contains the call.
pub(crate) fn takes_back_call(line: &[u8]) -> bool {
    let line = lower(line);
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '>'));
    let end = sentence_ends(line).next().map_or(line.len(), |(at, _)| at);
    let (sentence, rest) = line.split_at(end);
    // It introduces what comes next.
    if line.trim_end().ends_with([':', '：']) {
        return false;
    }
    let takes_back = || {
        let phrased = Phrased::of(sentence);
        phrased.takes_back || phrased.is_doubtful
    };
    // A remark in brackets is about the call: `(only an illustration)`.
    line.starts_with('(') || rest.starts_with(['?', '？', '؟']) || takes_back()
}

/// Characters of lines without words that raise no doubt: rules, the end of a fence, the marker of a list item.
const RULES: [char; 8] = ['-', '=', '*', '_', '~', '`', '#', '•'];

/// Headings of a turn that is not the model's.
const OTHERS: [&str; 4] = ["user", "human", "用户", "人类"];

fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।')
}

/// Returns a line in lower case, without the rest of a character that was cut at its start.
fn lower(line: &[u8]) -> String {
    let skipped = line.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    match std::str::from_utf8(&line[skipped..]) {
        Ok(line) if line.is_ascii() => line.to_ascii_lowercase(),
        Ok(line) => line.to_lowercase().replace('’', "'"),
        Err(_) => String::from_utf8_lossy(&line[skipped..]).to_lowercase().replace('’', "'"),
    }
}

/// Returns the characters that end sentences, with their offsets; a full stop in a name or a number is not one.
fn sentence_ends(line: &str) -> impl DoubleEndedIterator<Item = (usize, char)> {
    let is_last = |after: Option<&u8>| matches!(after, None | Some(b' ' | b'\t' | b'"' | b')' | b'*'));
    let may_end = line.bytes().enumerate().filter(|(_, byte)| MAY_END[usize::from(*byte)]);
    let ends =
        may_end.filter_map(|(at, _)| Some((at, line.get(at..)?.chars().next().filter(|c| is_sentence_end(*c))?)));
    ends.filter(move |(at, c)| !c.is_ascii() || is_last(line.as_bytes().get(at + 1)))
}

/// Returns the last sentence of a line, without the full stop at its end and the ASCII symbols before it.
fn last_sentence(line: &str) -> &str {
    let line = line.trim_end_matches(is_sentence_end);
    let start = sentence_ends(line).next_back().map_or(0, |(at, c)| at + c.len_utf8());
    line[start..].trim_start_matches(|c: char| !c.is_alphanumeric() && c.is_ascii())
}

/// The classes of phrases that occur in a sentence.
#[derive(Debug, Default)]
struct Phrased {
    /// The sentence speaks of an example or another's call, or says that nothing is run.
    is_doubtful: bool,
    /// The sentence announces what the model does itself.
    announces: bool,
    /// The sentence, if it ends with a colon, introduces a form, another's words or an error.
    labels: bool,
    /// The sentence, if it follows a call, withdraws it.
    takes_back: bool,
}

impl Phrased {
    fn of(sentence: &str) -> Self {
        let (mut found, mut runs, mut denies) = (Phrased::default(), Vec::new(), Vec::new());
        PHRASES.in_text(sentence, |at, kind| match kind {
            PhraseKind::Hedges => found.is_doubtful = true,
            PhraseKind::Announces => found.announces = true,
            PhraseKind::Labels => found.labels = true,
            PhraseKind::BeginsAnnouncing => found.announces |= at == 0,
            PhraseKind::TakesBack => found.takes_back |= at == 0,
            PhraseKind::Runs => runs.push(at),
            PhraseKind::Denies => denies.push(at),
        });
        // Both in one clause.
        let is_denied = |run: &usize| {
            let between = |deny: &usize| &sentence[*run.min(deny)..*run.max(deny)];
            denies.iter().any(|deny| !between(deny).contains([',', ';', ':', '，', '；', '：', '—']))
        };
        found.is_doubtful |= runs.iter().any(is_denied);
        // The English word for what is being done.
        let first = sentence.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        // At least two letters before it: `Using`, but not `King`.
        found.announces |= first.len() > DOING.len() + 1 && first.ends_with(DOING);
        found
    }
}

const DOING: &str = "ing";

/// The list of [`Words`] in which a phrase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhraseKind {
    Hedges,
    Announces,
    BeginsAnnouncing,
    Labels,
    Runs,
    Denies,
    TakesBack,
}

/// A phrase from one of the lists of [`Words`].
struct Phrase {
    words: &'static str,
    /// Hash key of the phrase's beginning; see [`lead`].
    lead: u32,
    kind: PhraseKind,
    /// The previous phrase in the same slot, as its index plus one; 0 if there is none.
    before: u16,
}

impl Phrase {
    /// Returns `true` if a text begins with the phrase. Unless the phrase is a hedge or of `runs`, no letter may follow
    /// it.
    fn begins(&self, text: &str) -> bool {
        let may_go_on = matches!(self.kind, PhraseKind::Hedges | PhraseKind::Runs);
        text.strip_prefix(self.words).is_some_and(|rest| may_go_on || !goes_on(self.words, rest))
    }
}

/// The phrases of all lists of [`Words`], indexed so that one pass over a text finds them.
struct Phrases {
    all: Vec<Phrase>,
    /// Index plus one of the last phrase in `all`, by the [`slot`] of its lead; 0 where there is none.
    last: Vec<u16>,
}

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
    let lists = [
        (&WORDS.hedges, PhraseKind::Hedges),
        (&WORDS.announces, PhraseKind::Announces),
        (&WORDS.begins_announcing, PhraseKind::BeginsAnnouncing),
        (&WORDS.labels, PhraseKind::Labels),
        (&WORDS.runs, PhraseKind::Runs),
        (&WORDS.negations, PhraseKind::Denies),
        (&WORDS.takes_back, PhraseKind::TakesBack),
    ];
    let count = lists.iter().map(|(list, _)| list.len()).sum();
    let (mut all, mut last) = (Vec::with_capacity(count), vec![0; SLOTS]);
    for (words, kind) in lists.iter().flat_map(|(list, kind)| list.iter().map(|words| (*words, *kind))) {
        let lead = lead(words.as_bytes());
        let last = &mut last[slot(lead)];
        all.push(Phrase { words, lead, kind, before: *last });
        *last = all.len() as u16;
    }
    Phrases { all, last }
});

impl Phrases {
    /// Calls `found` with the offset and kind of each phrase in a text that begins at the beginning of a word.
    fn in_text(&self, text: &str, mut found: impl FnMut(usize, PhraseKind)) {
        let mut at = 0;
        while let Some(rest @ [_, ..]) = text.as_bytes().get(at..) {
            let lead = lead(rest);
            let mut place = usize::from(self.last[slot(lead)]);
            while let Some(phrase) = place.checked_sub(1).and_then(|last| self.all.get(last)) {
                if phrase.lead == lead && phrase.begins(&text[at..]) {
                    found(at, phrase.kind);
                }
                place = usize::from(phrase.before);
            }
            let letters = rest.iter().take_while(|byte| IS_LETTER[usize::from(**byte)]).count();
            at += match rest.get(letters) {
                Some(b' ') => letters + 1,
                Some(0x80..) => to_next_word(&text[at..]),
                _ => letters.max(1),
            };
        }
    }
}

/// Returns the length of the non-ASCII word at the start of a text, or of its first character if that is no letter.
fn to_next_word(text: &str) -> usize {
    match text.find(|c| !is_spaced(c)) {
        Some(0) => text.chars().next().map_or(0, char::len_utf8),
        end => end.unwrap_or(text.len()),
    }
}

/// Number of slots of the hash table; large, so that few words share the slot of a phrase.
const SLOTS: usize = 1 << 12;

/// Returns the hash key of the beginning of a text: its first four bytes, where ASCII bytes after the second one that
/// are not letters count as zero.
fn lead(text: &[u8]) -> u32 {
    let [first, second, third, fourth] = match *text {
        [first, second, third, fourth, ..] => [first, second, third, fourth],
        [first, second, third] => [first, second, third, 0],
        [first, second] => [first, second, 0, 0],
        _ => return 0,
    };
    let has_third = IS_LETTER[usize::from(third)];
    let third = if has_third || !third.is_ascii() { third } else { 0 };
    let fourth = if has_third && IS_LETTER[usize::from(fourth)] { fourth } else { 0 };
    u32::from_le_bytes([first, second, third, fourth])
}

/// Returns the slot of a lead: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4), the upper bits of the
/// product.
fn slot(lead: u32) -> usize {
    (lead.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS.ilog2())) as usize
}

/// Table that is `true` for the ASCII letters and digits.
static IS_LETTER: [bool; 256] = bytes_of(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

/// Table that is `true` for the first UTF-8 bytes of the characters that [end a sentence](is_sentence_end).
static MAY_END: [bool; 256] = bytes_of(b".!?\xd8\xe0\xe2\xe3\xef");

/// Returns a table that is `true` for the given bytes.
const fn bytes_of(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Returns `true` if the last word of `words` continues in the text after it.
fn goes_on(words: &str, after: &str) -> bool {
    words.ends_with(is_spaced) && after.starts_with(is_spaced)
}

/// Returns `true` for letters and digits of scripts that put spaces between words.
fn is_spaced(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
}

/// Returns `true` if a line, given without its indent, begins as the question of an example in the prompt does.
///
/// `Question:` of other prompts introduces nothing.
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

    #[test]
    fn every_phrase_is_found_where_it_stands() {
        for Phrase { words, kind, .. } in &PHRASES.all {
            assert!(words.len() > 2 || words.len() == 2 && words.ends_with(is_spaced), "{words}");
            let begins_longer = matches!(kind, PhraseKind::Hedges | PhraseKind::Runs) && words.len() > 3;
            let mut found = Vec::new();
            PHRASES.in_text(&format!("{words}x"), |_, kind| found.push(kind));
            assert!(found.contains(kind) || !begins_longer, "{words}");
            let mut found = Vec::new();
            PHRASES.in_text(words, |at, kind| found.push((at, kind)));
            assert!(found.contains(&(0, *kind)), "{words}");
        }
    }

    #[test]
    fn a_line_that_announces_no_act_of_the_model_puts_a_call_in_doubt() {
        let doubts = |line: &str| [false, true].map(|follows_call| doubt_before(line.as_bytes(), follows_call));
        for line in [
            "Shall I delete it?",
            "It is old. Delete it?",
            "要我删除它吗？",
            "Sample call",
            "I will not run the following call.",
            "Das werde ich nicht ausführen:",
            "If you agree, I will send this:",
            "**Example**",
            "❌",
            "{{",
            "### User",
            "The log shows:",
            "Usage:",
            "In general the format is:",
            "**Wrong:**",
            "My colleague's message:",
            "Falsch:",
            "Le format est le suivant :",
            "格式如下：",
            "호출 형식은 다음과 같습니다:",
            "Im Protokoll steht:",
            "日志显示：",
        ] {
            assert_eq!(doubts(line), [Doubt::Certain; 2], "{line}");
        }
        // They may head the model's own call.
        for line in ["Weather in Oslo:", "The next step is to look:", "Alright:"] {
            assert_eq!(doubts(line), [Doubt::IfProseFollows; 2], "{line}");
        }
        for line in ["## Usage", "Okay"] {
            assert_eq!(doubts(line), [Doubt::IfProseFollows, Doubt::Certain], "{line}");
        }
        for line in [
            "I'll look:",
            "Reading the docs:",
            "Let me correct the wrong value:",
            "Let me look",
            "The file is missing, so let me look:",
            "**Reading a.txt**",
            "1. I read a.txt:",
            "Step 2: the tests",
            "Ich lese die Datei:",
            "我先看一下：",
            "확인해 보겠습니다.",
            "Voy a comprobarlo:",
            "First, a.txt:",
        ] {
            assert_eq!(doubts(line), [Doubt::None; 2], "{line}");
        }
        // Between calls only an announcement is free of doubt.
        for line in ["It is old.", "Done!", "---", "", "I don't know it, and nobody does."] {
            assert_eq!(doubts(line), [Doubt::None, Doubt::Certain], "{line}");
        }
    }

    #[test]
    fn a_line_that_speaks_of_the_call_takes_it_back() {
        for line in [
            "(The above is only an illustration.)",
            "That was just an example.",
            "I have not run this.",
            "以上仅为示例。",
            "Is that OK? I wait.",
            "Actually, no.",
            "This call is not mine.",
        ] {
            assert!(takes_back_call(line.as_bytes()), "{line}");
        }
        for line in
            ["Let me know if you need more.", "Then I read b.", "With 1000 euros that would be:", "Done. More?", ""]
        {
            assert!(!takes_back_call(line.as_bytes()), "{line}");
        }
    }
}
