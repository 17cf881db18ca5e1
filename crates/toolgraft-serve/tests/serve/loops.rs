//! Tests of loops of calls, and of calls that do not run after a failure, in a client's loop and in
//! the server's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use toolgraft::tools::{Annotations, Decision};
use toolgraft::{Functions, Policy, Tool};
use toolgraft_serve::Config;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::http::{Served, call, request, serve};

/// Returns the text of a call of a client's tool in the taught syntax.
fn makes(tool: &str, arguments: &Value) -> String {
    mcp_call("", tool, arguments).replace("<server_name></server_name>\n", "")
}

/// Returns a request with the tools `status`, which is read-only, and `push`, which is not.
fn working() -> Value {
    let mut asked = request(false);
    let tool = |name: &str, hints: Value| {
        let parameters = json!({"type": "object", "properties": {"key": {"type": "string"}}});
        json!({"type": "function", "function": {"name": name, "parameters": parameters, "annotations": hints}})
    };
    asked["tools"] = json!([tool("status", json!({"readOnlyHint": true})), tool("push", Value::Null)]);
    asked
}

/// Adds a call that the client ran, and its result.
fn ran(asked: &mut Value, tool: &str, result: &str) {
    let messages = asked["messages"].as_array_mut().unwrap();
    let id = format!("c{}", messages.len());
    let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}});
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
}

/// Returns the names of the calls in an answer, and its text.
fn answer(whole: &Value) -> (Vec<&str>, &str) {
    let message = &whole["choices"][0]["message"];
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = calls.iter().map(|call| call["function"]["name"].as_str().unwrap());
    (names.collect(), message["content"].as_str().unwrap_or_default())
}

fn told(endpoint: &Endpoint, at: usize) -> String {
    endpoint.seen()[at].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

#[tokio::test]
async fn a_clients_equal_call_goes_out_as_often_as_it_is_made() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&makes("push", &json!({}))));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = working();
    for n in 1..=12 {
        let (_, whole) = served.chat(&asked).await;
        assert_eq!(answer(&whole).0, ["push"], "{n}: {whole:#}");
        ran(&mut asked, "push", "OK");
    }
    assert_eq!(endpoint.requests(), 12, "no round is spent on it");
}

#[tokio::test]
async fn a_clients_read_is_refused_after_the_same_result_as_often_as_it_may_come() {
    let reply = |_: &_, number: usize| match number {
        1 => Reply::text("It waits still."),
        _ => Reply::text(&makes("status", &json!({}))),
    };
    let polled = |results: &[&str]| {
        let mut asked = working();
        results.iter().for_each(|result| match result.split_once('=') {
            Some((tool, result)) => ran(&mut asked, tool, result),
            None => ran(&mut asked, "status", result),
        });
        asked
    };
    let endpoint = Endpoint::answer(reply);
    let served = serve(&endpoint, |config| config).await;
    let (_, whole) = served.chat(&polled(&["waits"; 8])).await;
    assert_eq!(answer(&whole), (vec![], "It waits still."), "{whole:#}");
    let said = told(&endpoint, 1);
    assert!(said.contains("this call was not run, since equal calls gave the same result 8 times in a row"), "{said}");
    assert!(said.contains("<tool_status status=\\\"not run\\\"") && !said.contains("waits"), "{said}");
    // The call is handed out while its result changes, and after calls that may have changed it.
    let growing: Vec<String> = (0..12).map(|n| format!("{n} %")).collect();
    let growing: Vec<&str> = growing.iter().map(String::as_str).collect();
    let between = [vec!["waits"; 8], vec!["push=OK"]].concat();
    for (results, most) in [(&growing[..], 8), (&["waits"; 7], 8), (&between, 8), (&["waits"; 12], 0)] {
        let endpoint = Endpoint::answer(reply);
        let served = serve(&endpoint, |config| config.with_max_same_results(most)).await;
        let (_, whole) = served.chat(&polled(results)).await;
        assert_eq!((answer(&whole).0, endpoint.requests()), (vec!["status"], 1), "{results:?}: {whole:#}");
    }
    // A new message of the person resets the count.
    let mut asked = polled(&["waits"; 8]);
    asked["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "And now?"}));
    let endpoint = Endpoint::answer(reply);
    let served = serve(&endpoint, |config| config).await;
    assert_eq!(answer(&served.chat(&asked).await.1).0, ["status"]);
}

#[tokio::test]
async fn equal_calls_in_one_message_are_handed_out_as_often_as_they_may() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&makes("push", &json!({})).repeat(62)));
    let served = serve(&endpoint, |config| config).await;
    let (_, whole) = served.chat(&working()).await;
    assert_eq!(answer(&whole).0, ["push"; 5], "{whole:#}");
}

