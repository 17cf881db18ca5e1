//! A segment of text that may be a call: whether it is meant as one, and what is wrong with it.

use std::ops::Range;

use super::words::{FENCES, Name, NearWord, is_in_word, words};
use crate::dialect::{ACTION, CallKeys, Dialect, FUNCTION, Shape, introduces_example};
use crate::parse::marks::near::{NearMarks, alike};
use crate::parse::shape::message::LABELS;
use crate::tools::Tool;

/// Maximum number of bytes between a tool's name and the JSON object of its arguments.
const ARGUMENTS_WITHIN: usize = 48;

/// Maximum number of bytes of unreadable JSON that a message shows.
const SHOWN: usize = 16;

/// Maximum number of bytes of the text around a tool's name that a message shows.
const SHOWN_AROUND: usize = 40;

/// Maximum number of words beside the tool's name before the first argument, as in `Calling f with`.
const FEW_WORDS: usize = 2;

const NO_OBJECT: &str = "its arguments are not a JSON object";

/// A segment of text that may be a call, from the start of its first line.
pub(super) struct Segment<'t> {
    pub(super) text: &'t str,
    /// Byte range of the tool's name in the segment.
    pub(super) name: Range<usize>,
    pub(super) tool: &'t Tool,
    /// `true` if the segment is a paragraph of its own and reaches to the end of the message.
    pub(super) is_last: bool,
    /// Occurrences of tools' names in the segment.
    pub(super) names: &'t [Name<'t>],
    /// `true` if the segment is an object, or one line with a bracket at its end, and a paragraph of prose follows it.
    pub(super) is_paragraph: bool,
    /// `true` if the segment is in a code fence.
    pub(super) is_fenced: bool,
    /// `true` if the segment begins as calls do.
    pub(super) begins_call: bool,
    /// `true` if the message has calls.
    pub(super) has_calls: bool,
    pub(super) marks: &'t NearMarks,
}

