//! Near calls: text that is meant as a call and fits no syntax of calls.
//!
//! The input is the text of a message beside its calls, once the message is over. The result is the first place
//! where a known tool's name and its parameters are arranged as in a call that could not be read: a
//! marker or the name is misspelt, or a bracket is missing. Prose that speaks of a tool, code in a
//! fence, a quotation and a list of tools are none.
//!
//! ```text
//! name of a known tool ──▶ a key of its parameters, and one of
//!     on a line that begins as a call does: marks of a dialect · the tool's own tag
//!     at the message's end: hardly a word beside them, whatever is around them
//! ```
//!
//! A slip of one character is looked past in marks, names and keys. Whoever tells the model of it
//! shows the text where it is.

mod segment;
mod words;

use crate::dialect::{Dialect, introduces_example};
use crate::event::{CALL, Rejected, RejectedKind};
use crate::parse::marks::near::alike;
use crate::parse::tables::Tables;
use crate::tools::{Catalog, Tool};
use segment::{Segment, holds_arguments, label, names_tool};
use words::{FENCES, Name, NearWord, is_in_word, words};

/// Maximum number of bytes, at the end of a message's text, that are searched for near calls.
const MOST: usize = 64 << 10;

/// Maximum number of bytes of a possible near call that are examined.
const SEGMENT: usize = 1 << 10;

/// Number of bytes after a line's start within which a near call's tool name must begin.
const NAME_WITHIN: usize = 400;

/// Maximum number of positions in a message that are examined as near calls.
const MOST_LOOKS: usize = 128;

/// Returns the rejection of the first near call in `text`, a message's text beside its calls; `None` without one.
/// `has_calls`: the message has calls, beside which an object or code is an example.
pub(crate) fn near_call(tables: &Tables, text: &str, has_calls: bool) -> Option<Rejected> {
    let text = &text[text.floor_char_boundary(text.len().saturating_sub(MOST))..];
    let catalog = tables.catalog()?;
    // Most messages have no line that begins so, and their words are not looked at.
    let mut names: Option<Vec<Name<'_>>> = None;
    let mut looks = MOST_LOOKS;
    let mut fence: Option<&str> = None;
    // A call that a model fences is in the fence that ends its message.
    let last_fence = last_fence(text);
    let (mut at, mut introduced, mut region) = (0, false, None);
    for line in text.split_inclusive('\n') {
        let is_example = introduced && !line.trim().is_empty();
        // Blank lines may be between the introduction and the example.
        introduced = introduces_example(line.trim().as_bytes(), true) || (introduced && line.trim().is_empty());
        let start = at;
        at += line.len();
        let begins = line.trim_start_matches([' ', '\t']);
        let begins = begins.strip_prefix("- ").unwrap_or(begins);
        if let Some(run) = FENCES.iter().find(|run| begins.starts_with(**run)) {
            fence = match fence {
                Some(open) if open == *run => None,
                None => Some(run),
                // In a fence, one of other characters is text.
                open => open,
            };
            // The tool's name may be the fence's word.
            let names_tool = || catalog.tools().any(|tool| tool.name == begins[run.len()..].trim_end());
            if fence.is_none() || !text[at..].trim_start().starts_with('{') || !names_tool() {
                continue;
            }
        }
        if let Some(close) = region {
            region = Some(close).filter(|close| !line.contains(close));
            continue;
        }
        let opened = REGIONS.iter().find_map(|(open, close, begins_line)| {
            let at = begins.find(open).filter(|at| *at == 0 || !begins_line)?;
            Some((&begins[at + open.len()..], *close))
        });
        if let Some((after, close)) = opened {
            region = Some(close).filter(|close| !after.contains(close));
            continue;
        }
        let is_fenced = fence.is_some() && last_fence.is_some_and(|from| from <= start);
        // A fence quotes the calls in it, unless it is the message's last one.
        let is_quoted =
            begins.starts_with("> ") || begins.starts_with("| ") || is_example || (fence.is_some() && !is_fenced);
        // An indent of four columns, or a tab, makes code of a line.
        if is_quoted || line.starts_with('\t') || line.len() - begins.len() > 3 {
            continue;
        }
        let before = &text[..last_fence.filter(|_| is_fenced).unwrap_or(start)];
        let begins_call = may_begin(begins);
        // In a form that is no dialect's a call counts only at the message's end, by itself, and with what
        // gives arguments.
        let may_end = || text.len() - start <= SEGMENT && begins_apart(before) && has_signs(&text[start..]);
        if !begins_call && !may_end() {
            continue;
        }
        let names = names.get_or_insert_with(|| self::names(tables, text, catalog));
        let from = names.partition_point(|name| name.at < start);
        let name = names.get(from).filter(|name| name.at < start + NAME_WITHIN);
        let Some(Name { at: name, length, tool }) = name else { continue };
        // It begins on the last line that is apart and no later than the name.
        let is_later = |(at, _): (usize, _)| begins_apart(&text[..=start + at]);
        if !begins_call && text[start..*name].match_indices('\n').any(is_later) {
            continue;
        }
        // A word alone on its line begins a call if it is the tool's name.
        let is_alone = begins.trim_end().chars().all(is_in_word);
        if is_alone && *name != start + line.len() - begins.len() {
            continue;
        }
        looks = looks.checked_sub(1)?;
        let rest = &text[start..text.floor_char_boundary(start + SEGMENT)];
        let rest = rest.split(CALL).next().unwrap_or(rest);
        let paragraph = paragraph(before, rest);
        let end = start + paragraph.unwrap_or_else(|| up_to_prose(rest));
        if *name >= end {
            continue;
        }
        let segment = Segment {
            text: &text[start..end],
            name: name - start..name - start + length,
            tool,
            is_last: text[end..].trim().is_empty() && begins_apart(before),
            names: &names[from..names.partition_point(|name| name.at < end)],
            is_paragraph: paragraph.is_some(),
            is_fenced,
            begins_call,
            has_calls,
            marks: tables.near_marks(),
        };
        if let Some(dialect) = segment.dialect() {
            return Some(rejected(tool, dialect, segment.text, &segment.slip(dialect)));
        }
    }
    None
}

