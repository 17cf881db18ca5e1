//! Tests of an inspector: recordings that can be read again, bounded, and without a key.

use std::time::Duration;

use serde_json::{Value, json};
use toolgraft::message::{DeltaKind, Role};
use toolgraft::secrets::{REDACTED, Secrets};
use toolgraft::tools::ToolsMode;
use toolgraft::transcript::{self, Recording};
use toolgraft::turn::NativeFault;
use toolgraft_serve::{Inspected, Inspector};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops};

use super::http::{Served, call, damaged, request, serve};

async fn inspected(endpoint: &Endpoint) -> (Served, Inspector) {
    let inspector = Inspector::new();
    let kept = inspector.clone();
    (serve(endpoint, |config| config.with_inspector(kept)).await, inspector)
}

fn last(inspector: &Inspector) -> (Inspected, Recording) {
    let about = inspector.list().remove(0);
    let recording = transcript::parse(&inspector.recording(about.id).unwrap()).unwrap();
    (about, recording)
}

/// Returns the last request once it is over: a client may read the end before the server has
/// dropped everything.
async fn over(inspector: &Inspector) -> (Inspected, Recording) {
    while inspector.list().iter().any(|about| about.took.is_none()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    last(inspector)
}

#[tokio::test]
async fn a_corrected_request_is_kept_with_prompt_raw_text_rejection_correction_and_call() {
    let endpoint = Endpoint::start([Reply::text(&damaged()), Reply::text(&call())]);
    let (served, inspector) = inspected(&endpoint).await;
    served.chat(&request(false)).await;
    let (about, recording) = over(&inspector).await;
    assert_eq!((about.id, about.interface, about.status, &about.fault), (1, "chat_completions", Some(200), &None));
    assert_eq!((about.title.as_str(), about.model.as_str()), ("Weather in Oslo?", "m"));
    assert_eq!((about.rounds, about.calls, about.rejections, about.is_cut), (2, 1, 1, false));
    assert!(recording.cut.is_none() && recording.notes.is_empty(), "{recording:#?}");
    let [first, second] = recording.rounds.as_slice() else { panic!("two rounds: {recording:#?}") };
    let sent = &endpoint.seen()[0].body["messages"];
    let told: Vec<&str> = first.messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(told, [sent[0]["content"].as_str().unwrap(), "Weather in Oslo?"], "the prompt as the model got it");
    assert_eq!(first.said(DeltaKind::Content), damaged());
    assert!(first.calls[0].result.is_err() && first.deltas.iter().all(|delta| delta.ms.is_some()), "{first:#?}");
    assert_eq!(first.notices[0].kind, "correction");
    let again = second.messages.last().unwrap();
    assert!(again.role == Role::User && again.content.contains("weather"), "{again:#?}");
    let found = second.calls[0].result.as_ref().unwrap();
    assert_eq!((found.tool.as_str(), &found.arguments), ("weather", &json!({"city": "Oslo"})));
    assert_eq!(recording.catalog(1).unwrap().tools().next().unwrap().name, "weather");
}

#[tokio::test]
async fn what_the_endpoint_taught_is_kept_with_the_request() {
    let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": "b1"});
    let refusal = "Error rendering template: System role not supported";
    let endpoint = Endpoint::setup().serves("/props", props).answer(move |request, _| {
        let has_system = request.body["messages"][0]["role"] == "system";
        match (request.body.get("tools"), has_system) {
            (Some(_), _) => Reply::refused(500, "Failed to parse input at pos 12: </tool_call>"),
            (None, true) => Reply::refused(400, refusal),
            (None, false) => Reply::text(&call()),
        }
    });
    let inspector = Inspector::new();
    let kept = inspector.clone();
    let served = serve(&endpoint, |config| config.with_inspector(kept).with_tools_mode(ToolsMode::Auto)).await;
    for _ in 0..2 {
        served.chat(&request(false)).await;
        let taught = over(&inspector).await.0.taught;
        assert_eq!((taught.version.as_deref(), taught.native), (Some("b1"), Some(NativeFault::Failed)), "{taught:?}");
        assert_eq!(taught.without, ["system_role"], "{taught:?}");
    }
    assert_eq!(endpoint.seen().iter().filter(|seen| seen.body.get("tools").is_some()).count(), 1);
}

#[tokio::test]
async fn every_interface_is_kept_streamed_and_whole_newest_first() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&call()));
    let (served, inspector) = inspected(&endpoint).await;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let question = "Weather in Oslo?";
    for stream in [false, true] {
        let gemini = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        for (path, body) in [
            ("/v1/chat/completions".to_owned(), request(stream)),
            (
                "/v1/messages".to_owned(),
                json!({"model": "m", "max_tokens": 500, "stream": stream, "messages": [{"role": "user", "content": question}],
                    "tools": [{"name": "weather", "input_schema": schema}]}),
            ),
            (
                "/v1/responses".to_owned(),
                json!({"model": "m", "stream": stream, "input": question,
                    "tools": [{"type": "function", "name": "weather", "parameters": schema}]}),
            ),
            (
                format!("/v1beta/models/m:{gemini}"),
                json!({"contents": [{"role": "user", "parts": [{"text": question}]}],
                    "tools": [{"functionDeclarations": [{"name": "weather", "parameters": schema}]}]}),
            ),
        ] {
            let response = served.post(&path, &body).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            response.text().await.unwrap();
        }
    }
    over(&inspector).await;
    let list = inspector.list();
    let interfaces: Vec<&str> = list.iter().map(|about| about.interface).collect();
    let each = ["generate_content", "responses", "messages", "chat_completions"];
    assert_eq!(interfaces, [each, each].concat());
    for about in list {
        assert_eq!((about.status, about.rounds, about.calls), (Some(200), 1, 1), "{about:#?}");
        assert_eq!(about.title, question, "{about:#?}");
    }
}