impl Segment<'_> {
    /// Returns the dialect in which the segment is meant as a call; `None` if it is not meant as one.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        let words: Vec<NearWord<'_>> = words(self.text).filter(|word| !self.name.contains(&word.at)).collect();
        let given: Vec<_> = words.iter().filter(|word| word.is_key() && self.parameter(word).is_some()).collect();
        let takes_nothing = self.tool.parameters().next().is_none();
        let is_quoted = self.text.trim_start().starts_with(['"', '\'']);
        // A single delimiter may be prose: it needs a parameter beside it, if the tool has any.
        if self.begins_call
            && !is_quoted
            && let Some((dialect, count)) = self.marks.found_in(self.text)
            && (!given.is_empty() || takes_nothing || count > 1)
        {
            return Some(dialect);
        }
        if self.begins_call && self.is_in_tags(&given) {
            return Some(Dialect::ToolTag);
        }
        let has = |is_known: fn(&str) -> bool| words.iter().any(|word| word.is_key() && is_known(word.text));
        // A schema of the parameters defines the tool.
        let defines = has(|word| alike(word, "properties")) && !self.tool.has_parameter("properties");
        let takes_these = || takes_nothing && has(names_tool) && has(holds_arguments);
        // The arguments as an object, a parameter with its value, or, of a tool that takes nothing, the keys
        // of a call.
        let is_meant = || self.has_arguments_after() || self.has_parameters(&words) || takes_these();
        let after = self.unfenced().rsplit_once(['}', ')', ']']).map_or("", |(_, after)| after);
        // A sentence goes on after the last bracket, unless its words are assigned a value.
        let goes_on = count_words(after) > 0 && !after.contains('=');
        // In prose, in a definition and in a sentence the same words only speak of the tool.
        (self.is_apart() && !defines && !goes_on && is_meant()).then(|| self.syntax(&words))
    }

    /// Returns the dialect that is nearest to a call at the message's end: ReAct, Python, tool tags or JSON.
    fn syntax(&self, words: &[NearWord<'_>]) -> Dialect {
        if words.iter().any(|word| alike(&word.text.to_ascii_lowercase(), ACTION)) {
            return Dialect::React;
        }
        if self.after().starts_with('(') {
            return Dialect::Python;
        }
        if self.before().ends_with('<') { Dialect::ToolTag } else { Dialect::Json }
    }

    /// Returns `true` if the tool's own tag is around parameters, or around a text that belongs in one.
    fn is_in_tags(&self, given: &[&NearWord<'_>]) -> bool {
        if self.inner().is_some_and(|inner| !inner.starts_with('<')) || self.foreign_tag().is_some() {
            return true;
        }
        let before = self.before();
        let is_tag = before.ends_with(['<', '/']) || self.after().starts_with('>');
        // Parameters may be attributes of the tag.
        let attributes = self.after().split('>').next().filter(|_| before.ends_with('<'));
        let is_attribute = |word: &NearWord<'_>| {
            word.sign == Some('=') && attributes.is_some_and(|tag| word.at < self.name.end + tag.len())
        };
        let takes_nothing = self.tool.parameters().next().is_none();
        // The tag alone may be HTML's or prose: a parameter is in it, as a tag or as an attribute, if the
        // tool has any.
        is_tag && (takes_nothing || given.iter().any(|word| word.is_tag() || is_attribute(word)))
    }

    /// Returns a message about what is wrong with the segment as a call of this dialect: the first fault that is found.
    pub(super) fn slip(&self, dialect: Dialect) -> String {
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
            self.parameter(&word).filter(|_| !is_known).map(|meant| (word.text, meant))
        });
        if let Some((written, parameter)) = misspelt {
            return format!("it has no parameter `{written}`, but one that is called `{parameter}`");
        }
        if dialect == Dialect::React && !self.text.contains('{') {
            return NO_OBJECT.to_owned();
        }
        if let Some(tag) = self.foreign_tag() {
            return format!("it has no parameter `{tag}`");
        }
        if dialect == Dialect::ToolTag && self.inner().is_some_and(|inner| !inner.starts_with('<')) {
            return "its text is in no parameter".to_owned();
        }
        if matches!(dialect, Dialect::Json | Dialect::React)
            && let Some(from) = damaged_from(self.text, self.name.start)
        {
            return format!("its JSON cannot be read from `{from}` on");
        }
        if let Some(bracket) = unpaired(self.text) {
            return format!("a `{bracket}` is missing, or there is one too many");
        }
        if let Some(missing) = self.missing() {
            return format!("its parameter `{missing}` is missing");
        }
        if let Some(wrapper) = self.wrapper_before() {
            return format!("`{wrapper}` before its name is no part of a call");
        }
        if dialect == Dialect::Python {
            return "it is not alone on its line as `name(key=\"value\")`, with literal values".to_owned();
        }
        if let Some(wrapper) = self.wrapper_after() {
            return format!("`{wrapper}` after its name is no part of a call");
        }
        if self.has_arguments_after() {
            return "nothing says that its arguments are a call's".to_owned();
        }
        match dialect {
            Dialect::Json | Dialect::React if !self.text.contains('{') => NO_OBJECT.to_owned(),
            _ => "a marker, a bracket or a name in it is missing or misspelt".to_owned(),
        }
    }

    /// Returns the first required parameter that the segment lacks, if it has another parameter; else `None`.
    fn missing(&self) -> Option<&str> {
        let is_given = |name: &str| words(self.text).any(|word| self.parameter(&word) == Some(name));
        let any = self.tool.parameters().any(|parameter| is_given(parameter.name));
        let mut needed = self.tool.parameters().filter(|parameter| parameter.required);
        needed.find(|parameter| any && !is_given(parameter.name)).map(|parameter| parameter.name)
    }

    /// Returns the text before the name on its line; `None` if it is empty or calls may begin so.
    fn wrapper_before(&self) -> Option<&str> {
        let line = self.before().rsplit('\n').next()?.trim_matches(is_around);
        let key = words(line).last().filter(|_| line.starts_with(['{', '[']) || line.ends_with(is_sign));
        let is_key = !line.contains(['<', '(']) && key.is_some_and(|word| names_tool(&word.text.to_ascii_lowercase()));
        // Before a key it is what is before the object.
        let wrapper = if is_key { self.before().split(['{', '[']).next()?.trim_matches(is_around) } else { line };
        let is_known = |wrapper: &&str| {
            let is_mark = wrapper.starts_with(['<', '[']) && self.marks.found_in(wrapper).is_some();
            // With a mark, a label or the key of a tool's name calls do begin.
            is_mark || label(wrapper).is_some() || is_key && names_tool(wrapper.trim_end_matches(is_sign))
        };
        shown_around(wrapper).filter(|wrapper| !is_known(wrapper))
    }

    /// Returns the text between the name and the first parameter; `None` if it is empty or a key for arguments.
    fn wrapper_after(&self) -> Option<&str> {
        let after = words(self.text).filter(|word| word.at >= self.name.end);
        let first = after.into_iter().find(|word| word.gives_value() && self.parameter(word).is_some())?;
        let around = |c: char| is_around(c) || is_sign(c) || matches!(c, '{' | '[' | '(' | '<' | '>' | ',');
        let text = self.text[self.name.end..first.at].trim_matches(around);
        let is_known = words(text).last().is_some_and(|word| word.text == text && holds_arguments(text));
        shown_around(text).filter(|_| !is_known)
    }

    /// Returns the tool's parameter whose name `word` is, with at most one slip; `None` without one.
    fn parameter(&self, word: &NearWord<'_>) -> Option<&str> {
        let lower = word.text.to_ascii_lowercase();
        let meant = self.tool.parameters().find(|known| alike(word.text, known.name) || lower == known.name);
        meant.map(|known| known.name)
    }

    fn before(&self) -> &str {
        &self.text[..self.name.start]
    }

    fn after(&self) -> &str {
        &self.text[self.name.end..]
    }

    /// Returns the text between the tag that names the tool and the tag that closes it, if that ends the message and
    /// the tool needs at most one parameter; else `None`.
    fn inner(&self) -> Option<&str> {
        let tag = self.before().trim_start().strip_prefix('<').filter(|tag| !tag.contains(['>', '<', '"']))?;
        let inner = self.unfenced().get(self.name.end..)?.trim_end_matches("<|im_end|>");
        let (inner, close) = inner.strip_prefix('>')?.strip_suffix('>')?.rsplit_once("</")?;
        let closes = close == &self.text[self.name.clone()] || words(tag).next().is_some_and(|word| word.text == close);
        // Braces are arguments of another kind.
        let is_text = !inner.trim_start().starts_with(['{', '[']) && !inner.contains(&format!("</{close}>"));
        // One text cannot be two parameters.
        let takes_text = self.tool.parameters().filter(|parameter| parameter.required).count() <= 1;
        Some(inner.trim()).filter(|_| closes && is_text && takes_text && self.ends_message())
    }

    /// Returns the name of an element inside the tool's tags that is none of its parameters; `None` without one.
    fn foreign_tag(&self) -> Option<&str> {
        let inner = self.inner()?;
        let tag = inner.strip_prefix('<')?.split('>').next()?;
        let is_element = inner.ends_with(&format!("</{tag}>")) && tag.chars().all(is_in_word);
        Some(tag).filter(|tag| is_element && !self.tool.has_parameter(tag))
    }

    /// Returns `true` if the message ends with a JSON object of the tool's parameters after its name, on the line or on
    /// the next one.
    fn has_arguments_after(&self) -> bool {
        let Some(after) = self.unfenced().get(self.name.end..) else { return false };
        let Some(at) = after.find('{').filter(|at| *at <= ARGUMENTS_WITHIN) else { return false };
        let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&after[at..]);
        let are_known = |object: &serde_json::Map<_, _>| object.keys().all(|key| self.tool.has_parameter(key));
        !after[..at].contains("\n\n") && object.is_ok_and(|object| !object.is_empty() && are_known(&object))
    }

    /// Returns `true` if the segment gives a parameter its value, and is no sentence, list or code.
    fn has_parameters(&self, words: &[NearWord<'_>]) -> bool {
        let is_parameter = |word: &&NearWord<'_>| word.gives_value() && self.parameter(word).is_some();
        // Before the name only members and elements are.
        let is_in_place = |word: &&NearWord<'_>| word.at > self.name.end || matches!(word.before, Some('"' | '<'));
        let first = words.iter().filter(is_in_place).find(is_parameter).map(|word| word.at..word.at + word.text.len());
        let is_positional =
            ["(\"", "('"].iter().any(|open| self.after().starts_with(open)) && closed(self.after()).is_some();
        let Some(first) = first.or(is_positional.then_some(self.name.end..self.name.end + 1)) else { return false };
        let between = self.text.get(self.name.end..first.start).unwrap_or_default();
        // The quotation mark after the name closes it.
        let between = between.strip_prefix('"').unwrap_or(between);
        count_words(self.before()) + count_words(between) <= FEW_WORDS
            && !between.contains("\n\n")
            && !describes(&self.text[first.end..])
            && !self.is_mention()
            && !self.is_record()
            && !self.is_code()
    }

    /// Returns `true` if the text around the name makes it an example, an item in a list of tools or a part of a URL.
    fn is_mention(&self) -> bool {
        let before = self.before();
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_item = line.starts_with(['-', '*', '•', '|']) || line.starts_with(|c: char| c.is_ascii_digit());
        let rest = self.after().lines().next().filter(|_| line.starts_with(char::is_alphanumeric)).unwrap_or_default();
        let mut others = self.names.iter().filter(|other| other.tool.name != self.tool.name);
        ["\n\n", "---", "://"].iter().any(|sign| before.contains(sign))
            || introduces_example(before.trim().as_bytes(), true)
            || others.any(|other| is_item || rest.contains(&other.tool.name))
    }

    /// Returns `true` if the segment is a JSON object with a parameter of the tool beside other members: an answer.
    fn is_record(&self) -> bool {
        let Ok(object) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(self.unfenced()) else {
            return false;
        };
        let is_own = |key: &String| self.tool.has_parameter(key) || *key == self.tool.name;
        let mut others = object.iter().filter(|(key, value)| !is_own(key) && value.as_str() != Some(&self.tool.name));
        object.keys().any(is_own) && others.next().is_some()
    }

    /// Returns `true` if the tool's name is called as in code: amid more code, or with arguments that are no literals.
    fn is_code(&self) -> bool {
        let before = self.before().trim();
        let is_subscript = before.split_once('[').is_some_and(|(word, _)| word.ends_with(char::is_alphanumeric));
        let Some(inner) = self.unfenced().get(self.name.end..).filter(|after| after.starts_with('(')) else {
            return is_subscript;
        };
        // A fence that shows code has more than the call in it, and so has a line with a list of calls.
        let is_used = self.is_fenced && before.contains([' ', '=', '(']);
        if is_used || before.contains(['\n', '\\']) || before.rfind('[').is_some_and(|at| at > 0) {
            return true;
        }
        let Some(after) = closed(inner).and_then(|end| inner.get(end..)) else { return false };
        let is_literal = inner.contains(['"', '\'']);
        unpaired(self.text).is_none() && (after.contains(char::is_alphanumeric) || !is_literal)
    }

    /// Returns `true` if the segment is a paragraph of its own in a message without calls, or the rest of the message.
    fn is_apart(&self) -> bool {
        self.is_paragraph && !self.has_calls || self.ends_message()
    }

    /// Returns `true` if the segment is all that is left of a message without calls, and no sentence or quotation.
    fn ends_message(&self) -> bool {
        let text = self.unfenced();
        let ends = ['.', ',', '!', '?', '。', '！', '？', '”', '’', '»', '」', '』', '“'];
        // A mark that closes after the name was opened before it.
        let from = self.before().trim_end_matches(['"', '\'', '`']).len();
        let closes = |mark: char| {
            let count = text.get(from..).map_or(0, |after| after.matches(mark).count());
            // An odd mark closes what was opened before the name; a pair around all of the text quotes all of
            // it.
            text.ends_with(mark) && (count % 2 == 1 || (count == 2 && text.starts_with(mark)))
        };
        // Beside calls an object or code is an example.
        self.is_last && !self.has_calls && !text.ends_with(ends) && !['"', '\'', '`'].into_iter().any(closes)
    }

    /// Returns the segment's text without the code fence that closes it at its end.
    fn unfenced(&self) -> &str {
        let text = self.text.trim_end();
        FENCES.iter().find_map(|run| text.strip_suffix(run)).unwrap_or(text).trim_end()
    }
}

