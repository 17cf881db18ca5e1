//! `toolgraft mcp login` and `toolgraft mcp logout`.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::base::{Failure, browser, output, trust::of_system};
use crate::dialog::ask::Asker;
use crate::servers::{self, ServerArgs, app::App, logins};
use toolgraft_mcp::{LoggedOut, LoginError, ServerConfig};

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
    files: LoginFiles,
}

/// Options of `toolgraft mcp logout`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-logout.txt").trim_end())]
pub(super) struct LogoutArgs {
    /// Server to log out at, by its name in the configuration
    name: String,

    #[command(flatten)]
    files: LoginFiles,
}

#[derive(Debug, clap::Args)]
struct LoginFiles {
    /// Configuration of MCP servers [default: ./.mcp.json, else ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

impl LoginFiles {
    /// Returns the configuration of the server with this name. If it is in a project's own file that is not trusted
    /// yet, the user is asked first.
    fn server(self, name: &str) -> Result<ServerConfig, Failure> {
        let config = servers::only(ServerArgs { mcp_config: self.mcp_config, ..ServerArgs::default() }.load()?, name)?;
        let server = config.servers().first().ok_or_else(|| Failure::usage("the configuration has no such server"))?;
        Ok(server.clone().with_trust(of_system()))
    }
}

/// Runs `toolgraft mcp login`.
pub(super) fn run(args: LoginArgs) -> Result<(), Failure> {
    let name = args.name;
    let server = args.files.server(&name)?;
    let app = App::start(Asker::at_terminal().filter(|_| stdin().is_terminal()))?;
    app.wait(log_in(&server, app.asker.clone(), !args.no_open))?;
    output::tell(&format!("logged in at {name:?}"))
}

/// Logs the user in at a server. At a terminal, the redirect address of a browser on another computer can be pasted
/// instead.
async fn log_in(server: &ServerConfig, asker: Option<Asker>, opens: bool) -> Result<(), Failure> {
    let tell = |words: &str| {
        output::note(words);
        Ok(())
    };
    let show = (|url: &str| opens && open(url), tell);
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
                // No address will be pasted: the `select!` below ends the login.
                left.cancel();
                std::future::pending().await
            }
        }
    };
    let done = tokio::select! {
        done = logins::log_in(server, show, paste) => done,
        () = left.cancelled() => Err(Failure::job("the login was not completed: no address was given")),
    };
    // The question may still be in its line, on a terminal that reads keys.
    output::emit_stderr("\r\n");
    done
}

/// Runs `toolgraft mcp logout`.
pub(super) fn out(args: LogoutArgs) -> Result<(), Failure> {
    let name = args.name;
    let (server, logins) = (args.files.server(&name)?, logins::demanded()?);
    let done = App::start(None)?.wait(async {
        logins.log_out(&server).await.map_err(|error| match error {
            LoginError::NotForLogins(why) => Failure::usage(format!("server {name:?}: {why}")),
            error => Failure::job(format!("server {name:?}: {error}")),
        })
    })?;
    match done {
        LoggedOut::Nobody => return Err(Failure::usage(format!("there was no login at {name:?}"))),
        LoggedOut::Removed(why) => output::warn(&format!("the tokens are removed here, but were not revoked: {why}")),
        _ => {}
    }
    output::tell(&format!("logged out at {name:?}"))
}

/// Opens a page in the user's browser, if this process has a terminal; returns `true` if the browser was started.
fn open(url: &str) -> bool {
    stdout().is_terminal() && stderr().is_terminal() && browser::open(url)
}
