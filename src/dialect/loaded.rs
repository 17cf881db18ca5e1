//! Dialects that a program reads from files.
//!
//! A [`Dialect`](super::Dialect) is a small value that events, calls and settings carry, so what it stands for is kept
//! as long as the program runs. How many there can be is limited; a file that was read before is the same
//! dialect.

use std::sync::OnceLock;

use super::file::{self, DialectError};
use super::spec::Spec;

/// Maximum number of different dialect files that one program can load.
pub const MAX_LOADED: usize = 40;

/// A dialect that was loaded from a file, by its number in the order of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoadedDialect(usize);

#[derive(Debug)]
struct Loaded {
    /// The text of the file; a file with equal text is the same dialect.
    text: String,
    spec: Spec,
}

static LOADED: [OnceLock<Loaded>; MAX_LOADED] = [const { OnceLock::new() }; MAX_LOADED];

/// Loads the dialect that a file describes, whose name must be none of the names in `own`.
pub(super) fn load(text: &str, own: impl IntoIterator<Item = &'static str>) -> Result<LoadedDialect, DialectError> {
    if let Some(known) = all().find(|known| known.kept().text == text) {
        return Ok(known);
    }
    let spec = file::foreign(text)?;
    if own.into_iter().any(|own| own == spec.name) {
        let problem = format!("this program has a dialect `{}`: give this one another name", spec.name);
        return Err(DialectError::at("name", problem));
    }
    keep(Loaded { text: text.to_owned(), spec }).ok_or_else(|| {
        let problem = format!("{MAX_LOADED} files were read before: a program reads no more");
        DialectError::at(".", problem)
    })
}

/// Returns the dialects that were loaded from files, in the order of loading.
pub(super) fn all() -> impl DoubleEndedIterator<Item = LoadedDialect> {
    let read = LOADED.iter().enumerate().filter(|(_, kept)| kept.get().is_some());
    read.map(|(slot, _)| LoadedDialect(slot))
}

/// Stores a dialect in the first free slot; `None` if none is free.
fn keep(mut loaded: Loaded) -> Option<LoadedDialect> {
    for (slot, kept) in LOADED.iter().enumerate() {
        match kept.set(loaded) {
            Ok(()) => return Some(LoadedDialect(slot)),
            // The slot is taken, perhaps by another thread since the look above.
            Err(other) => loaded = other,
        }
    }
    None
}

impl LoadedDialect {
    fn kept(self) -> &'static Loaded {
        LOADED[self.0].get().expect("a dialect is known by its number once it is kept")
    }

    /// Returns the dialect's data from its file.
    pub(super) fn spec(self) -> &'static Spec {
        &self.kept().spec
    }

    /// Returns the dialect's number in the order of loading, from 0.
    pub(super) fn slot(self) -> usize {
        self.0
    }
}
