//! The tools of servers as they were last seen, for a shell that completes them: `tools.json` among the
//! files for state. One that cannot be read is as good as none.

use std::collections::BTreeMap;

use toolgraft::Catalog;
use toolgraft_mcp::files::{self, Mode};

use crate::base::state;

const FILE: &str = "tools.json";

/// Servers that are kept at most. More are other people's test runs.
const MOST: usize = 200;

/// The names of tools by those of servers.
pub(crate) fn tools() -> BTreeMap<String, Vec<String>> {
    let text = state::file(FILE).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Keeps the names of these tools.
pub(super) fn keep(catalog: &Catalog) {
    let known = tools();
    let mut now = known.clone();
    let mut seen: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in catalog.tools() {
        if let Some(server) = &tool.server {
            seen.entry(server).or_default().push(tool.name.clone());
        }
    }
    now.extend(seen.into_iter().map(|(server, tools)| (server.to_owned(), tools)));
    let Some(path) = state::file(FILE).filter(|_| now != known && now.len() <= MOST) else { return };
    let is_there = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if let Some(text) = serde_json::to_vec(&now).ok().filter(|_| is_there) {
        // What is not kept is not completed.
        let _ = files::replace(&path, &text, Mode::Private);
    }
}
