//! `toolgraft mcp play`: an MCP server out of a record.

mod script;

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;

use serde_json::Value;

use self::script::Player;
use crate::base::{Failure, input};

/// Options of `toolgraft mcp play`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-play.txt").trim_end())]
pub(super) struct Args {
    /// Record, as `toolgraft mcp record`, or `--record` of `mcp shell`, `mcp check` or `call`, writes it
    file: PathBuf,

    /// Server to play, where the record has several
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

/// Runs `toolgraft mcp play`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let (text, place) = (input::read_text(&args.file)?, input::shown(&args.file));
    let mut player = Player::read(&text, &place, args.server.as_deref()).map_err(Failure::usage)?;
    for line in stdin().lock().lines() {
        let line = line.map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))?;
        if line.trim().is_empty() {
            continue;
        }
        // A client that has gone reads no answer.
        if said(&player.hear(&line)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Writes messages, each on a line.
fn said(messages: &[Value]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    messages.iter().try_for_each(|message| writeln!(out, "{message}"))?;
    out.flush()
}
