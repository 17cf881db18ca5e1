//! The tools and resources of all servers, in order, and searches among them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::setters;
use crate::tools::{ACCESS_RESOURCE, BuiltIn, Resource, ResourceTemplate, Search, Tool};

mod likeliest;
mod names;

/// Maximum number of similar names that the error for an unknown tool suggests.
pub const MAX_NEAREST: usize = 3;

/// Names with a lower similarity (Jaro-Winkler, 0 to 1) are not suggested.
const NEAREST_THRESHOLD: f64 = 0.7;

/// A server's tools and resources.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Server {
    /// Name of the server; `None` for tools that need no server name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The server's own instructions for a model. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Tools, in the server's order.
    pub tools: Vec<Tool>,
    /// Resources, in the server's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// Resource templates, in the server's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_templates: Vec<ResourceTemplate>,
    /// `true` if calls of the server's tools may run concurrently. By default the calls of one message run in the order
    /// written, except those of tools that are both marked read-only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parallel: bool,
}

impl Server {
    /// Creates a server of this name without tools and resources.
    pub fn new(name: impl Into<String>) -> Self {
        Server { name: Some(name.into()), ..Server::default() }
    }

    /// Returns `true` if the server has texts besides names that a prompt shows: instructions or a description.
    pub fn has_words(&self) -> bool {
        let is_said = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        // Every text but the names, which a model needs to call the tools at all.
        is_said(&self.instructions)
            || self
                .tools
                .iter()
                .any(|tool| is_said(&tool.description) || tool.input_schema.as_ref().is_some_and(describes))
            || self.resources.iter().any(|resource| is_said(&resource.description))
            || self.resource_templates.iter().any(|template| is_said(&template.description))
    }

    /// Returns `true` if the server has resources or resource templates.
    pub(crate) fn has_resources(&self) -> bool {
        !(self.resources.is_empty() && self.resource_templates.is_empty())
    }
}

/// Returns `true` if a schema contains a description.
fn describes(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| key == "description" || describes(value)),
        Value::Array(items) => items.iter().any(describes),
        _ => false,
    }
}

setters!(
    Server,
    with_instructions => instructions: Option<String>, with_tools => tools: Vec<Tool>,
    with_resources => resources: Vec<Resource>,
    with_resource_templates => resource_templates: Vec<ResourceTemplate>, with_parallel => parallel: bool
);

/// The ordered tools and resources of all servers. A catalog is immutable: a change makes a new one.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    servers: Vec<Server>,
    /// Maps a tool's name to the indices (server, tool) of all tools of that name, in order.
    by_name: HashMap<String, Vec<(usize, usize)>>,
    /// The built-in tools, if there are any. They are the tools of the last server.
    built_in: Vec<BuiltIn>,
    /// Index for searches by words; built on the first search.
    search: OnceLock<Arc<Search>>,
}

/// The tool that a lookup found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Found<'a> {
    /// Tool that was found.
    pub tool: &'a Tool,
    /// `true` if the server of the call was missing or unknown and was resolved from the catalog.
    pub server_resolved: bool,
    /// `true` if the tool's name was written differently from the catalog; see [`Catalog::resolve`].
    pub name_matched: bool,
}

/// Error of a lookup: a name matches no tool, or several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub struct NotFound {
    /// Server that was looked up, as written.
    pub server: Option<String>,
    /// Name of the tool that was looked up, as written.
    pub tool: String,
    /// Names that may have been meant, nearest first, as `tool` or, if the server matters, `server.tool`; at most
    /// [`MAX_NEAREST`].
    pub nearest: Vec<String>,
}

impl NotFound {
    fn message(&self) -> String {
        let server = self.server.as_ref().map(|s| format!(" on server {s:?}")).unwrap_or_default();
        let nearest = match self.nearest.as_slice() {
            [] => String::new(),
            names => format!("; nearest: {}", names.join(", ")),
        };
        format!("no tool {:?}{server}{nearest}", self.tool)
    }
}

