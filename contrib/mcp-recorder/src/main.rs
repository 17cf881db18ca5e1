//! Tries an MCP server out, records what it says, and plays the record back as a server.
//!
//! ```text
//! commands on a terminal or a pipe ─▶ shell ─┐
//!                                            ├─▶ the server, with wire between ─▶ record
//! a client that speaks MCP ─▶ record, relay ─┘
//! a client that speaks MCP ─▶ play ─▶ script ◀─ record
//! ```

mod command;
mod play;
mod record;
mod relay;
mod script;
mod shell;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use toolgraft_mcp::{Config, ServerConfig};

/// Tries an MCP server out, records what it says, and plays the record back as a server.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
enum Cli {
    /// Try one server out: commands on a terminal or a pipe
    Shell(shell::Args),
    /// Record what a server says: to commands, or to a client that starts this program
    Record(record::Args),
    /// Serve MCP over stdio as a recorded server did
    Play(play::Args),
}

/// The location of the server's entry.
#[derive(Debug, clap::Args)]
struct ConfigArgs {
    /// JSON with `mcpServers` or `servers` [default: ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
}

/// Why a command ended early; `Usage` is exit code 2, `Failed` is 1.
#[derive(Debug)]
enum Failure {
    Usage(String),
    Failed(String),
    /// It has been reported already.
    Reported,
}

fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Shell(args) => shell::run(&args),
        Cli::Record(args) => record::run(&args),
        Cli::Play(args) => play::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
        Err(Failure::Reported) => ExitCode::FAILURE,
    }
}

impl ConfigArgs {
    /// The configuration of this server alone.
    fn only(&self, name: &str) -> Result<Config, Failure> {
        let own = || Some(std::env::home_dir()?.join(".config/toolgraft/mcp.json"));
        let path = self.mcp_config.clone().or_else(own);
        let path = path.ok_or_else(|| Failure::Usage("there is no home directory: use --mcp-config FILE".into()))?;
        let place = path.display().to_string();
        let mut config = Config::parse(&read(&path)?, &place, &|name| std::env::var(name).ok()).map_err(usage)?;
        let names: Vec<String> = config.servers().iter().map(|server| server.name.clone()).collect();
        config.retain(|server| server.name == name);
        match config.servers() {
            [] => Err(Failure::Usage(format!("{place} has no server {name:?}; there are: {}", names.join(", ")))),
            [server] if server.disabled => Err(Failure::Usage(format!("{}: {name:?} is disabled", server.place))),
            servers => match servers.iter().find_map(ServerConfig::problem) {
                Some(problem) => Err(Failure::Usage(problem)),
                None => Ok(config),
            },
        }
    }
}

/// Reads a file.
fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// The text without control characters, which would steer a terminal; lines stay.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}
