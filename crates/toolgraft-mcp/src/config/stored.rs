//! All servers of a configuration, and its serde form: an `mcpServers` file in which all variables
//! are replaced.

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::servers::ServerConfig;
use toolgraft::http::Trust;

/// Servers, in the order of the file.
///
/// With serde it has the form of an `mcpServers` file in which all variables are replaced. That
/// form contains the secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "File")]
pub struct Config {
    #[serde(rename = "mcpServers", serialize_with = "by_name")]
    pub(super) servers: Vec<ServerConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// Serializes servers as `{ NAME: ENTRY, … }`, in order.
fn by_name<S: Serializer>(servers: &[ServerConfig], serializer: S) -> Result<S::Ok, S::Error> {
    let entry = |server: &ServerConfig| ServerConfig { name: String::new(), ..server.clone() };
    serializer.collect_map(servers.iter().map(|server| (&server.name, entry(server))))
}

/// The deserialized form of a [`Config`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    mcp_servers: Map<String, Value>,
    #[serde(default)]
    notes: Vec<String>,
}

impl TryFrom<File> for Config {
    type Error = serde_json::Error;

    fn try_from(file: File) -> Result<Self, Self::Error> {
        let mut config = Config { servers: Vec::new(), notes: file.notes };
        for (name, entry) in file.mcp_servers {
            config.push(ServerConfig { name, ..serde_json::from_value(entry)? });
        }
        Ok(config)
    }
}

impl Config {
    /// Adds the servers of a later file. A server of the same name replaces the earlier one in its
    /// place, with a note.
    pub fn merge(&mut self, later: Config) {
        self.notes.extend(later.notes);
        for server in later.servers {
            self.push(server);
        }
    }

    /// Adds certificates that are trusted at all servers.
    pub(crate) fn add_trust(&mut self, trust: &Trust) {
        self.servers.iter_mut().for_each(|server| server.trust = std::mem::take(&mut server.trust).and(trust));
    }

    /// Adds a server. One of the same name replaces the earlier one in its place, with a note.
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

    /// Returns the servers, in order.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// Returns notes for the user: replaced servers, doubtful values, misspelt keys.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Keeps only the servers that `keep` accepts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_comes_back_as_it_was_written() {
        let text = r#"{ "mcpServers": {
            "z": { "command": "x", "args": ["a", "$${HOME}"], "env": { "K": "${KEY}" }, "cwd": "/srv", "timeout": 1.5,
                   "connectTimeout": 90, "maxCalls": 3, "autoApprove": ["get_*"], "disabledTools": ["rm_*"] },
            "a": { "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${KEY}" }, "disabled": true },
            "o": { "url": "https://h/mcp", "ca": "own.pem", "oauth": { "grantType": "client_credentials", "clientId": "c", "clientSecret": "${KEY}", "scopes": ["x"], "callbackPort": 8080 } },
            "h": { "type": "streamable-http", "url": "https://h/mcp" },
            "s": { "type": "sse", "url": "https://h/sse" },
            "wrong": { "command": "${UNSET}" }
        } }"#;
        let mut config = Config::parse(text, "mcp.json", &|name| (name == "KEY").then(|| "k".to_owned())).unwrap();
        config.push(ServerConfig { listed_tools: vec!["get".to_owned()], ..ServerConfig::stdio("a", "y", ["b"]) });
        let stored = serde_json::to_string(&config).unwrap();
        assert!(
            stored.starts_with(r#"{"mcpServers":{"z":{"place":"mcp.json:2:13","command":"x","args":["a","${HOME}"]"#)
        );
        assert_eq!(serde_json::from_str::<Config>(&stored).unwrap(), config, "{stored}");
        assert_eq!(config.notes().len(), 1);
        for server in config.servers() {
            let stored = serde_json::to_value(server).unwrap();
            assert_eq!(serde_json::from_value::<ServerConfig>(stored).unwrap(), *server);
        }
    }

    #[test]
    fn an_entry_without_a_transport_is_refused() {
        for entry in ["{}", r#"{"type":"http","command":"x"}"#, r#"{"command":"x","url":"https://h"}"#] {
            let error = serde_json::from_str::<ServerConfig>(entry).unwrap_err().to_string();
            assert!(error.contains("expected \"command\", or \"url\""), "{error}");
        }
        assert!(serde_json::from_str::<ServerConfig>(r#"{"command":"x","timeout":-1}"#).is_err());
    }
}
