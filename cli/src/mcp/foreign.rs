//! The servers in other programs' files as entries of ours: one rule over the table of
//! [`programs`](super::programs).
//!
//! A key that a row knows becomes what the row says. A key that no row knows refuses the entry
//! where its name may restrict the server; else it is dropped, and named. What lets calls run
//! without a question is never imported. A string has the value that it has there: variables that
//! the program expands become ours, any other `${` is escaped.

use std::path::Path;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::programs::{Becomes, Keys, Machine, PROGRAMS, Program, Variables};
use crate::base::{Failure, input};
use crate::servers::config_file::{self, Entry};
use crate::servers::trust::Project;

/// Value above which a timeout in ambiguous units is in milliseconds, since those who write seconds (Cline) allow at
/// most an hour.
const MOST_SECONDS: f64 = 3_600.0;

/// Words in the name of an unknown key that mean that the key may restrict the server, whatever its value.
const RESTRICTIONS: &str = "includ exclud allow deny denied sandbox permission disab block restrict readonly forbid \
                            whitelist blacklist filter limit policy";

/// Words in the name of an unknown key that mean that the key may restrict the server if its value is a list or an
/// object.
const LISTS: &str = "tool enable only";

/// JSON pointers to the lists of disabled servers. `@` is the path of a directory, for which Claude Code has settings
/// of its own.
const OFF: &str = "/disabledMcpServers /disabledMcpjsonServers /disabledServers /excludeMCPServers /mcp/excluded \
                   /projects/@/disabledMcpServers /projects/@/disabledMcpjsonServers";

/// JSON pointers to the lists of enabled servers, which exclude all others unless they are empty.
const ON: &str = "/enabledMcpServers /enabledMcpjsonServers /allowMCPServers /mcp/allowed";

/// Variables of editors that have no value in this program, by the text before their colon.
const EDITORS: &str = "command config file workspaceFolder workspaceRoot workspaceFolderBasename cwd execPath \
                       fileBasename fileDirname fileWorkspaceFolder extensionInstallFolder selectedText";

/// A server from another program's configuration, converted to this program's format.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    pub(super) name: String,
    pub(super) entry: Entry,
    /// Messages on the differences from the other program's entry.
    pub(super) notes: Vec<String>,
    /// Reasons that the server cannot be imported; empty if it can.
    pub(super) refused: Vec<String>,
}

/// Reads the servers of another program's configuration file. `program` is the owner of the file, if known; `folder` is
/// the directory of the project that the file belongs to, if any.
pub(super) fn read(
    text: &str,
    path: &Path,
    program: Option<&'static Program>,
    folder: Option<&Path>,
    machine: &Machine,
) -> Result<Vec<Foreign>, Failure> {
    let shown = input::shown(path);
    let root = match path.extension().is_some_and(|e| e == "toml") {
        true => toml_edit::de::from_str(text).map_err(|e| Failure::usage(format!("{shown}: {e}")))?,
        false => config_file::value(text, &shown)?,
    };
    let program = program.unwrap_or_else(|| Program::of(&machine.here.join(path), &root));
    let file = ForeignFile { root, program, folder, machine };
    let mut servers = file.servers().map_err(|problem| Failure::usage(format!("{shown}: {problem}")))?;
    let mut off = file.names(&file.root, OFF);
    let mut on = file.names(&file.root, ON);
    // What is started is kept elsewhere too: by Claude Code for servers of a project's file, by
    // Gemini CLI for its own (google-gemini/gemini-cli#28787).
    if path.ends_with(".mcp.json") {
        let kept = kept_by("claude-code", ".claude.json", machine);
        off.extend(file.names(&kept, "/projects/@/disabledMcpjsonServers"));
        on.extend(file.names(&kept, "/projects/@/enabledMcpjsonServers"));
    }
    if program.id == "gemini" {
        let kept = kept_by("gemini", "mcp-server-enablement.json", machine);
        // Gemini CLI keeps the names in lower case.
        let state = |name: &str| kept.get(name.to_lowercase())?.get("enabled")?.as_bool();
        let is_off = |name: &&String| state(name) == Some(false);
        off.extend(servers.iter().map(|server| &server.name).filter(is_off).cloned());
    }
    for server in &mut servers {
        if off.contains(&server.name) || !on.is_empty() && !on.contains(&server.name) {
            server.entry.insert("disabled".to_owned(), json!(true));
        }
    }
    Ok(servers)
}

