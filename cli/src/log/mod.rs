//! `toolgraft log`: the conversations that were kept.
//!
//! `list` lists and searches them, `export` writes one to a file; `replay` plays such a file through
//! the parser again.

mod export;
mod list;
mod spent;

use std::collections::BTreeSet;

use self::export::{ExportArgs, export};
pub(crate) use self::export::{about, page, save};
use self::list::{SearchArgs, Shape};
use crate::base::{Failure, output};
use crate::dialog::ask::demand_consent;
use crate::screen::{excerpt::names, visible::plain};
use crate::sessions::{Store, by_process};
use crate::terminal::{counted, shortened};

/// Maximum width in columns of a title in a question.
const TITLE: usize = 60;

/// Options of `toolgraft log`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/log.txt").trim_end(), args_conflicts_with_subcommands = true)]
pub(super) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,

    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Subcommand)]
enum LogCommand {
    /// List the conversations, the latest first, as `toolgraft log` does
    #[command(hide = true)]
    List(Shape),
    /// List those that contain all of these words, in any case
    Search(SearchArgs),
    /// Print a conversation as Markdown
    Show {
        /// The beginning of its id
        id: String,
    },
    /// Write a conversation as Markdown, JSON or a page
    Export(ExportArgs),
    /// Forget conversations
    Remove {
        /// The beginnings of their ids
        #[arg(required = true)]
        ids: Vec<String>,

        /// Forget them without asking
        #[arg(long)]
        yes: bool,
    },
    /// Forget all conversations
    Clear {
        /// Forget them without asking
        #[arg(long)]
        yes: bool,
    },
}

/// Runs `toolgraft log`.
pub(super) fn run(args: LogArgs) -> Result<(), Failure> {
    let store = Store::open()?;
    let Some(command) = args.command else { return list::list(&store, &[], &args.shape) };
    match command {
        LogCommand::List(shape) => list::list(&store, &[], &shape),
        LogCommand::Search(SearchArgs { words, shape }) => list::list(&store, &words, &shape),
        LogCommand::Show { id } => output::emit(&export::markdown(&store.find(&id)?.kept)),
        LogCommand::Export(args) => export(&store, &args),
        LogCommand::Remove { ids, yes } => remove(&store, &ids, yes),
        LogCommand::Clear { yes } => clear(&store, yes),
    }
}

fn remove(store: &Store, ids: &[String], yes: bool) -> Result<(), Failure> {
    // One that is named twice is one.
    let found = ids.iter().map(|id| store.id_of(id)).collect::<Result<BTreeSet<_>, _>>()?;
    let listed = store.list(&[]).map_err(Failure::job)?;
    let titled = |id: &String| match listed.iter().find(|one| one.id == *id) {
        Some(one) => format!("{id} ({})", shortened(&plain(&one.title), TITLE)),
        None => id.clone(),
    };
    // A chat that has one open would write it anew.
    let held = |id: &String| {
        store.hold(id).map_err(|by| {
            let by = by_process(by);
            Failure::job(format!("the conversation {id} is open in another chat{by}: leave that first"))
        })
    };
    let _locks = found.iter().map(held).collect::<Result<Vec<_>, _>>()?;
    demand_forgetting(&names(found.iter().map(titled)), yes)?;
    found.iter().try_for_each(|id| store.forget(id))?;
    output::tell(&format!("{} forgotten", counted(found.len(), "conversation")))
}

fn demand_forgetting(what: &str, yes: bool) -> Result<(), Failure> {
    demand_consent(&format!("Forget {what}, for good?"), yes, "nothing is forgotten")
}

fn clear(store: &Store, yes: bool) -> Result<(), Failure> {
    let all = counted(store.list(&[]).map_err(Failure::job)?.len(), "conversation");
    demand_forgetting(&all, yes)?;
    let (gone, open) = store.clear()?;
    output::tell(&format!("{} forgotten", counted(gone, "conversation")))?;
    if open > 0 {
        output::note(&format!("{} left: open in another chat", counted(open, "conversation")));
    }
    Ok(())
}
