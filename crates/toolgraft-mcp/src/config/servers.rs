//! The configuration of one server as values.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::error::EntryError;
use toolgraft::http::Trust;
use toolgraft::tools::server_pattern;

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name of the server, unique in the configuration: the key of its entry in `mcpServers`.
    pub name: String,
    /// Position of the server's entry, as `file:line:column`; `the program` if it was not read from a file.
    pub place: String,
    /// The transport of the server, or the fault of its entry.
    pub transport: Result<TransportConfig, EntryError>,
    /// `true` if the server is switched off at first; `Hub::switch` switches it on.
    pub disabled: bool,
    /// Time limit of one call of the server's tools; `None` means the hub's limit.
    pub call_timeout: Option<Duration>,
    /// Time limit of the server's start, and again of the listing of its tools, resources and prompts; `None` means the
    /// hub's limit.
    pub connect_timeout: Option<Duration>,
    /// Maximum number of concurrent calls of the server's tools; `None` means the hub's number.
    pub max_calls: Option<NonZeroUsize>,
    /// `true` if calls of the server's tools may run concurrently. If not, the calls of one message run in the order in
    /// which they were written, except for tools that both declare themselves read-only.
    pub parallel: bool,
    /// Globs over the names of the server's tools that the user lets run without approval; `*` for all.
    pub auto_approve: Vec<String>,
    /// Globs over the names of the only tools of the server that are listed and can be called; an empty list means all.
    pub enabled_tools: Vec<String>,
    /// Globs over the names of tools of the server that are not listed and cannot be called, even if `enabled_tools`
    /// matches them.
    pub disabled_tools: Vec<String>,
    /// Globs over `TOOL` or `SERVER.TOOL` that match the only tools that are listed; an empty list means all. Files
    /// cannot set this.
    pub listed_tools: Vec<String>,
    /// Certificates that the program trusts at this server in addition to the system's, if it is
    /// reached over HTTP. Files cannot set this.
    pub trust: Trust,
}

/// The transport of a server and its settings. `Debug` hides values that may be secret.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportConfig {
    /// A child process that speaks MCP over its standard input and output.
    #[non_exhaustive]
    Stdio {
        /// The program to run: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Command-line arguments of the program.
        args: Vec<String>,
        /// Environment variables of the child process, in addition to those of the allow-list.
        env: BTreeMap<String, String>,
        /// Working directory of the child process; `None` means that of this process.
        cwd: Option<String>,
    },
    /// A server that is reached over HTTP.
    #[non_exhaustive]
    Http {
        /// The URL of the server's MCP endpoint.
        url: String,
        /// HTTP headers of every request to the server.
        headers: BTreeMap<String, String>,
        /// The MCP transport over HTTP: streamable HTTP, or legacy HTTP+SSE.
        transport: HttpTransport,
        /// The settings of a login at this server.
        oauth: OAuthConfig,
        /// Path of a PEM file with certificates that are trusted at this server in addition to the system's: those of
        /// its authority, or its own.
        ca: Option<String>,
    },
}

/// OAuth settings of a login at a server over HTTP; the rest comes from the server's metadata. `Debug` hides the
/// secret.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// The OAuth grant: a user logs in, or the program by itself.
    pub grant_type: GrantType,
    /// The id of an OAuth client that the authorization server knows. A URL is the address of a metadata document, and
    /// is used if the authorization server reads such documents. Without an id, a client is registered at each login.
    pub client_id: Option<String>,
    /// The secret of the OAuth client; `None` if it has none.
    pub client_secret: Option<String>,
    /// The OAuth scopes to request; if empty, those that the server names.
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 that the browser is redirected to after a login; `None` means any free one.
    pub callback_port: Option<u16>,
}

/// The OAuth grant with which a token is obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum GrantType {
    /// A user at a browser logs in ([`Login`](crate::Login)).
    #[default]
    AuthorizationCode,
    /// The program logs in by itself, with `client_id` and `client_secret`, whenever it needs a
    /// token. Such a token is not stored in a file.
    ClientCredentials,
}

impl fmt::Debug for OAuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthConfig").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// The MCP transport of a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP, or legacy HTTP+SSE if the server does not support the former.
    #[default]
    Any,
    /// Only streamable HTTP.
    Streamable,
    /// Only legacy HTTP+SSE, of MCP 2024-11-05.
    Sse,
}