/// Reads another file in the directory of a program's own configuration file; null if it cannot be read.
fn kept_by(program: &str, name: &str, machine: &Machine) -> Value {
    let own = Program::named(program).and_then(|program| program.files(machine).pop()).unwrap_or_default();
    let text = std::fs::read_to_string(own.with_file_name(name)).unwrap_or_default();
    config_file::value(&text, name).unwrap_or_default()
}

/// A configuration file of another program.
struct ForeignFile<'a> {
    root: Value,
    program: &'static Program,
    folder: Option<&'a Path>,
    machine: &'a Machine,
}

impl ForeignFile<'_> {
    /// Returns the value at a JSON pointer, in which `@` is the path of the project's directory or else of the working
    /// directory.
    fn at<'v>(&self, root: &'v Value, pointer: &str) -> Option<&'v Value> {
        let here = self.folder.unwrap_or(&self.machine.here).to_string_lossy();
        root.pointer(&pointer.replace('@', &here.replace('~', "~0").replace('/', "~1")))
    }

    fn servers(&self) -> Result<Vec<Foreign>, String> {
        let mut servers: Vec<Foreign> = Vec::new();
        let mut read: Vec<&str> = Vec::new();
        for pointer in &self.program.servers {
            // The older place of opencode's is around the newer one.
            if read.iter().any(|inner| inner.starts_with(pointer)) {
                continue;
            }
            let found = match self.at(&self.root, pointer) {
                None | Some(Value::Null) => continue,
                Some(Value::Object(found)) => found,
                Some(_) => return Err(format!("\"{}\" must be an object of servers", dotted(pointer))),
            };
            read.push(pointer);
            for (name, written) in found {
                if !servers.iter().any(|known| known.name == *name) {
                    servers.push(self.translated(name, written));
                }
            }
        }
        let other = if servers.is_empty() { elsewhere(&self.root, String::new()) } else { None };
        // Settings have commands and URLs at their top, too.
        match other.filter(|place| !place.is_empty() || self.program.id.is_empty()) {
            Some(place) => Err(format!(
                "{} must have its servers in \"{}\", but has some {}: move them, or name a file that has them there",
                self.program.name,
                dotted(self.program.servers.last().map(String::as_str).unwrap_or_default()),
                if place.is_empty() { "at the top".to_owned() } else { format!("in \"{}\"", dotted(&place)) }
            )),
            None => Ok(servers),
        }
    }

    /// Returns the names in the lists at these JSON pointers.
    fn names(&self, root: &Value, pointers: &str) -> Vec<String> {
        let lists = pointers.split_whitespace().filter_map(|pointer| self.at(root, pointer)?.as_array());
        lists.flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }

    fn translated(&self, name: &str, written: &Value) -> Foreign {
        let mut translation = Translation {
            file: self,
            server: Foreign { name: name.to_owned(), entry: Entry::new(), notes: Vec::new(), refused: Vec::new() },
            dropped: Vec::new(),
        };
        match written {
            Value::Object(written) => {
                written.iter().for_each(|(key, value)| {
                    translation.take(&[&self.program.keys, &PROGRAMS.common], key, key, value)
                });
            }
            _ => translation.refuse("the entry is not an object"),
        }
        translation.finished()
    }
}

/// Returns the JSON pointer of a value that looks like entries of servers, at the top or at a key whose name contains
/// `server` or `mcp`; `None` if there is none.
fn elsewhere(value: &Value, place: String) -> Option<String> {
    let is_entry =
        |value: &Value| ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| value.get(key).is_some());
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let last = place.rsplit('/').next().unwrap_or_default().to_lowercase();
    let speaks = ["server", "mcp"].iter().any(|word| last.contains(word));
    let found =
        children.iter().find_map(|(key, value)| elsewhere(value, format!("{place}/{}", key.replace('/', "~1"))));
    let has_some = children.iter().any(|(_, value)| is_entry(value)) || is_entry(value);
    found.or_else(|| (has_some && (speaks || place.is_empty())).then_some(place))
}

