//! Dialects whose openers hold a name.

use crate::dialect::{Dialect, Named, NamedCall};

/// A dialect whose openers hold a name.
#[derive(Debug)]
pub(crate) struct NamedDialect {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
}

impl NamedDialect {
    pub(crate) fn new(dialect: Dialect, named: &'static Named) -> Self {
        NamedDialect { dialect, named }
    }

    /// Returns the openers of its calls and groups; also a closer that counts wherever it is.
    pub(crate) fn openers(&self) -> impl Iterator<Item = &'static str> {
        let heads = self.named.calls.iter().filter_map(NamedCall::opener);
        let groups = self.named.groups.iter().flat_map(|group| {
            let close = (!group.gated).then_some(group.close.as_str());
            [Some(group.open.as_str()), close].into_iter().flatten()
        });
        heads.chain(groups)
    }

    /// Returns the closers of its calls and groups.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &'static str> {
        let groups = self.named.groups.iter().map(|group| group.close.as_str());
        let calls = self.named.calls.iter().map(|call| call.close.as_str());
        groups.chain(calls).filter(|close| close.starts_with(['<', '[']))
    }
}

/// A way to write calls that begins with a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineHead {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
    pub(crate) call: &'static NamedCall,
}

impl NamedDialect {
    /// Its ways to write calls that begin with a word.
    pub(crate) fn line_heads(&self) -> impl Iterator<Item = LineHead> {
        let NamedDialect { dialect, named, .. } = *self;
        let calls = named.calls.iter().filter(|call| call.word().is_some());
        calls.map(move |call| LineHead { dialect, named, call })
    }
}
