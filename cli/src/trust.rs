//! Whether the servers of a project's own file may be started.
//!
//! Whoever unpacks or clones a project gets its `.mcp.json` too, and with it
//! programs that somebody else has chosen. So a file that was not named on the
//! command line starts nothing before the person has said yes. The answer holds
//! for that place (its folder without links) and that content, by its SHA-256; a file that has
//! changed is asked about again, with what has changed. The bytes that are hashed
//! are the bytes that are run.
//!
//! In: the path of a project's file. Out: its text, once somebody trusts it. [`project`] reads
//! the file and says what it starts, [`store`] keeps the answers.
//!
//! ```text
//! ./.mcp.json ─▶ Project (bytes, hash, what it starts) ─▶ Store: known? ─▶ question ─▶ servers
//!                                                         no terminal ─▶ error with the remedy
//! ```

mod project;
mod store;

use std::path::Path;

pub(super) use project::{Project, place};
pub(super) use store::{Store, date};

use super::ask::Asker;
use super::tty::Tty;
use super::{Failure, output};
use crate::phrases::Phrases;
use crate::screen::boxes::clean;
use toolgraft::dialect::Lang;

/// The text of a project's file, once somebody trusts it; `None` where they said no.
pub(super) fn demand(file: &Path, say: Phrases) -> Result<Option<String>, Failure> {
    let shown = file.display();
    demand_of(
        file,
        Project::read(file)?,
        &format!("name the file with --mcp-config {shown}, or run `toolgraft mcp trust` once"),
        say,
    )
}

/// As [`demand`], for a project that was read already. `remedy` is for a place where nobody
/// can be asked.
pub(super) fn demand_of(file: &Path, project: Project, remedy: &str, say: Phrases) -> Result<Option<String>, Failure> {
    let mut store = Store::open();
    if project.starts_nothing() || store.trusts(&project) {
        return Ok(Some(project.into_text()));
    }
    let tty = Tty::open().map(std::sync::Arc::new);
    let Some(asker) = Asker::new(tty.as_ref(), say) else {
        // Errors are English.
        let question = question(file, &project, &store, Phrases::of(Lang::En));
        return Err(Failure::usage(format!("{question}nobody is at a terminal to say yes: {remedy}")));
    };
    if !ask(&asker, file, &project, &store)? {
        return Ok(None);
    }
    remember(&mut store, &project, say);
    Ok(Some(project.into_text()))
}

/// Shows what the file starts and asks; Ctrl-C and Ctrl-D mean no.
pub(super) fn ask(asker: &Asker, file: &Path, project: &Project, store: &Store) -> Result<bool, Failure> {
    let say = asker.say();
    anstream::eprintln!("{}", question(file, project, store, say));
    Ok(asker.agrees(say.start_them()))
}

/// Keeps the answer; where it cannot be kept it holds for this time alone.
pub(super) fn remember(store: &mut Store, project: &Project, say: Phrases) {
    if let Err(error) = store.add(project) {
        output::warn_in(say, &say.asked_again(error));
    }
}

/// What a person should know before saying yes.
pub(super) fn question(file: &Path, project: &Project, store: &Store, say: Phrases) -> String {
    let mut text = say.starts_these(clean(&file.display().to_string())) + "\n";
    for line in project.starts(say) {
        text += &format!("  {}\n", clean(&line));
    }
    if project.has_programs_inside() {
        text += &format!("{}\n", say.programs_may_change());
    }
    if let Some(changes) = store.changes(project) {
        text += &format!("{}\n", say.changed_since(&changes.since));
        if changes.lines.is_empty() {
            text += &format!("  {}\n", say.changed_unseen());
        }
        for line in changes.lines {
            text += &format!("  {}\n", clean(&line));
        }
    }
    text
}
