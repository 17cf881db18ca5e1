//! Calls that name only what is there.

use serde_json::Value;

use super::structure::{Structure, Structures};
use crate::tools::Tool;

/// What calls are narrowed to where a model named a thing that nobody spoke of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// Server and name of the tool that it would have called.
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) to: To,
}

/// What is admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    /// That tool, with one of these values for a member of its arguments.
    Values { member: String, values: Vec<Value> },
    /// Other tools that only read.
    Reads,
}

impl Narrowed {
    /// The arguments of a tool that is admitted.
    pub(super) fn arguments(&self, tool: &Tool) -> Option<Structures> {
        let is_it = tool.server == self.server && tool.name == self.tool;
        let mut arguments = Structures::of_arguments(tool.input_schema.as_ref());
        match &self.to {
            To::Reads => return (!is_it && tool.is_read_only()).then_some(arguments),
            To::Values { member, values } => {
                let Structure::Object { members, .. } = &mut arguments.root else { return None };
                let member = members.iter_mut().find(|own| own.name == *member).filter(|_| is_it)?;
                member.value = match &member.value {
                    Structure::Array { min, max, .. } => Structure::Array {
                        first: Vec::new(),
                        rest: Some(Box::new(Structure::Literals(values.clone()))),
                        min: *min,
                        max: *max,
                    },
                    _ => Structure::Literals(values.clone()),
                };
            }
        }
        Some(arguments)
    }
}
