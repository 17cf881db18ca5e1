//! Native calls: in a text conversation, in requests that carry tools, and from one to the other.

use super::*;
use crate::tools::ToolsMode;

/// Model that answers each request with the next list of events, and records the requests.
struct Scripted {
    answers: Mutex<std::collections::VecDeque<Vec<Result<ModelEvent, ModelError>>>>,
    requests: Mutex<Vec<Request>>,
    /// Report whether requests may carry tools, which `native_tools` returns.
    tools: Option<bool>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Vec<Result<ModelEvent, ModelError>>>) -> Arc<Self> {
        Scripted::saying(None, answers)
    }

    fn saying(
        tools: Option<bool>,
        answers: impl IntoIterator<Item = Vec<Result<ModelEvent, ModelError>>>,
    ) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Scripted { answers, requests: Mutex::default(), tools })
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

    fn native_tools(&self, _: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        Box::pin(std::future::ready(self.tools))
    }
}

fn said(text: &str) -> ModelEvent {
    ModelEvent::Delta(crate::message::Delta { kind: crate::message::DeltaKind::Content, text: text.into() })
}

/// Returns the events of an answer with a text and native calls of the tool `demo__weather`, each by id and city.
fn native(text: &str, calls: &[(&str, &str)]) -> Vec<Result<ModelEvent, ModelError>> {
    let call = |(id, city): &(&str, &str)| {
        let arguments = json!({"city": city});
        ModelEvent::Call(crate::message::NativeCall::new(*id, "demo__weather", arguments.as_object().unwrap()))
    };
    let calls = calls.iter().map(call);
    let reason = if calls.len() == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
    let events = std::iter::once(said(text)).chain(calls);
    events.chain([ModelEvent::Finish(reason)]).map(Ok).collect()
}

