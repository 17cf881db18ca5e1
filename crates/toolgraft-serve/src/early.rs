//! A call that goes out before its message is over (`--hold-bytes`): its text-typed top-level
//! arguments as the model writes them, all others at the end.
//!
//! Only what no coercion changes goes out early: a string where the schema wants a string and
//! lists no values. The order of an object's members says nothing, so the others follow. What
//! was sent is compared with the accepted call at the end; one that differs has failed.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::out::Part;
use toolgraft::outcome::Restorer;

/// The first call of a round, as far as it is written.
pub(super) struct EarlyCall {
    tool: String,
    /// Arguments that go out as they come.
    texts: HashSet<String>,
    /// Bytes that are held before anything is sent.
    hold: usize,
    seen: usize,
    state: State,
    /// Members that are sent, or are to be: name and text so far.
    members: Vec<(String, String)>,
    /// What is to be sent of them.
    ready: Vec<Part>,
    /// Makes control tokens whole in the text that is open.
    restorer: Restorer,
    id: String,
    is_sent: bool,
}

/// Where in the JSON text the next character stands.
enum State {
    /// Before the object, a name, its colon, its value.
    Object,
    Name,
    Colon(String),
    Value(String),
    /// In a name, in a text that goes out; each with an escape that is not over.
    InName(Text),
    InText(Text),
    /// In another value: depth, and whether in a string and behind a backslash.
    Other {
        depth: usize,
        in_string: bool,
        escaped: bool,
    },
    /// Behind a value that was a string.
    Behind,
    /// The object is over, or is none that is read here.
    Over,
}

#[derive(Default)]
struct Text {
    text: String,
    escape: String,
}

/// What a character brings a text.
enum Read {
    More,
    End,
    Bad,
}

impl EarlyCall {
    /// A call of this tool with this identifier, whose arguments this schema describes.
    pub(super) fn new(id: String, tool: &str, schema: Option<&Value>, hold: usize) -> Self {
        let properties = schema.and_then(|schema| schema["properties"].as_object());
        let is_text = |schema: &Value| {
            schema["type"] == "string" && ["enum", "const", "$ref"].iter().all(|key| schema.get(*key).is_none())
        };
        let texts = properties.into_iter().flatten().filter(|(_, schema)| is_text(schema));
        EarlyCall {
            tool: tool.to_owned(),
            texts: texts.map(|(name, _)| name.clone()).collect(),
            hold,
            seen: 0,
            state: State::Object,
            members: Vec::new(),
            ready: Vec::new(),
            restorer: Restorer::default(),
            id,
            is_sent: false,
        }
    }

    /// Whether something of it was sent.
    pub(super) fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Takes more of the arguments' JSON text; what of it is sent now.
    pub(super) fn push(&mut self, text: &str) -> Vec<Part> {
        self.seen += text.len();
        let mut piece = String::new();
        for c in text.chars() {
            self.character(c, &mut piece);
        }
        self.flush(&mut piece);
        if self.seen <= self.hold || self.ready.is_empty() {
            return Vec::new();
        }
        let mut parts = std::mem::take(&mut self.ready);
        if !std::mem::replace(&mut self.is_sent, true) {
            parts.insert(0, Part::Begin { id: self.id.clone(), name: self.tool.clone() });
        }
        parts
    }

    /// The rest of the call as it was accepted: its identifier and what is still to be sent.
    /// `None` where that is another call than the one that was sent.
    pub(super) fn finish(mut self, tool: &str, mut arguments: Map<String, Value>) -> Option<(String, Vec<Part>)> {
        if !self.is_sent || tool != self.tool {
            return None;
        }
        let id = std::mem::take(&mut self.id);
        let last = self.members.len();
        let mut parts = std::mem::take(&mut self.ready);
        for (at, (name, sent)) in self.members.iter().enumerate() {
            let Some(Value::String(text)) = arguments.shift_remove(name) else { return None };
            let rest = text.strip_prefix(sent.as_str())?;
            let is_open = at + 1 == last && matches!(self.state, State::InText(_));
            match is_open {
                true => parts.push(Part::Arguments(format!("{}\"", escaped(rest)))),
                false if !rest.is_empty() => return None,
                false => {}
            }
        }
        let rest = Value::Object(arguments).to_string();
        let rest = rest.trim_start_matches('{');
        parts.push(Part::Arguments(if rest == "}" { rest.to_owned() } else { format!(",{rest}") }));
        parts.push(Part::End);
        Some((id, parts))
    }

