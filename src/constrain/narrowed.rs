//! Calls that only read, or name only what is there.

use serde_json::Value;

use super::structure::{Structure, Structures};
use crate::tools::Tool;

/// What calls are narrowed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Narrowed {
    /// The tool with one of these values for a member of its arguments.
    Values {
        /// Server of the tool.
        server: Option<String>,
        /// Name of the tool.
        tool: String,
        /// The member.
        member: String,
        /// Its values.
        values: Vec<Value>,
    },
    /// Tools that only read.
    Reads,
    /// Tools that only read and can be called without an id that has to be known, but this one.
    Lookups {
        /// Server of the tool.
        server: Option<String>,
        /// Name of the tool.
        tool: String,
        /// A member that is not known either.
        member: Option<String>,
    },
}

impl Narrowed {
    /// The arguments of a tool that is admitted.
    pub(super) fn arguments(&self, tool: &Tool) -> Option<Structures> {
        let mut arguments = Structures::of_arguments(tool.input_schema.as_ref());
        let is_one = |server: &Option<String>, name: &String| tool.server == *server && tool.name == *name;
        match self {
            Narrowed::Reads => may_answer(tool).then_some(arguments),
            Narrowed::Lookups { server, tool: name, member } => {
                let is_unknown = |known: &str| is_id(known) || member.as_deref() == Some(known);
                let needs = tool.parameters().any(|parameter| parameter.required && is_unknown(parameter.name));
                (looks_up(tool) && !needs && !is_one(server, name)).then_some(arguments)
            }
            Narrowed::Values { server, tool: name, member, values } => {
                let Structure::Object { members, .. } = &mut arguments.root else { return None };
                let member = members.iter_mut().find(|own| own.name == *member)?;
                member.value = match &member.value {
                    Structure::Array { min, max, .. } => Structure::Array {
                        first: Vec::new(),
                        rest: Some(Box::new(Structure::Literals(values.clone()))),
                        min: *min,
                        max: *max,
                    },
                    _ => Structure::Literals(values.clone()),
                };
                is_one(server, name).then_some(arguments)
            }
        }
    }
}

/// Words with which the names of tools begin that tell something.
const LOOKING: &[&str] =
    &["list", "get", "find", "search", "read", "show", "query", "fetch", "look", "describe", "view"];

/// Words with which the names of tools begin that change something.
const CHANGING: &[&str] = &[
    "add", "append", "apply", "assign", "book", "buy", "cancel", "change", "close", "commit", "create", "delete",
    "edit", "insert", "invite", "lock", "make", "merge", "move", "open", "order", "pay", "play", "post", "push", "put",
    "remove", "rename", "reply", "reset", "run", "save", "schedule", "send", "set", "start", "stop", "submit",
    "switch", "turn", "update", "upload", "write",
];

/// Whether a tool only reads, as far as it says so itself; a call that is narrowed by a name is decided about as
/// any other.
fn says_it_reads(tool: &Tool) -> Option<bool> {
    let says = tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint.is_some());
    (says || tool.is_read_only()).then(|| tool.is_read_only())
}

fn begins_with(words: &[&str], tool: &Tool) -> bool {
    let first = tool.name.split(['_', '-', '.']).next().unwrap_or_default();
    words.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// Returns `true` if a tool is one that looks something up, as it says itself or by its name.
fn looks_up(tool: &Tool) -> bool {
    says_it_reads(tool).unwrap_or_else(|| begins_with(LOOKING, tool))
}

/// Returns `true` if a tool may answer a question: it says that it only reads, or nothing, and its name does not
/// tell of a change.
fn may_answer(tool: &Tool) -> bool {
    says_it_reads(tool).unwrap_or_else(|| !begins_with(CHANGING, tool))
}

/// Returns `true` if a member holds an identifier, by its name.
pub(crate) fn is_id(member: &str) -> bool {
    member.eq_ignore_ascii_case("id") || member.ends_with("_id") || member.ends_with("Id") || member.ends_with("ID")
}
