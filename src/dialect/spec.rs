//! The data that describe a dialect.

use serde::Deserialize;

use super::header::{self, HeaderPiece};

/// The data of a dialect that its file contains.
#[derive(Debug)]
pub struct Spec {
    /// The dialect's name on the command line, in recordings and in the output of `extract`.
    pub name: String,
    /// The shape of the dialect's calls.
    pub shape: Shape,
    /// Stem of the template under `prompts/<lang>/` that teaches the dialect;
    /// `None` for one that is taught by an example alone (`shown`).
    pub template: Option<String>,
    /// A second syntax of the dialect's calls, which is read but never written: JSON objects after a marker.
    pub objects: Option<MarkedJson>,
}

impl Spec {
    /// Returns the literal delimiters and keywords of the dialect's calls, in order: those before, in and after a call.
    pub(crate) fn marks(&self) -> Vec<String> {
        let mut marks = Vec::new();
        match &self.shape {
            Shape::Element(blocks) => {
                let tags = blocks
                    .iter()
                    .flat_map(|block| [&block.tag].into_iter().chain(block.children.iter().map(|child| &child.tag)));
                marks.extend(tags.map(|tag| format!("<{tag}>")));
            }
            Shape::MarkedJson(marked) => marked.add_marks(&mut marks),
            Shape::Named(named) => named.add_marks(&mut marks),
            Shape::ToolTag | Shape::Python | Shape::Json(_) | Shape::React(_) => {}
        }
        if let Some(objects) = &self.objects {
            objects.add_marks(&mut marks);
        }
        marks
    }
}

impl MarkedJson {
    fn add_marks(&self, marks: &mut Vec<String>) {
        match &self.announcer {
            Announcer::Line { call, .. } => marks.push(call.text.clone()),
            Announcer::Marker(wrappers) => {
                let texts = wrappers.iter().filter(|w| !w.is_word()).flat_map(|w| [Some(&*w.open), w.close.as_deref()]);
                marks.extend(texts.flatten().map(str::to_owned));
            }
        }
        if let Some(named) = &self.named {
            named.add_marks(marks);
        }
    }
}

impl Named {
    fn add_marks(&self, marks: &mut Vec<String>) {
        let text = |piece: &HeaderPiece| match piece {
            HeaderPiece::Text(text) | HeaderPiece::Maybe(text) => Some(text.clone()),
            _ => None,
        };
        for call in &self.calls {
            marks.extend(call.head.iter().filter_map(text));
            marks.push(call.close.clone());
            if let NamedArguments::Tags { open, close, .. } = &call.arguments {
                marks.extend(open.iter().filter_map(text));
                marks.push(close.clone());
            }
        }
        marks.extend(self.groups.iter().flat_map(|group| [group.open.clone(), group.close.clone()]));
    }
}

/// The shape of a dialect's calls.
#[derive(Debug)]
pub enum Shape {
    /// An element with child elements.
    Element(Vec<Block>),
    /// The tool's name as a tag, with its parameters as tags inside.
    ToolTag,
    /// JSON objects, each with the tool's name and the arguments, after a marker.
    MarkedJson(MarkedJson),
    /// The tool's name before its arguments, outside them.
    Named(Named),
    /// Calls of known tools in Python's syntax.
    Python,
    /// JSON objects that are calls of known tools, without a marker.
    Json(CallKeys),
    /// A line with a known tool's name, then a line with its arguments.
    React(React),
}

/// An element that is a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Tag name of the element.
    pub tag: String,
    /// Tool that the element denotes; `None` if a child element contains the tool's name.
    #[serde(default)]
    pub tool: Option<String>,
    /// Child elements of the element, which may be in any order in the text.
    pub children: Vec<Child>,
    /// Closing tag of the element.
    #[serde(skip)]
    pub(crate) close: String,
    /// Closing tag of the child that contains all arguments.
    #[serde(skip)]
    pub(crate) arguments_close: String,
}

impl Block {
    /// Returns the tag name of the child that contains all arguments; empty if there is none.
    pub(crate) fn arguments_tag(&self) -> &str {
        self.children.iter().find(|child| child.role == ChildRole::Arguments).map_or("", |child| &child.tag)
    }
}

/// A child element of a [`Block`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Child {
    /// Tag name of the child element.
    pub tag: String,
    /// The meaning of the child element's text.
    pub role: ChildRole,
}

