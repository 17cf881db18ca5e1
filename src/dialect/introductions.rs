//! The words around a call: the lines with which the prompts introduce a call that is not one, and words of sentences
//! that announce a call, or put one in doubt.
//!
//! The templates print the former, and the parser knows by them that a model repeats its prompt.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

#[cfg(feature = "prompt")]
use super::Lang;
use super::table::{leaked, read};

/// The lines of one language, as the templates name them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Introductions {
    /// Introduces the form of a call (`use_mcp_tool`).
    pub(crate) form: &'static str,
    /// The same for tags with the name of the tool (`tool_tag`).
    pub(crate) tag_form: &'static str,
    /// Introduces an example.
    pub(crate) example: &'static str,
    /// Introduces an example of a call, beside one of an answer.
    pub(crate) call: &'static str,
    /// Introduces an example of an answer.
    pub(crate) answer: &'static str,
    /// Introduces the form that reads a resource.
    pub(crate) read: &'static str,
    /// Introduces a mistake that a model wrote.
    pub(crate) written: &'static str,
    /// Introduces the same call without the mistake.
    pub(crate) correct: &'static str,
    /// Introduces an answer that fits a schema.
    pub(crate) output: &'static str,
    /// The beginning of the line with an example's question, with the call right after it.
    pub(crate) question: &'static str,
    /// Introduces the results of calls, in earlier versions of the prompt.
    pub(crate) results: &'static str,
    /// Introduces one result in the compact style; without the colon.
    pub(crate) result: &'static str,
    /// Introduces the calls that were made before.
    pub(crate) earlier: &'static str,
    /// Introduces the calls that the user was shown.
    pub(crate) shown: &'static str,
    /// Introduces the user's request, before results in the compact style.
    pub(crate) asked: &'static str,
    /// Introduces the mistake of a call, in the compact style.
    pub(crate) wrong: &'static str,
    /// Introduces what a call lacks, in the compact style.
    pub(crate) incomplete: &'static str,
    /// Introduces a call that asks for a tool's parameters; the tool's name follows, then a colon.
    pub(crate) describe: &'static str,
    /// Introduces a call that looks for tools, in the same way.
    pub(crate) find: &'static str,
    /// Introduces a call that reads on in a long result.
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
    /// Beginnings of a sentence with which a model announces what it does itself.
    #[serde(borrow)]
    begins_announcing: Box<[&'static str]>,
    /// The same, anywhere in the sentence.
    #[serde(borrow)]
    announces: Box<[&'static str]>,
    /// Words of a sentence about a call that is shown, only proposed, or another's.
    #[serde(borrow)]
    hedges: Box<[&'static str]>,
    /// Words that deny, of which one and one of `runs` in a clause say that nothing is run.
    #[serde(borrow)]
    negations: Box<[&'static str]>,
    #[serde(borrow)]
    runs: Box<[&'static str]>,
    /// Last words of a line before its colon, after which another's words follow.
    #[serde(borrow)]
    reports: Box<[&'static str]>,
    /// Words of a line before its colon that introduces a form, another's words, or what is wrong, unless it announces an
    /// act.
    #[serde(borrow)]
    labels: Box<[&'static str]>,
    /// Beginnings of a line that speaks of the call right before it.
    #[serde(borrow)]
    takes_back: Box<[&'static str]>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| read(include_str!("../../prompts/introductions.json")));

/// Bytes by which a line is known that is longer than what is kept of one.
const KNOWN_BY: usize = 96;

impl Introductions {
    /// Returns all of them.
    fn all() -> [&'static Introductions; 2] {
        [&WORDS.en, &WORDS.zh]
    }

    /// Returns the lines of a language.
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

/// Doubt about a call by the line before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Doubt {
    /// Nothing against it.
    #[default]
    None,
    /// It may be shown, if prose follows it.
    IfProseFollows,
    /// It may not be meant.
    Certain,
}

/// Returns what the line before a call, of which these are the last bytes, says of the call. It puts the call in doubt if
/// it asks, speaks of an example, a proposal or another's call, or says that nothing is run. If it is no finished sentence
/// and does not announce what the model does itself, the call may be shown. After an earlier call nothing but an
/// announcement is free of doubt, since the text may be what the model takes for the result; a label may be either.
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

/// Returns `true` if the line after a call, of which these are the first bytes, takes it back: it speaks of the call
/// itself, asks, or goes on with the sentence that the call is in.
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

/// Signs of lines that say nothing: rules, the end of a fence, the sign of a list's item.
const RULES: [char; 8] = ['-', '=', '*', '_', '~', '`', '#', '•'];

/// Headings of another's turn.
const OTHERS: [&str; 4] = ["user", "human", "用户", "人类"];

fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '।')
}

/// A line in small letters, without what is left of a character that was cut.
fn lower(line: &[u8]) -> String {
    let skipped = line.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    match std::str::from_utf8(&line[skipped..]) {
        Ok(line) if line.is_ascii() => line.to_ascii_lowercase(),
        Ok(line) => line.to_lowercase().replace('’', "'"),
        Err(_) => String::from_utf8_lossy(&line[skipped..]).to_lowercase().replace('’', "'"),
    }
}

/// Returns the characters that end sentences, with their places: a point in a name or a number does not.
fn sentence_ends(line: &str) -> impl DoubleEndedIterator<Item = (usize, char)> {
    let is_last = |after: Option<&u8>| matches!(after, None | Some(b' ' | b'\t' | b'"' | b')' | b'*'));
    let may_end = line.bytes().enumerate().filter(|(_, byte)| MAY_END[usize::from(*byte)]);
    let ends =
        may_end.filter_map(|(at, _)| Some((at, line.get(at..)?.chars().next().filter(|c| is_sentence_end(*c))?)));
    ends.filter(move |(at, c)| !c.is_ascii() || is_last(line.as_bytes().get(at + 1)))
}

/// Returns the last sentence of a line, without its end and what marks its beginning.
fn last_sentence(line: &str) -> &str {
    let line = line.trim_end_matches(is_sentence_end);
    let start = sentence_ends(line).next_back().map_or(0, |(at, c)| at + c.len_utf8());
    line[start..].trim_start_matches(|c: char| !c.is_alphanumeric() && c.is_ascii())
}

/// The phrases of a sentence.
#[derive(Debug, Default)]
struct Phrased {
    /// It asks, speaks of an example or another's call, or says that nothing is run.
    is_doubtful: bool,
    /// It announces what the model does itself.
    announces: bool,
    /// Before a colon it introduces a form, another's words, or what is wrong.
    labels: bool,
    /// After a call it speaks of that.
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

/// The list that a phrase is in.
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

/// Words of one of the lists.
struct Phrase {
    words: &'static str,
    /// Their [`lead`].
    lead: u32,
    kind: PhraseKind,
    /// The one before it that begins alike, as [`Phrases::last`] names it.
    before: u16,
}

impl Phrase {
    /// Returns `true` if a text begins with these words and, unless they put in doubt or run something, no letter follows.
    fn begins(&self, text: &str) -> bool {
        let may_go_on = matches!(self.kind, PhraseKind::Hedges | PhraseKind::Runs);
        text.strip_prefix(self.words).is_some_and(|rest| may_go_on || !goes_on(self.words, rest))
    }
}

/// The phrases of all lists, which are looked for at once.
struct Phrases {
    all: Vec<Phrase>,
    /// The place after the last phrase in `all` by the [`slot`] of its lead; 0 where there is none.
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
    /// Tells `found` the places and kinds of the phrases in a text, each from the beginning of a word on.
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

/// Returns the length of the word with other letters than ASCII's that a text begins with, or of its first character.
fn to_next_word(text: &str) -> usize {
    match text.find(|c| !is_spaced(c)) {
        Some(0) => text.chars().next().map_or(0, char::len_utf8),
        end => end.unwrap_or(text.len()),
    }
}

/// The number of slots. Few words have the slot of a phrase that they do not begin.
const SLOTS: usize = 1 << 12;

/// Returns how a text begins: its first four bytes, without the letters after a character that is no letter of ASCII.
/// After a phrase of two or three bytes no letter follows.
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

/// ASCII letters and digits.
static IS_LETTER: [bool; 256] = bytes_of(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

/// The bytes that a character which [ends a sentence](is_sentence_end) begins with.
static MAY_END: [bool; 256] = bytes_of(b".!?\xd8\xe0\xe2\xe3\xef");

/// Returns a table of these bytes.
const fn bytes_of(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Returns `true` if the last of the words goes on in the text after them.
fn goes_on(words: &str, after: &str) -> bool {
    words.ends_with(is_spaced) && after.starts_with(is_spaced)
}

/// Returns `true` for letters and digits of writing that puts spaces between words.
fn is_spaced(c: char) -> bool {
    c.is_alphanumeric() && c < '\u{2e80}'
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
