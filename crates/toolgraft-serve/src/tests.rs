//! A sixth API, to show that one is this file and one row of the table of APIs: its request is a question with the names
//! of functions, its answer lines or an object.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Map, Value, json};
use toolgraft::message::NativeCall;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::fault::Fault;
use super::out::{Finish, Out};
use super::shape::{Places, Read, Shape, Writer, given, json_text, set};
use super::store::ClientStore;
use super::{Config, Server};

pub(super) struct Small;

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

#[tokio::test]
async fn a_further_api_is_a_file_and_a_row() {
    let call = "I look.\n\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let endpoint = Endpoint::answer(move |_, _| Reply::text(call));
    let config = Config::new(endpoint.url()).unwrap();
    let server = Server::bind(config, "127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/small", server.local_addr().unwrap());
    tokio::spawn(server.run(std::future::pending()));
    let ask = async |body: Value| {
        let sent = reqwest::Client::new().post(&url).header("content-type", "application/json").body(body.to_string());
        let answer = sent.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let body = json!({"model": "m", "ask": "Hi", "functions": ["f"]});
    let (status, whole) = ask(body).await;
    let expected = json!({"answer": [{"text": "I look."}, {"call": "f"}], "end": "tool_calls"});
    assert_eq!((status, serde_json::from_str::<Value>(&whole).unwrap()), (200, expected), "{whole}");
    let body = json!({"model": "m", "ask": "Hi", "functions": ["f"], "lines": true});
    assert_eq!(ask(body).await, (200, "{\"text\":\"I look.\"}\n{\"call\":\"f\"}\n".to_owned()));
    assert_eq!(ask(json!({"model": "m"})).await, (400, "{\"wrong\":\"ask: is missing\"}".to_owned()));
}
