//! Chat templates of other models in the real server: it accepts every history, and no text is
//! lost.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgraft::dialect::Profile;
use toolgraft_testkit::client_histories::{STRICT, histories, marks, sent, tool};

use crate::calls::runtime;
use crate::serve::Serving;
use crate::server::{PATIENCE, Server, free_port, wanted};

/// Returns templates with the names of their models.
fn templates() -> Vec<(&'static str, PathBuf)> {
    let strict = Path::new(env!("CARGO_TARGET_TMPDIR")).join("strict.jinja");
    std::fs::write(&strict, STRICT).unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/templates");
    let files = [
        ("mistral-nemo", "mistralai-Mistral-Nemo-Instruct-2407"),
        ("mistral-small", "Mistral-Small-3.2-24B-Instruct-2506"),
        ("qwen3.5", "Qwen3.5-4B"),
    ];
    let files = files.map(|(model, file)| (model, own.join(format!("{file}.jinja"))));
    [("gemma-2-2b-it", strict)].into_iter().chain(files).collect()
}

async fn post(url: String, body: &Value) -> (u16, Value) {
    let client = toolgraft::http::client().timeout(PATIENCE).build().unwrap();
    let sent = client.post(url).header("content-type", "application/json").body(body.to_string());
    let answer = sent.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[test]
fn the_server_takes_every_history_in_every_template_with_all_its_texts() {
    if !wanted("the_server_takes_every_history_in_every_template_with_all_its_texts") {
        return;
    }
    let mut wrong = Vec::new();
    for (model, file) in templates() {
        let server = Server::start(free_port(), &["--context", "4096", "--chat-template-file", file.to_str().unwrap()]);
        let profile = Some(Profile::for_model(model));
        runtime().block_on(async {
            for (what, history) in histories() {
                let render = server.url().replace("/v1", "/apply-template");
                let (status, rendered) = post(render, &json!({"messages": sent(profile, &history)})).await;
                let prompt = rendered["prompt"].as_str().unwrap_or_default();
                let lost: Vec<_> = marks(&history).into_iter().filter(|mark| !prompt.contains(mark)).collect();
                if status != 200 || !lost.is_empty() {
                    wrong.push(format!("{model}, {what}: {status}, lost {lost:?}: {rendered}"));
                }
            }
            // Through the program, which does not know the model: it learns from refusals.
            let serving = Serving::start(&server);
            for (what, history) in histories() {
                let asked = json!({"model": "m", "max_tokens": 1, "messages": history, "tools": [tool()]});
                let (status, answer) = post(format!("{}/v1/chat/completions", serving.url), &asked).await;
                if status != 200 {
                    wrong.push(format!("{model}, {what}, by serve: {status} {answer}"));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