/// Returns a JSON pointer in dotted form, such as `mcp.servers`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/")
}

/// The conversion in progress of one server's entry.
struct Translation<'a> {
    file: &'a ForeignFile<'a>,
    server: Foreign,
    /// Paths of the keys that are not imported.
    dropped: Vec<String>,
}

impl Translation<'_> {
    fn refuse(&mut self, why: impl Into<String>) {
        self.server.refused.push(why.into());
    }

    fn take(&mut self, tables: &[&Keys], key: &str, path: &str, value: &Value) {
        // A null is as good as no key.
        if value.is_null() {
            return;
        }
        match tables.iter().find_map(|table| table.get(key)) {
            Some(becomes) => {
                if self.put(becomes, path, value).is_none() {
                    self.refuse(format!(
                        "its key {path:?} has no equivalent here: add the server by hand with `toolgraft mcp add`"
                    ));
                }
            }
            None if may_restrict(key, value) => {
                self.refuse(format!(
                    "its key {path:?} is unknown here and may restrict the server: add the server by hand"
                ));
            }
            None => self.dropped.push(path.to_owned()),
        }
    }

    /// Converts a key of the other program's entry and adds the result to the new entry; `None` if its value is not
    /// supported.
    fn put(&mut self, becomes: &Becomes, path: &str, value: &Value) -> Option<()> {
        match becomes {
            Becomes::Same => self.same(path, value),
            Becomes::Is(key) => self.same(key, value),
            Becomes::Only => match tools(value)? {
                all if all == ["*"] => {}
                // No tool at all cannot be said here: an empty `enabledTools` is an error.
                none if none.is_empty() => return None,
                _ => self.set("enabledTools", value.clone()),
            },
            Becomes::Without if tools(value)?.is_empty() => {}
            Becomes::Without => self.set("disabledTools", value.clone()),
            Becomes::Seconds(key) => self.set(key, seconds(value, 1.0)?),
            // Less than a second was meant otherwise; Claude Code ignores it.
            Becomes::Millis(_) if value.as_f64()? < 1_000.0 => self.dropped.push(path.to_owned()),
            Becomes::Millis(keys) => {
                for key in keys {
                    self.set(key, seconds(value, 1_000.0)?);
                }
            }
            Becomes::Limits if value.is_object() => {
                for (name, value) in value.as_object()? {
                    match name.as_str() {
                        "startup" => self.set("connectTimeout", seconds(value, 1_000.0)?),
                        "request" => self.set("timeout", seconds(value, 1_000.0)?),
                        _ => self.dropped.push(format!("{path}.{name}")),
                    }
                }
            }
            Becomes::Limits => {
                self.put(&Becomes::Millis(vec!["connectTimeout".to_owned(), "timeout".to_owned()]), path, value)?
            }
            Becomes::Timeout => {
                let units = if value.as_f64()? > MOST_SECONDS { 1_000.0 } else { 1.0 };
                self.set("timeout", seconds(value, units)?);
            }
            Becomes::Enabled => self.set("disabled", json!(!value.as_bool()?)),
            Becomes::Command => self.command(value)?,
            Becomes::Environment => {
                for variable in value.as_array()? {
                    let name = variable.as_str().or(variable.get("name").and_then(Value::as_str))?;
                    // Codex has variables of other places (`source = "remote"`), whose values are not on
                    // this machine.
                    if variable.get("source").is_some_and(|source| source != "local") {
                        return None;
                    }
                    // What is set there by hand comes first.
                    if self.server.entry.get("env").is_none_or(|env| env.get(name).is_none()) {
                        self.set("env", json!({ name: reference(name) }));
                    }
                }
            }
            Becomes::HeaderVariables => {
                for (header, name) in value.as_object()? {
                    self.set("headers", json!({ header: reference(name.as_str()?) }));
                }
            }
            Becomes::Bearer => {
                self.set("headers", json!({ "Authorization": format!("Bearer {}", reference(value.as_str()?)) }));
            }
            Becomes::Login => match value {
                Value::Bool(_) => {}
                value => {
                    for (key, value) in value.as_object()? {
                        self.take(&[&PROGRAMS.login], key, &format!("{path}.{key}"), value);
                    }
                }
            },
            Becomes::InLogin(key) => self.same("oauth", &json!({ key: value })),
            Becomes::Scopes => {
                let scopes = match value {
                    Value::String(text) => text.split_whitespace().map(Value::from).collect(),
                    list => list.as_array()?.clone(),
                };
                self.set("oauth", json!({ "scopes": scopes }));
            }
            Becomes::Approval if is_empty(value) => {}
            // Codex may say more of a tool than how it is approved.
            Becomes::Approval if value.as_object().is_some_and(|tools| !tools.values().all(only_approves)) => {
                return None;
            }
            Becomes::Approval => {
                self.server.notes.push(format!("{path} is not imported: its calls need approval here"));
            }
            Becomes::Harmless => {}
            Becomes::Refused => return None,
            Becomes::RefusedUnless(but) => return (value == but).then_some(()),
        }
        Some(())
    }

    fn same(&mut self, key: &str, value: &Value) {
        let value = self.text(key, value);
        self.set(key, value);
    }

    /// Sets a key of the new entry; an object or list is merged with an existing one.
    fn set(&mut self, key: &str, value: Value) {
        match (self.server.entry.get_mut(key), value) {
            // It is disabled if one of two keys says so.
            (Some(Value::Bool(true)), Value::Bool(false)) => {}
            (Some(Value::Object(there)), Value::Object(more)) => there.extend(more),
            (Some(Value::Array(there)), Value::Array(more)) => there.extend(more),
            (_, value) => drop(self.server.entry.insert(key.to_owned(), value)),
        }
    }

    fn command(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Array(words) => {
                let (command, args) = words.split_first()?;
                self.same("command", command);
                if !args.is_empty() {
                    self.same("args", &json!(args));
                }
            }
            // An older form of Zed's.
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.take(&[&PROGRAMS.common], if key == "path" { "command" } else { key }, key, value);
                }
            }
            value => self.same("command", value),
        }
        Some(())
    }

    /// Converts keys that depend on each other or on the rest of the file, and returns the server.
    fn finished(mut self) -> Foreign {
        let entry = &mut self.server.entry;
        // Gemini CLI prefers it to `url`, and means streamable HTTP by it.
        if let Some(url) = entry.shift_remove("httpUrl") {
            entry.insert("url".to_owned(), url);
            entry.insert("type".to_owned(), json!("http"));
        }
        // The type says which of the two keys the program reads.
        let unused = match entry.get("type").and_then(Value::as_str) {
            Some("stdio" | "local") => Some("url"),
            Some("remote") => Some("command"),
            _ => None,
        };
        if let Some(unused) = unused {
            entry.shift_remove(unused);
            entry.shift_remove("type");
        }
        // Empty ones say nothing, and an entry that differs by them alone is the same server.
        entry
            .retain(|key, value| !(is_empty(value) && ["env", "headers", "oauth", "disabled"].contains(&key.as_str())));
        self.patterns();
        if !self.dropped.is_empty() {
            self.server.notes.push(format!("left out: {}", self.dropped.join(", ")));
        }
        self.server
    }

    /// Applies opencode's patterns in the rest of the file that deny tools by name.
    fn patterns(&mut self) {
        if self.file.program.id != "opencode" {
            return;
        }
        let said = ["tools", "permission"].into_iter().filter_map(|key| self.file.root.get(key)?.as_object()).flatten();
        for (pattern, _) in said.filter(|(_, value)| **value == false || **value == "deny") {
            match of_the_server(&self.server.name, pattern) {
                Denies::Others => {}
                Denies::Tools("*") => self.set("disabled", json!(true)),
                Denies::Tools(tools) => self.set("disabledTools", json!([tools])),
                Denies::Unclear => self.refuse(format!("{pattern:?} may deny tools of it, and of others")),
            }
        }
    }

    /// Returns a value with its variables in this program's syntax; `key` is the key of the new entry.
    fn text(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.expanded(key, text)),
            Value::Array(items) => items.iter().map(|item| self.text(key, item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), self.text(key, value))).collect())
            }
            other => other.clone(),
        }
    }

    fn expanded(&mut self, key: &str, text: &str) -> String {
        let program = self.file.program;
        let is_expanded = program.expanded.is_empty() || program.expanded.iter().any(|expanded| expanded == key);
        let variables = if is_expanded { program.variables } else { Variables::None };
        let text = if variables == Variables::Dollar { braced(text, key == "args") } else { text.to_owned() };
        let out = replaced(&text, "${", |before, inside| match variables == Variables::Any && before.ends_with('$') {
            true => reference(inside),
            false => self.value(variables, inside),
        });
        if variables == Variables::Braces { self.without_braces(&out) } else { out }
    }

    /// Converts the variable inside `${…}` of the other program's file into this program's syntax.
    fn value(&mut self, variables: Variables, inside: &str) -> String {
        let as_it_is = reference(inside);
        let is_shells = match variables {
            Variables::Shell | Variables::Dollar | Variables::Any => is_reference(inside),
            Variables::None | Variables::Editor | Variables::Braces => false,
        };
        if matches!(variables, Variables::Editor | Variables::Any) {
            let (kind, name) = inside.split_once(':').unwrap_or((inside, ""));
            match kind {
                "input" => return self.input(name),
                "env" if is_reference(name) => return as_it_is,
                _ => {}
            }
            if let Some(value) = self.of_the_machine(inside) {
                return value;
            }
            if EDITORS.split(' ').any(|known| known == kind) {
                self.refuse(format!("{as_it_is} has a value in {} alone", self.file.program.name));
                return as_it_is;
            }
        }
        if is_shells { as_it_is } else { format!("${as_it_is}") }
    }

    /// Returns a reference to an environment variable in place of an input that VS Code asks for, with the input's
    /// default.
    fn input(&mut self, id: &str) -> String {
        let name = variable_name(id);
        let note = format!("asks for {id:?} there; here set the variable {name}");
        if !self.server.notes.contains(&note) {
            self.server.notes.push(note);
        }
        let inputs = self.file.root.get("inputs").and_then(Value::as_array).into_iter().flatten();
        let default = inputs
            .filter(|input| input.get("id").is_some_and(|it| it == id))
            // A `}` in the default would end the reference.
            .find_map(|input| input.get("default")?.as_str().filter(|text| !text.is_empty() && !text.contains('}')));
        match default {
            Some(default) => reference(&format!("{name}:-{default}")),
            None => reference(&name),
        }
    }

    fn of_the_machine(&self, inside: &str) -> Option<String> {
        let folder = self.file.folder;
        match inside {
            "userHome" => Some(self.file.machine.home.display().to_string()),
            "workspaceFolder" | "workspaceRoot" => Some(folder?.display().to_string()),
            "workspaceFolderBasename" => Some(folder?.file_name()?.to_string_lossy().into_owned()),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
            _ => None,
        }
    }

    /// Replaces `{env:NAME}` by `${NAME}`.
    fn without_braces(&mut self, text: &str) -> String {
        if text.contains("{file:") {
            self.refuse("a `{file:…}` in it is read by opencode alone");
        }
        replaced(text, "{env:", |_, name| reference(name.trim()))
    }
}

