//! The forms in which Codex, Gemini CLI and opencode write a server, key by key.
//!
//! Every key of theirs stands in a table: what it is here, or that there is nothing like it.
//! An entry with a key of the latter kind, or with one that is in no table, is refused by
//! that key: a server without its deny-list, its time-out or its token is another server.
//!
//! The keys are those of `codex-rs/config/src/mcp_types.rs` (github.com/openai/codex),
//! `docs/tools/mcp-server.md` (github.com/google-gemini/gemini-cli), opencode.ai/docs/mcp-servers
//! and opencode.ai/v2/docs/mcp-servers.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::servers::config_file::Entry;

/// A program with a form of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Codex,
    Gemini,
    OpenCode,
}

/// What a server of another form is here.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) entry: Entry,
    /// Keys that let calls run without a question.
    pub(super) approvals: Vec<String>,
    /// Keys for which there is nothing here.
    pub(super) refused: Vec<String>,
}

/// What a key is here.
#[derive(Debug, Clone, Copy)]
enum Becomes {
    /// The same under this key.
    Is(&'static str),
    /// A list of tools under this key; an empty one names all, and says nothing.
    Tools(&'static str),
    /// Seconds under this key.
    Seconds(&'static str),
    /// Milliseconds there, seconds under these keys.
    Millis(&'static [&'static str]),
    /// Milliseconds there, or `startup` and `request` apart.
    Limits,
    /// The opposite of `disabled`.
    Enabled,
    /// A program, or a list of it and its arguments.
    Line,
    /// Names of variables that the server gets.
    Variables,
    /// Headers whose values are those of variables.
    HeaderVariables,
    /// The variable of a bearer token.
    Bearer,
    /// How it is reached.
    Kind,
    /// What a login is made with, by these keys; `false` says that there is none.
    Login(&'static [Row]),
    /// Scopes of a login, in one text or a list.
    Scopes,
    /// Lets calls run without a question.
    Approval,
    /// Says nothing of how the server is started or called.
    Nothing,
    /// There is nothing like it here, but for this value.
    Not(Option<&'static str>),
}

use Becomes::{
    Approval, Bearer, Enabled, HeaderVariables, Is, Kind, Limits, Line, Login, Millis, Not, Nothing, Scopes, Seconds,
    Tools, Variables,
};

type Row = (&'static str, Becomes);

const CODEX: &[Row] = &[
    ("command", Is("command")),
    ("args", Is("args")),
    ("env", Is("env")),
    ("env_vars", Variables),
    ("cwd", Is("cwd")),
    ("url", Is("url")),
    ("http_headers", Is("headers")),
    ("env_http_headers", HeaderVariables),
    ("bearer_token_env_var", Bearer),
    ("bearer_token", Not(None)),
    ("startup_timeout_sec", Seconds("connectTimeout")),
    ("startup_timeout_ms", Millis(&["connectTimeout"])),
    ("tool_timeout_sec", Seconds("timeout")),
    ("enabled", Enabled),
    ("enabled_tools", Is("enabledTools")),
    ("disabled_tools", Tools("disabledTools")),
    ("supports_parallel_tool_calls", Is("parallel")),
    ("scopes", Scopes),
    ("oauth", Login(&[("client_id", Is("clientId"))])),
    ("oauth_resource", Not(None)),
    ("default_tools_approval_mode", Approval),
    ("tools", Approval),
    ("required", Nothing),
    ("name", Nothing),
    ("experimental_environment", Not(Some("local"))),
];

const GEMINI: &[Row] = &[
    ("command", Is("command")),
    ("args", Is("args")),
    ("env", Is("env")),
    ("cwd", Is("cwd")),
    ("url", Is("url")),
    ("httpUrl", Is("httpUrl")),
    ("type", Kind),
    ("headers", Is("headers")),
    ("timeout", Millis(&["timeout"])),
    ("trust", Approval),
    ("includeTools", Is("enabledTools")),
    ("excludeTools", Tools("disabledTools")),
    ("oauth", Login(GEMINI_LOGIN)),
    ("authProviderType", Not(Some("dynamic_discovery"))),
    ("targetAudience", Not(None)),
    ("targetServiceAccount", Not(None)),
    ("tcp", Not(None)),
    // Programs that began as a copy of it write this one.
    ("enabled", Enabled),
    ("description", Nothing),
    ("extension", Nothing),
    ("extensionName", Nothing),
];

const GEMINI_LOGIN: &[Row] = &[
    ("enabled", Nothing),
    ("clientId", Is("clientId")),
    ("clientSecret", Is("clientSecret")),
    ("scopes", Is("scopes")),
];

const OPENCODE: &[Row] = &[
    ("type", Kind),
    ("command", Line),
    ("environment", Is("env")),
    ("cwd", Is("cwd")),
    ("url", Is("url")),
    ("headers", Is("headers")),
    ("timeout", Limits),
    ("enabled", Enabled),
    ("disabled", Is("disabled")),
    ("oauth", Login(OPENCODE_LOGIN)),
];

const OPENCODE_LOGIN: &[Row] = &[
    ("clientId", Is("clientId")),
    ("clientSecret", Is("clientSecret")),
    ("scope", Scopes),
    ("callbackPort", Is("callbackPort")),
];

/// Keys that only Gemini CLI writes among those who have `mcpServers`.
const GEMINI_ALONE: &[&str] = &["httpUrl", "includeTools", "excludeTools", "authProviderType", "targetAudience"];

impl Form {
    /// The form of a file's servers; `None` for those that are written as ours are, or nearly.
    pub(super) fn of(root: &Value, path: &Path) -> Option<Self> {
        let object = |key: &str| root.get(key).and_then(Value::as_object);
        let any = |key: &str, is: &dyn Fn(&Value) -> bool| object(key).is_some_and(|servers| servers.values().any(is));
        let is_opencode = |entry: &Value| {
            let kind = entry.get("type").and_then(Value::as_str);
            matches!(kind, Some("local" | "remote")) || entry.get("environment").is_some()
        };
        let newer = root.pointer("/mcp/servers").and_then(Value::as_object);
        let is_geminis = |entry: &Value| GEMINI_ALONE.iter().any(|key| entry.get(key).is_some());
        match () {
            () if object("mcp_servers").is_some() => Some(Form::Codex),
            () if any("mcp", &is_opencode) || newer.is_some_and(|servers| servers.values().any(is_opencode)) => {
                Some(Form::OpenCode)
            }
            () if object("mcpServers").is_some() && is_in_geminis_folder(path) => Some(Form::Gemini),
            () if any("mcpServers", &is_geminis) => Some(Form::Gemini),
            () => None,
        }
    }

    /// The servers of a file.
    pub(super) fn servers(self, root: &Value) -> Map<String, Value> {
        let places: &[&str] = match self {
            Form::Codex => &["/mcp_servers"],
            Form::Gemini => &["/mcpServers"],
            Form::OpenCode => &["/mcp/servers", "/mcp"],
        };
        let found = places.iter().find_map(|place| root.pointer(place)?.as_object());
        found.cloned().unwrap_or_default()
    }

    /// What a server is here, of its entry and of what the file says beside that.
    pub(super) fn taken(self, name: &str, written: &Value, root: &Value) -> Taken {
        let mut taken = Taken::default();
        let Some(written) = written.as_object() else {
            taken.refused.push("it is no object".to_owned());
            return taken;
        };
        let rows = match self {
            Form::Codex => CODEX,
            Form::Gemini => GEMINI,
            Form::OpenCode => OPENCODE,
        };
        let mut entry = Entry::new();
        for (key, value) in written {
            self.take(rows, (key, key), value, &mut entry, &mut taken);
        }
        self.finish(&mut entry, &mut taken);
        self.beside(name, root, &mut entry, &mut taken);
        taken.entry = entry;
        taken
    }

    fn take(self, rows: &[Row], (key, path): (&str, &str), value: &Value, entry: &mut Entry, taken: &mut Taken) {
        if value.is_null() {
            return;
        }
        let becomes = rows.iter().find(|(known, _)| *known == key).map(|(_, becomes)| *becomes);
        let done = becomes.and_then(|becomes| self.put(becomes, path, value, entry, taken));
        if done.is_none() {
            taken.refused.push(path.to_owned());
        }
    }

    /// Puts what a key says into the entry; `None` where its value cannot be had here.
    fn put(self, becomes: Becomes, path: &str, value: &Value, entry: &mut Entry, taken: &mut Taken) -> Option<()> {
        let mut set = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
        match becomes {
            Is("headers") => {
                let headers = value.as_object()?;
                let ours = object_in(entry, "headers");
                for (name, value) in headers {
                    ours.insert(name.clone(), self.text(value)?);
                }
            }
            Is("env") => {
                let env = value.as_object()?;
                let ours = object_in(entry, "env");
                for (name, value) in env {
                    ours.insert(name.clone(), self.text(value)?);
                }
            }
            Is(key) => set(key, self.text(value)?),
            Tools(key) => {
                if !value.as_array()?.is_empty() {
                    set(key, value.clone());
                }
            }
            Seconds(key) => set(key, seconds(value, 1.0)?),
            Millis(keys) => {
                for key in keys {
                    set(key, seconds(value, 1_000.0)?);
                }
            }
            Limits => match value {
                Value::Object(limits) => {
                    for (name, value) in limits {
                        let key = match name.as_str() {
                            "startup" => "connectTimeout",
                            "request" => "timeout",
                            _ => return None,
                        };
                        set(key, seconds(value, 1_000.0)?);
                    }
                }
                value => {
                    set("connectTimeout", seconds(value, 1_000.0)?);
                    set("timeout", seconds(value, 1_000.0)?);
                }
            },
            Enabled => {
                if !value.as_bool()? {
                    set("disabled", json!(true));
                }
            }
            Line => match value {
                Value::Array(words) => {
                    let mut words = words.iter().map(|word| self.text(word)).collect::<Option<Vec<_>>>()?;
                    if words.is_empty() {
                        return None;
                    }
                    set("command", words.remove(0));
                    if !words.is_empty() {
                        set("args", Value::Array(words));
                    }
                }
                value => set("command", self.text(value)?),
            },
            Variables => {
                let env = object_in(entry, "env");
                for variable in value.as_array()? {
                    let source = variable.get("source").and_then(Value::as_str);
                    let name = variable.as_str().or(variable.get("name").and_then(Value::as_str))?;
                    if source.is_some_and(|source| source != "local") {
                        return None;
                    }
                    // What is set there by hand comes first.
                    env.entry(name).or_insert_with(|| reference(name));
                }
            }
            HeaderVariables => {
                let headers = object_in(entry, "headers");
                for (header, name) in value.as_object()? {
                    headers.insert(header.clone(), reference(name.as_str()?));
                }
            }
            Bearer => {
                let name = value.as_str()?;
                let headers = object_in(entry, "headers");
                headers.insert("Authorization".to_owned(), format!("Bearer ${{{name}}}").into());
            }
            Kind => match value.as_str()? {
                "stdio" | "local" | "remote" => {}
                "http" | "streamable_http" => set("type", json!("http")),
                "sse" => set("type", json!("sse")),
                _ => return None,
            },
            Login(rows) => match value {
                Value::Bool(false) => {}
                value => {
                    let mut login = Entry::new();
                    for (key, value) in value.as_object()? {
                        self.take(rows, (key, &format!("{path}.{key}")), value, &mut login, taken);
                    }
                    object_in(entry, "oauth").extend(login);
                }
            },
            Scopes => {
                let scopes = match value {
                    Value::String(text) => text.split_whitespace().map(Value::from).collect(),
                    list => list.as_array()?.clone(),
                };
                // In the login's own object it stands beside the rest.
                let place = if path.contains('.') { entry } else { object_in(entry, "oauth") };
                place.insert("scopes".to_owned(), Value::Array(scopes));
            }
            Approval => taken.approvals.push(path.to_owned()),
            Nothing => {}
            Not(but) => but.filter(|but| value == but).map(drop)?,
        }
        Some(())
    }

    /// What several keys say together.
    fn finish(self, entry: &mut Entry, taken: &mut Taken) {
        if let Some(url) = entry.remove("httpUrl") {
            entry.insert("url".to_owned(), url);
            entry.insert("type".to_owned(), json!("http"));
        }
        if self == Form::Codex && entry.get("url").is_some() {
            // It has no other transport over HTTP.
            entry.insert("type".to_owned(), json!("http"));
        }
        for empty in ["env", "headers", "oauth"] {
            if entry.get(empty).is_some_and(|value| value.as_object().is_some_and(Map::is_empty)) {
                entry.remove(empty);
            }
        }
        if entry.get("disabled") == Some(&json!(false)) {
            entry.remove("disabled");
        }
        // Gemini allows a tool for arguments that begin so: nothing here does.
        let is_part = |tool: &Value| tool.as_str().is_some_and(|tool| tool.contains('('));
        for list in ["enabledTools", "disabledTools"] {
            let tools = entry.get(list).and_then(Value::as_array).filter(|_| self == Form::Gemini);
            taken.refused.extend(tools.into_iter().flatten().filter(|tool| is_part(tool)).map(|_| list.to_owned()));
        }
        if entry.get("enabledTools") == Some(&json!([])) {
            // None of its tools is listed there.
            taken.refused.push("enabledTools".to_owned());
        }
    }

    /// What the file says of the server outside of its entry.
    fn beside(self, name: &str, root: &Value, entry: &mut Entry, taken: &mut Taken) {
        let lists = |list: &str| root.pointer(list).and_then(Value::as_array).filter(|names| !names.is_empty());
        let has = |names: &Vec<Value>| names.iter().any(|other| other == name);
        match self {
            Form::Gemini
                if lists("/mcp/allowed").is_some_and(|names| !has(names))
                    || lists("/mcp/excluded").is_some_and(has) =>
            {
                entry.insert("disabled".to_owned(), json!(true));
            }
            Form::OpenCode => {
                let said = ["tools", "permission"].into_iter().filter_map(|key| root.get(key)?.as_object()).flatten();
                for (pattern, _) in said.filter(|(_, value)| *value == false || *value == "deny") {
                    match of_the_server(name, pattern) {
                        Denies::Others => {}
                        Denies::Tools("*") => drop(entry.insert("disabled".to_owned(), json!(true))),
                        Denies::Tools(tools) => {
                            list_in(entry, "disabledTools").into_iter().for_each(|list| list.push(tools.into()));
                        }
                        Denies::Unclear => taken.refused.push(pattern.clone()),
                    }
                }
            }
            _ => {}
        }
    }

    /// A value with its variables as ours are written; `None` for one that reads a file.
    fn text(self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::String(text) => match self {
                Form::Gemini => Value::String(dollars(text)),
                Form::OpenCode => Value::String(braces(text)?),
                // Nothing is replaced there.
                Form::Codex => Value::String(text.replace("${", "$${")),
            },
            Value::Array(items) => items.iter().map(|item| self.text(item)).collect::<Option<_>>()?,
            other => other.clone(),
        })
    }
}

fn is_in_geminis_folder(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.any(|part| part == ".gemini" || part == "gemini-extension.json")
}

fn object_in<'a>(entry: &'a mut Entry, key: &str) -> &'a mut Entry {
    let place = entry.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    place.as_object_mut().expect("it is an object")
}

fn list_in<'a>(entry: &'a mut Entry, key: &str) -> Option<&'a mut Vec<Value>> {
    entry.entry(key).or_insert_with(|| Value::Array(Vec::new())).as_array_mut()
}

