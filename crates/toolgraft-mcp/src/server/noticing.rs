//! Requests that were sent; and notices of changed lists and of finished pages, and log messages, taken in the order
//! in which a server sends them.
//!
//! rmcp runs each handler of a notification as a task of its own: the answer to a call may reach
//! its caller before the notice that stood in front of it. So they are counted where messages
//! come in.

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;

use super::connection::Client;
use super::states::ServerEventKind;

/// Notices that a person is done with a page.
const PAGE_DONE: &str = "notifications/elicitation/complete";

/// A transport whose requests and notices of changed lists are noted, and whose log messages are kept.
pub(super) struct Noticing<T> {
    pub(super) transport: T,
    /// Who is told of what changes, and keeps the log.
    pub(super) client: Client,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Noticing<T> {
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
