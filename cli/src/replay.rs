//! `toolgraft replay`: recordings read again, shown, checked, run for real.
//!
//! In come files; out go a terminal's lines, lines of JSON or a page, and an exit
//! code. No model takes part.
//!
//! ```text
//!  file ─▶ source ─▶ Recording ─▶ run ─▶ play ─▶ Played: events, pieces where they belong
//!                                  │       parser        │
//!                       settings ──┘                     ▼
//!                       expectation ─▶ check    view: show, json, html
//! ```

mod args;
mod check;
mod expectation;
mod explain;
mod html;
mod json;
pub(super) mod play;
mod run;
mod settings;
mod show;
mod source;
mod view;

use std::io;
use std::sync::Arc;

use super::screen::Frame;
use super::{Failure, output, terminal, tool_file};
use serde_json::Value;
use toolgraft::Catalog;
use toolgraft::transcript::Recording;

pub(super) use args::Args;

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

/// The page of one recording, with this above it.
pub(super) fn page(name: &str, recording: &Recording, about: Value) -> io::Result<String> {
    let args = Args::default();
    let view = html::Pages::new(html::Target::Stdout, None);
    run::Replay::new(&args, None, None, view).one(name, recording)?.page(about)
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
