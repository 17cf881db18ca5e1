//! What `toolgraft serve` learned of endpoints: models whose native calls fail, by the server's version.
//!
//! A file of the program's own, `learned.json` among those for state. One that cannot be read is as good
//! as none: what it holds is learned again.

use serde::{Deserialize, Serialize};
use toolgraft_mcp::files::{self, Mode};
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

/// Keeps what was learned of this endpoint, on a thread of its own.
pub(crate) fn keep(endpoint: &str, learned: Learned) {
    let entry = Entry { endpoint: place(endpoint), learned };
    std::thread::spawn(move || {
        let Some(path) = state::file("learned.json") else { return };
        let mut entries = entries();
        if entries.contains(&entry) {
            return;
        }
        entries.push(entry);
        let more = entries.len().saturating_sub(MOST);
        entries.drain(..more);
        // What cannot be written is learned again.
        if let (Some(folder), Ok(text)) = (path.parent(), serde_json::to_vec_pretty(&entries))
            && std::fs::create_dir_all(folder).is_ok()
        {
            let _ = files::replace(&path, &text, Mode::Private);
        }
    });
}
