//! What a message was meant to say.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use toolgraft::call::Call;
use toolgraft::catalog::Catalog;
use toolgraft::dialect::Dialect;
use toolgraft::tool::Tool;

use crate::bytes::Bytes;
use crate::syntax::{self, Syntax};

/// A tool: server, name, parameters with their types.
type Signature = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Two servers have a `read`, so that calls of it name theirs.
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

pub(crate) static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(Catalog::from_tools(TOOLS.iter().map(|(server, name, parameters)| {
        let properties: Map<String, Value> =
            parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        Tool::new(*name).with_server(*server).with_schema(json!({"type": "object", "properties": properties}))
    })))
});

/// Prose without anything that a syntax begins with.
const PROSE: &[&str] = &["", "I will look.", "好的，", "1 < 2 and a > b.", "It's here:", "First\nthis, then *that*."];

/// What no value in tags may hold, or it would not be one value.
const TAGS: &[&str] = &["<![CDATA[", "parameter", "param", "invoke", "</function", "<function"];

/// A call as it was meant.
#[derive(Debug)]
pub(crate) struct MeantCall {
    #[expect(dead_code, reason = "shown where a check fails")]
    dialect: Dialect,
    server: &'static str,
    names_server: bool,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Map<String, Value>,
    /// Where the text stands that it is in.
    pub(crate) span: Range<usize>,
    /// Whether that is alone in a fence.
    pub(crate) fenced: bool,
}

/// A message as it was meant.
#[derive(Debug, Default)]
pub(crate) struct Meant {
    pub(crate) text: String,
    /// What the user is to see of it.
    pub(crate) prose: String,
    pub(crate) calls: Vec<MeantCall>,
    /// The text so far ends where nothing may follow in the line.
    line_end: bool,
}

impl MeantCall {
    fn choose(syntax: &Syntax, bytes: &mut Bytes<'_>) -> Self {
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
        if !syntax.tags && bytes.one_in(3) {
            arguments.append(&mut bytes.members(2));
        }
        // As a tag only an ambiguous tool has its server before it.
        let names_server = CATALOG.is_ambiguous(tool) || (syntax.dialect != Dialect::ToolTag && bytes.one_in(3));
        MeantCall { dialect: syntax.dialect, server, names_server, tool, arguments, span: 0..0, fenced: false }
    }

    /// The server, where the text is to name it.
    pub(crate) fn written_server(&self) -> Option<&'static str> {
        self.names_server.then_some(self.server)
    }

    /// The name where a server is a part of it.
    pub(crate) fn full_name(&self) -> String {
        self.written_server().map_or_else(|| self.tool.to_owned(), |server| format!("{server}.{}", self.tool))
    }

    /// Whether every value may stand between tags.
    fn fits_tags(&self) -> bool {
        let own = |text: &str| {
            let mut tags = self.arguments.keys().map(String::as_str).chain([self.tool]);
            tags.any(|tag| text.contains(&format!("<{tag}")) || text.contains(&format!("</{tag}")))
        };
        self.arguments.values().map(Value::to_string).all(|text| !own(&text) && !TAGS.iter().any(|t| text.contains(t)))
    }

    /// Whether a call is this one.
    pub(crate) fn is(&self, found: &Call) -> bool {
        self.names(found) && self.differing(found) == Some(0)
    }

    /// Whether a call is of the same tool.
    pub(crate) fn names(&self, found: &Call) -> bool {
        found.server.as_deref() == Some(self.server) && found.tool == self.tool
    }

    /// How many members a call has that were not meant, or lacks. Values in tags
    /// are handed on as text where no text is wanted and what stands there is no
    /// JSON of the type; so text that is the JSON of what was meant counts, too.
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

impl Meant {
    pub(crate) fn write(bytes: &mut Bytes<'_>) -> Self {
        let mut meant = Meant::default();
        if bytes.one_in(4) {
            meant.text.push_str("<think>What is asked?</think>");
        }
        let first = bytes.pick(&syntax::ALL);
        if first.alone {
            meant.text.push_str(*bytes.pick(&["", "\n"]));
            meant.calls(first, false, bytes);
            return meant;
        }
        meant.prose(bytes, first);
        meant.calls(first, false, bytes);
        for _ in 0..bytes.below(3) {
            let next = bytes.pick(&syntax::ALL);
            if !next.alone {
                meant.prose(bytes, next);
                meant.calls(next, false, bytes);
            }
        }
        let last = bytes.pick(&syntax::ALL);
        match bytes.below(4) {
            0 => {}
            1 if !last.alone => {
                meant.text.push('\n');
                meant.calls(last, true, bytes);
            }
            _ => {
                meant.text.push('\n');
                meant.say(*bytes.pick(PROSE));
            }
        }
        meant
    }

    /// Prose before a call.
    fn prose(&mut self, bytes: &mut Bytes<'_>, next: &Syntax) {
        let line_end = std::mem::take(&mut self.line_end) || self.text.ends_with("```");
        self.text.push_str(if line_end { "\n" } else { *bytes.pick(&["", " ", "\n"]) });
        self.say(*bytes.pick(PROSE));
        if next.line_start && !self.text.is_empty() {
            self.text.push('\n');
        } else {
            self.text.push_str(*bytes.pick(&["\n", " ", "\n\n"]));
        }
    }

    fn say(&mut self, prose: &str) {
        self.text.push_str(prose);
        self.prose.push_str(prose);
    }

    /// Calls in one text, which is alone in a fence where it is to be and may be.
    fn calls(&mut self, syntax: &Syntax, fenced: bool, bytes: &mut Bytes<'_>) {
        let mut calls: Vec<_> = (0..1 + bytes.below(syntax.most)).map(|_| MeantCall::choose(syntax, bytes)).collect();
        if syntax.tags && !calls.iter().all(MeantCall::fits_tags) {
            return;
        }
        let Some(written) = (syntax.write)(syntax, &calls, bytes) else { return };
        let has_fence = written.lines().any(|line| line.trim_start().starts_with("```"));
        let fenced = fenced && !has_fence;
        let begin = self.text.len();
        self.text.push_str(&if fenced { format!("```\n{written}\n```") } else { written });
        for call in &mut calls {
            call.span = begin..self.text.len();
            call.fenced = fenced;
        }
        self.calls.append(&mut calls);
        self.line_end = syntax.line_end;
    }
}
