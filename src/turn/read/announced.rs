//! Recognises announcements: messages that say that the model acts now, or has acted, and make no call.
//!
//! Small models end a message with "Let me read the file:", or say "I've saved your note", and call nothing. The last
//! sentences of a message distinguish these from an answer:
//!
//! ```text
//! last sentence ─▶ no question, condition, refusal, quotation, verse ─▶ "I will", "let me" … + a verb of acts
//! short message ─▶ the same                                          ─▶ "I have", "… is now" + a verb of changes
//! ```
//!
//! Verbs of speech ("explain", "remember", "help") are in no table: such a promise needs no call.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Number of bytes at the end of a message in which an announcement is searched for.
const TAIL: usize = 1_200;

/// Maximum number of bytes of a message that only reports an action; a longer one is an answer about more.
const REPORT: usize = 400;

/// An action that a message without a call mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::turn) enum Announced {
    /// The model says that it acts now.
    Ahead,
    /// The model says that it has changed something.
    Done,
}

/// Returns the kind of action that the text of a message announces or reports; `None` if it mentions none.
pub(super) fn announced(text: &str) -> Option<Announced> {
    let text = text.trim();
    // The lists have lower case and straight apostrophes; models also write `I’ll`.
    let tail = text[text.floor_char_boundary(text.len().saturating_sub(TAIL))..].to_lowercase().replace('’', "'");
    let (tail, in_fence) = beside_fence(&tail)?;
    let lines: Vec<Line<'_>> =
        tail.lines().map(Line::of).filter(|line| !line.text.is_empty() || line.is_blank).collect();
    let last = lines.iter().rposition(|line| !line.is_blank)?;
    if is_content(&lines[..=last]) {
        return None;
    }
    let spoken = LastSentences::of(&lines[..=last]);
    // A list is read with the line before it (`I will:`, `1. Read the file`). Before a code fence the heading
    // of a step introduces the code, not an act.
    if spoken.is_ahead(in_fence) || acts(&listed(&lines[..=last])) || (!in_fence && is_step(&lines[..=last])) {
        return Some(Announced::Ahead);
    }
    // A report beside code is about that code: `I've fixed the missing parenthesis.`
    (text.len() <= REPORT && !text.contains("```") && spoken.is_done()).then_some(Announced::Done)
}

/// Returns the text before the code fence at the end of a message, and `true` if there is one. The fence is either the
/// announced command or an answer; the line before it decides.
fn beside_fence(text: &str) -> Option<(&str, bool)> {
    let Some(open) = text.strip_suffix("```") else { return Some((text, false)) };
    let before = open[..open.rfind("```")?].trim_end();
    before.ends_with([':', '：']).then_some((before, true))
}

