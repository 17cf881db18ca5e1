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
    /// A tag has the name of the tool or of the parameter, and is closed by a tag of that name.
    #[default]
    Names,
    /// A tag contains the name of the tool or of the parameter beside its own, and all tags of a kind are closed alike.
    Heads(&'static NamedCall),
}

impl Tags {
    /// Returns the opener and the closer of values, and `true` if they are directly beside the value; `None` if values
    /// do not have the same closer.
    pub(super) fn of_values(self) -> Option<(&'static [HeaderPiece], &'static str, bool)> {
        match self {
            Tags::Heads(NamedCall { arguments: NamedArguments::Tags { open, close, glued }, .. }) => {
                Some((open, close, *glued))
            }
            _ => None,
        }
    }

    /// Matches the opening tag of a call of this tool at the start of `text`, or of any tool's call if all are closed
    /// alike; returns its length.
    pub(crate) fn opens_call(self, tool: &TagTool, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, &tool.tag, false, more),
            Tags::Heads(call) => head(&call.head, text, more).map(|head| head.length),
        }
    }

    /// Matches the closing tag of a call of this tool at the start of `text`; returns its length.
    pub(crate) fn closes_call(self, tool: &TagTool, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, &tool.tag, true, more),
            Tags::Heads(call) => ends(&call.close, text, more),
        }
    }

    /// Returns the closing tag of a call of this tool.
    pub(crate) fn call_closer(self, tool: &TagTool) -> Cow<'static, str> {
        match self {
            Tags::Names => format!("</{}>", tool.tag).into(),
            Tags::Heads(call) => Cow::Borrowed(&call.close),
        }
    }

    /// Returns the closing tag of a value of this parameter.
    pub(crate) fn value_closer(self, parameter: &str) -> String {
        self.of_values().map_or_else(|| format!("</{parameter}>"), |(_, close, _)| close.to_owned())
    }

    /// Matches the opening tag of this parameter at the start of `text`, or of any parameter if all are closed alike;
    /// returns its length.
    pub(crate) fn opens_value(self, parameter: &str, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, parameter, false, more),
            Tags::Heads(_) => self.parameter(text, more).map(|head| head.length),
        }
    }

    /// Matches the closing tag of a value of this parameter at the start of `text`; returns its length.
    pub(crate) fn closes_value(self, parameter: &str, text: &str, more: bool) -> Match<usize> {
        match self {
            Tags::Names => begins_tag(text, parameter, true, more),
            Tags::Heads(_) => begins_token(text, self.of_values().ok_or(No)?.1, more),
        }
    }

    /// Returns `true` if the bytes after the `<` at the start of `text` begin no tag that matters in a value.
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

    /// Checks whether `text`, after a closing tag that did not end the value, begins with what may be left of a
    /// parameter's opening tag: another tag, or the word without its `<`. `No` unless all values are closed alike.
    pub(crate) fn may_be_broken(self, text: &str, more: bool) -> Match<()> {
        let Some(element) = self.element() else { return Err(No) };
        if text.starts_with('<') && !text.starts_with("</") { Ok(()) } else { begins(text, element, more) }
    }

    /// Returns `true` if `text`, at a `<`, begins with a tag that looks like a parameter's and is not of the dialect.
    pub(crate) fn opens_element(self, text: &str) -> bool {
        self.element().is_some_and(|element| text[1..].starts_with(element))
    }

    /// Matches the last tag of an opener that consists of several, such as `<arg_value>`, at the start of `text`:
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

    /// Returns a parameter's name with its entities decoded if it is in a quoted attribute (`kimi_k3/entities`), else
    /// unchanged.
    pub(crate) fn parameter_name(self, name: &str) -> Cow<'_, str> {
        let quoted = self.of_values().is_some_and(|(open, ..)| open.contains(&HeaderPiece::Quote));
        let decoded = if quoted { unescape(name).ok() } else { None };
        decoded.unwrap_or(Cow::Borrowed(name))
    }

    /// Matches an opening tag that contains a parameter's name at the start of `text`.
    pub(crate) fn parameter(self, text: &str, more: bool) -> Match<Head<'_>> {
        head(self.of_values().ok_or(No)?.0, text, more)
    }

    /// Matches the opening tag of a parameter whose name `is` accepts at the start of `text`. If the tag only contains
    /// the name, it may be one that the tool does not have.
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

/// Index of the called tool in [`Tables::tools`]; `None` for an unknown one, whose parameters are those in the call.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Callee(pub(crate) Option<usize>);

/// Stand-in for an unknown tool, whose name is in the call.
static UNKNOWN: TagTool = TagTool { tag: String::new(), server: None, tool: String::new(), parameters: Vec::new() };

impl Callee {
    /// Returns the callee with this server and name.
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
