//! Reports each MCP message in either direction to a program that wants to see them.
//!
//! This is the one tap of all transports. It is placed where messages are complete, after they are
//! repaired and before they are interpreted, so that stdio and HTTP look the same.

use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::RoleClient;
use rmcp::model::{CustomResult, JsonRpcMessage, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::TEXT;
use super::log::{of_unix_millis, unix_millis};
use toolgraft::secrets::Secrets;

/// A message of MCP, without the secrets of the server's entry. Its serde form is a line of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireMessage {
    /// Time of the message; serialized in milliseconds since 1970.
    #[serde(rename = "at_ms", serialize_with = "unix_millis", deserialize_with = "of_unix_millis")]
    pub at: SystemTime,
    /// Name of the server in the configuration.
    pub server: String,
    /// The sender.
    pub from: WireSide,
    /// The JSON-RPC message, on one line. A result is the original text, or a string if that is not
    /// JSON. An unreadable answer is an error with the code 2147483647; a request over HTTP+SSE
    /// that was refused because the session is lost has an error with the code 2147483646.
    pub message: Box<RawValue>,
}

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a connection has two sides")]
pub enum WireSide {
    /// This program.
    Client,
    /// The MCP server.
    Server,
}

/// A callback for messages.
#[derive(Clone)]
pub(crate) struct Wire(Arc<dyn Fn(WireMessage) + Send + Sync>);

impl Wire {
    /// Creates it from a function, which is called for one message at a time, in order. The message
    /// waits for it.
    pub(crate) fn new(look: impl Fn(WireMessage) + Send + Sync + 'static) -> Self {
        Wire(Arc::new(look))
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

/// The tap of one server's connection.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    pub(crate) wire: Wire,
    pub(crate) server: String,
    /// Secrets that are hidden from the callback.
    pub(crate) secrets: Secrets,
}

impl Tap {
    /// Returns a message on one line, without secrets; `None` if it is not JSON.
    fn line(&self, text: &str) -> Option<Box<RawValue>> {
        // The line breaks of a message are between its tokens.
        let line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " ")).ok();
        line(&self.secrets.hide(text)).or_else(|| {
            // Hiding may break the JSON if a secret is more than the text of a string, such as a
            // number or a whole object.
            let mut value: Value = serde_json::from_str(text).ok()?;
            self.secrets.hide_in(&mut value);
            line(&value.to_string())
        })
    }

    /// Reports a message. Text that is not JSON is skipped.
    pub(crate) fn tell(&self, from: WireSide, text: &str) {
        if let Some(message) = self.line(text) {
            (self.wire.0)(WireMessage { at: SystemTime::now(), server: self.server.clone(), from, message });
        }
    }
}

/// A transport whose messages may be reported.
pub(crate) struct Tapped<T> {
    transport: T,
    tap: Option<Tap>,
}

impl<T> Tapped<T> {
    /// Wraps a transport; without a tap nothing is reported.
    pub(crate) fn new(transport: T, tap: Option<Tap>) -> Self {
        Tapped { transport, tap }
    }
}

impl<T> Deref for Tapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.transport
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tapped<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let Some(tap) = &self.tap
            && let Ok(text) = serde_json::to_string(&item)
        {
            tap.tell(WireSide::Client, &text);
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        if let Some(tap) = &self.tap
            && let Some(text) = text_of(&message)
        {
            tap.tell(WireSide::Server, &text);
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Returns a server's message as JSON. Most results are still unparsed text.
fn text_of(message: &RxJsonRpcMessage<RoleClient>) -> Option<String> {
    let JsonRpcMessage::Response(response) = message else { return serde_json::to_string(message).ok() };
    let result = match &response.result {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Some(text.as_str()),
        // A list that rmcp has parsed carries its text.
        ServerResult::ListToolsResult(list) => {
            list.meta.as_ref().and_then(|meta| meta.0.get(TEXT)).and_then(Value::as_str)
        }
        _ => None,
    };
    let Some(result) = result else { return serde_json::to_string(message).ok() };
    let id = serde_json::to_string(&response.id).ok()?;
    let result = match serde_json::from_str::<&RawValue>(result) {
        Ok(_) => result.to_owned(),
        Err(_) => Value::from(result).to_string(),
    };
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use rmcp::model::{ClientNotification, InitializedNotification, RequestId};

    use super::*;

    /// A transport that receives these messages and accepts all others.
    struct Script(Vec<RxJsonRpcMessage<RoleClient>>);

    impl Transport<RoleClient> for Script {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.0.pop()
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn each_message_is_shown_on_one_line_without_secrets() {
        let result = |text: &str, id| {
            let result = ServerResult::CustomResult(CustomResult(Value::from(text)));
            JsonRpcMessage::response(result, RequestId::Number(id))
        };
        let script = Script(vec![
            result("{\"a\":1}", 3),
            result("NaN", 2),
            result("{\n \"token\": \"key-234567\", \"n\": 1e400\n}", 1),
        ]);
        let seen = Arc::<Mutex<Vec<WireMessage>>>::default();
        let look = seen.clone();
        let wire = Wire::new(move |message| look.lock().unwrap_or_else(PoisonError::into_inner).push(message));
        let tap = Tap { wire, server: "s".to_owned(), secrets: Secrets::new(["key-234567", "{\"a\":1}"]) };
        let mut tapped = Tapped::new(script, Some(tap));
        let hello = ClientNotification::InitializedNotification(InitializedNotification::default());
        tapped.send(JsonRpcMessage::notification(hello)).await.unwrap();
        while tapped.receive().await.is_some() {}
        let lines: Vec<_> = seen.lock().unwrap().iter().map(|m| (m.from, m.message.get().to_owned())).collect();
        assert_eq!(lines[0].0, WireSide::Client);
        assert!(lines[0].1.contains("\"notifications/initialized\""), "{lines:?}");
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{  "token": "[redacted]", "n": 1e400 }}"#;
        assert_eq!(lines[1], (WireSide::Server, answer.to_owned()));
        assert_eq!(lines[2].1, r#"{"jsonrpc":"2.0","id":2,"result":"NaN"}"#);
        assert_eq!(lines[3].1, r#"{"jsonrpc":"2.0","id":3,"result":{"a":1}}"#, "a secret is no syntax");
        let line = serde_json::to_string(&seen.lock().unwrap()[1]).unwrap();
        assert_eq!(serde_json::from_str::<WireMessage>(&line).unwrap().message.get(), answer);
    }
}
