//! How much of something goes on, and who waits for it to begin or to end.

use tokio::sync::watch;

/// How many there are now.
#[derive(Default)]
pub(super) struct Count(watch::Sender<usize>);

/// One of them, until it is dropped.
pub(super) struct Counted<'c>(&'c Count);

impl Count {
    /// Adds one, until what is returned is dropped.
    pub(super) fn add(&self) -> Counted<'_> {
        self.0.send_modify(|count| *count += 1);
        Counted(self)
    }

    /// Whether there is none.
    pub(super) fn is_none(&self) -> bool {
        *self.0.borrow() == 0
    }

    /// Waits until there is none.
    pub(super) async fn none(&self) {
        // The sender is here.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Waits until there is one.
    pub(super) async fn any(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count > 0).await;
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
