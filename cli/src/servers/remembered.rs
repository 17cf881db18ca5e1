//! Saves what was switched in a conversation to the entry of its server.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::Failure;
use crate::servers::config_file::{ConfigFile, Entry};
use crate::servers::trust::{self, Project, Store};
use toolgraft::tools::matches;
use toolgraft_mcp::{ServerConfig, ToolState};

/// Remembers that a server is on or off. The file that was written.
pub(crate) fn server(server: &ServerConfig, on: bool) -> Result<PathBuf, Failure> {
    let entry = Remembered::open(server)?;
    entry.set("disabled", (!on).then(|| json!(true)));
    entry.write()
}

/// Remembers that tools, named by their patterns, are on or off; `known` are those that the
/// server has. The file that was written.
pub(crate) fn tools(
    server: &ServerConfig,
    (patterns, on): (&[String], bool),
    known: &[ToolState],
) -> Result<PathBuf, Failure> {
    let remembered = Remembered::open(server)?;
    let (enabled, disabled) = lists(&remembered.entry, (patterns, on));
    if on && let Some((tool, glob)) = still_off(&server.name, patterns, known, &disabled) {
        let file = remembered.path.display();
        return Err(Failure::usage(format!(
            "\"disabledTools\" in {file} has \"{glob}\", which switches {tool} off at the next start: switch that \
             glob on, or change it there"
        )));
    }
    for (key, names) in [("enabledTools", enabled), ("disabledTools", disabled)] {
        remembered.set(key, (!names.is_empty()).then(|| json!(names)));
    }
    remembered.write()
}

/// Returns the entry's lists with these patterns on or off.
fn lists(entry: &Entry, (patterns, on): (&[String], bool)) -> (Vec<String>, Vec<String>) {
    let list = |key: &str| {
        let names = entry.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (mut enabled, mut disabled) = (list("enabledTools"), list("disabledTools"));
    for pattern in patterns {
        disabled.retain(|earlier| earlier != pattern);
        match on {
            false => disabled.push(pattern.clone()),
            // An empty list means all tools.
            true if !enabled.is_empty() && !enabled.contains(pattern) => enabled.push(pattern.clone()),
            true => {}
        }
    }
    (enabled, disabled)
}

/// Returns a tool that was switched on and that another glob of the list switches off all the same.
fn still_off<'a>(
    server: &str,
    patterns: &[String],
    known: &'a [ToolState],
    disabled: &'a [String],
) -> Option<(&'a str, &'a str)> {
    let fits = |pattern: &String, tool: &ToolState| matches(pattern, Some(server), &tool.name);
    known.iter().filter(|tool| patterns.iter().any(|pattern| fits(pattern, tool))).find_map(|tool| {
        let glob = disabled.iter().find(|glob| fits(glob, tool))?;
        Some((tool.name.as_str(), glob.as_str()))
    })
}

/// A server's entry in its file.
struct Remembered<'a> {
    server: &'a str,
    path: PathBuf,
    file: ConfigFile,
    entry: Entry,
    /// `true` if the file belongs to a project and is trusted as it is.
    is_trusted: bool,
}

impl<'a> Remembered<'a> {
    fn open(server: &'a ServerConfig) -> Result<Self, Failure> {
        let path = server.file().map(Path::new).filter(|path| path.is_file()).map(Path::to_owned);
        let name = &server.name;
        let path = path.ok_or_else(|| {
            Failure::usage(format!("{name:?} is in no file that can be written to: {}", server.place))
        })?;
        let file = ConfigFile::open(path.clone())?;
        let gone = || Failure::usage(format!("{} has no server {name:?} any more", path.display()));
        let entry = file.entry(name).ok_or_else(gone)?;
        // The text that is changed must be the one that is trusted.
        let project = Project::read(&path).ok().filter(|project| Store::open().trusts(project));
        let is_trusted = project.is_some_and(|project| project.text == file.text());
        Ok(Remembered { server: name, path, file, entry, is_trusted })
    }

    fn set(&self, key: &str, value: Option<Value>) {
        self.file.set_key(self.server, key, value.as_ref());
    }

    /// Writes the file. Who trusted it trusts it with their own change, too.
    fn write(self) -> Result<PathBuf, Failure> {
        self.file.write()?;
        if self.is_trusted {
            let project = Project::read(&self.path)?;
            let mut store = Store::open();
            if project.text == self.file.text() {
                trust::remember(&mut store, &project);
            }
        }
        Ok(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft_mcp::Config;

    /// Returns the file after tools were switched, one step after the other.
    fn after(entry: &Value, steps: &[(&str, bool)]) -> Result<Value, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        std::fs::write(&path, json!({ "mcpServers": { "s": entry } }).to_string()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let config = Config::parse(&text, &path.display().to_string(), &|_| None).unwrap();
        let known: Vec<ToolState> =
            serde_json::from_value(json!([{ "name": "read", "on": true }, { "name": "delete", "on": false }])).unwrap();
        for (pattern, on) in steps {
            let done = tools(&config.servers()[0], (&[(*pattern).to_owned()], *on), &known);
            done.map_err(|failure| failure.message().to_owned())?;
        }
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        Ok(file["mcpServers"]["s"].clone())
    }

    #[test]
    fn tools_are_remembered_in_the_lists_of_their_entry() {
        let plain = json!({ "command": "x" });
        assert_eq!(after(&plain, &[("read", false)]), Ok(json!({ "command": "x", "disabledTools": ["read"] })));
        assert_eq!(after(&plain, &[("read", false), ("read", true)]), Ok(plain));
        let some = json!({ "command": "x", "enabledTools": ["read"] });
        assert_eq!(
            after(&some, &[("delete", true), ("read", false)]),
            Ok(json!({ "command": "x", "enabledTools": ["read", "delete"], "disabledTools": ["read"] }))
        );
    }

    #[test]
    fn a_glob_that_covers_a_tool_is_named_and_nothing_is_written() {
        let entry = json!({ "command": "x", "disabledTools": ["del*"] });
        let error = after(&entry, &[("delete", true)]).unwrap_err();
        assert!(error.contains("\"del*\"") && error.contains("delete") && error.contains("mcp.json"), "{error}");
        assert_eq!(after(&entry, &[("del*", true)]), Ok(json!({ "command": "x" })));
    }
}
