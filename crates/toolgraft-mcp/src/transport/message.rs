//! Parses a server's text into messages, or into descriptions of what is wrong with it.
//!
//! Results are not parsed here, but passed on as JSON text. A number that is too large, or a lone
//! surrogate, therefore only affects whoever reads that result, and no message is lost. rmcp would try each kind of
//! result, which costs more than the rest of a call, and would lose digits and unknown members.

use std::collections::VecDeque;

use rmcp::RoleClient;
use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerRequest, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use super::scan::{self, JsonParts, one_line};
use toolgraft::wire::mend_surrogates;

/// JSON-RPC code of the errors that replace unreadable responses. A server that follows JSON-RPC cannot send it:
/// nothing above zero is reserved.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(i32::MAX);

/// JSON-RPC code of the errors for requests that a server refused because it has forgotten the session. Like
/// [`UNREADABLE`], a server cannot send it.
pub(crate) const SESSION_LOST: ErrorCode = ErrorCode(i32::MAX - 1);

/// Returns the description of a response that was dropped because it is longer than this number of bytes.
pub(crate) fn too_long(limit: usize) -> String {
    format!("an answer of more than {} MiB, which was dropped", limit / 1024 / 1024)
}

/// Beginning of the error message about a response that is truncated.
pub(crate) const BREAKS_OFF: &str = "a truncated answer";

/// A JSON-RPC message from a server.
pub(super) type Message = RxJsonRpcMessage<RoleClient>;

/// A part of a server's output: a message, or text that is none.
#[derive(Debug)]
pub(crate) enum ParsedMessage {
    /// A JSON-RPC message.
    Message(Box<Message>),
    /// Output that is not a usable message; the text describes it.
    Noise(String),
}

impl From<Message> for ParsedMessage {
    fn from(message: Message) -> Self {
        ParsedMessage::Message(Box::new(message))
    }
}

/// Error for JSON that is incomplete: more may follow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfinished;

/// Reads all messages of a text into `heard`: one, a batch, or several in a row. An `Err` means that the text is the
/// beginning of JSON.
pub(crate) fn read(text: &str, heard: &mut VecDeque<ParsedMessage>) -> Result<(), Unfinished> {
    let before = heard.len();
    let mut rest = text.trim_ascii();
    loop {
        match scan::parts(rest) {
            None => heard.push_back(noise(rest)),
            // Only the first value of a text may go on in the next line. One after a whole message is
            // truncated.
            Some(parts) if !parts.closed && heard.len() == before => return Err(Unfinished),
            Some(parts) if !parts.closed => {
                if !broken_off(rest, heard) {
                    heard.push_back(noise(rest));
                }
            }
            Some(parts) if parts.is_array => {
                batch(&parts, heard);
                if heard.len() == before {
                    heard.push_back(noise(rest));
                }
            }
            Some(parts) => {
                heard.push_back(object(&parts));
                if parts.rest.starts_with('{') {
                    rest = parts.rest;
                    continue;
                }
            }
        }
        return Ok(());
    }
}

/// Reads all messages of a text after which nothing follows into `heard`; incomplete JSON is truncated.
pub(crate) fn read_whole(text: &str, heard: &mut VecDeque<ParsedMessage>) {
    if read(text, heard) == Err(Unfinished) && !broken_off(text, heard) {
        heard.push_back(noise(text));
    }
}

/// Returns the messages of a text after which nothing follows.
pub(crate) fn messages(text: &str) -> impl Iterator<Item = Message> {
    let mut heard = VecDeque::new();
    read_whole(text, &mut heard);
    heard.into_iter().filter_map(|heard| match heard {
        ParsedMessage::Message(message) => Some(*message),
        ParsedMessage::Noise(_) => None,
    })
}

