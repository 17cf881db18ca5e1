//! The tools of servers as they were last seen, for a shell that completes them: `tools.json` among the
//! files for state. One that cannot be read is as good as none.

use std::collections::BTreeMap;

use toolgraft::Catalog;

use crate::base::state;

const FILE: &str = "tools.json";

/// Number of saved servers above which all are forgotten but those that were just seen.
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
            learn(known, seen);
            true
        });
    }
}

/// Adds the servers that were just seen, with their tools, to the saved ones. If these are too many, the others are
/// forgotten.
fn learn(known: &mut Tools, seen: Tools) {
    known.extend(seen.clone());
    if known.len() > MOST {
        *known = seen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_very_many_servers_the_last_seen_ones_are_known() {
        let server = |n: usize| (n.to_string(), vec!["read".to_owned()]);
        let mut known = Tools::new();
        (0..MOST).for_each(|n| learn(&mut known, Tools::from([server(n)])));
        assert_eq!(known.len(), MOST);
        learn(&mut known, Tools::from([server(MOST)]));
        assert_eq!(known, Tools::from([server(MOST)]));
    }
}
