//! Finds the tools of a catalog that words suggest.

use std::sync::Arc;

use crate::tools::{Catalog, Said, Search};

impl Search {
    /// Creates an index over the tools that the catalog's servers offer.
    pub fn new(catalog: &Catalog) -> Self {
        Search::over(catalog.offered())
    }
}

impl Catalog {
    /// Returns an index over the tools that servers offer, built on first use.
    pub fn search(&self) -> &Search {
        self.search.get_or_init(|| Arc::new(Search::new(self)))
    }

    /// Returns the tools that match these words best, at most `most`, the best first.
    #[cfg(feature = "prompt")]
    pub(crate) fn likeliest(&self, words: &str, most: usize) -> Vec<&crate::tools::Tool> {
        let offered: Vec<_> = self.offered().collect();
        self.search().find(words, most).into_iter().filter_map(|place| offered.get(place).copied()).collect()
    }

    /// Returns the indices among the [offered](Catalog::offered) tools of those that a conversation suggests, in the
    /// order in which they came up: the likeliest by its first question, those that were called, and the likeliest by a
    /// later question whose best tool is not among them yet. Later messages never remove a tool.
    pub fn meant(&self, said: &[Said<&str>]) -> Vec<usize> {
        self.search().meant(said, |server, name| {
            self.offered().position(|tool| tool.name == name && tool.server.as_deref() == server)
        })
    }
}
