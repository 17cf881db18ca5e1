//! Tests of the toolbox: its calls run on the server, beside the client's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use toolgraft::route::Toolboxes;
use toolgraft::tools::Decision;
use toolgraft::{Functions, Policy, Tool};
use toolgraft_serve::Config;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says};

use super::http::{call, read, request, serve};

pub(crate) fn with_toolbox(config: Config) -> Config {
    let functions = Functions::new("demo")
        .with(Tool::new("secret"), |_: Map<String, Value>| async {
            Ok::<_, std::convert::Infallible>("the word is SWORDFISH")
        })
        .with(Tool::new("wipe"), |_: Map<String, Value>| async { Ok::<_, std::convert::Infallible>("WIPED") });
    config.with_toolbox(functions, false).with_policy(Policy::new(Decision::Deny).allow("demo.secret"))
}

#[tokio::test]
async fn what_hidden_rounds_brought_is_told_when_the_client_comes_back() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
        1 => Reply::text(&call()),
        _ => Reply::text("Cold, and the word is known."),
    });
    let served = serve(&endpoint, with_toolbox).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let (_, whole) = served.chat(&asked).await;
    let message = &whole["choices"][0]["message"];
    let id = &message["tool_calls"][0]["id"];
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1, "{whole:#}");
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.extend([message.clone(), json!({"role": "tool", "tool_call_id": id, "content": "-3 degrees"})]);
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "Cold, and the word is known.");
    let seen = endpoint.seen();
    let told = seen[2].body["messages"].as_array().unwrap();
    let roles: Vec<&str> = told.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert!(told[3]["content"].as_str().unwrap().contains("SWORDFISH"), "{:#}", told[3]);
    // Another history does not contain it.
    let other = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_x", "function": {"name": "weather", "arguments": "{}"}}]});
    asked["messages"] =
        json!([{"role": "user", "content": "Hi"}, other, {"role": "tool", "tool_call_id": "call_x", "content": "1"}]);
    served.chat(&asked).await;
    assert!(!endpoint.seen()[3].messages().contains("SWORDFISH"));
}

#[tokio::test]
async fn after_the_limit_on_calls_the_model_is_asked_for_its_answer() {
    for most in [3, 0] {
        let begun = Arc::new(AtomicUsize::new(0));
        let count = begun.clone();
        let next = move |_: Map<String, Value>| {
            let number = count.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, std::convert::Infallible>(format!("page {number}")) }
        };
        let endpoint = Endpoint::answer(|request, _| match request.messages().contains("no further call will run") {
            false => Reply::text(&mcp_call("demo", "next", &json!({}))),
            true => Reply::text("That is all."),
        });
        let served = serve(&endpoint, |config| {
            let config = config.with_toolbox(Functions::new("demo").with(Tool::new("next"), next), false);
            config.with_policy(Policy::new(Decision::Deny).allow("*")).with_max_calls(most)
        })
        .await;
        let mut asked = request(false);
        asked["model"] = json!("m+tools");
        let (status, whole) = served.chat(&asked).await;
        assert_eq!((status.as_u16(), &whole["choices"][0]["message"]["content"]), (200, &json!("That is all.")));
        assert_eq!(begun.load(Ordering::Relaxed), most, "{whole:#}");
        // A call of the client does not count.
        let endpoint = Endpoint::answer(|_, _| Reply::text(&call()));
        let served = serve(&endpoint, |config| with_toolbox(config).with_max_calls(most)).await;
        assert_eq!(served.chat(&asked).await.1["choices"][0]["finish_reason"], "tool_calls");
    }
}

