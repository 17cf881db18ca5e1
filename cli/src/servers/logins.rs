//! The logins of this user at MCP servers, and the hubs that use them.

use std::time::Duration;

use crate::base::{Failure, output, state, trust::of_system};
use toolgraft_mcp::{HubBuilder, Login, LoginError, Logins, ServerConfig};

/// Returns the store of this user's logins at MCP servers; `None` if there is no home directory.
pub(crate) fn kept() -> Option<Logins> {
    let remedy = |server: &str| {
        let name = shlex::try_quote(server).unwrap_or(std::borrow::Cow::Borrowed("NAME"));
        format!("run `toolgraft mcp login {name}`")
    };
    Some(Logins::new(state::file("logins")?).remedy(remedy))
}

/// Returns a hub that uses the environment, the stored logins and the trusted certificates of this user.
pub(crate) fn of_this_user(hub: HubBuilder) -> HubBuilder {
    let hub = hub.inherit_env().trust(&of_system());
    match kept() {
        Some(logins) => hub.logins(logins),
        None => hub,
    }
}

/// Maximum time to complete a login in the browser.
const PATIENCE: Duration = Duration::from_secs(600);

/// Logs the user in at an MCP server. `open` opens the login page and returns `true` if it could, `tell` shows a
/// message, and `paste` returns the redirect address that the user copies from a browser on another computer
/// ([`Login::finish_or_pasted`]).
pub(crate) async fn log_in(
    server: &ServerConfig,
    (open, tell): (impl FnOnce(&str) -> bool, impl FnOnce(&str) -> Result<(), Failure>),
    paste: impl AsyncFnMut(Option<LoginError>) -> String,
) -> Result<(), Failure> {
    let failed = |error: LoginError| {
        let message = format!("server {:?}: {error}", server.name);
        match error {
            LoginError::NotForLogins(_) => Failure::usage(message),
            _ => Failure::job(message),
        }
    };
    let logins = demanded()?;
    let login = Login::begin(server, &logins).await.map_err(failed)?;
    let url = login.url();
    let opened = if open(url) { "a browser was opened; if it shows nothing, " } else { "" };
    tell(&format!("to log in at {:?}, {opened}open this page:", server.name))?;
    // In one piece, for whoever copies it.
    output::emit(&format!("{url}\n"))?;
    login.finish_or_pasted(PATIENCE, paste).await.map_err(failed)
}

/// Never returns: for logins where the browser is on this computer and no redirect address is pasted.
pub(crate) async fn no_paste(_: Option<LoginError>) -> String {
    std::future::pending().await
}

/// Returns the store of this user's logins; an error if there is no home directory.
pub(crate) fn demanded() -> Result<Logins, Failure> {
    kept().ok_or_else(|| Failure::job("there is no home directory to keep a login in"))
}