/// Counts the words of prose in a text: those made of letters alone, outside strings. Text without spaces between
/// words, such as Chinese, counts by its length.
fn count_words(text: &str) -> usize {
    let tokens = text.split('"').step_by(2).flat_map(str::split_whitespace);
    tokens.filter(|token| is_plain(token)).map(|word| 1 + word.chars().filter(|c| *c >= '\u{2e80}').count() / 3).sum()
}

fn is_plain(token: &str) -> bool {
    let word = token.trim_end_matches([',', ';', '.']);
    word.starts_with(char::is_alphabetic) && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’'))
}

/// Returns `true` if `text`, after a parameter's name, describes the parameter, or continues in words after a value.
fn describes(text: &str) -> bool {
    const TYPES: [&str; 9] = ["string", "str", "text", "integer", "int", "number", "boolean", "array", "object"];
    let line = text.lines().next().unwrap_or_default().trim_start_matches(is_around);
    let value = line.strip_prefix(is_sign).unwrap_or(line);
    let first = value.trim_start().split([' ', ',', '?', ']']).next().unwrap_or_default();
    // `city=CITY` stands for a value; after a colon a value may well be in capitals.
    let is_placeholder = !line.starts_with([':', '：']) && first.len() > 1;
    // After `key=value` the sentence may go on.
    let is_word = |token: &str| is_plain(token) && token.starts_with(char::is_lowercase);
    let words =
        value.split_whitespace().skip(usize::from(!value.starts_with(' '))).take(2).filter(|token| is_word(token));
    // A type, a placeholder, or the words of a description.
    TYPES.contains(&first) || is_placeholder && first.chars().all(|c| c.is_ascii_uppercase()) || words.count() == 2
}

