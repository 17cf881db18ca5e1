//! Answers requests from a record: what the server sent to which request, and when it is sent again.
//!
//! ```text
//! record ─▶ exchanges: a request, and what the server sent from then until the next one
//! a request ─▶ the exchange that fits ─▶ its messages, in order ─┐
//!                                  a request of the server's waits for its answer ┘
//! ```
//!
//! Ids and progress tokens are the client's of now. Everything else is as it was recorded.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use toolgraft::secrets::REDACTED;
use toolgraft_mcp::{WireMessage, WireSide};

/// JSON-RPC: there is no such method, or it does not take these parameters.
const NO_METHOD: i64 = -32601;
const NO_PARAMS: i64 = -32602;
const NO_JSON: i64 = -32700;

/// The parameter of the first request that says which version the client speaks.
const VERSION: &str = "protocolVersion";

/// The server of a record.
#[derive(Debug)]
pub(crate) struct Player {
    /// The name of the record.
    place: String,
    exchanges: Vec<Exchange>,
    /// Exchanges that are being replayed and wait for answers of the client.
    open: Vec<Open>,
}

/// A recorded request, and what the server sent until the next one.
#[derive(Debug, Clone)]
struct Exchange {
    method: String,
    params: Value,
    id: Value,
    /// The server's messages, its answer among them.
    said: Vec<Value>,
    is_answered: bool,
    is_used: bool,
}

/// An exchange that is played.
#[derive(Debug)]
struct Open {
    rest: VecDeque<Value>,
    /// The request of the server's that is to be answered first.
    awaits: Option<Value>,
}

impl Player {
    /// Reads a record; of several servers that one.
    pub(crate) fn read(text: &str, place: &str, server: Option<&str>) -> Result<Self, String> {
        let mut lines: Vec<WireMessage> = Vec::new();
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let read = serde_json::from_str(line);
            lines.push(read.map_err(|e| {
                format!("{place}:{}: not a line of a record: {e}; `mcp-recorder record` writes one", n + 1)
            })?);
        }
        let mut names: Vec<&str> = lines.iter().map(|line| line.server.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let name = match (server, names.as_slice()) {
            (_, []) => return Err(format!("{place} is empty: it records nothing")),
            (None, [one]) => (*one).to_owned(),
            (Some(server), names) if names.contains(&server) => server.to_owned(),
            (Some(server), names) => {
                return Err(format!("{place} has no server {server:?}; there are: {}", names.join(", ")));
            }
            (None, names) => {
                return Err(format!("{place} has several servers: name one with --server: {}", names.join(", ")));
            }
        };
        let mut player = Player { place: place.to_owned(), exchanges: Vec::new(), open: Vec::new() };
        for line in lines.iter().filter(|line| line.server == name) {
            let message = serde_json::from_str(line.message.get()).map_err(|e| format!("{place}: {e}"))?;
            player.take(line.from, message);
        }
        Ok(player)
    }

    /// Takes a message of the record.
    fn take(&mut self, from: WireSide, message: Value) {
        let (id, method) = (message.get("id").cloned(), message.get("method").and_then(Value::as_str));
        match (from, id, method) {
            (WireSide::Client, Some(id), Some(method)) => {
                let params = message.get("params").cloned().unwrap_or_default();
                let (method, said) = (method.to_owned(), Vec::new());
                self.exchanges.push(Exchange { method, params, id, said, is_answered: false, is_used: false });
            }
            (WireSide::Client, ..) => {}
            (WireSide::Server, Some(id), None) => {
                let asked = self.exchanges.iter_mut().rev().find(|exchange| exchange.id == id && !exchange.is_answered);
                if let Some(exchange) = asked {
                    exchange.is_answered = true;
                    exchange.said.push(message);
                }
            }
            (WireSide::Server, ..) => {
                if let Some(exchange) = self.told_of(&message) {
                    exchange.said.push(message);
                }
            }
        }
    }