impl Catalog {
    /// Creates a catalog of these servers, in their order.
    ///
    /// Each tool's `server` is set to its server's name.
    pub fn new(servers: impl IntoIterator<Item = Server>) -> Self {
        let mut catalog = Catalog { servers: servers.into_iter().collect(), ..Catalog::default() };
        for (s, server) in catalog.servers.iter_mut().enumerate() {
            for (t, tool) in server.tools.iter_mut().enumerate() {
                tool.server.clone_from(&server.name);
                catalog.by_name.entry(tool.name.clone()).or_default().push((s, t));
            }
        }
        catalog
    }

    /// Creates a catalog of single tools, grouped by their `server` in order of first mention.
    pub fn from_tools(tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut servers: Vec<Server> = Vec::new();
        for tool in tools {
            match servers.iter_mut().find(|s| s.name == tool.server) {
                Some(server) => server.tools.push(tool),
                None => servers.push(Server { name: tool.server.clone(), tools: vec![tool], ..Server::default() }),
            }
        }
        Catalog::new(servers)
    }

    /// Adds a built-in tool, in a server without a name after all others; with [`BuiltIn::Find`] also
    /// [`BuiltIn::Describe`]. A turn answers calls of a built-in tool itself.
    ///
    /// The built-in tool has another name than usual if another tool has that name: every tool of a server stays
    /// callable. A catalog without tools, or one that has the built-in tool already, stays as it is.
    #[must_use]
    pub fn with_built_in(mut self, kind: BuiltIn) -> Self {
        if kind == BuiltIn::Find {
            self = self.with_built_in(BuiltIn::Describe);
        }
        // Without tools there is nothing to describe, to find or to read on in.
        if self.by_name.is_empty() || self.built_in.contains(&kind) {
            return self;
        }
        let tool = kind.named(self.free_name(kind));
        // All built-in tools are in one server, the last one.
        let mut own = if self.built_in.is_empty() { Server::default() } else { self.servers.pop().unwrap_or_default() };
        own.tools.push(tool);
        self.built_in.push(kind);
        Catalog { built_in: self.built_in, ..Catalog::new(self.servers.into_iter().chain([own])) }
    }

    /// Returns the first name for the built-in tool that no tool has.
    fn free_name(&self, kind: BuiltIn) -> String {
        let [name, other] = kind.names();
        let others = (2..).map(|n| format!("{name}_{n}"));
        let mut names = [name.to_owned(), other.to_owned()].into_iter().chain(others);
        names.find(|name| !self.knows(name)).expect("the numbers do not end")
    }

    /// Returns the built-in tool of this kind, if the catalog has it.
    pub fn built_in(&self, kind: BuiltIn) -> Option<&Tool> {
        let place = self.built_in.iter().position(|own| *own == kind)?;
        self.servers.last()?.tools.get(place)
    }

    /// Returns the kind of built-in tool that a call is for, if it is for one.
    pub fn as_built_in(&self, server: Option<&str>, tool: &str) -> Option<BuiltIn> {
        let is_meant = |kind: &BuiltIn| self.built_in(*kind).is_some_and(|own| own.name == tool);
        // A tool of a server that has this name is the server's.
        self.built_in.iter().copied().find(is_meant).filter(|_| server.is_none())
    }

    /// Returns `true` if a call of the tool only reads: the tool is marked read-only, which may be wrong; it is a
    /// built-in one; or it is [`ACCESS_RESOURCE`], unless a tool has that name.
    #[cfg_attr(not(feature = "agent"), expect(dead_code, reason = "only a turn asks"))]
    pub(crate) fn is_read_only(&self, server: Option<&str>, tool: &str) -> bool {
        match self.find(server, tool) {
            Ok(found) => found.tool.is_read_only() || self.as_built_in(server, tool).is_some(),
            Err(_) => tool == ACCESS_RESOURCE,
        }
    }

    /// Returns the servers without the one of the built-in tools.
    pub(crate) fn offering(&self) -> &[Server] {
        &self.servers[..self.servers.len() - usize::from(!self.built_in.is_empty())]
    }

