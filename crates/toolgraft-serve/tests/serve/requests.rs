//! Tests of the endpoint's requests for recorded bodies of agents, SDKs and libraries, and for
//! scripted sessions of every API. `UPDATE=1` rewrites the expected bodies.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolgraft::tools::ToolsMode;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::serve;
use super::sessions;

/// Stands for the same field of the previous body: alone, or with the number of equal items.
const SAME: &str = "=";

/// The member beside that number with the items that follow.
const MORE: &str = "+";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/requests")
}

/// Returns the whole body for a row that holds only what is new.
fn whole(row: &Value, before: &Value) -> Value {
    let field = |(name, value): (&String, &Value)| {
        let value = match value.get(SAME).and_then(Value::as_u64) {
            _ if *value == SAME => before[name].clone(),
            Some(count) => {
                let same = before[name].as_array().unwrap().iter().take(usize::try_from(count).unwrap());
                same.chain(value[MORE].as_array().unwrap()).cloned().collect()
            }
            None => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(row.as_object().unwrap().iter().map(field).collect())
}

/// Returns what is new in a body.
fn row(body: &Value, before: &Value) -> Value {
    let Some(body) = body.as_object() else { return body.clone() };
    let field = |(name, value): (&String, &Value)| {
        let new = match (value, &before[name]) {
            (value, old) if value == old && !value.is_null() => json!(SAME),
            (Value::Array(list), Value::Array(old)) => {
                let count = list.iter().zip(old).take_while(|(new, old)| new == old).count();
                json!({SAME: count, MORE: list[count..]})
            }
            _ => value.clone(),
        };
        (name.clone(), new)
    };
    Value::Object(body.iter().map(field).collect::<Map<_, _>>())
}

/// Returns the requests of a recorded client: path and body.
fn recorded(file: &Path) -> Vec<(String, Value)> {
    let mut before = Value::Null;
    let text = std::fs::read_to_string(file).unwrap();
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        before = whole(&line["body"], &before);
        (line["path"].as_str().unwrap().to_owned(), before.clone())
    };
    text.lines().map(read).collect()
}

/// Compares the endpoint's requests with the expected ones, line by line.
#[track_caller]
fn compare(name: &str, found: &[(usize, Value)]) {
    let (mut lines, mut before) = (String::new(), Value::Null);
    for (request, body) in found {
        writeln!(lines, "{}", json!({"request": request, "body": row(body, &before)})).unwrap();
        before = body.clone();
    }
    let file = folder().join("sent").join(format!("{name}.jsonl"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = lines.lines().zip(kept.lines()).find(|(now, kept)| now != kept);
    let remedy = "UPDATE=1 cargo test --test serve requests writes the files anew";
    assert_eq!(differs, None, "{name}: {remedy}");
    assert_eq!(lines.lines().count(), kept.lines().count(), "{name}: {remedy}");
}

const WAYS: [(&str, ToolsMode); 2] = [("prompt", ToolsMode::Prompt), ("native", ToolsMode::Native)];

#[tokio::test]
async fn what_clients_send_reaches_the_endpoint_as_it_did() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut clients: Vec<_> = files.iter().map(|file| (name(file), recorded(file))).collect();
    let opencode = sessions::recorded().map(|body| ("/v1/chat/completions".to_owned(), body));
    clients.push(("opencode".to_owned(), opencode.collect()));
    for (name, requests) in clients {
        for (way, mode) in WAYS {
            let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
            let served = serve(&endpoint, |config| config.with_tools_mode(mode)).await;
            let mut found = Vec::new();
            for (at, (path, body)) in requests.iter().enumerate() {
                let answer = served.post(path, body).send().await.unwrap();
                let status = answer.status().as_u16();
                answer.bytes().await.unwrap();
                let seen = endpoint.take_seen();
                if seen.is_empty() {
                    found.push((at, json!(status)));
                }
                found.extend(seen.into_iter().map(|seen| (at, seen.body)));
            }
            compare(&format!("{name}.{way}"), &found);
        }
    }
}

#[tokio::test]
async fn the_sessions_of_every_api_reach_the_endpoint_as_they_did() {
    for (name, bodies) in sessions::bodies().await {
        let found: Vec<(usize, Value)> = bodies.into_iter().enumerate().collect();
        compare(&format!("session_{name}"), &found);
    }
}
