//! A transport that records sent requests, and takes in notices of changed lists, finished pages
//! and log messages in the order in which the server sent them.
//!
//! rmcp runs each notification handler in a task of its own, so that the answer to a call may reach
//! its caller before a notice that was sent earlier. Notices are therefore counted as messages
//! arrive.

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;

use super::connection::Client;
use super::states::ServerEventKind;

/// Method of the notification that the user is done with a page.
const PAGE_DONE: &str = "notifications/elicitation/complete";

/// A transport that records requests and notices of changed lists, and keeps log messages.
pub(super) struct NoticeTransport<T> {
    pub(super) transport: T,
    /// Receives the changes, and keeps the log.
    pub(super) client: Client,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for NoticeTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            self.client.sent.add(request.id.clone());
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        if tells_of_a_list(&message) {
            self.client.noticed.tell();
        }
        if let Some(uri) = updated(&message) {
            self.client.states.tell(&self.client.server, ServerEventKind::ResourceUpdated { uri });
        }
        if let Some(id) = page_done(&message) {
            self.client.noticed.page_done(id);
        }
        if let Some(said) = log_message(&message) {
            self.client.log.message(&said, &self.client.hidden.in_errors);
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Returns the parameters of a log message, even if rmcp does not know its level.
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

/// Returns the URI of the resource that has changed.
fn updated(message: &RxJsonRpcMessage<RoleClient>) -> Option<String> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    match &message.notification {
        ServerNotification::ResourceUpdatedNotification(updated) => Some(updated.params.uri.clone()),
        _ => None,
    }
}

/// Returns the id of the page that the user is done with.
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
