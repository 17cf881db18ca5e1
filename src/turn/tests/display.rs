//! Display-only tools: shown beside the text, acknowledged, never run.

use super::*;
use crate::model::{ModelError, Request};
use crate::turn::rejected::reaction;

/// Returns a setup with the tools `weather`, which runs, and `chart`, which is display-only.
fn setup(config: TurnConfig) -> Arc<Setup> {
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let points = json!({"type": "object", "properties": {"points": {"type": "array", "items": {"type": "integer"}}},
        "required": ["points"]});
    let tools = [
        Tool::new("weather").with_server("demo").with_schema(city),
        Tool::new("chart").with_server("demo").with_schema(points).display_only(),
    ];
    let validator = Arc::new(Validator::new(Arc::new(Catalog::from_tools(tools))));
    Arc::new(Setup::new(config, validator, Arc::new(Plain)))
}

/// Returns a configuration whose policy allows only `weather`: showing needs no permission.
fn silent() -> TurnConfig {
    TurnConfig { policy: Policy::new(Decision::Deny).allow("weather"), ..allowing() }
}

fn started(config: TurnConfig) -> Turn {
    let mut turn = Turn::new(setup(config), "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

fn chart() -> String {
    call("chart", &json!({"points": [1, 2]}))
}

/// Returns ids and indices of the calls that were shown.
fn shown(actions: &[Action]) -> Vec<(&str, u32)> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Emit(AgentEvent::Display(call)) => Some((call.id.as_str(), call.index)),
            _ => None,
        })
        .collect()
}

fn text(actions: &[Action]) -> String {
    let text = |action: &Action| match action {
        Action::Emit(AgentEvent::Text { text }) => Some(text.clone()),
        _ => None,
    };
    actions.iter().filter_map(text).collect()
}

fn finished(actions: &[Action]) -> &Finished {
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    finished
}

fn sent(actions: &[Action]) -> &Request {
    let send = |action: &'_ Action| matches!(action, Action::Send(_));
    let Some(Action::Send(request)) = actions.iter().find(|a| send(a)) else { panic!("{actions:?}") };
    request
}

#[test]
fn a_call_is_shown_as_soon_as_it_is_complete_and_text_goes_on() {
    let mut turn = started(silent());
    let (head, tail) = (chart(), "</use_mcp_tool>".len());
    assert!(shown(&says(&mut turn, "Look:\n")).is_empty());
    assert!(shown(&says(&mut turn, &head[..head.len() - tail])).is_empty());
    assert_eq!(shown(&says(&mut turn, &head[head.len() - tail..])), [("call_1", 0)]);
    let after = says(&mut turn, "\nSales rise.");
    assert!(!cancels(&after));
    assert_eq!(text(&after).trim(), "Sales rise.");
    let end = ends(&mut turn);
    assert!(calls(&end).is_empty());
    let finished = finished(&end);
    assert_eq!((&finished.reason, finished.rounds, finished.calls), (&StopReason::Answered, 1, 0));
    assert_eq!(finished.answer, "Look:\n\nSales rise.");
    let acknowledged = |a: &Action| matches!(a, Action::Emit(AgentEvent::Outcome { id, outcome }) if id == "call_1" && outcome.status == Status::Displayed);
    assert_eq!(end.iter().filter(|a| acknowledged(a)).count(), 1);
}

#[test]
fn the_acknowledgement_goes_along_when_the_conversation_goes_on() {
    let mut turn = started(silent());
    says(&mut turn, &format!("{}Done.", chart()));
    let mut conversation = finished(&ends(&mut turn)).conversation.clone();
    assert!(!conversation.awaits_model() && conversation.pending().next().is_none());
    let nothing = Turn::new(setup(silent()), conversation.clone(), Granted::new());
    assert_eq!(nothing.unwrap_err(), TurnError::NothingToAnswer);
    conversation.push_user("And now?").unwrap();
    let stored = serde_json::to_string(&conversation).unwrap();
    assert_eq!(serde_json::from_str::<Conversation>(&stored).unwrap(), conversation);
    let mut turn = Turn::new(setup(silent()), conversation, Granted::new()).unwrap();
    let actions = actions(&mut turn);
    let messages = &sent(&actions).messages;
    assert_eq!(messages[2].content, format!("{}Done.", chart()));
    assert_eq!(messages[3].content, "call_1 Displayed: Displayed\n\nAnd now?");
}

