//! The program `toolgraft`: the only part that prints, reads the environment or exits.

mod ask;
mod call;
mod chat;
mod demo;
mod demo_server;
mod extract;
mod failure;
mod input;
mod mcp_check;
mod mcp_trust;
mod output;
mod profiles;
mod prompt;
mod prompt_args;
mod read;
mod replay;
mod runner;
mod screen;
pub(crate) mod servers;
mod signals;
mod state;
mod terminal;
mod tokens;
mod tool_file;
mod tools;
mod trust;
mod tty;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub(crate) use failure::Failure;

const START: &str = "\
Start with `toolgraft demo`: it needs no network, key or configuration. Then talk
to a model of your own with `toolgraft chat`, look at your MCP servers with
`toolgraft tools`, or put some model output through `toolgraft replay FILE`.
`toolgraft COMMAND --help` has examples.";

/// Tool calling for language models that have none.
#[derive(Debug, Parser)]
#[command(name = "toolgraft", version, about, propagate_version = true, arg_required_else_help = true, after_help = START)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the whole loop: a recorded model, a bundled MCP server, no network
    Demo(demo::Args),
    /// Talk to a live model, with the tools of your MCP servers
    Chat(Box<chat::Args>),
    /// Put recordings through the parser as they were streamed
    Replay(replay::Args),
    /// Read records with model output (NDJSON), write records with their calls
    Extract(extract::Args),
    /// Print the system prompt for a set of tools, and its size in tokens
    Prompt(prompt::Args),
    /// Connect to MCP servers and list their tools, resources and prompts
    Tools(tools::Args),
    /// Check the MCP servers; trust a project's configuration
    Mcp(mcp_check::Args),
    /// Call one tool of an MCP server
    Call(call::Args),
    /// Read one resource of an MCP server
    Read(read::Args),
    /// Serve MCP over stdio: made-up weather, for the demo and for tests
    #[command(hide = true)]
    DemoServer(demo_server::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Chat(args) => chat::run(*args),
        Command::Replay(args) => replay::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Prompt(args) => prompt::run(args),
        Command::Tools(args) => tools::run(args),
        Command::Mcp(args) => mcp_check::run(args),
        Command::Call(args) => call::run(args),
        Command::Read(args) => read::run(args),
        Command::DemoServer(args) => demo_server::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
