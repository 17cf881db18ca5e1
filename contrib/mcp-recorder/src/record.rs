//! `mcp-recorder record`: what a server and its client say to each other, in a file.

use std::io::{BufRead, IsTerminal, stdin};
use std::path::PathBuf;

use toolgraft_mcp::{Config, TransportConfig};

use crate::wire::{Wire, WireForm};
use crate::{ConfigArgs, Failure, failed, relay, shell, usage};

/// Options of `mcp-recorder record`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// File for the record; if it exists, a new one with a number after its name
    file: PathBuf,

    #[command(flatten)]
    config: ConfigArgs,
}

/// Runs `mcp-recorder record`.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = args.config.only(&args.server)?;
    refuse_itself(&config)?;
    let (wire, path) = Wire::recording(&args.file)?;
    eprintln!("recording to {}", path.display());
    match is_client()? {
        true => relay(&config, &wire),
        false => shell::open(config, &args.server, &wire, None::<WireForm>),
    }
}

/// Refuses an entry that is this command for the same server: each would start the next one.
fn refuse_itself(config: &Config) -> Result<(), Failure> {
    let [server] = config.servers() else { return Ok(()) };
    let Ok(TransportConfig::Stdio { args, .. }) = &server.transport else { return Ok(()) };
    match args.windows(2).any(|words| words[0] == "record" && words[1] == server.name) {
        true => Err(Failure::Usage(format!(
            "{}: {:?} is this command itself: give the server's own entry another name, and record that",
            server.place, server.name
        ))),
        false => Ok(()),
    }
}

/// Returns `true` if standard input begins with a message, not with a command. Nothing of it is consumed.
fn is_client() -> Result<bool, Failure> {
    if stdin().is_terminal() {
        return Ok(false);
    }
    let begun = stdin().lock().fill_buf().map(|begun| begun.trim_ascii_start().first().copied());
    begun.map(|first| first == Some(b'{')).map_err(usage)
}

/// Is the server for a client at standard input and output.
fn relay(config: &Config, wire: &Wire) -> Result<(), Failure> {
    let done = tokio::runtime::Runtime::new().map_err(failed)?.block_on(relay::carry(config, shell::lines(), wire));
    wire.end(done)
}
