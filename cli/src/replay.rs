//! `toolgraft replay`: recordings read again, shown, checked.
//!
//! In come files; out go a terminal's lines, lines of JSON or a page, and an exit
//! code. No model takes part.
//!
//! ```text
//!  file ─▶ source ─▶ Recording ─▶ run ─▶ play ─▶ Played: events, pieces where they belong
//!                       settings ──┘       parser        ▼
//!                       check: the recorded calls    view: show, json, html
//! ```

mod args;
mod check;
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
use std::path::PathBuf;
use std::sync::Arc;

use self::settings::RoundSettings;
use crate::base::{Failure, output};
use crate::reading::ReadingArgs;
use crate::screen::Frame;
use crate::servers::tool_file;
use crate::settings::Reader;
use crate::terminal;
use serde_json::Value;
use toolgraft::Catalog;
use toolgraft::transcript::{Recording, import::Format};

pub(crate) use args::ReplayArgs;

/// Runs `toolgraft replay`.
pub(crate) fn run(mut args: ReplayArgs) -> Result<(), Failure> {
    args.reading.resolve(&[Reader::Parse, Reader::Replay])?;
    let page = match (&args.html, args.files.as_slice()) {
        (Some(page), _) => Some(page.clone()),
        (None, [file]) if args.open => Some(html::beside(file)?),
        (None, _) if args.open => {
            return Err(Failure::usage("--open opens one page: name one for all files with --html PAGE"));
        }
        (None, _) => None,
    };
    let tools = args.tools.as_deref().map(tool_file::read).transpose()?.map(|servers| Arc::new(Catalog::new(servers)));
    replay(&args, tools.as_ref(), page)
}

/// Returns the HTML page of one recording with the header data `about`. With `has_prompt`, its user messages may begin
/// with the system prompt.
pub(crate) fn page(name: &str, recording: &Recording, about: Value, has_prompt: bool) -> io::Result<String> {
    let args = ReplayArgs::default();
    let view = html::Pages::new(None, has_prompt);
    run::Replay::new(&args, None, view).one(name, recording)?.page(about)
}

/// Returns the text after the call of a recorded round, which a turn does not read; `None` if there is none.
pub(crate) fn after_call(recording: &Recording, round: usize, tools: &Arc<Catalog>) -> Option<String> {
    let round = recording.rounds.get(round)?;
    let reading = ReadingArgs::default();
    let settings = RoundSettings::new(&reading, &recording.session, Format::Recording, Some(tools.clone()));
    play::play(round, &settings).unread().map(str::to_owned)
}

/// Replays all files, with output as JSON lines, as a page or on the terminal.
fn replay(args: &ReplayArgs, tools: Option<&Arc<Catalog>>, page: Option<PathBuf>) -> Result<(), Failure> {
    if args.json {
        let view = json::ReplayLines { out: output::json_lines() };
        return run::Replay::new(args, tools, view).files();
    }
    if let Some(page) = page {
        html::check(&page, args.open)?;
        let view = html::Pages::new(Some((page, args.open)), true);
        return run::Replay::new(args, tools, view).files();
    }
    let frame = Frame::of(&io::stdout());
    let view = show::Show::new(anstream::stdout().lock(), frame, terminal::columns());
    run::Replay::new(args, tools, view).files()
}
