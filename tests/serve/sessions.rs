//! An agent's session of many calls: what its requests cost, and that each begins with the one before
//! it, so that the endpoint need not read that anew.

use serde_json::{Value, json};
use toolgraft::dialect::PromptStyle;
use toolgraft::serve::Config;

use super::endpoint::{Endpoint, Reply, mcp_call};
use super::http::serve;
use super::shapes::{Chat, Messages, Shape, ask};

/// Calls of the session.
const STEPS: usize = 40;

/// What our words may add to the client's own, tools and system text apart, in percent.
const SURCHARGE: usize = 30;

const TASK: &str = "Make the tests of the parser pass, and say in one sentence what was wrong.";

/// What Claude Code puts beside a person's words, and beside results.
const REMINDER: &str = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nUse four spaces.\n</system-reminder>";

/// The command of a step, and what it says: a line, some lines, or a part of a file, as agents have them.
fn step(at: usize) -> (Value, String) {
    let command = match at % 4 {
        0 => format!("cd /home/user/project && cargo test --test parser case_{at} 2>&1 | tail -n 5"),
        1 => format!("sed -n '{},{}p' src/parser/rule_{at}.rs", at * 10, at * 10 + 12),
        2 => format!("git -C /home/user/project diff --stat HEAD~{at}"),
        _ => format!("grep -rn 'fn rule_{at}' src | head"),
    };
    let line = |n: usize| format!("    let value_{n} = rule_{at}(&text[{n}..]).unwrap_or_default();\n");
    let lines = [5, 13, 1, 3][at % 4];
    (json!({"command": command, "description": format!("Step {at} of the task")}), (0..lines).map(line).collect())
}

/// Characters of messages as they are sent.
fn written(messages: &[Value]) -> usize {
    messages.iter().map(|message| message.to_string().chars().count()).sum()
}

/// The messages that a client sends next, after an answer with one call.
fn goes_on(shape: Shape, answer: &Value, result: &str) -> [Value; 2] {
    match shape {
        Chat => {
            let message = answer["choices"][0]["message"].clone();
            let id = message["tool_calls"][0]["id"].clone();
            [message, json!({"role": "tool", "tool_call_id": id, "content": result})]
        }
        _ => {
            let content = answer["content"].clone();
            let call = content.as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap();
            let result = json!({"type": "tool_result", "tool_use_id": call["id"], "content": result});
            let reminds = json!({"type": "text", "text": REMINDER});
            [json!({"role": "assistant", "content": content}), json!({"role": "user", "content": [result, reminds]})]
        }
    }
}

struct Played {
    /// Messages of each request to the endpoint.
    sent: Vec<Vec<Value>>,
    /// Characters of the client's messages, of all requests.
    own: usize,
}

async fn play(shape: Shape, set: fn(Config) -> Config) -> Played {
    let endpoint = Endpoint::answer(|_, number| match number {
        ..STEPS => Reply::text(&format!(
            "I look further.\n{}",
            mcp_call("", "bash", &step(number).0).replace("<server_name></server_name>\n", "")
        )),
        _ => Reply::text("A rule took one byte too many."),
    });
    let served = serve(&endpoint, set).await;
    let schema =
        json!({"type": "object", "properties": {"command": {"type": "string"}, "description": {"type": "string"}}});
    let tools = json!([shape.tool("bash", Some(schema))]);
    let first = match shape {
        Messages => {
            json!({"role": "user", "content": [{"type": "text", "text": REMINDER}, {"type": "text", "text": TASK}]})
        }
        _ => shape.says("user", TASK),
    };
    let (mut messages, mut own) = (vec![first], 0);
    for at in 0..=STEPS {
        let body = shape.request(json!(messages), tools.clone());
        own += written(&messages);
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        assert_eq!(status, 200, "{answer:#}");
        if at < STEPS {
            messages.extend(goes_on(shape, &answer, &step(at).1));
        }
    }
    let sent = endpoint.take_seen().iter().map(|seen| seen.body["messages"].as_array().unwrap().clone()).collect();
    Played { sent, own }
}

/// What the endpoint got from the task on, behind the tools and what shows how to call them.
fn from_task(messages: &[Value]) -> &[Value] {
    let at = messages.iter().position(|message| message["content"].as_str().unwrap().contains(TASK)).unwrap();
    &messages[at..]
}

#[tokio::test]
async fn a_long_session_costs_little_more_than_the_clients_own_words() {
    let styles: [fn(Config) -> Config; 2] = [|config| config, |config| config.with_style(PromptStyle::Compact)];
    for (shape, style) in [Chat, Messages].into_iter().flat_map(|shape| styles.map(|style| (shape, style))) {
        let Played { sent, own } = play(shape, style).await;
        assert_eq!(sent.len(), STEPS + 1);
        for pair in sent.windows(2) {
            let before = &pair[0][..pair[0].len() - 1];
            assert_eq!(pair[1][..before.len()], *before, "a request repeats the one before");
        }
        let last = sent[STEPS].last().unwrap()["content"].as_str().unwrap();
        assert!(last.contains(TASK), "the person's own words are told again: {last}");
        let told: usize = sent.iter().map(|messages| written(from_task(messages))).sum();
        assert!(told * 100 <= own * (100 + SURCHARGE), "{shape:?}: {told} characters for {own}");
    }
}
