//! Reports each MCP message in either direction to a program that wants to see them.
//!
//! Messages are reported where they are complete, after they are repaired and before they are
//! interpreted, so that stdio and HTTP look the same.

use std::sync::Arc;
use std::time::SystemTime;

use rmcp::RoleClient;
use rmcp::model::{CustomResult, JsonRpcMessage, ServerResult};
use rmcp::service::RxJsonRpcMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::TEXT;
use super::log::{of_unix_millis, unix_millis};
use toolgraft::secrets::Secrets;

/// An MCP message in either direction, without the secrets of the server's entry. Its serde form is a line of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireMessage {
    /// Time at which the message was sent or received; serialized in milliseconds since 1970.
    #[serde(rename = "at_ms", serialize_with = "unix_millis", deserialize_with = "of_unix_millis")]
    pub at: SystemTime,
    /// Name of the server in the configuration.
    pub server: String,
    /// The side of the connection that sent the message.
    pub from: WireSide,
    /// The JSON-RPC message, on one line. A result is the original text, or a string if that is not JSON. An unreadable
    /// response is an error with the code 2147483647; a request over HTTP+SSE that was refused because the session is
    /// lost has an error with the code 2147483646.
    pub message: Box<RawValue>,
}

/// A side of a connection between this program and an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a connection has two sides")]
pub enum WireSide {
    /// The client: this program.
    Client,
    /// The MCP server.
    Server,
}

/// A callback that receives each MCP message in either direction.
#[derive(Clone)]
pub(crate) struct Wire(Arc<dyn Fn(WireMessage) + Send + Sync>);

impl Wire {
    /// Creates the callback from a function, which is called for one message at a time, in order. The message waits for
    /// it.
    pub(crate) fn new(look: impl Fn(WireMessage) + Send + Sync + 'static) -> Self {
        Wire(Arc::new(look))
    }

    /// Reports a message from or to a server, without these secrets. Text that is not JSON is skipped.
    pub(crate) fn tell(&self, (server, secrets): (&str, &Secrets), from: WireSide, text: &str) {
        if let Some(message) = line(text, secrets) {
            (self.0)(WireMessage { at: SystemTime::now(), server: server.to_owned(), from, message });
        }
    }
}

/// Returns the JSON text of a message on one line, without secrets; `None` if it is not JSON.
fn line(text: &str, secrets: &Secrets) -> Option<Box<RawValue>> {
    // The line breaks of a message are between its tokens.
    let line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " ")).ok();
    line(&secrets.hide(text)).or_else(|| {
        // Hiding may break the JSON if a secret is more than the text of a string, such as a
        // number or a whole object.
        let mut value: Value = serde_json::from_str(text).ok()?;
        secrets.hide_in(&mut value);
        line(&value.to_string())
    })
}

/// Returns the JSON text of a message from a server; `None` if it cannot be serialized. Most results are still unparsed
/// text.
pub(crate) fn text_of(message: &RxJsonRpcMessage<RoleClient>) -> Option<String> {
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

    use rmcp::model::RequestId;

    use super::*;

    #[test]
    fn each_message_is_shown_on_one_line_without_secrets() {
        let result = |text: &str, id| {
            let result = ServerResult::CustomResult(CustomResult(Value::from(text)));
            text_of(&JsonRpcMessage::response(result, RequestId::Number(id))).unwrap()
        };
        let seen = Arc::<Mutex<Vec<WireMessage>>>::default();
        let look = seen.clone();
        let wire = Wire::new(move |message| look.lock().unwrap_or_else(PoisonError::into_inner).push(message));
        let secrets = Secrets::new(["key-234567", "{\"a\":1}"]);
        for (id, text) in [(1, "{\n \"token\": \"key-234567\", \"n\": 1e400\n}"), (2, "NaN"), (3, "{\"a\":1}")] {
            wire.tell(("s", &secrets), WireSide::Server, &result(text, id));
        }
        let lines: Vec<_> = seen.lock().unwrap().iter().map(|m| m.message.get().to_owned()).collect();
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{  "token": "[redacted]", "n": 1e400 }}"#;
        assert_eq!(lines[0], answer);
        assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":2,"result":"NaN"}"#);
        assert_eq!(lines[2], r#"{"jsonrpc":"2.0","id":3,"result":{"a":1}}"#, "a secret is no syntax");
        let line = serde_json::to_string(&seen.lock().unwrap()[0]).unwrap();
        assert_eq!(serde_json::from_str::<WireMessage>(&line).unwrap().message.get(), answer);
    }
}
