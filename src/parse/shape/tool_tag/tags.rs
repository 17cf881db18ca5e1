//! The syntax of a call's tags.

use std::borrow::Cow;

use quick_xml::escape::unescape;

use crate::dialect::{HeaderPiece, NamedArguments, NamedCall};
use crate::json::window::{Match, No, begins, begins_tag, first_of};
use crate::parse::marks::head::{Head, begins_token, ends, head};
use crate::parse::tables::{Tables, TagTool};

/// The form of a call's tags.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Tags {
    /// A tag is the name of the tool or of the parameter, and is closed by it.
    #[default]
    Names,
    /// A tag holds the name, and all tags of a kind are closed alike.
    Heads(&'static NamedCall),
}

impl Tags {
    /// Returns the delimiters of values where all are closed alike, and whether these are directly beside the values.
    pub(super) fn of_values(self) -> Option<(&'static [HeaderPiece], &'static str, bool)> {
        match self {
            Tags::Heads(NamedCall { arguments: NamedArguments::Tags { open, close, glued }, .. }) => {
                Some((open, close, *glued))
            }
            _ => None,
        }
    }

    /// Checks whether `text` begins with the opening tag of a call of this tool, or,
    /// where all are closed alike, of any; yields its length.
    pub(crate) fn opens_call(self, tool: &TagTool, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, &tool.tag, false, more),
            Tags::Heads(call) => head(&call.head, text, more).map(|head| head.length),
        }
    }

    /// The same of the closing tag.
    pub(crate) fn closes_call(self, tool: &TagTool, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, &tool.tag, true, more),
            Tags::Heads(call) => ends(&call.close, text, more),
        }
    }

    /// The closing tag of a call of this tool.
    pub(crate) fn call_closer(self, tool: &TagTool) -> Cow<'static, str> {
        match self {
            Tags::Names => format!("</{}>", tool.tag).into(),
            Tags::Heads(call) => Cow::Borrowed(&call.close),
        }
    }

    /// The closing tag of a value of this parameter.
    pub(crate) fn value_closer(self, parameter: &str) -> String {
        self.of_values().map_or_else(|| format!("</{parameter}>"), |(_, close, _)| close.to_owned())
    }

    /// Checks whether `text` begins with the opening tag of this parameter, or, where
    /// all are closed alike, of any; yields its length.
    pub(crate) fn opens_value(self, parameter: &str, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, parameter, false, more),
            Tags::Heads(_) => self.parameter(text, more).map(|head| head.length),
        }
    }

    /// The same of the closing tag.
    pub(crate) fn closes_value(self, parameter: &str, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, parameter, true, more),
            Tags::Heads(_) => begins_token(text, self.of_values().ok_or(No)?.1, more),
        }
    }

    /// Returns `true` if the bytes after the `<` that `text` begins with tell that no tag counts there, of
    /// those that matter in a value.
    pub(crate) fn passes(self, parameter: &str, tool: &TagTool, text: &str) -> bool {
        let (closes, first) = match *text.as_bytes() {
            [_, b'/', first, ..] => (true, first),
            [_, first, ..] if first != b'/' => (false, first),
            _ => return false,
        };
        // A name may begin with a `/`, too, or be empty.
        let may_be = |name: &str| name.bytes().next().is_none_or(|known| known == first || known == b'/');
        match self {
            // `</think>` counts in any case.
            Tags::Names => !(may_be(parameter) || may_be(&tool.tag) || closes && matches!(first, b't' | b'T')),
            // No tag goes on so; code and prose do: `a < b`, `<<`, `<=`.
            Tags::Heads(_) => matches!(first, b'<' | b' ' | b'\n' | b'='),
        }
    }

    /// Checks whether `text`, after a closing tag that did not end the value, begins with what may be
    /// left of a parameter's opening tag: another tag, or the word without its `<`. Only where all
    /// are closed alike.
    pub(crate) fn may_be_broken(self, text: &str, more: bool) -> Match<()> {
        let Some(element) = self.element() else { return Err(No) };
        if text.starts_with('<') && !text.starts_with("</") { Ok(()) } else { begins(text, element, more) }
    }

    /// Returns `true` if `text` begins with a tag like a parameter's that is none of the dialect's.
    pub(crate) fn opens_element(self, text: &str) -> bool {
        self.element().is_some_and(|element| text[1..].starts_with(element))
    }

    /// Checks whether `text` begins with the last tag of an opener of several, such as `<arg_value>`:
    /// inside a value the tags before it are broken.
    pub(crate) fn ends_opener(self, text: &str, more: bool) -> Match<()> {
        match self.of_values() {
            Some(([_, .., HeaderPiece::Text(tag)], ..)) if tag.starts_with('<') => {
                begins_token(text, tag, more).map(|_| ())
            }
            _ => Err(No),
        }
    }

    /// Returns the name in the closing tag of a value, if all values have the same one.
    pub(super) fn element(self) -> Option<&'static str> {
        self.of_values().map(|(_, close, _)| close.trim_start_matches("</").trim_end_matches('>'))
    }

    /// A parameter's name as it is meant: in an attribute, entities are decoded (`kimi_k3/entities`).
    pub(crate) fn parameter_name(self, name: &str) -> Cow<'_, str> {
        let quoted = self.of_values().is_some_and(|(open, ..)| open.contains(&HeaderPiece::Quote));
        let decoded = if quoted { unescape(name).ok() } else { None };
        decoded.unwrap_or(Cow::Borrowed(name))
    }

    /// Checks whether `text` begins with an opening tag that holds a parameter's name.
    pub(crate) fn parameter(self, text: &str, more: bool) -> Match<Head<'_>> {
        head(self.of_values().ok_or(No)?.0, text, more)
    }

    /// The opening tag of a parameter of such a name that `text` begins with. A tag that holds a
    /// name may hold one that the tool does not have.
    pub(crate) fn parameter_that<'t>(
        self,
        is: impl Fn(&str) -> bool,
        tool: &'t TagTool,
        text: &'t str,
        more: bool,
    ) -> Match<Head<'t>> {
        let Tags::Names = self else {
            return self.parameter(text, more).and_then(|head| if is(head.name) { Ok(head) } else { Err(No) });
        };
        first_of(tool.parameters.iter().filter(|known| is(&known.name)).map(|known| {
            let name = known.name.as_str();
            begins_tag(text, name, false, more).map(|length| Head { name, length, is_json: false })
        }))
    }
}

/// The tool that a call is of: its index into [`Tables::tools`]. Of one that is not known the parameters are those that
/// the call has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Callee(pub(crate) Option<usize>);

/// Nothing is known of it, and its call says its name.
static UNKNOWN: TagTool = TagTool { tag: String::new(), server: None, tool: String::new(), parameters: Vec::new() };

impl Callee {
    /// The tool of this name.
    pub(crate) fn named(tables: &Tables, server: Option<&str>, name: &str) -> Self {
        let known = tables.tool(server, name).and_then(|tool| {
            tables.tools.iter().position(|known| known.tool == tool.name && known.server == tool.server)
        });
        Callee(known)
    }

    pub(crate) fn tool(self, tables: &Tables) -> &TagTool {
        self.0.map_or(&UNKNOWN, |i| &tables.tools[i])
    }
}