#[test]
fn a_message_of_one_shown_call_is_an_answer() {
    for choice in [ToolChoice::Auto, ToolChoice::Required, ToolChoice::Named("chart".into())] {
        let mut turn = started(TurnConfig { tool_choice: choice, ..silent() });
        says(&mut turn, &chart());
        assert_eq!(finished(&ends(&mut turn)).reason, StopReason::Answered);
    }
}

#[test]
fn beside_a_call_that_runs_the_usual_rule_holds() {
    let mut turn = started(silent());
    let streamed = says(&mut turn, &format!("{}Now rain.\n{}{}", chart(), paris(), chart()));
    assert_eq!(shown(&streamed), [("call_1", 0), ("call_3", 2)]);
    assert!(!cancels(&streamed));
    assert!(!cancels(&says(&mut turn, "It is sunny.")));
    let cut = says(&mut turn, &"sunny ".repeat(READ_ON / 6));
    assert!(cancels(&cut));
    assert_eq!(calls(&cut), ["call_2"]);
    turn.handle(Input::Outcome { id: "call_2".into(), outcome: Outcome::result("rain") }).unwrap();
    let next = actions(&mut turn);
    let messages = &sent(&next).messages;
    assert_eq!(messages[2].content, format!("{}Now rain.\n{}{}", chart(), paris(), chart()));
    let told = "call_1 Displayed: Displayed\ncall_2 Result: rain\ncall_3 Displayed: Displayed";
    assert_eq!(messages[3].content, told);
}

#[test]
fn drained_text_stays_only_where_no_call_waits_before_it() {
    let mut turn = started(TurnConfig { after_call: AfterCall::Drain, ..silent() });
    says(&mut turn, &format!("{} I look.\n{} b {} c", chart(), paris(), chart()));
    let end = ends(&mut turn);
    assert_eq!(calls(&end), ["call_2"]);
    let written = turn.shared.conversation.messages().next().unwrap().written();
    assert_eq!(written, format!("{} I look.\n{} b {}", chart(), paris(), chart()));
}

#[test]
fn a_call_that_may_still_be_a_draft_waits() {
    let undecided = || TurnConfig { reasons: None, ..silent() };
    // A think tag makes a draft of it.
    let mut turn = started(undecided());
    assert!(shown(&says(&mut turn, &format!("{} Hm.", chart()))).is_empty());
    assert!(shown(&says(&mut turn, "</think>No chart.")).is_empty());
    let end = ends(&mut turn);
    assert!(shown(&end).is_empty());
    assert_eq!(finished(&end).answer, "No chart.");
    // The end decides.
    let mut turn = started(undecided());
    assert!(shown(&says(&mut turn, &format!("{} Hm.", chart()))).is_empty());
    assert_eq!(shown(&ends(&mut turn)), [("call_1", 0)]);
    // A tag that was seen before decides.
    let mut turn = started(undecided());
    assert_eq!(shown(&says(&mut turn, &format!("<think>{}</think>{} Hm.", chart(), chart()))), [("call_1", 1)]);
    // What breaks off undecided is not shown; every call is answered all the same.
    let mut turn = started(undecided());
    says(&mut turn, &chart());
    turn.handle(Input::ModelFailed(ModelError::other("gone"))).unwrap();
    let end = actions(&mut turn);
    assert!(shown(&end).is_empty() && finished(&end).conversation.pending().next().is_none());
}

#[test]
fn a_call_in_a_fence_is_shown_once_the_fence_is_decided() {
    let mut turn = started(silent());
    assert!(shown(&says(&mut turn, &format!("```xml\n{}\n```\n", chart()))).is_empty());
    assert_eq!(shown(&ends(&mut turn)), [("call_1", 0)]);
    let mut turn = started(silent());
    let quoted = says(&mut turn, &format!("Like this:\n```xml\n{}\n```\nSee?", chart()));
    assert!(shown(&quoted).is_empty() && shown(&ends(&mut turn)).is_empty());
}

