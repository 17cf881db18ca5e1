//! Configuration of MCP servers: the `mcpServers` files that other clients use too.
//!
//! In: a file's text, or values. Out: a [`Config`] of [`ServerConfig`]s, and the secrets in them.
//! Nothing is started here. Only [`trust`] reads a file, and only [`proxy`] reads the process's
//! environment.
//!
//! A file is JSON with comments and trailing commas. Unknown keys are ignored; those that look like
//! misspelt known ones are named in a note. A file that cannot be used as a whole is an [`Err`]
//! with file, line and column. A fault in one server (an unset variable, a missing transport) is
//! stored with that server as its [`problem`](ServerConfig::problem), so that the others still run.
//!
//! [`read`] reads the text and [`expand`]s its variables, [`servers`] holds the values of each
//! server and [`list`] those of all, [`error`] has the faults, [`server_secrets`] finds the secrets,
//! [`url`] checks URLs and headers.

mod error;
mod expand;
mod host_reach;
mod list;
mod proxy;
mod read;
mod server_secrets;
mod servers;
mod trust;
mod url;

pub use error::{ConfigError, EntryError};
pub use expand::Environment;
pub(crate) use host_reach::{HostReach, is_this_machine};
pub use list::Config;
pub(crate) use proxy::proxy_of;
pub(crate) use server_secrets::ServerSecrets;
pub use servers::{GrantType, HttpTransport, OAuthConfig, ServerConfig, TransportConfig};
pub(crate) use trust::ServerTrust;
pub(crate) use url::header_map;