/// Returns `true` for quotation marks, `*` and white space, which may be around a name.
fn is_around(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*')
}

fn is_sign(c: char) -> bool {
    matches!(c, ':' | '：' | '=')
}

/// Returns the end of a text around a name, as a message shows it; `None` if that is empty, or has a backtick or a line
/// break, which would end the quotation.
fn shown_around(text: &str) -> Option<&str> {
    let text = &text[text.rfind('<').unwrap_or(0)..];
    let shown = &text[text.ceil_char_boundary(text.len().saturating_sub(SHOWN_AROUND))..];
    Some(shown).filter(|shown| !shown.is_empty() && !shown.contains(['`', '\n']))
}

/// Returns the first characters at which the JSON in `text` is invalid. `None` if it is valid or only ends too early,
/// or if it begins before the tool's name, at offset `name`, and not as an object.
fn damaged_from(text: &str, name: usize) -> Option<&str> {
    let at = text.find('{')?;
    let json = Some(&text[at..]).filter(|json| at > name || json[1..].trim_start().starts_with(['"', '\'']))?;
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Value>();
    // Where JSON only ends too early, the bracket that is missing says more (`unpaired`).
    let error = values.next()?.err().filter(|error| !error.is_eof())?;
    let line: usize = json.split_inclusive('\n').take(error.line().checked_sub(1)?).map(str::len).sum();
    // A column counts bytes, up to the one that is wrong.
    let at = json.floor_char_boundary(line + error.column().saturating_sub(1));
    let rest = json[at..].lines().next()?;
    Some(&rest[..rest.floor_char_boundary(SHOWN)]).filter(|rest| !rest.is_empty())
}

