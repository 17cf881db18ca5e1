//! The tools of a server that are listed and can be called: according to its entry, and to later
//! switches.

use serde::{Deserialize, Serialize};

use crate::config::ServerConfig;
use toolgraft::Tool;
use toolgraft::tools::{ACCESS_RESOURCE, Server, exact_pattern, matches};

/// A tool of a server, and whether it is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolState {
    /// The name of the tool.
    pub name: String,
    /// `true` if the tool is listed and can be called.
    pub on: bool,
}

/// The rules that switch the tools of one server off or on: the lists of its entry, and the patterns that were switched
/// later. The last pattern that matches a tool takes precedence over all lists.
#[derive(Clone)]
pub(super) struct Switches {
    entry: ServerConfig,
    switched: Vec<(String, bool)>,
}

/// Characters with a special meaning in patterns of tool names.
const SIGNS: [char; 5] = ['*', '?', '.', '/', '\\'];

impl Switches {
    /// Creates the rules for the tools of a server from its entry.
    pub(super) fn of(config: &ServerConfig) -> Self {
        Switches { entry: config.clone(), switched: Vec::new() }
    }

    /// Returns `true` if there are no rules, so that all tools of the server are on.
    pub(super) fn is_empty(&self) -> bool {
        let ServerConfig { enabled_tools, disabled_tools, listed_tools, .. } = &self.entry;
        [enabled_tools, disabled_tools, listed_tools].iter().all(|list| list.is_empty()) && self.switched.is_empty()
    }

    /// Switches tools of a server off or on by a name or a glob. Returns the pattern that matches them; `None` if no
    /// tool matches.
    pub(super) fn switch(&mut self, server: &Server, word: &str, on: bool) -> Option<String> {
        let name = server.name.as_deref();
        let is_name = server.tools.iter().any(|tool| tool.name == word);
        // The name `a.b` of a tool would mean the tool `b` of a server `a`, and `a*` further tools.
        let pattern = if is_name && word.contains(SIGNS) { exact_pattern(name, word) } else { word.to_owned() };
        if !server.tools.iter().any(|tool| matches(&pattern, name, &tool.name)) {
            return None;
        }
        self.switched.retain(|(earlier, _)| *earlier != pattern);
        self.switched.push((pattern.clone(), on));
        Some(pattern)
    }

    /// Removes the tools of a server that are off. Returns notes about the tools that the entry's lists and the
    /// switches remove.
    pub(super) fn keep(&self, server: &mut Server) -> Vec<String> {
        let mut notes = Vec::new();
        let name = server.name.clone();
        let any = |globs: &[String], tool: &Tool| globs.iter().any(|g| matches(g, name.as_deref(), &tool.name));
        let switched = |tool: &Tool| {
            let fits = |(pattern, _): &&(String, bool)| matches(pattern, name.as_deref(), &tool.name);
            self.switched.iter().rev().find(fits).map(|(_, on)| *on)
        };
        // Tools that were switched later are not counted in the notes about the entry's lists.
        let by_entry = |tools: &[Tool]| tools.iter().filter(|tool| switched(tool).is_none()).count();
        let before = by_entry(&server.tools);
        if !self.entry.enabled_tools.is_empty() {
            server.tools.retain(|tool| switched(tool).is_some() || any(&self.entry.enabled_tools, tool));
            let among = by_entry(&server.tools);
            let note = || format!("{among} of {before} tools are in \"enabledTools\"");
            notes.extend((among < before).then(note));
        }
        let before = server.tools.len();
        server.tools.retain(|tool| switched(tool).is_some() || !any(&self.entry.disabled_tools, tool));
        match before - server.tools.len() {
            // A tool that was switched later is not removed here, so the list may name some all the same.
            0 if self.entry.disabled_tools.is_empty() || !self.switched.is_empty() => {}
            0 => notes
                .push(format!("\"disabledTools\" names none of its tools: {}", self.entry.disabled_tools.join(", "))),
            n => notes.push(format!("{} disabled by \"disabledTools\"", tools_are(n))),
        }
        let before = server.tools.len();
        server.tools.retain(|tool| switched(tool) != Some(false));
        let off = before - server.tools.len();
        notes.extend((off > 0).then(|| format!("{} switched off", tools_are(off))));
        if !self.entry.listed_tools.is_empty() {
            server.tools.retain(|tool| switched(tool).is_some() || any(&self.entry.listed_tools, tool));
            // If none of the globs is about this server, its resources are not listed either.
            let named = |glob: &String| matches(glob, name.as_deref(), ACCESS_RESOURCE);
            if server.tools.is_empty() && !self.entry.listed_tools.iter().any(named) {
                server.resources.clear();
                server.resource_templates.clear();
            }
        }
        notes
    }
}