#[tokio::test]
async fn what_passes_through_is_kept_and_passes_untouched() {
    let whole = "{\"choices\":[{\"message\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}],  \"odd\": true}";
    let streamed = Reply::events(&[says("Hel"), says("lo."), stops("stop")]).done();
    let endpoint = Endpoint::answer(move |seen, _| match seen.body["stream"].as_bool() {
        Some(true) => streamed.clone().bytewise(),
        _ => Reply::new(200, whole).header("content-type", "application/json"),
    });
    let (served, inspector) = inspected(&endpoint).await;
    for stream in [false, true] {
        let body =
            json!({"model": "m", "stream": stream, "max_tokens": 7, "messages": [{"role": "user", "content": "Hi"}]});
        let text = served.post("/v1/chat/completions", &body).send().await.unwrap().text().await.unwrap();
        assert!(stream || text == whole, "{text}");
        let (about, recording) = over(&inspector).await;
        assert_eq!((about.title.as_str(), about.status, about.rounds), ("Hi", Some(200), 1));
        let round = &recording.rounds[0];
        assert_eq!((round.said(DeltaKind::Content), round.messages[0].content.as_str()), ("Hello.".to_owned(), "Hi"));
        assert_eq!(round.finish.as_ref().unwrap().reason.as_str(), "stop");
        assert_eq!(round.sent.as_ref().unwrap().max_tokens, Some(7));
    }
}

#[tokio::test]
async fn keys_stand_nowhere_even_where_the_model_says_them_in_pieces() {
    let keys = ["sk-client-1234", "sk-door-1234", "sk-upstream-1234", "env-secret-1234"];
    let text = format!("They are {}.", keys.join(" and "));
    let pieces: Vec<Value> = text.chars().map(|c| says(&c.to_string())).chain([stops("stop")]).collect();
    let endpoint = Endpoint::answer(move |_, _| Reply::events(&pieces).done());
    let own = Secrets::new(["env-secret-1234"]);
    for (door, path) in [
        (false, "/v1/chat/completions"),
        (true, "/v1/chat/completions"),
        (false, "/v1beta/models/m:generateContent?key=sk-client-1234"),
    ] {
        let inspector = Inspector::new().with_secrets(&own);
        let kept = inspector.clone();
        let served = serve(&endpoint, |config| {
            let config = config.with_inspector(kept).with_upstream_key("sk-upstream-1234");
            if door { config.with_api_key("sk-door-1234") } else { config }
        })
        .await;
        let question = format!("My keys are {}", keys.join(", "));
        let mut bodies = vec![json!({"contents": [{"role": "user", "parts": [{"text": question}]}]})];
        if path.ends_with("completions") {
            let mut with_tools = request(false);
            with_tools["messages"][0]["content"] = question.clone().into();
            bodies = vec![with_tools, json!({"model": "m", "messages": [{"role": "user", "content": question}]})];
        }
        for body in bodies {
            let key = if door { "sk-door-1234" } else { "sk-client-1234" };
            let request = served.post(path, &body);
            let request = if path.contains('?') { request } else { request.bearer_auth(key) };
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200);
            response.text().await.unwrap();
        }
        over(&inspector).await;
        for about in inspector.list() {
            let recording = inspector.recording(about.id).unwrap();
            let told = transcript::parse(&recording).unwrap();
            let said = told.rounds[0].said(DeltaKind::Content);
            let hidden = if door { &keys[1..] } else { &["sk-client-1234", "sk-upstream-1234", "env-secret-1234"][..] };
            for key in hidden {
                assert!(
                    !recording.contains(key) && !format!("{about:?}").contains(key),
                    "{key}: {about:?} {recording}"
                );
                assert!(!said.contains(key), "{key}: {said}");
            }
            assert!(said.contains(REDACTED) && about.title.contains(REDACTED), "{said} {}", about.title);
            assert!(!recording.to_lowercase().contains("authorization"), "{recording}");
        }
    }
}