    /// The exchange that a message belongs to: the one whose progress it tells, or whose
    /// subscription it is of, else the last one.
    fn told_of(&mut self, message: &Value) -> Option<&mut Exchange> {
        let (token, id) = (message.pointer(PROGRESS), message.pointer(SUBSCRIPTION));
        let fits = |exchange: &Exchange| {
            token.is_some() && token == exchange.params.pointer(TOKEN) || id == Some(&exchange.id)
        };
        let at = self.exchanges.iter().rposition(fits).or_else(|| self.exchanges.len().checked_sub(1))?;
        self.exchanges.get_mut(at)
    }

    /// Takes a line of the client's; what the server says then.
    pub(crate) fn hear(&mut self, line: &str) -> Vec<Value> {
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => return vec![refusal(&Value::Null, NO_JSON, &format!("not JSON: {error}"))],
        };
        match (message.get("id").filter(|id| !id.is_null()), message.get("method").and_then(Value::as_str)) {
            (Some(id), Some(method)) => self.asked(id, method, &message),
            (Some(id), None) => self.answered(id),
            (None, _) => Vec::new(),
        }
    }

    /// Answers a request.
    fn asked(&mut self, id: &Value, method: &str, message: &Value) -> Vec<Value> {
        let params = message.get("params").cloned().unwrap_or_default();
        let Some(exchange) = self.exchange(method, &params) else {
            return vec![self.made_up(id, method, &params)];
        };
        let token = params.pointer(TOKEN).or(exchange.params.pointer(TOKEN)).unwrap_or(&Value::Null);
        let said = exchange.said.iter().map(|said| renewed(said.clone(), id, token));
        let rest = said.map(|said| agreed(said, &exchange, &params));
        self.open.push(Open { rest: rest.collect(), awaits: None });
        self.play()
    }

    /// The first exchange of this request that was not played yet, else the last that was.
    fn exchange(&mut self, method: &str, params: &Value) -> Option<Exchange> {
        let fits = |exchange: &Exchange| exchange.method == method && exchange.takes(params);
        let first = self.exchanges.iter().position(|exchange| !exchange.is_used && fits(exchange));
        let at = first.or_else(|| self.exchanges.iter().rposition(fits)).or_else(|| self.first_of(method))?;
        self.exchanges[at].is_used = true;
        Some(self.exchanges[at].clone())
    }

    /// The first exchange of a handshake, whatever a client says of itself.
    fn first_of(&self, method: &str) -> Option<usize> {
        let is_handshake = matches!(method, "initialize" | "server/discover");
        self.exchanges.iter().rposition(|exchange| is_handshake && exchange.is_answered && exchange.method == method)
    }

    /// The answer to a request that is not in the record.
    fn made_up(&self, id: &Value, method: &str, params: &Value) -> Value {
        if method == "ping" {
            return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
        }
        let discovered = self.exchanges.iter().find(|exchange| exchange.method == "server/discover");
        let discovered = discovered.and_then(|exchange| exchange.said.iter().find_map(|said| said.get("result")));
        // The record is of a later client.
        if let (Some(found), "initialize") = (discovered, method) {
            let mut result = Map::new();
            for key in ["capabilities", "serverInfo", "instructions"] {
                result.extend(found.get(key).map(|value| (key.to_owned(), value.clone())));
            }
            result.extend(params.get(VERSION).map(|version| (VERSION.to_owned(), version.clone())));
            return json!({ "jsonrpc": "2.0", "id": id, "result": result });
        }
        let place = &self.place;
        match self.exchanges.iter().any(|exchange| exchange.method == method) {
            true => refusal(id, NO_PARAMS, &format!("{method} with these parameters is not in the record {place}")),
            false => refusal(id, NO_METHOD, &format!("{method} is not in the record {place}")),
        }
    }

    /// The client has answered a request of the server's.
    fn answered(&mut self, id: &Value) -> Vec<Value> {
        if let Some(open) = self.open.iter_mut().find(|open| open.awaits.as_ref() == Some(id)) {
            open.awaits = None;
        }
        self.play()
    }

    /// Says what waits for nothing any more.
    fn play(&mut self) -> Vec<Value> {
        let mut said = Vec::new();
        for open in &mut self.open {
            while open.awaits.is_none()
                && let Some(message) = open.rest.pop_front()
            {
                if message.get("method").is_some() {
                    open.awaits = message.get("id").cloned();
                }
                said.push(message);
            }
        }
        self.open.retain(|open| open.awaits.is_some());
        said
    }
}