/// What opencode's pattern for names of tools denies of one server.
#[derive(Debug, PartialEq)]
enum Denies<'a> {
    /// Tools of other servers.
    Others,
    /// These of its tools.
    Tools(&'a str),
    /// Perhaps some: a wildcard is where its name would be.
    Unclear,
}

/// Reads a pattern of opencode's: there the server's name and `_` are in front of the tool's.
fn of_the_server<'a>(name: &str, pattern: &'a str) -> Denies<'a> {
    let written = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefix: String = name.chars().map(written).chain(['_']).collect();
    let literal = pattern.split(['*', '?']).next().unwrap_or_default();
    match pattern.strip_prefix(&prefix) {
        Some(tools) => Denies::Tools(tools),
        None if literal.len() < pattern.len() && prefix.starts_with(literal) => Denies::Unclear,
        None => Denies::Others,
    }
}

/// `${NAME}`.
fn reference(name: &str) -> Value {
    format!("${{{name}}}").into()
}

/// Seconds, of which so many make up the unit there; whole ones as a whole number.
fn seconds(value: &Value, units: f64) -> Option<Value> {
    let seconds = value.as_f64().filter(|number| *number > 0.0)? / units;
    Some(if seconds.fract() == 0.0 && seconds < 1e9 { json!(seconds as u64) } else { json!(seconds) })
}

/// `$NAME` as `${NAME}`; what stands in braces is ours already.
fn dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let name = behind.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            rest = behind;
        } else {
            out.push_str(&format!("${{{name}}}"));
            rest = &behind[name.len()..];
        }
    }
    out + rest
}

/// `{env:NAME}` as `${NAME}`; `None` where a file is read.
fn braces(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let text = text.replace("${", "$${");
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("{env:") {
        let (name, after) = behind.split_once('}')?;
        out.push_str(before);
        out.push_str(&format!("${{{}}}", name.trim()));
        rest = after;
    }
    out.push_str(rest);
    (!out.contains("{file:")).then_some(out)
}
