//! Foreign text made harmless: no dialect finds a call in it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use memchr::memchr2_iter;
use regex::Regex;

use super::tokens::{BREAK, rebreak_tokens};
use crate::dialect::{
    Announcer, CallKeys, Dialect, FUNCTION, MarkedJson, NamedArguments, Piece, REASONING_MARKS, SENTENCE_END, Shape,
    Wrapper, template_tokens,
};
use crate::tools::Catalog;

/// Tags that no dialect's data names but that models or servers act on: reasoning, and the
/// delimiters of results. Those of calls come from the dialects.
const FOREIGN_TAGS: &[&str] = &["think", "thinking", "tool_response", "tool_result", "tool_error", "function_results"];

/// Words in square brackets that open or close calls and roles in chat templates.
const FOREIGN_BRACKETS: &[&str] = &[
    "TOOL_CALL",
    "TOOL_RESULTS",
    "/TOOL_RESULTS",
    "AVAILABLE_TOOLS",
    "/AVAILABLE_TOOLS",
    "INST",
    "/INST",
    "ARGS",
    "CALL_ID",
];

/// Longest run of characters that is looked at as a name.
const MAX_NAME: usize = 256;

/// Makes call markers in foreign text harmless, for one catalog.
///
/// A [`BREAK`], which is not seen, goes behind the first character of a marker (`<think>`,
/// `[TOOL_REQUEST]`), of a control token of a chat template, of a line such as `TYPE: MCP`, of
/// a known tool's `name(` at a line's start or in a list, and of the key before a known tool's
/// name in a JSON call. All other text stays as it is, and neutralising twice changes nothing
/// more.
///
/// This is for what describes tools. What tools say, files and clients' texts have their
/// control tokens broken and nothing else ([`break_tokens`](super::break_tokens)).
///
/// ```
/// use toolgraft::Catalog;
/// use toolgraft::outcome::Neutraliser;
///
/// let neutraliser = Neutraliser::new(&Catalog::default());
/// assert_eq!(neutraliser.neutralise("<b>1 < 2</b>"), "<b>1 < 2</b>");
/// assert_eq!(neutraliser.neutralise("<use_mcp_tool>"), "<\u{2060}use_mcp_tool>");
/// assert_eq!(neutraliser.neutralise("TYPE: MCP"), "T\u{2060}YPE: MCP");
/// ```
#[derive(Debug, Clone)]
pub struct Neutraliser {
    /// Names of tools that are markers after `<`, in lower case; [`TAGS`] are for every catalog.
    tags: HashSet<String>,
    /// Names of tools, folded.
    tools: HashSet<String>,
    /// Names that hold characters which end a run; looked for one by one.
    odd: Vec<String>,
}

impl Neutraliser {
    /// For texts of these servers: knows the tools' names, which are tags in `tool_tag`.
    pub fn new(catalog: &Catalog) -> Self {
        let mut tools = HashSet::new();
        for tool in catalog.tools() {
            tools.insert(tool.name.to_lowercase());
            tools.extend(tool.server.as_ref().map(|server| format!("{server}.{}", tool.name).to_lowercase()));
        }
        let odd = odd(&tools);
        let tags = tools.clone();
        // As a call in Python's syntax may have it, too.
        let methods = tools.iter().map(|name| format!("{name}.call"));
        let tools = tools.iter().cloned().chain(methods).map(|name| folded(&name)).collect();
        Neutraliser { tags, tools, odd }
    }