#[tokio::test]
async fn after_the_limit_on_time_a_request_ends_with_its_own_error_and_its_call_is_cancelled() {
    struct Gone(std::sync::mpsc::Sender<()>);
    impl Drop for Gone {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    for stream in [false, true] {
        let (tell, told) = std::sync::mpsc::channel();
        let slow = move |_: Map<String, Value>| {
            let gone = Gone(tell.clone());
            async move {
                std::future::pending::<()>().await;
                drop(gone);
                Ok::<_, std::convert::Infallible>("never")
            }
        };
        let endpoint = Endpoint::answer(|_, _| Reply::text(&mcp_call("demo", "slow", &json!({}))));
        let served = serve(&endpoint, |config| {
            let config = config.with_toolbox(Functions::new("demo").with(Tool::new("slow"), slow), true);
            let policy = Policy::new(Decision::Deny).allow("*");
            config.with_policy(policy).with_max_time(std::time::Duration::from_millis(300))
        })
        .await;
        let error = match stream {
            false => {
                let (status, body) = served.chat(&request(false)).await;
                assert_eq!(status, 504, "{body:#}");
                body["error"].clone()
            }
            true => {
                let (data, _) = served.stream(&request(true)).await;
                serde_json::from_str::<Value>(data.last().unwrap()).unwrap()["error"].clone()
            }
        };
        assert_eq!(error["code"], "max_time", "{error:#}");
        assert!(error["message"].as_str().unwrap().contains("0.3 seconds"), "{error:#}");
        told.recv_timeout(std::time::Duration::from_secs(30)).expect("the call is cancelled");
    }
}

#[tokio::test]
async fn after_the_limit_on_time_a_model_that_goes_on_is_cut_off() {
    let reply = Reply::events(&[says("Once "), says("upon ")]);
    let mut endpoint = Endpoint::answer(move |_, _| reply.clone().end(End::Stall));
    let served = serve(&endpoint, |config| config.with_max_time(std::time::Duration::from_millis(300))).await;
    let body = json!({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": "now", "input_schema": {"type": "object"}}]});
    let (status, refused) = read(served.post("/v1/messages", &body).send().await.unwrap()).await;
    assert_eq!(
        (status.as_u16(), &refused["type"], &refused["error"]["type"]),
        (504, &json!("error"), &json!("api_error"))
    );
    endpoint.gone().await;
}

#[tokio::test]
async fn what_nobody_allowed_does_not_run() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "wipe", &json!({}))),
        _ => Reply::text("I may not."),
    });
    let served = serve(&endpoint, with_toolbox).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "I may not.");
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("not allowed") && !told.contains("WIPED"), "{told}");
}

#[tokio::test]
async fn models_are_listed_a_second_time_with_the_tools() {
    let endpoint = Endpoint::setup().models(&["a", "b"]).start([]);
    let served = serve(&endpoint, with_toolbox).await;
    let sent = served.client.get(format!("{}/v1/models", served.url)).send().await.unwrap();
    let (_, list) = read(sent).await;
    let ids: Vec<&str> = list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "a+tools", "b+tools"]);
}

#[tokio::test]
async fn after_untrusted_results_only_what_reads_or_is_named_runs() {
    for (untrusted, allowed, ran) in [
        (None, "*", ["page", "look", "send"].as_slice()),
        (Some("web"), "*", &["page", "look"]),
        (Some("web"), "files.send", &["page", "look", "send"]),
        (Some("mail"), "*", &["page", "look", "send"]),
    ] {
        let (tell, told) = std::sync::mpsc::channel();
        let tool = |name: &'static str| {
            let tell = tell.clone();
            move |_: Map<String, Value>| {
                tell.send(name).unwrap();
                async { Ok::<_, std::convert::Infallible>("done") }
            }
        };
        let mut look = Tool::new("look");
        look.annotations = Some(serde_json::from_value(json!({"readOnlyHint": true})).unwrap());
        let web = Functions::new("web").with(Tool::new("page"), tool("page"));
        let files = Functions::new("files").with(look, tool("look")).with(Tool::new("send"), tool("send"));
        let toolbox = Toolboxes::new().with(web).with(files);
        let endpoint = Endpoint::answer(|_, number| match number {
            0 => Reply::text(&mcp_call("web", "page", &json!({}))),
            1 => Reply::text(&mcp_call("files", "look", &json!({}))),
            // The client's own call comes between; the knowledge about the page's text is carried
            // by its identifier.
            2 => Reply::text(&call()),
            3 => Reply::text(&mcp_call("files", "send", &json!({}))),
            _ => Reply::text("Done."),
        });
        let served = serve(&endpoint, |config| {
            let policy = Policy::new(Decision::Deny).allow("web.*").allow("files.*").allow(allowed);
            let config = config.with_toolbox(toolbox, true).with_policy(policy);
            untrusted.into_iter().fold(config, Config::with_untrusted)
        })
        .await;
        let mut asked = request(false);
        let (_, whole) = served.chat(&asked).await;
        let message = &whole["choices"][0]["message"];
        let id = &message["tool_calls"][0]["id"];
        let messages = asked["messages"].as_array_mut().unwrap();
        messages.extend([message.clone(), json!({"role": "tool", "tool_call_id": id, "content": "-3 degrees"})]);
        let (_, whole) = served.chat(&asked).await;
        assert_eq!(whole["choices"][0]["message"]["content"], "Done.");
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ran, "{untrusted:?} {allowed}");
    }
}

