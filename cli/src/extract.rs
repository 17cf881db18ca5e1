//! `toolgraft extract`: records with model output in, records with its calls out.
//!
//! In: NDJSON from a file or a pipe. Out: one line of NDJSON for each line, in the same order;
//! one that is no record becomes a line with an `error`. No server is started and no tool is
//! called.
//!
//! ```text
//! bytes ─▶ blocks: whole lines ─▶ worker ─▶ record: one line in, one out ─┐
//!                              ├▶ worker ─▶ … (chunk feeds the parser)    ├▶ in the input's order ─▶ stdout
//!                              └▶ worker ─▶ …                             ┘
//! ```
//!
//! The reader and the workers are threads of `pipeline`, the caller's thread writes. What is
//! in flight is bounded in blocks and in bytes.

mod blocks;
mod pipeline;
mod record;

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use crate::base::{Failure, chunk::Chunk, input, output};
use crate::settings::profiles::{dialect_file, profile_of};
use crate::settings::{self, Reader, Settings, set_args::SetArgs};
use record::{Extractor, Problems};
use toolgraft::Dialect;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::message::ReasoningCalls;
use toolgraft::parse::Config;

/// Options of `toolgraft extract`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/extract.txt"))]
pub(crate) struct Args {
    /// File with one record a line; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,

    /// Call syntaxes to read: `auto` for all, or names joined by commas
    #[arg(long, value_name = "auto|NAME[,NAME]", default_value = "auto")]
    dialect: DialectSet,

    /// File with a call syntax of your own to read, too (docs/dialects.md); may be given several times
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    dialect_file: Vec<Dialect>,

    /// Feed the parser the text in one piece, in pieces of N characters, or in random pieces
    #[arg(long, value_name = "whole|N|random:SEED", default_value = "whole")]
    chunk: Chunk,

    /// Read the texts with this model profile, or that of this model: where its reasoning starts and
    /// what it writes around it; nothing is known by default
    #[arg(long, value_name = "NAME|MODEL", value_parser = profile_of)]
    profile: Option<&'static Profile>,

    /// Treatment of calls in the reasoning; the profile's, else ignore
    #[arg(long, value_name = "ignore|last_resort|allow")]
    reasoning_calls: Option<ReasoningCalls>,

    #[command(flatten)]
    set: SetArgs,

    /// Records read side by side; all cores by default
    #[arg(long, value_name = "N", value_parser = input::above_zero::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
}

/// Runs `toolgraft extract`.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let said = args.set.under(Settings::default(), &[Reader::Parse])?;
    let (input, name) = open(&args.file)?;
    let jobs = args.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let problems = Problems::default();
    let usual = settings::environment_over(settings::Source::File)?.profile;
    let profile = args.profile.or(usual);
    let config = Config::default()
        .with_dialects(args.dialect_file.iter().fold(args.dialect, |set, dialect| set.with(*dialect)))
        .with_reasoning(said.reasoning.or(profile.map(|profile| profile.reasoning)).unwrap_or_default())
        .with_reasoning_calls(args.reasoning_calls.or(profile.map(|p| p.reasoning_calls)).unwrap_or_default())
        .with_reasoning_marks(profile.map(Profile::marks).unwrap_or_default())
        .with_fenced_calls(said.fenced_calls.unwrap_or_default());
    let worker = move || {
        let mut extractor = Extractor::new(config.clone(), args.chunk, problems.clone());
        move |line: &[u8], number: u64, out: &mut Vec<u8>| extractor.line(line, number, out)
    };
    let mut output = output::json_lines();
    match pipeline::run(input, &mut output, jobs, worker) {
        Ok(counts) if counts.bad == 0 => Ok(()),
        Ok(counts) => Err(Failure::job(format!(
            "{} of {} lines of {name} are not valid records: see `error` in their output lines",
            counts.bad, counts.lines
        ))),
        Err(pipeline::Error::Read(e)) => Err(Failure::job(format!("cannot read {name}: {e}"))),
        // Whoever read the output has seen enough.
        Err(pipeline::Error::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(pipeline::Error::Write(e)) => Err(Failure::job(format!("cannot write the output: {e}"))),
    }
}

/// Opens the input; the name is for messages.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, String), Failure> {
    if path == Path::new("-") {
        input::tell_reading();
        return Ok((Box::new(io::stdin()), "standard input".to_owned()));
    }
    let shown = path.display();
    let file = File::open(path).map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")))?;
    let about = file.metadata().map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")))?;
    if about.is_dir() {
        return Err(Failure::usage(format!("{shown} is a directory: name a file in it")));
    }
    if about.is_file() && about.len() == 0 {
        return Err(Failure::usage(format!("{shown} is empty: expected one JSON object a line")));
    }
    Ok((Box::new(file), shown.to_string()))
}
