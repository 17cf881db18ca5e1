//! What `serve` and `chat` learned of endpoints: models whose native calls fail, by the server's version.
//!
//! A file of the program's own, `learned.json` among those for state. One that cannot be read is as good
//! as none: what it holds is learned again.

use serde::{Deserialize, Serialize};
use toolgraft::turn::{KnownWays, NativeFault};
use toolgraft_mcp::files::{self, Lock, Mode};
use toolgraft_serve::Learned;

use super::saved_profiles::place;
use crate::base::state;

/// Entries that are kept; the oldest go.
const MOST: usize = 200;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    endpoint: String,
    #[serde(flatten)]
    learned: Learned,
}

fn entries() -> Vec<Entry> {
    let text = state::file("learned.json").and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// What was learned of this endpoint.
pub(crate) fn at(endpoint: &str) -> Vec<Learned> {
    entries().into_iter().filter(|entry| entry.endpoint == place(endpoint)).map(|entry| entry.learned).collect()
}

/// What native calls of the model fail at behind this version of its server, as far as it was learned.
pub(crate) fn faults(endpoint: &str, model: &str, version: &str) -> Vec<NativeFault> {
    let its = |learned: &Learned| learned.model == model && learned.version == version;
    at(endpoint).into_iter().filter(its).map(|learned| learned.fault).collect()
}

/// What was learned of the model behind this version of its server. What a chat learns of it is kept.
pub(crate) fn ways(endpoint: &str, model: &str, version: Option<&str>) -> KnownWays {
    let Some(version) = version.map(str::to_owned) else { return KnownWays::default() };
    let (place, name, its) = (endpoint.to_owned(), model.to_owned(), version.clone());
    // The chat's model goes without its name; others, of later rounds, may stand elsewhere.
    let known = KnownWays::telling(move |other, fault| {
        if other.is_none() {
            keep(&place, Learned::new(name.clone(), its.clone(), fault));
        }
    });
    faults(endpoint, model, &version).into_iter().for_each(|fault| known.recalls(&None, fault));
    known
}

/// Keeps what was learned of this endpoint. What cannot be written is learned again.
pub(crate) fn keep(endpoint: &str, learned: Learned) {
    let Some(path) = state::file("learned.json") else { return };
    let Some(folder) = path.parent().filter(|folder| std::fs::create_dir_all(folder).is_ok()) else { return };
    // Others may learn at the same time.
    let Ok(_lock) = Lock::wait(&folder.join("learned.lock")) else { return };
    let entry = Entry { endpoint: place(endpoint), learned };
    let mut entries = entries();
    if entries.contains(&entry) {
        return;
    }
    entries.push(entry);
    let more = entries.len().saturating_sub(MOST);
    entries.drain(..more);
    if let Ok(text) = serde_json::to_vec_pretty(&entries) {
        let _ = files::replace(&path, &text, Mode::Private);
    }
}
