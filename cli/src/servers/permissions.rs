//! The tools as they were when they were allowed: `permissions.json` beside the user's own `mcp.json`.
//!
//! A permission that lasts (`--allow`, `autoApprove`, `/allow`) names a tool, and is for the tool as it was then. What
//! was first seen of it is kept here, and a server that changes its tool later is found out, also in another program
//! and after a year. A server is known by its name and the file that has it: one of the same name in another project
//! is another.
//!
//! ```text
//! patterns ─▶ Policy ─┐
//! permissions.json ───┴─▶ settled ─▶ Policy that knows how its tools were ─▶ permissions.json
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use toolgraft::tools::{Definition, exact_pattern};
use toolgraft::{Catalog, Policy, Tool};
use toolgraft_files::Lock;
use toolgraft_mcp::ServerConfig;

use super::own_file;
use crate::base::{lock, output, state};
use crate::screen::full_name;

/// The definition of an allowed tool at the time when it was allowed or first seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Permission {
    /// Path of the configuration file that contains the server.
    file: String,
    server: String,
    tool: String,
    definition: Definition,
}

impl Permission {
    fn is_for(&self, other: &Permission) -> bool {
        (&self.file, &self.server, &self.tool) == (&other.file, &other.server, &other.tool)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptPermissions {
    permissions: Vec<Permission>,
}

/// The saved definitions of allowed tools, for the servers of one configuration.
#[derive(Debug)]
pub(crate) struct Permissions {
    /// Path of the file with the definitions; `None` if there is no home directory or the file must not be written.
    file: Option<PathBuf>,
    /// Path of the configuration file of each server, by the server's name.
    servers: BTreeMap<String, String>,
    kept: Mutex<KeptPermissions>,
}

/// Returns a pattern in the form `server.tools` instead of `server/tools`, if no dot in a name makes that ambiguous.
pub(crate) fn dotted(pattern: &str) -> String {
    let (names, conditions) = pattern.split_at(pattern.find('(').unwrap_or(pattern.len()));
    match names.split_once('/') {
        Some((server, tools)) if !names.contains(['.', '\\']) && !tools.contains('/') => {
            format!("{server}.{tools}{conditions}")
        }
        _ => pattern.to_owned(),
    }
}

impl Permissions {
    /// Reads the saved definitions of this user's allowed tools, for these servers. An unreadable file counts as empty
    /// and is left unchanged, with a warning.
    pub(crate) fn of(servers: &[ServerConfig]) -> Self {
        Permissions::at(own_file().map(|own| own.with_file_name("permissions.json")), servers)
    }

    fn at(file: Option<PathBuf>, servers: &[ServerConfig]) -> Self {
        let place = |server: &ServerConfig| {
            let file = server.file().unwrap_or_default();
            let whole = Path::new(file).canonicalize().map(|path| path.display().to_string());
            (server.name.clone(), whole.unwrap_or_else(|_| file.to_owned()))
        };
        let servers = servers.iter().map(place).collect();
        let kept = state::read_or_warn(file.as_deref(), "the earlier definitions of the allowed tools are unknown");
        Permissions { file: file.filter(|_| kept.is_some()), servers, kept: Mutex::new(kept.unwrap_or_default()) }
    }

    /// Returns the policy with the saved definitions of the tools that it allows. Definitions of tools seen for the
    /// first time are saved.
    pub(crate) fn settled(&self, policy: Policy, catalog: &Catalog) -> Policy {
        let policy = self.informed(policy, catalog);
        let known = |tool: &Tool| {
            let definition = policy.known().get(&exact_pattern(tool.server.as_deref(), &tool.name))?;
            self.permission(tool, definition.clone())
        };
        let permissions: Vec<Permission> = catalog.tools().filter_map(known).collect();
        self.keep(permissions, false);
        policy
    }

    /// Returns the policy with the saved definitions of the tools that it allows, and saves nothing.
    pub(crate) fn informed(&self, policy: Policy, catalog: &Catalog) -> Policy {
        let stored: Vec<(String, Definition)> = {
            let kept = lock(&self.kept);
            let ours = kept.permissions.iter().filter(|kept| self.servers.get(&kept.server) == Some(&kept.file));
            ours.map(|kept| (exact_pattern(Some(&kept.server), &kept.tool), kept.definition.clone())).collect()
        };
        policy.with_known(stored).in_catalog(catalog)
    }

    /// Saves the current definition of a tool as the allowed one.
    pub(crate) fn accept(&self, tool: &Tool) {
        self.keep(self.permission(tool, Definition::of(tool)).into_iter().collect(), true);
    }

    /// Returns descriptions of the changes in a tool's definition since it was allowed; empty if none was saved.
    pub(crate) fn changes(&self, tool: &Tool) -> Vec<String> {
        let now = Definition::of(tool);
        let Some(wanted) = self.permission(tool, now.clone()) else { return Vec::new() };
        let kept = lock(&self.kept);
        let before = kept.permissions.iter().find(|kept| kept.is_for(&wanted));
        before.map(|before| before.definition.changes(&now)).unwrap_or_default()
    }

    fn permission(&self, tool: &Tool, definition: Definition) -> Option<Permission> {
        let server = tool.server.clone()?;
        let file = self.servers.get(&server)?.clone();
        Some(Permission { file, server, tool: tool.name.clone(), definition })
    }

    /// Saves definitions in memory and in the file. For a tool that already has one, the new definition is ignored
    /// unless it `replaces` the earlier one.
    fn keep(&self, permissions: Vec<Permission>, replaces: bool) {
        let mut kept = lock(&self.kept);
        if !put(&mut kept, &permissions, replaces) {
            return;
        }
        if let Some(file) = &self.file
            && let Err(problem) = written(file, &permissions, replaces)
        {
            output::warn(&format!("{problem}: changes of these tools will not be detected"));
        }
    }
}

/// Adds definitions to the saved ones. Returns `true` if that changed any.
fn put(kept: &mut KeptPermissions, permissions: &[Permission], replaces: bool) -> bool {
    let mut is_new = false;
    for permission in permissions {
        match kept.permissions.iter_mut().find(|there| there.is_for(permission)) {
            Some(there) if replaces && there != permission => there.clone_from(permission),
            Some(_) => continue,
            None => kept.permissions.push(permission.clone()),
        }
        is_new = true;
    }
    is_new
}

/// Merges definitions into the file, under a lock, since another process may have changed it in the meantime.
fn written(file: &Path, permissions: &[Permission], replaces: bool) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", file.display());
    let _lock = Lock::wait(&file.with_extension("lock")).map_err(cannot)?;
    let mut there: KeptPermissions = state::read_versioned(file)?;
    if put(&mut there, permissions, replaces) { state::write_versioned(file, &there) } else { Ok(()) }
}

/// Returns a message that an allowed tool has changed, with the command that allows its new form.
pub(crate) fn change_line(server: Option<&str>, tool: &str, changes: &[String]) -> String {
    let server = server.unwrap_or_default();
    // A command that somebody may copy contains no name that a shell reads as more than a word.
    let is_word = |name: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
        // A word that begins with `-` would be an option.
        name.chars().all(is_plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let named = if is_word(server) && is_word(tool) { format!(" {server} {tool}") } else { String::new() };
    let changes = changes.join("; ");
    format!(
        "it has changed since it was allowed ({changes}); `toolgraft config accept{named}` allows it in its present \
        form"
    )
}

/// Warns of each tool that the policy allows but whose definition has changed since.
pub(crate) fn warn_changed(policy: &Policy, catalog: &Catalog) {
    for tool in catalog.tools() {
        let judged = policy.judge(tool.server.as_deref(), &tool.name, Some(tool), None);
        if !judged.changes.is_empty() {
            let name = full_name(tool.server.as_deref(), &tool.name);
            let line = change_line(tool.server.as_deref(), &tool.name, &judged.changes);
            output::warn(&format!("{name} does not run: {line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::tools::Decision;

    fn send(description: &str) -> Tool {
        Tool::new("send").with_server("mail").with_description(description)
    }

    fn server(file: &Path) -> ServerConfig {
        let mut server = ServerConfig::stdio("mail", "x", [""; 0]);
        server.place = format!("{}:1:1", file.display());
        server
    }

    #[test]
    fn a_tool_is_kept_as_it_first_was_until_somebody_accepts_it_anew() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("permissions.json");
        let configured = server(&here.path().join("mcp.json"));
        let open = || Permissions::at(Some(file.clone()), std::slice::from_ref(&configured));
        let settled = |permissions: &Permissions, tool: &Tool| {
            let policy = Policy::new(Decision::Deny).allow("mail/*");
            let policy = permissions.settled(policy, &Catalog::from_tools([tool.clone()]));
            policy.decide(Some("mail"), "send", Some(tool), None)
        };
        let (before, after) = (send("Sends."), send("Sends, and tells Eve."));
        assert_eq!(settled(&open(), &before), Decision::Allow);
        let permissions = open();
        assert_eq!(settled(&permissions, &after), Decision::Ask);
        assert_eq!(permissions.changes(&after).len(), 1);
        permissions.accept(&after);
        for permissions in [permissions, open()] {
            assert_eq!(settled(&permissions, &after), Decision::Allow);
            assert_eq!(settled(&permissions, &before), Decision::Ask);
        }
        // The same name in another project's file is another server.
        let other = server(&here.path().join("other.json"));
        let permissions = Permissions::at(Some(file.clone()), std::slice::from_ref(&other));
        assert_eq!(settled(&permissions, &before), Decision::Allow);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written_over() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("permissions.json");
        let configured = server(&here.path().join("mcp.json"));
        for text in ["{", "{\"toolgraft\": 2, \"permissions\": []}"] {
            std::fs::write(&file, text).unwrap();
            Permissions::at(Some(file.clone()), std::slice::from_ref(&configured)).accept(&send("Sends."));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