/// Returns the offset of the last code fence in `text`, if that fence ends the text; else `None`.
fn last_fence(text: &str) -> Option<usize> {
    FENCES.iter().find_map(|run| text.trim_end().strip_suffix(run)?.rfind(run))
}

fn names<'t>(tables: &Tables, text: &str, catalog: &'t Catalog) -> Vec<Name<'t>> {
    // A name that no prose has counts wherever it is.
    let is_name = |word: &NearWord<'_>| word.text.contains('_') && catalog.tools().any(|tool| tool.name == word.text);
    // One in backquotes is a mention, unless a label announces it.
    let is_mention = |word: &NearWord<'_>| {
        let before = text[..word.at].trim_end_matches('`');
        // Three backquotes are a fence.
        matches!(word.at - before.len(), 1 | 2) && !before.trim_end().ends_with([':', '：', '*'])
    };
    let named = words(text).filter(|word| !is_mention(word) && (word.is_structural() || is_name(word)));
    named
        .filter_map(|word| Some(Name { at: word.at, length: word.text.len(), tool: tool(tables, catalog, word.text)? }))
        .collect()
}

/// Returns the tool whose name `word` is, with at most one slip; a word of the call syntax must be the exact name.
/// `None` without such a tool.
fn tool<'t>(tables: &Tables, catalog: &'t Catalog, word: &str) -> Option<&'t Tool> {
    let last = word.rsplit('.').next().unwrap_or(word);
    let exact = catalog.tools().find(|tool| tool.name == word || tool.name == last);
    // A tool may be called as such a word is, but then its name is exact.
    let is_syntax = || names_tool(word) || holds_arguments(word) || tables.near_marks().holds(word);
    if exact.is_none() && is_syntax() {
        return None;
    }
    exact.or_else(|| catalog.tools().find(|tool| alike(word, &tool.name) || alike(last, &tool.name)))
}