fn allowing(model: Arc<Scripted>) -> AgentBuilder {
    Agent::builder(model, tools().0).policy(Policy::new(Decision::Allow)).wording(|_| Arc::new(Plain))
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

/// Returns the options of an agent with this model that offers tools in this mode.
fn with_mode(model: Arc<Scripted>, mode: ToolsMode) -> AgentBuilder {
    allowing(model).tools_mode(mode)
}

fn refuses() -> Vec<Result<ModelEvent, ModelError>> {
    let message = "registry.ollama.ai/library/gemma3:4b does not support tools (api_error)".to_owned();
    vec![Err(ModelError::refused("http://localhost/v1", 400, message))]
}

async fn played(builder: AgentBuilder, conversation: impl Into<Conversation>) -> (Vec<AgentEvent>, Finished) {
    let events: Vec<AgentEvent> = builder.build().run(conversation).unwrap().collect().await;
    let Some(AgentEvent::Finished(finished)) = events.last().cloned() else { panic!("{events:?}") };
    (events, *finished)
}

fn notices(events: &[AgentEvent]) -> Vec<String> {
    let text = |event: &AgentEvent| match event {
        AgentEvent::Notice { notice } => Some(notice.to_string()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// Returns role, text, and calls or answered call of each message of a request, one line per message.
fn shape(request: &Request) -> Vec<String> {
    fn calls(message: &Message) -> String {
        let call = |c: &crate::message::NativeCall| format!(" {}:{}{}", c.id.as_deref().unwrap(), c.name, c.arguments);
        message.calls.iter().map(call).collect()
    }
    let line = |m: &Message| {
        let id = m.call_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
        format!("{:?}{id}: {}{}", m.role, m.content, calls(m))
    };
    request.messages.iter().map(line).collect()
}

#[tokio::test]
async fn native_requests_carry_tools_calls_and_results() {
    let answers = [native("Let me look.", &[("abc", "Paris"), ("def", "Rome")]), native("Sunny.", &[])];
    let model = Scripted::new(answers);
    let (_, finished) = played(with_mode(model.clone(), ToolsMode::Native), "Weather?").await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 2));
    let requests = model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["demo__weather", "demo__wait", "demo__fail"]);
    assert_eq!(shape(&requests[0]), ["User: Weather?"]);
    let calls = r#" abc:demo__weather{"city":"Paris"} def:demo__weather{"city":"Rome"}"#;
    assert_eq!(
        shape(&requests[1]),
        [
            "User: Weather?",
            &format!("Assistant: Let me look.{calls}"),
            "Tool abc: sunny in Paris",
            "Tool def: sunny in Rome"
        ]
    );
}

#[tokio::test]
async fn auto_asks_the_profile_then_the_endpoint_then_watches_for_a_refusal() {
    // What the profile and the endpoint say, and whether requests carry tools.
    for (profile, endpoint, native_mode) in [
        (None, None, false),
        (None, Some(true), true),
        (None, Some(false), false),
        (Some(true), None, true),
        (Some(true), Some(false), false),
        (Some(false), Some(true), false),
    ] {
        let model = Scripted::saying(endpoint, [native("Sunny.", &[])]);
        let config = TurnConfig { native_tools: profile, tools_mode: ToolsMode::Auto, ..TurnConfig::default() };
        let (events, finished) = played(allowing(model.clone()).config(config), "Weather?").await;
        assert_eq!(finished.answer, "Sunny.");
        assert!(notices(&events).is_empty());
        assert_eq!(!model.requests()[0].tools.is_empty(), native_mode, "{profile:?} {endpoint:?}");
    }
}

#[tokio::test]
async fn a_refusal_of_tools_falls_back_to_the_prompt_in_the_same_round() {
    let in_text = vec![Ok(said(&weather("Paris"))), Ok(ModelEvent::Finish(FinishReason::Stop))];
    let model = Scripted::saying(Some(true), [refuses(), in_text, native("Sunny.", &[])]);
    let (events, finished) = played(with_mode(model.clone(), ToolsMode::Auto), "Weather?").await;
    assert_eq!((finished.answer.as_str(), finished.rounds, finished.calls), ("Sunny.", 2, 1));
    let told = notices(&events);
    assert!(
        told.len() == 1
            && told[0].contains("does not support tools")
            && told[0].contains("the prompt describes them instead"),
        "{told:?}"
    );
    let started = events.iter().filter(|e| matches!(e, AgentEvent::RoundStarted { .. })).count();
    assert_eq!(started, 2);
    let requests = model.requests();
    assert_eq!(requests.iter().map(|r| r.tools.len()).collect::<Vec<_>>(), [3, 0, 0]);
    assert_eq!(requests[1].messages[0].content, "tools: auto", "the prompt describes the tools");
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_a_turn_loses_nothing() {
    let model = Scripted::saying(Some(true), [native("", &[("abc", "Paris")]), refuses(), native("Sunny.", &[])]);
    let (_, finished) = played(with_mode(model.clone(), ToolsMode::Auto), "Weather?").await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1));
    let last = shape(&model.requests()[2]);
    assert!(last[2].contains("<use_mcp_tool>") && last[3] == "User: abc Result: sunny in Paris", "{last:?}");
}

#[tokio::test]
async fn a_refusal_where_nothing_else_may_be_done_ends_the_turn_with_the_remedy() {
    let model = Scripted::new([refuses()]);
    let (_, finished) = played(with_mode(model, ToolsMode::Native), "Weather?").await;
    let StopReason::ModelFailed(ModelFailure { message, .. }) = finished.reason else {
        panic!("{:?}", finished.reason)
    };
    assert!(
        message.contains("does not support tools")
            && message.contains("without native calls the prompt describes the tools"),
        "{message}"
    );

    let model = Scripted::new([refuses()]);
    let (_, finished) = played(with_mode(model, ToolsMode::Prompt), "Weather?").await;
    let StopReason::ModelFailed(ModelFailure { message, .. }) = finished.reason else {
        panic!("{:?}", finished.reason)
    };
    assert!(!message.contains("without native calls"), "no tools were sent: {message}");
}

