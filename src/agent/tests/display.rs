//! Display-only tools from the prompt to the event.

use super::*;
use crate::dialect::{Dialect, write_tool_call};
use crate::outcome::Outcome;
use crate::prompt::Options;

fn chart() -> Tool {
    let schema = json!({"type": "object", "properties": {"points": {"type": "array", "items": {"type": "number"}}},
        "required": ["points"]});
    Tool::new("show_chart").with_description("Draws a chart").with_schema(schema)
}

fn displayed(events: &[AgentEvent]) -> Vec<&DisplayCall> {
    let mut calls = Vec::new();
    for event in events {
        if let AgentEvent::Display(call) = event {
            calls.push(call);
        }
    }
    calls
}

async fn events(agent: &Agent, conversation: impl Into<Conversation>) -> Vec<AgentEvent> {
    agent.run(conversation).unwrap().collect().await
}

/// Tests every taught dialect, with the default policy and the configuration for an unknown model.
#[tokio::test]
async fn a_chart_reaches_the_caller_beside_the_text_in_every_taught_dialect() {
    for dialect in Dialect::taught() {
        let tools = Functions::new("ui").display(chart());
        let arguments = json!({"points": [1, 2.5]});
        let call = write_tool_call(
            dialect,
            &tools.catalog(),
            tools.catalog().tools().next().unwrap(),
            arguments.as_object().unwrap(),
        );
        let text = match dialect {
            Dialect::TypeMarker => format!("TYPE: ANSWER\nSales:\n{call}\nTYPE: ANSWER\nThey rise."),
            _ => format!("Sales:\n{call}\nThey rise."),
        };
        let model = Arc::new(Recorded::new([Round::text(text), Round::text("TYPE: ANSWER\nYou are welcome.")]));
        let options = Options { dialect, ..Options::default() };
        let agent = Agent::builder(model.clone(), tools).prompt(options).build();
        let events = events(&agent, "How are sales?").await;
        let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
        assert_eq!((&finished.reason, finished.rounds), (&StopReason::Answered, 1), "{dialect}: {events:?}");
        let words: Vec<&str> = finished.answer.split_whitespace().collect();
        assert_eq!(words, ["Sales:", "They", "rise."], "{dialect}");
        let [shown] = displayed(&events)[..] else { panic!("{dialect}: {events:?}") };
        assert_eq!((shown.tool.as_str(), shown.server.as_deref()), ("show_chart", Some("ui")));
        assert_eq!(shown.arguments["points"], json!([1, 2.5]));

        let mut conversation = finished.conversation.clone();
        conversation.push_user("Thanks!").unwrap();
        agent.run(conversation).unwrap().finish().await;
        let requests = model.requests();
        let last = &requests[1].messages.last().unwrap().content;
        let told = "<tool_status>\nShown to the user: show_chart (call_1).\n</tool_status>\n\n";
        assert!(last.starts_with(told) && last.ends_with("Thanks!"), "{last}");
    }
}

#[tokio::test]
async fn a_pattern_marks_the_tools_of_a_server_that_cannot() {
    let (tools, ran) = tools();
    let model = Recorded::new([Round::text(format!("{} Look.", weather("Paris")))]);
    let config = TurnConfig { reasons: Some(false), ..TurnConfig::default() };
    let agent = Agent::builder(model, tools).config(config).display_only("demo/wea*").build();
    let events = events(&agent, "Weather?").await;
    assert_eq!(displayed(&events)[0].arguments["city"], "Paris");
    assert_eq!(ran.load(Ordering::Relaxed), 0, "nothing runs");
    let place = |wanted: &dyn Fn(&AgentEvent) -> bool| events.iter().position(wanted).unwrap();
    let shown = place(&|e| matches!(e, AgentEvent::Display(_)));
    let text = place(&|e| matches!(e, AgentEvent::Text { text } if text.contains("Look")));
    assert!(shown < text, "the event comes as the call ends: {events:?}");
    let json = serde_json::to_value(&events[shown]).unwrap();
    assert_eq!((&json["type"], &json["id"], &json["index"]), (&json!("display"), &json!("call_1"), &json!(0)));
    assert_eq!(serde_json::from_value::<AgentEvent>(json).unwrap(), events[shown]);
}

#[tokio::test]
async fn an_outcomes_events_reach_the_caller_and_no_model() {
    let tools = Functions::new("demo").with(Tool::new("draw"), |_| async {
        Ok::<_, String>(Outcome::result("drawn").with_event("chart", json!({"secret": [1, 2]})))
    });
    let model = Arc::new(Recorded::new([call("draw", &json!({})), "Done.".into()].map(Round::text)));
    let policy = Policy::new(Decision::Allow);
    let agent = Agent::builder(model.clone(), tools).policy(policy).build();
    let events = events(&agent, "Draw!").await;
    let outcome = events.iter().find_map(|event| match event {
        AgentEvent::Outcome { outcome, .. } => Some(outcome),
        _ => None,
    });
    assert_eq!(outcome.unwrap().events[0].data, json!({"secret": [1, 2]}));
    let told = &model.requests()[1].messages;
    assert!(told.iter().any(|m| m.content.contains("drawn")) && !told.iter().any(|m| m.content.contains("secret")));
    let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
    assert_eq!(finished.conversation.answered()[0].outcome.events.len(), 1, "it stays in the conversation");
}
