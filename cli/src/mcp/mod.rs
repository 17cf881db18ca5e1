//! `toolgraft mcp`: MCP servers: what they offer, their configuration, and how they are.
//!
//! ```text
//! tools, call, read, get: what the servers offer, and one use of it
//! add, remove ─────────────────────▶ servers/config_file (text in, text out; comments stay)
//! import: programs (a table) ─▶ foreign (one rule) ─▶ entries as ours are written
//! list, import ─▶ masked (an entry in one line, without its secrets)
//! login, logout: a person, a browser, and tokens that are kept
//! check, trust: the servers themselves, and whether a project may start its own
//! ```

mod add;
pub(crate) mod call;
mod check;
mod foreign;
mod get;
mod import;
mod list;
mod login;
mod masked;
mod programs;
pub(crate) mod read;
mod remove;
mod suspect;
pub(crate) mod tools;
mod trust;

use crate::base::Failure;

/// `toolgraft mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Connect to the servers and list their tools, resources and prompts
    Tools(tools::Args),
    /// Call one tool of a server
    Call(call::Args),
    /// Read one resource of a server
    Read(read::Args),
    /// Fill in a prompt of a server, and print it
    Get(get::Args),
    /// Add a server to the configuration
    Add(add::Args),
    /// List the configured servers, without starting them
    List(list::Args),
    /// Remove a server from the configuration
    Remove(remove::Args),
    /// Import the servers of Claude, Cursor, VS Code, Codex and other programs
    Import(import::Args),
    /// Start every MCP server, and report its costs and its problems
    Check(check::Args),
    /// Log in at a server over HTTP (OAuth), in a browser
    Login(login::LoginArgs),
    /// Forget the login at a server
    Logout(login::LogoutArgs),
    /// Trust a project's ./.mcp.json to start its servers; list the trusted files; revoke it
    Trust(trust::Args),
}

/// Runs `toolgraft mcp`.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Tools(args) => tools::run(args),
        Command::Call(args) => call::run(args),
        Command::Read(args) => read::run(args),
        Command::Get(args) => get::run(args),
        Command::Add(args) => add::run(args),
        Command::List(args) => list::run(&args),
        Command::Remove(args) => remove::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Check(args) => check::run(args),
        Command::Login(args) => login::run(args),
        Command::Logout(args) => login::out(args),
        Command::Trust(args) => trust::run(&args),
    }
}