    /// The text with no marker in it.
    pub fn neutralise<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match rebreak_tokens(text) {
            Cow::Borrowed(text) => self.without_markers(text),
            Cow::Owned(broken) => Cow::Owned(self.without_markers(&broken).into_owned()),
        }
    }

    fn without_markers<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut places: Vec<usize> = memchr2_iter(b'<', b'[', text.as_bytes())
            .filter_map(|at| match self.opens(&text[at..]) {
                true => Some(at),
                false => self.listed(&text[at..]).map(|name| at + name),
            })
            .collect();
        let has_input = ACTION_INPUT.is_match(text);
        places.extend(LINES.captures_iter(text).filter_map(|found| match found.name("name") {
            Some(name) => self.tools.contains(&folded(name.as_str())).then_some(name.start()),
            None => {
                let marker = found.name("marker").filter(|_| has_input || found.name("action").is_none())?;
                first_letter(text, marker.start())
            }
        }));
        places.extend(WORDS.find_iter(text).filter_map(|word| first_letter(text, word.start())));
        places.extend(self.json_calls(text));
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        places.sort_unstable();
        places.dedup();
        let mut safe = String::with_capacity(text.len() + BREAK.len_utf8() * places.len());
        let mut from = 0;
        for at in places {
            let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
            safe.push_str(&text[from..end]);
            if !text[end..].starts_with(BREAK) {
                safe.push(BREAK);
            }
            from = end;
        }
        safe.push_str(&text[from..]);
        Cow::Owned(safe)
    }

    /// Server text for the prompt on one line: control and invisible characters
    /// stripped, white space joined to single spaces, at most `limit` characters
    /// (an ellipsis marks the cut), markers neutralised.
    pub fn describe(&self, text: &str, limit: usize) -> String {
        let joined = strip_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
        self.neutralise(&shortened(joined, limit)).into_owned()
    }

    /// As [`describe`](Neutraliser::describe), but the text's lines stay, without
    /// empty ones; each is cut off at its ends only.
    pub fn describe_lines(&self, text: &str, limit: usize) -> Vec<String> {
        let stripped = strip_invisible(text);
        let lines: Vec<_> = stripped.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let short = shortened(lines.join("\n"), limit);
        self.neutralise(&short).lines().map(str::to_owned).collect()
    }

    /// The keys of JSON objects that name a known tool, and those that are its name; names on
    /// a line of their own before an object.
    fn json_calls(&self, text: &str) -> Vec<usize> {
        let known = |found: &regex::Captures<'_>| self.tools.contains(&folded(&found["name"]));
        let start = |regex: &'static LazyLock<Regex>, group: &'static str| {
            let found = regex.captures_iter(text).filter(known);
            found.filter_map(move |found| found.name(group)).map(|found| found.start())
        };
        let objects = start(&NAME_AS_KEY, "key").chain(start(&JSON_NAME, "key"));
        objects.chain(start(&NAME_LINE, "name")).collect()
    }

    /// Where the name stands in `text` that a list of calls begins with, if `text` is one.
    /// A backslash at its bracket would not do: it may be Markdown's.
    fn listed(&self, text: &str) -> Option<usize> {
        let list = text.strip_prefix('[')?.trim_start();
        let list = list.strip_prefix(['"', '\'']).unwrap_or(list);
        let name = name_at(list).strip_suffix('(')?;
        self.tools.contains(&folded(name)).then_some(text.len() - list.len())
    }

    /// Whether `text`, which begins with `<` or `[`, begins with a marker.
    fn opens(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix('<') else {
            let rest = text[1..].trim_start();
            let word = rest.split_once(']').map_or("", |(word, _)| word.trim_end());
            let marks = REASONING_MARKS.iter().flat_map(|mark| [mark.open, mark.close]);
            let tokens = template_tokens().map(|token| token.text).chain(marks);
            let tokens = tokens.filter_map(|token| token.strip_prefix('[')?.strip_suffix(']'));
            let mut brackets = FOREIGN_BRACKETS.iter().copied().chain(wrapper_words('[')).chain(tokens);
            return brackets.any(|bracket| bracket.eq_ignore_ascii_case(word));
        };
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '!');
        // Special tokens: ChatML's, and DeepSeek's with a full-width bar.
        if rest.starts_with(['|', '｜']) {
            return true;
        }
        let name = name_at(rest).to_lowercase();
        let name = name.trim_end_matches('/');
        let (name, (known, odd)) = (name.trim_end_matches('('), &*TAGS);
        self.tags.contains(name)
            || known.contains(name)
            || odd.iter().chain(&self.odd).any(|odd| rest.get(..odd.len()).is_some_and(|r| r.to_lowercase() == *odd))
    }
}

