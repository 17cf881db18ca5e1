//! The configuration of servers as values.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::EntryError;
use toolgraft::tools::server_pattern;

/// Servers, in the order of the file.
///
/// With serde it has the form of an `mcpServers` file, with all values as they are: no
/// variable is looked up, and secrets stand in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub(super) servers: Vec<ServerConfig>,
    pub(super) notes: Vec<String>,
}

/// How to reach one server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name, unique in the configuration.
    pub name: String,
    /// Where it was read, as `file:line:column`.
    pub place: String,
    /// How it is reached; the reason where its entry is wrong.
    pub transport: Result<TransportConfig, EntryError>,
    /// Whether it is left out.
    pub disabled: bool,
    /// Limit of one call; `None` takes the hub's.
    pub call_timeout: Option<Duration>,
    /// Limit of the start, and again of the listing; `None` takes the hub's.
    pub connect_timeout: Option<Duration>,
    /// Calls that run at once; `None` takes the hub's.
    pub max_calls: Option<NonZeroUsize>,
    /// Whether its calls may run beside each other. Without it those of one message run in
    /// the order written, but for tools that both call themselves read-only.
    pub parallel: bool,
    /// Tools that the user lets run without being asked: globs, `*` for all.
    pub auto_approve: Vec<String>,
    /// The only tools that are listed and can be called: globs; none means all.
    pub enabled_tools: Vec<String>,
    /// Tools that are not listed and cannot be called, `enabled_tools` or not: globs.
    pub disabled_tools: Vec<String>,
    /// The only tools that are listed: globs over `TOOL` or `SERVER.TOOL`; none
    /// means all. No file sets this.
    pub listed_tools: Vec<String>,
}

/// A transport and what it needs. `Debug` hides values that may be secret.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportConfig {
    /// A child process that speaks over its standard input and output.
    #[non_exhaustive]
    Stdio {
        /// Program: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Arguments.
        args: Vec<String>,
        /// Variables beside those of the allow-list.
        env: BTreeMap<String, String>,
        /// Working directory; `None` is that of this process.
        cwd: Option<String>,
    },
    /// An endpoint over HTTP.
    #[non_exhaustive]
    Http {
        /// Endpoint.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// What it speaks.
        transport: HttpTransport,
        /// What a login at it is made with.
        oauth: OAuthConfig,
        /// A file of certificates (PEM) that are trusted there beside the system's: an authority's,
        /// or its own.
        ca: Option<String>,
    },
}

/// What a login at a server over HTTP is made with, beside what the server itself says.
/// `Debug` hides the secret.
///
/// With serde its keys are `grantType`, `clientId`, `clientSecret`, `scopes` and `callbackPort`, as
/// in a file.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// Who logs in.
    #[serde(skip_serializing_if = "GrantType::is_default")]
    pub grant_type: GrantType,
    /// A client that the authorization server knows; a URL is that of a metadata document and
    /// counts where the server reads such. Without it one is registered at each login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// What is asked for, instead of what the server says that it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 that the browser is sent back to; any free one without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
}

/// Who logs in at a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantType {
    /// A person at a browser ([`Login`](crate::Login)).
    #[default]
    AuthorizationCode,
    /// The program itself, with `client_id` and `client_secret`, whenever it needs a token. None is
    /// kept in a file.
    ClientCredentials,
}

impl GrantType {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde has it")]
    fn is_default(&self) -> bool {
        *self == GrantType::default()
    }
}

impl OAuthConfig {
    pub(super) fn is_empty(&self) -> bool {
        *self == OAuthConfig::default()
    }
}

impl fmt::Debug for OAuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthConfig")
            .field("grant_type", &self.grant_type)
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| toolgraft::secrets::REDACTED))
            .field("scopes", &self.scopes)
            .field("callback_port", &self.callback_port)
            .finish()
    }
}

/// How an HTTP server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP, and where there is none, legacy HTTP+SSE.
    #[default]
    Any,
    /// Streamable HTTP alone.
    #[serde(rename = "http")]
    Streamable,
    /// Legacy HTTP+SSE alone, of MCP 2024-11-05.
    Sse,
}

impl fmt::Debug for TransportConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportConfig::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            TransportConfig::Http { url, headers, transport, oauth, ca } => f
                .debug_struct("Http")
                .field("transport", transport)
                .field("url", &toolgraft::secrets::shown_url(url))
                .field("headers", &headers.keys())
                .field("oauth", oauth)
                .field("ca", ca)
                .finish(),
        }
    }
}

impl Config {
    /// Adds a later file's servers; one of the same name replaces the earlier
    /// one in its place, with a note.
    pub fn merge(&mut self, later: Config) {
        self.notes.extend(later.notes);
        for server in later.servers {
            self.push(server);
        }
    }

    /// Adds a server; one of the same name replaces the earlier one, with a note.
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

    /// The servers, in order.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// Things that a user may want to know: servers that were replaced, doubtful values.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Keeps only the servers that `keep` accepts.
    pub fn retain(&mut self, keep: impl FnMut(&ServerConfig) -> bool) {
        self.servers.retain(keep);
    }
}

