//! `toolgraft log`: the conversations that were kept.
//!
//! `list` lists and searches them, `export` writes one to a file; `replay` plays such a file through
//! the parser again.

mod export;
mod list;
mod spent;

use self::export::{ExportArgs, export};
pub(crate) use self::export::{about, page};
use self::list::{SearchArgs, Shape};
use crate::base::{Failure, output};
use crate::dialog::ask::Asker;
use crate::sessions::{Store, by_process};
use crate::terminal::counted;

/// Options of `toolgraft log`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/log.txt").trim_end(), args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the conversations, the latest first
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
    },
    /// Forget all conversations, after a confirmation
    Clear {
        /// Forget them without asking
        #[arg(long)]
        yes: bool,
    },
}

/// Runs `toolgraft log`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let store = Store::open()?;
    let Some(command) = args.command else { return list::list(&store, &[], &args.shape) };
    match command {
        Command::List(shape) => list::list(&store, &[], &shape),
        Command::Search(SearchArgs { words, shape }) => list::list(&store, &words, &shape),
        Command::Show { id } => output::emit(&export::markdown(&store.find(&id)?.kept)),
        Command::Export(args) => export(&store, &args),
        Command::Remove { ids } => remove(&store, &ids),
        Command::Clear { yes } => clear(&store, yes),
    }
}

fn remove(store: &Store, ids: &[String]) -> Result<(), Failure> {
    let found = ids.iter().map(|id| store.id_of(id)).collect::<Result<Vec<_>, _>>()?;
    for id in &found {
        // The chat would write it anew.
        let _lock = store.hold(id).map_err(|by| {
            let by = by_process(by);
            Failure::job(format!("the conversation {id} is open in another chat{by}: leave that first"))
        })?;
        store.forget(id)?;
    }
    output::tell(&format!("{} forgotten", counted(found.len(), "conversation")))
}

fn clear(store: &Store, yes: bool) -> Result<(), Failure> {
    let all = counted(store.list(&[]).map_err(Failure::job)?.len(), "conversation");
    if !yes {
        let nobody = || Failure::usage("there is no terminal to ask on: --yes forgets all conversations");
        let asker = Asker::at_terminal().ok_or_else(nobody)?;
        if !asker.agrees(&format!("Forget {all}, for good? [y/n] "), &mut |_| None)? {
            output::note("nothing is forgotten");
            return Err(Failure::Reported);
        }
    }
    let (gone, open) = store.clear()?;
    output::tell(&format!("{} forgotten", counted(gone, "conversation")))?;
    if open > 0 {
        output::note(&format!("{} left: open in another chat", counted(open, "conversation")));
    }
    Ok(())
}
