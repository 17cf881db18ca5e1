//! Near calls: text that is meant as a call and fits no syntax of calls.
//!
//! In comes what a message says beside its calls, once it is over; out goes the first place where a
//! known tool's name and its parameters stand as a call's do, though nothing of it could be read: a
//! marker is misspelt, a bracket is missing, the name is. Prose that speaks of a tool, code in a
//! fence, a quotation and a list of tools are none.
//!
//! ```text
//! line ──begins as a call does──▶ name of a known tool ──▶ a key of its parameters
//!                                        │
//!                                        ▼ and one of
//!        marks of a dialect · keys of a call object · the tool's own tag · `f(a=` · ReAct's words
//! ```
//!
//! A slip of one character is looked past in marks, names and keys. Whoever tells the model of it
//! shows the text where it stands.

mod words;

use std::ops::Range;

use crate::dialect::{ACTION, CallKeys, Dialect, FUNCTION, Shape, introduces_example};
use crate::event::{CALL, Rejected, RejectedKind};
use crate::parse::marks::near::{NearMarks, alike};
use crate::parse::shape::message::LABELS;
use crate::parse::tables::Tables;
use crate::tools::{Catalog, Tool};
use words::{Word, words};

/// Text that is looked at, in bytes: the end of a longer one.
const MOST: usize = 64 << 10;

/// Bytes of a call that are looked at.
const SEGMENT: usize = 1 << 10;

/// Bytes in which its tool's name stands.
const NAME_WITHIN: usize = 400;

/// Bytes between the name and the object of its arguments.
const ARGUMENTS_WITHIN: usize = 48;

/// Bytes of the words before a colon that a line begins with.
const LABEL: usize = 24;

/// Places that are looked at.
const MOST_LOOKS: usize = 128;

/// Bytes that are shown of what cannot be read.
const SHOWN: usize = 16;

/// The text before the tool's name in Harmony's header, whose tokens a server may have taken off.
const RECIPIENT: &str = "commentary to=";

/// Brackets that models write in place of the angle ones: full-width, of other quotations, escaped.
const OTHER_BRACKETS: [(&str, &str); 5] = [("＜", "＞"), ("〈", "〉"), ("《", "》"), ("&lt;", "&gt;"), ("\\<", "\\>")];

/// The first near call in `text`, what a message says beside its calls. Where it `has_calls`, an
/// object or code beside them is an example.
pub(crate) fn near_call(tables: &Tables, text: &str, has_calls: bool) -> Option<Rejected> {
    let text = &text[text.floor_char_boundary(text.len().saturating_sub(MOST))..];
    near_call_in(tables, text, has_calls).or_else(|| {
        let (open, close) =
            OTHER_BRACKETS.into_iter().find(|(open, close)| text.contains(open) && text.contains(close))?;
        let (before, written) = text.split_at(text.find(open)?);
        if !begins_apart(before) || !written.trim_end().ends_with(close) {
            return None;
        }
        let found = near_call_in(tables, &written.replace(open, "<").replace(close, ">"), has_calls)?;
        let tool = found.tool.as_deref().unwrap_or_default();
        let slip = format!("its brackets are `{open}` and `{close}` in place of `<` and `>`");
        let message = near_message(tool, &slip);
        Some(Rejected { message, raw: written.trim_end().to_owned(), ..found })
    })
}