#[test]
fn a_cancelled_turn_keeps_what_was_shown() {
    let mut turn = started(silent());
    says(&mut turn, &format!("{}Sales", chart()));
    turn.handle(Input::Cancel).unwrap();
    let end = actions(&mut turn);
    let finished = finished(&end);
    assert_eq!((&finished.reason, finished.answer.as_str()), (&StopReason::Cancelled, "Sales"));
    assert_eq!(finished.conversation.answered()[0].outcome.status, Status::Displayed);
}

#[test]
fn what_the_policy_or_the_choice_forbids_is_denied_as_any_call() {
    let denied = TurnConfig { policy: Policy::new(Decision::Allow).deny("chart"), ..silent() };
    let other = TurnConfig { tool_choice: ToolChoice::Named("weather".into()), ..silent() };
    let off = TurnConfig { tool_choice: ToolChoice::None, ..silent() };
    for (config, told) in [
        (denied, "call_1 Denied: NotAllowed"),
        (other, "call_1 Denied: OnlyTool(\"weather\")"),
        (off, "call_1 Denied: CallsOff"),
    ] {
        let mut turn = started(config);
        assert!(shown(&says(&mut turn, &chart())).is_empty());
        let end = ends(&mut turn);
        assert_eq!(sent(&end).messages[3].content, told);
    }
}

#[test]
fn without_a_reasoning_tag_a_call_is_shown_at_once_only_where_it_comes_first() {
    let config = || TurnConfig { reasoning: ReasoningMode::Open, reasons: Some(true), ..silent() };
    let mut turn = started(config());
    assert!(shown(&says(&mut turn, &chart())).is_empty());
    assert_eq!(shown(&ends(&mut turn)), [("call_1", 0)]);
    let mut turn = started(config());
    says(&mut turn, &format!("Look: {}", chart()));
    let end = ends(&mut turn);
    assert!(shown(&end).is_empty());
    assert!(end.iter().any(|a| matches!(a, Action::Ask(r) if r.reason == AskReason::NoReasoningTag)));
}

#[test]
fn a_draft_that_was_promoted_is_shown_only_when_approved() {
    let config = || TurnConfig { reasoning_calls: ReasoningCalls::LastResort, reasons: Some(true), ..silent() };
    for approved in [true, false] {
        let mut turn = started(config());
        assert!(shown(&says(&mut turn, &format!("<think>{}</think>", chart()))).is_empty());
        let end = ends(&mut turn);
        assert!(shown(&end).is_empty());
        assert!(end.iter().any(|a| matches!(a, Action::Ask(r) if r.reason == AskReason::Promoted)));
        turn.handle(Input::Approval { id: "call_1".into(), approval: approved.into() }).unwrap();
        let end = actions(&mut turn);
        assert!(calls(&end).is_empty());
        if approved {
            assert_eq!(shown(&end), [("call_1", 0)]);
            assert_eq!(finished(&end).reason, StopReason::Answered);
        } else {
            assert_eq!(sent(&end).messages[3].content, "call_1 Denied: Declined");
        }
    }
}

#[test]
fn a_rejected_call_of_a_display_tool_is_corrected_beside_the_answer() {
    let shared = Shared::new(setup(silent()), Conversation::new(), None);
    for kind in [RejectedKind::InReasoning, RejectedKind::Quoted, RejectedKind::NearCall, RejectedKind::Malformed] {
        let mut rejected = entry(0, Err(kind)).result.unwrap_err();
        assert_eq!(shared.displays().reaction(&rejected), reaction(kind), "{kind}");
        rejected.tool = Some("chart".into());
        let shown = match reaction(kind) {
            Reaction::Correct => Reaction::CorrectBeside,
            other => other,
        };
        assert_eq!(shared.displays().reaction(&rejected), shown, "{kind}");
    }
}

