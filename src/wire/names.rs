//! Names on the wire: letters, digits, underscores and hyphens, no servers.

use std::collections::HashMap;

use super::{ToolDefinition, schema};
use crate::catalog::Catalog;
use crate::tool::{ACCESS_RESOURCE, Tool};

/// Longest name on the wire. OpenAI takes 64 characters, Gemini took 63.
pub const MAX_NAME: usize = 63;

/// What stands between server and tool.
const BETWEEN: &str = "__";

/// The name of a tool on the wire: `server__tool`, or `tool` without a server.
///
/// Where a name has other characters or is too long, or where `server__tool`
/// could mean two tools, the nearest such name ends in a hash of the real one.
/// So the name depends on the tool alone, never on the other tools, and two
/// tools have the same one only if their 32-bit hashes are equal.
///
/// ```
/// use toolgraft::wire::wire_name;
///
/// assert_eq!(wire_name(Some("weather"), "get"), "weather__get");
/// assert_eq!(wire_name(None, "get"), "get");
/// assert!(wire_name(Some("天气"), "get").starts_with("__get_"));
/// ```
pub fn wire_name(server: Option<&str>, tool: &str) -> String {
    // Without a server a resource access is the one function for all of them.
    let plain = match server {
        Some(server) => format!("{server}{BETWEEN}{tool}"),
        None => tool.to_owned(),
    };
    // The first two underscores are then the ones between server and tool.
    let readable = match server {
        Some(server) => !server.is_empty() && !server.contains(BETWEEN) && !server.ends_with('_'),
        None => !tool.contains(BETWEEN),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if readable && begins(&plain) && plain.len() <= MAX_NAME && plain.chars().all(allowed) {
        return plain;
    }
    let hash = format!("_{:08x}", hash(server, tool));
    let rest: String = plain.chars().filter(|c| allowed(*c)).collect();
    let first = if begins(&rest) { "" } else { "_" };
    let short: String = first.chars().chain(rest.chars()).take(MAX_NAME - hash.len()).collect();
    short + &hash
}

/// FNV-1a, the same in every program and version.
fn hash(server: Option<&str>, tool: &str) -> u32 {
    // A byte that no text holds keeps server and tool apart.
    let apart = if server.is_some() { 0xff } else { 0xfe };
    let bytes = server.unwrap_or_default().bytes().chain([apart]).chain(tool.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

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
        for tool in catalog.tools() {
            // Of two tools with one name the first stays, as in the definitions.
            let name = wire_name(tool.server.as_deref(), &tool.name);
            tools.entry(name).or_insert_with(|| (tool.server.clone(), tool.name.clone()));
        }
        if has_resources(catalog) {
            tools.entry(ACCESS_RESOURCE.to_owned()).or_insert_with(|| (None, ACCESS_RESOURCE.to_owned()));
        }
        Names { tools }
    }

    /// Server and tool of a name on the wire.
    pub fn find(&self, name: &str) -> Option<(Option<&str>, &str)> {
        self.tools.get(name).map(|(server, tool)| (server.as_deref(), tool.as_str()))
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn has_resources(catalog: &Catalog) -> bool {
    catalog.servers().iter().any(|s| !s.resources.is_empty() || !s.resource_templates.is_empty())
}

impl ToolDefinition {
    /// The tools that a catalog's servers offer, in its order, and the resource
    /// access where a server has resources. Every name is there once.
    pub fn all(catalog: &Catalog) -> Vec<ToolDefinition> {
        let mut names = std::collections::HashSet::new();
        let resource = has_resources(catalog).then(schema::resource_access);
        let all = catalog.offered().map(ToolDefinition::from).chain(resource);
        all.filter(|tool| names.insert(tool.name.clone())).collect()
    }
}

impl From<&Tool> for ToolDefinition {
    fn from(tool: &Tool) -> Self {
        ToolDefinition {
            name: wire_name(tool.server.as_deref(), &tool.name),
            description: schema::description(tool.description.as_deref().or(tool.title.as_deref())),
            parameters: schema::parameters(tool.input_schema.as_ref()),
        }
    }
}
