//! The text of files that servers on this machine write, as it is before they do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgraft_mcp::{Config, TransportConfig};

/// Longest file that is read, in bytes; a longer one is shown as if it were not there.
const LONGEST: u64 = 1 << 20;

/// Where the servers run that are processes of this machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Existing {
    folders: BTreeMap<String, PathBuf>,
}

impl Existing {
    /// Of the servers of a configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let local = config.servers().iter().filter_map(|server| match &server.transport {
            Ok(TransportConfig::Stdio { cwd, .. }) => {
                let folder = cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
                Some((server.name.clone(), folder))
            }
            _ => None,
        });
        Existing { folders: local.collect() }
    }

    /// The text of the file that this server means by a path. `None` where the server is not on this machine,
    /// or there is no such file, or it is no text, too long, or no plain file.
    pub(crate) fn text(&self, server: Option<&str>, path: &str) -> Option<String> {
        let path = self.folders.get(server?)?.join(path);
        // A pipe or a device may never end, and one that is opened may do something.
        path.metadata().ok().filter(|about| about.is_file() && about.len() <= LONGEST)?;
        std::fs::read_to_string(path).ok()
    }
}
