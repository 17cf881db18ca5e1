//! Dialects that a program reads from files.
//!
//! A [`Dialect`](super::Dialect) is a small value that events, calls and settings carry, so what it stands for is kept
//! as long as the program runs. How many there can be is limited; a file that was read before is the same
//! dialect.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use super::file::{self, DialectError};
use super::spec::Spec;

/// Different files that one program reads at most.
pub const MAX_LOADED: usize = 40;

/// A dialect that was read from a file.
#[derive(Debug, Clone, Copy)]
pub struct LoadedDialect(&'static Loaded);

#[derive(Debug)]
struct Loaded {
    /// Its number, in the order in which files were read.
    slot: usize,
    /// The file, by which it is known.
    text: String,
    spec: Spec,
}

static LOADED: [OnceLock<Loaded>; MAX_LOADED] = [const { OnceLock::new() }; MAX_LOADED];

/// The dialect that a file describes, whose name must be none of these.
pub(super) fn load(text: &str, own: impl IntoIterator<Item = &'static str>) -> Result<LoadedDialect, DialectError> {
    if let Some(known) = all().find(|loaded| loaded.0.text == text) {
        return Ok(known);
    }
    let spec = file::foreign(text)?;
    if own.into_iter().any(|own| own == spec.name) {
        let problem = format!("this program has a dialect `{}`: give this one another name", spec.name);
        return Err(DialectError::at("name", problem));
    }
    keep(Loaded { slot: 0, text: text.to_owned(), spec }).ok_or_else(|| {
        let problem = format!("{MAX_LOADED} files were read before: a program reads no more");
        DialectError::at(".", problem)
    })
}

/// The dialects that were read from files, the first one first.
pub(super) fn all() -> impl DoubleEndedIterator<Item = LoadedDialect> {
    LOADED.iter().filter_map(OnceLock::get).map(LoadedDialect)
}

/// Puts it into the first slot that is free.
fn keep(mut loaded: Loaded) -> Option<LoadedDialect> {
    for (slot, kept) in LOADED.iter().enumerate() {
        loaded.slot = slot;
        match kept.set(loaded) {
            Ok(()) => return kept.get().map(LoadedDialect),
            Err(other) => loaded = other,
        }
    }
    None
}

impl LoadedDialect {
    /// Returns the data of its file.
    pub(super) fn spec(self) -> &'static Spec {
        &self.0.spec
    }

    /// Its number, in the order in which files were read.
    pub(super) fn slot(self) -> usize {
        self.0.slot
    }
}

impl PartialEq for LoadedDialect {
    fn eq(&self, other: &Self) -> bool {
        self.0.slot == other.0.slot
    }
}

impl Eq for LoadedDialect {}

impl Hash for LoadedDialect {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.slot.hash(state);
    }
}

impl PartialOrd for LoadedDialect {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LoadedDialect {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.slot.cmp(&other.0.slot)
    }
}
