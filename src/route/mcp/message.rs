//! A text of a server to a message, or to what is wrong with it.

use rmcp::RoleClient;
use rmcp::model::{CustomResult, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcVersion2_0, RequestId, ServerResult};
use rmcp::service::RxJsonRpcMessage;
use serde::de::{Deserializer, Error};
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

/// An answer with a result. It is kept as plain JSON: rmcp would try it as each kind
/// of result that there is, which costs more than all else in a call, and would lose
/// what it does not know.
#[derive(serde::Deserialize)]
struct Answer {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    result: Value,
    #[serde(default, rename = "method", deserialize_with = "not_here")]
    _method: (),
    #[serde(default, rename = "error", deserialize_with = "not_here")]
    _error: (),
}

/// Ends the reading at once where a field stands that an answer has not.
fn not_here<'de, D: Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    Err(D::Error::custom("not an answer with a result"))
}

/// Reads a message; an `Err` is text that is no JSON.
pub(super) fn message(text: &str) -> serde_json::Result<Heard> {
    if let Ok(Answer { id, result, .. }) = serde_json::from_str(text) {
        let result = ServerResult::CustomResult(CustomResult(result));
        return Ok(Heard::Message(Box::new(JsonRpcMessage::response(result, id))));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_json_that_came() {
        let result =
            r#"{"z":18446744073709551615,"isError":"no","content":[{"type":"text","text":"a","own":1.0}],"a":null}"#;
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
            format!(r#"{{"result":{result},"trace":[],"id":7,"jsonrpc":"2.0"}}"#),
        ] {
            let Ok(Heard::Message(message)) = message(&text) else { panic!("{text}") };
            let JsonRpcMessage::Response(answer) = *message else { panic!("{text}") };
            let ServerResult::CustomResult(plain) = answer.result else { panic!("{text}") };
            assert_eq!((answer.id, plain.0.to_string().as_str()), (RequestId::Number(7), result));
        }
    }

    #[test]
    fn what_is_more_than_an_answer_is_none() {
        for more in [r#""error":{"code":1,"message":"m"}"#, r#""method":"ping""#, r#""id":8"#] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{}},{more}}}"#);
            let is_answer =
                |heard: &Heard| matches!(heard, Heard::Message(m) if matches!(**m, JsonRpcMessage::Response(_)));
            assert!(!message(&text).is_ok_and(|heard| is_answer(&heard)), "{text}");
        }
    }
}
