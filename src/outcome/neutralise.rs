//! Escapes untrusted text, so that no dialect finds a call in it.

use std::borrow::Cow;

use memchr::memchr2_iter;

use super::tokens::{BREAK, rebreak_tokens};
use crate::parse::{KnownMarks, KnownNames, OpenerKind, without_marks};
use crate::tools::Catalog;

/// Escapes call delimiters in untrusted text, for one catalog.
///
/// It inserts an invisible [`BREAK`] after the first character of a delimiter (`<think>`, `[TOOL_REQUEST]`), of a
/// control token of a chat template, of a line such as `TYPE: MCP`, of a known tool's `name(` at the start of a line or
/// in a list, and of the key before a known tool's name in a JSON call. All other text stays as it is, and escaping
/// twice changes nothing more.
///
/// This is for descriptions of tools. In results, files and texts of clients only the control tokens are escaped
/// ([`break_tokens`](super::break_tokens)).
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
    marks: KnownMarks,
    names: KnownNames,
}

impl Neutraliser {
    /// Creates a neutraliser for texts of these servers. It knows the tools' names, which are tags in `tool_tag`.
    pub fn new(catalog: &Catalog) -> Self {
        Neutraliser { marks: KnownMarks::new(catalog), names: KnownNames::new(catalog) }
    }

    /// Returns the text with all call delimiters and control tokens escaped.
    pub fn neutralise<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match rebreak_tokens(text) {
            Cow::Borrowed(text) => self.without_markers(text),
            Cow::Owned(broken) => Cow::Owned(self.without_markers(&broken).into_owned()),
        }
    }

    fn without_markers<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut places: Vec<usize> = memchr2_iter(b'<', b'[', text.as_bytes())
            .filter(|at| self.marks.begins(&text[*at..]))
            .chain(without_marks(text, Some(&self.names)).into_iter().flat_map(|opener| {
                // Each of ReAct's lines is escaped, since a text may show it beside lines of another text.
                let line = text[opener.at..opener.span.end].rfind('\n').filter(|_| opener.kind == OpenerKind::React);
                let line = line.and_then(|line| first_letter(text, opener.at + line));
                opener.begins.then_some(opener.at).into_iter().chain(line)
            }))
            .collect();
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

    /// Returns a server's text on one line for the prompt: control and invisible characters are removed, white space is
    /// joined to single spaces, the text is cut to `limit` characters (with an ellipsis), and delimiters are escaped.
    pub fn describe(&self, text: &str, limit: usize) -> String {
        let joined = strip_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
        self.neutralise(&shortened(joined, limit)).into_owned()
    }

    /// Returns a server's text as [`describe`](Neutraliser::describe) does, but in its lines, which are trimmed; empty
    /// lines are left out.
    pub fn describe_lines(&self, text: &str, limit: usize) -> Vec<String> {
        let stripped = strip_invisible(text);
        let lines: Vec<_> = stripped.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let short = shortened(lines.join("\n"), limit);
        self.neutralise(&short).lines().map(str::to_owned).collect()
    }
}

/// Returns the offset of the first letter at or after an offset.
fn first_letter(text: &str, from: usize) -> Option<usize> {
    text[from..].find(char::is_alphabetic).map(|at| from + at)
}

/// Returns the text cut to `limit` characters, with an ellipsis if it was longer.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
        text.push('…');
    }
    text
}

/// Returns the text without control characters (line breaks and tabs stay) and without invisible characters:
/// zero-width, direction marks, variation selectors, soft hyphens, and the tags block, which can hide whole sentences.
pub(crate) fn strip_invisible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) { Cow::Owned(text.replace(is_invisible, "")) } else { Cow::Borrowed(text) }
}

/// Returns `true` if a character is invisible and may hide something: a control character other than line break and
/// tab, a formatting or a filling character.
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
    fn every_marker_is_broken_after_its_first_character() {
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
            // A list in quotes is text, and is escaped all the same: the model may copy it without the quotes.
            "[ 'g~et_weather(city=1)']",
            "```py g~et_weather()```",
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
