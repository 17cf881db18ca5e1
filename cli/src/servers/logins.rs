//! The logins of this user at MCP servers, and the hubs that use them.

use crate::base::state;
use toolgraft_mcp::{HubBuilder, Logins};

/// Where they are kept; `None` where there is no home directory.
pub(crate) fn kept() -> Option<Logins> {
    let remedy = |server: &str| {
        let name = shlex::try_quote(server).unwrap_or(std::borrow::Cow::Borrowed("NAME"));
        format!("run `toolgraft mcp login {name}`")
    };
    Some(Logins::new(state::file("logins")?).remedy(remedy))
}

/// A hub with the environment and the logins of this user.
pub(crate) fn of_this_user(hub: HubBuilder) -> HubBuilder {
    let hub = hub.inherit_env();
    match kept() {
        Some(logins) => hub.logins(logins),
        None => hub,
    }
}
