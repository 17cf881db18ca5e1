//! The trials that are already done, so that a probe that was stopped continues.
//!
//! A file for each endpoint, model and conditions (tasks, prompts, length of answers, built-in profile), in the program's state folder.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::score;
use crate::base::{Failure, digest::sha256, output::warn, state};
use toolgraft_files::{self as files, Mode};

/// The outcome of one task or job, as it is stored in the file of a probe.
pub(crate) trait StoredTrial: Serialize + DeserializeOwned {
    /// Returns `true` if the other trial is of the same task or job.
    fn is_of(&self, other: &Self) -> bool;
}

impl StoredTrial for score::Trial {
    fn is_of(&self, other: &Self) -> bool {
        self.task == other.task
    }
}

/// The stored trials of one model, for each way to offer tools.
#[derive(Debug, Default)]
pub(crate) struct ProbeStore<T = score::Trial> {
    path: Option<PathBuf>,
    content: Content<T>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content<T> {
    /// SHA-256 hash of the conditions of the trials (tasks, prompts, length of answers, profile).
    conditions: String,
    model: String,
    endpoint: String,
    cells: Vec<(Cell, Vec<T>)>,
}

impl<T> Content<T> {
    fn new(conditions: String, model: &str, endpoint: &str) -> Self {
        let (model, endpoint) = (model.to_owned(), endpoint.to_owned());
        Content { conditions, model, endpoint, cells: Vec::new() }
    }
}

impl ProbeStore {
    /// Returns the stored trial of a task with this way to offer tools, if there is one.
    pub(crate) fn trial(&self, cell: Cell, task: usize) -> Option<&score::Trial> {
        self.trials(cell).iter().find(|trial| trial.task == task)
    }
}

impl<T: StoredTrial> ProbeStore<T> {
    /// Opens the stored trials of this model at this endpoint under the same conditions; empty if there are none.
    pub(crate) fn open(endpoint: &str, model: &str, conditions: &str) -> Self {
        let conditions = sha256(conditions.as_bytes());
        let name = sha256(format!("{endpoint}\n{model}\n{conditions}").as_bytes());
        let path = state::file(&format!("probe/{}.json", &name[..16]));
        let fresh = Content::new(conditions, model, endpoint);
        let known = path.as_deref().and_then(read);
        // The name of the file has a part of the hash only.
        let content = known.filter(|known| known.conditions == fresh.conditions).unwrap_or(fresh);
        ProbeStore { path, content }
    }

    /// Returns the stored trials of a way to offer tools; empty if there are none.
    pub(crate) fn trials(&self, cell: Cell) -> &[T] {
        let found = self.content.cells.iter().find(|(known, _)| *known == cell);
        found.map(|(_, trials)| trials.as_slice()).unwrap_or_default()
    }

    /// Adds a trial in place of an earlier one of the same task or job, and writes the file.
    ///
    /// # Errors
    /// The file of stored trials cannot be written.
    pub(crate) fn add(&mut self, cell: Cell, trial: T) -> Result<(), Failure> {
        let all = &mut self.content.cells;
        match all.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, trials)) => {
                trials.retain(|before| !before.is_of(&trial));
                trials.push(trial);
            }
            None => all.push((cell, vec![trial])),
        }
        let Some(path) = &self.path else { return Ok(()) };
        // Whole or not at all: a probe may be stopped at any moment.
        let written = serde_json::to_vec(&self.content).map_err(std::io::Error::from);
        let written = written.and_then(|content| files::replace(path, &content, Mode::Private));
        written.map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
    }
}

fn read<T: StoredTrial>(path: &Path) -> Option<Content<T>> {
    let text = std::fs::read_to_string(path).ok()?;
    let read = serde_json::from_str(&text);
    if let Err(error) = &read {
        warn(&format!("{} cannot be read ({error}): the probe starts again", path.display()));
    }
    read.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::Trial;

    #[test]
    fn what_was_tried_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("probe/x.json");
        let cell = Cell::all(None)[1];
        let content = Content::new("t".to_owned(), "m", "e");
        let mut store = ProbeStore { path: Some(path.clone()), content };
        store.add(cell, Trial { task: 4, right: true, ..Trial::default() }).unwrap();
        store.add(cell, Trial { task: 5, ..Trial::default() }).unwrap();
        let again: Content<Trial> = read(&path).unwrap();
        assert_eq!((again.conditions.as_str(), again.cells.len()), ("t", 1));
        let store = ProbeStore { path: Some(path.clone()), content: again };
        let has = |cell, task| store.trial(cell, task).is_some();
        assert!(has(cell, 4) && has(cell, 5) && !has(cell, 6) && !has(Cell::Native, 4));
        std::fs::write(&path, "{").unwrap();
        assert!(read::<Trial>(&path).is_none());
    }
}