/// Names of tags that are markers whatever the tools are, in lower case, and those of them that hold
/// characters which end a run.
static TAGS: LazyLock<(HashSet<String>, Vec<String>)> = LazyLock::new(|| {
    let mut tags: HashSet<String> = FOREIGN_TAGS.iter().map(|tag| (*tag).to_owned()).collect();
    tags.extend(block_tags().chain(named_tags()).map(str::to_lowercase));
    tags.extend(wrapper_words('<').map(str::to_lowercase));
    let marks = REASONING_MARKS.iter().flat_map(|mark| [mark.open.trim(), mark.close]);
    let tokens = template_tokens().map(|token| token.text).chain([SENTENCE_END]).chain(marks);
    let tokens = tokens.filter(|token| token.starts_with('<'));
    tags.extend(tokens.map(|token| token.trim_matches(['<', '/', '>']).to_lowercase()));
    let odd = odd(&tags);
    (tags, odd)
});

/// The names that hold characters which end a run.
fn odd(names: &HashSet<String>) -> Vec<String> {
    names.iter().filter(|name| name.contains(ends_name)).cloned().collect()
}

/// Where the first letter at or behind a place stands.
fn first_letter(text: &str, from: usize) -> Option<usize> {
    text[from..].find(char::is_alphabetic).map(|at| from + at)
}

/// A name as it compares: in lower case, its words joined by `_`, also where Markdown wants a
/// backslash before that; but none in front of the name.
fn folded(name: &str) -> String {
    let name = name.to_lowercase();
    let second = name.chars().next().map_or(0, char::len_utf8);
    let words = name[second..].replace("\\_", "_");
    format!("{}{words}", &name[..second]).replace(['.', '-'], "_")
}

/// At most so many characters of the text, with an ellipsis where more is left out.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
        text.push('…');
    }
    text
}

/// Characters that end a name in a tag or before its arguments.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>' | '=' | '"' | '\'' | '(' | '[' | ']' | ',' | '{')
}

/// The name that `text` begins with; a `(` right after it is included.
fn name_at(text: &str) -> &str {
    let end = text.find(ends_name).unwrap_or(text.len());
    let end = end + usize::from(text[end..].starts_with('('));
    if end > MAX_NAME { "" } else { &text[..end] }
}

fn block_tags() -> impl Iterator<Item = &'static str> {
    Dialect::ALL
        .iter()
        .filter_map(|dialect| match dialect.spec().shape {
            Shape::Element(blocks) => Some(blocks),
            _ => None,
        })
        .flatten()
        .flat_map(|block| block.children.iter().map(|child| child.tag).chain([block.tag]))
}

/// Names of the tags that hold a tool's or a parameter's name, and of those around them.
fn named_tags() -> impl Iterator<Item = &'static str> {
    let named = Dialect::ALL.iter().filter_map(|dialect| match dialect.spec().shape {
        Shape::Named(named) => Some(named),
        _ => None,
    });
    named
        .flat_map(|named| {
            let openers = named.calls.iter().filter_map(|call| match call.head.first() {
                Some(Piece::Text(opener)) => Some(*opener),
                _ => None,
            });
            let closers = named.calls.iter().flat_map(|call| match call.arguments {
                NamedArguments::Tags { close, .. } => [call.close, close],
                NamedArguments::Json { .. } | NamedArguments::Arrows | NamedArguments::None => [call.close; 2],
                NamedArguments::Delimited { text } => [call.close, text],
            });
            openers.chain(closers).chain(named.groups.iter().map(|group| group.open))
        })
        .filter_map(|marker| marker.strip_prefix('<')?.trim_start_matches('/').split([' ', '=', '>']).next())
}

/// What stands between the brackets of the literal markers that begin with `bracket`.
fn wrapper_words(bracket: char) -> impl Iterator<Item = &'static str> {
    let wrappers = Dialect::ALL.iter().flat_map(|dialect| match &dialect.spec().shape {
        Shape::MarkedJson(MarkedJson { announcer: Announcer::Marker(wrappers), .. }) => *wrappers,
        _ => &[],
    });
    let markers = wrappers.flat_map(|Wrapper { open, close, .. }| [Some(*open), *close]).flatten();
    markers.filter_map(move |marker| marker.strip_prefix(bracket)?.strip_suffix(['>', ']']))
}

