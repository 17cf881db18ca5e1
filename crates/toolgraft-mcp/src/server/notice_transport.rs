//! A transport that reports all messages to a program that wants to see them, records sent requests, and takes in
//! notices of changed lists, finished pages and log messages in the order in which the server sent them.
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
use crate::transport::wire::{WireSide, text_of};

/// A transport that shows all messages to the client in the order in which they are sent and received.
pub(super) struct NoticeTransport<T> {
    pub(super) transport: T,
    /// The client that records sent requests and handles notifications.
    pub(super) client: Client,
}

impl Client {
    /// Reports a message to the program if it wants to see all messages.
    fn report(&self, from: WireSide, text: impl FnOnce() -> Option<String>) {
        if let Some(wire) = &self.wire
            && let Some(text) = text()
        {
            wire.tell((&self.server, &self.hidden.in_errors), from, &text);
        }
    }

    /// Records a notification of the server: of a changed list or a completed page, or a log message, which counts even
    /// if rmcp does not know its level.
    fn notice(&self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ToolListChangedNotification(_)
            | ServerNotification::PromptListChangedNotification(_)
            | ServerNotification::ResourceListChangedNotification(_) => self.noticed.tell(),
            ServerNotification::LoggingMessageNotification(said) => {
                let said = serde_json::to_value(&said.params).unwrap_or_default();
                self.log.message(&said, &self.hidden.in_errors);
            }
            ServerNotification::CustomNotification(other) => {
                let params = other.params.as_ref().unwrap_or(&Value::Null);
                match (other.method.as_str(), params.get("elicitationId").and_then(Value::as_str)) {
                    ("notifications/message", _) => self.log.message(params, &self.hidden.in_errors),
                    ("notifications/elicitation/complete", Some(id)) => self.noticed.page_done(id),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for NoticeTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item {
            self.client.sent.send_if_modified(|sent| sent.insert(request.id.clone()));
        }
        self.client.report(WireSide::Client, || serde_json::to_string(&item).ok());
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        self.client.report(WireSide::Server, || text_of(&message));
        if let JsonRpcMessage::Notification(message) = &message {
            self.client.notice(&message.notification);
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}