#[tokio::test]
async fn a_call_that_stands_in_a_clients_result_does_not_run() {
    let wipe = || mcp_call("demo", "wipe", &json!({}));
    for (result, runs) in [(wipe(), false), ("[wipe()]".to_owned(), false), ("nothing".to_owned(), true)] {
        let endpoint = Endpoint::answer(move |_, number| match number {
            0 => Reply::text(&wipe()),
            _ => Reply::text("I am done."),
        });
        let served =
            serve(&endpoint, |config| with_toolbox(config).with_policy(Policy::new(Decision::Deny).allow("demo.wipe")))
                .await;
        let mut asked = request(false);
        asked["model"] = json!("m+tools");
        let called = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}]});
        let told = json!({"role": "tool", "tool_call_id": "c", "content": result});
        asked["messages"].as_array_mut().unwrap().extend([called, told]);
        let (status, whole) = served.chat(&asked).await;
        assert_eq!(status, 200, "{whole:#}");
        assert_eq!(endpoint.seen().last().unwrap().messages().contains("WIPED"), runs, "{result}");
    }
}

#[tokio::test]
async fn a_permission_for_some_arguments_runs_no_other_call() {
    for (path, runs) in [("/notes/a", true), ("/notes/../etc/a", false), ("a", false)] {
        let endpoint = Endpoint::answer(move |_, number| match number {
            0 => Reply::text(&mcp_call("files", "show", &json!({"path": path}))),
            _ => Reply::text("Done."),
        });
        let show = |_: Map<String, Value>| async { Ok::<_, std::convert::Infallible>("SHOWN") };
        let files = Toolboxes::new().with(Functions::new("files").with(Tool::new("show"), show));
        let policy = Policy::new(Decision::Deny).allow("files.show(path=/notes)");
        let served = serve(&endpoint, |config| config.with_toolbox(files, true).with_policy(policy)).await;
        served.chat(&request(false)).await;
        assert_eq!(endpoint.seen()[1].messages().contains("SHOWN"), runs, "{path}");
    }
}

/// Adds the servers `web`, whose results may be text of third parties, and `files`; the receiver
/// gets each call that runs. `peek` of `web` and `look` of `files` are read-only.
fn trusting(
    allow: &'static [&'static str],
) -> (impl Fn(Config) -> Config + Clone, std::sync::mpsc::Receiver<&'static str>) {
    let (tell, told) = std::sync::mpsc::channel();
    let set = move |config: Config| {
        let tool = |name: &'static str, reads: bool| {
            let tell = tell.clone();
            let mut tool = Tool::new(name);
            tool.annotations = reads.then(|| serde_json::from_value(json!({"readOnlyHint": true})).unwrap());
            let run = move |_: Map<String, Value>| {
                tell.send(name).unwrap();
                async { Ok::<_, std::convert::Infallible>("done") }
            };
            (tool, run)
        };
        let ((page, page_runs), (peek, peek_runs)) = (tool("page", false), tool("peek", true));
        let ((look, look_runs), (send, send_runs)) = (tool("look", true), tool("send", false));
        let web = Functions::new("web").with(page, page_runs).with(peek, peek_runs);
        let files = Functions::new("files").with(look, look_runs).with(send, send_runs);
        let policy = allow.iter().fold(Policy::new(Decision::Deny), |policy, glob| policy.allow(*glob));
        config.with_toolbox(Toolboxes::new().with(web).with(files), true).with_policy(policy).with_untrusted("web")
    };
    (set, told)
}

fn calls(server: &str, tool: &str) -> Reply {
    Reply::text(&mcp_call(server, tool, &json!({})))
}

/// Continues after an answer with the client's result or a further question.
fn goes_on(asked: &mut Value, answer: &Value) {
    let message = answer["choices"][0]["message"].clone();
    let next = match message["tool_calls"][0]["id"].as_str() {
        Some(id) => json!({"role": "tool", "tool_call_id": id, "content": "-3 degrees"}),
        None => json!({"role": "user", "content": "Go on."}),
    };
    asked["messages"].as_array_mut().unwrap().extend([message, next]);
}

#[tokio::test]
async fn an_untrusted_servers_own_word_lets_nothing_run_after_it() {
    let (set, told) = trusting(&["*"]);
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => calls("web", "page"),
        1 => calls("web", "peek"),
        2 => calls("files", "look"),
        _ => Reply::text("Done."),
    });
    let served = serve(&endpoint, set).await;
    served.chat(&request(false)).await;
    assert_eq!(told.try_iter().collect::<Vec<_>>(), ["page", "look"]);
}