    fn character(&mut self, c: char, piece: &mut String) {
        let state = std::mem::replace(&mut self.state, State::Over);
        self.state = match state {
            State::Object if c == '{' => State::Name,
            State::Name if c == '"' => State::InName(Text::default()),
            State::Behind if c == ',' => State::Name,
            state @ (State::Object | State::Name | State::Behind | State::Colon(_) | State::Value(_))
                if c.is_whitespace() =>
            {
                state
            }
            State::InName(mut name) => match name.take(c) {
                (Read::More, _) => State::InName(name),
                (Read::End, _) => State::Colon(name.text),
                (Read::Bad, _) => State::Over,
            },
            State::Colon(name) if c == ':' => State::Value(name),
            State::Value(name) if c == '"' && self.goes_out(&name) => {
                self.begin(name);
                State::InText(Text::default())
            }
            State::Value(_) => other(State::Other { depth: 0, in_string: false, escaped: false }, c),
            State::InText(mut text) => {
                let (read, more) = text.take(c);
                piece.push_str(&more);
                match read {
                    Read::More => State::InText(text),
                    Read::End => {
                        self.flush(piece);
                        let held = self.restorer.finish();
                        self.tell(&held);
                        self.ready.push(Part::Arguments("\"".to_owned()));
                        State::Behind
                    }
                    // What was sent is its beginning all the same.
                    Read::Bad => State::InText(text),
                }
            }
            state @ State::Other { .. } => other(state, c),
            _ => State::Over,
        };
    }

    fn goes_out(&self, name: &str) -> bool {
        self.texts.contains(name) && self.members.iter().all(|(known, _)| known != name)
    }

    fn begin(&mut self, name: String) {
        let before = if self.members.is_empty() { '{' } else { ',' };
        self.ready.push(Part::Arguments(format!("{before}{}:\"", Value::from(name.as_str()))));
        self.members.push((name, String::new()));
    }

    /// What was read of the text that is open.
    fn flush(&mut self, piece: &mut String) {
        let restored = self.restorer.push(piece);
        self.tell(&restored);
        piece.clear();
    }

    fn tell(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.ready.push(Part::Arguments(escaped(piece)));
        if let Some((_, text)) = self.members.last_mut() {
            text.push_str(piece);
        }
    }
}

impl Text {
    /// Takes a character; what it adds to the text.
    fn take(&mut self, c: char) -> (Read, String) {
        if self.escape.is_empty() {
            return match c {
                '"' => (Read::End, String::new()),
                '\\' => {
                    self.escape.push(c);
                    (Read::More, String::new())
                }
                c => {
                    self.text.push(c);
                    (Read::More, c.to_string())
                }
            };
        }
        self.escape.push(c);
        let length = match self.escape.as_bytes() {
            [_, b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..] => 12,
            [_, b'u', ..] => 6,
            _ => 2,
        };
        if self.escape.len() < length {
            return (Read::More, String::new());
        }
        let read = serde_json::from_str::<String>(&format!("\"{}\"", std::mem::take(&mut self.escape)));
        match read {
            Ok(more) => {
                self.text.push_str(&more);
                (Read::More, more)
            }
            Err(_) => (Read::Bad, String::new()),
        }
    }
}