/// Line of a message without its Markdown.
struct Line<'t> {
    text: &'t str,
    is_blank: bool,
    /// `true` if the line is an item of a list, a heading, or bold.
    is_marked: bool,
    is_quote: bool,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Self {
        let whole = line.trim();
        let number = whole.trim_start_matches(|c: char| c.is_ascii_digit());
        // `1.` and `2)` begin an item; a number alone belongs to the text.
        let item = if number.len() < whole.len() { number.strip_prefix(['.', ')']).unwrap_or(whole) } else { whole };
        let text = item.trim_matches(|c: char| c.is_whitespace() || "*_#-•>|".contains(c));
        // A quotation may begin inside its line, so its end counts, too: `He writes: “Let me read the
        // letter.”`
        let is_quote = whole.starts_with(['>', '"', '“', '「']) || whole.ends_with(['"', '”', '」']);
        Line { text, is_blank: whole.is_empty(), is_marked: text.len() < whole.len(), is_quote }
    }

    fn ends_sentence(&self) -> bool {
        self.text.ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：', '`'])
    }
}

/// Returns `true` if the end of the message is not in the model's own voice: a quotation, a verse, or a text that an
/// earlier line introduces.
fn is_content(lines: &[Line<'_>]) -> bool {
    let introduces = |line: &Line<'_>| {
        // `Here's a draft:` introduces a text for the user, `Here's the plan:` the model's own next steps.
        let is_own = list("own_lists").iter().any(|word| line.text.contains(word));
        line.text.ends_with([':', '：']) && !is_own && has_any(line.text, "introductions")
    };
    let stanza: Vec<_> = lines.iter().rev().take_while(|line| !line.is_blank && !line.is_marked).collect();
    // A single word is a heading; a line of Chinese verse has no blanks.
    let is_verse = |line: &&Line<'_>| !line.ends_sentence() && (line.text.contains(' ') || !line.text.is_ascii());
    let Some((last, before)) = lines.split_last() else { return false };
    // The last line itself may lack its full stop: `I will now write the results to out.txt`.
    last.is_quote || stanza.into_iter().skip(1).any(|line| is_verse(&line)) || before.iter().any(introduces)
}

/// Returns the line before the list at the end of a message, joined with the list's first item: "I will: read the
/// file".
fn listed(lines: &[Line<'_>]) -> String {
    let is_item = |line: &&Line<'_>| line.is_marked || line.is_blank;
    let first = lines.len() - lines.iter().rev().take_while(is_item).count();
    let (before, items) = lines.split_at(first);
    let item = items.iter().find(|line| !line.is_blank).map_or("", |line| line.text);
    let lead = before.last().and_then(|line| line.text.strip_suffix([':', '：'])).unwrap_or_default();
    if item.is_empty() { String::new() } else { format!("{lead} {item}") }
}

/// Returns `true` if the message ends with the heading of its only step, which names an action.
fn is_step(lines: &[Line<'_>]) -> bool {
    let heading = |line: &Line<'_>| {
        let (step, act) = line.text.split_once([':', '：', '–', '.'])?;
        // `第` and `step ` begin sentences, too; a heading is short: `Schritt 12:`.
        let is_step = list("steps").iter().any(|word| step.starts_with(word)) && step.chars().count() < 12;
        let words = words_of(act);
        let in_german = words.last().is_some_and(|last| list("german_acts").contains(last));
        is_step.then(|| is_like(&words, "{act}") || in_german || has_any(act, "chinese_acts"))
    };
    let Some((last, before)) = lines.split_last() else { return false };
    // With several steps the message instructs the user: `Step 1: Open the menu`, `Step 2: Select Settings`.
    heading(last) == Some(true) && before.iter().all(|line| heading(line).is_none())
}

/// The sentences at the end of a message, the last one first.
struct LastSentences<'t>(Vec<&'t str>);

impl<'t> LastSentences<'t> {
    fn of(lines: &[Line<'t>]) -> Self {
        let mut sentences: Vec<&str> = Vec::new();
        for line in lines {
            let mut rest = line.text;
            while let Some(end) = sentence_end(rest) {
                sentences.push(rest[..end].trim());
                rest = &rest[end..];
            }
            sentences.push(rest.trim());
        }
        // An emoji after the last sentence is none: `Let me fix that. 🔧`
        sentences.retain(|sentence| sentence.chars().any(char::is_alphabetic));
        sentences.reverse();
        LastSentences(sentences)
    }

    /// Returns `true` if the last sentence says that the model acts now. Sentences that ask the user to wait, or that
    /// give a purpose, may follow. Before a fence only running something is an action.
    fn is_ahead(&self, in_fence: bool) -> bool {
        let waits = |sentence: &str| {
            has_any(sentence, "waits") || list("purposes").iter().any(|start| sentence.starts_with(start))
        };
        let mut said = self.0.iter().enumerate();
        // At most two sentences follow the announcement. One may ask to wait and announce: `One sec, checking
        // the logs.`
        let last = said.find(|(at, sentence)| *at > 1 || !waits(sentence) || acts(sentence));
        last.is_some_and(|(_, sentence)| acts(sentence) && (!in_fence || has_any(sentence, "runs")))
    }

    /// Returns `true` if one of a few sentences says that the model has changed something.
    fn is_done(&self) -> bool {
        let asks = |sentence: &&&str| sentence.ends_with(['?', '？']) || has_any(sentence, "offers");
        let said: Vec<_> = self.0.iter().filter(|sentence| !asks(sentence)).collect();
        // `Your account was created in 2019.` is no report of this message.
        let is_year = |word: &&str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
        let denies = |sentence: &&str| {
            has_any(sentence, "not_done") || has_any(sentence, "texts") || words_of(sentence).iter().any(is_year)
        };
        // More sentences are an answer about more than the change.
        said.len() <= 3 && !said.iter().any(|sentence| denies(sentence)) && said.iter().any(|said| is_report(said))
    }
}

/// Returns the length of the first of several sentences.
fn sentence_end(text: &str) -> Option<usize> {
    let ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？'));
    ends.map(|(at, c)| at + c.len_utf8()).find(|end| {
        let rest = &text[*end..];
        // The full stop in `a.txt` ends nothing; Chinese has no blank after a sentence.
        let is_wide = text[..*end].ends_with(['。', '！', '？']);
        !rest.is_empty() && (is_wide || rest.starts_with(char::is_whitespace))
    })
}

