//! Decides whether the servers of a project's own file may be started.
//!
//! Whoever unpacks or clones a project gets its `.mcp.json` too, and with it
//! programs that somebody else has chosen. So a file that was not named on the
//! command line starts nothing before the user has said yes. The answer holds
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

pub(crate) use project::{Project, place};
pub(crate) use store::{TrustStore, date};

use crate::base::{Failure, output};
use crate::dialog::ask::Asker;
use crate::screen::{excerpt::Excerpt, visible::word, wrap::in_rows};
use crate::terminal::{columns, rows};

/// Returns the text of a project's configuration file, after asking the user if it is not trusted yet; `None` if the
/// user refuses.
pub(crate) fn demand(file: &Path) -> Result<Option<String>, Failure> {
    let shown = file.display();
    demand_of(
        file,
        Project::read(file)?,
        &format!("name the file with --mcp-config {shown}, or run `toolgraft mcp trust` once"),
    )
}

/// Returns the text of a project that was already read, after asking the user if it is not trusted yet, as [`demand`].
/// `remedy` is the advice in the error if there is no terminal to ask on.
pub(crate) fn demand_of(file: &Path, project: Project, remedy: &str) -> Result<Option<String>, Failure> {
    let mut store = TrustStore::open();
    if project.starts_nothing() || store.trusts(&project) {
        return Ok(Some(project.text));
    }
    let Some(asker) = Asker::at_terminal() else {
        let question = question(file, &project, &store);
        return Err(Failure::usages([question, format!("there is no terminal to ask on: {remedy}")]));
    };
    if !ask(&asker, file, &project, &store)? {
        return Ok(None);
    }
    // Where it cannot be kept it holds for this time alone.
    if let Err(error) = store.add(&project) {
        output::warn(&format!("{error}: you will be asked again"));
    }
    Ok(Some(project.text))
}

/// Shows what the configuration file starts and asks the user whether to trust it; Ctrl-D means no. If not all of it
/// fits on the screen, the rest can be shown before the answer.
pub(crate) fn ask(asker: &Asker, file: &Path, project: &Project, store: &TrustStore) -> Result<bool, Failure> {
    let question = TrustQuestion::of(file, project, store);
    output::tell_stderr(&question.text);
    let whole = (!question.is_whole).then(|| Excerpt::all(&question.lines, columns()));
    let answers = if question.is_whole { "[y/n] " } else { "Type s to see all of it. [y/n/s] " };
    asker.agrees(format!("Start them, now and as long as this file stays as it is? {answers}"), whole)
}

/// Returns the text that precedes the question on trust, shortened to the height of the screen.
pub(crate) fn question(file: &Path, project: &Project, store: &TrustStore) -> String {
    TrustQuestion::of(file, project, store).text
}

/// The description of a configuration file that precedes the question on trust.
struct TrustQuestion {
    text: String,
    /// `true` if the text was not shortened.
    is_whole: bool,
    /// All lines of the description, not shortened.
    lines: Vec<String>,
}

/// Rows of the screen to reserve for the question and its answer below the description.
const ASKING: usize = 5;

impl TrustQuestion {
    fn of(file: &Path, project: &Project, store: &TrustStore) -> Self {
        let columns = columns();
        let head = in_rows(&format!(
            "{} belongs to this project, not to you, and starts these servers with your permissions:",
            word(&file.display().to_string())
        ));
        let mut foot = String::new();
        if project.has_programs_inside() {
            foot +=
                &format!("{}\n", in_rows("Programs in the project's folder can change later without a new question."));
        }
        // For a file that was trusted before, the changes are shown.
        let mut lines = Vec::new();
        if let Some(changes) = store.changes(project) {
            lines.push(format!("It has changed since you said yes on {}:", changes.since));
            match changes.lines.is_empty() {
                true => {
                    lines.push("in parts that are not shown here, such as time limits and hidden values".to_owned())
                }
                false => lines.extend(changes.lines),
            }
            lines.push("In all it starts:".to_owned());
        }
        lines.extend(project.starts());
        let taken = head.lines().count() + foot.lines().count() + ASKING;
        let excerpt = Excerpt::of(&lines, rows().saturating_sub(taken).max(3), columns);
        let mut text = format!("{head}\n{}", excerpt.text);
        if excerpt.left_out > 0 {
            text += &format!("  … {} of these {} lines are not shown\n", excerpt.left_out, lines.len());
        }
        TrustQuestion { text: text + &foot, is_whole: excerpt.is_whole, lines }
    }
}