/// Reads a truncated text into `heard`: a response becomes an error for its request, and of a batch the complete
/// messages are read. Returns `false` if nothing could be read.
pub(crate) fn broken_off(text: &str, heard: &mut VecDeque<ParsedMessage>) -> bool {
    let before = heard.len();
    match scan::parts(text) {
        Some(parts) if parts.is_array => batch(&parts, heard),
        _ => heard.extend(failed(text, || format!("{BREAKS_OFF}: {}", one_line(text))).map(Into::into)),
    }
    heard.len() > before
}

/// Returns the error that replaces a response of which only the beginning is readable; `None` if the text has no `id`
/// or is no response.
pub(crate) fn failed(text: &str, what: impl FnOnce() -> String) -> Option<Message> {
    let parts = scan::parts(text).filter(|parts| !parts.is_array && parts.get("method").is_none())?;
    Some(unreadable(parts.get("id").and_then(id_of)?, what()))
}

/// Number of bytes that are kept of each end of a message that is too long, to search them for its `id`.
const EDGE: usize = 256;

/// A message that is too long to be kept: only its first and last bytes are known.
#[derive(Default)]
pub(crate) struct LongMessage {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl LongMessage {
    /// Adds the next bytes of the message, and empties the buffer `bytes`.
    pub(crate) fn push(&mut self, bytes: &mut Vec<u8>) {
        if self.head.is_empty() {
            self.head.extend(&bytes[..EDGE.min(bytes.len())]);
        }
        bytes.drain(..bytes.len().saturating_sub(EDGE));
        self.tail.append(bytes);
        self.tail.drain(..self.tail.len().saturating_sub(EDGE));
    }

    /// Returns the numeric `id` of a response that is too long; `None` if it is not found right after `jsonrpc` or at
    /// the very end, where servers write it.
    pub(crate) fn id(&self) -> Option<RequestId> {
        let compact = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<String>();
        let (head, tail) = (compact(&self.head), compact(&self.tail));
        // An event has the name of the field before its data.
        let head = head.strip_prefix("data:").unwrap_or(&head);
        let first = head.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":").or_else(|| head.strip_prefix("{\"id\":"));
        let digits = match first {
            Some(rest) => rest.split(',').next()?,
            None => tail.strip_suffix('}')?.trim_end_matches(",\"jsonrpc\":\"2.0\"").rsplit_once("\"id\":")?.1,
        };
        digits.trim_matches('"').parse().ok().map(RequestId::Number)
    }
}

/// Reads the messages of a batch into `heard`, each independently of the others.
fn batch(parts: &JsonParts<'_>, heard: &mut VecDeque<ParsedMessage>) {
    for (_, part) in &parts.all {
        // A batch cannot contain a batch or a truncated element.
        let parts = scan::parts(part).filter(|parts| !parts.is_array && parts.closed);
        heard.extend(parts.map(|parts| object(&parts)));
    }
}

/// Reads a JSON object as a JSON-RPC message as far as possible, even if it does not conform to the specification.
fn object(parts: &JsonParts<'_>) -> ParsedMessage {
    let text = parts.text;
    let ids: Vec<_> = parts.all_named("id").filter_map(id_of).collect();
    let error = parts.get("error").filter(|value| *value != "null");
    if let (false, [id], Some(result), None) =
        (parts.get("method").is_some(), ids.as_slice(), parts.get("result"), error)
    {
        let result = ServerResult::CustomResult(CustomResult(Value::from(result)));
        return JsonRpcMessage::response(result, id.clone()).into();
    }
    if let Some(message) = strictly(text).or_else(|| strictly(&scan::mended(text))) {
        return message.into();
    }
    let message = match (parts.get("method"), ids.as_slice(), error) {
        // Nobody waits for a message without an id.
        (_, [], _) => return noise(text),
        (Some(method), [id, ..], _) => {
            // Read by its method alone: rmcp refuses it, as each that it does not know.
            let method: String = serde_json::from_str(method).unwrap_or_default();
            let request = ServerRequest::CustomRequest(CustomRequest::new(method, None));
            JsonRpcMessage::request(request, id.clone())
        }
        (None, [id], Some(error)) => refusal(id, error).unwrap_or_else(|| {
            let what = format!("an answer that is not JSON-RPC (its error has no message): {}", one_line(text));
            unreadable(id.clone(), what)
        }),
        (None, [id], None) => {
            unreadable(id.clone(), format!("an answer with neither \"result\" nor \"error\": {}", one_line(text)))
        }
        (None, [id, ..], _) => unreadable(id.clone(), format!("an answer with several ids: {}", one_line(text))),
    };
    message.into()
}

