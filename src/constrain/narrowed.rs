//! Calls that only read, or name only what is there.

use serde_json::Value;

use super::structure::{Structure, Structures};
use crate::tools::{Tool, looks_up, may_change};

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
    /// Tools that do not tell of a change.
    Reads,
    /// Tools that look something up and can be called without an id that has to be known, but this one.
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
    /// Returns `true` if calls of the tool are admitted.
    pub(crate) fn admits(&self, tool: &Tool) -> bool {
        self.arguments(tool).is_some()
    }

    /// The arguments of a tool that is admitted.
    pub(super) fn arguments(&self, tool: &Tool) -> Option<Structures> {
        let mut arguments = Structures::of_arguments(tool.input_schema.as_ref());
        let is_one = |server: &Option<String>, name: &String| tool.server == *server && tool.name == *name;
        match self {
            Narrowed::Reads => (!may_change(tool)).then_some(arguments),
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

/// Returns `true` if a member holds an identifier, by its name.
pub(crate) fn is_id(member: &str) -> bool {
    member.eq_ignore_ascii_case("id") || member.ends_with("_id") || member.ends_with("Id") || member.ends_with("ID")
}
