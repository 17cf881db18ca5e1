//! How many calls, and beginnings of calls, a message may have.

use crate::parse::config::Limits;

/// What is left of the limits on calls, and what was left out because of them.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Most calls in a message.
    limit: usize,
    /// So many more beginnings of calls are looked at.
    openings: usize,
    /// Calls that were reported: the index of the one that is reported next.
    pub(super) index: u32,
    /// Calls over the limit that are not reported.
    pub(super) unlisted: u64,
    /// A call over the limit was reported as such: no further one is.
    pub(super) limit_said: bool,
    /// That was taken back once, when it turned out to be a draft.
    unsaid: bool,
    /// A call that is not reported stands outside the reasoning, and is no example.
    unlisted_outside: bool,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Budget { limit: limits.calls, openings: limits.openings(), ..Budget::default() }
    }

    /// A call may begin here, and is looked at; `false` where no further one is.
    pub(crate) fn takes_opening(&mut self) -> bool {
        let takes = self.openings > 0;
        self.openings -= usize::from(takes);
        takes
    }

    /// How many more beginnings of calls are looked at.
    pub(crate) fn openings(&self) -> usize {
        self.openings
    }

    /// Whether no further one is: no opener counts from here on, and no call of this message runs
    /// any more that did not come before.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.openings == 0
    }

    /// Whether the limit was passed before the call of this index.
    pub(super) fn is_over(&self, index: u32) -> bool {
        index as usize > self.limit
    }

    /// The call of this index, the next one, is reported. `is_certain`: it is no draft, no example
    /// and the model's own.
    pub(super) fn reports(&mut self, index: u32, is_certain: bool) {
        self.limit_said |= index as usize >= self.limit && is_certain;
    }

    /// It was.
    pub(super) fn reported(&mut self) {
        self.index += 1;
    }

    /// Counts calls that are not reported. `outside`: they are neither drafts nor examples.
    pub(super) fn leave_out(&mut self, calls: u64, outside: bool) {
        self.unlisted += calls;
        self.unlisted_outside |= calls > 0 && outside;
    }

    /// The call that was reported as over the limit is a draft, and so are those behind it.
    pub(super) fn unsay_limit(&mut self) {
        if !std::mem::replace(&mut self.unsaid, true) {
            self.limit_said = false;
        }
        self.unlisted_outside = false;
    }

    /// Whether a call may have been meant that nobody looked for, or that is not reported.
    pub(super) fn hides_calls(&self) -> bool {
        self.is_spent() || self.unlisted_outside
    }
}