/// Reads a message that conforms to the specification; `None` for another, and for a response with a result: one with
/// further members is ambiguous.
fn strictly(text: &str) -> Option<Message> {
    serde_json::from_str(text).ok().filter(|message| !matches!(message, JsonRpcMessage::Response(_)))
}

/// Reads a JSON-RPC error that is only wrong in other members than its message; `None` if it has no message.
fn refusal(id: &RequestId, error: &str) -> Option<Message> {
    let parts = scan::parts(error).filter(|parts| !parts.is_array)?;
    let message: String = serde_json::from_str(&mend_surrogates(parts.get("message")?)).ok()?;
    let code = parts.get("code").and_then(|code| serde_json::from_str(code).ok()).map_or(UNREADABLE, ErrorCode);
    // Data that no [`Value`] can hold, such as NaN or deep nesting, is kept as text.
    let text_of = |data: &str| serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
    let data = parts.get("data").map(|data| text_of(&scan::mended(data)));
    Some(JsonRpcMessage::error(ErrorData::new(code, message, data), Some(id.clone())))
}

/// Reads the id of a message; `None` if it is no string or whole number. Some servers turn `1` into `1.0`.
fn id_of(text: &str) -> Option<RequestId> {
    let text = mend_surrogates(text);
    let whole = || {
        let number = serde_json::from_str::<f64>(&text).ok().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok().map(RequestId::Number)
    };
    serde_json::from_str(&text).ok().or_else(whole)
}

/// Returns the error that replaces an unreadable response to the request `id`; `what` describes the response.
pub(crate) fn unreadable(id: RequestId, what: String) -> Message {
    JsonRpcMessage::error(ErrorData::new(UNREADABLE, format!("it sent {what}"), None), Some(id))
}

/// Returns the error for a request that the server refused with the message `why` because the session is lost.
pub(crate) fn session_lost(id: RequestId, why: String) -> Message {
    JsonRpcMessage::error(ErrorData::new(SESSION_LOST, why, None), Some(id))
}