/// A character of a value that waits for the end.
fn other(state: State, c: char) -> State {
    let State::Other { mut depth, mut in_string, mut escaped } = state else { return State::Over };
    match c {
        _ if escaped => escaped = false,
        '\\' if in_string => escaped = true,
        '"' => in_string = !in_string,
        _ if in_string => {}
        '{' | '[' => depth += 1,
        '}' | ']' if depth == 0 => return State::Over,
        '}' | ']' => depth -= 1,
        ',' if depth == 0 => return State::Name,
        _ => {}
    }
    State::Other { depth, in_string, escaped }
}

/// A text as it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let text = json!({"type": "string"});
        json!({"properties": {"path": text, "content": text, "mode": {"type": "string", "enum": ["w"]}, "lines": {"type": "integer"}}})
    }

    /// All that is sent of a call that comes in pieces of this many characters.
    fn sent(text: &str, size: usize, hold: usize, accepted: &Value) -> Option<String> {
        let mut call = EarlyCall::new("call_1".to_owned(), "write", Some(&schema()), hold);
        let characters: Vec<char> = text.chars().collect();
        let mut parts: Vec<Part> = Vec::new();
        for piece in characters.chunks(size) {
            parts.extend(call.push(&piece.iter().collect::<String>()));
        }
        let (_, rest) = call.finish("write", accepted.as_object().unwrap().clone())?;
        parts.extend(rest);
        assert!(matches!(parts.first(), Some(Part::Begin { .. })) && matches!(parts.last(), Some(Part::End)));
        let arguments = parts.iter().filter_map(|part| match part {
            Part::Arguments(text) => Some(text.as_str()),
            _ => None,
        });
        Some(arguments.collect())
    }

    #[test]
    fn what_is_sent_is_the_accepted_call_however_it_is_cut() {
        for (text, accepted) in [
            (r#"{"path": "a.txt", "content": "one\n\"two\" \u00e9 \ud83d\ude00 \\"}"#, None),
            (r#" { "lines" : [1, {"a": "}\","}] , "content" : "x" , "mode" : "w" }"#, None),
            (r#"{"content": "x", "lines": "3", "path": ""}"#, Some(json!({"content": "x", "lines": 3, "path": ""}))),
            // What is read otherwise behind a fault comes at the end.
            ("{\"content\": \"x\", path: 'a'}", Some(json!({"content": "x", "path": "a"}))),
            (r#"{"content": "x"#, Some(json!({"content": "xyz", "lines": 1}))),
        ] {
            let accepted = accepted.unwrap_or_else(|| serde_json::from_str(text).unwrap());
            for size in 1..text.len() {
                let arguments = sent(text, size, 0, &accepted).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), accepted, "{size} {arguments}");
            }
        }
    }

    #[test]
    fn another_call_than_the_one_that_was_sent_is_told() {
        let text = r#"{"content": "one", "path": "b"}"#;
        for accepted in
            [json!({"content": "two", "path": "b"}), json!({"path": "b"}), json!({"content": 1, "path": "b"})]
        {
            assert_eq!(sent(text, 1, 0, &accepted), None, "{accepted}");
        }
        let mut call = EarlyCall::new("call_1".to_owned(), "write", Some(&schema()), 0);
        assert!(!call.push(text).is_empty());
        assert_eq!(call.finish("read", Map::new()), None);
    }

    #[test]
    fn nothing_is_sent_before_so_many_bytes_nor_without_a_text() {
        let mut call = EarlyCall::new("call_1".to_owned(), "write", Some(&schema()), 20);
        assert!(call.push(r#"{"content": "12345678"#).len() > 1);
        let mut call = EarlyCall::new("call_1".to_owned(), "write", Some(&schema()), 21);
        assert_eq!(call.push(r#"{"content": "12345678"#), []);
        assert!(!call.is_sent());
        let mut call = EarlyCall::new("call_1".to_owned(), "write", Some(&schema()), 0);
        assert_eq!(call.push(r#"{"lines": 12345, "mode": "w", "other": "x""#), []);
    }
}
