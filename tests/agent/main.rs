//! The agent: its events, a model that lost its plan, real servers beside a real endpoint, and
//! logins at servers. Recordings: the format, what is written while an agent works, and those of
//! other programs.

#[cfg(feature = "client")]
#[path = "../common/endpoint.rs"]
mod endpoint;
#[cfg(feature = "agent")]
#[path = "../common/files.rs"]
mod files;
#[cfg(feature = "mcp")]
#[path = "../common/oauth_mcp.rs"]
mod oauth_mcp;
#[cfg(feature = "mcp")]
#[path = "../common/real.rs"]
mod real;

#[cfg(all(feature = "client", feature = "mcp"))]
mod agent_servers;
#[cfg(feature = "typed")]
mod event_schema;
#[cfg(feature = "agent")]
mod events_docs;
mod import;
#[cfg(feature = "mcp")]
mod mcp_logins;
#[cfg(feature = "agent")]
mod played_again;
#[cfg(feature = "agent")]
mod recorder;
mod recording;
#[cfg(feature = "agent")]
mod stored_config;
#[cfg(feature = "agent")]
mod weak_context;
