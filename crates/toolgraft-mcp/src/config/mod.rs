//! Configuration of MCP servers: the `mcpServers` files that other clients use too.
//!
//! In: a file's text, or values. Out: a [`Config`] of [`ServerConfig`]s, and what of them
//! nobody else should read. Nothing is started here, and neither the disk nor the process's
//! environment is looked at, but for [`ca`] and [`proxy`].
//!
//! A file is JSON with comments and trailing commas. Unknown keys are ignored, and those that are slips of known ones named in a note.
//! What makes a file unreadable is an [`Err`] with file, line and column; what
//! is wrong with one server (an unset variable, a transport that is not there)
//! stays with that server as its [`problem`](ServerConfig::problem), so that the
//! others still run.
//!
//! [`read`] reads the text and [`expand`]s its variables, [`servers`] holds the values of
//! each, [`stored`] all of them, [`error`] says what is wrong with them, [`hidden`]
//! knows the secrets, [`url`] checks URLs and headers.

mod error;
mod expand;
mod hidden;
mod proxy;
mod read;
pub(crate) mod seconds;
mod servers;
mod stored;
mod trust;
mod url;
mod way;

pub use error::{ConfigError, EntryError};
pub use expand::Environment;
pub(crate) use hidden::Hidden;
pub(crate) use proxy::proxy_of;
pub use servers::{GrantType, HttpTransport, OAuthConfig, ServerConfig, TransportConfig};
pub use stored::Config;
pub(crate) use trust::ServerTrust;
pub(crate) use url::header_map;
pub(crate) use way::{WayIn, is_this_machine};
