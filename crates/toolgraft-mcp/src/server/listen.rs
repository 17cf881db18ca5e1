//! Notices of changed lists from servers of the 2026-07-28 revision, which must be asked for
//! (`subscriptions/listen`). Earlier servers send them without a request.

use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::{Peer, RoleClient};

use super::connection::Connection;
use super::notices::Notices;

/// Time to wait before a subscription to change notifications that has ended is renewed.
const AGAIN: Duration = Duration::from_secs(5);

impl Connection {
    /// Subscribes to the server's change notifications for as long as the connection lasts, if the server has any that
    /// need a subscription.
    pub(super) fn listen(&self) {
        let Some(filter) = self.notices() else { return };
        let (peer, noticed, gone) = (self.peer.clone(), self.client.noticed.clone(), self.gone.clone());
        tokio::spawn(async move { gone.run_until_cancelled(listen(&peer, filter, &noticed)).await });
    }

    /// Returns the change notifications that the server supports and that need a subscription; `None` if there are
    /// none.
    fn notices(&self) -> Option<SubscriptionFilter> {
        let info = self.peer.peer_info().filter(|info| !info.protocol_version.has_initialize())?;
        let can = &info.capabilities;
        let mut filter = SubscriptionFilter::new();
        let wanted = |can: Option<bool>| can.filter(|can| *can);
        filter.tools_list_changed = wanted(can.tools.as_ref().and_then(|tools| tools.list_changed));
        filter.prompts_list_changed = wanted(can.prompts.as_ref().and_then(|prompts| prompts.list_changed));
        filter.resources_list_changed = wanted(can.resources.as_ref().and_then(|resources| resources.list_changed));
        (filter != SubscriptionFilter::new()).then_some(filter)
    }
}

/// Receives change notifications, and renews the subscription when it ends, until the server refuses it or has gone.
pub(super) async fn listen(peer: &Peer<RoleClient>, filter: SubscriptionFilter, noticed: &Notices) {
    while let Ok(mut subscription) = peer.listen(filter.clone()).await {
        // The transport has counted each notice before it arrives here.
        while let Ok(Some(_)) = subscription.next().await {}
        tokio::time::sleep(AGAIN).await;
        // A list may have changed while there was no subscription.
        noticed.tell();
    }
}