/// Replaces each text between `open` and `}`, with these delimiters, by the result of `by`, which gets the text since
/// the previous match and the enclosed text.
fn replaced(text: &str, open: &str, mut by: impl FnMut(&str, &str) -> String) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(open) {
        let Some((inside, after)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&by(before, inside));
        rest = after;
    }
    out + rest
}

/// Returns `true` if an unknown key may restrict a server, judged by its name and the type of its value.
fn may_restrict(key: &str, value: &Value) -> bool {
    let key = key.to_lowercase().replace(['_', '-'], "");
    let has = |words: &str| words.split(' ').any(|word| key.contains(word));
    // A list or an object under such a name chooses tools (`toolSets`); a number does not (`toolTimeoutSec`).
    has(RESTRICTIONS) || (has(LISTS) && (value.is_array() || value.is_object()))
}

/// Returns `true` if the settings of a tool contain nothing but its approval mode.
fn only_approves(tool: &Value) -> bool {
    tool.as_object().is_some_and(|keys| keys.keys().all(|key| key == "approval_mode"))
}

fn is_empty(value: &Value) -> bool {
    [json!(false), json!([]), json!({})].contains(value)
}

/// Returns the names in a list of tools; `None` if an item is not a name, such as Gemini's `tool(argument)`.
fn tools(value: &Value) -> Option<Vec<&str>> {
    let names = value.as_array()?.iter().map(|tool| tool.as_str().filter(|tool| !tool.contains('(')));
    names.collect()
}

