//! Tests of edits of a text that a client's history has not shown from the file.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::http::{Served, request, serve};

const SHOWN: &str = "     1→[server]\n     2→    port = 8080\n     3→name = \"a\"";

/// Returns a request whose history has read `a.toml`, with this result.
fn history(result: &str) -> Value {
    let mut asked = request(false);
    let text = json!({"type": "string"});
    let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": parameters}}});
    let edit = json!({"file_path": text, "old_string": text, "new_string": text});
    asked["tools"] = json!([tool("Read", json!({"file_path": text})), tool("Edit", edit)]);
    ran(&mut asked, "c1", "Read", &json!({"file_path": "a.toml"}), result);
    asked
}

fn ran(asked: &mut Value, id: &str, tool: &str, arguments: &Value, result: &str) {
    let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}});
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
}

fn edits(old: &str) -> String {
    let arguments = json!({"file_path": "a.toml", "old_string": old, "new_string": "    port = 9090"});
    mcp_call("", "Edit", &arguments).replace("<server_name></server_name>\n", "")
}

async fn old_strings(served: &Served, asked: &Value) -> Vec<String> {
    let (_, whole) = served.chat(asked).await;
    let calls = whole["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    let old = |call: &Value| {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str()?).ok()?;
        Some(arguments["old_string"].as_str()?.to_owned())
    };
    calls.iter().filter_map(old).collect()
}

#[tokio::test]
async fn a_stale_edit_goes_back_with_the_nearest_lines_before_the_client_sees_it() {
    let endpoint = Endpoint::answer(|_, number| Reply::text(&edits(["port = 8081", "    port = 8080"][number.min(1)])));
    let served = serve(&endpoint, |config| config).await;
    assert_eq!(old_strings(&served, &history(SHOWN)).await, ["    port = 8080"]);
    let told = endpoint.seen()[1].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let told = told.as_str().unwrap();
    let lines = "the nearest lines are:\n[server]\n    port = 8080\nname = \"a\"";
    assert!(told.contains("/old_string: this text is not in what") && told.contains(lines), "{told}");
}

#[tokio::test]
async fn what_is_there_or_was_not_shown_whole_goes_out_at_once_and_the_same_edit_the_second_time() {
    for (result, old, requests) in [
        (SHOWN, "    port = 8080", 1),
        ("     7→    port = 8080", "port = 8081", 1),
        ("[server]\n[... 3 lines truncated ...]", "port = 8081", 1),
        (SHOWN, "port = 8081", 2),
    ] {
        let endpoint = Endpoint::answer(move |_, _| Reply::text(&edits(old)));
        let served = serve(&endpoint, |config| config).await;
        assert_eq!(
            (old_strings(&served, &history(result)).await, endpoint.requests()),
            (vec![old.to_owned()], requests)
        );
    }
}

#[tokio::test]
async fn an_edit_that_went_back_beside_another_call_passes_in_the_next_request() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&[edits("    port = 8080"), edits("port = 8081")].concat()),
        _ => Reply::text(&edits("port = 8081")),
    });
    let served = serve(&endpoint, |config| config).await;
    let mut asked = history(SHOWN);
    let (_, whole) = served.chat(&asked).await;
    let message = whole["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1, "{whole:#}");
    let id = message["tool_calls"][0]["id"].clone();
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.extend([message, json!({"role": "tool", "tool_call_id": id, "content": "ok"})]);
    assert_eq!(old_strings(&served, &asked).await, ["port = 8081"]);
    let told = endpoint.seen()[1].messages();
    assert!(endpoint.requests() == 2 && told.contains("this text is not in what"), "{told}");
}
