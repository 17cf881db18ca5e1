//! Maps names in requests back to servers and tools.

use std::collections::{HashMap, HashSet};

use super::plain::ToolDefinition;
use super::schema;
use crate::conversation::HistoryCall;
use crate::event::Call;
use crate::message::NativeCall;
use crate::tools::wire_name::{name_beside, own_names, wire_name};
use crate::tools::{ACCESS_RESOURCE, Catalog, Server, Tool};

/// Map from the names of tools in requests to the servers and tools of a catalog.
#[derive(Debug, Clone, Default)]
pub struct Names {
    tools: HashMap<String, (Option<String>, String)>,
}

impl Names {
    /// Creates the map for a catalog's tools, and for the function that reads resources if a server has any.
    pub fn new(catalog: &Catalog) -> Self {
        let mut tools = HashMap::new();
        let taken = own_names(catalog.tools());
        for tool in catalog.tools() {
            // The first of two tools with the same name is kept, as in the definitions.
            let name = name_beside(&taken, tool);
            tools.entry(name).or_insert_with(|| (tool.server.clone(), tool.name.clone()));
        }
        if has_resources(catalog) {
            tools.entry(ACCESS_RESOURCE.to_owned()).or_insert_with(|| (None, ACCESS_RESOURCE.to_owned()));
        }
        Names { tools }
    }

    /// Returns `true` if the map has no names.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns the server and tool of a name in requests, `None` for an unknown name.
    pub fn find(&self, name: &str) -> Option<(Option<&str>, &str)> {
        self.tools.get(name).map(|(server, tool)| (server.as_deref(), tool.as_str()))
    }
}

fn has_resources(catalog: &Catalog) -> bool {
    catalog.servers().iter().any(Server::has_resources)
}

/// Converts a call of the history to a native call, under its [`wire_name`].
impl From<&HistoryCall> for NativeCall {
    fn from(placed: &HistoryCall) -> Self {
        NativeCall { id: Some(placed.id.clone()), ..NativeCall::from(&*placed.call) }
    }
}

/// Converts a call to a native call, under its [`wire_name`] and without an id.
impl From<&Call> for NativeCall {
    fn from(call: &Call) -> Self {
        let name = wire_name(call.server.as_deref(), &call.tool);
        NativeCall { id: None, name, arguments: call.arguments.to_string() }
    }
}

impl ToolDefinition {
    /// Returns the definitions of the tools that a catalog's servers offer, in order, and of the function that reads
    /// resources if a server has any. Every name occurs once.
    pub fn all(catalog: &Catalog) -> Vec<ToolDefinition> {
        ToolDefinition::once(ToolDefinition::offered(catalog).chain(ToolDefinition::resource_access(catalog)))
    }

    /// Returns the definitions of the tools that a catalog's servers offer, in order; names may repeat.
    pub(crate) fn offered(catalog: &Catalog) -> impl Iterator<Item = ToolDefinition> {
        let taken = own_names(catalog.tools());
        catalog
            .offered()
            .map(move |tool| ToolDefinition { name: name_beside(&taken, tool), ..ToolDefinition::from(tool) })
    }

    /// Returns the definition of the function that reads a resource of any server; `None` if no server has resources.
    pub(crate) fn resource_access(catalog: &Catalog) -> Option<ToolDefinition> {
        has_resources(catalog).then(schema::resource_access)
    }

    /// Returns the definitions without those whose name an earlier one has.
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
