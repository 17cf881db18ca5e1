//! What the data of a dialect can say.

use std::borrow::Cow;

/// The constant data of a dialect.
#[derive(Debug)]
pub struct Spec {
    /// Name on the command line, in recordings and in `extract`.
    pub name: &'static str,
    /// What the text looks like.
    pub shape: Shape,
    /// Stem of the template under `prompts/<lang>/` that teaches the dialect;
    /// `None` for one that is taught by an example alone (`shown`).
    pub template: Option<&'static str>,
    /// Another way to write its calls, which is only read: objects behind a marker.
    pub objects: Option<MarkedJson>,
}

impl Spec {
    /// All literal marks of its calls, in order: what stands before, in and behind them.
    pub(crate) fn marks(&self) -> Vec<Cow<'static, str>> {
        let mut marks = Vec::new();
        match &self.shape {
            Shape::Element(blocks) => {
                let tags = blocks
                    .iter()
                    .flat_map(|block| [block.tag].into_iter().chain(block.children.iter().map(|child| child.tag)));
                marks.extend(tags.map(|tag| Cow::Owned(format!("<{tag}>"))));
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
    fn add_marks(&self, marks: &mut Vec<Cow<'static, str>>) {
        match &self.announcer {
            Announcer::Line { call, .. } => marks.push(call.text.into()),
            Announcer::Marker(wrappers) => {
                let texts = wrappers.iter().filter(|w| !w.is_word()).flat_map(|w| [Some(w.open), w.close]);
                marks.extend(texts.flatten().map(Cow::Borrowed));
            }
        }
        if let Some(named) = self.named {
            named.add_marks(marks);
        }
    }
}

impl Named {
    fn add_marks(&self, marks: &mut Vec<Cow<'static, str>>) {
        let mut add_pieces = |pieces: &[Piece]| {
            marks.extend(pieces.iter().filter_map(|piece| match piece {
                Piece::Text(text) | Piece::Maybe(text) => Some(Cow::Borrowed(*text)),
                _ => None,
            }));
        };
        for call in self.calls {
            add_pieces(call.head);
            add_pieces(&[Piece::Text(call.close)]);
            if let NamedArguments::Tags { open, close, .. } = &call.arguments {
                add_pieces(open);
                add_pieces(&[Piece::Text(close)]);
            }
        }
        self.groups.iter().for_each(|group| add_pieces(&[Piece::Text(group.open), Piece::Text(group.close)]));
    }
}

/// The shape of a dialect's calls.
#[derive(Debug)]
pub enum Shape {
    /// An element with child elements.
    Element(&'static [Block]),
    /// The tool's name as a tag, its parameters as tags inside.
    ToolTag,
    /// JSON objects, each with the tool's name and the arguments, behind a marker.
    MarkedJson(MarkedJson),
    /// The tool's name outside its arguments.
    Named(&'static Named),
    /// Calls of known tools as Python writes them.
    Python,
    /// JSON objects that are calls of known tools, without a marker.
    Json(&'static CallKeys),
    /// A line with a known tool's name, then one with its arguments.
    React(&'static React),
}

/// An element that is a call.
#[derive(Debug)]
pub struct Block {
    /// Tag name of the element.
    pub tag: &'static str,
    /// Tool that the element stands for; `None` where a child names it.
    pub tool: Option<&'static str>,
    /// Children, in any order in the text.
    pub children: &'static [Child],
}

/// A child element of a [`Block`].
#[derive(Debug)]
pub struct Child {
    /// Tag name.
    pub tag: &'static str,
    /// What its text is.
    pub role: ChildRole,
}

/// What a child element's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Keys that models write for a call's arguments, `arguments` being the dialect's own.
pub(super) const ARGUMENTS_FIRST: &[&str] = &["arguments", "parameters", "args", "params", "input"];

/// The same, `parameters` being the dialect's own.
pub(super) const PARAMETERS_FIRST: &[&str] = &["parameters", "arguments", "args", "params", "input"];

/// Key of OpenAI's interface for an object with name and arguments; models write the tool's name
/// alone under it, too.
pub const FUNCTION: &str = "function";

/// Data of a dialect whose calls are JSON objects behind a marker.
#[derive(Debug)]
pub struct MarkedJson {
    /// What announces the objects.
    pub announcer: Announcer,
    /// Bytes, one of which may part two objects; white space may, too.
    pub separators: &'static [u8],
    /// Keys of the objects.
    pub keys: &'static CallKeys,
    /// The dialect's calls whose tool's name stands before their JSON.
    pub named: Option<&'static Named>,
}

/// Keys of a JSON object that is a call. Behind a marker any other key says nothing; without one an
/// object that has such a key is none.
#[derive(Debug)]
pub struct CallKeys {
    /// Keys for the tool's name, the dialect's own first.
    pub tool: &'static [&'static str],
    /// Keys for the arguments, the dialect's own first.
    pub arguments: &'static [&'static str],
    /// Keys for the server's name, the dialect's own first.
    pub server: &'static [&'static str],
    /// Keys that say nothing that a call needs.
    pub idle: &'static [&'static str],
    /// The one key of an object that holds a list of such objects.
    pub list: &'static str,
}

impl CallKeys {
    /// Keys of name, arguments and server, with which a call's object begins.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.tool, self.arguments, self.server].into_iter().flatten().copied()
    }

    /// All keys.
    pub fn all(&self) -> impl Iterator<Item = &'static str> {
        let lists = [self.tool, self.arguments, self.server, self.idle];
        lists.into_iter().flatten().copied().chain([FUNCTION, self.list])
    }
}

