//! A text of a server to a message, or to what is wrong with it.

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use super::http::line;

/// Code of the errors that stand for answers that cannot be read. No server can send
/// it by the rules of JSON-RPC, which reserves nothing above zero.
pub(super) const UNREADABLE: ErrorCode = ErrorCode(i32::MAX);

/// What a server wrote.
#[derive(Debug)]
pub(super) enum Heard {
    /// A message.
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// An error for no request: a message, and what it says.
    Complaint(Box<RxJsonRpcMessage<RoleClient>>, String),
    /// A request that makes no sense, to be refused.
    Senseless(RequestId),
    /// Something that nobody can use; the text says what.
    Noise(String),
}

/// Reads a message; an `Err` is text that is no JSON.
pub(super) fn message(text: &str) -> serde_json::Result<Heard> {
    let error = match serde_json::from_str::<RxJsonRpcMessage<RoleClient>>(text) {
        Ok(JsonRpcMessage::Error(error)) if error.id.is_none() => {
            let what = format!("an error for no request: {}", line(&error.error.message));
            return Ok(Heard::Complaint(Box::new(JsonRpcMessage::Error(error)), what));
        }
        Ok(message) => return Ok(Heard::Message(Box::new(message))),
        Err(error) => error,
    };
    let value: Value = serde_json::from_str(text)?;
    let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    Ok(match (value.get("method").is_some(), id) {
        (true, Some(id)) => Heard::Senseless(id),
        (false, Some(id)) if value.get("result").is_some() || value.get("error").is_some() => {
            unreadable(id, format!("an answer that is no JSON-RPC ({error}): {}", line(text)))
        }
        _ => noise(text),
    })
}

/// An error in place of an answer.
pub(super) fn unreadable(id: RequestId, what: String) -> Heard {
    let error = ErrorData::new(UNREADABLE, format!("it sent {what}"), None);
    Heard::Message(Box::new(JsonRpcMessage::error(error, Some(id))))
}

pub(super) fn noise(text: &str) -> Heard {
    Heard::Noise(format!("{:?}", line(text)))
}
