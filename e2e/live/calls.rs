//! Calls that the real model is constrained to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::{BoxStream, StreamExt};
use serde_json::{Map, Value, json};
use toolgraft::agent::{Approval, Finished};
use toolgraft::constrain::{Constrain, Constraint};
use toolgraft::dialect::Lang;
use toolgraft::message::FinishReason;
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::outcome::Status;
use toolgraft::prompt::Options;
use toolgraft::tools::{Decision, ToolChoice, ToolsMode};
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Dialect, Functions, Message, Model, OpenAi, Policy, Tool};
use toolgraft_mcp::Hub;
use toolgraft_mcp::ServerConfig;
use toolgraft_testkit::real;

use crate::server::{Server, free_port, shared, wanted};

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn model(server: &Server) -> OpenAi {
    OpenAi::new(server.url(), "smollm2").unwrap()
}

async fn fine(_: Map<String, Value>) -> Result<Value, String> {
    Ok(json!("fine"))
}

fn functions() -> Functions {
    let text = json!({"type": "string"});
    let weather =
        json!({"type": "object", "properties": {"city": text, "days": {"type": "integer"}}, "required": ["city"]});
    let mail = json!({"type": "object", "required": ["to", "subject"], "properties": {
        "to": {"type": "array", "items": text, "maxItems": 2}, "subject": text,
        "priority": {"enum": ["low", "high"]}}});
    let tool = |name: &str, what: &str, schema: Value| Tool::new(name).with_description(what).with_schema(schema);
    Functions::new("office")
        .with(tool("get_weather", "The weather of a city", weather), fine)
        .with(tool("send_mail", "Sends a mail", mail), fine)
}

fn config(choice: ToolChoice) -> TurnConfig {
    let mut config = TurnConfig::default().with_policy(Policy::new(Decision::Allow));
    config.tool_choice = choice;
    config.constrain = Constrain::Require;
    config.temperature = Some(0.0);
    config.max_tokens = Some(160);
    config.max_calls = Some(1);
    // Only the call is checked: nothing runs in the last round.
    config.max_rounds = 1;
    config.max_corrections = 0;
    config
}

fn prompt(dialect: Dialect, lang: Lang) -> Options {
    let mut options = Options::default();
    (options.dialect, options.lang) = (dialect, lang);
    options
}

async fn events(agent: &Agent, question: &str) -> Vec<AgentEvent> {
    agent.run(question).unwrap().collect().await
}

fn finished(events: &[AgentEvent]) -> &Finished {
    match events.last() {
        Some(AgentEvent::Finished(finished)) => finished,
        other => panic!("{other:?}"),
    }
}

/// Returns the accepted calls, and the number of rejected ones.
fn calls(events: &[AgentEvent]) -> (Vec<&toolgraft::Call>, usize) {
    let accepted = events.iter().filter_map(|event| match event {
        AgentEvent::CallEnded { call, .. } => Some(&**call),
        _ => None,
    });
    let rejected = events.iter().filter(|event| matches!(event, AgentEvent::CallRejected { .. }));
    (accepted.collect(), rejected.count())
}

#[test]
fn every_required_call_is_accepted() {
    if !wanted("every_required_call_is_accepted") {
        return;
    }
    let questions = [
        "What is the weather in Oslo?",
        "Will it rain in Lyon in the next 3 days?",
        "Write to ada@example.com that lunch is at noon.",
        "Tell bob@example.com and eve@example.com \"no\", it is urgent!",
    ];
    runtime().block_on(async {
        let mut cut_off = 0;
        for (dialect, read) in [
            (Dialect::UseMcpTool, Dialect::UseMcpTool),
            (Dialect::TypeMarker, Dialect::TypeMarker),
            (Dialect::ToolTag, Dialect::Json),
        ] {
            for (temperature, lang) in [(0.0, Lang::En), (0.8, Lang::Zh)] {
                let mut config = config(ToolChoice::Required);
                config.temperature = Some(temperature);
                let agent = Agent::builder(model(shared()), functions()).config(config).prompt(prompt(dialect, lang));
                let agent = agent.build();
                for question in questions {
                    let events = events(&agent, question).await;
                    let (accepted, rejected) = calls(&events);
                    let cut = |e: &AgentEvent| {
                        matches!(e, AgentEvent::RoundFinished { finish: Some(FinishReason::Length), .. })
                    };
                    // A weak model may repeat a text up to the limit, and the structure is valid up
                    // to there.
                    if events.iter().any(cut) {
                        assert!(accepted.is_empty(), "{events:?}");
                        cut_off += 1;
                        continue;
                    }
                    assert_eq!((accepted.len(), rejected), (1, 0), "{dialect} {lang:?} {question}: {events:?}");
                    assert_eq!(accepted[0].dialect, read, "{question}");
                }
            }
        }
        assert!(cut_off <= 6, "{cut_off} of 24 went on to the limit");
    });
}

