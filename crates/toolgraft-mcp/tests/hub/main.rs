//! The hub beside a real endpoint and real servers, and logins at servers.

#[path = "../../../../tests/common/endpoint.rs"]
mod endpoint;
#[path = "../../../../tests/common/oauth_mcp.rs"]
mod oauth_mcp;
#[path = "../../../../tests/common/real.rs"]
mod real;

mod agent_servers;
mod mcp_logins;
