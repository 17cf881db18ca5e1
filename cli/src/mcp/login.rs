//! `toolgraft mcp login` and `toolgraft mcp logout`.

use std::io::{IsTerminal, stderr, stdout};
use std::path::PathBuf;

use crate::base::Failure;
use crate::base::browser;
use crate::base::output;
use crate::phrases::Phrases;
use crate::servers::logins;
use crate::servers::runner::Runner;
use crate::servers::{self, ServerArgs};
use toolgraft_mcp::{Config, LoggedOut, LoginError, ServerConfig};

const LOGIN_EXAMPLES: &str = "\
Examples:
  toolgraft mcp login docs
  toolgraft mcp login docs --no-browser
  toolgraft mcp login docs --mcp-config my.json

The page to open is on standard output. The browser is sent back to 127.0.0.1, so
on another machine forward the port that its address names (ssh -L), or set
\"callbackPort\" under \"oauth\" in the server's entry. The tokens are kept in
~/.local/state/toolgraft/logins, and used and refreshed by every command.

Exit codes: 0 logged in, 1 the login failed, 2 wrong usage or configuration.";

const LOGOUT_EXAMPLES: &str = "\
Examples:
  toolgraft mcp logout docs

The tokens are taken back at the authorization server, where it has a place for that, and
removed here in any case.

Exit codes: 0 logged out, 2 wrong usage or configuration, or nobody was logged in.";

/// Options of `toolgraft mcp login`.
#[derive(Debug, clap::Args)]
#[command(after_help = LOGIN_EXAMPLES)]
pub(super) struct LoginArgs {
    /// Server to log in at, by its name in the configuration
    name: String,

    /// Only print the page to open
    #[arg(long)]
    no_browser: bool,

    #[command(flatten)]
    files: Files,
}

/// Options of `toolgraft mcp logout`.
#[derive(Debug, clap::Args)]
#[command(after_help = LOGOUT_EXAMPLES)]
pub(super) struct LogoutArgs {
    /// Server to log out at, by its name in the configuration
    name: String,

    #[command(flatten)]
    files: Files,
}

#[derive(Debug, clap::Args)]
struct Files {
    /// Configuration of MCP servers [default: ./.mcp.json, else ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

impl Files {
    /// The configuration with this server alone. A project's own file that nobody trusts is
    /// asked about first, as before it starts anything.
    fn only(self, name: &str) -> Result<Config, Failure> {
        let args = ServerArgs { mcp_config: self.mcp_config, server_timeout: None, ..ServerArgs::default() };
        servers::only(args.load()?, name)
    }
}

fn server(config: &Config) -> Result<&ServerConfig, Failure> {
    config.servers().first().ok_or_else(|| Failure::usage("the configuration has no such server"))
}

/// Runs `toolgraft mcp login`.
pub(super) fn run(args: LoginArgs) -> Result<(), Failure> {
    let name = args.name;
    let config = args.files.only(&name)?;
    let (server, say, shown) = (server(&config)?, Phrases::of_user(None), format!("{name:?}"));
    Runner::start()?.wait(logins::log_in(server, |url| {
        let opened = !args.no_browser && open(url);
        output::note(&if opened { say.log_in_opened(&shown) } else { say.log_in_by(&shown) });
        output::emit(&format!("{url}\n"))
    }))?;
    output::tell(&say.logged_in(shown))
}

/// Runs `toolgraft mcp logout`.
pub(super) fn out(args: LogoutArgs) -> Result<(), Failure> {
    let name = args.name;
    let config = args.files.only(&name)?;
    let (server, logins) = (server(&config)?, logins::demanded()?);
    let (say, shown) = (Phrases::of_user(None), format!("{name:?}"));
    let done = Runner::start()?.wait(async {
        logins.log_out(server).await.map_err(|error| match error {
            LoginError::NotForLogins(why) => Failure::usage(format!("server {name:?}: {why}")),
            error => Failure::job(format!("server {name:?}: {error}")),
        })
    })?;
    match done {
        LoggedOut::Nobody => return Err(Failure::usage(format!("nobody was logged in at {name:?}"))),
        LoggedOut::Removed(why) => output::warn_in(say, &say.only_removed_here(why)),
        _ => {}
    }
    output::tell(&say.logged_out(shown))
}

/// Opens a page in the person's browser, if one sits at this terminal; whether that was begun.
fn open(url: &str) -> bool {
    stdout().is_terminal() && stderr().is_terminal() && browser::open(url)
}
