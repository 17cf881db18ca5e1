//! Dialects as files: JSON to [`Spec`].
//!
//! A file may be anybody's. What it can make a parser do is limited here: how long its texts are, how
//! many there are, and what they begin with, so that prose is not held back and no name or mark
//! swallows what follows it.

use serde::Deserialize;

use super::header::HeaderPiece;
use super::spec::{Announcer, Block, CallKeys, LineMarker, MarkedJson, Named, NamedArguments, NamedCall};
use super::spec::{Group, React, Shape, Spec, Wrapper, is_mark};

/// Maximum size in bytes of a dialect file.
pub const MAX_FILE: usize = 64 << 10;

/// Maximum length in bytes of one literal text in a dialect file.
pub const MAX_TEXT: usize = 96;

/// Maximum number of rows of one list in a dialect file.
pub const MAX_ROWS: usize = 64;

/// Maximum number of pieces of one call header in a dialect file.
const MAX_PIECES: usize = 48;

/// Maximum length in bytes of a dialect's name.
const MAX_NAME: usize = 32;

/// The error of a dialect file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the dialect cannot be used: `{path}`: {problem}")]
#[non_exhaustive]
pub struct DialectError {
    /// Path of the faulty value in the file, as `calls[0].header`; `.` for the whole file.
    pub path: String,
    /// The problem of that value, and what is expected.
    pub problem: String,
}

impl DialectError {
    pub(super) fn at(path: impl Into<String>, problem: impl Into<String>) -> Self {
        DialectError { path: path.into(), problem: problem.into() }
    }
}

/// A built-in reader for calls whose syntax is defined in code rather than in the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NamedReader {
    ToolTag,
    Python,
    Json,
}

/// The JSON of a dialect file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    /// The document that defines the syntax, for readers of the file; ignored.
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default)]
    keys: Keys,
    #[serde(default)]
    elements: Vec<Block>,
    #[serde(default)]
    markers: Vec<Wrapper>,
    #[serde(default)]
    calls: Vec<NamedCall>,
    #[serde(default)]
    groups: Vec<Group>,
    #[serde(default)]
    types: Vec<String>,
    // The rest only files of this project have.
    template: Option<String>,
    line: Option<LineFields>,
    react: Option<React>,
    reader: Option<NamedReader>,
    #[serde(default)]
    name_line: bool,
}

/// The lines that announce calls and the answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFields {
    call: LineMarker,
    answer: LineMarker,
}

/// The dialect's own keys in a JSON object that is a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    tool: Option<String>,
    arguments: Option<String>,
    server: Option<String>,
}

/// Reads the file of one of the program's own dialects, without checking its limits.
pub(super) fn own(text: &str) -> Result<Spec, DialectError> {
    parsed(text).map(File::into_spec)
}

/// Reads a dialect file from an untrusted source, and checks its limits.
pub(super) fn foreign(text: &str) -> Result<Spec, DialectError> {
    if text.len() > MAX_FILE {
        return Err(DialectError::at(".", format!("the file has {} bytes: at most {MAX_FILE} are read", text.len())));
    }
    let file = parsed(text)?;
    file.check()?;
    Ok(file.into_spec())
}

fn parsed(text: &str) -> Result<File, DialectError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let wrong = |error: serde_path_to_error::Error<serde_json::Error>| {
        // Where the text ends too early there is no path.
        let path = error.path().to_string();
        DialectError::at(if path == "?" { "." } else { &path }, error.inner().to_string())
    };
    let file = serde_path_to_error::deserialize(&mut deserializer).map_err(wrong)?;
    deserializer.end().map_err(|error| DialectError::at(".", error.to_string()))?;
    Ok(file)
}

