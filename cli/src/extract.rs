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
use crate::reading::{Problems, ReadingArgs};
use crate::settings::Reader;
use record::Extractor;

/// Options of `toolgraft extract`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/extract.txt"))]
pub(crate) struct ExtractArgs {
    /// File with one record a line; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,

    /// Feed the parser the text in one piece, in pieces of N characters, or in random pieces
    #[arg(long, value_name = "whole|N|random:SEED", default_value = "whole")]
    chunk: Chunk,

    /// Records read side by side; all cores by default
    #[arg(long, value_name = "N", value_parser = input::above_zero::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    reading: ReadingArgs,
}

/// Runs `toolgraft extract`.
pub(crate) fn run(mut args: ExtractArgs) -> Result<(), Failure> {
    args.reading.resolve(&[Reader::Parse])?;
    let (input, name) = open(&args.file)?;
    let jobs = args.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let problems = Problems::default();
    let profile = args.reading.profile.or(args.reading.usual);
    let config = args.reading.config(None, profile, profile.map(|p| (p.reasoning, p.reasoning_calls)).unzip());
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

/// Opens the input file or standard input; returns it with its name for messages.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, String), Failure> {
    let name = input::shown(path);
    if path == Path::new("-") {
        input::tell_reading();
        return Ok((Box::new(io::stdin()), name));
    }
    let cannot = |e: io::Error| Failure::usage(format!("cannot read {name}: {e}"));
    let file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    match () {
        () if about.is_dir() => Err(Failure::usage(format!("{name} is a directory: name a file in it"))),
        // A pipe or a device has no size, and may have records all the same.
        () if about.is_file() && about.len() == 0 => {
            Err(Failure::usage(format!("{name} is empty: expected one JSON object a line")))
        }
        () => Ok((Box::new(file), name)),
    }
}
