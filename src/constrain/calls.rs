//! Frames of calls in a dialect's syntax: the fixed text around the arguments, and their structure.

use serde_json::{Map, Value, json};

use super::form::{StructuralTag, StructuralTags, Thinking};
use super::gbnf::{Grammar, literal, up_to};
use super::json_schema::SchemaWriter;
use super::structure::Structures;
use crate::dialect::{Dialect, Shape, write_call, write_tool_call};
use crate::outcome::break_tokens;
use crate::tools::{ACCESS_RESOURCE, Catalog, Tool, ToolChoice};

/// Separator between two calls in a grammar.
const BETWEEN: &str = "\n";

/// Closing tag of the reasoning.
const THOUGHT: &str = "</think>";

/// The form of a call that the model may make: fixed text before and after the part that the model writes.
struct CallFrame {
    /// Fixed text of the call before the part that the model writes.
    before: String,
    inside: CallBody,
    after: String,
}

/// The part of a call that the model writes.
enum CallBody {
    Json(Structures),
    /// A URI as the text of an element.
    Uri,
}

/// The forms of the calls that the model may make, in one dialect.
pub(super) struct CallFrames {
    /// Text before the first call, such as a marker; may be empty.
    lead: &'static str,
    frames: Vec<CallFrame>,
}

impl CallFrames {
    /// Returns the calls that a tool choice allows; `None` if there are none, or if calls of this dialect cannot be
    /// constrained.
    pub(super) fn new(dialect: Dialect, catalog: &Catalog, choice: &ToolChoice) -> Option<Self> {
        let admits = |tool: &Tool| choice.admits(tool.server.as_deref(), &tool.name);
        let arguments = |tool: &Tool| admits(tool).then(|| Structures::of_arguments(tool.input_schema.as_ref()));
        let mut calls = CallFrames::of(dialect, catalog, &arguments)?;
        let readable = catalog.servers().iter().filter(|server| server.has_resources());
        for server in readable.filter(|server| choice.admits(server.name.as_deref(), ACCESS_RESOURCE)) {
            calls.frames.extend(resource(dialect, calls.lead, server.name.as_deref()));
        }
        (!calls.frames.is_empty()).then_some(calls)
    }

    /// Returns the calls of the tools for which `arguments` returns a structure; `None` if calls of this dialect cannot
    /// be constrained.
    pub(super) fn of(
        dialect: Dialect,
        catalog: &Catalog,
        arguments: &dyn Fn(&Tool) -> Option<Structures>,
    ) -> Option<Self> {
        if !holds_json(dialect) {
            return None;
        }
        let lead = if dialect == Dialect::TypeMarker { "TYPE: MCP\n" } else { "" };
        let frames = catalog
            .offered()
            .filter_map(|tool| {
                let arguments = arguments(tool)?;
                let written = write_tool_call(dialect, catalog, tool, &Map::new());
                // The schema covers only the object, without the code fence that is taught around it.
                let fenced = written.strip_prefix("```json\n").and_then(|text| text.strip_suffix("\n```"));
                frame(fenced.unwrap_or(&written).strip_prefix(lead)?, "{}", CallBody::Json(arguments))
            })
            .collect();
        Some(CallFrames { lead, frames })
    }

    /// Returns `true` if no call may be made.
    #[cfg(feature = "agent")]
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns a GBNF grammar for one to `most` calls.
    pub(super) fn grammar(&self, thinking: Thinking, most: usize) -> String {
        let mut grammar = Grammar::default();
        let all: Vec<String> = self
            .frames
            .iter()
            .map(|frame| {
                let inside = match &frame.inside {
                    CallBody::Json(arguments) => grammar.value(arguments),
                    // The URI is the text of an element, so it has no markup of XML and no white space.
                    CallBody::Uri => "[^<&\\x00-\\x20]+".to_owned(),
                };
                format!("{} {inside} {}", literal(&frame.before), literal(&frame.after))
            })
            .collect();
        let call = grammar.add(all.join(" | "));
        let thought = match thinking {
            Thinking::Off => String::new(),
            Thinking::Marked => format!("(\"<think>\" {} \"\\n\"{{0,2}})? ", up_to(&mut grammar, THOUGHT)),
            Thinking::Open => format!("(\"<think>\"? {} \"\\n\"{{0,2}})? ", up_to(&mut grammar, THOUGHT)),
        };
        // The marker of the dialect is written once, before all calls.
        let lead = if self.lead.is_empty() { String::new() } else { format!("{} ", literal(self.lead)) };
        let more = match most {
            0 | 1 => String::new(),
            most => format!(" ({} {call}){{0,{}}}", literal(BETWEEN), most - 1),
        };
        grammar.finish(&format!("{thought}{lead}{call}{more}"))
    }