/// The meaning of a child element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildRole {
    /// The text is the server's name.
    Server,
    /// The text is the tool's name.
    Tool,
    /// The text is all arguments, in JSON.
    Arguments,
    /// The text is one argument, whose name is the tag name.
    Argument,
}

/// Keys of a nested object with name and arguments, OpenAI's key first; models also write the tool's name alone as the
/// value of one of them.
pub const FUNCTION: [&str; 5] = ["function", "function_call", "functionCall", "tool_call", "tool"];

/// Key for the tool's name that is also a parameter of many tools: it counts only if no other key names the tool.
pub const ACTION: &str = "action";

/// Keys of a call's object that are ignored: chat templates and APIs put them beside name and arguments; xLAM has
/// `thought` beside a list of calls, and CAMEL the server's number.
pub(crate) const IDLE: [&str; 7] = ["id", "type", "tool_call_id", "index", "call_id", "thought", "server_idx"];

/// The only key of an object that contains a list of calls.
pub(crate) const LIST: &str = "tool_calls";

/// Data of a dialect whose calls are JSON objects after a marker.
#[derive(Debug)]
pub struct MarkedJson {
    /// The line or the markers that announce the objects.
    pub announcer: Announcer,
    /// The keys of the objects.
    pub keys: CallKeys,
    /// The dialect's second syntax, in which the tool's name is before the JSON; `None` if it has none.
    pub named: Option<Box<Named>>,
}

/// Keys of a JSON object that is a call. After a marker any other key is ignored; without a marker an object with
/// another key is not a call.
#[derive(Debug)]
pub struct CallKeys {
    /// Keys for the tool's name, the dialect's own first.
    pub tool: Vec<String>,
    /// Keys for the arguments, the dialect's own first.
    pub arguments: Vec<String>,
    /// Keys for the server's name, the dialect's own first.
    pub server: Vec<String>,
}

impl CallKeys {
    /// Returns the keys for the tool's name, the arguments and the server, one of which a call's object begins with.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.tool, &self.arguments, &self.server].into_iter().flatten().map(String::as_str)
    }

    /// Returns every key that the object of a call may have.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names().chain(IDLE).chain(FUNCTION).chain([ACTION, LIST])
    }
}

/// The line or the markers that announce JSON objects as calls.
#[derive(Debug)]
pub enum Announcer {
    /// A line of its own, such as `TYPE: MCP`.
    Line {
        /// The line that announces calls.
        call: LineMarker,
        /// The line that announces the answer; it is removed from the answer's text.
        answer: LineMarker,
    },
    /// One of several markers, which may be anywhere in the text; the dialect's own is first.
    Marker(Vec<Wrapper>),
}

/// The literal texts before and after the JSON objects of calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    /// The text before the objects; begins with `<` or `[`, or is a word, which counts only at a line's start.
    pub open: String,
    /// The text after the objects, if any; begins with `<` or `[`.
    #[serde(default)]
    pub close: Option<String>,
    /// `true` if a missing `close` is noted as a repair.
    #[serde(default = "yes")]
    pub must_close: bool,
    /// The model or program that writes these texts, and where that is documented.
    #[serde(default)]
    pub source: String,
}

impl Wrapper {
    /// Returns `true` if the opening text is a word, which counts only at a line's start.
    pub fn is_word(&self) -> bool {
        !is_mark(&self.open)
    }
}

/// Data of the shapes in which the tool's name is before its arguments.
#[derive(Debug)]
pub struct Named {
    /// The syntaxes of a call; the first that fits is used.
    pub calls: Vec<NamedCall>,
    /// Delimiters that may be around one call or several calls.
    pub groups: Vec<Group>,
    /// `true` if a call may also be its tool's name on a line and one JSON object after it, with nothing else in the
    /// message.
    pub name_line: bool,
    /// Words for a call's type that may be in place of the tool's name. They name a tool only if a tool has that name.
    pub types: Vec<String>,
}

/// The syntax of a call in which the tool's name is before its arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedCall {
    /// The header of the call, which is its text up to the arguments.
    #[serde(rename = "header", deserialize_with = "header::read")]
    pub head: Vec<HeaderPiece>,
    /// The syntax of the call's arguments.
    #[serde(rename = "args", default)]
    pub arguments: NamedArguments,
    /// The closing delimiter of the call; empty if the end of the arguments ends the call.
    #[serde(default)]
    pub close: String,
    /// The model or program that writes this syntax, and where that is documented.
    #[serde(default)]
    pub source: String,
}

