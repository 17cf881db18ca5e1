//! A model that has lost its plan continues it, because the last message names the request, the
//! calls, and that a plan may be unfinished.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Map, Value, json};
use toolgraft::agent::CallerWarning;
use toolgraft::dialect::{Lang, PromptStyle, SystemPlacement, write_call};
use toolgraft::message::{Delta, FinishReason, Role};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::prompt::Options;
use toolgraft::tools::Decision;
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Dialect, Functions, Message, Model, Policy, Tool};

const CITIES: [&str; 3] = ["Paris", "Oslo", "Lima"];

/// A model that only knows its own last call and the message about it: it calls for the first city
/// in the message that has no call yet, and answers if there is none.
#[derive(Clone)]
struct Forgetful {
    dialect: Dialect,
    sent: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Forgetful {
    fn says(&self, last: &str, own: &str) -> String {
        let called = |city: &&str| own.contains(city) || last.contains(&format!("{{\"city\":\"{city}\"}}"));
        let open = CITIES.into_iter().find(|city| last.contains(city) && !called(city));
        match open {
            Some(city) => {
                let arguments = Map::from_iter([("city".to_owned(), city.into())]);
                write_call(self.dialect, None, "get_weather", &arguments)
            }
            None => format!("Done: {}.", CITIES.into_iter().filter(called).collect::<Vec<_>>().join(", ")),
        }
    }
}

impl Model for Forgetful {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let last = request.messages.last().expect("a request has messages");
        let own = request.messages.iter().rev().find(|message| message.role == Role::Assistant);
        let text = self.says(&last.content, own.map_or("", |message| &message.content));
        self.sent.lock().expect("nothing panics under the lock").push(request.messages);
        let delta = Delta::content(text);
        stream::iter([Ok(ModelEvent::Delta(delta)), Ok(ModelEvent::Finish(FinishReason::Stop))]).boxed()
    }
}

fn weather(result_bytes: usize) -> Functions {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = Tool::new("get_weather").with_description("Weather of a city").with_schema(schema);
    Functions::new("weather").with(tool, move |_: Map<String, Value>| async move {
        Ok::<_, String>(format!("clear {}", "x".repeat(result_bytes)))
    })
}

/// Returns the answer, the requests, and `true` if a part was left out of one.
async fn tour(options: Options, result_bytes: usize, context: Option<usize>) -> (String, Vec<Vec<Message>>, bool) {
    let model = Forgetful { dialect: options.dialect, sent: Arc::default() };
    let mut config = TurnConfig::default();
    config.context = context;
    config.reasons = Some(false);
    let agent = Agent::builder(model.clone(), weather(result_bytes))
        .config(config)
        .prompt(options)
        .policy(Policy::new(Decision::Allow))
        .build();
    let run = agent.run("How is the weather in Paris, Oslo and Lima?").expect("the tools can be listed");
    let events: Vec<AgentEvent> = run.collect().await;
    let cut = |e: &AgentEvent| matches!(e, AgentEvent::Notice { notice: CallerWarning::HistoryLeftOut { .. } });
    let left_out = events.iter().any(cut);
    let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
    let sent = model.sent.lock().expect("nothing panics under the lock").clone();
    (finished.answer.clone(), sent, left_out)
}

fn taught() -> impl Iterator<Item = Options> {
    let dialects = [Dialect::UseMcpTool, Dialect::ToolTag, Dialect::TypeMarker];
    dialects.into_iter().flat_map(|dialect| {
        Lang::ALL.iter().map(move |&lang| {
            let mut options = Options::default();
            (options.dialect, options.lang) = (dialect, lang);
            options
        })
    })
}

