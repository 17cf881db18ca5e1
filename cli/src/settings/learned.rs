//! The findings of `serve` and `chat` on endpoints: whether native calls of a model work, by the server's version.
//!
//! A file of the program's own, `learned.json` among those for state. One that cannot be read is as good
//! as none: what it holds is learned again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolgraft::model::{NativeFault, NativeTrials};
use toolgraft::turn::KnownWays;
use toolgraft_serve::Learned;

use super::saved_profiles::place;
use crate::base::state;

const FILE: &str = "learned.json";

/// Maximum number of saved entries; the oldest are removed.
const MOST: usize = 200;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct LearnedEntry {
    endpoint: String,
    #[serde(flatten)]
    learned: Learned,
}

/// Returns the saved results about native calls of all models at this endpoint.
pub(crate) fn at(endpoint: &str) -> Vec<Learned> {
    let entries: Vec<LearnedEntry> = state::read(FILE);
    entries.into_iter().filter(|entry| entry.endpoint == place(endpoint)).map(|entry| entry.learned).collect()
}

/// Returns the saved result about a model's native calls with this server version: `None` if there is none,
/// `Some(None)` if they work.
pub(crate) fn found(endpoint: &str, model: &str, version: &str) -> Option<Option<NativeFault>> {
    Learned::found(&at(endpoint), model, version)
}

/// Saved results on native calls at the endpoint with this URL; trials read and add results, which other processes use
/// as well.
struct LearnedTrials(String);

impl NativeTrials for LearnedTrials {
    fn known(&self, model: &str, version: &str) -> Option<Option<NativeFault>> {
        found(&self.0, model, version)
    }

    fn keep(&self, model: &str, version: &str, fault: Option<NativeFault>) {
        keep(&self.0, Learned::new(model, version, fault));
    }
}

/// Returns the storage for trials of native calls at this endpoint.
pub(crate) fn trials(endpoint: &str) -> Arc<dyn NativeTrials> {
    Arc::new(LearnedTrials(endpoint.to_owned()))
}

/// Returns the known faults of native calls of a model with this server version; faults found later are saved. Empty
/// without a version.
pub(crate) fn ways(endpoint: &str, model: &str, version: Option<&str>) -> KnownWays {
    let Some(version) = version.map(str::to_owned) else { return KnownWays::default() };
    let (place, name, its) = (endpoint.to_owned(), model.to_owned(), version.clone());
    // The chat's model goes without its name; others, of later rounds, may be elsewhere.
    let known = KnownWays::telling(move |other, fault| {
        if other.is_none() {
            keep(&place, Learned::new(name.clone(), its.clone(), Some(fault)));
        }
    });
    if let Some(fault) = found(endpoint, model, &version).flatten() {
        known.recalls(&None, fault);
    }
    known
}

/// Saves a result about native calls at this endpoint. A write error is ignored, since the result can be found again.
pub(crate) fn keep(endpoint: &str, learned: Learned) {
    let entry = LearnedEntry { endpoint: place(endpoint), learned };
    state::change(FILE, |entries: &mut Vec<LearnedEntry>| {
        let is_new = !entries.contains(&entry);
        entries.extend(is_new.then_some(entry));
        let more = entries.len().saturating_sub(MOST);
        entries.drain(..more);
        is_new
    });
}