#[tokio::test]
async fn what_follows_a_rejected_call_is_corrected_with_it() {
    let both = [makes("pusch", &json!({})), makes("push", &json!({})), makes("status", &json!({}))].concat();
    let endpoint = Endpoint::answer(move |_, number| match number {
        0 => Reply::text(&both),
        _ => Reply::text(&makes("push", &json!({}))),
    });
    let served = serve(&endpoint, |config| config).await;
    let mut asked = working();
    // The read is handed out nevertheless, so that the answer ends; the notes about the failed
    // calls come with the client's next request.
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(answer(&whole).0, ["status"], "{whole:#}");
    let message = whole["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.extend([message, json!({"role": "tool", "tool_call_id": id, "content": "idle"})]);
    assert_eq!(answer(&served.chat(&asked).await.1).0, ["push"]);
    let said = told(&endpoint, 1);
    for part in ["idle", "there is no such tool", "the call of pusch before it in the same message did not succeed"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // If no call can run, the model is told at once.
    let wrong = [makes("push", &json!({"key": {"a": 1}})), makes("push", &json!({}))].concat();
    for wrong in
        [wrong, "<use_mcp_tool>\n<arguments>\n{\"key\": \n</use_mcp_tool>\n".to_owned() + &makes("push", &json!({}))]
    {
        let endpoint = Endpoint::answer(move |_, number| match number {
            0 => Reply::text(&wrong),
            _ => Reply::text(&[makes("push", &json!({"key": "1"})), makes("push", &json!({}))].concat()),
        });
        let served = serve(&endpoint, |config| config).await;
        let (_, whole) = served.chat(&working()).await;
        assert_eq!((answer(&whole).0, endpoint.requests()), (vec!["push", "push"], 2), "{whole:#}");
        let said = told(&endpoint, 1);
        assert!(said.contains("This call was not run:") && said.contains("before it in the same message"), "{said}");
    }
}

/// Starts a server with the tools `demo.read`, which is read-only, and `demo.push`; the counters
/// say how often each ran.
async fn with_own(endpoint: &Endpoint, result: fn(usize) -> String) -> (Served, [Arc<AtomicUsize>; 2]) {
    let counts: [Arc<AtomicUsize>; 2] = Default::default();
    let counted = |count: &Arc<AtomicUsize>| {
        let count = count.clone();
        move |_: Map<String, Value>| {
            let ran = count.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, std::convert::Infallible>(result(ran)) }
        }
    };
    let mut read = Tool::new("read");
    read.annotations = Some(Annotations::default().with_read_only_hint(true));
    let functions = Functions::new("demo").with(read, counted(&counts[0])).with(Tool::new("push"), counted(&counts[1]));
    let served = serve(endpoint, |config: Config| {
        config.with_toolbox(functions, true).with_policy(Policy::new(Decision::Deny).allow("*"))
    })
    .await;
    (served, counts)
}

#[tokio::test]
async fn the_servers_own_tools_are_under_the_same_guard() {
    // A call that may change something runs each time.
    let endpoint = Endpoint::answer(|_, number| match number {
        0..5 => Reply::text(&mcp_call("demo", "push", &json!({}))),
        _ => Reply::text("Five entries."),
    });
    let (served, counts) = with_own(&endpoint, |_| "OK".to_owned()).await;
    assert_eq!(answer(&served.chat(&request(false)).await.1).1, "Five entries.");
    assert_eq!(counts[1].load(Ordering::Relaxed), 5);
    // A repeated read does not run, and a model that makes no other call ends with an error.
    let endpoint = Endpoint::answer(|seen, _| match seen.messages().contains("no further call will run") {
        false => Reply::text(&mcp_call("demo", "read", &json!({}))),
        true => Reply::text(&call()),
    });
    let (served, counts) = with_own(&endpoint, |_| "idle".to_owned()).await;
    let (status, whole) = served.chat(&request(false)).await;
    assert_eq!((status.as_u16(), &whole["error"]["code"]), (502, &json!("same_calls")), "{whole:#}");
    assert!(whole["error"]["message"].as_str().unwrap().contains("the same call of read again"), "{whole:#}");
    assert_eq!(counts[0].load(Ordering::Relaxed), 8);
    // While the result changes, calls run up to the limit on rounds.
    let endpoint = Endpoint::answer(|_, number| match number {
        0..10 => Reply::text(&mcp_call("demo", "read", &json!({}))),
        _ => Reply::text("It is done."),
    });
    let (served, counts) = with_own(&endpoint, |n| format!("{n} %")).await;
    assert_eq!(answer(&served.chat(&request(false)).await.1).1, "It is done.");
    assert_eq!(counts[0].load(Ordering::Relaxed), 10);
}