impl File {
    fn into_spec(mut self) -> Spec {
        for block in &mut self.elements {
            block.close = format!("</{}>", block.tag);
            block.arguments_close = format!("</{}>", block.arguments_tag());
        }
        for marker in &mut self.markers {
            // A marker without a closer cannot lack it.
            marker.must_close &= marker.close.is_some();
        }
        let has_calls = !self.calls.is_empty();
        let named = Named { calls: self.calls, groups: self.groups, name_line: self.name_line, types: self.types };
        let marked = |announcer, named| MarkedJson { announcer, keys: self.keys.all(), named };
        let markers = Announcer::Marker(self.markers);
        let has_markers = matches!(&markers, Announcer::Marker(markers) if !markers.is_empty());
        let (shape, objects) = match (self.reader, self.react, self.line) {
            (Some(NamedReader::ToolTag), ..) => (Shape::ToolTag, None),
            (Some(NamedReader::Python), ..) => (Shape::Python, None),
            (Some(NamedReader::Json), ..) => (Shape::Json(self.keys.all()), None),
            (_, Some(react), _) => (Shape::React(react), None),
            (.., Some(LineFields { call, answer })) => {
                (Shape::MarkedJson(marked(Announcer::Line { call, answer }, None)), None)
            }
            _ if !self.elements.is_empty() => {
                let objects = has_markers.then(|| marked(markers, None));
                (Shape::Element(self.elements), objects)
            }
            _ if has_markers => (Shape::MarkedJson(marked(markers, has_calls.then(|| Box::new(named)))), None),
            _ => (Shape::Named(named), None),
        };
        Spec { name: self.name, shape, template: self.template, objects }
    }

    fn check(&self) -> Result<(), DialectError> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = self.name.starts_with(|c: char| c.is_ascii_lowercase());
        // Names are written in lists that commas join, in which `auto` means all dialects of the program.
        if !begins || !self.name.chars().all(is_word) || self.name.len() > MAX_NAME || self.name == "auto" {
            let expected =
                format!("expected a name of at most {MAX_NAME} small letters, digits and `_`, but not `auto`");
            return Err(DialectError::at("name", expected));
        }
        for (key, is_there) in [
            ("template", self.template.is_some()),
            ("line", self.line.is_some()),
            ("react", self.react.is_some()),
            ("reader", self.reader.is_some()),
            ("name_line", self.name_line),
        ] {
            if is_there {
                let instead = "remove it; `elements`, `markers`, `calls` and `groups` describe calls";
                return Err(DialectError::at(key, format!("only the dialects of this program have it: {instead}")));
            }
        }
        if self.elements.is_empty() && self.markers.is_empty() && self.calls.is_empty() {
            let problem = "no form of a call is given: expected `elements`, `markers` or `calls`";
            return Err(DialectError::at(".", problem));
        }
        let has_headers = !self.calls.is_empty() || !self.groups.is_empty();
        // `into_spec` gives a file one shape: the calls would be ignored.
        if has_headers && !self.elements.is_empty() {
            return Err(DialectError::at(
                "elements",
                "they cannot be combined with `calls` and `groups`: write two files",
            ));
        }
        self.keys.check()?;
        rows("elements", &self.elements, check_element)?;
        rows("markers", &self.markers, check_marker)?;
        rows("calls", &self.calls, check_call)?;
        rows("groups", &self.groups, |group, path| {
            check_delimiter(&group.open, &format!("{path}.open"))?;
            check_delimiter(&group.close, &format!("{path}.close"))
        })?;
        rows("types", &self.types, |word, path| check_word(word, path))
    }
}

/// Applies `check` to each row of a list, with the path of the row; an error if the list has more than [`MAX_ROWS`].
fn rows<T>(list: &str, rows: &[T], check: impl Fn(&T, &str) -> Result<(), DialectError>) -> Result<(), DialectError> {
    if rows.len() > MAX_ROWS {
        return Err(DialectError::at(list, format!("{} rows: at most {MAX_ROWS} are read", rows.len())));
    }
    rows.iter().enumerate().try_for_each(|(at, row)| check(row, &format!("{list}[{at}]")))
}

/// Checks a word that is the name of a tag, key or type: its characters and its length.
fn check_word(word: &str, path: &str) -> Result<(), DialectError> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    if word.is_empty() || word.len() > MAX_TEXT || !word.chars().all(in_word) {
        return Err(DialectError::at(path, "expected a word of letters, digits, `_`, `-`, `.` and `:`"));
    }
    Ok(())
}

/// Checks a literal text that a call or a group begins or ends with.
fn check_delimiter(text: &str, path: &str) -> Result<(), DialectError> {
    let begins = "expected a text that begins with `<` or `[` and has at least two more characters";
    // Text is held wherever it may begin a delimiter, and the lexicon looks only at these two characters.
    if !text.starts_with(['<', '[']) || text.chars().count() < 3 || text[1..].starts_with(char::is_whitespace) {
        return Err(DialectError::at(path, format!("{begins}: prose is full of {text:?}")));
    }
    check_text(text, path)
}

