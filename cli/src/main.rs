//! The program `toolgraft`: the only part that prints, reads the environment or exits.

mod base;
mod chat;
mod demo;
mod dialog;
mod extract;
mod front;
mod help;
mod labels;
mod launch;
mod log;
mod mcp;
mod models;
mod pages;
mod probe;
mod prompt;
mod reading;
mod replay;
mod screen;
mod serve;
mod servers;
mod sessions;
mod settings;
mod shell;
mod terminal;
mod up;
mod view;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Tool calling for language models that have none.
#[derive(Debug, Parser)]
#[command(name = "toolgraft", version, long_version = base::version::LONG, about, propagate_version = true, arg_required_else_help = true, after_help = include_str!("help/toolgraft.txt").trim_end())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the whole loop: a recorded model, a bundled MCP server, no network
    Demo(demo::DemoArgs),
    /// Talk to a live model, with the tools of your MCP servers
    Chat(Box<chat::ChatArgs>),
    /// Open a conversation in the browser, with the same tools, settings and permissions
    Up(Box<up::UpArgs>),
    /// Serve a model to OpenAI clients, with tool calling that it does not have
    Serve(Box<serve::ServeArgs>),
    /// Start a coding agent with a model: Claude Code, Codex, opencode and others
    Launch(Box<launch::LaunchArgs>),
    /// Diagnose an endpoint, and find the best way to offer tools to its model
    Probe(Box<probe::ProbeArgs>),
    /// List the models of an endpoint, or of the servers on this machine
    Models(Box<models::ModelsArgs>),
    /// Parse recordings again, as they were streamed
    Replay(Box<replay::ReplayArgs>),
    /// Read records with model output (NDJSON), write records with their calls
    Extract(Box<extract::ExtractArgs>),
    /// Print the system prompt for a set of tools, and its size in tokens
    Prompt(prompt::PromptArgs),
    /// List and call the tools of MCP servers; add, import, check servers; log in
    Mcp(mcp::McpArgs),
    /// List, search, show, export and remove the conversations that were kept
    Log(log::LogArgs),
    /// Show and set the defaults of `toolgraft chat`
    Config(settings::ConfigArgs),
    /// Print the completions of this command for a shell
    #[command(hide = true)]
    Completions(shell::CompletionArgs),
    /// Serve MCP over stdio: made-up weather, for the demo and for tests
    #[command(hide = true)]
    DemoServer(demo::server::DemoServerArgs),
}

fn main() -> ExitCode {
    shell::complete(|| help::of(Cli::command()));
    let cli: Cli = match help::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    // Shells and MCP clients start these by themselves, and nobody reads what they warn of.
    if !matches!(cli.command, Command::Completions(_) | Command::DemoServer(_)) {
        base::state::warn_of_others();
        settings::warn_of_variables();
    }
    let done = match cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Chat(args) => chat::run(*args),
        Command::Up(args) => up::run(*args),
        Command::Serve(args) => serve::run(*args),
        Command::Launch(args) => match launch::run(*args) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Probe(args) => probe::run(*args),
        Command::Models(args) => models::run(*args),
        Command::Replay(args) => replay::run(*args),
        Command::Extract(args) => extract::run(*args),
        Command::Prompt(args) => prompt::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Log(args) => log::run(args),
        Command::Config(args) => settings::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::DemoServer(args) => demo::server::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
