//! Dialects that a program reads from files.
//!
//! A [`Dialect`](super::Dialect) is a small value that events, calls and settings carry, so what it stands for is kept
//! as long as the program runs. How many there can be is limited; a file that was read before is the same
//! dialect.

use std::sync::OnceLock;

use super::file::{self, DialectError};
use super::spec::Spec;

/// Different files that one program reads at most.
pub const MAX_LOADED: usize = 40;

/// A dialect that was read from a file, by its number in the order in which files were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoadedDialect(usize);

#[derive(Debug)]
struct Loaded {
    /// The file, by which it is known.
    text: String,
    spec: Spec,
}

static LOADED: [OnceLock<Loaded>; MAX_LOADED] = [const { OnceLock::new() }; MAX_LOADED];

/// Returns the dialect that a file describes, whose name must be none of these.
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

/// Returns the dialects that were read from files, the first one first.
pub(super) fn all() -> impl DoubleEndedIterator<Item = LoadedDialect> {
    let read = LOADED.iter().enumerate().filter(|(_, kept)| kept.get().is_some());
    read.map(|(slot, _)| LoadedDialect(slot))
}

/// Puts it into the first slot that is free.
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

    /// Returns the data of its file.
    pub(super) fn spec(self) -> &'static Spec {
        &self.kept().spec
    }

    /// Returns its number, in the order in which files were read.
    pub(super) fn slot(self) -> usize {
        self.0
    }
}