/// Returns `true` if a sentence says that the model acts now.
fn acts(sentence: &str) -> bool {
    let said = list("waits").iter().fold(unquoted(sentence), |said, wait| said.replace(wait, ""));
    let (head, rest) = said.split_once([':', '：']).unwrap_or((&said, ""));
    // Text after a colon is already the answer, unless it is the command that runs.
    let answers = !rest.trim().is_empty() && !rest.trim_start().starts_with('`');
    let introduces = answers && has_any(head, "introductions");
    // `Shall I read the file?`, `I will not delete it.` and `Here's the translation: I will read the file.`
    // announce nothing.
    if said.ends_with(['?', '？']) || has_any(&said, "not_ahead") || introduces {
        return false;
    }
    // Without a subject a verb is an act only if the sentence is open, asks to wait or says `now`: `Fetching
    // the page...`, but not `Reading is fun.`
    let is_open = said.ends_with([':', '：', '…']) || said.ends_with("..") || said.contains('`');
    let trails = is_open || said.len() < sentence.len() || has_any(&said, "at_once");
    let clauses =
        |text: &str| text.split([',', ';', '，', '；', '、', '–', '—']).map(str::to_owned).collect::<Vec<_>>();
    // What introduces an answer is no announcement (`Let me check the numbers: 3 + 4 = 7.`), but one may
    // follow the colon: `Now on to the second file: let me open it.`
    let heads = if answers { Vec::new() } else { clauses(head) };
    heads.iter().chain(&clauses(rest)).filter(|clause| !has_any(clause, "texts")).any(|clause| {
        let words = words_of(clause);
        // Chinese often leaves the subject out, so its clauses have rules of their own.
        says(&words, "ahead") || (trails && begins(&words)) || leads_in_chinese(clause, trails)
    })
}

/// Returns a sentence without the parts in quotation marks, which are not the model's own.
fn unquoted(sentence: &str) -> String {
    let mut is_quoted = false;
    let kept = |c: &char| {
        let was_quoted = is_quoted;
        // A straight quotation mark both opens and closes.
        is_quoted = if *c == '"' { !is_quoted } else { (is_quoted || "“「".contains(*c)) && !"”」".contains(*c) };
        !was_quoted && !is_quoted
    };
    sentence.chars().filter(kept).collect()
}

/// Returns `true` if a clause without a subject begins with a verb of action: "Reading the file …".
fn begins(words: &[&str]) -> bool {
    let rest = skipped(words, "fillers");
    // `Running the tests takes about ten minutes.` is a statement.
    let is_statement = rest.iter().any(|word| list("predicates").contains(word));
    let is_form = rest.first().is_some_and(|first| first.ends_with("ing") || list("german_said").contains(first));
    // German verbs are listed in the form that begins such a clause: `Lese die Datei ein`.
    is_form && !is_statement && (is_like(rest, "{act}") || is_like(rest, "{german_said}"))
}

fn leads_in_chinese(clause: &str, trails: bool) -> bool {
    let led = clause.split_once('我').is_some_and(|(_, rest)| has_any(rest, "chinese_when"));
    let starts = |name| list(name).iter().any(|word| clause.trim_start().starts_with(word));
    let begins = trails && (starts("chinese_openers") || starts("chinese_acts"));
    // `已` says that it is done (`我已经检查了两个文件`). Without a subject a finished sentence may tell the user what
    // to do: `首先打开终端，然后运行测试。`
    !clause.contains('已') && (led || starts("chinese_starts") || begins) && has_any(clause, "chinese_acts")
}

/// Returns `true` if a sentence says that something was changed.
fn is_report(sentence: &str) -> bool {
    says(&words_of(sentence), "done") || (has_any(sentence, "chinese_done") && has_any(sentence, "chinese_changes"))
}

/// Returns `true` if the words match a pattern of the list from some position that no condition precedes.
fn says(words: &[&str], patterns: &str) -> bool {
    let is_free = |at: usize| at == 0 || !list("before_others").contains(&words[at - 1]);
    let is_there = |at: usize, pattern: &str| match pattern.strip_prefix("^ ") {
        Some(pattern) => at == 0 && is_like(words, pattern),
        None => is_like(&words[at..], pattern),
    };
    (0..words.len()).filter(|at| is_free(*at)).any(|at| list(patterns).iter().any(|pattern| is_there(at, pattern)))
}

