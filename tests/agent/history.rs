//! A conversation without a recording, converted to a recording and replayed.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value, json};
use toolgraft::agent::Finished;
use toolgraft::conversation::{Assistant, HistoryEntry, User};
use toolgraft::dialect::write_tool_call;
use toolgraft::event::{Assembled, Collector};
use toolgraft::message::{Delta, DeltaKind, FinishReason, Image};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::parse::Config;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::Decision;
use toolgraft::transcript::{CutReason, Recording, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::validate::Validator;
use toolgraft::{Agent, AgentEvent, Call, Catalog, Conversation, Dialect, Model, Outcome, Parser, Policy, Tool};

/// Parses a round as in a replay.
fn played(recording: &Recording, round: &Round) -> Assembled {
    let catalog = Arc::new(recording.catalog(0).expect("the tools that were called are there"));
    let session = &recording.session;
    let config = Config::default()
        .with_catalog(catalog.clone())
        .with_reasoning(session.reasoning.expect("it is said where reasoning stands"))
        .with_reasoning_calls(session.reasoning_calls.expect("it is said what becomes of calls there"));
    let (mut parser, mut collector) = (Parser::new(config), Collector::new());
    for delta in &round.deltas {
        match delta.kind {
            DeltaKind::Reasoning => parser.push_reasoning(&delta.text, &mut |event| collector.push(event)),
            _ => parser.push(&delta.text, &mut |event| collector.push(event)),
        }
    }
    let finish = round.finish.as_ref().map_or(FinishReason::Other("cut off".to_owned()), |f| f.reason.clone());
    parser.finish(&finish, &mut |event| collector.push(event));
    let mut assembled = collector.finish();
    Validator::new(catalog).check_all(&mut assembled);
    assembled
}

type Said = (Option<String>, String, Value);

fn said(call: &Call) -> Said {
    (call.server.clone(), call.tool.clone(), call.arguments.clone())
}

/// Checks that each call is found again, with its outcome and the text around it.
pub(crate) fn comes_back(conversation: &Conversation, what: &str) -> usize {
    let recording = Recording::from(conversation);
    let messages: Vec<&Assistant> = conversation
        .entries()
        .iter()
        .filter_map(|entry| if let HistoryEntry::Assistant(message) = entry { Some(message) } else { None })
        .collect();
    let mut calls = 0;
    for (message, round) in messages.iter().zip(&recording.rounds) {
        let found = played(&recording, round);
        let made: Vec<Said> = message.calls().map(|called| said(&called.call)).collect();
        assert_eq!(found.calls().map(said).collect::<Vec<_>>(), made, "{what}: {round:?}");
        let ids: Vec<&str> = message.calls().map(|called| called.id.as_str()).collect();
        assert_eq!(round.outcomes.iter().map(|outcome| outcome.id.as_str()).collect::<Vec<_>>(), ids, "{what}");
        assert_eq!(found.reasoning, message.reasoning, "{what}");
        calls += made.len();
    }
    assert!(messages.len() <= recording.rounds.len());
    calls
}

/// A model with these answers, each after a reasoning.
struct Scripted(Mutex<Vec<(&'static str, String)>>);

impl Model for Scripted {
    fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (thought, text) = self.0.lock().expect("nothing panics under the lock").remove(0);
        let deltas = [Delta::reasoning(thought), Delta::content(text)].map(ModelEvent::Delta);
        stream::iter(deltas.into_iter().chain([ModelEvent::Finish(FinishReason::Stop)]).map(Ok)).boxed()
    }
}

struct Files(Arc<Catalog>);

impl Toolbox for Files {
    fn catalog(&self) -> Arc<Catalog> {
        self.0.clone()
    }

    fn call(&self, _: Invocation) -> BoxFuture<'_, Outcome> {
        Box::pin(ready(Outcome::result("<use_mcp_tool>no call, but a result</use_mcp_tool>")))
    }
}

async fn ran(model: Scripted, catalog: &Arc<Catalog>) -> Finished {
    let agent = Agent::builder(model, Files(catalog.clone()))
        .config(TurnConfig::default())
        .policy(Policy::new(Decision::Allow))
        .build();
    let events = agent.run(Conversation::from_user("Write it.")).expect("the tools can be listed");
    let Some(AgentEvent::Finished(finished)) = events.collect::<Vec<_>>().await.pop() else { panic!("it has no end") };
    *finished
}

#[tokio::test]
async fn the_calls_of_every_dialect_are_found_again() {
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "count": {"type": "integer"}, "share": {"type": "number"},
        "list": {"type": "array"}, "map": {"type": "object"}, "flag": {"type": "boolean"},
    }});
    let tool = |name: &str| Tool::new(name).with_server("files").with_schema(schema.clone());
    let catalog = Arc::new(Catalog::from_tools([tool("write_it"), tool("read_it"), tool("never_called")]));
    let arguments = json!({
        "text": "12\nlines \"of\" 天气", "count": 7, "share": 0.5, "list": ["a", 1], "map": {"k": null}, "flag": true
    });
    let arguments: Map<String, Value> = arguments.as_object().expect("it is one").clone();
    for dialect in Dialect::ALL {
        let tool = catalog.tools().next().expect("there is one");
        let call = write_tool_call(*dialect, &catalog, tool, &arguments);
        let model = Scripted(Mutex::new(vec![("A file then.", call), ("", "It is written.".to_owned())]));
        let finished = ran(model, &catalog).await;
        assert_eq!(finished.calls, 1, "{dialect:?}: {:?}", finished.reason);
        assert_eq!(comes_back(&finished.conversation, dialect.name()), 1);
    }
}

#[test]
fn what_is_said_beside_the_calls_stays_too() {
    let image = Image::new(b"GIF89a").expect("it is one").with_name("dot.gif");
    let mut conversation = Conversation::from_user(User::new("Look").with_image(image));
    let quoted = "`<use_mcp_tool>`";
    let mut message = Assistant::text(format!("An example is {quoted}."));
    message.reasoning = "Hm.".to_owned();
    conversation.push_assistant(message).expect("it is its turn");
    conversation.push_note("Say more.").expect("it follows a message");
    let mut cut = Assistant::text("More");
    cut.cut_off = true;
    conversation.push_assistant(cut).expect("it is its turn");
    conversation.push_user("And?").expect("nothing waits");
    let recording = Recording::from(&conversation);
    let [first, second, last] = recording.rounds.as_slice() else { panic!("{recording:?}") };
    assert_eq!((first.messages[0].content.as_str(), first.messages[0].images.len()), ("Look", 1));
    assert_eq!(first.said(DeltaKind::Content), format!("An example is {quoted}."));
    assert_eq!(first.said(DeltaKind::Reasoning), "Hm.");
    assert_eq!(first.notices[0].text, "Say more.");
    assert!(first.finish.is_some() && second.finish.is_none(), "one was cut off");
    assert_eq!(last.messages[0].content, "And?");
    assert_eq!(recording.cut.map(|cut| cut.reason), Some(CutReason::NoAnswer));
    assert!(Recording::from(&Conversation::new()).rounds.is_empty());
}
