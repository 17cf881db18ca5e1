//! The configuration of one server as values.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::EntryError;
use super::seconds;
use toolgraft::http::Trust;
use toolgraft::tools::server_pattern;

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name, unique in the configuration. With serde it is the key of the entry in `mcpServers`;
    /// only an entry outside of such a map has it as a field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Position of the entry, as `file:line:column`, or `the program`.
    #[serde(default = "the_program")]
    pub place: String,
    /// The transport, or the fault of the entry.
    #[serde(flatten, with = "transport_or_problem")]
    pub transport: Result<TransportConfig, EntryError>,
    /// `true` if the server is switched off from the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Time limit of one call; `None` uses the hub's.
    #[serde(default, rename = "timeout", with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<Duration>,
    /// Time limit of the start, and again of the listing; `None` uses the hub's.
    #[serde(default, with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Duration>,
    /// Number of concurrent calls; `None` uses the hub's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<NonZeroUsize>,
    /// `true` if its calls may run concurrently. If not, the calls of one message run in the order
    /// in which they were written, except for tools that both declare themselves read-only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parallel: bool,
    /// Tools that the user lets run without approval: globs, `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auto_approve: Vec<String>,
    /// The only tools that are listed and can be called: globs; an empty list means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enabled_tools: Vec<String>,
    /// Tools that are not listed and cannot be called, even if `enabled_tools` has them: globs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// The only tools that are listed: globs over `TOOL` or `SERVER.TOOL`; an empty list means all.
    /// Files cannot set this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed_tools: Vec<String>,
    /// Certificates that the program trusts at this server in addition to the system's, if it is
    /// reached over HTTP. Files cannot set this.
    #[serde(skip)]
    pub trust: Trust,
}

/// A transport and its settings. `Debug` hides values that may be secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Transport", into = "Transport")]
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
///
/// The keys in serde's form are `grantType`, `clientId`, `clientSecret`, `scopes` and
/// `callbackPort`, as in a file.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// The grant: whether a user or the program logs in.
    #[serde(skip_serializing_if = "is_default")]
    pub grant_type: GrantType,
    /// The id of a client that the authorization server knows. A URL is the address of a metadata
    /// document, and is used if the server reads such documents. Without an id, a client is
    /// registered at each login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The client's secret, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The scopes to ask for, instead of those that the server asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 that the browser is redirected to; `None` takes any free one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
}

/// The OAuth grant with which a token is obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantType {
    /// A user at a browser logs in ([`Login`](crate::Login)).
    #[default]
    AuthorizationCode,
    /// The program logs in by itself, with `client_id` and `client_secret`, whenever it needs a
    /// token. Such a token is not stored in a file.
    ClientCredentials,
}

/// Returns `true` if a value is the default, so that it need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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

/// The protocol of a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP, and legacy HTTP+SSE if the server does not have it.
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

/// The serialized form of a transport: the fields of an entry that belong to it.
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
    #[serde(skip_serializing_if = "is_default")]
    oauth: OAuthConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<String>,
    /// The fault of the entry; if present, the other fields do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
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
        let Transport { r#type, command, args, env, cwd, url, headers, oauth, ca, problem: _ } = stored;
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

/// Serde conversion of a transport or the fault of its entry.
mod transport_or_problem {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    use super::{EntryError, Transport, TransportConfig};

    type Found = Result<TransportConfig, EntryError>;

    pub(super) fn serialize<S: Serializer>(found: &Found, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = match found {
            Ok(transport) => transport.clone().into(),
            Err(problem) => Transport { problem: Some(problem.to_string()), ..Transport::default() },
        };
        stored.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Found, D::Error> {
        let mut stored = Transport::deserialize(deserializer)?;
        match stored.problem.take() {
            Some(problem) => Ok(Err(problem.into())),
            None => stored.try_into().map(Ok).map_err(D::Error::custom),
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

fn the_program() -> String {
    "the program".to_owned()
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
            place: the_program(),
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

    /// Sets the settings of a login at a server over HTTP.
    #[must_use]
    pub fn with_oauth(mut self, config: OAuthConfig) -> Self {
        fitting!(self, Http { oauth }, "a server over stdio has no login", *oauth = config);
        self
    }

    /// Trusts the certificates of this PEM file at a server over HTTP, and at its authorization
    /// server.
    #[must_use]
    pub fn with_ca(mut self, file: impl Into<String>) -> Self {
        fitting!(self, Http { ca }, "a server over stdio has no \"ca\"", *ca = Some(file.into()));
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
