//! Configurations of other programs to entries as ours are written.
//!
//! Read are `mcpServers` (most programs), `servers` (VS Code), the `mcp` of VS Code's older
//! settings, `context_servers` (Zed), what Claude Code keeps for a folder, and the forms of
//! Codex, Gemini CLI and opencode, which have tables of their own ([`forms`]). Whatever
//! lets calls run without a question stays behind, and so does every key that nobody here
//! knows; both are named. Variables of other programs become
//! ours: `${input:token}` is `${TOKEN}`.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::forms::{Form, Taken};
use super::places::Machine;
use crate::base::{Failure, input};
use crate::servers::config_file::{self, Entry};
use crate::servers::trust::Project;

/// Keys that are taken over as they are.
const KEPT: &[&str] = &[
    "enabledTools", "disabledTools", "type", "command", "args", "env", "cwd", "url", "headers", "oauth", "disabled",
    "timeout",
];

/// A time-out above this is in milliseconds, as Claude Code writes it
/// (code.claude.com/docs/en/mcp): those who write seconds allow an hour.
const MOST_SECONDS: f64 = 3_600.0;

/// Keys that let calls run without a question.
const APPROVALS: &[&str] = &["autoApprove", "alwaysAllow", "trust"];

/// A server of another program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    pub(super) name: String,
    pub(super) entry: Entry,
    /// What is different from there.
    pub(super) notes: Vec<Note>,
    /// Keys for which there is nothing here: the server is not taken over.
    pub(super) refused: Vec<String>,
}

/// Something that is different from there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    /// A key that lets calls run without a question.
    NotApproved(String),
    /// Keys that nobody here knows.
    LeftOut(Vec<String>),
    /// What the other program asks for, and the variable that it is here.
    Variable(String, String),
}

impl Note {
    pub(super) fn text(&self) -> String {
        match self {
            Note::NotApproved(key) => format!("{key} is not taken over: its calls are asked about here"),
            Note::LeftOut(keys) => format!("left out: {}", keys.join(", ")),
            Note::Variable(id, name) => format!("asks for {id:?} there; here it is your variable {name}"),
        }
    }
}

/// The servers of a file's text. `folder` is that of the project to which the file
/// belongs, if it does.
pub(super) fn read(text: &str, path: &Path, folder: Option<&Path>, machine: &Machine) -> Result<Vec<Foreign>, Failure> {
    let name = input::shown(path);
    let root = match path.extension().is_some_and(|e| e == "toml") {
        true => toml_edit::de::from_str(text).map_err(|e| Failure::usage(format!("{name}: {e}")))?,
        false => config_file::value(text, &name)?,
    };
    if let Some(form) = Form::of(&root, path) {
        let servers = form.servers(&root);
        return Ok(servers.iter().map(|(name, entry)| of_form(form, name, entry, &root)).collect());
    }
    let mut servers = Vec::new();
    for found in places(&root, machine) {
        for (name, entry) in found {
            let entry = entry.as_object().cloned().unwrap_or_default();
            if !servers.iter().any(|known: &Foreign| known.name == *name) {
                servers.push(translated(name, entry, folder, machine));
            }
        }
    }
    Ok(servers)
}

/// The objects of servers in a file, those that count first in front.
fn places<'a>(root: &'a Value, machine: &Machine) -> Vec<&'a Map<String, Value>> {
    let here = machine.here.to_string_lossy();
    let found = [
        // What Claude Code keeps for one folder goes before what it keeps for all.
        root.get("projects").and_then(|projects| projects.get(here.as_ref())).and_then(|one| one.get("mcpServers")),
        root.get("mcpServers"),
        root.get("servers"),
        root.get("mcp").and_then(|mcp| mcp.get("servers")),
        root.get("context_servers"),
    ];
    found.into_iter().flatten().filter_map(Value::as_object).collect()
}

fn of_form(form: Form, name: &str, entry: &Value, root: &Value) -> Foreign {
    let Taken { entry, approvals, refused } = form.taken(name, entry, root);
    let notes = approvals.into_iter().map(Note::NotApproved).collect();
    Foreign { name: name.to_owned(), entry, notes, refused }
}

