//! A counter whose zero and non-zero states can be awaited.

use tokio::sync::watch;

/// A counter; tasks can wait until it is zero, or until it is above zero.
#[derive(Default)]
pub(super) struct Count(watch::Sender<usize>);

/// Guard that adds one to a [`Count`] until it is dropped.
pub(super) struct CountGuard<'c>(&'c Count);

impl Count {
    /// Adds one to the count until the returned guard is dropped.
    pub(super) fn add(&self) -> CountGuard<'_> {
        self.0.send_modify(|count| *count += 1);
        CountGuard(self)
    }

    /// Returns `true` if the count is zero.
    pub(super) fn is_none(&self) -> bool {
        *self.0.borrow() == 0
    }

    /// Waits until the count is zero.
    pub(super) async fn none(&self) {
        // Cannot fail: `self` owns the sender.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Waits until the count is above zero.
    pub(super) async fn any(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count > 0).await;
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
