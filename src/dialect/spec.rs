//! The data that describe a dialect.

use serde::Deserialize;

use super::header::{self, HeaderPiece};

/// The data of a dialect, as its file has it.
#[derive(Debug)]
pub struct Spec {
    /// Name on the command line, in recordings and in `extract`.
    pub name: String,
    /// The form of the text.
    pub shape: Shape,
    /// Stem of the template under `prompts/<lang>/` that teaches the dialect;
    /// `None` for one that is taught by an example alone (`shown`).
    pub template: Option<String>,
    /// Another way to write its calls, which is only read: objects after a marker.
    pub objects: Option<MarkedJson>,
}

impl Spec {
    /// Returns all literal marks of its calls, in order: those before, in and after them.
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
    /// The tool's name as a tag, its parameters as tags inside.
    ToolTag,
    /// JSON objects, each with the tool's name and the arguments, after a marker.
    MarkedJson(MarkedJson),
    /// The tool's name outside its arguments.
    Named(Named),
    /// Calls of known tools as Python writes them.
    Python,
    /// JSON objects that are calls of known tools, without a marker.
    Json(CallKeys),
    /// A line with a known tool's name, then one with its arguments.
    React(React),
}

/// An element that is a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Tag name of the element.
    pub tag: String,
    /// Tool that the element stands for; `None` where a child names it.
    #[serde(default)]
    pub tool: Option<String>,
    /// Children, in any order in the text.
    pub children: Vec<Child>,
    /// Closing tag of the element.
    #[serde(skip)]
    pub(crate) close: String,
    /// Closing tag of the child with all arguments.
    #[serde(skip)]
    pub(crate) arguments_close: String,
}

impl Block {
    /// Tag name of the child with all arguments; empty where there is none.
    pub(crate) fn arguments_tag(&self) -> &str {
        self.children.iter().find(|child| child.role == ChildRole::Arguments).map_or("", |child| &child.tag)
    }
}

/// A child element of a [`Block`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Child {
    /// Tag name.
    pub tag: String,
    /// The meaning of its text.
    pub role: ChildRole,
}

/// The meaning of a child element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildRole {
    /// The server's name.
    Server,
    /// The tool's name.
    Tool,
    /// All arguments, in JSON.
    Arguments,
    /// One argument, as text, under the child's tag name.
    Argument,
}

/// Keys for an object with name and arguments, that of OpenAI's interface first; models write the tool's name
/// alone under it, too.
pub const FUNCTION: [&str; 5] = ["function", "function_call", "functionCall", "tool_call", "tool"];

/// Key for the tool's name that is a parameter of many tools, too: it counts where no other key names the tool.
pub const ACTION: &str = "action";

/// Keys that say nothing that a call needs: chat templates and APIs put them beside name and arguments; xLAM has
/// `thought` beside a list of calls, and CAMEL the server's number.
pub(crate) const IDLE: [&str; 7] = ["id", "type", "tool_call_id", "index", "call_id", "thought", "server_idx"];

/// The one key of an object that holds a list of such objects.
pub(crate) const LIST: &str = "tool_calls";

/// Data of a dialect whose calls are JSON objects after a marker.
#[derive(Debug)]
pub struct MarkedJson {
    /// The line or the markers that announce the objects.
    pub announcer: Announcer,
    /// Keys of the objects.
    pub keys: CallKeys,
    /// The dialect's calls whose tool's name is before their JSON.
    pub named: Option<Box<Named>>,
}

/// Keys of a JSON object that is a call. After a marker any other key is ignored; without one an object that has such a
/// key is none.
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
    /// Keys of name, arguments and server, with which a call's object begins.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.tool, &self.arguments, &self.server].into_iter().flatten().map(String::as_str)
    }

    /// Returns all keys.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names().chain(IDLE).chain(FUNCTION).chain([ACTION, LIST])
    }
}

/// The line or the markers that announce JSON objects as calls.
#[derive(Debug)]
pub enum Announcer {
    /// A line of its own.
    Line {
        /// The line that announces calls.
        call: LineMarker,
        /// The line that announces the answer; it is taken off.
        answer: LineMarker,
    },
    /// A marker anywhere in the text; the first is the dialect's own.
    Marker(Vec<Wrapper>),
}

/// Literal text around JSON objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    /// The text before them; begins with `<` or `[`, or is a word, which counts at a line's start alone.
    pub open: String,
    /// The text after them, if any; begins with `<` or `[`.
    #[serde(default)]
    pub close: Option<String>,
    /// `true` if a missing `close` is a repair.
    #[serde(default = "yes")]
    pub must_close: bool,
    /// The model or program that writes it, and where that is documented.
    #[serde(default)]
    pub source: String,
}