    /// Returns the JSON Schema of one call; `None` if no call is written in JSON.
    pub(super) fn schema(&self) -> Option<Value> {
        let mut writer = SchemaWriter::default();
        let mut calls = Vec::new();
        for frame in &self.frames {
            let CallBody::Json(arguments) = &frame.inside else { continue };
            let Ok(Value::Object(call)) = serde_json::from_str(&format!("{}{{}}{}", frame.before, frame.after)) else {
                continue;
            };
            let properties: Map<String, Value> = call
                .into_iter()
                .map(|(key, value)| match value {
                    Value::Object(_) => (key, writer.schema(arguments)),
                    value => (key, json!({"const": value})),
                })
                .collect();
            let required: Vec<&String> = properties.keys().collect();
            calls.push(json!({
                "type": "object",
                "required": required,
                "properties": properties,
                "additionalProperties": false,
            }));
        }
        let root = match calls.len() {
            0 => return None,
            1 => calls.remove(0),
            _ => json!({"type": "object", "anyOf": calls}),
        };
        Some(writer.whole(root))
    }

    /// Returns the calls as structural tags, without those that are not JSON; `None` if they have no common trigger.
    pub(super) fn tags(&self, at_least_one: bool, most: usize) -> Option<StructuralTags> {
        let tag = |frame: &CallFrame| match &frame.inside {
            CallBody::Json(arguments) => {
                let mut writer = SchemaWriter::default();
                let root = writer.schema(arguments);
                let begin = format!("{}{}", self.lead, frame.before);
                Some(StructuralTag { begin, schema: writer.whole(root), end: frame.after.clone() })
            }
            CallBody::Uri => None,
        };
        let tags: Vec<StructuralTag> = self.frames.iter().filter_map(tag).collect();
        let begins: Vec<&str> = tags.iter().map(|tag| tag.begin.as_str()).collect();
        let trigger = match self.lead {
            // The text that all calls begin with: their first line, or the dialect's marker.
            "" => begins.first()?.lines().next()?.to_owned(),
            lead => lead.trim_end().to_owned(),
        };
        // All tags share one trigger.
        let all = begins.iter().all(|begin| begin.starts_with(&trigger));
        (all && !trigger.is_empty()).then_some(StructuralTags { trigger, tags, at_least_one, only_one: most == 1 })
    }
}

/// Returns `true` if calls in this dialect can be constrained: they are JSON between fixed texts, and contain no
/// control token, which an endpoint may remove from the text.
fn holds_json(dialect: Dialect) -> bool {
    let written = write_call(dialect, None, "f", &Map::new());
    let is_json = matches!(dialect.spec().shape, Shape::MarkedJson(_) | Shape::Element(_) | Shape::Json(_));
    is_json && break_tokens(&written) == written
}

/// Splits a written call at the last occurrence of `gap`, which the model's part replaces; `None` if it does not occur.
fn frame(written: &str, gap: &str, inside: CallBody) -> Option<CallFrame> {
    let at = written.rfind(gap)?;
    Some(CallFrame { before: written[..at].to_owned(), inside, after: written[at + gap.len()..].to_owned() })
}

/// Returns the form of a call that reads a resource of a server.
fn resource(dialect: Dialect, lead: &str, server: Option<&str>) -> Option<CallFrame> {
    match dialect {
        // The call is an element of its own, with the URI as text.
        Dialect::UseMcpTool => {
            let uri = json!({"uri": "x"});
            let written = write_call(dialect, server, ACCESS_RESOURCE, uri.as_object()?);
            let mut frame = frame(&written, "x</uri>", CallBody::Uri)?;
            frame.after.insert_str(0, "</uri>");
            Some(frame)
        }
        _ => {
            let schema = json!({"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]});
            let written = write_call(dialect, server, ACCESS_RESOURCE, &Map::new());
            frame(written.strip_prefix(lead)?, "{}", CallBody::Json(Structures::of_arguments(Some(&schema))))
        }
    }
}