fn translated(name: &str, mut written: Entry, folder: Option<&Path>, machine: &Machine) -> Foreign {
    let mut notes = Vec::new();
    // An older form of Zed's.
    if let Some(Value::Object(command)) = written.get("command").cloned() {
        written.remove("command");
        let path = command.get("path").cloned().map(|path| ("command".to_owned(), path));
        let rest = command.into_iter().filter(|(key, _)| key != "path");
        written.extend(rest.chain(path));
    }
    for (theirs, kind) in [("serverUrl", None), ("httpUrl", Some("http"))] {
        if let Some(url) = written.remove(theirs) {
            written.insert("url".to_owned(), url);
            written.extend(kind.map(|kind| ("type".to_owned(), json!(kind))));
        }
    }
    if let Some(Value::Bool(enabled)) = written.remove("enabled") {
        written.insert("disabled".to_owned(), json!(!enabled));
    }
    let mut entry = Entry::new();
    let mut left_out = Vec::new();
    for (key, value) in written {
        match key.as_str() {
            _ if value.is_null() => {}
            "disabled" if value == json!(false) => {}
            "timeout" if value.as_f64().is_some_and(|time| time > MOST_SECONDS) => {
                let seconds = value.as_f64().map(|millis| millis / 1_000.0);
                entry.insert(key, json!(seconds));
            }
            key if KEPT.contains(&key) => drop(entry.insert(key.to_owned(), value)),
            key if APPROVALS.contains(&key) => notes.push(Note::NotApproved(key.to_owned())),
            key => left_out.push(key.to_owned()),
        }
    }
    if !left_out.is_empty() {
        notes.push(Note::LeftOut(left_out));
    }
    let mut variables = Variables { folder, machine, asked: Vec::new() };
    entry.values_mut().for_each(|value| variables.replace(value));
    notes.extend(variables.asked.into_iter().map(|(id, name)| Note::Variable(id, name)));
    Foreign { name: name.to_owned(), entry, notes, refused: Vec::new() }
}

/// Variables of other programs in the strings of an entry.
struct Variables<'a> {
    folder: Option<&'a Path>,
    machine: &'a Machine,
    /// Inputs that were asked for, and the variables that stand for them.
    asked: Vec<(String, String)>,
}

impl Variables<'_> {
    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replaced(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.replace(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn replaced(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let Some((inside, after)) = behind.split_once('}') else { break };
            out.push_str(before);
            match self.value(inside) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&format!("${{{inside}}}")),
            }
            rest = after;
        }
        out + rest
    }

    fn value(&mut self, inside: &str) -> Option<String> {
        if let Some(id) = inside.strip_prefix("input:") {
            let name = variable_name(id);
            let pair = (id.to_owned(), name.clone());
            if !self.asked.contains(&pair) {
                self.asked.push(pair);
            }
            return Some(format!("${{{name}}}"));
        }
        let folder = self.folder.map(|folder| folder.display().to_string());
        match inside {
            "userHome" => Some(self.machine.home.display().to_string()),
            "workspaceFolder" => folder,
            "workspaceFolderBasename" => Some(self.folder?.file_name()?.to_string_lossy().into_owned()),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
            _ => None,
        }
    }
}

