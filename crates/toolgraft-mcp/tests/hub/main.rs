//! The hub with a real endpoint and real servers, and logins at servers.

mod agent_servers;
mod mcp_logins;