/// Returns a reference to a variable, as `${NAME}`.
fn reference(inside: &str) -> String {
    format!("${{{inside}}}")
}

/// Returns `true` if the text inside `${…}` is `NAME` or `NAME:-default`.
fn is_reference(inside: &str) -> bool {
    let name = inside.split(":-").next().unwrap_or_default();
    // The shell's rule: `${1##*/}` names no variable of the environment.
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Replaces `$NAME` by `${NAME}`. In arguments only names without lower-case letters are replaced: `$i` there belongs
/// to a shell script.
fn braced(text: &str, in_args: bool) -> String {
    let names = Regex::new(r"\$([A-Za-z_][A-Za-z0-9_]*)").expect("it is tested");
    let of = |found: &Captures<'_>| match in_args && found[1].contains(|c: char| c.is_ascii_lowercase()) {
        true => found[0].to_owned(),
        false => reference(&found[1]),
    };
    names.replace_all(text, of).into_owned()
}

/// Converts the id of an input to the name of an environment variable: `perplexity-key` becomes `PERPLEXITY_KEY`.
fn variable_name(id: &str) -> String {
    let name: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

/// Converts a number above 0 to seconds, divided by `units` per second; a whole number stays one. `None` for any other
/// value.
fn seconds(value: &Value, units: f64) -> Option<Value> {
    let seconds = value.as_f64().filter(|number| *number > 0.0)? / units;
    Some(if seconds.fract() == 0.0 && seconds < 1e9 { json!(seconds as u64) } else { json!(seconds) })
}

/// The tools of a server that one of opencode's deny patterns denies.
#[derive(Debug, PartialEq)]
enum Denies<'a> {
    /// Only tools of other servers.
    Others,
    /// The server's tools that match this pattern.
    Tools(&'a str),
    /// Unclear, since a wildcard is at the position of the server's name.
    Unclear,
}

/// Reads one of opencode's patterns, in which the server's name and `_` precede that of the tool.
fn of_the_server<'a>(name: &str, pattern: &'a str) -> Denies<'a> {
    // As opencode writes a server's name in front of its tools'.
    let written = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefix: String = name.chars().map(written).chain(['_']).collect();
    let literal = pattern.split(['*', '?']).next().unwrap_or_default();
    match pattern.strip_prefix(&prefix) {
        Some(tools) => Denies::Tools(tools),
        None if literal.len() < pattern.len() && prefix.starts_with(literal) => Denies::Unclear,
        None => Denies::Others,
    }
}