    /// Returns the tools that servers offer, server by server, without the built-in ones.
    pub fn offered(&self) -> impl Iterator<Item = &Tool> + Clone {
        self.offering().iter().flat_map(|server| &server.tools)
    }

    fn at(&self, (server, tool): (usize, usize)) -> &Tool {
        &self.servers[server].tools[tool]
    }

    /// Returns the servers, in order.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the server of this name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|s| s.name.as_deref() == Some(name))
    }

    /// Returns the server that offers this tool of the catalog.
    #[cfg(feature = "agent")]
    pub(crate) fn server_of(&self, tool: &Tool) -> Option<&Server> {
        let is_it = |own: &Tool| std::ptr::eq(own, tool);
        self.by_name
            .get(&tool.name)?
            .iter()
            .find(|place| is_it(self.at(**place)))
            .map(|(server, _)| &self.servers[*server])
    }

    /// Returns all tools, server by server, the built-in ones at the end.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.servers.iter().flat_map(|s| &s.tools)
    }

    /// Returns `true` if there are neither tools nor resources.
    pub fn is_empty(&self) -> bool {
        self.servers.iter().all(|s| s.tools.is_empty() && !s.has_resources())
    }

    /// Returns `true` if more than one server offers a tool of this name.
    pub fn is_ambiguous(&self, tool: &str) -> bool {
        self.by_name.get(tool).is_some_and(|places| places.len() > 1)
    }

    /// Returns `true` if the catalog has a tool of this name on any server.
    pub fn knows(&self, tool: &str) -> bool {
        self.by_name.contains_key(tool)
    }

    /// Returns the tag that calls a tool in dialects whose tags are tools' names: the name, or `server.tool` if several
    /// servers offer it.
    pub fn tag<'a>(&self, tool: &'a Tool) -> Cow<'a, str> {
        match &tool.server {
            Some(server) if self.is_ambiguous(&tool.name) => Cow::Owned(format!("{server}.{}", tool.name)),
            _ => Cow::Borrowed(&tool.name),
        }
    }

    /// Finds the tool of a call: the one with exactly this server and name; otherwise, if the server is missing or
    /// unknown, the only tool of that name. A built-in tool is found whatever the server. For a name as a model wrote
    /// it see [`resolve`](Catalog::resolve); policies and toolboxes use exact names.
    ///
    /// # Errors
    /// [`NotFound`] with the nearest names.
    pub fn find(&self, server: Option<&str>, tool: &str) -> Result<Found<'_>, NotFound> {
        let places = self.by_name.get(tool).map(Vec::as_slice).unwrap_or_default();
        let at = |place: &(usize, usize)| self.at(*place);
        if let Some(tool) = places.iter().map(at).find(|t| t.server.as_deref() == server) {
            return Ok(Found { tool, server_resolved: false, name_matched: false });
        }
        let unknown_server = server.is_none_or(|name| self.server(name).is_none());
        match places {
            // A built-in tool is in the last server, which has no name, so any named server counts as unknown for it.
            [place] if unknown_server || (!self.built_in.is_empty() && place.0 == self.servers.len() - 1) => {
                Ok(Found { tool: at(place), server_resolved: true, name_matched: false })
            }
            _ => {
                let nearest = self.nearest_on(server, tool);
                Err(NotFound { server: server.map(str::to_owned), tool: tool.to_owned(), nearest })
            }
        }
    }

    /// Returns the tools that a name matches, which is a tool's name or `server.tool`: several if servers share it.
    ///
    /// # Errors
    /// [`NotFound`] with the nearest names.
    pub fn named(&self, name: &str) -> Result<Vec<&Tool>, NotFound> {
        let name = name.trim();
        // A tool's own name may have a dot.
        if let Some(places) = self.by_name.get(name) {
            return Ok(places.iter().map(|place| self.at(*place)).collect());
        }
        // A server's name may contain a `.` or `/` itself, so every split is tried.
        let splits = || name.match_indices(['.', '/']).map(|(at, _)| (&name[..at], &name[at + 1..]));
        if let Some(found) = splits().find_map(|(server, tool)| self.find(Some(server), tool).ok()) {
            return Ok(vec![found.tool]);
        }
        let near = |(server, tool): (&str, &str)| Some(self.nearest_on(Some(server), tool)).filter(|n| !n.is_empty());
        let on_server = splits().filter(|(server, _)| self.server(server).is_some()).find_map(near);
        let alike = || Some(self.nearest(name)).filter(|names| !names.is_empty());
        // A server that exists was named on purpose, so its tools come first.
        let nearest = on_server.or_else(alike).or_else(|| splits().find_map(near)).unwrap_or_default();
        Err(NotFound { server: None, tool: name.to_owned(), nearest })
    }

    /// Returns the server that a resource is read from: the named one; otherwise, if the server is missing or unknown,
    /// the only one that lists the address; otherwise the only one that has resources.
    pub fn resource_server(&self, named: Option<&str>, uri: &str) -> Option<&Server> {
        let lists = |s: &&Server| s.resources.iter().any(|r| r.uri == uri);
        named
            .and_then(|name| self.server(name))
            .or_else(|| only(self.servers.iter().filter(lists)))
            .or_else(|| only(self.servers.iter().filter(|s| s.has_resources())))
    }

    /// Returns the names that are most similar to `name`, nearest first. A name that several servers have is returned
    /// with each server, as `server.tool`.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        self.nearest_on(None, name)
    }

    /// Returns the names that are most similar to `name`, those of the named server's tools first; the others then have
    /// their servers.
    fn nearest_on(&self, server: Option<&str>, name: &str) -> Vec<String> {
        let server = server.filter(|name| self.server(name).is_some());
        let is_there = |tool: &Tool| server.is_some() && tool.server.as_deref() == server;
        let wanted = name.to_lowercase();
        let letters = Letters::of(&wanted);
        let mut scored: Vec<(f64, &Tool)> = self
            .tools()
            .filter(|tool| letters.as_ref().is_none_or(|letters| letters.may_be_near(&tool.name)))
            .map(|tool| (strsim::jaro_winkler(&wanted, &tool.name.to_lowercase()), tool))
            .filter(|(score, _)| *score >= NEAREST_THRESHOLD)
            .collect();
        scored.sort_by(|a, b| is_there(b.1).cmp(&is_there(a.1)).then(b.0.total_cmp(&a.0)));
        scored.truncate(MAX_NEAREST);
        scored
            .into_iter()
            .map(|(_, tool)| match &tool.server {
                // A bare name would be ambiguous if it is the one that was not found, or if it belongs to another
                // server than the named one.
                Some(own) if tool.name == name || (server.is_some() && !is_there(tool)) => {
                    format!("{own}.{}", tool.name)
                }
                _ => self.tag(tool).into_owned(),
            })
            .collect()
    }
}