fn tools_are(number: usize) -> String {
    if number == 1 { "1 tool is".to_owned() } else { format!("{number} tools are") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::tools::Resource;

    fn files() -> Server {
        let tools = ["read", "write", "delete"].map(Tool::new).to_vec();
        Server::new("files").with_tools(tools).with_resources(vec![Resource::new("file:///a")])
    }

    fn switches(enabled: &[&str], disabled: &[&str], listed: &[&str]) -> Switches {
        let globs = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
        Switches::of(&ServerConfig {
            enabled_tools: globs(enabled),
            disabled_tools: globs(disabled),
            listed_tools: globs(listed),
            ..ServerConfig::stdio("files", "x", [""; 0])
        })
    }

    fn kept(switches: &Switches) -> (String, String) {
        let mut server = files();
        let notes = switches.keep(&mut server);
        (server.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(" "), notes.join("; "))
    }

    #[test]
    fn tools_are_listed_by_name() {
        let kept = |disabled: &[&str], wanted: &[&str]| {
            let mut server = files();
            switches(&[], disabled, wanted).keep(&mut server);
            assert_eq!(server.resources.is_empty(), wanted == ["web.*"], "those of other servers are hidden too");
            kept(&switches(&[], disabled, wanted))
        };
        assert_eq!(kept(&[], &[]), ("read write delete".to_owned(), String::new()));
        assert_eq!(kept(&["del*"], &[]).0, "read write");
        assert!(kept(&["del*", "w*"], &[]).1.contains("2 tools are disabled"));
        assert!(kept(&["rm"], &[]).1.contains("names none of its tools: rm"));
        assert_eq!(kept(&[], &["files.r*", "write"]).0, "read write");
        assert_eq!(kept(&["read"], &["files/*"]).0, "write delete");
        assert_eq!(kept(&[], &["web.*"]).0, "");
    }

    #[test]
    fn only_enabled_tools_are_listed_and_a_disabled_one_among_them_is_not() {
        let (tools, notes) = kept(&switches(&["read", "files.w*"], &["write"], &[]));
        assert_eq!(tools, "read");
        assert_eq!(notes, "2 of 3 tools are in \"enabledTools\"; 1 tool is disabled by \"disabledTools\"");
    }

    #[test]
    fn what_was_switched_last_counts_before_every_list() {
        let mut switches = switches(&["read", "write"], &["wr*"], &["read"]);
        assert_eq!(kept(&switches).0, "read");
        let mut switch = |word: &str, on: bool| {
            let pattern = switches.switch(&files(), word, on);
            let (tools, notes) = kept(&switches);
            (pattern.unwrap_or_default(), tools, notes)
        };
        assert_eq!(switch("delete", true).1, "read delete");
        assert_eq!(switch("*", false), ("*".to_owned(), String::new(), "3 tools are switched off".to_owned()));
        assert_eq!(switch("write", true).1, "write");
        assert_eq!(switch("*", true).1, "read write delete");
        assert_eq!(switch("no-such", false).0, "");
    }

    #[test]
    fn a_name_with_signs_of_a_pattern_means_its_own_tool() {
        let server = Server::new("s").with_tools(["a.b", "a*", "ax"].map(Tool::new).to_vec());
        let mut switches = switches(&[], &[], &[]);
        for (word, left) in [("a.b", "a* ax"), ("a*", "ax"), ("a?", "")] {
            switches.switch(&server, word, false).unwrap();
            let mut kept = server.clone();
            switches.keep(&mut kept);
            assert_eq!(kept.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" "), left, "{word}");
        }
    }
}