/// JSON pointers by which a server's message names the request that it belongs to.
const PROGRESS: &str = "/params/progressToken";
const SUBSCRIPTION: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

/// JSON pointer by which a request names the token under which the server reports its progress.
const TOKEN: &str = "/_meta/progressToken";

impl Exchange {
    /// Returns `true` if a request with these parameters matches this one. A client's description of itself is ignored.
    fn takes(&self, params: &Value) -> bool {
        fits(&own(&self.params), &own(params))
    }
}

/// Parameters without what stands beside them.
fn own(params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(fields) = params.as_object_mut() {
        fields.remove("_meta");
    }
    if params.as_object().is_some_and(Map::is_empty) { Value::Null } else { params }
}

/// Returns `true` if a value equals the recorded one, in which any text may replace a redacted secret.
fn fits(recorded: &Value, asked: &Value) -> bool {
    match (recorded, asked) {
        (Value::String(recorded), Value::String(asked)) => fits_text(recorded, asked),
        (Value::Array(recorded), Value::Array(asked)) => {
            recorded.len() == asked.len() && recorded.iter().zip(asked).all(|(recorded, asked)| fits(recorded, asked))
        }
        (Value::Object(recorded), Value::Object(asked)) => {
            recorded.len() == asked.len()
                && recorded.iter().all(|(key, value)| asked.get(key).is_some_and(|asked| fits(value, asked)))
        }
        (recorded, asked) => recorded == asked,
    }
}

