//! `toolgraft mcp login` and `toolgraft mcp logout`.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::base::{Failure, browser, output, trust::of_system};
use crate::dialog::ask::Asker;
use crate::servers::{self, ServerArgs, logins, runner::Runner};
use toolgraft_mcp::{Config, LoggedOut, LoginError, ServerConfig};

/// Options of `toolgraft mcp login`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-login.txt").trim_end())]
pub(super) struct LoginArgs {
    /// Server to log in at, by its name in the configuration
    name: String,

    /// Only print the page to open
    #[arg(long)]
    no_open: bool,

    #[command(flatten)]
    files: Files,
}

/// Options of `toolgraft mcp logout`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-logout.txt").trim_end())]
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

fn server(config: &Config) -> Result<ServerConfig, Failure> {
    let server = config.servers().first().ok_or_else(|| Failure::usage("the configuration has no such server"))?;
    Ok(server.clone().with_trust(of_system()))
}

/// Runs `toolgraft mcp login`.
pub(super) fn run(args: LoginArgs) -> Result<(), Failure> {
    let name = args.name;
    let config = args.files.only(&name)?;
    let (server, shown) = (server(&config)?, format!("{name:?}"));
    let show = |url: &str| {
        let opened = !args.no_open && open(url);
        output::note(&if opened {
            format!("to log in at {shown}, a browser was opened; if it shows nothing, open this page:")
        } else {
            format!("to log in at {shown}, open this page:")
        });
        output::emit(&format!("{url}\n"))
    };
    let asker = Asker::at_terminal().filter(|_| stdin().is_terminal());
    Runner::start()?.wait(log_in(&server, asker, show))?;
    output::tell(&format!("logged in at {shown}"))
}

/// Logs in. At a terminal the address that a browser elsewhere was sent to may be pasted meanwhile.
async fn log_in(
    server: &ServerConfig,
    asker: Option<Asker>,
    show: impl FnOnce(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(asker) = asker else { return logins::log_in(server, show, logins::no_paste).await };
    let left = CancellationToken::new();
    let paste = async |wrong: Option<LoginError>| {
        if let Some(wrong) = wrong {
            output::warn(&wrong.to_string());
        }
        let question = "or paste the address that a browser elsewhere was sent to: ";
        match asker.floor().await.ask_meanwhile(question).await {
            Ok(line) => line,
            Err(_) => {
                left.cancel();
                std::future::pending().await
            }
        }
    };
    let done = tokio::select! {
        done = logins::log_in(server, show, paste) => done,
        () = left.cancelled() => Err(Failure::job("nobody was logged in: no address was given")),
    };
    // The question may still be in its line, on a terminal that reads keys.
    output::emit_stderr("\r\n");
    done
}

/// Runs `toolgraft mcp logout`.
pub(super) fn out(args: LogoutArgs) -> Result<(), Failure> {
    let name = args.name;
    let config = args.files.only(&name)?;
    let (server, logins) = (server(&config)?, logins::demanded()?);
    let shown = format!("{name:?}");
    let done = Runner::start()?.wait(async {
        logins.log_out(&server).await.map_err(|error| match error {
            LoginError::NotForLogins(why) => Failure::usage(format!("server {name:?}: {why}")),
            error => Failure::job(format!("server {name:?}: {error}")),
        })
    })?;
    match done {
        LoggedOut::Nobody => return Err(Failure::usage(format!("nobody was logged in at {name:?}"))),
        LoggedOut::Removed(why) => output::warn(&format!("the tokens are removed here and were not taken back: {why}")),
        _ => {}
    }
    output::tell(&format!("logged out at {shown}"))
}

/// Opens a page in the person's browser, if one sits at this terminal; whether that was begun.
fn open(url: &str) -> bool {
    stdout().is_terminal() && stderr().is_terminal() && browser::open(url)
}
