//! Calls written in a dialect's syntax, so that its parser reads them back.

use quick_xml::escape::{partial_escape, unescape};
use serde_json::{Map, Value};

use super::{
    Announcer, Block, CallKeys, ChildRole, Dialect, HeaderPiece, MarkedJson, NamedArguments, NamedCall, Shape, Wrapper,
};
use crate::json::spaced;
use crate::tools::{Catalog, Tool};

/// Writes one call in a dialect's syntax, without a line break at the end.
///
/// `server` is written wherever the dialect has a position for it (in `tool_tag`
/// as `server.tool`); pass `None` if the tool's name is enough, or use
/// [`write_tool_call`], which decides. `tool` may be
/// [`ACCESS_RESOURCE`](crate::tools::ACCESS_RESOURCE) with a `uri`.
///
/// A parser of the dialect reads the same call back. `tool_tag`, `python` and `json` have no syntax of
/// their own for a resource access and use another dialect's element, which a parser of that
/// dialect reads ([`DialectSet::AUTO`](super::DialectSet::AUTO) does).
///
/// ```
/// use toolgraft::Dialect;
/// use toolgraft::dialect::write_call;
///
/// let arguments = serde_json::json!({"city": "Berlin"});
/// let call = write_call(Dialect::TypeMarker, None, "get_weather", arguments.as_object().unwrap());
/// assert_eq!(call, "TYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Berlin\"}}");
/// ```
pub fn write_call(dialect: Dialect, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    if let Some(block) = element(dialect, tool) {
        return write_element(block, server, tool, arguments);
    }
    match &dialect.spec().shape {
        Shape::MarkedJson(shape) => write_marked(shape, server, tool, arguments),
        Shape::Named(named) => write_named(&named.calls[0], server, tool, arguments),
        Shape::React(react) => write_head(&react.heads[0].head, &full_name(server, tool)) + &spaced(arguments),
        Shape::Python => write_python(server, tool, arguments),
        Shape::Json(keys) => {
            format!("```json\n{}\n```", write_object(keys, server, tool, arguments))
        }
        Shape::Element(_) | Shape::ToolTag => write_tag(server, tool, arguments),
    }
}

/// Writes a call of a catalog's tool, with its server if the dialect always
/// names one or if the tool's name alone is ambiguous.
pub fn write_tool_call(dialect: Dialect, catalog: &Catalog, tool: &Tool, arguments: &Map<String, Value>) -> String {
    let always = matches!(dialect.spec().shape, Shape::Element(_));
    let server = tool.server.as_deref().filter(|_| always || catalog.is_ambiguous(&tool.name));
    write_call(dialect, server, &tool.name, arguments)
}

/// Returns the element as which a call is written, `None` if it is not written as one. An element that denotes one tool
/// (a resource access) is also used by the dialects that have no syntax for it.
fn element(dialect: Dialect, tool: &str) -> Option<&'static Block> {
    let blocks = |d: Dialect| match &d.spec().shape {
        Shape::Element(blocks) => blocks.as_slice(),
        _ => &[],
    };
    let own = |block: &&Block| block.tool.as_deref() == Some(tool);
    match &dialect.spec().shape {
        Shape::Element(all) => all.iter().find(own).or_else(|| all.iter().find(|b| b.tool.is_none())),
        Shape::ToolTag | Shape::Named(_) | Shape::Python | Shape::Json(_) | Shape::React(_) => {
            Dialect::ALL.iter().flat_map(|d| blocks(*d)).find(own)
        }
        Shape::MarkedJson(_) => None,
    }
}

fn write_element(block: &Block, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let mut lines = vec![format!("<{}>", block.tag)];
    for child in &block.children {
        let text = match child.role {
            ChildRole::Server => server.map(escaped),
            ChildRole::Tool => Some(escaped(tool)),
            ChildRole::Arguments => Some(format!("\n{}\n", spaced(arguments))),
            ChildRole::Argument => arguments.get(&child.tag).map(|value| escaped(&plain(value))),
        };
        lines.extend(text.map(|text| format!("<{tag}>{text}</{tag}>", tag = child.tag)));
    }
    lines.push(format!("</{}>", block.tag));
    lines.join("\n")
}

/// Returns the text with XML escapes if the parser would read it otherwise: it decodes
/// entities if the whole text is well-formed, and ends a text at `<`.
fn escaped(text: &str) -> String {
    let decoded = unescape(text);
    if text.contains('<') || decoded.is_ok_and(|decoded| decoded != text) {
        return partial_escape(text).into_owned();
    }
    text.to_owned()
}

fn write_tag(server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let tag = full_name(server, tool);
    let tags = |name: &str| (format!("<{name}>"), format!("</{name}>"));
    format!("<{tag}>\n{}</{tag}>", write_values(arguments, tags, tag_value))
}