impl fmt::Debug for TransportConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportConfig::Stdio { command, env, .. } => {
                f.debug_tuple("Stdio").field(command).field(&env.keys()).finish()
            }
            TransportConfig::Http { url, headers, .. } => {
                f.debug_tuple("Http").field(&toolgraft::secrets::shown_url(url)).field(&headers.keys()).finish()
            }
        }
    }
}

/// Changes a field of a server's transport. A transport of the other kind is replaced by an error.
macro_rules! fitting {
    ($server:ident, $kind:ident { $field:ident }, $unfit:expr, $change:expr) => {
        match &mut $server.transport {
            Ok(TransportConfig::$kind { $field, .. }) => {
                $change;
            }
            Ok(_) => $server.transport = Err($unfit.to_owned().into()),
            // The fault that was there first is the one to report.
            Err(_) => {}
        }
    };
}

setters! { ServerConfig:
    /// Sets the time limit of one call of the server's tools.
    #[must_use]
    with_call_timeout(limit: Duration) => call_timeout = Some(limit);

    /// Sets the time limit of the server's start, and again of the listing of its tools, resources and prompts.
    #[must_use]
    with_connect_timeout(limit: Duration) => connect_timeout = Some(limit);

    /// Sets the maximum number of concurrent calls of the server's tools.
    #[must_use]
    with_max_calls(calls: NonZeroUsize) => max_calls = Some(calls);

    /// Allows or forbids concurrent calls of the server's tools.
    #[must_use]
    with_parallel(parallel: bool) => parallel = parallel;

    /// Sets the certificates that are trusted in addition to the system's at a server over HTTP,
    /// and at its authorization server.
    #[must_use]
    with_trust(trust: Trust) => trust = trust;
}

impl ServerConfig {
    /// Creates the configuration of a child process that speaks MCP over standard input and output, from a program and
    /// its arguments.
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

    /// Creates the configuration of a server over streamable HTTP, or over legacy HTTP+SSE if the server does not
    /// support that.
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

    /// Creates the configuration of a server with a transport and defaults for the rest.
    pub fn new(name: impl Into<String>, transport: TransportConfig) -> Self {
        ServerConfig { transport: Ok(transport), ..ServerConfig::broken(name, String::new()) }
    }

    /// Creates the configuration of a server whose entry is faulty, with the reason.
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
            trust: Trust::default(),
        }
    }

    /// Sets an environment variable of the child process. For a server over HTTP this makes the entry faulty
    /// ([`problem`](Self::problem)); so does each other setter of this type that does not fit the transport.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        fitting!(self, Stdio { env }, "a server over HTTP has no \"env\"", env.insert(name.into(), value.into()));
        self
    }

    /// Sets a header of every request to a server over HTTP.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let unfit = "a server over stdio has no \"headers\"";
        fitting!(self, Http { headers }, unfit, headers.insert(name.into(), value.into()));
        self
    }

    /// Sets the MCP transport of a server over HTTP.
    #[must_use]
    pub fn with_http_transport(mut self, http: HttpTransport) -> Self {
        fitting!(self, Http { transport }, "a server over stdio does not use HTTP", *transport = http);
        self
    }

    /// Returns the name of the file that the server's entry was read from; `None` if the program created it.
    pub fn file(&self) -> Option<&str> {
        // From the end, since the name of a file may have colons: `C:\mcp.json:3:5`.
        let mut parts = self.place.rsplitn(3, ':');
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<usize>().is_ok());
        if is_number(parts.next()) && is_number(parts.next()) { parts.next() } else { None }
    }

    /// Returns patterns for a [`Policy`](toolgraft::Policy): the tools of this server that the user
    /// lets run without approval.
    pub fn approved(&self) -> impl Iterator<Item = String> + '_ {
        self.auto_approve.iter().map(|tools| server_pattern(&self.name, tools))
    }

    /// Returns the fault of the server's entry with its position; `None` if there is none or the server is disabled.
    pub fn problem(&self) -> Option<String> {
        let message = self.transport.as_ref().err().filter(|_| !self.disabled)?;
        Some(format!("{}: server {:?}: {message}", self.place, self.name))
    }
}