impl ServerConfig {
    /// A server over standard input and output: a program and its arguments.
    pub fn stdio(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        ServerConfig::new(
            name,
            TransportConfig::Stdio {
                command: command.into(),
                args: args.into_iter().map(Into::into).collect(),
                env: BTreeMap::new(),
                cwd: None,
            },
        )
    }

    /// A server over streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        ServerConfig::new(
            name,
            TransportConfig::Http {
                url: url.into(),
                headers: BTreeMap::new(),
                transport: HttpTransport::Any,
                oauth: OAuthConfig::default(),
                ca: None,
            },
        )
    }

    /// A server with a transport and defaults for the rest.
    pub fn new(name: impl Into<String>, transport: TransportConfig) -> Self {
        ServerConfig { transport: Ok(transport), ..ServerConfig::broken(name, String::new()) }
    }

    /// A server that cannot be reached, for this reason.
    pub(super) fn broken(name: impl Into<String>, why: String) -> Self {
        ServerConfig {
            name: name.into(),
            place: "the program".to_owned(),
            transport: Err(why.into()),
            disabled: false,
            call_timeout: None,
            connect_timeout: None,
            max_calls: None,
            parallel: false,
            auto_approve: Vec::new(),
            enabled_tools: Vec::new(),
            disabled_tools: Vec::new(),
            listed_tools: Vec::new(),
        }
    }

    /// Sets a variable of the child process. To set one of a server over HTTP is a
    /// [`problem`](Self::problem) of its entry, as are the other two where they do not fit.
    #[must_use]
    pub fn with_env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.changed("a server over HTTP has no \"env\"", |transport| match transport {
            TransportConfig::Stdio { env, .. } => {
                env.insert(name.into(), value.into());
                true
            }
            TransportConfig::Http { .. } => false,
        })
    }

    /// Sets a header of every request.
    #[must_use]
    pub fn with_header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.changed("a server over stdio has no \"headers\"", |transport| match transport {
            TransportConfig::Http { headers, .. } => {
                headers.insert(name.into(), value.into());
                true
            }
            TransportConfig::Stdio { .. } => false,
        })
    }

    /// Sets what a login at a server over HTTP is made with.
    #[must_use]
    pub fn with_oauth(self, config: OAuthConfig) -> Self {
        self.changed("nobody logs in at a server over stdio", |transport| match transport {
            TransportConfig::Http { oauth, .. } => {
                *oauth = config;
                true
            }
            TransportConfig::Stdio { .. } => false,
        })
    }

    /// Trusts the certificates of this file (PEM) at a server over HTTP, and where one logs in at it.
    #[must_use]
    pub fn with_ca(self, file: impl Into<String>) -> Self {
        self.changed("a server over stdio has no \"ca\"", |transport| match transport {
            TransportConfig::Http { ca, .. } => {
                *ca = Some(file.into());
                true
            }
            TransportConfig::Stdio { .. } => false,
        })
    }

    /// Sets the limit of one call.
    #[must_use]
    pub fn with_call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = Some(limit);
        self
    }

    /// Sets the limit of the start, and again of the listing.
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Sets how many calls run at once.
    #[must_use]
    pub fn with_max_calls(mut self, calls: NonZeroUsize) -> Self {
        self.max_calls = Some(calls);
        self
    }

    /// Sets whether calls may run beside each other.
    #[must_use]
    pub fn with_parallel(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Sets how a server over HTTP is spoken to.
    #[must_use]
    pub fn with_http_transport(self, http: HttpTransport) -> Self {
        self.changed("a server over stdio is not spoken to over HTTP", |config| match config {
            TransportConfig::Http { transport, .. } => {
                *transport = http;
                true
            }
            TransportConfig::Stdio { .. } => false,
        })
    }

    fn changed(mut self, unfit: &str, change: impl FnOnce(&mut TransportConfig) -> bool) -> Self {
        if let Ok(transport) = &mut self.transport
            && !change(transport)
        {
            self.transport = Err(unfit.to_owned().into());
        }
        self
    }

    /// The file that it was read from; `None` where a program has made it.
    pub fn file(&self) -> Option<&str> {
        let mut parts = self.place.rsplitn(3, ':');
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<usize>().is_ok());
        if is_number(parts.next()) && is_number(parts.next()) { parts.next() } else { None }
    }

    /// Patterns of [`Policy`](toolgraft::Policy) for the tools of this server
    /// that the user lets run without being asked.
    pub fn approved(&self) -> impl Iterator<Item = String> + '_ {
        self.auto_approve.iter().map(|tools| server_pattern(&self.name, tools))
    }

    /// What is wrong with the entry, with its place; `None` where nothing is, or
    /// where the server is disabled anyway.
    pub fn problem(&self) -> Option<String> {
        let message = self.transport.as_ref().err().filter(|_| !self.disabled)?;
        Some(format!("{}: server {:?}: {message}", self.place, self.name))
    }
}

impl FromIterator<ServerConfig> for Config {
    fn from_iter<I: IntoIterator<Item = ServerConfig>>(servers: I) -> Self {
        let mut config = Config::default();
        servers.into_iter().for_each(|server| config.push(server));
        config
    }
}
