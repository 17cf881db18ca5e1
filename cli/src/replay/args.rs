//! The options of `toolgraft replay`.

use std::path::PathBuf;

use crate::reading::ReadingArgs;
use toolgraft::transcript::import::Format;

/// Options of `toolgraft replay`.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = include_str!("../help/replay.txt").trim_end())]
pub(crate) struct ReplayArgs {
    /// Recordings and saved conversations; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Format of the files, if it cannot be detected: recording, chunks, lines, cline, text
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    pub(super) format: Option<Format>,

    /// Tools that the model knew, instead of the recorded ones
    ///
    /// JSON, as `tools/list` answers.
    #[arg(long = "tool-file", value_name = "FILE")]
    pub(super) tools: Option<PathBuf>,

    /// List text that looks like a call, with the rule that applies
    #[arg(long)]
    pub(super) explain: bool,

    /// Print events as lines of JSON, with results and a summary
    #[arg(long)]
    pub(super) json: bool,

    /// Write an HTML page; - for standard output
    #[arg(long, value_name = "PAGE", conflicts_with = "json")]
    pub(super) html: Option<PathBuf>,

    /// Open the page in a browser; without --html it is beside the file
    #[arg(long, conflicts_with = "json")]
    pub(super) open: bool,

    /// Compare with the recorded calls
    #[arg(long)]
    pub(super) check: bool,

    #[command(flatten)]
    pub(super) reading: ReadingArgs,
}