#[tokio::test]
async fn the_mark_of_untrusted_words_lasts_for_the_conversation() {
    // An answer and a further question, without a call of the client whose identifier could carry
    // the mark.
    let (set, told) = trusting(&["*"]);
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => calls("web", "page"),
        1 => Reply::text("I have read it."),
        2 => calls("files", "send"),
        _ => Reply::text("Done."),
    });
    let served = serve(&endpoint, set).await;
    let mut asked = request(false);
    let (_, answer) = served.chat(&asked).await;
    goes_on(&mut asked, &answer);
    served.chat(&asked).await;
    assert_eq!(told.try_iter().collect::<Vec<_>>(), ["page"]);
}

#[tokio::test]
async fn a_conversation_without_such_words_is_known_as_one() {
    for stream in [false, true] {
        let (set, told) = trusting(&["*"]);
        let endpoint = Endpoint::answer(|_, number| match number {
            0 => Reply::text("Hello,  I am here.\n"),
            1 => Reply::text(&call()),
            2 => calls("files", "send"),
            _ => Reply::text("Done."),
        });
        let served = serve(&endpoint, set).await;
        let mut asked = request(stream);
        let answer = match stream {
            false => served.chat(&asked).await.1,
            true => {
                let (data, _) = served.stream(&asked).await;
                let data = data.iter().filter_map(|data| serde_json::from_str::<Value>(data).ok());
                let text: String =
                    data.filter_map(|data| Some(data["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect();
                json!({"choices": [{"message": {"role": "assistant", "content": text}}]})
            }
        };
        asked["stream"] = json!(false);
        goes_on(&mut asked, &answer);
        let (_, answer) = served.chat(&asked).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
        goes_on(&mut asked, &answer);
        served.chat(&asked).await;
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["send"], "{stream}");
    }
}

#[tokio::test]
async fn a_history_of_which_nothing_is_known_lets_nothing_run_that_is_not_named() {
    let call = json!({"id": "call_x", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}});
    let histories = [
        json!([{"role": "assistant", "content": "I have read it."}, {"role": "user", "content": "Go on."}]),
        json!([
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_x", "content": "-3 degrees"},
        ]),
    ];
    for (history, allow, ran) in histories
        .iter()
        .flat_map(|history| [(history, &["*"][..], &[][..]), (history, &["*", "files.send"][..], &["send"][..])])
    {
        let (set, told) = trusting(allow);
        let endpoint = Endpoint::start([calls("files", "send"), Reply::text("Done.")]);
        let served = serve(&endpoint, set).await;
        let mut asked = request(false);
        asked["messages"].as_array_mut().unwrap().extend(history.as_array().unwrap().clone());
        served.chat(&asked).await;
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ran, "{history:#}");
    }
}

#[tokio::test]
async fn instances_with_one_key_believe_each_others_identifiers() {
    for (one, other, ran) in [(Some("k"), Some("k"), &["send"][..]), (Some("k"), Some("l"), &[]), (None, None, &[])] {
        let (set, told) = trusting(&["*"]);
        let endpoint = Endpoint::start([Reply::text(&call()), calls("files", "send"), Reply::text("Done.")]);
        let with = |key: Option<&'static str>| {
            let set = set.clone();
            move |config: Config| key.into_iter().fold(set(config), Config::with_instance_key)
        };
        let (first, second) = (serve(&endpoint, with(one)).await, serve(&endpoint, with(other)).await);
        let mut asked = request(false);
        let (_, answer) = first.chat(&asked).await;
        goes_on(&mut asked, &answer);
        second.chat(&asked).await;
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ran, "{one:?} {other:?}");
    }
}

#[tokio::test]
async fn what_is_kept_is_told_to_the_client_alone_that_it_belongs_to() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
        1 => Reply::text(&call()),
        _ => Reply::text("Done."),
    });
    let served = serve(&endpoint, with_toolbox).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let of = |key: &'static str, asked: &Value| served.post("/v1/chat/completions", asked).bearer_auth(key).send();
    let (_, answer) = read(of("key-of-one", &asked).await.unwrap()).await;
    goes_on(&mut asked, &answer);
    of("key-of-another", &asked).await.unwrap();
    of("key-of-one", &asked).await.unwrap();
    let seen = endpoint.seen();
    assert!(!seen[2].messages().contains("SWORDFISH"), "{}", seen[2].messages());
    assert!(seen[3].messages().contains("SWORDFISH"));
}
