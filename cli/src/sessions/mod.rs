//! `toolgraft sessions`: the conversations that `toolgraft chat` keeps by itself.
//!
//! `store` keeps them, each in the form that `chat --save` writes. This file lists, searches and
//! clears them; `chat --continue` takes one up again.

pub(crate) mod saved;

mod store;

use std::time::{Duration, SystemTime};

use serde_json::json;
use unicode_width::UnicodeWidthStr;

pub(crate) use store::Store;

use crate::base::Failure;
use crate::base::output;
use crate::phrases::Phrases;
use crate::screen::visible::plain;
use crate::servers::trust;
use crate::terminal::{columns, shortened};
use store::{Kept, Listed};
use toolgraft::conversation::Entry;
use toolgraft::dialect::Lang;
use toolgraft_mcp::files::Holder;

const EXAMPLES: &str = "\
Conversations are kept in ~/.local/state/toolgraft/sessions (below $XDG_STATE_HOME where
that is set), which only you can read, for 30 days after the last word. `toolgraft config
set sessions false` turns that off, `session_days` sets the days; --no-session leaves one
conversation out.

Examples:
  toolgraft sessions
  toolgraft sessions list weather oslo       those with both words
  toolgraft sessions show 3f9a
  toolgraft chat --continue                  goes on with the latest
  toolgraft chat --continue=3f9a             goes on with this one
  toolgraft sessions clear

Exit codes: 0 done, 1 a file cannot be removed, 2 wrong usage.";

/// Columns of the longest age.
const AGE: usize = 11;

/// Columns of the longest name of a model that the titles are aligned to.
const MODEL: usize = 24;

/// Options of `toolgraft sessions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the conversations, the latest first; with words, those that have all of them
    List {
        /// Words to look for, whatever their case
        words: Vec<String>,

        /// Print one JSON object: per conversation its id, time, model, questions and title
        #[arg(long)]
        json: bool,
    },
    /// Print a conversation
    Show {
        /// The beginning of its id
        id: String,
    },
    /// Forget conversations
    Remove {
        /// The beginnings of their ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Forget all conversations
    Clear,
}

/// Runs `toolgraft sessions`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let store = Store::open().ok_or_else(|| Failure::usage("there is no home directory: no conversation is kept"))?;
    let say = Phrases::of_user(None);
    let failed = |e: std::io::Error| Failure::job(format!("cannot remove a conversation: {e}"));
    match &args.command {
        None => list(&store, &[], (false, say)),
        Some(Command::List { words, json }) => list(&store, words, (*json, say)),
        Some(Command::Show { id }) => output::emit(&shown(&store.find(id)?.kept, say)),
        Some(Command::Remove { ids }) => {
            let found = ids.iter().map(|id| store.id_of(id)).collect::<Result<Vec<_>, _>>()?;
            for id in &found {
                // The chat would write it anew.
                let _lock = store.hold(id).map_err(|by| {
                    let by = by_process(by, Phrases::of(Lang::En));
                    Failure::job(format!("the conversation {id} is open in another chat{by}: leave that first"))
                })?;
                store.remove(id).map_err(failed)?;
            }
            output::tell(&say.forgotten(say.conversations(found.len())))
        }
        Some(Command::Clear) => {
            let (gone, open) = store.clear().map_err(failed)?;
            output::tell(&say.forgotten(say.conversations(gone)))?;
            if open > 0 {
                output::note(&say.still_open(say.conversations(open)));
            }
            Ok(())
        }
    }
}

/// ` (process 4711)`, where it is known.
pub(crate) fn by_process(holder: Holder, say: Phrases) -> String {
    holder.process.map(|process| say.by_process(process)).unwrap_or_default()
}

fn list(store: &Store, words: &[String], (as_json, say): (bool, Phrases)) -> Result<(), Failure> {
    let (all, damaged) = store.list(words).map_err(Failure::job)?;
    for one in damaged {
        output::warn(&one.to_string());
    }
    if as_json {
        let sessions: Vec<_> = all.iter().map(entry).collect();
        return output::emit_json(&json!({ "sessions": sessions }));
    }
    if all.is_empty() {
        let what = if words.is_empty() { say.nothing_was_kept() } else { say.none_has_these_words() };
        return output::tell(what);
    }
    let widest = |of: fn(&Listed, Phrases) -> String| all.iter().map(|one| of(one, say).width()).max().unwrap_or(0);
    let widths = [columns(), widest(model).min(MODEL), widest(questions)];
    let word = words.first().map(|word| word.to_lowercase());
    output::emit(&all.iter().map(|one| line(one, word.as_deref(), (widths, say))).collect::<String>())
}

fn model(one: &Listed, _: Phrases) -> String {
    plain(one.model.as_deref().unwrap_or("-"))
}

fn questions(one: &Listed, say: Phrases) -> String {
    say.questions(one.questions)
}

fn entry(one: &Listed) -> serde_json::Value {
    json!({
        "id": one.id,
        "used": httpdate::fmt_http_date(one.used),
        "model": one.model,
        "questions": one.questions,
        "title": one.title,
    })
}

/// `3f9a1c20  2 h ago      small-model  3 questions  What is …`, and where a word stands.
fn line(
    one: &Listed,
    word: Option<&str>,
    ([width, model_width, questions_width], say): ([usize; 3], Phrases),
) -> String {
    // Ideographs take two columns each.
    let padded = |text: String, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
    let (age, model) = (padded(age(one.used, say), AGE), padded(model(one, say), model_width));
    let head = format!("{}  {age}  {model}  {}  ", one.id, padded(questions(one, say), questions_width));
    let title = plain(&one.title);
    let mut text = format!("{head}{}\n", shortened(&title, width.saturating_sub(head.width()).max(20)));
    // Where the title does not say it.
    if let Some(hit) = &one.hit
        && word.is_some_and(|word| !title.to_lowercase().contains(word))
    {
        text.push_str(&format!("          … {}\n", shortened(&plain(hit), width.saturating_sub(12).max(20))));
    }
    text
}

/// How long ago, in a word or two; a date for what is older than a week.
pub(crate) fn age(used: SystemTime, say: Phrases) -> String {
    let passed = SystemTime::now().duration_since(used).unwrap_or_default().as_secs();
    match passed {
        0..60 => say.just_now().to_owned(),
        60..3_600 => say.minutes_ago(passed / 60),
        3_600..86_400 => say.hours_ago(passed / 3_600),
        86_400..604_800 => say.days_ago(passed / 86_400),
        _ => trust::date(used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()),
    }
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
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_in_the_largest_unit() {
        let ago = |seconds| age(SystemTime::now() - Duration::from_secs(seconds), Phrases::of(Lang::En));
        let said: Vec<String> = [5, 120, 7_300, 200_000].into_iter().map(ago).collect();
        assert_eq!(said, ["just now", "2 min ago", "2 h ago", "2 d ago"]);
        assert_eq!(age(SystemTime::UNIX_EPOCH, Phrases::of(Lang::En)), "1 Jan 1970".replace("1 J", "01 J"));
    }
}
