//! What a server says of its lists, and of pages that a person is done with: how much of it came,
//! and who waits for it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{Notify, watch};

/// Pages that are remembered as done: the last ones.
const PAGES: usize = 64;

/// Notices of changed lists, and of pages that a person is done with.
pub(super) struct Noticed {
    changed: Notify,
    /// How many came.
    told: watch::Sender<u64>,
    /// How many of them the lists hold that were read last.
    listed: watch::Sender<u64>,
    /// Told when a call waits for the lists.
    awaited: Notify,
    /// The ids of pages that somebody is done with.
    pages: watch::Sender<VecDeque<String>>,
}

impl Default for Noticed {
    fn default() -> Self {
        let none = || watch::Sender::new(0);
        let pages = watch::Sender::default();
        Noticed { changed: Notify::new(), told: none(), listed: none(), awaited: Notify::new(), pages }
    }
}

impl Noticed {
    /// Takes a notice.
    pub(super) fn tell(&self) {
        self.told.send_modify(|told| *told += 1);
        self.changed.notify_one();
    }

    /// Somebody is done with a page.
    pub(super) fn page_done(&self, id: &str) {
        self.pages.send_modify(|pages| {
            pages.push_back(id.to_owned());
            let excess = pages.len().saturating_sub(PAGES);
            pages.drain(..excess);
        });
    }

    /// Waits until somebody is done with these pages, or for so long: a server need not say so.
    pub(super) async fn pages_done(&self, ids: &[&str], limit: Duration) {
        let mut pages = self.pages.subscribe();
        let all = |done: &VecDeque<String>| !ids.is_empty() && ids.iter().all(|id| done.iter().any(|page| page == id));
        let _ = tokio::time::timeout(limit, pages.wait_for(all)).await;
    }

    /// How many came so far. Lists that are read after this hold what they were about.
    pub(super) fn so_far(&self) -> u64 {
        *self.told.borrow()
    }

    /// The lists hold what so many notices were about.
    pub(super) fn has_listed(&self, notices: u64) {
        self.listed.send_replace(notices);
    }

    /// Waits until the lists hold all notices up to now.
    pub(super) async fn settled(&self) {
        let told = self.so_far();
        let mut listed = self.listed.subscribe();
        if *listed.borrow_and_update() >= told {
            return;
        }
        self.awaited.notify_one();
        // The sender lives as long as `self`.
        let _ = listed.wait_for(|listed| *listed >= told).await;
    }

    /// Waits until a list has changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Waits until a call waits for the lists, which are then read soon: models do not call often.
    /// A call that began to wait while they were being read counts for the next time, too.
    pub(super) async fn awaited(&self) {
        self.awaited.notified().await;
    }

    /// Forgets what was told so far: all lists are read after this.
    pub(super) fn forget(&self) {
        let mut said = std::pin::pin!(self.changed.notified());
        said.as_mut().enable();
    }
}