/// Checks a literal text that is recognised only at the start of a line.
fn check_start(text: &str, path: &str) -> Result<(), DialectError> {
    let is_plain = |c: char| c.is_ascii() && !c.is_whitespace() && c != '{' && c != '"';
    if text.len() < 3 || text.chars().take_while(|c| is_plain(*c)).count() < 2 {
        let expected = "expected at least two ASCII characters other than space, `{` and quotation marks, and a third";
        return Err(DialectError::at(path, format!("{expected}: lines of prose begin with {text:?}")));
    }
    check_text(text, path)
}

/// Checks any literal text: its length, and that it has no control characters.
fn check_text(text: &str, path: &str) -> Result<(), DialectError> {
    if text.len() > MAX_TEXT {
        return Err(DialectError::at(path, format!("{} bytes: at most {MAX_TEXT} are read", text.len())));
    }
    if text.contains(char::is_control) {
        return Err(DialectError::at(path, "it has a line break or another control character: `{_}` is white space"));
    }
    Ok(())
}

fn check_element(block: &Block, path: &str) -> Result<(), DialectError> {
    check_word(&block.tag, &format!("{path}.tag"))?;
    block.tool.iter().try_for_each(|tool| check_word(tool, &format!("{path}.tool")))?;
    rows(&format!("{path}.children"), &block.children, |child, path| check_word(&child.tag, &format!("{path}.tag")))
}

fn check_marker(marker: &Wrapper, path: &str) -> Result<(), DialectError> {
    let open = format!("{path}.open");
    if marker.is_word() {
        check_start(&marker.open, &open)?;
    } else {
        check_delimiter(&marker.open, &open)?;
    }
    marker.close.iter().try_for_each(|close| check_delimiter(close, &format!("{path}.close")))
}

fn check_call(call: &NamedCall, path: &str) -> Result<(), DialectError> {
    check_header(&call.head, true, &format!("{path}.header"))?;
    match &call.arguments {
        NamedArguments::Tags { open, close, .. } => {
            check_header(open, false, &format!("{path}.args.tags.open"))?;
            check_delimiter(close, &format!("{path}.args.tags.close"))?;
        }
        NamedArguments::Delimited(text) => check_delimiter(text, &format!("{path}.args.quoted"))?,
        NamedArguments::Elements(token) => check_delimiter(token, &format!("{path}.args.elements"))?,
        NamedArguments::None | NamedArguments::Json | NamedArguments::FencedJson | NamedArguments::Arrows => {}
    }
    // An object ends by itself, and so does a call that is its header alone.
    let is_open =
        matches!(call.arguments, NamedArguments::Tags { .. } | NamedArguments::Elements(_) | NamedArguments::Arrows);
    if call.close.is_empty() && !is_open { Ok(()) } else { check_delimiter(&call.close, &format!("{path}.close")) }
}

/// Checks the header of a call or of a parameter's tag. `may_be_word`: it may begin with a word at a line's start.
fn check_header(pieces: &[HeaderPiece], may_be_word: bool, path: &str) -> Result<(), DialectError> {
    match pieces.first() {
        Some(HeaderPiece::Text(text)) if may_be_word && !is_mark(text) => check_start(text, path)?,
        Some(HeaderPiece::Text(text)) => check_delimiter(text, path)?,
        _ => return Err(DialectError::at(path, "expected a header that begins with a text, such as `<call:`")),
    }
    if pieces.len() > MAX_PIECES {
        return Err(DialectError::at(path, format!("{} parts: at most {MAX_PIECES} are read", pieces.len())));
    }
    if pieces.iter().filter(|piece| **piece == HeaderPiece::Name).count() != 1 {
        return Err(DialectError::at(path, "expected `{name}` in it, once"));
    }
    if pieces.iter().filter(|piece| **piece == HeaderPiece::Quote).count() % 2 != 0 {
        return Err(DialectError::at(path, "expected a second `{quote}` for the first"));
    }
    for (at, piece) in pieces.iter().enumerate() {
        if let HeaderPiece::Text(text) | HeaderPiece::Maybe(text) | HeaderPiece::Any(text) | HeaderPiece::OneOf(text) =
            piece
        {
            let is_set = matches!(piece, HeaderPiece::Any(_) | HeaderPiece::OneOf(_));
            // The characters of a set may be line breaks; its length is limited all the same.
            if !is_set || text.len() > MAX_TEXT {
                check_text(text, path)?;
            }
        }
        let is_plain =
            |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
        if let (HeaderPiece::Name, Some(HeaderPiece::Text(text) | HeaderPiece::Maybe(text))) =
            (piece, pieces.get(at + 1))
            && is_plain(text)
        {
            let problem = format!("{text:?} right after `{{name}}` would be taken for a part of the name");
            return Err(DialectError::at(path, problem));
        }
    }
    Ok(())
}

