//! All servers of a configuration.

use super::servers::ServerConfig;
use toolgraft::http::Trust;

/// The configuration of MCP servers, in the order of the file, with notes for the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub(super) servers: Vec<ServerConfig>,
    pub(super) notes: Vec<String>,
}

impl Config {
    /// Adds the servers and the notes of a later configuration. A server of the same name replaces the earlier one at
    /// its position in the list, and a note for the user reports it.
    pub fn merge(&mut self, later: Config) {
        self.notes.extend(later.notes);
        for server in later.servers {
            self.push(server);
        }
    }

    /// Adds certificates that are trusted at all servers of the configuration.
    pub(crate) fn add_trust(&mut self, trust: &Trust) {
        self.servers.iter_mut().for_each(|server| server.trust = std::mem::take(&mut server.trust).and(trust));
    }

    /// Adds a server to the configuration. It replaces an earlier one of the same name at its position in the list, and
    /// a note for the user reports it.
    pub fn push(&mut self, server: ServerConfig) {
        match self.servers.iter_mut().find(|s| s.name == server.name) {
            Some(earlier) => {
                self.notes.push(format!(
                    "server {:?} of {} is replaced by that of {}",
                    server.name, earlier.place, server.place
                ));
                *earlier = server;
            }
            None => self.servers.push(server),
        }
    }

    /// Returns the servers of the configuration, in the order of the file.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// Returns the notes for the user about the configuration: replaced servers, doubtful values, misspelt keys.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Removes the servers for which `keep` returns `false` from the configuration.
    pub fn retain(&mut self, keep: impl FnMut(&ServerConfig) -> bool) {
        self.servers.retain(keep);
    }
}

impl FromIterator<ServerConfig> for Config {
    fn from_iter<I: IntoIterator<Item = ServerConfig>>(servers: I) -> Self {
        let mut config = Config::default();
        servers.into_iter().for_each(|server| config.push(server));
        config
    }
}