impl Wrapper {
    /// Returns `true` if its opener is a word.
    pub fn is_word(&self) -> bool {
        !is_mark(&self.open)
    }
}

/// Data of the shapes in which a call begins with its tool's name.
#[derive(Debug)]
pub struct Named {
    /// The ways to write a call; of those that fit, the first counts.
    pub calls: Vec<NamedCall>,
    /// Delimiters that may be around one or several calls.
    pub groups: Vec<Group>,
    /// `true` if a call may also be its tool's name on a line and one JSON object after it, with nothing else in the
    /// message.
    pub name_line: bool,
    /// Words for a call's type, which may be where the name does. They name a
    /// tool only if a tool is called so.
    pub types: Vec<String>,
}

/// A call that begins with its tool's name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedCall {
    /// The beginning of the call, up to its arguments.
    #[serde(rename = "header", deserialize_with = "header::read")]
    pub head: Vec<HeaderPiece>,
    /// The syntax of the arguments.
    #[serde(rename = "args", default)]
    pub arguments: NamedArguments,
    /// The end of the call; empty where the arguments' end ends it.
    #[serde(default)]
    pub close: String,
    /// The model or program that writes it, and where that is documented.
    #[serde(default)]
    pub source: String,
}

impl NamedCall {
    /// Returns the mark that its head begins with; `None` for a word, which counts at a line's start alone.
    pub fn opener(&self) -> Option<&str> {
        self.first().filter(|text| is_mark(text))
    }

    /// Returns the word that its head begins with, if no mark does.
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
    /// Nowhere: the head is the whole call, and it has none.
    None,
    /// As one JSON value.
    #[default]
    Json,
    /// The same, where a code fence around it is the rule and no fault.
    FencedJson,
    /// As an object in braces of `key => value` or `--key value`; a brace around name and
    /// arguments follows.
    Arrows,
    /// One tag each, all closed by the same tag.
    Tags {
        /// The opening tag; its name is the parameter's.
        #[serde(deserialize_with = "header::read")]
        open: Vec<HeaderPiece>,
        /// The closing tag.
        close: String,
        /// `true` if the template writes no white space between tags and values, so that each byte is the value's; else
        /// a line break is on either side.
        #[serde(rename = "verbatim", default)]
        glued: bool,
    },
    /// As elements, with this token before each tag: elements in one are an object, and `<item>` elements
    /// an array.
    Elements(String),
    /// As an object in braces: keys are verbatim, and texts between two of these tokens,
    /// as they are, too. All else is JSON.
    #[serde(rename = "quoted")]
    Delimited(String),
}

/// Data of ReAct's shape.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct React {
    /// The forms of its words; the first is written.
    pub heads: Vec<ReactHead>,
    /// Beginnings of the lines that may follow.
    pub lines: Vec<String>,
}

/// The words of ReAct's up to the arguments' JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactHead {
    /// The words, on one line or two.
    #[serde(rename = "header", deserialize_with = "header::read")]
    pub head: Vec<HeaderPiece>,
    /// `true` if the arguments are in brackets after the name.
    #[serde(default)]
    pub in_brackets: bool,
    /// Who writes it, and where that is written down.
    #[serde(default)]
    pub source: String,
}

impl ReactHead {
    /// The word that it begins with.
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
    /// `true` if it only counts before a call; a special token always does.
    #[serde(default = "yes")]
    pub gated: bool,
    /// `true` if values in it are verbatim and untrimmed, whatever the dialect's other values are.
    #[serde(rename = "verbatim", default)]
    pub glued: bool,
    /// The model or program that writes it, and where that is documented.
    #[serde(default)]
    pub source: String,
}

/// A line that marks something: in any case, with emphasis (`*`, `_`) around it and around its colon, which may be the
/// Chinese one.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub struct LineMarker {
    /// The line as the prompt writes it.
    pub text: String,
    /// Letters, in lower case, that every such line begins with after emphasis.
    pub lead: String,
}

impl From<String> for LineMarker {
    fn from(text: String) -> Self {
        let lead = text.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        LineMarker { text, lead }
    }
}

/// Returns `true` if a text is found at any place; any other counts at a line's start.
pub(super) fn is_mark(text: &str) -> bool {
    text.starts_with(['<', '['])
}

fn yes() -> bool {
    true
}