#[tokio::test]
async fn a_call_in_the_text_counts_in_a_native_turn_too() {
    let in_text = vec![Ok(said(&format!("Look.\n{}", weather("Paris")))), Ok(ModelEvent::Finish(FinishReason::Stop))];
    let model = Scripted::new([in_text, native("Sunny.", &[])]);
    let (_, finished) = played(with_mode(model.clone(), ToolsMode::Native), "Weather?").await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1));
    let expected = [r#"Assistant: Look. call_1:demo__weather{"city":"Paris"}"#, "Tool call_1: sunny in Paris"];
    assert_eq!(shape(&model.requests()[1])[1..], expected);
}

#[tokio::test]
async fn a_conversation_goes_on_in_the_other_mode_and_back() {
    let mut conversation = Conversation::from("Weather?");
    let mut shapes = Vec::new();
    for mode in [ToolsMode::Prompt, ToolsMode::Native, ToolsMode::Prompt] {
        let by_text = vec![Ok(said(&weather("Paris"))), Ok(ModelEvent::Finish(FinishReason::Stop))];
        let asks = if mode == ToolsMode::Native { native("", &[("abc", "Rome")]) } else { by_text };
        let model = Scripted::new([asks, native("Sunny.", &[])]);
        // Stored and read back in between.
        let stored = serde_json::to_string(&conversation).unwrap();
        let (_, finished) =
            played(with_mode(model.clone(), mode), serde_json::from_str::<Conversation>(&stored).unwrap()).await;
        assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1));
        shapes.push(shape(&model.requests()[1]));
        conversation = finished.conversation;
        conversation.push_user("And now?").unwrap();
    }
    let native = &shapes[1];
    assert_eq!(native[1], r#"Assistant:  call_1:demo__weather{"city":"Paris"}"#);
    assert_eq!(
        native[2..6],
        [
            "Tool call_1: sunny in Paris",
            "Assistant: Sunny.",
            "User: And now?",
            r#"Assistant:  abc:demo__weather{"city":"Rome"}"#
        ]
    );
    let back = &shapes[2];
    assert!(back[6].contains("<use_mcp_tool>") && back[6].contains("Rome"), "{back:?}");
    assert_eq!(back[7], "User: abc Result: sunny in Rome");
    assert!(!back.iter().any(|line| line.starts_with("Tool")), "{back:?}");
}

#[tokio::test]
async fn denied_cancelled_and_wrong_calls_have_their_message_too() {
    let wrong =
        crate::message::NativeCall { id: Some("w".into()), name: "wether".into(), arguments: "{\"city\"".into() };
    let mut answer = native("", &[("abc", "Paris")]);
    answer.insert(1, Ok(ModelEvent::Call(wrong)));
    let model = Scripted::new([answer, native("", &[]), native("Sorry.", &[])]);
    let builder = with_mode(model.clone(), ToolsMode::Native).policy(Policy::default());
    let (_, finished) = played(builder, "Weather?").await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sorry.", 0));
    let requests = model.requests();
    let second = shape(&requests[1]);
    assert_eq!(second[1], r#"Assistant:  w:wether{} abc:demo__weather{"city":"Paris"}"#, "no broken JSON goes back");
    assert!(second[2].starts_with("Tool w: ") && second[2].contains("not valid JSON"), "{second:?}");
    assert_eq!(second[3], "Tool abc: NotRunAfter(\"wether\")", "it follows the wrong one");
    // The empty answer is a note, after the last result.
    assert_eq!(shape(&requests[2]).last().unwrap(), "User: EmptyAnswer");
}

#[tokio::test]
async fn the_choice_goes_with_the_request_under_the_tools_name_on_the_wire() {
    let model = Scripted::new([native("", &[("abc", "Paris")]), native("Sunny.", &[])]);
    let builder = with_mode(model.clone(), ToolsMode::Native);
    let mut config = builder.inner.config.clone();
    config.tool_choice = ToolChoice::Named("demo.weather".into());
    let (_, finished) = played(builder.config(config), "Weather?").await;
    assert_eq!(finished.calls, 1);
    let choices: Vec<_> = model.requests().into_iter().map(|r| r.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Named("demo__weather".into()), ToolChoice::Auto]);
}

