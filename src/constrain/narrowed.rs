//! Calls that only read, or name only what is there.

use serde_json::Value;

use super::structure::{Structure, Structures};
use crate::tools::{Tool, lists, looks_up, may_change};

/// What calls are narrowed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Narrowed {
    /// The tool with some of these values for members of its arguments.
    Values {
        /// Server of the tool.
        server: Option<String>,
        /// Name of the tool.
        tool: String,
        /// The members with their values.
        members: Vec<(String, Vec<Value>)>,
    },
    /// The tool with what it requires and with these members, where it has them.
    Instead {
        /// Server of the tool.
        server: Option<String>,
        /// Name of the tool.
        tool: String,
        /// Names of members.
        members: Vec<String>,
    },
    /// Tools that do not tell of a change.
    Reads,
    /// Tools that look something up and can be called without an id that has to be known, without the members by
    /// which that would be narrowed down: what they hold is a guess.
    Lookups {
        /// These not: servers and names.
        but: Vec<(Option<String>, String)>,
        /// Members that are not known either.
        unknown: Vec<String>,
        /// Ids that results gave and nobody used: where there are some, of the tools that require one of them.
        ids: Vec<String>,
        /// What tools require that failed: another that requires the same fails alike.
        required: Vec<Vec<String>>,
    },
    /// Tools but these, and those that look something up for which they require as much.
    Others {
        /// Servers and names.
        but: Vec<(Option<String>, String)>,
        /// What they require.
        required: Vec<Vec<String>>,
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
            Narrowed::Lookups { but, unknown, ids, required: alike } => {
                let is_unknown = |member: &String| is_id(member) && !ids.contains(member) || unknown.contains(member);
                let required = required(tool);
                let leads = ids.is_empty() || required.iter().any(|member| ids.contains(member));
                let fails = !leads || required.iter().any(is_unknown) || is_alike(&required, alike);
                let is_left_out = || but.iter().any(|(server, name)| is_one(server, name));
                if let Structure::Object { members, .. } = &mut arguments.root
                    && (!required.is_empty() || lists(tool))
                {
                    members.retain(|member| member.required);
                }
                (looks_up(tool) && !fails && !is_left_out()).then_some(arguments)
            }
            Narrowed::Others { but, required: alike } => {
                let is_left_out = but.iter().any(|(server, name)| is_one(server, name));
                let repeats = looks_up(tool) && is_alike(&required(tool), alike);
                (!is_left_out && !repeats).then_some(arguments)
            }
            Narrowed::Instead { server, tool: name, members: wanted } => {
                if let Structure::Object { members, .. } = &mut arguments.root {
                    members.retain(|member| member.required || wanted.contains(&member.name));
                }
                is_one(server, name).then_some(arguments)
            }
            Narrowed::Values { server, tool: name, members: values } => {
                let Structure::Object { members, .. } = &mut arguments.root else { return None };
                for (name, values) in values {
                    let member = members.iter_mut().find(|own| own.name == *name)?;
                    member.value = member.value.narrowed(values);
                }
                is_one(server, name).then_some(arguments)
            }
        }
    }
}

impl Structure {
    /// The same with these values alone; a list of them for a list.
    fn narrowed(&self, values: &[Value]) -> Structure {
        let values = Structure::Literals(values.to_vec());
        match self {
            Structure::Array { min, max, .. } => {
                Structure::Array { first: Vec::new(), rest: Some(Box::new(values)), min: *min, max: *max }
            }
            _ => values,
        }
    }
}

/// Returns `true` if others require the same, one of it or several.
fn is_alike(required: &[String], others: &[Vec<String>]) -> bool {
    let is_same = |(one, other): (&String, &String)| one.trim_end_matches('s') == other.trim_end_matches('s');
    let is_equal = |other: &Vec<String>| other.len() == required.len() && required.iter().zip(other).all(is_same);
    !required.is_empty() && others.iter().any(is_equal)
}

/// The names of the parameters that a tool requires.
pub(crate) fn required(tool: &Tool) -> Vec<String> {
    tool.parameters().filter(|parameter| parameter.required).map(|parameter| parameter.name.to_owned()).collect()
}

/// Returns `true` if a member holds an identifier, by its name.
pub(crate) fn is_id(member: &str) -> bool {
    member.eq_ignore_ascii_case("id") || member.ends_with("_id") || member.ends_with("Id") || member.ends_with("ID")
}
