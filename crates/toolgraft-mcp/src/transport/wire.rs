//! What goes over the wire, shown to whoever wants to look: each message in either direction.
//!
//! The one tap of all transports. It stands where messages are whole, behind what repairs them and
//! in front of what understands them, so that stdio and HTTP look the same.

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

/// A message of MCP on its way, without the secrets of the server's entry. With serde it is a
/// line of a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireMessage {
    /// When it passed; in milliseconds since 1970.
    #[serde(rename = "at_ms", serialize_with = "unix_millis", deserialize_with = "of_unix_millis")]
    pub at: SystemTime,
    /// Name of the server in the configuration.
    pub server: String,
    /// Who sent it.
    pub from: WireSide,
    /// The JSON-RPC message, on one line. A result is the text that came; one that is no JSON is a
    /// string. An answer that nobody could read is an error with the code 2147483647; a request
    /// over HTTP+SSE that was refused because the session is lost has one with 2147483646.
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

/// Who looks at what passes.
#[derive(Clone)]
pub(crate) struct Wire(Arc<dyn Fn(WireMessage) + Send + Sync>);

impl Wire {
    /// Somebody who is told of each message, in the order of their passing. Messages wait meanwhile.
    pub(crate) fn new(look: impl Fn(WireMessage) + Send + Sync + 'static) -> Self {
        Wire(Arc::new(look))
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

/// The look at one server's connection.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    pub(crate) wire: Wire,
    pub(crate) server: String,
    /// What nobody is shown.
    pub(crate) secrets: Secrets,
}

impl Tap {
    /// A message on one line, without secrets; `None` for what is no JSON.
    fn line(&self, text: &str) -> Option<Box<RawValue>> {
        // The line breaks of a message stand between its tokens.
        let line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " ")).ok();
        line(&self.secrets.hide(text)).or_else(|| {
            // A secret may be more than the text of a string: a whole object, or a number.
            let mut value: Value = serde_json::from_str(text).ok()?;
            self.secrets.hide_in(&mut value);
            line(&value.to_string())
        })
    }

    /// Shows a message; a text that is no JSON is none.
    pub(crate) fn tell(&self, from: WireSide, text: &str) {
        if let Some(message) = self.line(text) {
            (self.wire.0)(WireMessage { at: SystemTime::now(), server: self.server.clone(), from, message });
        }
    }
}

/// A transport whose messages somebody may look at.
pub(crate) struct Tapped<T> {
    transport: T,
    tap: Option<Tap>,
}

impl<T> Tapped<T> {
    /// The same transport, and who looks at it.
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

/// A message of the server's as JSON. Most results are a text that nobody has read yet.
fn text_of(message: &RxJsonRpcMessage<RoleClient>) -> Option<String> {
    let JsonRpcMessage::Response(response) = message else { return serde_json::to_string(message).ok() };
    let result = match &response.result {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Some(text.as_str()),
        // What rmcp has read for itself has the text beside it.
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

    /// Gives these messages, and takes all.
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
