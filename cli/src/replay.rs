//! `toolgraft replay`.

mod check;
mod expectation;
mod explain;
mod html;
mod json;
pub(super) mod play;
mod reorder;
mod run;
mod settings;
mod show;
mod source;
mod view;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::screen::Frame;
use super::servers::ServerArgs;
use super::{Failure, output, terminal, tool_file};
use toolgraft::catalog::Catalog;
use toolgraft::profile::Lang;
use toolgraft::transcript::import::Format;

const EXAMPLES: &str = "\
Reads our own recordings, chunks of OpenAI-compatible streams (with or without
`data: `), lines of JSON with a `text`, Cline's api_conversation_history.json,
and plain text. With --mcp-config the calls are run for real, and the tools of
those servers are the known ones.

Examples:
  toolgraft replay session.jsonl
  toolgraft replay --html session.jsonl            (writes session.html)
  toolgraft replay --html=both.html a.jsonl b.jsonl
  toolgraft replay --explain --tools tools.json answer.txt
  curl -sN … | toolgraft replay -
  toolgraft replay --mcp-config mcp.json session.jsonl
  toolgraft replay --check fixtures/*.txt

Exit codes: 0 done, 1 a check or a call found a failure, 2 a file cannot be read or wrong usage.";

/// Options of `toolgraft replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Recordings; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What the files hold, where it cannot be told: recording, chunks, lines, cline, text
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// How the text is cut: recorded, whole, or a number of characters
    #[arg(long, value_name = "CUT", default_value_t = play::Chunk::Recorded)]
    chunk: play::Chunk,

    /// How fast: max, or how many times as fast as it was recorded
    #[arg(long, value_name = "FACTOR", default_value = "max")]
    speed: play::Speed,

    /// Tools that the model knew, instead of the recorded ones: JSON, as `tools/list` answers
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// List what looks like a call and was given back as text, the rule and the remedy
    #[arg(long)]
    explain: bool,

    /// Print events as lines of JSON, with results and a summary
    #[arg(long)]
    json: bool,

    /// Write a page to look at in a browser, by default beside the file; - for standard output
    #[arg(
        long,
        value_name = "PAGE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["json", "speed"]
    )]
    html: Option<html::Target>,

    /// Language of the page's own words, instead of the prompt's: en, zh
    #[arg(long, value_name = "LANG", requires = "html")]
    lang: Option<Lang>,

    /// Compare with NAME.expect.json beside the file, or with the recorded calls
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    overrides: settings::Overrides,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft replay`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    if args.speed != play::Speed::Max && args.chunk != play::Chunk::Recorded {
        return Err(Failure::usage("--speed needs the recorded deltas: leave out --chunk"));
    }
    let tools = args.tools.as_deref().map(tool_file::read).transpose()?.map(|servers| Arc::new(Catalog::new(servers)));
    if args.servers.is_given() {
        let servers = args.servers.clone();
        return servers.with_hub(|hub| run::with_tools(move |caller| replay(&args, tools.as_ref(), Some(caller)), hub));
    }
    replay(&args, tools.as_ref(), None)
}

/// Replays all files, with a view of the kind that was asked for.
fn replay(args: &Args, tools: Option<&Arc<Catalog>>, caller: Option<run::Caller>) -> Result<(), Failure> {
    if args.json {
        let view = json::JsonLines { out: output::json_lines() };
        return run::Replay::new(args, tools, caller, view).files();
    }
    if let Some(target) = &args.html {
        target.check(&args.files)?;
        let view = html::Pages::new(target.clone(), args.lang);
        return run::Replay::new(args, tools, caller, view).files();
    }
    let frame = Frame::of(&io::stdout());
    let view = show::Show::new(anstream::stdout().lock(), frame, terminal::columns());
    run::Replay::new(args, tools, caller, view).files()
}