/// Returns `true` if the beginning of the words matches a pattern: words, `{lists}` of them, `…` for any words, and `$`
/// for the end.
fn is_like(words: &[&str], pattern: &str) -> bool {
    let (token, rest) = pattern.split_once(' ').unwrap_or((pattern, ""));
    match token {
        "" => true,
        "$" => words.is_empty(),
        "…" => (0..words.len()).any(|at| is_like(&words[at..], rest)),
        "{any}" => words.split_first().is_some_and(|(_, words)| is_like(words, rest)),
        _ => match token.strip_prefix('{').and_then(|token| token.strip_suffix('}')) {
            None => after(words, token).is_some_and(|words| is_like(words, rest)),
            Some(name @ ("act" | "changed")) => {
                let words = skipped(words, "adverbs");
                let is_one =
                    if name == "act" { is_act(words) } else { words.first().is_some_and(|word| is_changed(word)) };
                is_one && is_like(&words[1..], rest)
            }
            Some(name) => list(name).iter().filter_map(|phrase| after(words, phrase)).any(|words| is_like(words, rest)),
        },
    }
}

/// Returns `true` if the words begin with a verb of action.
fn is_act(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let is_verb =
        |verb: &str| list("acts").contains(&verb) || list("changes").contains(&verb) || has_any(verb, "chinese_acts");
    // To use something is an act only if it is a tool, by its kind or by a name in backticks: `I will use
    // grep`.
    let uses = matches!(*first, "use" | "using")
        && rest.iter().any(|word| list("tools").contains(word) || word.starts_with('`'));
    // "Look forward to", "report back": such a verb is not an act on a thing.
    let is_other = rest.first().is_some_and(|next| matches!(*next, "back" | "forward"));
    let verbs = || is_verb(first) || bases(first, "ing").any(|base| is_verb(&base));
    // Some verbs are acts only with the words after them: `take a look`.
    !is_other && (uses || verbs() || is_like(words, "{act_phrases}"))
}

fn is_changed(word: &str) -> bool {
    list("irregular").contains(&word) || bases(word, "ed").any(|base| list("changes").contains(&base.as_str()))
}

/// Returns the verbs of which a word may be a form: `running` of `run`, `saved` of `save`.
fn bases(word: &str, ending: &str) -> impl Iterator<Item = String> {
    let stem = word.strip_suffix(ending).unwrap_or_default().to_owned();
    let half = stem[..stem.floor_char_boundary(stem.len().saturating_sub(1))].to_owned();
    let of_y = stem.strip_suffix('i').map(|stem| format!("{stem}y"));
    [format!("{stem}e"), half, stem].into_iter().chain(of_y)
}

/// Returns the words without the phrases of a list at their beginning.
fn skipped<'w, 't>(mut words: &'w [&'t str], name: &str) -> &'w [&'t str] {
    while let Some(rest) = list(name).iter().find_map(|phrase| after(words, phrase)) {
        words = rest;
    }
    words
}

/// Returns the words after a phrase at their beginning.
fn after<'w, 't>(words: &'w [&'t str], phrase: &str) -> Option<&'w [&'t str]> {
    phrase.split(' ').try_fold(words, |rest, word| Some(rest.split_first().filter(|(first, _)| **first == word)?.1))
}

/// Returns `true` if a text contains a phrase of a list: as whole words, in Chinese anywhere.
fn has_any(text: &str, name: &str) -> bool {
    let words = format!(" {} ", words_of(text).join(" "));
    // CJK characters begin with `⺀`; there are no blanks between their words.
    let is_chinese = |phrase: &str| phrase.starts_with(|c| c >= '⺀');
    let has = |phrase: &&str| match is_chinese(phrase) {
        true => text.contains(*phrase),
        false => words.contains(&format!(" {phrase} ")),
    };
    list(name).iter().any(has)
}

fn words_of(text: &str) -> Vec<&str> {
    // Backticks stay in a word, since `is_act` recognises the name of a tool by them.
    let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '`');
    text.split(|c| !is_in_word(c)).filter(|word| !word.is_empty()).collect()
}

/// Returns the phrases of this list in `announced.txt`.
fn list(name: &str) -> &'static [&'static str] {
    static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let sections = include_str!("announced.txt").split("\n[").skip(1);
        let lists = sections.filter_map(|section| section.split_once("]\n")).map(|(name, lines)| {
            let lines = lines.lines().filter(|line| !line.starts_with('#'));
            (name, lines.flat_map(|line| line.split(',')).map(str::trim).filter(|phrase| !phrase.is_empty()).collect())
        });
        lists.collect()
    });
    LISTS.get(name).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
