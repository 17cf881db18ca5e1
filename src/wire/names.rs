//! Names on the wire: letters, digits, underscores and hyphens, no servers.

use std::collections::{HashMap, HashSet};

use super::plain::{ToolDefinition, WireError};
use super::schema;
use crate::conversation::HistoryCall;
use crate::event::Call;
use crate::message::NativeCall;
use crate::tools::{ACCESS_RESOURCE, Catalog, Tool};

/// Longest name on the wire that is made here. OpenAI takes 64 characters, Gemini took 63.
pub const MAX_NAME: usize = 63;

/// Longest name that a program may have given a tool of its own: what OpenAI takes.
const MAX_OWN_NAME: usize = 64;

/// What stands between server and tool.
const BETWEEN: &str = "__";

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn begins(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The name of a tool on the wire: `server__tool`, or `tool` without a server.
///
/// Where a name has other characters or is too long, or where `server__tool` could mean
/// tools of two servers, the nearest such name ends in a hash of the real one. So the name
/// depends on the tool alone, never on the other tools, and two tools have the same one only
/// if their 32-bit hashes are equal; or where a tool without a server, whose name is kept,
/// is called `server__tool` itself: [`Names`] and [`ToolDefinition::all`] then tell them apart.
///
/// ```
/// use toolgraft::wire::wire_name;
///
/// assert_eq!(wire_name(Some("weather"), "get"), "weather__get");
/// assert_eq!(wire_name(None, "get"), "get");
/// assert_eq!(wire_name(None, "my__own-name"), "my__own-name");
/// assert!(wire_name(Some("天气"), "get").starts_with("__get_"));
/// ```
pub fn wire_name(server: Option<&str>, tool: &str) -> String {
    // Without a server a resource access is the one function for all of them.
    let plain = match server {
        Some(server) => format!("{server}{BETWEEN}{tool}"),
        None => tool.to_owned(),
    };
    // The first two underscores are then the ones between server and tool.
    let readable =
        server.is_none_or(|server| !server.is_empty() && !server.contains(BETWEEN) && !server.ends_with('_'));
    let longest = if server.is_some() { MAX_NAME } else { MAX_OWN_NAME };
    if readable && begins(&plain) && plain.len() <= longest && plain.chars().all(allowed) {
        return plain;
    }
    hashed_name(server, tool)
}

/// The nearest name that fits, with a hash of the real one.
fn hashed_name(server: Option<&str>, tool: &str) -> String {
    let plain = [server.unwrap_or_default(), tool].join(if server.is_some() { BETWEEN } else { "" });
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
        let taken = own_names(catalog);
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

    /// Server and tool of a name on the wire.
    pub fn find(&self, name: &str) -> Option<(Option<&str>, &str)> {
        self.tools.get(name).map(|(server, tool)| (server.as_deref(), tool.as_str()))
    }

    /// A native call as a call of the tool that its name stands for; of a name that stands
    /// for none, of a tool of that name.
    ///
    /// # Errors
    /// The arguments' text is no JSON.
    pub fn read(&self, native: &NativeCall) -> Result<Call, WireError> {
        let mut call = Call::try_from(native.clone())?;
        if let Some((server, tool)) = self.find(&native.name) {
            (call.server, call.tool) = (server.map(str::to_owned), tool.to_owned());
        }
        Ok(call)
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

/// Names of tools without a server that are kept although a server's tool may have them.
fn own_names(catalog: &Catalog) -> HashSet<&str> {
    let own = catalog.tools().filter(|tool| tool.server.is_none() && tool.name.contains(BETWEEN));
    own.map(|tool| tool.name.as_str()).collect()
}

/// The name of a tool on the wire beside those.
fn name_beside(taken: &HashSet<&str>, tool: &Tool) -> String {
    let server = tool.server.as_deref();
    let name = wire_name(server, &tool.name);
    if server.is_some() && taken.contains(name.as_str()) { hashed_name(server, &tool.name) } else { name }
}

fn has_resources(catalog: &Catalog) -> bool {
    catalog.servers().iter().any(|s| !s.resources.is_empty() || !s.resource_templates.is_empty())
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
        let (mut names, taken) = (HashSet::new(), own_names(catalog));
        let resource = has_resources(catalog).then(schema::resource_access);
        let named = |tool: &Tool| ToolDefinition { name: name_beside(&taken, tool), ..ToolDefinition::from(tool) };
        let all = catalog.offered().map(named).chain(resource);
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
