//! The tools of a catalog that words mean.

use std::sync::Arc;

use crate::tools::{Catalog, Said, Search};

impl Search {
    /// An index over the tools that the catalog's servers offer.
    pub fn new(catalog: &Catalog) -> Self {
        Search::over(catalog.offered())
    }
}

impl Catalog {
    /// An index over the tools that servers offer, made when first asked for.
    pub fn search(&self) -> &Search {
        self.search.get_or_init(|| Arc::new(Search::new(self)))
    }

    /// The likeliest tools that words mean, at most so many, the best first.
    #[cfg(feature = "prompt")]
    pub(crate) fn likeliest(&self, words: &str, most: usize) -> Vec<&crate::tools::Tool> {
        let offered: Vec<_> = self.offered().collect();
        self.search().find(words, most).into_iter().filter_map(|place| offered.get(place).copied()).collect()
    }

    /// The places among the [offered](Catalog::offered) tools of those that a conversation means, in
    /// the order in which they came up: the likeliest by its first question, those that were called,
    /// and the likeliest by a later question whose best is none of them yet. What is said later takes
    /// none away.
    pub fn meant(&self, said: &[Said<'_>]) -> Vec<usize> {
        self.search().meant(said, |server, name| {
            self.offered().position(|tool| tool.name == name && tool.server.as_deref() == server)
        })
    }
}
