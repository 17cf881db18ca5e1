//! A sixth API, to show that one is this file and one row of the table of APIs: its request is a question with the names
//! of functions, its answer lines or an object.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Map, Value, json};
use toolgraft::message::NativeCall;

use crate::codecs::shape::{Places, Read, Shape, Writer, given, json_text, set};
use crate::fault::Fault;
use crate::out::{Finish, Out};
use crate::store::ClientStore;
use crate::{Embedded, Refusal, Settings};

pub(crate) struct Small;

impl Shape for Small {
    fn read(&self, mut body: Map<String, Value>, _: &ClientStore) -> Result<Read, Fault> {
        let question = given(&mut body, "ask").ok_or_else(|| Fault::field("ask", "'ask' is missing"))?;
        let mut chat = Map::from_iter([("messages".to_owned(), json!([{"role": "user", "content": question}]))]);
        set(&mut chat, "model", given(&mut body, "model"));
        set(&mut chat, "stream", given(&mut body, "lines"));
        let functions = given(&mut body, "functions").unwrap_or_default();
        let tool = |name: &Value| json!({"type": "function", "function": {"name": name}});
        set(&mut chat, "tools", functions.as_array().map(|names| names.iter().map(tool).collect::<Vec<_>>()));
        Ok(Read { chat, places: Places::default(), writer: Box::new(Lines) })
    }

    fn error(&self, fault: &Fault) -> Value {
        json!({"wrong": fault.placed()})
    }
}

struct Lines;

fn line(out: Out) -> Option<Value> {
    match out {
        Out::Text(text) => Some(json!({"text": text})),
        Out::Call(NativeCall { name, .. }) => Some(json!({"call": name})),
        Out::Failed(fault) => Some(Small.error(&fault)),
        _ => None,
    }
}

impl Writer for Lines {
    fn begin(&mut self, _: &str, _: u64) {}

    fn write(&mut self, out: Out, to: &mut String) {
        line(out).into_iter().for_each(|line| to.push_str(&(json_text(&line) + "\n")));
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        json!({"answer": pieces.into_iter().filter_map(line).collect::<Value>(), "end": finish.reason.as_str()})
    }
}

#[test]
fn a_further_api_is_a_file_and_a_row() {
    let call = "I look.\n\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let server = Embedded::new(Settings::default()).unwrap();
    let ask = |body: Value| {
        let mut asked = server.begin("/small", body.to_string().as_bytes(), true)?.unwrap();
        let taught = asked.request().unwrap().to_string();
        assert!(taught.contains("f(…)"), "{taught}");
        let message = json!({"role": "assistant", "content": call});
        let told = asked.push(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string())?;
        Ok::<_, Refusal>(told + &asked.end()?)
    };
    let body = json!({"model": "m", "ask": "Hi", "functions": ["f"]});
    let whole = ask(body).unwrap();
    let expected = json!({"answer": [{"text": "I look."}, {"call": "f"}], "end": "tool_calls"});
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), expected, "{whole}");
    let body = json!({"model": "m", "ask": "Hi", "functions": ["f"], "lines": true});
    assert_eq!(ask(body).unwrap(), "{\"text\":\"I look.\"}\n{\"call\":\"f\"}\n");
    let refusal = ask(json!({"model": "m"})).unwrap_err();
    assert_eq!((refusal.status, &*refusal.body), (400, "{\"wrong\":\"ask: is missing\"}"));
}
