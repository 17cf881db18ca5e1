//! The limits on calls, and on beginnings of calls, in a message.

use crate::parse::config::Limits;

/// The remaining budget of calls.
#[derive(Debug, Default)]
pub(crate) struct CallBudget {
    /// Most calls in a message.
    pub(super) limit: usize,
    /// So many more beginnings of calls are looked at.
    pub(crate) openings: usize,
    /// Calls that were reported: the index of the one that is reported next.
    pub(super) index: u32,
    /// A call over the limit was reported as such: no further one is read.
    pub(crate) limit_reported: bool,
    /// That was taken back once, when it turned out to be a draft.
    unsaid: bool,
}

impl CallBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        CallBudget { limit: limits.calls, openings: limits.openings(), ..CallBudget::default() }
    }

    /// A call may begin here, and is looked at; `false` where no further one is.
    pub(crate) fn takes_opening(&mut self) -> bool {
        let takes = self.openings > 0;
        self.openings -= usize::from(takes);
        takes
    }

    /// Returns `true` if no further one is: no opener counts from here on, and no call of this message runs
    /// any more that did not come before.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.openings == 0 || self.limit_reported
    }

    /// The call that was reported as over the limit is a draft: calls are read again.
    pub(super) fn unsay_limit(&mut self) {
        if !std::mem::replace(&mut self.unsaid, true) {
            self.limit_reported = false;
        }
    }
}
