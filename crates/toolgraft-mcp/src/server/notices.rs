//! Notices of a server about changed lists and finished pages: counts them and wakes those who
//! wait.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{Notify, watch};

/// Maximum number of pages completed by the user whose ids are remembered; the oldest is dropped.
const PAGES: usize = 64;

/// The notifications of a server about changed lists, and about pages that the user has completed.
#[derive(Default)]
pub(super) struct Notices {
    /// Number of notifications of changed lists that were received.
    told: watch::Sender<u64>,
    /// Number of notifications of changed lists that were received before the lists were last read.
    listed: watch::Sender<u64>,
    /// Notified when a call waits until the lists are read again.
    awaited: Notify,
    /// The ids of the pages that the user has completed.
    pages: watch::Sender<VecDeque<String>>,
}

impl Notices {
    /// Records a notification of a changed list.
    pub(super) fn tell(&self) {
        self.told.send_modify(|told| *told += 1);
    }

    /// Records that the user has completed the page with this id.
    pub(super) fn page_done(&self, id: &str) {
        self.pages.send_modify(|pages| {
            pages.push_back(id.to_owned());
            let excess = pages.len().saturating_sub(PAGES);
            pages.drain(..excess);
        });
    }

    /// Waits until the user has completed the pages with these ids, at most for `limit`: a server need not report it.
    pub(super) async fn pages_done(&self, ids: &[&str], limit: Duration) {
        let mut pages = self.pages.subscribe();
        // A page without an id is never reported as done, so its time has to pass.
        let all = |done: &VecDeque<String>| !ids.is_empty() && ids.iter().all(|id| done.iter().any(|page| page == id));
        let _ = tokio::time::timeout(limit, pages.wait_for(all)).await;
    }

    /// Returns the number of notifications of changed lists that were received. Lists that are read from now on contain
    /// the changes that they reported.
    pub(super) fn so_far(&self) -> u64 {
        *self.told.borrow()
    }

    /// Records that the lists, as they were read, contain the changes of this number of notifications.
    pub(super) fn has_listed(&self, notices: u64) {
        self.listed.send_replace(notices);
    }

    /// Waits until the lists were read again with the changes of all notifications received up to now.
    pub(super) async fn settled(&self) {
        let told = self.so_far();
        let mut listed = self.listed.subscribe();
        if *listed.borrow_and_update() >= told {
            return;
        }
        self.awaited.notify_one();
        // Cannot fail: `self` owns the sender.
        let _ = listed.wait_for(|listed| *listed >= told).await;
    }

    /// Waits for a notification of a change that the lists do not contain yet.
    pub(super) async fn changed(&self) {
        let listed = *self.listed.borrow();
        // Cannot fail: `self` owns the sender.
        let _ = self.told.subscribe().wait_for(|told| *told > listed).await;
    }

    /// Waits until a call waits for the lists. They are then read soon, since models do not call often. A call that
    /// began to wait while the lists were read counts for the next reading too.
    pub(super) async fn awaited(&self) {
        self.awaited.notified().await;
    }
}