#[tokio::test]
async fn what_fails_says_why() {
    let broken = Reply::events(&[says("Once ")]).end(End::Break);
    let endpoint =
        Endpoint::start([Reply::refused(429, "slow down"), broken.clone(), Reply::refused(429, "slow down"), broken]);
    let (served, inspector) = inspected(&endpoint).await;
    served.chat(&request(false)).await;
    let (about, recording) = over(&inspector).await;
    assert_eq!((about.status, about.rounds, about.fault.is_some()), (Some(429), 1, true));
    assert!(recording.rounds[0].notices.iter().any(|notice| notice.text.contains("slow down")), "{recording:#?}");

    served.stream(&request(true)).await;
    let (about, _) = over(&inspector).await;
    assert_eq!((about.status, about.fault.is_some()), (Some(200), true), "it failed when its status was sent");

    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    served.chat(&plain).await;
    let (about, recording) = over(&inspector).await;
    assert_eq!(about.status, Some(429));
    assert!(recording.rounds[0].notices.iter().any(|notice| notice.text.contains("slow down")), "{recording:#?}");

    let mut streamed = plain.clone();
    streamed["stream"] = json!(true);
    let response = served.post("/v1/chat/completions", &streamed).send().await.unwrap();
    assert!(response.text().await.is_err(), "the client's body breaks off, too");
    let (_, recording) = over(&inspector).await;
    assert_eq!(recording.rounds[0].finish.as_ref().unwrap().reason.as_str(), "broken off", "{recording:#?}");

    served.chat(&json!({"model": "m", "n": 2, "messages": [], "tools": request(false)["tools"]})).await;
    let (about, recording) = over(&inspector).await;
    assert_eq!((about.status, about.rounds), (Some(400), 0));
    assert!(recording.rounds[0].notices[0].text.contains("'n' must be 1"), "{recording:#?}");

    let endpoint = Endpoint::start([]);
    let (served, inspector) = inspected(&endpoint).await;
    drop(endpoint);
    for body in [request(false), plain] {
        served.chat(&body).await;
        let (about, recording) = over(&inspector).await;
        assert_eq!((about.status, about.fault.is_some()), (Some(502), true));
        assert!(
            recording.rounds[0].notices.iter().any(|notice| notice.text.contains("cannot connect")),
            "{recording:#?}"
        );
    }

    let (served, inspector) = inspected(&Endpoint::start([])).await;
    served.post("/v1/chat/completions", &request(false)).header("host", "evil.example").send().await.unwrap();
    served.post("/v1/messages/count_tokens", &request(false)).send().await.unwrap();
    assert_eq!(inspector.list(), [], "what the doors refuse pushes nothing out");
}

#[tokio::test]
async fn a_request_is_seen_while_it_is_answered_and_when_its_client_has_gone() {
    for tools in [true, false] {
        let reply = Reply::events(&[says("Once upon a time, "), says("there was ")]).end(End::Stall);
        let mut endpoint = Endpoint::start([reply]);
        let (served, inspector) = inspected(&endpoint).await;
        let mut asked = request(true);
        if !tools {
            asked.as_object_mut().unwrap().remove("tools");
        }
        let mut response = served.post("/v1/chat/completions", &asked).send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        let (about, recording) = last(&inspector);
        assert_eq!((about.took, about.rounds), (None, 1), "it goes on");
        assert!(recording.rounds[0].messages.iter().any(|message| message.content == "Weather in Oslo?"));
        drop(response);
        endpoint.gone().await;
        let (about, recording) = over(&inspector).await;
        assert_eq!(about.status, Some(200));
        assert!(recording.rounds[0].finish.is_some(), "{recording:#?}");
    }
}