/// Returns the number of bytes before the first line of prose in `text`, not counting its first line; all of them
/// without such a line.
fn up_to_prose(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0 && is_prose(line) {
            return at;
        }
        at += line.len();
    }
    at
}

/// Returns `true` if the text after `before` is on its own: at the start, or after a blank line or the end of a
/// sentence.
///
/// Text that continues the line before it may be quoted there.
fn begins_apart(before: &str) -> bool {
    let is_blank = before.trim_end_matches([' ', '\t', '\r']).ends_with("\n\n");
    is_blank || before.trim_end().is_empty() || before.trim_end().ends_with(['.', ':', '!', '?', '：', '。'])
}

/// Returns the length in bytes of the paragraph that `text` begins with, if it is a JSON object or one line that ends
/// with a bracket, is first or follows a complete sentence, and more text follows; else `None`.
fn paragraph(before: &str, text: &str) -> Option<usize> {
    let ends = ['.', '!', '?', '。', '！', '？'];
    let is_apart = before.trim().is_empty() || before.ends_with("\n\n") && before.trim_end().ends_with(ends);
    let (paragraph, _) = text.split_once("\n\n").filter(|_| is_apart)?;
    let object = label(paragraph).map_or(paragraph, |label| &paragraph[label.len()..]);
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(object).is_ok();
    (is_object || !paragraph.contains('\n') && paragraph.ends_with([')', '}'])).then_some(paragraph.len())
}

/// Returns `true` if a line begins with three words and a fourth, as a sentence does, and not with `Action Input:`.
fn is_prose(line: &str) -> bool {
    if line.starts_with("Action Input:") {
        return false;
    }
    let mut words = line.split_whitespace();
    let is_word = |word: &str| word.trim_matches(['`', ',', '.', ':', ';']).chars().all(char::is_alphabetic);
    words.by_ref().take(3).filter(|word| is_word(word)).count() == 3 && words.next().is_some()
}

/// Opening and closing delimiters around lines that contain no call, and `true` if the opener begins its line:
/// constructs that quote, and Harmony's channel of answers, in which everything is content.
const REGIONS: [(&str, &str, bool); 4] = [
    ("<!--", "-->", true),
    ("<pre", "</pre>", true),
    ("<code", "</code>", true),
    ("<|channel|>final<|message|>", "<|end|>", false),
];

fn rejected(tool: &Tool, dialect: Dialect, text: &str, slip: &str) -> Rejected {
    let message = format!("this looks like a call of `{}` and cannot be read as one: {slip}", tool.name);
    let mut rejected = Rejected::new(RejectedKind::NearCall, dialect, text.trim_end(), message);
    rejected.server.clone_from(&tool.server);
    rejected.tool = Some(tool.name.clone());
    rejected
}

/// Returns `true` if a line begins as calls with delimiters do: with a bracket, a bar or a quotation mark, or with one
/// word and such a sign, or with the marker line's word, or with a word that is all of it.
fn may_begin(line: &str) -> bool {
    let word = line.find(|c| !is_in_word(c)).unwrap_or(line.len());
    match line[word..].chars().next() {
        Some('<' | '[' | '{' | '|' | '｜' | '(' | '=' | '>') => true,
        Some('"' | '\'') => word == 0,
        Some(' ' | ':' | '：' | '*' | '`') => alike(&line[..word].to_ascii_lowercase(), "type"),
        Some('\n' | '\r') | None => word > 0,
        _ => false,
    }
}

/// Returns `true` if `text` contains a sign that may separate a name from its arguments.
fn has_signs(text: &str) -> bool {
    text.contains(['=', ':', '：', '{', '<', '[', '＜', '〈', '《', '&']) || text.contains(" --")
}