fn write_named(call: &NamedCall, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let head = write_head(&call.head, &full_name(server, tool));
    let written = match &call.arguments {
        NamedArguments::None => String::new(),
        // The header has opened a brace around name and arguments.
        NamedArguments::Arrows => spaced(arguments) + "}",
        NamedArguments::FencedJson => format!("\n```json\n{}\n```", spaced(arguments)),
        NamedArguments::Json => spaced(arguments),
        NamedArguments::Tags { open, close, glued } => {
            let written = |value: String| if *glued { value } else { broken_line(value) };
            format!("\n{}", write_values(arguments, |name| (write_head(open, name), close.clone()), written))
        }
        NamedArguments::Delimited(text) => delimited_members(arguments, text),
        NamedArguments::Elements(token) => elements(arguments, token),
    };
    format!("{head}{written}{}", call.close)
}

fn write_head(pieces: &[HeaderPiece], name: &str) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            HeaderPiece::Text(own) => text += own,
            HeaderPiece::Maybe(_)
            | HeaderPiece::Space
            | HeaderPiece::Id
            | HeaderPiece::Before
            | HeaderPiece::Any(_) => {}
            HeaderPiece::OneOf(set) => text.extend(set.chars().next()),
            HeaderPiece::Name => text += name,
            HeaderPiece::Index => text += ":0",
            HeaderPiece::Quote => text.push('"'),
            HeaderPiece::Attributes => text.push('>'),
        }
    }
    text
}

/// Writes an element for each member, with `token` before each tag; objects and arrays nest.
fn elements(members: &Map<String, Value>, token: &str) -> String {
    let inner = |value: &Value| match value {
        Value::Object(members) if !members.is_empty() => elements(members, token),
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| elements(&Map::from_iter([("item".to_owned(), item.clone())]), token)).collect()
        }
        other => plain(other),
    };
    members.iter().map(|(name, value)| format!("{token}<{name}>{}{token}</{name}>", inner(value))).collect()
}

/// Returns a value with each text between two `token`s; a text that contains the token is written as a JSON string.
fn delimited(value: &Value, token: &str) -> String {
    match value {
        Value::String(text) if !text.contains(token) => format!("{token}{text}{token}"),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| delimited(item, token)).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => delimited_members(members, token),
        other => other.to_string(),
    }
}

fn delimited_members(members: &Map<String, Value>, token: &str) -> String {
    let is_bare = |key: &str| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        !key.is_empty() && key.chars().all(is_word)
    };
    let key = |key: &String| if is_bare(key) { key.clone() } else { delimited(&Value::from(key.as_str()), token) };
    let members = members.iter().map(|(name, value)| format!("{}:{}", key(name), delimited(value, token)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn full_name(server: Option<&str>, tool: &str) -> String {
    server.map_or_else(|| tool.to_owned(), |server| format!("{server}.{tool}"))
}

/// Returns one line for each argument: its value between the opening and the closing tag of its name.
fn write_values(
    arguments: &Map<String, Value>,
    tags: impl Fn(&str) -> (String, String),
    written: impl Fn(String) -> String,
) -> String {
    let mut text = String::new();
    for (name, value) in arguments {
        let (open, close) = tags(name);
        text += &format!("{open}{}{close}\n", written(plain(value)));
    }
    text
}

/// Returns a value with a line break added at both ends if it has one at an end, as its parser removes one from each.
fn broken_line(value: String) -> String {
    // One end is enough: a value that is one line break alone would be read as empty.
    let around = if value.starts_with(['\n', '\r']) || value.ends_with('\n') { "\n" } else { "" };
    format!("{around}{value}{around}")
}

/// Returns a value of `tool_tag`, in CDATA if it contains text that looks like a tag; `]]>` in the value
/// is divided between two sections.
fn tag_value(value: String) -> String {
    let is_tag = |(at, _): (usize, &str)| value[at + 1..].starts_with(|c: char| !c.is_whitespace());
    match value.match_indices('<').any(is_tag) {
        true => format!("<![CDATA[{}]]>", value.replace("]]>", "]]]]><![CDATA[>")),
        false => broken_line(value),
    }
}

fn write_marked(shape: &MarkedJson, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let object = write_object(&shape.keys, server, tool, arguments);
    match &shape.announcer {
        Announcer::Line { call, .. } => format!("{}\n{object}", call.text),
        Announcer::Marker(wrappers) => {
            let Wrapper { open, close, .. } = &wrappers[0];
            close.as_ref().map_or_else(|| format!("{open}{object}"), |close| format!("{open}\n{object}\n{close}"))
        }
    }
}

/// Returns a JSON object with server, tool and arguments, each under the first of the dialect's keys for it.
fn write_object(keys: &CallKeys, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let mut object = Map::new();
    if let Some(server) = server {
        object.insert(keys.server[0].clone(), server.into());
    }
    object.insert(keys.tool[0].clone(), tool.into());
    object.insert(keys.arguments[0].clone(), Value::Object(arguments.clone()));
    spaced(&object)
}

fn write_python(server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
    let is_keyword = |name: &str| {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        // A word that is read as a value is no keyword: it goes into a dictionary, `**{"null": 1}`.
        let literal = matches!(name, "True" | "False" | "None" | "true" | "false" | "null");
        name.chars().all(in_word) && name.starts_with(|c: char| !c.is_numeric()) && !literal
    };
    let (keywords, others): (Vec<_>, Vec<_>) = arguments.iter().partition(|(name, _)| is_keyword(name));
    let mut parts: Vec<_> = keywords.into_iter().map(|(name, value)| format!("{name}={}", python(value))).collect();
    if !others.is_empty() {
        parts.push(format!("**{}", python_members(others.into_iter())));
    }
    let server = server.map(|server| format!("{server}.")).unwrap_or_default();
    format!("[{server}{tool}({})]", parts.join(", "))
}

/// Returns a value as a Python literal.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => python_members(members.iter()),
        // JSON's numbers and strings, with their escapes, are Python's, too.
        Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn python_members<'m>(members: impl Iterator<Item = (&'m String, &'m Value)>) -> String {
    let members: Vec<_> =
        members.map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), python(value))).collect();
    format!("{{{}}}", members.join(", "))
}