/// Keys that name the tool in an object that is a call, in any dialect.
const TOOL: &[&str] = &["name", "tool_name", "tool", "function_name", "functionName", "recipient_name"];
const ARGUMENTS: &[&str] = &[
    "arguments", "parameters", "args", "params", "input", "tool_input", "tool_arguments", "tool_args", "function_args",
    "action_input",
];
const SERVER: &[&str] = &["server_name", "server"];

impl Keys {
    /// Returns the dialect's own keys, then those that every dialect accepts.
    fn all(&self) -> CallKeys {
        let with = |own: &Option<String>, all: &[&str]| {
            let others = all.iter().filter(|key| own.as_deref() != Some(**key)).map(|key| (*key).to_owned());
            own.iter().cloned().chain(others).collect()
        };
        CallKeys {
            tool: with(&self.tool, TOOL),
            arguments: with(&self.arguments, ARGUMENTS),
            server: with(&self.server, SERVER),
        }
    }

    fn check(&self) -> Result<(), DialectError> {
        let keys = [("keys.tool", &self.tool), ("keys.arguments", &self.arguments), ("keys.server", &self.server)];
        keys.into_iter().try_for_each(|(path, key)| key.iter().try_for_each(|key| check_word(key, path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOON: &str = r#"{"name": "moon", "calls": [{"header": "<moon:{name}>", "close": "</moon>"}]}"#;

    #[test]
    fn a_wrong_file_is_refused_with_the_place_and_what_is_expected() {
        assert!(foreign(MOON).is_ok());
        for (old, new, path, problem) in [
            ("\"moon\",", "\"Moon\",", "name", "small letters"),
            ("\"moon\",", "\"auto\",", "name", "but not `auto`"),
            ("\"name\"", "\"nam\"", "nam", "unknown field `nam`"),
            ("}]}", "}]", ".", "EOF"),
            ("}]}", "}], \"reader\": \"python\"}", "reader", "only the dialects of this program"),
            ("<moon:{name}>", "m {name}>", "calls[0].header", "lines of prose begin"),
            ("<moon:{name}>", "< {name}>", "calls[0].header", "prose"),
            ("<moon:{name}>", "<moon>", "calls[0].header", "`{name}` in it, once"),
            ("<moon:{name}>", "<moon:{nam}>", "calls[0].header", "not a placeholder"),
            ("<moon:{name}>", "<moon:{name}s>", "calls[0].header", "a part of the name"),
            ("<moon:{name}>", "<moon\\n{name}>", "calls[0].header", "`{_}` is white space"),
            ("<moon:{name}>", "<moon {quote}{name}>", "calls[0].header", "a second `{quote}`"),
            ("</moon>", "}", "calls[0].close", "prose"),
            ("\"close\"", "\"args\": \"jsn\", \"close\"", "calls[0].args", "unknown variant"),
            (
                "\"close\"",
                "\"args\": {\"tags\": {\"open\": \"<p {name}>\", \"close\": \"<\"}}, \"close\"",
                "calls[0].args.tags.close",
                "prose",
            ),
            ("[{\"header\": \"<moon:{name}>\", \"close\": \"</moon>\"}]", "[]", ".", "no form of a call"),
        ] {
            let error = foreign(&MOON.replace(old, new)).unwrap_err();
            assert!(error.path == path && error.problem.contains(problem), "{new}: {error}");
        }
        let long = MOON.replace("</moon>", &format!("</{}>", "m".repeat(MAX_TEXT)));
        assert_eq!(foreign(&long).unwrap_err().path, "calls[0].close");
        let many = vec![r#"{"open": "<m>", "close": "</m>"}"#; MAX_ROWS + 1].join(",");
        let many = MOON.replace("\"calls\"", &format!("\"groups\": [{many}], \"calls\""));
        assert_eq!(foreign(&many).unwrap_err().path, "groups");
        assert_eq!(foreign(&format!("{MOON}{}", " ".repeat(MAX_FILE))).unwrap_err().path, ".");
    }
}
