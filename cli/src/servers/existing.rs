//! The text of files that servers on this machine write, as it is before they do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::screen;
use toolgraft_mcp::{Config, TransportConfig};

/// Maximum size in bytes of a file that is read for a diff; a longer one is treated as missing.
const LONGEST: u64 = 1 << 20;

/// The working directory of each local MCP server and the directories that its arguments name. Only files in these are
/// shown, since a model can name any path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Existing {
    /// Directories of each local server by its name; relative paths are resolved against the first one.
    folders: BTreeMap<String, Vec<PathBuf>>,
}

impl Existing {
    /// Collects the directories of the local servers in a configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let local = config.servers().iter().filter_map(|server| match &server.transport {
            Ok(TransportConfig::Stdio { cwd, args, .. }) => {
                let folder = cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
                let named = args.iter().map(|named| folder.join(named)).filter(|named| named.is_dir());
                let folders = [folder.clone()].into_iter().chain(named);
                Some((server.name.clone(), folders.filter_map(|folder| folder.canonicalize().ok()).collect()))
            }
            _ => None,
        });
        Existing { folders: local.collect() }
    }

    /// Returns a call's arguments as text for display, with a diff where they change a file of this server.
    pub(crate) fn arguments(&self, server: Option<&str>, arguments: &Value) -> String {
        screen::arguments(arguments, |path| self.text(server, path))
    }

    /// Returns the text of the file that a server means by a path. `None` if the server is not local, or if its
    /// directories contain no such regular file of valid UTF-8 and at most the maximum size.
    fn text(&self, server: Option<&str>, path: &str) -> Option<String> {
        let folders = self.folders.get(server?)?;
        let path = folders.first()?.join(path).canonicalize().ok()?;
        folders.iter().find(|folder| path.starts_with(folder))?;
        // A pipe or a device may never end, and one that is opened may do something.
        let about = path.metadata().ok().filter(|about| about.is_file() && about.len() <= LONGEST)?;
        // What the system makes up when it is read (`/proc/self/environ`) says that it is empty.
        if about.len() == 0 { Some(String::new()) } else { std::fs::read_to_string(path).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_is_shown_from_the_servers_folders_alone() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (named, secret) = (tempfile::tempdir().unwrap(), outside.path().join("secret"));
        std::fs::write(inside.path().join("a"), "of a").unwrap();
        std::fs::write(named.path().join("b"), "of b").unwrap();
        std::fs::write(&secret, "a secret").unwrap();
        let servers = json!({ "mcpServers": {
            "files": { "command": "x", "args": [named.path()], "cwd": inside.path() },
            "all": { "command": "x", "args": ["/"] },
        } });
        let existing = Existing::of(&Config::parse(&servers.to_string(), "mcp.json", &|_| None).unwrap());
        let text = |path: &str| existing.text(Some("files"), path);
        assert_eq!(text("a").as_deref(), Some("of a"));
        assert_eq!(text(&named.path().join("b").display().to_string()).as_deref(), Some("of b"));
        let up = format!("../{}/secret", outside.path().file_name().unwrap().display());
        for path in [secret.to_str().unwrap(), &up, "/proc/self/environ", "/proc/self/cmdline", "/etc/hostname"] {
            assert_eq!(text(path), None, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, inside.path().join("link")).unwrap();
            assert_eq!(text("link"), None, "a link that leads out");
        }
        // Of a server that has all of the machine for its folder the program's own variables are none of its files.
        assert_eq!(existing.text(Some("all"), "/proc/self/environ").unwrap_or_default(), "");
    }
}
