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
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// Connect to the servers and list their tools, resources and prompts
    Tools(tools::ToolsArgs),
    /// Call one tool of a server
    Call(call::CallToolArgs),
    /// Read one resource of a server
    Read(read::ReadArgs),
    /// Fill in a prompt of a server, and print it
    Get(get::GetArgs),
    /// Add a server to the configuration
    Add(add::AddArgs),
    /// List the configured servers, without starting them
    List(list::ListArgs),
    /// Remove a server from the configuration
    Remove(remove::RemoveArgs),
    /// Import the servers of Claude, Cursor, VS Code, Codex and other programs
    Import(import::ImportArgs),
    /// Start every MCP server, and report its costs and its problems
    Check(check::CheckArgs),
    /// Log in at a server over HTTP (OAuth), in a browser
    Login(login::LoginArgs),
    /// Forget the login at a server
    Logout(login::LogoutArgs),
    /// Trust a project's ./.mcp.json to start its servers; list the trusted files; revoke it
    Trust(trust::TrustServerArgs),
}

/// Runs `toolgraft mcp`.
pub(crate) fn run(args: McpArgs) -> Result<(), Failure> {
    match args.command {
        McpCommand::Tools(args) => tools::run(args),
        McpCommand::Call(args) => call::run(args),
        McpCommand::Read(args) => read::run(args),
        McpCommand::Get(args) => get::run(args),
        McpCommand::Add(args) => add::run(args),
        McpCommand::List(args) => list::run(&args),
        McpCommand::Remove(args) => remove::run(&args),
        McpCommand::Import(args) => import::run(&args),
        McpCommand::Check(args) => check::run(args),
        McpCommand::Login(args) => login::run(args),
        McpCommand::Logout(args) => login::out(args),
        McpCommand::Trust(args) => trust::run(&args),
    }
}
