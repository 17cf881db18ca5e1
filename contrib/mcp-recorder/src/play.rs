//! `mcp-recorder play`: an MCP server out of a record.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;

use serde_json::Value;

use crate::script::Player;
use crate::{Failure, read, usage};

/// Options of `mcp-recorder play`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Record, as `mcp-recorder record` or `shell --record` writes it
    file: PathBuf,

    /// Server to play, where the record has several
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

/// Runs `mcp-recorder play`.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let place = args.file.display().to_string();
    let mut player = Player::read(&read(&args.file)?, &place, args.server.as_deref()).map_err(usage)?;
    for line in stdin().lock().lines() {
        let line = line.map_err(usage)?;
        if line.trim().is_empty() {
            continue;
        }
        // A client that has gone reads no answer.
        if send(&player.hear(&line)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Writes messages, each on a line.
fn send(messages: &[Value]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    messages.iter().try_for_each(|message| writeln!(out, "{message}"))?;
    out.flush()
}