fn fits_text(recorded: &str, asked: &str) -> bool {
    let Some((head, recorded)) = recorded.split_once(REDACTED) else { return recorded == asked };
    let Some(mut rest) = asked.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = recorded.split(REDACTED).collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A message of the server's with the id and the token of the client's request of now.
fn renewed(mut message: Value, id: &Value, token: &Value) -> Value {
    // A question of the server's has an id of its own.
    let answer = if message.get("method").is_none() { "/id" } else { SUBSCRIPTION };
    for (place, new) in [(answer, id), (PROGRESS, token)] {
        if let Some(found) = message.pointer_mut(place) {
            *found = new.clone();
        }
    }
    message
}

/// The answer to `initialize` agrees to the version that the client asks for, where the record's
/// client had asked for another.
fn agreed(mut message: Value, recorded: &Exchange, params: &Value) -> Value {
    if recorded.method == "initialize"
        && let Some(asked) = params.get(VERSION).filter(|asked| recorded.params.get(VERSION) != Some(asked))
        && let Some(answer) = message.pointer_mut("/result/protocolVersion")
    {
        *answer = asked.clone();
    }
    message
}

fn refusal(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"
{"at_ms":1,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a"}}}}
{"at_ms":1,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":7,"result":{"protocolVersion":"2025-06-18"}}}
{"at_ms":2,"server":"s","from":"client","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"at_ms":3,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x","arguments":{"path":"[redacted]/a/[redacted].txt"},"_meta":{"progressToken":0}}}}
{"at_ms":3,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y"}}}
{"at_ms":4,"server":"s","from":"server","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1}}}
{"at_ms":4,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}}
{"at_ms":4,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":0,"result":{"content":[]}}}
{"at_ms":4,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}}
{"at_ms":4,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"n":1}}}
{"at_ms":5,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"y"}}}
{"at_ms":5,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"busy"}}}
{"at_ms":6,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"silent"}}}
"#;

    fn heard(player: &mut Player, line: &str) -> Vec<String> {
        player.hear(line).iter().map(Value::to_string).collect()
    }

    fn call(id: u8, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    }

    #[test]
    fn equal_requests_are_answered_in_their_order_and_the_last_answer_stays() {
        let mut player = Player::read(RECORD, "r", None).unwrap();
        let y = |player: &mut Player, id| heard(player, &call(id, r#"{"name":"y","_meta":{"progressToken":9}}"#));
        let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
        assert_eq!(y(&mut player, 40), [question], "the answer waits for the client's");
        let answer = r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}"#;
        assert_eq!(heard(&mut player, answer), [r#"{"jsonrpc":"2.0","id":40,"result":{"n":1}}"#]);
        for id in [41, 42] {
            assert_eq!(
                y(&mut player, id),
                [format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"busy"}}}}"#)]
            );
        }
    }

    #[test]
    fn progress_comes_before_the_answer_by_the_names_of_now_and_silence_is_played_too() {
        let mut player = Player::read(RECORD, "r", None).unwrap();
        let params = r#"{"name":"x","arguments":{"path":"/home/me/a/b.txt"},"_meta":{"progressToken":"p"}}"#;
        let said = heard(&mut player, &call(50, params));
        let progress =
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#;
        assert_eq!(said, [progress, r#"{"jsonrpc":"2.0","id":50,"result":{"content":[]}}"#]);
        assert!(heard(&mut player, &call(52, r#"{"name":"silent"}"#)).is_empty());
        assert_eq!(
            heard(&mut player, &call(51, r#"{"name":"z"}"#)),
            [
                r#"{"jsonrpc":"2.0","id":51,"error":{"code":-32602,"message":"tools/call with these parameters is not in the record r"}}"#
            ]
        );
    }

    #[test]
    fn a_version_that_was_not_recorded_is_agreed_to() {
        let mut player = Player::read(RECORD, "r", None).unwrap();
        let mut version = |asked: &str| {
            let params = format!(r#"{{"protocolVersion":"{asked}","clientInfo":{{"name":"b"}}}}"#);
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
            player.hear(&line)[0]["result"][VERSION].as_str().unwrap().to_owned()
        };
        assert_eq!((version("2025-11-25"), version("2024-11-05")), ("2025-06-18".into(), "2024-11-05".into()));
        let refused = heard(&mut player, r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#);
        assert!(refused[0].contains("server/discover is not in the record r"), "{refused:?}");
        assert_eq!(heard(&mut player, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).len(), 1);
        assert!(heard(&mut player, "{")[0].contains("-32700"));
    }

    #[test]
    fn a_record_of_the_later_era_answers_clients_of_the_earlier() {
        let record = r#"
{"at_ms":1,"server":"s","from":"client","message":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}}
{"at_ms":1,"server":"s","from":"server","message":{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}}
"#;
        let mut player = Player::read(record, "r", Some("s")).unwrap();
        let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
        let result =
            r#"{"capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"},"protocolVersion":"2025-03-26"}"#;
        assert_eq!(heard(&mut player, ask), [format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)]);
        assert!(!heard(&mut player, r#"{"jsonrpc":"2.0","id":2,"method":"server/discover"}"#)[0].contains("error"));
    }

    #[test]
    fn what_is_no_record_is_said_with_its_line() {
        let wrong = |text: &str, server| Player::read(text, "r", server).unwrap_err();
        assert!(wrong("\n{\"type\":\"session\"}", None).starts_with("r:2: not a line of a record: "));
        assert_eq!(wrong("", None), "r is empty: it records nothing");
        assert_eq!(wrong(RECORD, Some("t")), "r has no server \"t\"; there are: s");
        let two = format!("{RECORD}{}", RECORD.replace("\"server\":\"s\"", "\"server\":\"t\""));
        assert_eq!(wrong(&two, None), "r has several servers: name one with --server: s, t");
    }
}