fn near_call_in(tables: &Tables, text: &str, has_calls: bool) -> Option<Rejected> {
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
        introduced = introduces_example(line.trim().as_bytes(), true) || (introduced && line.trim().is_empty());
        let start = at;
        at += line.len();
        let begins = line.trim_start_matches([' ', '\t']);
        let begins = begins.strip_prefix("- ").unwrap_or(begins);
        if let Some(run) = FENCES.iter().find(|run| begins.starts_with(**run)) {
            fence = match fence {
                Some(open) if open == *run => None,
                None => Some(run),
                open => open,
            };
            continue;
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
        let is_quoted = begins.starts_with("> ") || is_example || (fence.is_some() && !is_fenced);
        if is_quoted || line.starts_with('\t') || line.len() - begins.len() > 3 {
            continue;
        }
        let begins_call = may_begin(begins);
        if !begins_call && (fence.is_some() || !may_name(begins)) {
            continue;
        }
        let names = names.get_or_insert_with(|| self::names(tables, text, catalog));
        let name = names.get(names.partition_point(|name| name.at < start));
        let Some(Name { at: name, length, tool }) = name.filter(|name| name.at < start + NAME_WITHIN) else { continue };
        // A word alone on its line begins a call if it is the tool's name.
        let is_alone = begins.trim_end().chars().all(is_in_word);
        if is_alone && *name != start + line.len() - begins.len() {
            continue;
        }
        looks = looks.checked_sub(1)?;
        let rest = &text[start..text.floor_char_boundary(start + SEGMENT)];
        let rest = rest.split(CALL).next().unwrap_or(rest);
        let before = &text[..last_fence.filter(|_| is_fenced).unwrap_or(start)];
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

/// The position of the last fence in `text`, if nothing follows it.
fn last_fence(text: &str) -> Option<usize> {
    FENCES.iter().find_map(|run| text.trim_end().strip_suffix(run)?.rfind(run))
}

/// An occurrence of a known tool's name in the form of a call's name, except for one slip.
struct Name<'t> {
    at: usize,
    length: usize,
    tool: &'t Tool,
}

fn names<'t>(tables: &Tables, text: &str, catalog: &'t Catalog) -> Vec<Name<'t>> {
    // A name that no prose has counts wherever it is.
    let is_name = |word: &Word<'_>| word.text.contains('_') && catalog.tools().any(|tool| tool.name == word.text);
    let named = words(text).filter(|word| word.before != Some('`') && (word.is_structural() || is_name(word)));
    named
        .filter_map(|word| Some(Name { at: word.at, length: word.text.len(), tool: tool(tables, catalog, word.text)? }))
        .collect()
}

/// The tool whose name a word is, but for one slip. A word of the syntax is no misspelt name.
fn tool<'t>(tables: &Tables, catalog: &'t Catalog, word: &str) -> Option<&'t Tool> {
    let last = word.rsplit('.').next().unwrap_or(word);
    let exact = catalog.tools().find(|tool| tool.name == word || tool.name == last);
    let is_syntax = || names_tool(word) || holds_arguments(word) || tables.near_marks().holds(word);
    if exact.is_none() && is_syntax() {
        return None;
    }
    exact.or_else(|| catalog.tools().find(|tool| alike(word, &tool.name) || alike(last, &tool.name)))
}

/// Returns the number of bytes of a segment up to a line of prose after the first line.
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
/// Text that continues the line before may be quoted there.
fn begins_apart(before: &str) -> bool {
    let is_blank = before.trim_end_matches([' ', '\t', '\r']).ends_with("\n\n");
    is_blank || before.trim_end().is_empty() || before.trim_end().ends_with(['.', ':', '!', '?', '：', '。'])
}

/// Bytes of the paragraph that `text` begins with, if it is an object or one line with brackets at its end, first or after
/// a sentence that does not introduce it, and more follows.
fn paragraph(before: &str, text: &str) -> Option<usize> {
    let ends = ['.', '!', '?', '。', '！', '？'];
    let is_apart = before.trim().is_empty() || before.ends_with("\n\n") && before.trim_end().ends_with(ends);
    let (paragraph, _) = text.split_once("\n\n").filter(|_| is_apart)?;
    let object = label(paragraph).map_or(paragraph, |label| &paragraph[label.len()..]);
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(object).is_ok();
    (is_object || !paragraph.contains('\n') && paragraph.ends_with([')', '}'])).then_some(paragraph.len())
}

