//! Native calls: in a text conversation, in requests that carry tools, and from one to the other.

use super::*;

/// Says these events, answer by answer, and keeps the requests.
struct Scripted {
    answers: Mutex<std::collections::VecDeque<Vec<Result<ModelEvent, ModelError>>>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Vec<Result<ModelEvent, ModelError>>>) -> Arc<Self> {
        Arc::new(Scripted { answers: Mutex::new(answers.into_iter().collect()), requests: Mutex::default() })
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.requests.lock().unwrap().push(request);
        stream::iter(self.answers.lock().unwrap().pop_front().expect("an answer is left")).boxed()
    }
}

/// An answer of a text and native calls of the tool `demo__weather`: id and city.
fn native(text: &str, calls: &[(&str, &str)]) -> Vec<Result<ModelEvent, ModelError>> {
    let delta = crate::message::Delta { kind: crate::message::DeltaKind::Content, text: text.into() };
    let call = |(id, city): &(&str, &str)| {
        let arguments = json!({"city": city});
        ModelEvent::Call(crate::message::NativeCall::new(*id, "demo__weather", arguments.as_object().unwrap()))
    };
    let calls = calls.iter().map(call);
    let events = std::iter::once(ModelEvent::Delta(delta)).chain(calls);
    events.chain([ModelEvent::Finish(FinishReason::ToolCalls)]).map(Ok).collect()
}

fn allowing(model: Arc<Scripted>) -> AgentBuilder {
    Agent::builder(model, tools().0).policy(Policy::new(Otherwise::Allow)).voice(|_| Arc::new(Plain))
}

#[tokio::test]
async fn a_native_call_keeps_its_id_and_is_text_in_the_history() {
    let model = Scripted::new([native("Let me look.", &[("abc", "Paris"), ("def", "Rome")]), native("Sunny.", &[])]);
    let finished = allowing(model.clone()).build().run("Weather?").unwrap().finish().await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 2));
    let request = &model.requests()[1];
    assert_eq!(request.messages[3].content, "abc Result: sunny in Paris\ndef Result: sunny in Rome");
    let text = &request.messages[2].content;
    assert!(text.starts_with("Let me look.\n<use_mcp_tool>\n<server_name>demo</server_name>"), "{text}");
    let message = finished.conversation.messages().next().unwrap();
    assert_eq!((message.content().as_str(), message.calls().count()), ("Let me look.", 2));
}

#[tokio::test]
async fn a_native_call_runs_whatever_the_text_before_it_leaves_open() {
    for text in ["<think>I need the weather.", "<think>Draft: ", "```\ncode", "<use_mcp_tool>\n<server_name>de"] {
        let model = Scripted::new([native(text, &[("abc", "Paris")]), native("Sunny.", &[])]);
        let finished = allowing(model).build().run("Weather?").unwrap().finish().await;
        assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1), "{text}");
    }
    let drafts = format!("I might call {}", weather("Rome"));
    let model = Scripted::new([native(&drafts, &[("abc", "Paris")]), native("</think>Sunny.", &[])]);
    let profile = Profile::for_model("deepseek-r1");
    let finished = allowing(model).profile(profile).build().run("Weather?").unwrap().finish().await;
    let called: Vec<_> = finished.conversation.messages().flat_map(|m| m.calls()).map(|c| c.id.as_str()).collect();
    assert_eq!(called, ["abc"], "the draft is not promoted beside a call");
}

#[tokio::test]
async fn calls_in_the_text_and_native_ones_count_but_the_same_one_counts_once() {
    let text = format!("{}\n{}", weather("Paris"), weather("Rome"));
    let model = Scripted::new([native(&text, &[("abc", "Rome"), ("def", "Oslo")]), native("Sunny.", &[])]);
    let finished = allowing(model.clone()).build().run("Weather?").unwrap().finish().await;
    assert_eq!(finished.calls, 3);
    let told = "call_1 Result: sunny in Paris\ncall_2 Result: sunny in Rome\ndef Result: sunny in Oslo";
    assert_eq!(model.requests()[1].messages[3].content, told);
}

#[tokio::test]
async fn a_native_call_of_an_unknown_tool_is_corrected() {
    let wrong = crate::message::NativeCall { name: "wether".into(), ..Default::default() };
    let answer = vec![Ok(ModelEvent::Call(wrong)), Ok(ModelEvent::Finish(FinishReason::ToolCalls))];
    let model = Scripted::new([answer, native("", &[("abc", "Paris")]), native("Sunny.", &[])]);
    let finished = allowing(model.clone()).build().run("Weather?").unwrap().finish().await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1));
    let told = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(told.starts_with("unknown_tool") && told.ends_with("[\"weather\"]"), "{told}");
}

#[tokio::test]
async fn a_native_call_of_a_display_only_tool_is_shown_under_its_own_id() {
    let model = Scripted::new([native("Look:", &[("abc", "Paris"), ("def", "Rome")])]);
    let agent = allowing(model).display_only("weather").build();
    let events: Vec<AgentEvent> = agent.run("Weather?").unwrap().collect().await;
    let shown = |event: &AgentEvent| match event {
        AgentEvent::Display(call) => Some((call.id.clone(), call.arguments["city"].clone())),
        _ => None,
    };
    let shown: Vec<_> = events.iter().filter_map(shown).collect();
    assert_eq!(shown, [("abc".to_owned(), json!("Paris")), ("def".to_owned(), json!("Rome"))]);
    let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
    assert_eq!((&finished.reason, finished.rounds), (&StopReason::Answered, 1));
    assert!(finished.conversation.answered().iter().all(|a| a.outcome.status == Status::Displayed));
}
