//! `toolgraft log`: the conversations that were kept.
//!
//! `list` lists and searches them, `export` writes one to a file; `replay --kept` plays one through
//! the parser again.

mod export;
mod list;
mod spent;

use self::export::{ExportArgs, export};
pub(crate) use self::export::{about, page};
use self::list::{SearchArgs, Shape};
use crate::base::{Failure, output};
use crate::phrases::Phrases;
use crate::sessions::{Kept, Store, by_process};
use toolgraft::conversation::Entry;
use toolgraft::dialect::Lang;

/// Options of `toolgraft log`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/log.txt").trim_end(), args_conflicts_with_subcommands = true)]
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
    /// List those in which all of these words stand, whatever their case
    Search(SearchArgs),
    /// Print a conversation
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
    /// Forget all conversations
    Clear,
}

/// Runs `toolgraft log`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let store = Store::open()?;
    let say = Phrases::of_user(None);
    let Some(command) = args.command else { return list::list(&store, &[], &args.shape, say) };
    match command {
        Command::List(shape) => list::list(&store, &[], &shape, say),
        Command::Search(SearchArgs { words, shape }) => list::list(&store, &words, &shape, say),
        Command::Show { id } => output::emit(&shown(&store.find(&id)?.kept, say)),
        Command::Export(args) => export(&store, &args, say),
        Command::Remove { ids } => remove(&store, &ids, say),
        Command::Clear => clear(&store, say),
    }
}

fn remove(store: &Store, ids: &[String], say: Phrases) -> Result<(), Failure> {
    let found = ids.iter().map(|id| store.id_of(id)).collect::<Result<Vec<_>, _>>()?;
    for id in &found {
        // The chat would write it anew.
        let _lock = store.hold(id).map_err(|by| {
            let by = by_process(by, Phrases::of(Lang::En));
            Failure::job(format!("the conversation {id} is open in another chat{by}: leave that first"))
        })?;
        store.remove(id).map_err(cannot_remove)?;
    }
    output::tell(&say.forgotten(say.conversations(found.len())))
}

fn clear(store: &Store, say: Phrases) -> Result<(), Failure> {
    let (gone, open) = store.clear().map_err(cannot_remove)?;
    output::tell(&say.forgotten(say.conversations(gone)))?;
    if open > 0 {
        output::note(&say.still_open(say.conversations(open)));
    }
    Ok(())
}

fn cannot_remove(error: std::io::Error) -> Failure {
    Failure::job(format!("cannot remove a conversation: {error}"))
}

/// A conversation for people.
fn shown(kept: &Kept, say: Phrases) -> String {
    let mut text = String::new();
    for entry in kept.saved.conversation.entries() {
        match entry {
            Entry::User(said) => text.push_str(&format!("> {}\n\n", said.shown().trim().replace('\n', "\n  "))),
            Entry::Assistant(message) => {
                let content = message.content();
                if !content.trim().is_empty() {
                    text.push_str(&format!("{}\n\n", content.trim()));
                }
                for called in message.calls() {
                    let server = called.call.server.as_deref().map(|server| format!("{server}.")).unwrap_or_default();
                    text.push_str(&format!("{}\n\n", say.call_of(format!("{server}{}", called.call.tool))));
                }
            }
            _ => {}
        }
    }
    if let Some(usage) = kept.saved.usage {
        text.push_str(&format!("[{}]\n", spent::full(usage, say)));
    }
    text.trim_end().to_owned() + "\n"
}
