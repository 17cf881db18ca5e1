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
mod expected;
mod explain;
mod html;
mod json;
mod play;
mod run;
mod settings;
mod show;
mod source;
mod view;

use std::io;
use std::sync::Arc;

use self::settings::Settings;
use crate::base::{Failure, chunk::Chunk, output};
use crate::screen::Frame;
use crate::servers::tool_file;
use crate::settings::{self as sources, Reader};
use crate::terminal;
use serde_json::Value;
use toolgraft::Catalog;
use toolgraft::transcript::{Recording, import::Format};

pub(crate) use args::Args;
pub(crate) use play::Speed;

/// Runs `toolgraft replay`.
pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    args.overrides.said = args.set.under(sources::Settings::default(), &[Reader::Parse, Reader::Replay])?;
    args.usual = sources::environment_over(sources::Source::File)?.profile;
    if args.open {
        let target = args.html.get_or_insert(html::Target::Beside);
        if *target == html::Target::Stdout {
            return Err(Failure::usage("--open needs a file: --html PAGE names one"));
        }
        if *target == html::Target::Beside && args.files.len() > 1 {
            return Err(Failure::usage("--open opens one page: name one for all files with --html PAGE"));
        }
    }
    if args.speed != play::Speed::Max && args.chunk.is_some() {
        return Err(Failure::usage("--speed needs the recorded deltas: leave out --chunk"));
    }
    let tools = args.tools.as_deref().map(tool_file::read).transpose()?.map(|servers| Arc::new(Catalog::new(servers)));
    if args.servers.is_given() {
        let servers = args.servers.clone();
        return servers.with_hub(async move |hub| {
            run::with_tools(move |caller| replay(&args, tools.as_ref(), Some(caller)), hub).await
        });
    }
    replay(&args, tools.as_ref(), None)
}

/// Returns the page of one recording, with this above it; `has_prompt`: messages of its user may begin with the prompt.
pub(crate) fn page(name: &str, recording: &Recording, about: Value, has_prompt: bool) -> io::Result<String> {
    let args = Args::default();
    let view = html::Pages::new((html::Target::Stdout, false), has_prompt);
    run::Replay::new(&args, None, None, view).one(name, recording)?.page(about)
}

/// Returns the text after the call of a round of a recording, which a turn does not read.
pub(crate) fn after_call(recording: &Recording, round: usize, tools: &Arc<Catalog>) -> Option<String> {
    let round = recording.rounds.get(round)?;
    let overrides = settings::Overrides::default();
    let settings = Settings::new((&overrides, None), &recording.session, Format::Recording, Some(tools.clone()));
    play::play(round, &settings, Some(Chunk::Whole), Speed::Max, |_| {}).unread().map(str::to_owned)
}

/// Replays all files, with a view of the kind that was asked for.
fn replay(args: &Args, tools: Option<&Arc<Catalog>>, caller: Option<run::Caller>) -> Result<(), Failure> {
    if args.json {
        let view = json::JsonLines { out: output::json_lines() };
        return run::Replay::new(args, tools, caller, view).files();
    }
    if let Some(target) = &args.html {
        target.check(&args.files)?;
        let view = html::Pages::new((target.clone(), args.open), true);
        return run::Replay::new(args, tools, caller, view).files();
    }
    let frame = Frame::of(&io::stdout());
    let view = show::Show::new(anstream::stdout().lock(), frame, terminal::columns());
    run::Replay::new(args, tools, caller, view).files()
}