/// What announces JSON objects as calls.
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
    Marker(&'static [Wrapper]),
}

/// Literal text around JSON objects.
#[derive(Debug)]
pub struct Wrapper {
    /// What stands before them; begins with `<` or `[`, or is a word, which counts at a
    /// line's start alone.
    pub open: &'static str,
    /// What stands behind them, if anything; begins with `<` or `[`.
    pub close: Option<&'static str>,
    /// Whether a missing `close` is a repair.
    pub must_close: bool,
}

impl Wrapper {
    /// Whether its opener is a word.
    pub fn is_word(&self) -> bool {
        self.open.starts_with(|c: char| c.is_ascii_alphabetic())
    }
}

/// Data of the shapes in which a call begins with its tool's name.
#[derive(Debug)]
pub struct Named {
    /// The ways to write a call; of those that fit, the first counts.
    pub calls: &'static [NamedCall],
    /// What may stand around one or several calls.
    pub groups: &'static [Group],
    /// Whether a call may also be its tool's name on a line and one JSON object behind it, with
    /// nothing else in the message.
    pub name_line: bool,
    /// Words for a call's type, which may stand where the name does. They name a
    /// tool only if a tool is called so.
    pub types: &'static [&'static str],
}

/// A call that begins with its tool's name.
#[derive(Debug)]
pub struct NamedCall {
    /// What the call begins with, up to where its arguments begin.
    pub head: &'static [Piece],
    /// How the arguments are written.
    pub arguments: NamedArguments,
    /// What ends the call; empty where the arguments' end does.
    pub close: &'static str,
}

impl NamedCall {
    /// The text that its head begins with, if it begins with one.
    pub fn opener(&self) -> Option<&'static str> {
        if let Some(Piece::Text(opener)) = self.head.first() { Some(opener) } else { None }
    }
}

/// How the arguments of a [`NamedCall`] are written.
#[derive(Debug)]
pub enum NamedArguments {
    /// Nowhere: the head is the whole call, and it has none.
    None,
    /// As one JSON value; `fenced` where a code fence around it is the rule.
    Json {
        /// Whether a fence is no fault.
        fenced: bool,
    },
    /// As an object in braces of `key => value` or `--key value`; a brace around name and
    /// arguments follows.
    Arrows,
    /// One tag each, all closed by the same tag.
    Tags {
        /// The opening tag; its name is the parameter's.
        open: &'static [Piece],
        /// The closing tag.
        close: &'static str,
        /// Whether the template glues values to their tags, so that each byte is the value's; else
        /// a line break stands on either side.
        glued: bool,
    },
    /// As an object in braces: keys stand as they are, and texts between two of these tokens,
    /// as they are, too. All else is JSON.
    Delimited {
        /// The token before and behind a text.
        text: &'static str,
    },
}

/// Data of ReAct's shape.
#[derive(Debug)]
pub struct React {
    /// The lines up to the arguments' JSON.
    pub head: &'static [Piece],
    /// What the lines begin with that may follow.
    pub lines: &'static [&'static str],
}

/// Part of an opener that holds a name.
///
/// In a [`Text`](Piece::Text) of special tokens `｜` also stands for `|`, and
/// `▁` for `_`, `\_` or a space, as models and servers spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// This very text.
    Text(&'static str),
    /// This very text, if it is there.
    Maybe(&'static str),
    /// White space, if any.
    Space,
    /// A name: of the tool, or of the parameter.
    Name,
    /// The `:` and the number behind a name, if they are there.
    Index,
    /// A word that says nothing that a call needs.
    Id,
    /// A single or double quotation mark, the second the same as the first.
    Quote,
    /// Any number of these characters.
    Any(&'static str),
    /// One of these characters.
    OneOf(&'static str),
    /// Attributes in front of the one that holds the name, each with the space behind it.
    Before,
    /// The rest of a tag: further attributes and its `>`.
    Attributes,
}

/// What stands around one or several calls.
#[derive(Debug)]
pub struct Group {
    /// The opening tag or token.
    pub open: &'static str,
    /// The closing tag or token.
    pub close: &'static str,
    /// Whether it only counts before a call; a special token always does.
    pub gated: bool,
    /// Whether values in it are glued to their tags, whatever the dialect's other values are.
    pub glued: bool,
}

/// A line that marks something, as a sequence of regular expressions.
///
/// The whole line matches the pieces in order. A line that is still arriving
/// may become one while it matches some of the pieces, the last one in part;
/// for that, each piece matches one character or a run of one class.
#[derive(Debug)]
pub struct LineMarker {
    /// The line as the prompt writes it.
    pub text: &'static str,
    /// Letters, in lower case, that every such line begins with after emphasis
    /// (`*`, `_`): lines that do not are told apart without an expression.
    pub lead: &'static str,
    /// The pieces; none matches a line break.
    pub pieces: &'static [&'static str],
}
