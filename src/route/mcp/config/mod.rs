//! Configuration of MCP servers: the `mcpServers` files that other clients use too.
//!
//! A file is JSON with comments and trailing commas. Unknown keys are ignored.
//! What makes a file unreadable is an [`Err`] with file, line and column; what
//! is wrong with one server (an unset variable, a transport that is not there)
//! stays with that server as its [`problem`](ServerConfig::problem), so that the
//! others still run.

mod expand;
mod hidden;
mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

pub use expand::Environment;
pub(super) use hidden::Hidden;

use crate::secrets::Secrets;

/// Servers, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Config {
    servers: Vec<ServerConfig>,
    notes: Vec<String>,
}

/// How to reach one server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Name, unique in the configuration.
    pub name: String,
    /// Where it was read, as `file:line:column`.
    pub place: String,
    /// How it is reached; the reason where its entry is wrong.
    pub transport: Result<TransportConfig, String>,
    /// Whether it is left out.
    pub disabled: bool,
    /// Limit of one call; `None` takes the hub's.
    pub call_timeout: Option<Duration>,
    /// Limit of the start, and again of the listing; `None` takes the hub's.
    pub connect_timeout: Option<Duration>,
    /// Calls that run at once; `None` takes the hub's.
    pub max_calls: Option<NonZeroUsize>,
    /// Tools that the user lets run without being asked: globs, `*` for all.
    pub auto_approve: Vec<String>,
    /// Tools that are not listed and cannot be called: globs.
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
    Http {
        /// Endpoint.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// What it speaks.
        transport: HttpTransport,
    },
}

/// How an HTTP server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, and where there is none, legacy HTTP+SSE.
    #[default]
    Any,
    /// Streamable HTTP alone.
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
            TransportConfig::Http { url, headers, transport } => f
                .debug_struct("Http")
                .field("transport", transport)
                .field("url", &super::http::shown_url(url))
                .field("headers", &headers.keys())
                .finish(),
        }
    }
}

/// A file that cannot be read as a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigError {
    /// Where, as `file:line:column`.
    pub place: String,
    /// What was expected, and the remedy.
    pub message: String,
}

impl Config {
    /// Reads a configuration.
    ///
    /// `source` is the file's name for messages. Variables are looked up in
    /// `environment`; this module never asks the process for them.
    ///
    /// # Errors
    /// [`ConfigError`] where the text is not JSON, or has neither `mcpServers`
    /// nor `servers`, or where one of these is not an object.
    pub fn parse(text: &str, source: &str, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        read::config(text, source, environment)
    }

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

    /// What the entries hold and nobody else should read: values of variables and
    /// headers of at least 8 characters, and what stands behind a first word in
    /// them, as the token of `Bearer TOKEN`. A plain word of letters and
    /// underscores, such as `production`, counts only where its name speaks of a
    /// secret: recordings and answers are full of words. Arguments and parts of a
    /// URL count where their name speaks of one, as in `--api-key KEY`.
    pub fn secrets(&self) -> Secrets {
        self.servers.iter().map(hidden::of).fold(Secrets::default(), |all, more| all.and(&more))
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
            TransportConfig::Http { url: url.into(), headers: BTreeMap::new(), transport: HttpTransport::Any },
        )
    }

    /// A server with a transport and defaults for the rest.
    pub fn new(name: impl Into<String>, transport: TransportConfig) -> Self {
        ServerConfig {
            name: name.into(),
            place: "the program".to_owned(),
            transport: Ok(transport),
            disabled: false,
            call_timeout: None,
            connect_timeout: None,
            max_calls: None,
            auto_approve: Vec::new(),
            disabled_tools: Vec::new(),
            listed_tools: Vec::new(),
        }
    }

    /// Patterns of [`Policy`](crate::policy::Policy) for the tools of this server
    /// that the user lets run without being asked.
    pub fn approved(&self) -> impl Iterator<Item = String> + '_ {
        self.auto_approve.iter().map(|tool| format!("{}/{tool}", self.name))
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
