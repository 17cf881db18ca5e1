//! `toolgraft mcp record`: what a server and whoever uses it say to each other, in a file.
//!
//! ```text
//! a terminal, commands on a pipe ─▶ shell ─┐
//!                                          ├─▶ the server, looked at by servers/wire ─▶ FILE
//! a client that speaks MCP ─▶ relay ───────┘
//! ```

use std::io::{BufRead, IsTerminal, stdin};
use std::path::PathBuf;

use futures::stream;

use super::shell;
use crate::base::{Failure, input::piped_lines, output};
use crate::phrases::Phrases;
use crate::screen::visible::clean;
use crate::servers::{self, ServerArgs, runner::Runner, wire::Wire};
use toolgraft_mcp::{Config, Hub, LogLine, TransportConfig};

/// Options of `toolgraft mcp record`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-record.txt").trim_end())]
pub(super) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// File for the record; where it is there, a new one with a number behind its name
    file: PathBuf,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft mcp record`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let config = servers::only(args.servers.load()?, &args.server)?;
    refuse_itself(&config)?;
    let (wire, path) = Wire::recording(&args.file)?;
    output::note(&Phrases::of_user(None).recorded_in(path.display()));
    match is_client()? {
        true => relay(config, &args.server, &wire),
        false => shell::open(config, wire, (false, true)),
    }
}

/// Refuses an entry that is this command for the same server: each would start the next one.
fn refuse_itself(config: &Config) -> Result<(), Failure> {
    let [server] = config.servers() else { return Ok(()) };
    let Ok(TransportConfig::Stdio { args, .. }) = &server.transport else { return Ok(()) };
    match args.windows(3).any(|words| words[..2] == ["mcp", "record"] && words[2] == server.name) {
        true => Err(Failure::usage(format!(
            "{}: {:?} is this command itself: give the server's own entry another name, and record that",
            server.place, server.name
        ))),
        false => Ok(()),
    }
}

/// Whether somebody writes messages to standard input, no commands. Nothing of it is taken.
fn is_client() -> Result<bool, Failure> {
    if stdin().is_terminal() {
        return Ok(false);
    }
    let begun = stdin().lock().fill_buf().map(|begun| begun.trim_ascii_start().first().copied());
    begun.map(|first| first == Some(b'{')).map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))
}

/// Is the server for a client at standard input and output.
fn relay(config: Config, server: &str, wire: &Wire) -> Result<(), Failure> {
    let runner = Runner::start()?;
    let done = runner.wait(async {
        let mut lines = piped_lines();
        let lines = stream::poll_fn(move |context| lines.poll_recv(context).map(|line| line?.ok()));
        let hub = wire.tap_for_later(Hub::builder().config(config).inherit_env());
        let told = |line: &LogLine| anstream::eprintln!("{}", clean(&line.text));
        hub.relay(server, lines, tokio::io::stdout(), told).await.map_err(Failure::job)
    });
    wire.end(done)
}
