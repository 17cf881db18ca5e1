//! Names on the wire: letters, digits, underscores and hyphens, no servers.

use std::collections::{HashMap, HashSet};

use super::plain::ToolDefinition;
use super::schema;
use crate::conversation::HistoryCall;
use crate::event::Call;
use crate::message::NativeCall;
use crate::tools::wire_name::{name_beside, own_names, wire_name};
use crate::tools::{ACCESS_RESOURCE, Catalog, Server, Tool};

/// The tools of a catalog by their names on the wire.
#[derive(Debug, Clone, Default)]
pub struct Names {
    tools: HashMap<String, (Option<String>, String)>,
}

impl Names {
    /// The names of a catalog's tools, and of the resource access where a
    /// server has resources.
    pub fn new(catalog: &Catalog) -> Self {
        let mut tools = HashMap::new();
        let taken = own_names(catalog.tools());
        for tool in catalog.tools() {
            // Of two tools with one name the first stays, as in the definitions.
            let name = name_beside(&taken, tool);
            tools.entry(name).or_insert_with(|| (tool.server.clone(), tool.name.clone()));
        }
        if has_resources(catalog) {
            tools.entry(ACCESS_RESOURCE.to_owned()).or_insert_with(|| (None, ACCESS_RESOURCE.to_owned()));
        }
        Names { tools }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Server and tool of a name on the wire.
    pub fn find(&self, name: &str) -> Option<(Option<&str>, &str)> {
        self.tools.get(name).map(|(server, tool)| (server.as_deref(), tool.as_str()))
    }
}

fn has_resources(catalog: &Catalog) -> bool {
    catalog.servers().iter().any(Server::has_resources)
}

/// A call of the history, under its [`wire_name`].
impl From<&HistoryCall> for NativeCall {
    fn from(placed: &HistoryCall) -> Self {
        NativeCall { id: Some(placed.id.clone()), ..NativeCall::from(&*placed.call) }
    }
}

/// A call under its [`wire_name`], without an id.
impl From<&Call> for NativeCall {
    fn from(call: &Call) -> Self {
        let name = wire_name(call.server.as_deref(), &call.tool);
        NativeCall { id: None, name, arguments: call.arguments.to_string() }
    }
}

impl ToolDefinition {
    /// The tools that a catalog's servers offer, in its order, and the resource
    /// access where a server has resources. Every name is there once.
    pub fn all(catalog: &Catalog) -> Vec<ToolDefinition> {
        ToolDefinition::once(ToolDefinition::offered(catalog).chain(ToolDefinition::resource_access(catalog)))
    }

    /// The tools that a catalog's servers offer, each at its place.
    pub(crate) fn offered(catalog: &Catalog) -> impl Iterator<Item = ToolDefinition> {
        let taken = own_names(catalog.tools());
        catalog
            .offered()
            .map(move |tool| ToolDefinition { name: name_beside(&taken, tool), ..ToolDefinition::from(tool) })
    }

    /// The function that reads a resource of any server, where one has resources.
    pub(crate) fn resource_access(catalog: &Catalog) -> Option<ToolDefinition> {
        has_resources(catalog).then(schema::resource_access)
    }

    /// Of several with one name the first.
    pub(crate) fn once(all: impl Iterator<Item = ToolDefinition>) -> Vec<ToolDefinition> {
        let mut names = HashSet::new();
        all.filter(|tool| names.insert(tool.name.clone())).collect()
    }
}

impl From<&Tool> for ToolDefinition {
    fn from(tool: &Tool) -> Self {
        ToolDefinition {
            name: wire_name(tool.server.as_deref(), &tool.name),
            description: schema::description(tool.description.as_deref().or(tool.title.as_deref())),
            parameters: schema::unmarked(schema::parameters(tool.input_schema.as_ref())),
        }
    }
}
