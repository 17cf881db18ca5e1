//! The limits on calls, and on beginnings of calls, in a message.

use crate::parse::config::Limits;

/// Remaining budget of calls, and of beginnings of calls, in a message.
#[derive(Debug, Default)]
pub(crate) struct CallBudget {
    /// Maximum number of calls in a message.
    pub(super) limit: usize,
    /// Number of further beginnings of calls that are examined.
    pub(crate) openings: usize,
    /// Number of calls reported so far, which is the index of the next one.
    pub(super) index: u32,
    /// `true` once a call over the limit was reported as such: no further call is read.
    pub(crate) limit_reported: bool,
    /// `true` if `limit_reported` was reset once, since that call turned out to be a draft.
    unsaid: bool,
}

impl CallBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        CallBudget { limit: limits.calls, openings: limits.openings(), ..CallBudget::default() }
    }

    /// Uses up one beginning of a call from the budget; returns `false` if none is left, so that it is not examined.
    pub(crate) fn takes_opening(&mut self) -> bool {
        let takes = self.openings > 0;
        self.openings -= usize::from(takes);
        takes
    }

    /// Returns `true` if the budget is exhausted: later openers are text, and no later call of this message runs.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.openings == 0 || self.limit_reported
    }

    /// Resets `limit_reported`, at most once, if the call over the limit is only a draft: calls are read again.
    pub(super) fn unsay_limit(&mut self) {
        if !std::mem::replace(&mut self.unsaid, true) {
            self.limit_reported = false;
        }
    }
}
