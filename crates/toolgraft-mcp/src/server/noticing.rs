//! Notices of changed lists and of finished pages, and log messages, taken in the order in which a server sends them.
//!
//! rmcp runs each handler of a notification as a task of its own: the answer to a call may reach
//! its caller before the notice that stood in front of it. So they are counted where messages
//! come in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Notify, watch};

use super::states::{ServerEventKind, States};
use crate::transport::log::Log;
use toolgraft::secrets::Secrets;

/// Notices that a person is done with a page.
const PAGE_DONE: &str = "notifications/elicitation/complete";

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
    fn page_done(&self, id: &str) {
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

/// A transport whose notices of changed lists are counted, and whose log messages are kept.
pub(super) struct Noticing<T> {
    pub(super) transport: T,
    pub(super) noticed: Arc<Noticed>,
    pub(super) log: Arc<Log>,
    /// Who is told of changed resources, and of whose.
    pub(super) states: Arc<States>,
    pub(super) server: String,
    /// What does not stand in the log.
    pub(super) secrets: Secrets,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Noticing<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        if tells_of_a_list(&message) {
            self.noticed.tell();
        }
        if let Some(uri) = updated(&message) {
            self.states.tell(&self.server, ServerEventKind::ResourceUpdated { uri });
        }
        if let Some(id) = page_done(&message) {
            self.noticed.page_done(id);
        }
        if let Some(said) = log_message(&message) {
            self.log.message(&said, &self.secrets);
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// The parameters of a log message, whether rmcp knows its level or not.
fn log_message(message: &RxJsonRpcMessage<RoleClient>) -> Option<Value> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    match &message.notification {
        ServerNotification::LoggingMessageNotification(said) => serde_json::to_value(&said.params).ok(),
        ServerNotification::CustomNotification(other) if other.method == "notifications/message" => {
            Some(other.params.clone().unwrap_or_default())
        }
        _ => None,
    }
}

/// The resource that has changed.
fn updated(message: &RxJsonRpcMessage<RoleClient>) -> Option<String> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    match &message.notification {
        ServerNotification::ResourceUpdatedNotification(updated) => Some(updated.params.uri.clone()),
        _ => None,
    }
}

/// The id of the page that somebody is done with.
fn page_done(message: &RxJsonRpcMessage<RoleClient>) -> Option<&str> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    let ServerNotification::CustomNotification(other) = &message.notification else { return None };
    (other.method == PAGE_DONE).then(|| other.params.as_ref()?.get("elicitationId")?.as_str())?
}

fn tells_of_a_list(message: &RxJsonRpcMessage<RoleClient>) -> bool {
    let JsonRpcMessage::Notification(message) = message else { return false };
    matches!(
        message.notification,
        ServerNotification::ToolListChangedNotification(_)
            | ServerNotification::PromptListChangedNotification(_)
            | ServerNotification::ResourceListChangedNotification(_)
    )
}