/// Keys of the JSON dialect without a marker, as a regular expression.
fn json_keys(of: impl Fn(&CallKeys) -> Vec<&'static str>) -> String {
    let keys = Dialect::ALL.iter().filter_map(|dialect| match dialect.spec().shape {
        Shape::Json(keys) => Some(of(keys)),
        _ => None,
    });
    keys.flatten().collect::<Vec<_>>().join("|")
}

/// An object's key for a tool's name, and the name. No escapes: with them it is no call.
static JSON_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let keys = json_keys(|keys| [keys.tool, &[FUNCTION]].concat());
    let pattern = format!(r#"(?P<key>["'])(?:{keys})["']\s*:\s*["'](?P<name>[^"'\\]{{1,256}})["']"#);
    Regex::new(&pattern).expect("the keys are words")
});

/// A name as an object's first key, with what may be arguments under it.
static NAME_AS_KEY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\{\s*(?P<key>["'](?P<name>[^"'\\]{1,256})["']\s*:\s*[{"'])"#;
    Regex::new(pattern).expect("it is written here")
});

/// A name on a line, with an object or a fence below it.
static NAME_LINE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?m)^[ \t]*(?P<name>[^\s<>{}\[\](),]{1,256})[ \t]*\r?\n\s*(?:\{|`{3}|~{3})";
    Regex::new(pattern).expect("it is written here")
});

/// Words that announce calls, with what leads to an object: a fence there may begin a call of
/// its own, which is looked for by itself.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let words = Dialect::ALL.iter().flat_map(|dialect| match &dialect.spec().shape {
        Shape::MarkedJson(MarkedJson { announcer: Announcer::Marker(wrappers), .. }) => *wrappers,
        _ => &[],
    });
    let words = words.filter(|wrapper| wrapper.is_word()).map(|word| regex::escape(word.open)).collect::<Vec<_>>();
    let pattern = format!(r"(?mi)^[ \t]*(?:{})\s*(?:[\[{{]|`{{3}}|~{{3}}|'{{3}})", words.join("|"));
    Regex::new(&pattern).expect("the words are taken literally")
});

/// The line of a ReAct call's arguments.
static ACTION_INPUT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?mi)^[ \t>*_`-]*Action[ \t]*Input[*_]*[ \t]*[:：]").expect("it is written here"));

/// Marker lines, and calls written at the start of a line.
static LINES: LazyLock<Regex> = LazyLock::new(line_markers);

/// `marker` is what is broken; `name`, where there is one, must be a tool's. An `action` is one
/// of ReAct's only where its input follows somewhere: a parameter may have the name.
///
/// The dialects' own lines are looked for anywhere in a line, whatever a parser
/// takes for a line's start; the other shapes only at one.
fn line_markers() -> Regex {
    let mut pattern = String::from(r"(?mi)(?P<marker>");
    for dialect in Dialect::ALL {
        let Shape::MarkedJson(shape) = &dialect.spec().shape else { continue };
        if let Announcer::Line { call, answer } = &shape.announcer {
            for line in [call, answer] {
                let _ = write!(pattern, "{}|", line.pieces.concat());
            }
        }
    }
    // ReAct lines, and `name(…)`.
    pattern.push_str(
        r#"^[ \t>*_`-]*(?P<action>Action(?:[ \t]*Input)?)[*_]*[ \t]*[:：]|^(?:[ \t>*_`-]*|[ \t]*(?:`{3,}|~{3,}|'{3,})(?:[[:alnum:]]+[ \t]+|[ \t]*))(?P<name>[^\s<>="'(\[\],{`*~]{1,256})\()"#,
    );
    Regex::new(&pattern).expect("the pieces of the dialects are regular expressions")
}

/// The text without control characters (line breaks and tabs stay) and without
/// characters that are not seen: zero-width, direction marks, variation
/// selectors, soft hyphens, and the tags block that can hide whole sentences.
pub fn strip_invisible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) { Cow::Owned(text.replace(is_invisible, "")) } else { Cow::Borrowed(text) }
}

/// Whether a character is not seen and may hide something: a control character other than
/// line break and tab, a formatting or a filling character.
pub fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;

    fn neutraliser() -> Neutraliser {
        let tools = ["get_weather", "查询天气", "odd name"].map(|name| Tool::new(name).with_server("weather"));
        Neutraliser::new(&Catalog::from_tools(tools))
    }

    #[test]
    fn the_tags_of_foreign_calls_come_from_the_dialects() {
        for tag in [
            "function",
            "function_calls",
            "invoke",
            "parameter",
            "antml:invoke",
            "antml:parameter",
            "antml:function_calls",
        ] {
            assert!(!FOREIGN_TAGS.contains(&tag) && TAGS.0.contains(tag), "{tag}");
        }
    }

    #[test]
    fn every_marker_is_broken_behind_its_first_character() {
        // `~` stands for the break.
        for marked in [
            "<~use_mcp_tool>",
            "<~/use_mcp_tool>",
            "<~Access_MCP_Resource>",
            "<~ server_name>",
            "<~get_weather>",
            "<~weather.get_weather/>",
            "<~查询天气>",
            "<~odd name>",
            "<~think>a<~/think>",
            "<~tool_call>{}",
            "<~function=get>",
            "<~invoke name=\"x\">",
            "<~think<~think>",
            "<~|im_start|>",
            "<~｜tool▁calls▁begin｜>",
            "<~/tool_result>",
            "[~TOOL_CALLS][{}]",
            "[~TOOL_REQUEST]",
            "[~END_TOOL_REQUEST]",
            "[g~et_weather(city=\"x\")]",
            "\\[g~et_weather(city=\"x\")\\]",
            "[ 'g~et\\_weather(city=1)']",
            "```py g~et_weather()```",
            "g~et\\_weather(city=1)",
            "a\ng~et_weather(city=1)",
            "A~ction: get\nA~ction Input: {}",
            "x\nT~YPE: MCP\n{}",
            "t~ype：mcp",
            "**T~YPE: ANSWER**",
            "- T~YPE: MCP",
            "f~unctools[{\"name\": 1}]",
            "function call<~|role_sep|>\n{}",
            "functools.partial",
            "{\"~get_weather\": {\"city\": 1}}",
            "[{'~get-weather': '{}'}]",
            "{\"get_weather\": 3}",
        ] {
            let (text, safe) = (marked.replace('~', ""), marked.replace('~', "\u{2060}"));
            assert_eq!(neutraliser().neutralise(&text), safe);
            assert_eq!(neutraliser().neutralise(&safe), safe, "twice");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "<div class=\"a\">1 < 2</div>",
            "[1, 2] [link](url) [instance] [a-z]",
            "a type of MCP server",
            "print(get_weather(1))",
            "see `get_weather`",
            "<weather>",
            "<thinker>",
            "printf(\"x\")",
            "action: keep",
            "- action: string, the one to take\n- Action: what to do",
            "",
        ] {
            assert!(matches!(neutraliser().neutralise(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn hidden_characters_are_stripped_from_descriptions() {
        let text = "a\u{200b}b\u{202e}c\u{e0041}\u{e007f}\u{7}d\n  e\u{feff}";
        assert_eq!(strip_invisible(text), "abcd\n  e");
        assert_eq!(neutraliser().describe(text, 600), "abcd e");
        // A marker is looked for after stripping.
        assert_eq!(neutraliser().describe("<use_\u{200b}mcp_tool>", 600), "<\u{2060}use_mcp_tool>");
    }

    #[test]
    fn long_descriptions_end_in_an_ellipsis() {
        assert_eq!(neutraliser().describe("天气 预报", 3), "天气…");
        assert_eq!(neutraliser().describe("abc", 3), "abc");
        assert_eq!(neutraliser().describe("abcd", 3), "abc…");
        assert_eq!(neutraliser().describe_lines(" a b\n\n  <think>\nc", 14), ["a b", "<\u{2060}think>", "c"]);
        assert_eq!(neutraliser().describe_lines("a\nbcd", 3), ["a", "b…"]);
    }
}
