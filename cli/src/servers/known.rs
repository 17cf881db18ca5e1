//! The tools of servers as they were last seen, for a shell that completes them: `tools.json` among the
//! files for state. One that cannot be read is as good as none.

use std::collections::BTreeMap;

use toolgraft::Catalog;

use crate::base::state;

const FILE: &str = "tools.json";

/// Maximum number of saved servers; a change that would exceed it is not saved.
const MOST: usize = 200;

/// Names of tools, by the name of their server.
type Tools = BTreeMap<String, Vec<String>>;

/// Returns the saved names of tools, by the name of their server.
pub(crate) fn tools() -> Tools {
    state::read(FILE)
}

/// Saves the names of the tools in this catalog for shell completion. A write error is ignored.
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
