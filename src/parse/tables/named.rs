//! Dialects whose openers hold a name.

use crate::dialect::{Dialect, Named, NamedCall};

/// A dialect whose openers hold a name.
#[derive(Debug)]
pub(crate) struct NamedDialect {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
}

/// A way to write calls of such a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedForm {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
    pub(crate) call: &'static NamedCall,
}

impl NamedDialect {
    /// Returns the openers of its calls and groups.
    pub(crate) fn begins(&self) -> impl Iterator<Item = &'static str> {
        let heads = self.named.calls.iter().filter_map(NamedCall::opener);
        heads.chain(self.named.groups.iter().map(|group| group.open.as_str()))
    }

    /// Returns the same, and the closers that count wherever they are.
    pub(crate) fn openers(&self) -> impl Iterator<Item = &'static str> {
        let anywhere = self.named.groups.iter().filter(|group| !group.gated);
        self.begins().chain(anywhere.map(|group| group.close.as_str()))
    }

    /// Returns the closers of its calls and groups.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &'static str> {
        let groups = self.named.groups.iter().map(|group| group.close.as_str());
        let calls = self.named.calls.iter().map(|call| call.close.as_str());
        groups.chain(calls).filter(|close| close.starts_with(['<', '[']))
    }

    /// Returns its ways to write calls that begin with a word.
    pub(crate) fn line_heads(&self) -> impl Iterator<Item = NamedForm> {
        let NamedDialect { dialect, named } = *self;
        let calls = named.calls.iter().filter(|call| call.word().is_some());
        calls.map(move |call| NamedForm { dialect, named, call })
    }
}