impl NamedCall {
    /// Returns the delimiter that the header begins with; `None` for a word, which counts only at a line's start.
    pub fn opener(&self) -> Option<&str> {
        self.first().filter(|text| is_mark(text))
    }

    /// Returns the word that the header begins with; `None` if it begins with a delimiter.
    pub fn word(&self) -> Option<&str> {
        self.first().filter(|text| !is_mark(text))
    }

    fn first(&self) -> Option<&str> {
        if let Some(HeaderPiece::Text(text)) = self.head.first() { Some(text) } else { None }
    }
}

/// The syntax of the arguments of a [`NamedCall`].
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NamedArguments {
    /// The call has no arguments; its header is the whole call.
    None,
    /// One JSON value.
    #[default]
    Json,
    /// One JSON value in a code fence, where the fence is part of the syntax and not a fault.
    FencedJson,
    /// An object in braces of `key => value` or `--key value`; a brace that closes name and arguments follows.
    Arrows,
    /// One tag for each argument, all with the same closing tag.
    Tags {
        /// The opening tag of an argument, whose name is the parameter's.
        #[serde(deserialize_with = "header::read")]
        open: Vec<HeaderPiece>,
        /// The closing tag of an argument.
        close: String,
        /// `true` if the template writes no white space between tags and values, so that each byte belongs to the
        /// value; else one line break on either side is removed.
        #[serde(rename = "verbatim", default)]
        glued: bool,
    },
    /// XML elements with this token before each tag: elements inside an element are an object, `<item>` elements an
    /// array.
    Elements(String),
    /// An object in braces with bare keys, and with texts between two of these tokens, which are verbatim. The rest is
    /// JSON.
    #[serde(rename = "quoted")]
    Delimited(String),
}

/// The data of the ReAct dialect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct React {
    /// The syntaxes of a call; the first is the one that is written.
    pub heads: Vec<ReactHead>,
    /// Beginnings of the lines that may follow a call.
    pub lines: Vec<String>,
}

/// The text of a ReAct call up to the JSON of its arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactHead {
    /// The pieces of the text, on one line or two.
    #[serde(rename = "header", deserialize_with = "header::read")]
    pub head: Vec<HeaderPiece>,
    /// `true` if the arguments are in brackets after the tool's name.
    #[serde(default)]
    pub in_brackets: bool,
    /// The model or program that writes this syntax, and where that is documented.
    #[serde(default)]
    pub source: String,
}

impl ReactHead {
    /// Returns the word that the call begins with.
    pub fn word(&self) -> &str {
        let text = |piece: &'_ HeaderPiece| matches!(piece, HeaderPiece::Text(_));
        match self.head.iter().find(|piece| text(piece)) {
            Some(HeaderPiece::Text(word)) => word,
            _ => "",
        }
    }
}

/// A pair of delimiters around one or several calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The opening tag or token.
    pub open: String,
    /// The closing tag or token.
    pub close: String,
    /// `true` if the opening delimiter counts only before a call; a special token always counts.
    #[serde(default = "yes")]
    pub gated: bool,
    /// `true` if argument values in the group are verbatim and untrimmed, even if the dialect trims other values.
    #[serde(rename = "verbatim", default)]
    pub glued: bool,
    /// The model or program that writes these delimiters, and where that is documented.
    #[serde(default)]
    pub source: String,
}

/// A line that announces a call or the answer, matched in any case, with emphasis (`*`, `_`) around it and around its
/// colon, which may be the Chinese one.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub struct LineMarker {
    /// The line as the prompt writes it.
    pub text: String,
    /// Letters at the start of the line, in lower case.
    pub lead: String,
}

impl From<String> for LineMarker {
    fn from(text: String) -> Self {
        let lead = text.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        LineMarker { text, lead }
    }
}

/// Returns `true` if a delimiter counts anywhere in the text; any other counts only at a line's start.
pub(super) fn is_mark(text: &str) -> bool {
    text.starts_with(['<', '['])
}

fn yes() -> bool {
    true
}