/// Returns `true` if a line begins as a sentence does: with three words, and a fourth; not with ReAct's.
fn is_prose(line: &str) -> bool {
    if line.starts_with("Action Input:") {
        return false;
    }
    let mut words = line.split_whitespace();
    let is_word = |word: &str| word.trim_matches(['`', ',', '.', ':', ';']).chars().all(char::is_alphabetic);
    words.by_ref().take(3).filter(|word| is_word(word)).count() == 3 && words.next().is_some()
}

/// Delimiters around lines that hold no call, with `true` if the opener begins its line: constructs that quote; and
/// Harmony's channel of answers, in which all is content.
const REGIONS: [(&str, &str, bool); 4] = [
    ("<!--", "-->", true),
    ("<pre", "</pre>", true),
    ("<code", "</code>", true),
    ("<|channel|>final<|message|>", "<|end|>", false),
];

/// The first characters of the JSON in `text` that are no JSON, if they are on its way.
fn damaged_from(text: &str) -> Option<&str> {
    let json = &text[text.find('{')?..];
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Value>();
    let error = values.next()?.err().filter(|error| !error.is_eof())?;
    let line: usize = json.split_inclusive('\n').take(error.line().checked_sub(1)?).map(str::len).sum();
    // A column counts bytes, up to the one that is wrong.
    let at = json.floor_char_boundary(line + error.column().saturating_sub(1));
    let rest = json[at..].lines().next()?;
    Some(&rest[..rest.floor_char_boundary(SHOWN)]).filter(|rest| !rest.is_empty())
}

/// The first bracket outside strings that has no partner.
fn unpaired(text: &str) -> Option<char> {
    let (mut open, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    for c in text.chars() {
        let after_backslash = is_escaped;
        is_escaped = c == '\\' && !after_backslash;
        match c {
            '"' if !after_backslash => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '(' => open.push(')'),
            '}' | ']' | ')' if open.last() == Some(&c) => drop(open.pop()),
            '}' | ']' | ')' => return Some(open.pop().unwrap_or(c)),
            _ => {}
        }
    }
    open.pop().filter(|_| !in_string)
}

const FENCES: [&str; 3] = ["```", "~~~", "'''"];

fn near_message(tool: &str, slip: &str) -> String {
    format!("this looks like a call of `{tool}` and cannot be read as one: {slip}")
}

fn rejected(tool: &Tool, dialect: Dialect, text: &str, slip: &str) -> Rejected {
    let message = near_message(&tool.name, slip);
    let mut rejected = Rejected::new(RejectedKind::NearCall, dialect, text.trim_end(), message);
    rejected.server.clone_from(&tool.server);
    rejected.tool = Some(tool.name.clone());
    rejected
}

/// Returns `true` if a call object names its tool under this key, but for a slip.
fn names_tool(key: &str) -> bool {
    let known = object_keys().flat_map(|keys| &keys.tool).map(String::as_str);
    key == ACTION || known.chain([FUNCTION[0]]).any(|known| alike(key, known))
}

/// The same of the arguments.
fn holds_arguments(key: &str) -> bool {
    object_keys().flat_map(|keys| &keys.arguments).any(|known| alike(key, known))
}

/// Keys of call objects without a marker.
fn object_keys() -> impl Iterator<Item = &'static CallKeys> {
    let keys = match &Dialect::Json.spec().shape {
        Shape::Json(keys) => Some(keys),
        _ => None,
    };
    keys.into_iter()
}

/// The label of a call that `text` begins with.
fn label(text: &str) -> Option<&'static str> {
    LABELS.iter().copied().find(|label| text.starts_with(label))
}

/// Returns `true` if a line begins as calls do: with a bracket, a bar or a quotation mark, or with one word and such a
/// sign, or with a word of ReAct's or the marker line's, or with a word that is all of it.
fn may_begin(line: &str) -> bool {
    let word = line.find(|c| !is_in_word(c)).unwrap_or(line.len());
    match line[word..].chars().next() {
        Some('<' | '[' | '{' | '|' | '｜' | '(' | '=' | '>') => true,
        Some('"' | '\'') => word == 0,
        _ if label(line).is_some() => true,
        _ if word == 0 => false,
        Some(' ' | ':' | '：' | '*' | '`') => {
            let is_word = |known| alike(&line[..word].to_ascii_lowercase(), known);
            let after = line[word..].trim_start_matches([' ', '*', '`']);
            is_word("type") || is_word("action") || after.starts_with("to=functions") || line.contains(RECIPIENT)
        }
        Some('\n' | '\r') | None => true,
        _ => false,
    }
}