/// Returns the first bracket outside strings that is missing or surplus; `None` if all are paired.
fn unpaired(text: &str) -> Option<char> {
    pair_brackets(text, |_| false).err().flatten()
}

/// Returns the offset after the bracket that closes the first one in `text`; `None` if it is not closed.
fn closed(text: &str) -> Option<usize> {
    pair_brackets(text, |open| open == 0).ok()
}

/// Pairs the brackets outside strings, up to a closing one after which `ends` accepts the number of open brackets.
/// Returns the offset after that bracket, or else the first bracket that is missing or surplus, if there is one.
fn pair_brackets(text: &str, ends: impl Fn(usize) -> bool) -> Result<usize, Option<char>> {
    let (mut open, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    for (at, c) in text.char_indices() {
        let after_backslash = is_escaped;
        is_escaped = c == '\\' && !after_backslash;
        match c {
            '"' if !after_backslash => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '(' => open.push(')'),
            '}' | ']' | ')' if open.last() == Some(&c) => {
                open.pop();
                if ends(open.len()) {
                    return Ok(at + 1);
                }
            }
            '}' | ']' | ')' => return Err(Some(open.pop().unwrap_or(c))),
            _ => {}
        }
    }
    Err(open.pop().filter(|_| !in_string))
}

/// Returns `true` if `key` is one under which a call object names its tool, with at most one slip.
pub(super) fn names_tool(key: &str) -> bool {
    let known = object_keys().flat_map(|keys| &keys.tool).map(String::as_str);
    key == ACTION || known.chain([FUNCTION[0]]).any(|known| alike(key, known))
}

/// Returns `true` if `key` is one under which a call object has its arguments, with at most one slip.
pub(super) fn holds_arguments(key: &str) -> bool {
    object_keys().flat_map(|keys| &keys.arguments).any(|known| alike(key, known))
}

/// Returns the keys of JSON objects that are calls without a marker.
fn object_keys() -> impl Iterator<Item = &'static CallKeys> {
    let keys = match &Dialect::Json.spec().shape {
        Shape::Json(keys) => Some(keys),
        _ => None,
    };
    keys.into_iter()
}

/// Returns the label of a call with which `text` begins; `None` without one.
pub(super) fn label(text: &str) -> Option<&'static str> {
    LABELS.iter().copied().find(|label| text.starts_with(label))
}
