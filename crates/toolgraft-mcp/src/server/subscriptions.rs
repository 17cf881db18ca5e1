//! Subscriptions to resources: the server reports when one of them has changed
//! (`notifications/resources/updated`).
//!
//! In 2025-11-25 the client subscribes with `resources/subscribe`, since 2026-07-28 with a
//! subscription stream.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{CustomRequest, SubscriptionFilter};
use serde_json::json;

use super::connection::Connection;
use super::listen::listen;
use super::request::RequestError;

/// The subscribed URIs of one server; they outlast its restarts.
#[derive(Debug, Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<BTreeSet<String>>>);

impl Subscriptions {
    /// Adds a URI, and returns `true` if it is new.
    pub(super) fn add(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.to_owned())
    }

    /// Returns all URIs, to renew the subscriptions after a restart.
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Connection {
    /// Subscribes to changes of this resource. Returns `false` if the server does not support it.
    pub(crate) async fn follow(&self, uri: &str) -> Result<bool, RequestError> {
        let resources = self.peer.peer_info().and_then(|info| info.capabilities.resources.clone());
        if resources.and_then(|can| can.subscribe) != Some(true) {
            return Ok(false);
        }
        if self.is_of_initialize() {
            let request = CustomRequest::new("resources/subscribe", Some(json!({ "uri": uri })));
            self.request(request.into(), self.limits.call).await?;
            return Ok(true);
        }
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = Some(vec![uri.to_owned()]);
        let (peer, noticed, gone) = (self.peer.clone(), self.client.noticed.clone(), self.gone.clone());
        tokio::spawn(async move { gone.run_until_cancelled(listen(&peer, filter, &noticed)).await });
        Ok(true)
    }
}
