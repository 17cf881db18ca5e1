//! The dialects that the prompt can teach.

use super::foreign::{json, tag};
use super::spec::PARAMETERS_FIRST;
use super::{Announcer, Block, Child, ChildRole, LineMarker, MarkedJson, Shape, Spec};
use crate::tools::ACCESS_RESOURCE;

const SERVER_NAME: Child = Child { tag: "server_name", role: ChildRole::Server };

/// Cline's syntax, which MiroThinker was trained on.
pub(super) const USE_MCP_TOOL: Spec = Spec {
    name: "use_mcp_tool",
    template: Some("use_mcp_tool"),
    shape: Shape::Element(&[
        Block {
            tag: "use_mcp_tool",
            tool: None,
            children: &[
                SERVER_NAME,
                Child { tag: "tool_name", role: ChildRole::Tool },
                Child { tag: "arguments", role: ChildRole::Arguments },
            ],
        },
        Block {
            tag: ACCESS_RESOURCE,
            tool: Some(ACCESS_RESOURCE),
            children: &[SERVER_NAME, Child { tag: "uri", role: ChildRole::Argument }],
        },
    ]),
    // All of a call as one object, as models write it that know the tag and JSON alike.
    objects: Some(MarkedJson {
        tool_keys: &["tool_name", "name", "tool"],
        ..json(&[tag("<use_mcp_tool>", "</use_mcp_tool>")])
    }),
};

/// Cline's syntax for its own tools: one tag per tool and per parameter.
pub(super) const TOOL_TAG: Spec =
    Spec { name: "tool_tag", template: Some("tool_tag"), shape: Shape::ToolTag, objects: None };

/// `TYPE: MCP`, then JSON; `TYPE: ANSWER`, then prose.
pub(super) const TYPE_MARKER: Spec = Spec {
    name: "type_marker",
    template: Some("type_marker"),
    shape: Shape::MarkedJson(MarkedJson {
        announcer: Announcer::Line {
            call: LineMarker {
                text: "TYPE: MCP",
                lead: "type",
                pieces: &[
                    "[*_]*", "[Tt]", "[Yy]", "[Pp]", "[Ee]", "[*_]*", "[ \t]*", "[:：]", "[*_ \t]*", "[Mm]", "[Cc]",
                    "[Pp]", "[*_]*",
                ],
            },
            answer: LineMarker {
                text: "TYPE: ANSWER",
                lead: "type",
                pieces: &[
                    "[*_]*", "[Tt]", "[Yy]", "[Pp]", "[Ee]", "[*_]*", "[ \t]*", "[:：]", "[*_ \t]*", "[Aa]", "[Nn]",
                    "[Ss]", "[Ww]", "[Ee]", "[Rr]", "[*_]*",
                ],
            },
        },
        separators: b",",
        tool_keys: &["tool_name", "name", "tool"],
        argument_keys: PARAMETERS_FIRST,
        server_keys: &["server_name", "server"],
        idle_keys: &[],
        named: None,
    }),
    objects: None,
};