#[test]
fn a_rejected_one_is_corrected_and_the_answer_beside_it_stands() {
    let wrong = call("chart", &json!({"points": "many"}));
    let mut turn = started(silent());
    let streamed = says(&mut turn, &format!("{wrong}Sales rise."));
    assert!(!cancels(&streamed) && text(&streamed).contains("Sales rise."));
    let end = ends(&mut turn);
    assert_eq!(sent(&end).messages[2].content, format!("{wrong}Sales rise."));
    assert!(sent(&end).messages[3].content.starts_with("invalid_arguments"), "{end:?}");
    // The model only mends the call.
    assert_eq!(shown(&says(&mut turn, &chart())), [("call_1", 0)]);
    let end = ends(&mut turn);
    assert_eq!((&finished(&end).reason, finished(&end).answer.as_str()), (&StopReason::Answered, "Sales rise."));

    // It says all anew.
    let mut turn = started(silent());
    says(&mut turn, &format!("{wrong}Sales rise."));
    ends(&mut turn);
    says(&mut turn, &format!("{}Sales fall.", chart()));
    assert_eq!(finished(&ends(&mut turn)).answer, "Sales fall.");
}

#[test]
fn when_corrections_are_used_up_the_rest_of_the_message_counts() {
    let wrong = call("chart", &json!({}));
    let mut turn = started(silent());
    for _ in 0..2 {
        says(&mut turn, &format!("{wrong}Sales rise."));
        assert!(ends(&mut turn).iter().any(|a| matches!(a, Action::Send(_))));
    }
    says(&mut turn, &format!("{wrong}Sales rise."));
    let end = ends(&mut turn);
    assert_eq!((&finished(&end).reason, finished(&end).answer.as_str()), (&StopReason::Answered, "Sales rise."));

    let mut turn = started(silent());
    for _ in 0..2 {
        says(&mut turn, &wrong);
        ends(&mut turn);
    }
    says(&mut turn, &wrong);
    assert_eq!(finished(&ends(&mut turn)).reason, StopReason::EmptyAnswer);
}

#[test]
fn arguments_are_read_as_the_programs_type() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Chart {
        points: Vec<i64>,
    }
    let mut turn = started(silent());
    let streamed = says(&mut turn, &call("chart", &json!({"points": ["1", 2]})));
    let Some(call) = streamed.iter().find_map(|action| match action {
        Action::Emit(AgentEvent::Display(call)) => Some(call),
        _ => None,
    }) else {
        panic!("{streamed:?}")
    };
    assert_eq!(call.decode::<Chart>().unwrap(), Chart { points: vec![1, 2] });
    let error = call.decode::<Vec<i64>>().unwrap_err().to_string();
    assert!(error.starts_with("the arguments of chart do not fit the program's type: "), "{error}");
}

proptest! {
    /// Tests that the same calls are shown under the ids of the history, however the text is split.
    #[test]
    fn ids_of_the_events_are_those_of_the_history(parts in prop::collection::vec(0usize..5, 1..8), chunk in 1usize..40) {
        let text: String = parts
            .iter()
            .map(|part| match part {
                0 => chart(),
                1 => paris(),
                2 => call("chart", &json!({})),
                3 => format!("<think>{}</think>", chart()),
                _ => "some text ".to_owned(),
            })
            .collect();
        let mut turn = started(TurnConfig { after_call: AfterCall::Drain, ..silent() });
        let mut seen = Vec::new();
        for piece in text.as_bytes().chunks(chunk) {
            seen.extend(says(&mut turn, std::str::from_utf8(piece).unwrap()));
        }
        seen.extend(ends(&mut turn));
        let events: Vec<&str> = shown(&seen).into_iter().map(|(id, _)| id).collect();
        let last = |a: &Action| match a {
            Action::Finish(finished) => Some(finished.conversation.clone()),
            _ => None,
        };
        let conversation = seen.iter().find_map(last).unwrap_or(turn.shared.conversation);
        let displayed: Vec<&str> = conversation
            .messages()
            .next()
            .into_iter()
            .flat_map(|m| m.calls())
            .filter(|c| c.call.tool == "chart")
            .map(|c| c.id.as_str())
            .collect();
        prop_assert_eq!(parts.iter().filter(|p| **p == 0).count(), displayed.len());
        prop_assert_eq!(events, displayed);
    }
}