pub(crate) fn noise(text: &str) -> ParsedMessage {
    ParsedMessage::Noise(format!("{:?}", one_line(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the messages of a text and returns results as `id: result`, errors as `id! message`.
    fn heard(text: &str) -> Vec<String> {
        let mut heard = VecDeque::new();
        read_whole(text, &mut heard);
        let told = |heard| match heard {
            ParsedMessage::Message(message) => match *message {
                JsonRpcMessage::Response(answer) => match answer.result {
                    ServerResult::CustomResult(CustomResult(Value::String(result))) => {
                        format!("{}: {result}", answer.id)
                    }
                    other => panic!("{other:?}"),
                },
                JsonRpcMessage::Error(error) => format!("{}! {}", error.id.unwrap(), error.error.message),
                other => serde_json::to_string(&other).unwrap(),
            },
            ParsedMessage::Noise(what) => format!("noise {what}"),
        };
        heard.into_iter().map(told).collect()
    }

    #[test]
    fn a_result_is_the_text_that_came() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for result in [
            r#"{"z":18446744073709551615,"isError":"no","content":[{"type":"text","text":"a","own":1.0}],"a":null}"#,
            r#"{"numbers":[0.1000000000000000055,12345678901234567890123,1E2,1.0,1e400]}"#,
            r#"{"half":"\ud83d"}"#,
            "\"text\"",
            "null",
            deep.as_str(),
        ] {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
                format!(r#" {{"result": {result} ,"trace":[{{"id":8}}],"id":7,"jsonrpc":"2.0"}}"#),
            ] {
                assert_eq!(heard(&text), [format!("7: {result}")]);
            }
        }
    }

    #[test]
    fn what_is_more_than_an_answer_is_none() {
        for more in [r#""error":{"code":1,"message":"m"}"#, r#""method":"ping""#, r#""id":8"#] {
            let told = heard(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{}},{more}}}"#));
            assert!(told.len() == 1 && !told[0].starts_with("7:"), "{told:?}");
        }
    }

    #[test]
    fn an_answer_is_known_by_its_own_id_whatever_stands_in_it() {
        let nan = r#"{"jsonrpc":"2.0","result":{"id":1,"a":NaN},"id":2}"#;
        assert_eq!(heard(nan), [r#"2: {"id":1,"a":NaN}"#]);
        assert_eq!(heard(r#"{"jsonrpc":"2.0","id":3.0,"result":-Infinity}"#), ["3: -Infinity"]);
        assert_eq!(heard(r#"{"jsonrpc":"2.0","id":"\ud83d","result":NaN}"#), ["\u{fffd}: NaN"]);
        assert_eq!(heard(r#"{"id":4,"result":{},"error":null}"#), ["4: {}"], "as JSON-RPC 1.0 has it");
        let neither = heard(r#"{"jsonrpc":"2.0","id":5,"resulting":{}}"#);
        assert!(neither[0].starts_with("5! it sent an answer with neither \"result\" nor \"error\": "), "{neither:?}");
        let half = heard(r#"{"jsonrpc":"2.0","id":6,"result":{"id":1,"content":[{"#);
        assert!(half[0].starts_with("6! it sent a truncated answer"), "{half:?}");
        assert!(heard(r#"{"jsonrpc":"2.0","result":{"id":1,"a":NaN}}"#)[0].starts_with("noise "), "no id of its own");
    }

    #[test]
    fn an_error_is_read_whatever_stands_beside_its_message() {
        let error = |error: &str| heard(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
        assert_eq!(error(r#"{"code":-32000,"message":"half \ud83d"}"#), ["1! half \u{fffd}"]);
        for data in ["NaN", "1e400", &"[".repeat(300).replace('[', "[[]],").replace("[[]],", "[")] {
            let closing = "]".repeat(data.matches('[').count());
            assert_eq!(error(&format!(r#"{{"code":-32000,"message":"no","data":{data}{closing}}}"#)), ["1! no"]);
        }
        assert!(error("\"no\"")[0].contains("that is not JSON-RPC"));
        assert!(error("{\"code\":NaN}")[0].contains("that is not JSON-RPC"));
    }

    #[test]
    fn each_message_of_a_batch_is_one() {
        let one = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":{id}}}}}"#);
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let nan = r#"{"jsonrpc":"2.0","id":9,"result":NaN}"#;
        let told = heard(&format!("[{}, {nan},\n{}, 5, [{}]]", one(1), one(2), one(3)));
        assert_eq!(told, [r#"1: {"n":1}"#, "9: NaN", r#"2: {"n":2}"#]);
        assert_eq!(heard(&format!("{}{nan} {}", one(1), one(2))).len(), 3, "several on one line");
        for text in ["[]", "[INFO] ready", "[1,2]", "[[[[", &format!("{}1{}", "[".repeat(5000), "]".repeat(5000))] {
            let told = heard(text);
            assert!(told.len() == 1 && told[0].starts_with("noise "), "{told:?}");
        }
        assert!(heard(notice).len() == 1);
    }

    #[test]
    fn a_request_that_cannot_be_read_is_one_without_parameters() {
        let request = r#"{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":null}"#;
        assert_eq!(heard(r#"{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":NaN}"#), [request]);
        assert_eq!(heard(r#"{"id":4,"method":"sampling/createMessage","params":3}"#), [request]);
    }
}
