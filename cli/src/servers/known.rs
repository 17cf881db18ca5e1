//! The tools of servers as they were last seen, for a shell that completes them: `tools.json` among the
//! files for state. One that cannot be read is as good as none.

use std::collections::BTreeMap;

use toolgraft::Catalog;

use crate::base::state;

const FILE: &str = "tools.json";

/// Servers that are kept at most. More are other people's test runs.
const MOST: usize = 200;

/// The names of tools by those of servers.
type Tools = BTreeMap<String, Vec<String>>;

/// Returns the names of the tools that are known.
pub(crate) fn tools() -> Tools {
    state::read(FILE)
}

/// Keeps the names of these tools. What is not kept is not completed.
pub(super) fn keep(catalog: &Catalog) {
    let mut seen = Tools::new();
    for tool in catalog.tools() {
        if let Some(server) = &tool.server {
            seen.entry(server.clone()).or_default().push(tool.name.clone());
        }
    }
    let known = tools();
    if seen.iter().any(|(server, tools)| known.get(server) != Some(tools)) {
        state::change(FILE, |known: &mut Tools| {
            known.extend(seen);
            known.len() <= MOST
        });
    }
}
