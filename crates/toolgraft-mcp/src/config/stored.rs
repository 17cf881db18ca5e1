//! The configuration with serde: what an `mcpServers` file looks like once everything in it
//! has been looked up.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::error::EntryError;
use super::servers::{Config, HttpTransport, OAuthConfig, ServerConfig, TransportConfig};

/// A server's entry.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    /// Where it stands alone: among others it is the key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default = "the_program")]
    place: String,
    #[serde(flatten)]
    transport: Transport,
    /// What is wrong with it, in place of a transport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    disabled: bool,
    #[serde(default, rename = "timeout", with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    call_timeout: Option<Duration>,
    #[serde(default, with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    connect_timeout: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_calls: Option<NonZeroUsize>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    parallel: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    auto_approve: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    enabled_tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disabled_tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listed_tools: Vec<String>,
}

fn the_program() -> String {
    "the program".to_owned()
}

/// The part of an entry that says how the server is reached.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Transport {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<Type>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "OAuthConfig::is_empty")]
    oauth: OAuthConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    Stdio,
    Http,
    Sse,
}

impl From<TransportConfig> for Transport {
    fn from(transport: TransportConfig) -> Self {
        match transport {
            TransportConfig::Stdio { command, args, env, cwd } => {
                Transport { command: Some(command), args, env, cwd, ..Transport::default() }
            }
            TransportConfig::Http { url, headers, transport, oauth, ca } => {
                let r#type = match transport {
                    HttpTransport::Any => None,
                    HttpTransport::Streamable => Some(Type::Http),
                    HttpTransport::Sse => Some(Type::Sse),
                };
                Transport { r#type, url: Some(url), headers, oauth, ca, ..Transport::default() }
            }
        }
    }
}

impl TryFrom<Transport> for TransportConfig {
    type Error = EntryError;

    fn try_from(stored: Transport) -> Result<Self, EntryError> {
        let Transport { r#type, command, args, env, cwd, url, headers, oauth, ca } = stored;
        let http = |url, transport| TransportConfig::Http { url, headers, transport, oauth, ca };
        match (r#type, command, url) {
            (None, Some(command), None) | (Some(Type::Stdio), Some(command), _) => {
                Ok(TransportConfig::Stdio { command, args, env, cwd })
            }
            (None, None, Some(url)) => Ok(http(url, HttpTransport::Any)),
            (Some(Type::Http), _, Some(url)) => Ok(http(url, HttpTransport::Streamable)),
            (Some(Type::Sse), _, Some(url)) => Ok(http(url, HttpTransport::Sse)),
            _ => Err("expected \"command\", or \"url\", or a \"type\" that says which".to_owned().into()),
        }
    }
}

impl Serialize for TransportConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Transport::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TransportConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Transport::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl Serialize for ServerConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Entry::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ServerConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Entry::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl From<ServerConfig> for Entry {
    fn from(server: ServerConfig) -> Self {
        let (transport, problem) = match server.transport {
            Ok(transport) => (transport.into(), None),
            Err(problem) => (Transport::default(), Some(problem.to_string())),
        };
        Entry {
            name: server.name,
            place: server.place,
            transport,
            problem,
            disabled: server.disabled,
            call_timeout: server.call_timeout,
            connect_timeout: server.connect_timeout,
            max_calls: server.max_calls,
            parallel: server.parallel,
            auto_approve: server.auto_approve,
            enabled_tools: server.enabled_tools,
            disabled_tools: server.disabled_tools,
            listed_tools: server.listed_tools,
        }
    }
}

impl TryFrom<Entry> for ServerConfig {
    type Error = EntryError;

    fn try_from(entry: Entry) -> Result<Self, EntryError> {
        let transport = match entry.problem {
            Some(problem) => Err(problem.into()),
            None => Ok(entry.transport.try_into()?),
        };
        Ok(ServerConfig {
            name: entry.name,
            place: entry.place,
            transport,
            disabled: entry.disabled,
            call_timeout: entry.call_timeout,
            connect_timeout: entry.connect_timeout,
            max_calls: entry.max_calls,
            parallel: entry.parallel,
            auto_approve: entry.auto_approve,
            enabled_tools: entry.enabled_tools,
            disabled_tools: entry.disabled_tools,
            listed_tools: entry.listed_tools,
        })
    }
}

/// `{ NAME: ENTRY, … }`, in order.
struct Servers(Vec<ServerConfig>);

impl Serialize for Servers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for server in &self.0 {
            map.serialize_entry(&server.name, &Entry { name: String::new(), ..server.clone().into() })?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Servers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("servers by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Servers, A::Error> {
                let mut servers = Vec::new();
                while let Some((name, server)) = map.next_entry::<String, ServerConfig>()? {
                    servers.push(ServerConfig { name, ..server });
                }
                Ok(Servers(servers))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    mcp_servers: Servers,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        File { mcp_servers: Servers(self.servers.clone()), notes: self.notes.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let File { mcp_servers, notes } = File::deserialize(deserializer)?;
        let config: Config = mcp_servers.0.into_iter().collect();
        Ok(Config { notes: notes.into_iter().chain(config.notes).collect(), ..config })
    }
}

/// Times as numbers of seconds.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(time.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }

    pub(crate) mod optional {
        use super::{Deserialize, Deserializer, Duration, Error, Serializer};

        #[expect(clippy::ref_option, reason = "serde hands over a reference")]
        pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => serializer.serialize_some(&time.as_secs_f64()),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
            let seconds = Option::<f64>::deserialize(deserializer)?;
            seconds.map(Duration::try_from_secs_f64).transpose().map_err(D::Error::custom)
        }
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