#[tokio::test]
async fn three_cities_are_asked_for_one_by_one_by_a_model_that_forgets() {
    for options in taught() {
        let lang = options.lang;
        let (answer, sent, _) = tour(options, 10, None).await;
        assert_eq!(answer, "Done: Paris, Oslo, Lima.");
        assert_eq!(sent.len(), 4);
        let told = |round: usize| sent[round].last().unwrap();
        let (request, plan) = match lang {
            Lang::En => ("How is the weather in Paris, Oslo and Lima?", "a part of the request is still open"),
            _ => ("How is the weather in Paris, Oslo and Lima?", "要求中还有没完成的部分"),
        };
        for (round, called) in [(1, &CITIES[..1]), (2, &CITIES[..2]), (3, &CITIES[..3])] {
            let told = told(round);
            assert_eq!(told.role, Role::User);
            assert!(told.content.contains(request) && told.content.contains(plan), "{}", told.content);
            // The newest call is in the message before.
            for city in &called[..called.len() - 1] {
                assert!(told.content.contains(&format!("{{\"city\":\"{city}\"}}")), "{city}: {}", told.content);
            }
        }
    }
}

#[tokio::test]
async fn the_recall_stays_when_the_context_is_cut() {
    for options in taught() {
        let (answer, sent, left_out) = tour(options, 3_000, Some(3_500)).await;
        assert_eq!(answer, "Done: Paris, Oslo, Lima.");
        assert!(left_out && sent.len() == 4, "the context was large enough, so nothing was tested");
    }
}

/// Returns the roles and texts of the first request, with the system text in this place.
async fn first_request(style: PromptStyle, placement: SystemPlacement) -> Vec<(Role, String)> {
    let options = Options::default().with_style(style);
    let model = Forgetful { dialect: options.dialect, sent: Arc::default() };
    let mut config = TurnConfig::default();
    config.placement = placement;
    config.reasons = Some(false);
    let agent = Agent::builder(model.clone(), weather(0)).config(config).prompt(options).build();
    let _: Vec<AgentEvent> = agent.run("What is the time?").expect("the tools can be listed").collect().await;
    let sent = model.sent.lock().expect("nothing panics under the lock");
    sent[0].iter().map(|message| (message.role, message.content.clone())).collect()
}

#[tokio::test]
async fn in_the_compact_style_the_examples_are_messages_where_the_system_text_is_one() {
    let apart = first_request(PromptStyle::Compact, SystemPlacement::System).await;
    let (Some(((Role::System, system), apart)), Some((Role::User, asked))) = (apart.split_first(), apart.last()) else {
        panic!("{apart:?}")
    };
    assert!(system.contains("get_weather(city: string)") && !system.contains("use_mcp_tool"), "{system}");
    let shown: Vec<(&str, &str)> = apart
        .chunks_exact(2)
        .map(|pair| {
            assert_eq!((pair[0].0, pair[1].0), (Role::User, Role::Assistant));
            (pair[0].1.as_str(), pair[1].1.as_str())
        })
        .collect();
    // Two examples without a tool, then a call with its result and the answer.
    let [_, _, (question, call), (told, answer)] = shown[..] else { panic!("{shown:?}") };
    assert_eq!((asked.as_str(), question), ("What is the time?", "Weather of a city: city-1."));
    assert!(call.starts_with("<use_mcp_tool>") && call.contains("city-1"), "{call}");
    assert_eq!((told, answer), ("Result: OK, 7", "Done: it gave 7."));

    let inside = first_request(PromptStyle::Compact, SystemPlacement::User).await;
    let [(Role::User, text)] = &inside[..] else { panic!("{inside:?}") };
    assert!(text.contains("# Examples\n\nQuestion: Say a word that rhymes with \"house\"."), "{text}");
    assert!(text.contains("\n\nQuestion: Weather of a city: city-1.\n<use_mcp_tool>"), "{text}");
    assert!(text.ends_with("What is the time?"), "{text}");

    let full = first_request(PromptStyle::Full, SystemPlacement::System).await;
    assert_eq!(full.iter().map(|(role, _)| *role).collect::<Vec<_>>(), [Role::System, Role::User], "{full:?}");
}
