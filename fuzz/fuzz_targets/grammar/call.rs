//! The intended call, and the tools that it may be of.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use toolgraft::{Call, Catalog, Dialect, Tool};

use super::bytes::Bytes;

/// A tool: server, name, and parameters with their types.
type Signature = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Two servers have a tool `read`, so calls of it name the server.
const TOOLS: &[Signature] = &[
    ("files", "write_to_file", &[("path", "string"), ("content", "string")]),
    ("files", "read", &[("path", "string"), ("lines", "integer")]),
    ("web", "read", &[("url", "string")]),
    ("web", "look-up", &[("query", "string")]),
    (
        "weather",
        "get_forecast",
        &[("city", "string"), ("days", "integer"), ("tags", "array"), ("where", "object"), ("exact", "boolean")],
    ),
];

/// The tool that is only called from inside other calls (`nested`).
pub(crate) const INNER: &str = "remove";

pub(crate) static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let inner: Signature = ("files", INNER, &[("path", "string")]);
    Arc::new(Catalog::from_tools(TOOLS.iter().chain([&inner]).map(|(server, name, parameters)| {
        let properties: Map<String, Value> =
            parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        Tool::new(*name).with_server(*server).with_schema(json!({"type": "object", "properties": properties}))
    })))
});

/// Text that a value in tags cannot contain, because it would end the value.
const TAGS: &[&str] =
    &["<![CDATA[", "arg_key", "arg_value", "</tool_call", "parameter", "param", "invoke", "</function", "<function"];

/// The intended call.
#[derive(Debug)]
pub(crate) struct MeantCall {
    pub(crate) dialect: Dialect,
    server: &'static str,
    names_server: bool,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Map<String, Value>,
    /// Range of the text that contains the call.
    pub(crate) span: Range<usize>,
    /// `true` if that text is alone in a fence.
    pub(crate) fenced: bool,
}

impl MeantCall {
    /// Creates a call of this tool of `files`.
    pub(crate) fn of(dialect: Dialect, tool: &'static str, arguments: Map<String, Value>) -> Self {
        MeantCall { dialect, server: "files", names_server: false, tool, arguments, span: 0..0, fenced: false }
    }

    /// Creates a call of any tool. In `tags` only declared parameters can be written.
    pub(crate) fn choose(dialect: Dialect, tags: bool, bytes: &mut Bytes<'_>) -> Self {
        let (server, tool, parameters) = *bytes.pick(TOOLS);
        let mut arguments = Map::new();
        for (name, kind) in parameters {
            if bytes.one_in(3) {
                continue;
            }
            let value = match *kind {
                "string" => bytes.text().into(),
                "integer" => bytes.byte().into(),
                "boolean" => (bytes.byte() & 1 == 0).into(),
                "array" => (0..bytes.below(3)).map(|_| bytes.value(1)).collect(),
                _ => bytes.members(2).into(),
            };
            arguments.insert((*name).to_owned(), value);
        }
        if !tags && bytes.one_in(3) {
            arguments.append(&mut bytes.members(2));
        }
        // As a tag, only an ambiguous tool has its server before it.
        let names_server = CATALOG.is_ambiguous(tool) || (dialect != Dialect::ToolTag && bytes.one_in(3));
        MeantCall { dialect, server, names_server, tool, arguments, span: 0..0, fenced: false }
    }

    /// Returns the server if the text has to name it.
    pub(crate) fn written_server(&self) -> Option<&'static str> {
        self.names_server.then_some(self.server)
    }

    /// Returns the name in a syntax in which the server is part of it.
    pub(crate) fn full_name(&self) -> String {
        self.written_server().map_or_else(|| self.tool.to_owned(), |server| format!("{server}.{}", self.tool))
    }

    /// Returns `true` if every value can be written between tags.
    pub(crate) fn fits_tags(&self) -> bool {
        let own = |text: &str| {
            let mut tags = self.arguments.keys().map(String::as_str).chain([self.tool]);
            tags.any(|tag| text.contains(&format!("<{tag}")) || text.contains(&format!("</{tag}")))
        };
        // With a name after it, it begins another call, whose end would be that of the value.
        let opens = |text: &str| self.dialect == Dialect::Glm && text.contains("<tool_call");
        let fits = |text: String| !own(&text) && !opens(&text) && !TAGS.iter().any(|t| text.contains(t));
        self.arguments.values().map(Value::to_string).all(fits)
    }

    /// Returns `true` if a parsed call is this one.
    pub(crate) fn is(&self, found: &Call) -> bool {
        self.names(found) && self.differing(found) == Some(0)
    }

    /// Returns `true` if a parsed call is of the same tool.
    pub(crate) fn names(&self, found: &Call) -> bool {
        found.server.as_deref() == Some(self.server) && found.tool == self.tool
    }

    /// Returns the number of members that a parsed call has in addition or lacks; `None` if it has
    /// no object. A value in tags is passed on as text if its type is not text and it is not JSON
    /// of that type, so text that is the JSON of the intended value is equal.
    pub(crate) fn differing(&self, found: &Call) -> Option<usize> {
        let members = found.arguments.as_object()?;
        let same = |(name, meant): &(&String, &Value)| match members.get(*name) {
            Some(Value::String(text)) if !meant.is_string() => serde_json::from_str(text).ok().as_ref() == Some(*meant),
            other => other == Some(*meant),
        };
        let same = self.arguments.iter().filter(same).count();
        Some(self.arguments.len().max(members.len()) - same)
    }
}