/// Returns a string without quotes, any other value as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => spaced(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::ACCESS_RESOURCE;

    fn write(dialect: Dialect, server: Option<&str>, tool: &str, arguments: &Value) -> String {
        write_call(dialect, server, tool, arguments.as_object().unwrap())
    }

    #[test]
    fn an_element_names_server_and_tool_and_keeps_json_raw() {
        let call = write(Dialect::UseMcpTool, Some("files"), "write", &json!({"text": "a < b && \"</arguments>\""}));
        let expected = "<use_mcp_tool>\n<server_name>files</server_name>\n<tool_name>write</tool_name>\n<arguments>\n\
                        {\"text\": \"a < b && \\\"</arguments>\\\"\"}\n</arguments>\n</use_mcp_tool>";
        assert_eq!(call, expected);
    }

    #[test]
    fn a_resource_access_has_an_element_of_its_own() {
        let uri = json!({"uri": "demo://a b?x=1&y=2"});
        let element = "<access_mcp_resource>\n<server_name>demo</server_name>\n<uri>demo://a b?x=1&y=2</uri>\n\
                       </access_mcp_resource>";
        assert_eq!(write(Dialect::UseMcpTool, Some("demo"), ACCESS_RESOURCE, &uri), element);
        assert_eq!(write(Dialect::ToolTag, Some("demo"), ACCESS_RESOURCE, &uri), element);
        let marked = "TYPE: MCP\n{\"server_name\": \"demo\", \"tool_name\": \"access_mcp_resource\", \
                      \"parameters\": {\"uri\": \"demo://a b?x=1&y=2\"}}";
        assert_eq!(write(Dialect::TypeMarker, Some("demo"), ACCESS_RESOURCE, &uri), marked);
    }

    #[test]
    fn a_tag_value_gets_a_line_break_only_where_its_own_would_be_lost() {
        let arguments = json!({"path": "a.txt", "text": "\nx &amp; y\n", "lines": 3, "tags": ["a"]});
        let expected = "<write>\n<path>a.txt</path>\n<text>\n\nx &amp; y\n\n</text>\n<lines>3</lines>\n\
                        <tags>[\"a\"]</tags>\n</write>";
        assert_eq!(write(Dialect::ToolTag, None, "write", &arguments), expected);
    }

    #[test]
    fn the_server_is_written_where_it_is_needed() {
        let tools = ["a", "b"].map(|server| Tool::new("search").with_server(server));
        let catalog = Catalog::from_tools(tools.into_iter().chain([Tool::new("only").with_server("a")]));
        let none = Map::new();
        let write =
            |dialect, tool: usize| write_tool_call(dialect, &catalog, catalog.tools().nth(tool).unwrap(), &none);
        assert_eq!(write(Dialect::ToolTag, 0), "<a.search>\n</a.search>");
        assert_eq!(write(Dialect::ToolTag, 1), "<only>\n</only>");
        assert!(write(Dialect::TypeMarker, 2).contains("\"server_name\": \"b\""));
        assert!(!write(Dialect::TypeMarker, 1).contains("server_name"));
        assert!(write(Dialect::UseMcpTool, 1).contains("<server_name>a</server_name>"));
    }

    #[test]
    fn marker_lines_are_written_as_they_are_read() {
        for dialect in Dialect::ALL {
            if let Shape::MarkedJson(MarkedJson { announcer: Announcer::Line { call, answer }, .. }) =
                &dialect.spec().shape
            {
                for line in [call, answer] {
                    assert_eq!(line.matches(&line.text, false), Ok(line.text.len()), "{}", line.text);
                }
            }
        }
    }
}
