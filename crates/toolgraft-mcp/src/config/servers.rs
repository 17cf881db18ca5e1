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
    /// Name, unique in the configuration: the key of the entry in `mcpServers`.
    pub name: String,
    /// Position of the entry, as `file:line:column`, or `the program`.
    pub place: String,
    /// The transport, or the fault of the entry.
    pub transport: Result<TransportConfig, EntryError>,
    /// `true` if the server is switched off from the beginning.
    pub disabled: bool,
    /// Time limit of one call; `None` uses the hub's.
    pub call_timeout: Option<Duration>,
    /// Time limit of the start, and again of the listing; `None` uses the hub's.
    pub connect_timeout: Option<Duration>,
    /// Number of concurrent calls; `None` uses the hub's.
    pub max_calls: Option<NonZeroUsize>,
    /// `true` if its calls may run concurrently. If not, the calls of one message run in the order
    /// in which they were written, except for tools that both declare themselves read-only.
    pub parallel: bool,
    /// Tools that the user lets run without approval: globs, `*` for all.
    pub auto_approve: Vec<String>,
    /// The only tools that are listed and can be called: globs; an empty list means all.
    pub enabled_tools: Vec<String>,
    /// Tools that are not listed and cannot be called, even if `enabled_tools` has them: globs.
    pub disabled_tools: Vec<String>,
    /// The only tools that are listed: globs over `TOOL` or `SERVER.TOOL`; an empty list means all.
    /// Files cannot set this.
    pub listed_tools: Vec<String>,
    /// Certificates that the program trusts at this server in addition to the system's, if it is
    /// reached over HTTP. Files cannot set this.
    pub trust: Trust,
}

/// A transport and its settings. `Debug` hides values that may be secret.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportConfig {
    /// A child process that speaks MCP over its standard input and output.
    #[non_exhaustive]
    Stdio {
        /// The program: a path, or a name that is looked up in `PATH`.
        command: String,
        /// Arguments.
        args: Vec<String>,
        /// Variables of the child in addition to those of the allow-list.
        env: BTreeMap<String, String>,
        /// Working directory; `None` means that of this process.
        cwd: Option<String>,
    },
    /// An endpoint over HTTP.
    #[non_exhaustive]
    Http {
        /// The URL of the endpoint.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// The protocol over HTTP.
        transport: HttpTransport,
        /// The settings of a login at this server.
        oauth: OAuthConfig,
        /// A PEM file with certificates that are trusted at this server in addition to the
        /// system's: those of its authority, or its own.
        ca: Option<String>,
    },
}

/// Settings of a login at a server over HTTP; the rest comes from the server's metadata. `Debug`
/// hides the secret.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// The grant: whether a user or the program logs in.
    pub grant_type: GrantType,
    /// The id of a client that the authorization server knows. A URL is the address of a metadata
    /// document, and is used if the server reads such documents. Without an id, a client is
    /// registered at each login.
    pub client_id: Option<String>,
    /// The client's secret, if it has one.
    pub client_secret: Option<String>,
    /// The scopes to ask for, instead of those that the server asks for.
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 that the browser is redirected to; `None` takes any free one.
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

/// The protocol of a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP, and legacy HTTP+SSE if the server does not have it.
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
            TransportConfig::Stdio { command, env, .. } => {
                f.debug_tuple("Stdio").field(command).field(&env.keys()).finish()
            }
            TransportConfig::Http { url, headers, .. } => {
                f.debug_tuple("Http").field(&toolgraft::secrets::shown_url(url)).field(&headers.keys()).finish()
            }
        }
    }
}

/// Changes a field of a transport. If the transport is of the other kind, it is replaced by an
/// error.
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
    /// Sets the time limit of one call.
    #[must_use]
    with_call_timeout(limit: Duration) => call_timeout = Some(limit);

    /// Sets the time limit of the start, and again of the listing.
    #[must_use]
    with_connect_timeout(limit: Duration) => connect_timeout = Some(limit);

    /// Sets the number of concurrent calls.
    #[must_use]
    with_max_calls(calls: NonZeroUsize) => max_calls = Some(calls);

    /// Sets whether calls may run concurrently.
    #[must_use]
    with_parallel(parallel: bool) => parallel = parallel;

    /// Sets the certificates that are trusted in addition to the system's at a server over HTTP,
    /// and at its authorization server.
    #[must_use]
    with_trust(trust: Trust) => trust = trust;
}

impl ServerConfig {
    /// Creates a server over standard input and output from a program and its arguments.
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

    /// Creates a server over streamable HTTP, or over legacy HTTP+SSE if it does not have that.
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

    /// Creates a server with a transport and defaults for the rest.
    pub fn new(name: impl Into<String>, transport: TransportConfig) -> Self {
        ServerConfig { transport: Ok(transport), ..ServerConfig::broken(name, String::new()) }
    }

    /// Creates a server that cannot be reached, with the reason.
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

    /// Sets a variable of the child process. For a server over HTTP this makes the entry faulty
    /// ([`problem`](Self::problem)); so does each other setting of this type that does not fit the
    /// transport.
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

    /// Sets the protocol of a server over HTTP.
    #[must_use]
    pub fn with_http_transport(mut self, http: HttpTransport) -> Self {
        fitting!(self, Http { transport }, "a server over stdio does not use HTTP", *transport = http);
        self
    }

    /// Returns the file that the entry was read from; `None` if the program created it.
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

    /// Returns the fault of the entry with its position; `None` if there is none or the server is
    /// disabled.
    pub fn problem(&self) -> Option<String> {
        let message = self.transport.as_ref().err().filter(|_| !self.disabled)?;
        Some(format!("{}: server {:?}: {message}", self.place, self.name))
    }
}