/// Reads a project's configuration file of another program, for the question whether to trust it.
pub(super) fn project(path: &Path, machine: &Machine) -> Result<Project, Failure> {
    let folder = machine.project_of(path);
    Project::read_as(path, &|text| read(text, path, None, Some(&folder), machine).map(|servers| as_ours(&servers)))
}

/// Returns the importable servers as the JSON text of a configuration file of this program.
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
        Machine { home: "/home/ada".into(), here: "/src/project".into(), system: "linux", variables: |_| None }
    }

    fn found(file: &str, text: &str) -> Result<Vec<Foreign>, String> {
        let read = read(text, Path::new(file), None, Some(Path::new("/src/project")), &machine());
        read.map_err(|failure| failure.message().to_owned())
    }

    /// Compares what is imported of each file in `tests/import` with an expectation that was written by hand.
    #[test]
    fn every_key_of_every_program_is_mapped_dropped_or_refuses_its_server() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import");
        let mut seen = Vec::new();
        for file in std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
            if file.to_string_lossy().ends_with(".expect.json") {
                continue;
            }
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let program = Program::named(&stem);
            seen.extend(program.map(|program| program.id.as_str()));
            let text = std::fs::read_to_string(&file).unwrap();
            let servers = read(&text, &file, program, None, &machine()).unwrap();
            let of = |pick: &dyn Fn(&Foreign) -> Option<Value>| -> Value {
                servers.iter().filter_map(|server| Some((server.name.clone(), pick(server)?))).collect::<Entry>().into()
            };
            let some = |texts: &[String]| (!texts.is_empty()).then(|| json!(texts));
            let found = json!({
                "imported": of(&|server| server.refused.is_empty().then(|| Value::Object(server.entry.clone()))),
                "refused": of(&|server| some(&server.refused)),
                "notes": of(&|server| some(&server.notes).filter(|_| server.refused.is_empty())),
            });
            let expected = std::fs::read_to_string(file.with_extension("expect.json")).unwrap_or_default();
            let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
            assert_eq!(found, expected, "{}: {found:#}", file.display());
            // What is imported is read here as it is meant.
            let ours = toolgraft_mcp::Config::parse_as_written(&as_ours(&servers), "ours").unwrap();
            assert!(ours.notes().is_empty(), "{:?}", ours.notes());
        }
        let missing = PROGRAMS.all.iter().find(|program| !seen.contains(&program.id.as_str()));
        assert_eq!(missing, None);
    }

    #[test]
    fn a_file_that_has_its_servers_elsewhere_is_an_error_that_names_the_key() {
        let entry = r#"{ "a": { "command": "x" } }"#;
        for (file, text, words) in [
            ("mcp.json", format!(r#"{{ "mcpServers": {{}}, "servers": {entry} }}"#), "some in \"servers\""),
            ("mcp.json", format!(r#"{{ "mcpservers": {entry} }}"#), "some in \"mcpservers\""),
            ("mcp.json", r#"{ "mcpServers": [{ "name": "a", "command": "x" }] }"#.to_owned(), "\"mcpServers\" must be"),
            ("mcp.json", entry.to_owned(), "some at the top"),
            ("mcp.json", r#"{ "command": "x" }"#.to_owned(), "some at the top"),
            (
                ".cursor/mcp.json",
                format!(r#"{{ "servers": {entry} }}"#),
                "Cursor must have its servers in \"mcpServers\"",
            ),
            (".vscode/mcp.json", format!(r#"{{ "mcpServers": {entry} }}"#), "some in \"mcpServers\""),
            (
                ".claude.json",
                format!(r#"{{ "projects": {{ "/src/other": {{ "mcpServers": {entry} }} }} }}"#),
                "some in \"projects./src/other.mcpServers\"",
            ),
        ] {
            let message = found(file, &text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
        assert_eq!(found("settings.json", r#"{ "proxy": { "url": "x" }, "mcp": {} }"#), Ok(Vec::new()));
    }

    #[test]
    fn a_project_s_variables_are_those_of_its_folder() {
        let text =
            r#"{ "servers": { "a": { "command": "${workspaceFolder}/x", "args": ["${workspaceFolderBasename}"] } } }"#;
        let server = found(".vscode/mcp.json", text).unwrap().swap_remove(0);
        let expected = json!({ "command": "/src/project/x", "args": ["project"] });
        assert_eq!((Value::Object(server.entry), server.refused), (expected, Vec::new()));
    }

    #[test]
    fn servers_that_another_file_switches_off_are_disabled() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".gemini")).unwrap();
        let lists = json!({ "disabledMcpjsonServers": ["B"], "enabledMcpjsonServers": ["a", "B"] });
        for (file, kept) in [
            (".claude.json", json!({ "projects": { "/src/project": lists } })),
            (".gemini/mcp-server-enablement.json", json!({ "b": { "enabled": false }, "c": { "enabled": true } })),
        ] {
            std::fs::write(home.path().join(file), kept.to_string()).unwrap();
        }
        let machine = Machine { home: home.path().to_owned(), ..machine() };
        let text = r#"{ "mcpServers": { "a": { "command": "x" }, "B": { "command": "x" }, "c": { "command": "x" } } }"#;
        let folder = Some(Path::new("/src/project"));
        for (file, expected) in [(".mcp.json", [false, true, true]), (".gemini/settings.json", [false, true, false])] {
            let servers = read(text, Path::new(file), None, folder, &machine).unwrap();
            let disabled: Vec<bool> = servers.iter().map(|server| server.entry.contains_key("disabled")).collect();
            assert_eq!(disabled, expected, "{file}");
        }
    }
}