#[tokio::test]
async fn cancelling_while_the_endpoint_is_asked_sends_nothing() {
    struct Slow;
    impl Model for Slow {
        fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
            panic!("nothing is sent")
        }
        fn native_tools(&self, _: Option<&str>) -> BoxFuture<'static, Option<bool>> {
            Box::pin(std::future::pending())
        }
    }
    let agent = Agent::builder(Slow, tools().0).tools_mode(ToolsMode::Auto).build();
    let run = agent.run("Weather?").unwrap();
    run.cancel();
    let finished = run.finish().await;
    assert_eq!((finished.reason, finished.rounds), (StopReason::Cancelled, 0));
    assert!(finished.conversation.awaits_model(), "it can be asked again");
}

#[tokio::test]
async fn the_prompts_own_words_serve_native_requests() {
    let model = Scripted::new([native("", &[("abc", "Paris")]), native("Sunny.", &[])]);
    let agent = Agent::builder(model.clone(), tools().0).policy(Policy::new(Decision::Allow));
    let finished = agent.tools_mode(ToolsMode::Native).build().run("Weather?").unwrap().finish().await;
    assert_eq!(finished.calls, 1);
    let shapes = shape(&model.requests()[1]);
    assert_eq!(shapes.last().unwrap(), "Tool abc: sunny in Paris");
    assert!(!shapes.concat().contains("use_mcp_tool"), "no syntax is taught: {shapes:?}");
}

/// Plays two questions with one agent; returns the messages of its corrections, and the number of tools that each
/// request carried.
async fn left(
    answers: [Vec<Result<ModelEvent, ModelError>>; 3],
    choice: ToolChoice,
    question: &str,
) -> (Vec<String>, Vec<usize>) {
    let model = Scripted::saying(Some(true), answers);
    let config = TurnConfig { tool_choice: choice, tools_mode: ToolsMode::Auto, ..TurnConfig::default() };
    let agent = allowing(model.clone()).config(config).policy(Policy::new(Decision::Allow)).build();
    let events: Vec<AgentEvent> = agent.run(question).unwrap().collect().await;
    let why = |event: &AgentEvent| match event {
        AgentEvent::Correcting { message, .. } => Some(message.clone()),
        _ => None,
    };
    (events.iter().filter_map(why).collect(), model.requests().iter().map(|request| request.tools.len()).collect())
}

#[tokio::test]
async fn native_calls_that_do_not_come_where_they_are_due_are_left_for_the_prompt() {
    let in_text = vec![Ok(said(&weather("Paris"))), Ok(ModelEvent::Finish(FinishReason::Stop))];
    let answers = [native("It is sunny.", &[]), in_text, native("Sunny.", &[])];
    let (why, tools) = left(answers, ToolChoice::Required, "Weather?").await;
    assert!(why[0].contains("no native call came"), "{why:?}");
    assert_eq!(tools, [3, 0, 0]);
}

#[tokio::test]
async fn native_calls_at_a_greeting_do_not_run_and_are_left_for_the_prompt() {
    let unused = native("", &[]);
    let (why, tools) =
        left([native("", &[("abc", "Paris")]), native("Hello!", &[]), unused], ToolChoice::Auto, "Hi!").await;
    assert!(why[0].contains("at a greeting"), "{why:?}");
    assert_eq!(tools, [3, 0], "nothing ran, and nothing was told");
}

#[tokio::test]
async fn what_was_left_is_left_in_the_next_conversation_too() {
    let model =
        Scripted::saying(Some(true), [native("", &[("abc", "Paris")]), native("Hello!", &[]), native("Sunny.", &[])]);
    let agent = with_mode(model.clone(), ToolsMode::Auto).policy(Policy::new(Decision::Allow)).build();
    for question in ["Hello", "Weather?"] {
        agent.run(question).unwrap().finish().await;
    }
    assert_eq!(model.requests().iter().map(|request| request.tools.len()).collect::<Vec<_>>(), [3, 0, 0]);
}
