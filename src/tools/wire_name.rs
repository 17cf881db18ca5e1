//! Names of tools in requests: letters, digits, underscores and hyphens, no servers.
//!
//! A request that carries tools offers them by these names, so a model may write one in its text as well.

use std::collections::HashSet;

use super::Tool;

/// Maximum length of a tool's name that is generated for requests. OpenAI accepts 64 characters, Gemini accepted 63.
pub const MAX_NAME: usize = 63;

/// Maximum length of the name of a program's own tool in requests: the limit of OpenAI.
const MAX_OWN_NAME: usize = 64;

/// Separator between server and tool in a tool's name in requests.
const BETWEEN: &str = "__";

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn begins(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Returns the name of a tool in requests: `server__tool`, or `tool` without a server.
///
/// If a name has other characters or is too long, or if `server__tool` could mean tools of two servers, the nearest
/// valid name ends in a hash of the real one. So the name depends on the tool alone, never on the other tools. Two
/// tools have the same name only if their 32-bit hashes are equal, or if a tool without a server, whose name is kept,
/// is called `server__tool` itself: [`Names`](crate::wire::Names) and
/// [`ToolDefinition::all`](crate::wire::ToolDefinition::all) then distinguish them.
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
    let plain = match server {
        Some(server) => format!("{server}{BETWEEN}{tool}"),
        None => tool.to_owned(),
    };
    // Then the first two underscores are the separator between server and tool.
    let readable =
        server.is_none_or(|server| !server.is_empty() && !server.contains(BETWEEN) && !server.ends_with('_'));
    let longest = if server.is_some() { MAX_NAME } else { MAX_OWN_NAME };
    // A name that endpoints accept, and from which server and tool can be told, is kept.
    if readable && begins(&plain) && plain.len() <= longest && plain.chars().all(allowed) {
        return plain;
    }
    hashed_name(server, tool)
}

/// Returns a name that endpoints accept: the valid characters of server and tool, cut, and a hash of the real name.
fn hashed_name(server: Option<&str>, tool: &str) -> String {
    let plain = [server.unwrap_or_default(), tool].join(if server.is_some() { BETWEEN } else { "" });
    let hash = format!("_{:08x}", hash(server, tool));
    let rest: String = plain.chars().filter(|c| allowed(*c)).collect();
    let first = if begins(&rest) { "" } else { "_" };
    let short: String = first.chars().chain(rest.chars()).take(MAX_NAME - hash.len()).collect();
    short + &hash
}

/// Returns the 32-bit FNV-1a hash of server and tool, which is the same in every program and version.
fn hash(server: Option<&str>, tool: &str) -> u32 {
    // This byte occurs in no UTF-8 text, so it separates server and tool.
    let apart = if server.is_some() { 0xff } else { 0xfe };
    let bytes = server.unwrap_or_default().bytes().chain([apart]).chain(tool.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns `true` if a name may end in a hash: `_` and eight hexadecimal digits.
pub(crate) fn may_be_hashed(name: &str) -> bool {
    let hash = name.len().checked_sub(9).and_then(|at| name.get(at..));
    hash.is_some_and(|hash| hash.starts_with('_') && hash[1..].bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Returns the names of tools without a server that are kept although a server's tool may have the same one.
pub(crate) fn own_names<'a>(tools: impl Iterator<Item = &'a Tool>) -> HashSet<&'a str> {
    tools.filter(|tool| tool.server.is_none() && tool.name.contains(BETWEEN)).map(|tool| tool.name.as_str()).collect()
}

/// Returns the name of a tool in requests; a server's tool gets a hash if its plain name is in `taken`.
pub(crate) fn name_beside(taken: &HashSet<&str>, tool: &Tool) -> String {
    let server = tool.server.as_deref();
    let name = wire_name(server, &tool.name);
    // A program's own tool keeps its name, so the server's tool gets the hash.
    if server.is_some() && taken.contains(name.as_str()) { hashed_name(server, &tool.name) } else { name }
}