/// The number of occurrences of each letter in a name of ASCII letters, in lower case.
struct Letters {
    counts: [u8; 128],
    length: usize,
}

impl Letters {
    fn of(name: &str) -> Option<Self> {
        let mut counts = [0; 128];
        for byte in name.bytes() {
            let count = counts.get_mut(usize::from(byte.to_ascii_lowercase()))?;
            // A name that cannot be counted is compared letter by letter.
            *count = u8::checked_add(*count, 1)?;
        }
        Some(Letters { counts, length: name.len() })
    }

    /// Returns `true` if another name shares enough letters to reach [`NEAREST_THRESHOLD`]: with `m` letters in common,
    /// Jaro's measure of names of lengths `a` and `b` is at most `(m/a + m/b + 1) / 3`, and Winkler adds to it only
    /// above that threshold. Comparing each pair of letters takes a hundred times as long.
    fn may_be_near(&self, name: &str) -> bool {
        let Some(other) = Letters::of(name) else { return true };
        let pairs = self.counts.iter().zip(&other.counts);
        let common: usize = pairs.map(|(a, b)| usize::from(*a.min(b))).sum();
        10 * common * (self.length + other.length) >= 11 * self.length * other.length
    }
}

/// Returns the first item if there is no second.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    #[test]
    fn near_names_are_looked_for_on_the_named_server_first() {
        let others = (0..6).map(|n| Tool::new("read_files").with_server(format!("other{n}")));
        let catalog = Catalog::from_tools(others.chain([Tool::new("read_text_file").with_server("files")]));
        let near = |server, name| catalog.find(server, name).unwrap_err().nearest;
        assert_eq!(near(Some("files"), "read_file")[..2], ["read_text_file", "other0.read_files"]);
        assert_eq!(near(Some("nobody"), "read_file")[0], "other0.read_files");
        assert_eq!(catalog.named("files.read_file").unwrap_err().nearest[0], "read_text_file");
    }

    use super::*;
    use crate::tools::{Annotations, DESCRIBE_TOOL};

    #[test]
    fn no_name_that_is_near_is_passed_over() {
        let names =
            ["", "a", "ab", "ba", "read_file", "Read_File", "file_read", "reed_fil", "delete", "查询天气", "get"];
        let mut near = 0;
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (*a, *b))) {
            let is_near = strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase()) >= NEAREST_THRESHOLD;
            near += usize::from(is_near);
            let may_be = Letters::of(&a.to_lowercase()).is_none_or(|letters| letters.may_be_near(b));
            assert!(may_be || !is_near, "{a} {b}");
        }
        assert!(near > names.len(), "{near}");
        let letters = Letters::of("read_file").unwrap();
        assert!(!letters.may_be_near("count_orders") && letters.may_be_near("rread_fil"));
    }

    fn two_servers() -> Catalog {
        Catalog::from_tools([
            Tool::new("get_weather").with_server("weather"),
            Tool::new("search").with_server("web"),
            Tool::new("search").with_server("files"),
        ])
    }

    #[test]
    fn a_missing_or_unknown_server_is_resolved_when_one_server_has_the_tool() {
        let catalog = two_servers();
        for server in [None, Some("wether")] {
            let found = catalog.find(server, "get_weather").unwrap();
            assert_eq!(found.tool.server.as_deref(), Some("weather"));
            assert!(found.server_resolved);
        }
        assert!(!catalog.find(Some("weather"), "get_weather").unwrap().server_resolved);
    }

    #[test]
    fn a_tool_of_two_servers_needs_its_server() {
        let catalog = two_servers();
        assert_eq!(catalog.find(Some("files"), "search").unwrap().tool.server.as_deref(), Some("files"));
        let error = catalog.find(None, "search").unwrap_err();
        assert_eq!(error.nearest, ["web.search", "files.search"]);
    }

    #[test]
    fn a_resources_server_is_the_named_one_or_the_only_one_that_fits() {
        let server = |name: &str, uris: &[&str]| Server {
            name: Some(name.into()),
            resources: uris.iter().map(|uri| Resource { uri: (*uri).into(), ..Resource::default() }).collect(),
            ..Server::default()
        };
        let find = |catalog: &Catalog, named, uri| catalog.resource_server(named, uri).and_then(|s| s.name.clone());
        let two = Catalog::new([server("a", &["a:1", "b:1"]), server("b", &["b:1"]), server("c", &[])]);
        assert_eq!(find(&two, Some("c"), "a:1").as_deref(), Some("c"));
        for named in [None, Some("x")] {
            assert_eq!(find(&two, named, "a:1").as_deref(), Some("a"));
            assert_eq!(find(&two, named, "b:1"), None, "two servers list it");
            assert_eq!(find(&two, named, "c:1"), None, "two servers have resources");
        }
        let one = Catalog::new([server("a", &["a:1"]), server("c", &[])]);
        assert_eq!(find(&one, None, "a:2").as_deref(), Some("a"));
    }

    #[test]
    fn a_known_server_without_the_tool_is_not_replaced() {
        let error = two_servers().find(Some("web"), "get_weather").unwrap_err();
        assert_eq!(error.nearest, ["weather.get_weather"]);
        assert_eq!(error.to_string(), "no tool \"get_weather\" on server \"web\"; nearest: weather.get_weather");
    }

    #[test]
    fn the_built_in_tool_is_found_whatever_the_server() {
        let catalog = two_servers().with_built_in(BuiltIn::Describe);
        for server in [None, Some("web"), Some("unknown")] {
            let found = catalog.find(server, DESCRIBE_TOOL).unwrap();
            assert_eq!((found.tool.server.as_deref(), found.server_resolved), (None, server.is_some()));
        }
        assert_eq!(catalog.as_built_in(None, DESCRIBE_TOOL), Some(BuiltIn::Describe));
        assert_eq!(catalog.as_built_in(None, "search"), None);
        assert_eq!(catalog.find(None, "describe_tol").unwrap_err().nearest, [DESCRIBE_TOOL]);
        assert_eq!((catalog.tools().count(), catalog.offered().count()), (4, 3));
        assert_eq!(catalog.clone().with_built_in(BuiltIn::Describe).servers(), catalog.servers());
        assert!(Catalog::default().with_built_in(BuiltIn::Describe).built_in(BuiltIn::Describe).is_none());
    }

    #[test]
    fn a_servers_tool_of_the_built_in_name_keeps_it() {
        let own = Catalog::from_tools([Tool::new(DESCRIBE_TOOL).with_server("s")]).with_built_in(BuiltIn::Describe);
        assert_eq!(own.find(None, DESCRIBE_TOOL).unwrap().tool.server.as_deref(), Some("s"));
        assert!([Some("s"), None].iter().all(|server| own.as_built_in(*server, DESCRIBE_TOOL).is_none()));
        assert_eq!(own.built_in(BuiltIn::Describe).unwrap().name, "describe_listed_tool");
        let loose = Catalog::from_tools([Tool::new(DESCRIBE_TOOL), Tool::new("describe_listed_tool")]);
        let loose = loose.with_built_in(BuiltIn::Describe);
        assert_eq!(loose.built_in(BuiltIn::Describe).unwrap().name, "describe_tool_2");
        assert_eq!(loose.as_built_in(None, DESCRIBE_TOOL), None);
    }

    #[test]
    fn a_call_only_reads_by_what_its_tool_says_or_as_one_of_our_own() {
        let reading = Annotations::default().with_read_only_hint(true);
        let read = Tool { annotations: Some(reading), ..Tool::new("read") };
        let catalog =
            Catalog::new([Server::new("s").with_tools([read, Tool::new("write")])]).with_built_in(BuiltIn::Describe);
        let reads = |tool: &str| catalog.is_read_only(None, tool);
        assert_eq!(
            ["read", "write", DESCRIBE_TOOL, ACCESS_RESOURCE, "red"].map(reads),
            [true, false, true, true, false]
        );
        let own = Catalog::from_tools([Tool::new(ACCESS_RESOURCE)]);
        assert!(!own.is_read_only(None, ACCESS_RESOURCE));
    }

    #[test]
    fn a_name_stands_for_each_tool_that_has_it() {
        let catalog = two_servers();
        let servers = |name: &str| -> Vec<_> {
            catalog.named(name).unwrap().iter().map(|tool| tool.server.clone().unwrap()).collect()
        };
        assert_eq!(servers("search"), ["web", "files"]);
        for name in ["files.search", "files/search", " files.search "] {
            assert_eq!(servers(name), ["files"], "{name}");
        }
        assert_eq!(servers("wether.get_weather"), ["weather"]);
        for name in ["get_wether", "weather.get_wether"] {
            assert_eq!(catalog.named(name).unwrap_err().nearest, ["get_weather"], "{name}");
        }
        let dotted = Catalog::from_tools([Tool::new("x.y").with_server("a.b")]);
        assert_eq!(dotted.named("a.b.x.y").unwrap().len(), 1);
    }

    #[test]
    fn nearest_names_are_offered_and_far_ones_are_not() {
        let error = two_servers().find(None, "get_wether").unwrap_err();
        assert_eq!(error.nearest, ["get_weather"]);
        assert!(two_servers().find(None, "zzz").unwrap_err().nearest.is_empty());
    }
}