/// Returns `true` if a line may hold the name of a call whose arguments follow it: it has a brace, a label, or code that
/// uses a result.
fn may_name(line: &str) -> bool {
    let is_labelled = line.split_once([':', '：']).is_some_and(|(label, _)| label.len() <= LABEL);
    is_labelled || line.contains('{') || line.contains("= ") || line.starts_with("await ")
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '▁')
}

/// A segment of text that may be a call, from the line that it begins on.
struct Segment<'t> {
    text: &'t str,
    /// The range of the tool's name in it.
    name: Range<usize>,
    tool: &'t Tool,
    /// `true` if it is a paragraph of its own and reaches to the end of the message.
    is_last: bool,
    /// It is an object, or one line with brackets at its end, with a paragraph of prose after it.
    is_paragraph: bool,
    /// `true` if it is in a fence.
    is_fenced: bool,
    /// It begins as calls do.
    begins_call: bool,
    /// `true` if the message has calls.
    has_calls: bool,
    marks: &'t NearMarks,
}

impl Segment<'_> {
    /// The syntax that the tool's call is meant in here, if one is.
    fn dialect(&self) -> Option<Dialect> {
        if !self.begins_call {
            let is_one = self.is_one_expression().then_some(Dialect::Python);
            return is_one.or_else(|| self.has_arguments_after().then_some(Dialect::Json));
        }
        let words: Vec<Word<'_>> = words(self.text).collect();
        let keys: Vec<_> = words.iter().filter(|word| word.at != self.name.start && word.is_key()).collect();
        let is_parameter = |word: &&&Word<'_>| self.tool.parameters().any(|known| alike(word.text, known.name));
        let given: Vec<_> = keys.iter().filter(is_parameter).collect();
        let takes_nothing = self.tool.parameters().next().is_none();
        let is_quoted = self.text.trim_start().starts_with(['"', '\'']);
        if let Some((dialect, count)) = self.marks.found_in(self.text)
            && !is_quoted
            && (!given.is_empty() || takes_nothing || count > 1)
        {
            return Some(dialect);
        }
        let name = words.iter().find(|word| word.at == self.name.start)?;
        let before = &self.text[..self.name.start];
        if name.is_tag() && before.trim_start() == "<" && (self.is_in_own_tags() || self.foreign_tag().is_some()) {
            return Some(Dialect::ToolTag);
        }
        if self.is_one_expression() {
            return Some(Dialect::Python);
        }
        if self.has_arguments_after() {
            return Some(Dialect::Json);
        }
        if given.is_empty() && !takes_nothing {
            return None;
        }
        // Parameters may be attributes of the tool's own tag.
        let attributes = self.text[self.name.end..].split('>').next().filter(|_| before.ends_with('<'));
        let is_attribute = |word: &Word<'_>| {
            word.sign == Some('=') && attributes.is_some_and(|tag| word.at < self.name.end + tag.len())
        };
        if name.is_tag() && (takes_nothing || given.iter().any(|word| word.is_tag() || is_attribute(word))) {
            return Some(Dialect::ToolTag);
        }
        if before.contains(RECIPIENT) && self.is_alone(['}', ']', '"']) {
            return Some(Dialect::Harmony);
        }
        let has = |is_known: fn(&str) -> bool| keys.iter().any(|word| is_known(word.text));
        // A schema of the parameters defines the tool.
        let defines = has(|word| alike(word, "properties")) && !self.tool.has_parameter("properties");
        if has(names_tool)
            && has(holds_arguments)
            && !before.contains('(')
            && !before.contains("\n\n")
            && !defines
            && (self.is_alone(['}', ']', if before.starts_with('<') { '>' } else { '"' }])
                || self.is_paragraph && !self.has_calls)
        {
            return Some(Dialect::Json);
        }
        let label = before.trim_matches(['[', '"', '\'', ' ', '(']);
        let is_labelled = LABELS.contains(&label);
        let called = self.text[self.name.end..].starts_with(['(', '{', '=']) && !given.is_empty();
        let is_code = || self.is_code() && !is_labelled;
        if (label.is_empty() || is_labelled) && called && !is_code() && self.is_alone([')', ']', '}']) {
            return Some(Dialect::Python);
        }
        let acts = words.iter().filter(|word| alike(&word.text.to_ascii_lowercase(), "action")).count();
        let is_react = acts > 1 || (acts == 1 && words.iter().any(|word| alike(word.text, "Input")));
        // JSON has brackets at its end, arguments in another syntax have not.
        let is_alone = || self.is_alone(['}', '"', ']']) || (!self.text.contains('{') && self.ends_message());
        (is_react && is_alone()).then_some(Dialect::React)
    }

    /// Says what is wrong with it: the first slip that is found.
    fn slip(&self, dialect: Dialect) -> String {
        if self.is_paragraph && dialect == Dialect::Json {
            return "there is text before and after it".to_owned();
        }
        let written = &self.text[self.name.clone()];
        if written.rsplit('.').next() != self.tool.name.rsplit('.').next() {
            return format!("its name is written `{written}`");
        }
        if let Some((written, mark)) = self.marks.slip_in(self.text) {
            return format!("`{written}` is where `{mark}` belongs");
        }
        let misspelt = words(self.text).filter(|word| word.at != self.name.start && word.is_key()).find_map(|word| {
            let is_known = self.tool.has_parameter(word.text);
            let meant = self.tool.parameters().find(|known| alike(word.text, known.name));
            meant.filter(|_| !is_known).map(|meant| (word.text, meant.name))
        });
        if let Some((written, parameter)) = misspelt {
            return format!("it has no parameter `{written}`, but one that is called `{parameter}`");
        }
        if dialect == Dialect::Json && self.has_arguments_after() {
            return "nothing says that its arguments are a call's".to_owned();
        }
        if dialect == Dialect::React && !self.text.contains('{') {
            return "its arguments are not a JSON object".to_owned();
        }
        if let Some(tag) = self.foreign_tag() {
            return format!("it has no parameter `{tag}`");
        }
        if dialect == Dialect::ToolTag && self.is_in_own_tags() {
            return "its text is in no parameter".to_owned();
        }
        if matches!(dialect, Dialect::Json | Dialect::React)
            && let Some(from) = damaged_from(self.text)
        {
            return format!("its JSON cannot be read from `{from}` on");
        }
        if self.is_one_expression() && unpaired(self.text).is_none() {
            return "it is not alone on its line as `name(key=\"value\")`, with literal values".to_owned();
        }
        match unpaired(self.text) {
            Some(bracket) => format!("a `{bracket}` is missing, or there is one too many"),
            None => "a marker, a bracket or a name in it is missing or misspelt".to_owned(),
        }
    }

    /// Returns `true` if it is one text between the tags of a tool that takes one.
    fn is_in_own_tags(&self) -> bool {
        let close = format!("</{}>", &self.text[self.name.clone()]);
        let inner = self.text[self.name.end..].strip_prefix('>').and_then(|inner| inner.trim().strip_suffix(&*close));
        // Other tags, and braces, are arguments of another kind.
        let is_text = |inner: &str| !inner.trim_start().starts_with(['<', '{', '[']) && !inner.contains(&*close);
        let takes_text = self.tool.parameters().filter(|parameter| parameter.required).count() <= 1;
        takes_text && inner.is_some_and(is_text) && self.is_alone(['>'; 3])
    }

    /// Returns `true` if the message ends with one line of code that calls the tool, also with what a program does with
    /// the result: `x = await f(…)`, `print(f(…))`.
    fn is_one_expression(&self) -> bool {
        let (before, after) = (self.text[..self.name.start].trim(), &self.unfenced()[self.name.end..]);
        let before = label(before).map_or(before, |label| before[label.len()..].trim_start());
        let after = after.trim_end_matches([' ', ';']).trim_start_matches(' ');
        let in_brackets =
            after.starts_with('(') && after.ends_with(')') || after.starts_with('{') && after.ends_with('}');
        let is_code = before.is_empty() || before.ends_with(['.', '(', '=']) || before.ends_with("await");
        is_code
            && before.split_whitespace().count() <= 3
            && in_brackets
            && after.contains(['"', '\''])
            && !after.contains('\n')
            && !self.is_fenced
            && self.is_apart()
    }

    /// Returns `true` if the message ends with a JSON object of the tool's parameters after its name, on the line or on
    /// the next one.
    fn has_arguments_after(&self) -> bool {
        let after = &self.unfenced()[self.name.end..];
        let Some(at) = after.find('{').filter(|at| *at <= ARGUMENTS_WITHIN) else { return false };
        let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&after[at..]);
        let are_known = |object: &serde_json::Map<_, _>| object.keys().all(|key| self.tool.has_parameter(key));
        !after[..at].contains("\n\n")
            && object.is_ok_and(|object| !object.is_empty() && are_known(&object))
            && self.is_apart()
    }

    /// Returns `true` if the segment is intended as code: names are spelt exactly, brackets and quotation marks are in
    /// pairs.
    ///
    /// Its values are no literals, on purpose.
    fn is_code(&self) -> bool {
        let is_exact = self.text[self.name.clone()] == self.tool.name;
        if self.marks.has_quote(self.text) {
            return false;
        }
        let pairs = [('(', ')'), ('[', ']'), ('{', '}')];
        let count = |c: char| self.text.matches(c).count();
        is_exact && pairs.iter().all(|(open, close)| count(*open) == count(*close)) && count('"') % 2 == 0
    }

    /// The tag in a tool's own ones that is none of its parameters.
    fn foreign_tag(&self) -> Option<&str> {
        let close = format!("</{}>", &self.text[self.name.clone()]);
        let inner = self.text[self.name.end..].strip_prefix('>')?.trim().strip_suffix(&*close)?.trim();
        let tag = inner.strip_prefix('<')?.split('>').next()?;
        let is_element = inner.ends_with(&format!("</{tag}>")) && tag.chars().all(is_in_word);
        Some(tag).filter(|tag| is_element && !self.tool.has_parameter(tag) && self.is_alone(['>'; 3]))
    }

    /// Returns `true` if the segment is a paragraph of its own, or all that is left of the message.
    fn is_apart(&self) -> bool {
        self.is_paragraph && !self.has_calls || self.ends_message()
    }

    /// Returns `true` if the segment is all that is left of the message, and ends as a call does: prose after it makes
    /// an example of it.
    fn is_alone(&self, ends: [char; 3]) -> bool {
        self.ends_message() && self.unfenced().chars().rev().take(3).any(|c| ends.contains(&c))
    }

    /// Returns `true` if the segment is all that is left of the message, and no sentence or quotation.
    fn ends_message(&self) -> bool {
        // A mark that closes after the name was opened before it; a sentence ends there, too.
        let marks = ['.', ',', ';', '!', '?', '。', '"', '\'', '`', '”', '’', '»', '」', '』', '“'];
        self.is_last && !self.has_calls && !self.unfenced().ends_with(marks)
    }

    /// The text without the line that closes a fence.
    fn unfenced(&self) -> &str {
        let text = self.text.trim_end();
        match text.rsplit_once('\n') {
            Some((before, last)) if FENCES.contains(&last.trim()) => before.trim_end(),
            _ => text,
        }
    }
}
