//! Dialects whose openers hold a name, and what tells early that none of theirs begins.

use crate::dialect::{Dialect, Named, NamedCall};

/// A dialect whose openers hold a name.
#[derive(Debug)]
pub(crate) struct NamedDialect {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
    /// By bit, the bytes that stand second in what its calls and groups begin and end with.
    seconds: u128,
}

impl NamedDialect {
    pub(crate) fn new(dialect: Dialect, named: &'static Named) -> Self {
        let mut this = NamedDialect { dialect, named, seconds: 0 };
        this.seconds = this.marks().filter_map(|mark| mark.as_bytes().get(1).copied()).fold(0, |bits, b| bits | bit(b));
        this
    }

    /// Openers of its calls, and openers and closers of its groups, in each spelling.
    pub(crate) fn marks(&self) -> impl Iterator<Item = String> {
        let closers = self.named.groups.iter().map(|group| group.close.as_str());
        // Special tokens have another spelling.
        self.openers().chain(closers).flat_map(|mark| [mark.to_owned(), mark.replace('｜', "|")])
    }

    /// What closes its calls, in each spelling.
    pub(crate) fn closers(&self) -> impl Iterator<Item = String> {
        let closers = self.named.calls.iter().map(|call| call.close.as_str()).filter(|close| !close.is_empty());
        closers.flat_map(|mark| [mark.to_owned(), mark.replace('｜', "|")])
    }

    /// What its calls and groups begin with; a closer that counts wherever it stands, too.
    pub(crate) fn openers(&self) -> impl Iterator<Item = &'static str> {
        let heads = self.named.calls.iter().filter_map(NamedCall::opener);
        let groups = self.named.groups.iter().flat_map(|group| {
            let close = (!group.gated).then_some(group.close.as_str());
            [Some(group.open.as_str()), close].into_iter().flatten()
        });
        heads.chain(groups)
    }

    /// Whether something of it may begin with `text`.
    #[inline]
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        text.as_bytes().get(1).is_none_or(|second| self.seconds & bit(*second) != 0)
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

/// The bit of an ASCII byte; all others share one, that of NUL.
fn bit(byte: u8) -> u128 {
    1 << if byte.is_ascii() { byte } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Shape;

    #[test]
    fn all_that_begins_in_a_dialect_may_begin_in_any_spelling() {
        for dialect in Dialect::ALL {
            let Shape::Named(named) = &dialect.spec().shape else { continue };
            let named = NamedDialect::new(*dialect, named);
            for mark in named.marks() {
                for (end, _) in mark.char_indices() {
                    assert!(named.may_begin(&mark[..end]), "{}", &mark[..end]);
                }
            }
            assert!(!named.may_begin("<~") && !named.may_begin("< "), "{dialect:?}");
        }
    }
}