/// `perplexity-key` as a variable is called: `PERPLEXITY_KEY`.
fn variable_name(id: &str) -> String {
    let name: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// A project's file of another program, for the question whether somebody trusts it.
pub(super) fn project(path: &Path, machine: &Machine) -> Result<Project, Failure> {
    let folder = machine.project_of(path);
    Project::read_as(path, &|text| read(text, path, Some(&folder), machine).map(|servers| as_ours(&servers)))
}

/// A file's servers as a text that this program reads.
fn as_ours(servers: &[Foreign]) -> String {
    let taken = servers.iter().filter(|server| server.refused.is_empty());
    let servers: Map<String, Value> =
        taken.map(|server| (server.name.clone(), Value::Object(server.entry.clone()))).collect();
    json!({ "mcpServers": servers }).to_string()
}

#[cfg(test)]
mod tests {

    use super::*;

    fn machine() -> Machine {
        Machine { home: "/home/ada".into(), applications: "/home/ada/.config".into(), here: "/src/project".into() }
    }

    fn found(file: &str, text: &str) -> Vec<Foreign> {
        read(text, Path::new(file), Some(Path::new("/src/project")), &machine()).unwrap()
    }

    fn one(text: &str) -> (Value, Vec<String>) {
        let server = found("x.json", text).swap_remove(0);
        let notes = server.notes.iter().map(|note| note.text()).collect();
        (Value::Object(server.entry), notes)
    }

    #[test]
    fn every_programs_form_is_read() {
        let entry = r#"{ "a": { "command": "x", "args": ["-y"] } }"#;
        for text in [
            format!("{{ \"mcpServers\": {entry} }}"),
            format!("{{ // VS Code\n \"servers\": {entry}, \"inputs\": [], }}"),
            format!("{{ \"editor.tabSize\": 2, \"mcp\": {{ \"servers\": {entry} }} }}"),
            format!("{{ \"context_servers\": {entry} }}"),
            r#"{ "context_servers": { "a": { "source": "custom", "command": { "path": "x", "args": ["-y"] } } } }"#
                .to_owned(),
        ] {
            assert_eq!(one(&text).0, json!({ "command": "x", "args": ["-y"] }), "{text}");
        }
        let toml = found("config.toml", "model = \"m\"\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"-y\"]\n");
        assert_eq!(Value::Object(toml[0].entry.clone()), json!({ "command": "x", "args": ["-y"] }));
    }

    /// Each file of `tests/import` beside what is taken over of it, written by hand.
    #[test]
    fn every_key_of_three_programs_is_taken_over_or_names_the_server_that_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
        let mut files = 0;
        for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
            if file.to_string_lossy().ends_with(".expect.json") {
                continue;
            }
            files += 1;
            let servers = read(&std::fs::read_to_string(&file).unwrap(), &file, None, &machine()).unwrap();
            let expected = std::fs::read_to_string(file.with_extension("expect.json")).unwrap();
            let of = |pick: &dyn Fn(&Foreign) -> Option<Value>| {
                let pairs = servers.iter().filter_map(|server| Some((server.name.clone(), pick(server)?)));
                Value::Object(pairs.collect())
            };
            let some = |texts: Vec<String>| (!texts.is_empty()).then(|| json!(texts));
            let noted = |server: &Foreign, pick: fn(&Note) -> Option<String>| {
                some(server.notes.iter().filter_map(pick).collect()).filter(|_| server.refused.is_empty())
            };
            let found = json!({
                "taken": of(&|server| server.refused.is_empty().then(|| Value::Object(server.entry.clone()))),
                "refused": of(&|server| some(server.refused.clone())),
                "asked_about": of(&|server| noted(server, |note| match note {
                    Note::NotApproved(key) => Some(key.clone()),
                    _ => None,
                })),
            });
            let expected: Value = serde_json::from_str(&expected).unwrap();
            assert_eq!(found, expected, "{}: {found:#}", file.display());
            // What is taken over is read here as it is meant.
            let ours = toolgraft_mcp::Config::parse_as_written(&as_ours(&servers), "ours").unwrap();
            assert_eq!(ours.servers().iter().filter_map(|server| server.problem()).next(), None);
            assert!(ours.notes().is_empty(), "{:?}", ours.notes());
        }
        assert_eq!(files, 5);
    }

    #[test]
    fn what_claude_code_keeps_for_this_folder_counts_before_the_rest() {
        let text = json!({
            "numStartups": 3,
            "mcpServers": { "a": { "command": "all" }, "b": { "type": "http", "url": "https://h" } },
            "projects": {
                "/src/project": { "mcpServers": { "a": { "command": "here" } } },
                "/src/other": { "mcpServers": { "c": { "command": "there" } } },
            },
        });
        let servers = found("x.json", &text.to_string());
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!((names, &servers[0].entry["command"]), (vec!["a", "b"], &json!("here")));
    }

    #[test]
    fn approvals_and_unknown_keys_stay_behind_and_are_named() {
        let (entry, notes) = one(
            r#"{ "mcpServers": { "a": { "command": "x", "autoApprove": ["*"], "alwaysAllow": ["rm"], "trust": true,
                 "gallery": true, "envFile": ".env", "disabled": false, "timeout": 30 } } }"#,
        );
        assert_eq!(entry, json!({ "command": "x", "timeout": 30 }));
        let millis = one(r#"{ "mcpServers": { "a": { "command": "x", "timeout": 600000 } } }"#).0;
        assert_eq!(millis, json!({ "command": "x", "timeout": 600.0 }));
        assert_eq!(notes.iter().filter(|note| note.contains("is not taken over")).count(), 3, "{notes:?}");
        assert!(notes.contains(&"left out: gallery, envFile".to_owned()), "{notes:?}");
    }

    #[test]
    fn variables_of_other_programs_become_ours() {
        let (entry, notes) = one(
            r#"{ "servers": { "a": { "command": "${userHome}/x", "args": ["${workspaceFolder}/a", "${env:HOME}", "${OTHER}"],
                 "env": { "K": "${input:perplexity-key}", "L": "${input:perplexity-key}" } } } }"#,
        );
        assert_eq!(
            entry,
            json!({ "command": "/home/ada/x", "args": ["/src/project/a", "${env:HOME}", "${OTHER}"],
                    "env": { "K": "${PERPLEXITY_KEY}", "L": "${PERPLEXITY_KEY}" } })
        );
        assert_eq!(notes, ["asks for \"perplexity-key\" there; here it is your variable PERPLEXITY_KEY"]);
    }

    #[test]
    fn urls_under_other_names_are_read() {
        assert_eq!(one(r#"{"mcpServers":{"a":{"serverUrl":"https://h"}}}"#).0, json!({ "url": "https://h" }));
        let gemini = one(r#"{"mcpServers":{"a":{"httpUrl":"https://h","enabled":false}}}"#).0;
        assert_eq!(gemini, json!({ "url": "https://h", "type": "http", "disabled": true }));
    }
}