#[test]
fn a_named_tool_of_a_real_server_is_asked_about_and_runs() {
    if !wanted("a_named_tool_of_a_real_server_is_asked_about_and_runs") {
        return;
    }
    runtime().block_on(async {
        let server = |program: &Value| {
            let arguments = ["--local-timezone", "Etc/UTC"].map(String::from);
            ServerConfig::stdio("time", program["command"].as_str().unwrap(), arguments)
        };
        let program = real::python("mcp-server-time", &[]);
        for allow in [true, false] {
            let hub = Hub::builder().server(server(&program)).inherit_env().require_all().connect().await.unwrap();
            let mut config = config(ToolChoice::Named("get_current_time".to_owned()));
            (config.max_rounds, config.policy) = (2, Policy::new(Decision::Ask));
            let asked = Arc::new(AtomicUsize::new(0));
            let count = asked.clone();
            let agent = Agent::builder(model(shared()), hub).config(config).approver(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                let answer = Approval::from(allow);
                async move { answer }
            });
            let events = events(&agent.build(), "What time is it in Asia/Tokyo?").await;
            let outcome = events.iter().find_map(|event| match event {
                AgentEvent::Outcome { outcome, .. } => Some(outcome),
                _ => None,
            });
            let outcome = outcome.unwrap_or_else(|| panic!("{events:?}"));
            assert_eq!(asked.load(Ordering::SeqCst), 1, "{events:?}");
            // The model may choose a time zone that does not exist.
            let ran = matches!(outcome.status, Status::Result | Status::ToolError);
            assert_eq!((ran, outcome.status == Status::Denied), (allow, !allow), "{outcome:?}");
        }
    });
}

/// A model that is wrong first, and then the real model.
struct WrongFirst(Recorded, OpenAi, AtomicUsize);

impl Model for WrongFirst {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        match self.2.fetch_add(1, Ordering::SeqCst) {
            0 => {
                assert!(request.constraint.is_none_or(|c| c.grammar.is_none()), "the first round is free");
                self.0.stream(Request::new(request.messages))
            }
            _ => self.1.stream(request),
        }
    }

    fn constrains(&self) -> bool {
        true
    }
}

#[test]
fn the_round_that_corrects_is_right_at_once() {
    if !wanted("the_round_that_corrects_is_right_at_once") {
        return;
    }
    runtime().block_on(async {
        for (dialect, wrong) in [
            (
                Dialect::UseMcpTool,
                "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"town\": 1}\n</arguments>\n</use_mcp_tool>",
            ),
            (Dialect::TypeMarker, "TYPE: MCP\n{\"tool_name\": \"get_wetter\", \"parameters\": {}}"),
        ] {
            let model = WrongFirst(Recorded::new([Round::text(wrong)]), model(shared()), AtomicUsize::new(0));
            let mut config = config(ToolChoice::Auto);
            (config.max_rounds, config.max_corrections) = (2, 1);
            let agent = Agent::builder(model, functions()).config(config).prompt(prompt(dialect, Lang::En)).build();
            let events = events(&agent, "What is the weather in Oslo?").await;
            let (accepted, rejected) = calls(&events);
            assert_eq!((accepted.len(), rejected), (1, 1), "{dialect}: {events:?}");
            assert_eq!(accepted[0].dialect, dialect);
        }
    });
}

#[test]
fn what_the_server_refuses_is_left_out_without_losing_an_answer() {
    if !wanted("what_the_server_refuses_is_left_out_without_losing_an_answer") {
        return;
    }
    runtime().block_on(async {
        let model = model(shared());
        let broken = json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]});
        let request = |constraint: Constraint| {
            let mut request = Request::new(vec![Message::user("Hi")]);
            // White space is allowed before the value.
            (request.max_tokens, request.constraint) = (Some(64), Some(Arc::new(constraint)));
            request.temperature = Some(0.0);
            request
        };
        let refusals = async |request| {
            let events: Vec<_> = model.stream(request).map(|event| event.unwrap()).collect().await;
            let refused = events.iter().filter(|e| matches!(e, ModelEvent::ConstraintRefused(_))).count();
            assert!(matches!(events.last(), Some(ModelEvent::Finish(_) | ModelEvent::Usage(_))), "{events:?}");
            let text: String = events
                .iter()
                .filter_map(|e| if let ModelEvent::Delta(delta) = e { Some(delta.text.as_str()) } else { None })
                .collect();
            (refused, text)
        };
        assert_eq!(refusals(request(Constraint::answer(broken.clone()))).await.0, 1);
        // Remembered for this schema only.
        assert_eq!(refusals(request(Constraint::answer(broken.clone()))).await.0, 0);
        let (refused, text) = refusals(request(Constraint::answer(json!({"enum": [17]})))).await;
        assert_eq!((refused, text.trim()), (0, "17"));
        let required = model.stream(request(Constraint::answer(broken).require())).collect::<Vec<_>>().await;
        assert!(matches!(&required[..], [Err(ModelError::Unconstrained { .. })]), "{required:?}");
    });
}

#[test]
fn native_tools_with_a_template_that_knows_them() {
    if !wanted("native_tools_with_a_template_that_knows_them") {
        return;
    }
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../e2e/live/native.jinja");
    let server = Server::start(free_port(), &["--context", "2048", "--chat-template-file", template]);
    runtime().block_on(async {
        let native = model(&server);
        assert_eq!(native.native_tools(None).await, Some(true), "the template's");
        assert_eq!(model(shared()).native_tools(None).await, Some(false), "the model's own has none");
        let mut config = config(ToolChoice::Auto);
        (config.max_rounds, config.max_tokens, config.constrain) = (2, Some(60), Constrain::Auto);
        let agent = Agent::builder(native, functions()).config(config).tools_mode(ToolsMode::Auto).build();
        let events = events(&agent, "What is the weather in Oslo?").await;
        let reason = finished(&events).reason.clone();
        assert!(!matches!(reason, toolgraft::agent::StopReason::ModelFailed(_)), "{events:?}");
        let refused = events.iter().any(|event| matches!(event, AgentEvent::Notice { .. }));
        assert!(!refused, "the tools went into the request: {events:?}");
    });
}
