//! A configuration file that is written to: whatever is not changed stays as it is, its
//! comments too.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value, json};

use crate::base::{Failure, input};
use crate::servers;
use toolgraft_files::{self as files, Mode};
use toolgraft_mcp::Config;

/// Parser options for JSON with comments and trailing commas, and no other leniency.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The text of a new configuration file, without servers.
const NEW: &str = "{\n  \"mcpServers\": {\n  }\n}\n";

/// The JSON object that configures one server.
pub(crate) type Entry = Map<String, Value>;

/// A configuration file of MCP servers that can be edited with its comments preserved.
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    root: CstRootNode,
    servers: CstObject,
}

impl ConfigFile {
    /// Reads a configuration file; if it does not exist or is empty, an edit starts from one without servers.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Failure> {
        // A directory is read for its error, also where it says that it is empty.
        let is_there = path.metadata().is_ok_and(|found| found.is_dir() || found.len() > 0);
        let text = if is_there { input::read_text(&path)? } else { NEW.to_owned() };
        let root = parsed(&text, &input::shown(&path))?;
        let wrong = |what: &str| Failure::usage(format!("{}: {what} must be an object: fix it first", path.display()));
        let top = root.object_value_or_create().ok_or_else(|| wrong("the whole file"))?;
        let key = ["mcpServers", "servers"].into_iter().find(|key| top.get(key).is_some()).unwrap_or("mcpServers");
        let servers = top.object_value_or_create(key).ok_or_else(|| wrong(&format!("{key:?}")))?;
        Ok(ConfigFile { path, root, servers })
    }

    /// Returns the names of the configured servers, in the order of the file.
    pub(crate) fn names(&self) -> Vec<String> {
        self.servers.properties().iter().filter_map(|property| property.decoded_name()).collect()
    }

    /// Returns the entry of a server; an empty one if its value is not an object, `None` if there is no such server.
    pub(crate) fn entry(&self, name: &str) -> Option<Entry> {
        let value = self.servers.get(name)?.value()?.to_serde_value();
        Some(match value {
            Some(Value::Object(entry)) => entry,
            _ => Entry::new(),
        })
    }

    /// Returns the names and entries of all servers, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(String, Entry)> {
        self.names().into_iter().filter_map(|name| self.entry(&name).map(|entry| (name, entry))).collect()
    }

    /// Sets the entry of a server, in place of an earlier one or at the end.
    pub(crate) fn set(&self, name: &str, entry: &Entry) {
        let value = written(&Value::Object(entry.clone()));
        match self.servers.get(name) {
            Some(property) => property.set_value(value),
            None => {
                self.servers.ensure_multiline();
                drop(self.servers.append(name, value));
            }
        }
    }

    /// Removes the entry of a server. Returns `true` if there was one.
    pub(crate) fn remove(&self, name: &str) -> bool {
        let found = self.servers.get(name);
        found.map(|property| property.remove()).is_some()
    }

    /// Writes the file, after checking that this program can parse the new text.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let text = self.root.to_string();
        // Whether a variable is set here says nothing of the file.
        Config::parse(&text, &input::shown(&self.path), &|_| Some("x".to_owned())).map_err(Failure::job)?;
        let failed = |e: std::io::Error| Failure::job(format!("cannot write {}: {e}", self.path.display()));
        files::replace(&self.path, text.as_bytes(), Mode::Kept).map_err(failed)
    }
}

/// Parses a configuration text into a syntax tree. Errors name the line and column.
fn parsed(text: &str, name: &str) -> Result<CstRootNode, Failure> {
    CstRootNode::parse(input::without_bom(text), &OPTIONS).map_err(|e| {
        let (line, column) = (e.line_display(), e.column_display());
        let what = e.kind().to_string();
        Failure::usage(format!("{name}:{line}:{column}: {}{}: fix the JSON here", what[..1].to_lowercase(), &what[1..]))
    })
}

/// Parses a JSON text with comments and trailing commas; `name` is that of the file, for errors.
pub(crate) fn value(text: &str, name: &str) -> Result<Value, Failure> {
    let value = parsed(text, name)?.to_serde_value();
    value.ok_or_else(|| Failure::usage(format!("{name}: the file has no JSON")))
}

fn written(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => CstInputValue::Bool(*yes),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(written).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), written(value))).collect())
        }
    }
}

/// Returns the path of the configuration file to edit: the named one, else the user's own.
pub(crate) fn target(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => Ok(path.to_owned()),
        None => servers::own_file()
            .ok_or_else(|| Failure::usage("there is no home directory: name the file with --mcp-config FILE")),
    }
}

/// Returns the problem of a server's entry, if there is one, and the names of required environment variables that are
/// not set.
pub(crate) fn checked(name: &str, entry: &Entry) -> (Option<String>, Vec<String>) {
    let unset = RefCell::new(BTreeSet::new());
    let variable = |name: &str| {
        let set = std::env::var(name).ok();
        if set.is_none() {
            unset.borrow_mut().insert(name.to_owned());
        }
        Some(set.unwrap_or_else(|| "x".to_owned()))
    };
    let text = json!({ "mcpServers": { name: entry } }).to_string();
    let problem = match Config::parse(&text, "", &variable) {
        Ok(config) => config.servers().first().and_then(|server| Some(server.transport.as_ref().err()?.to_string())),
        Err(error) => Some(error.message),
    };
    // A variable with a default need not be set.
    let needed = |variable: &String| {
        let text = text.as_str();
        text.contains(&format!("${{{variable}}}")) || text.contains(&format!("${{env:{variable}}}"))
    };
    (problem, unset.into_inner().into_iter().filter(needed).collect())
}

#[cfg(test)]
mod tests;
